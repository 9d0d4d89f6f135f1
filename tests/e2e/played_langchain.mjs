// LangChain: whole, as a stream whose chunks it adds up, and with an output of a given form.

import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { ChatOpenAI } from "@langchain/openai";

import { FOLLOW_UP, FORMAT, QUESTION, conversations } from "./played.mjs";

const LOOK = { type: "function", function: { name: "look", parameters: { type: "object", properties: {} } } };

const told = (said) => ({
  content: said.content,
  calls: said.tool_calls,
  invalid: said.invalid_tool_calls,
  reasoning: said.additional_kwargs.reasoning_content ?? null,
  end: said.response_metadata.finish_reason,
  model: said.response_metadata.model_name,
});

async function both(ask) {
  const messages = [new HumanMessage(QUESTION)];
  const seen = [];
  for (const next of [FOLLOW_UP, null]) {
    for (;;) {
      const said = await ask(messages);
      seen.push(told(said));
      messages.push(new AIMessage({ content: said.content, tool_calls: said.tool_calls }));
      if (!said.tool_calls.length) break;
      for (const { id } of said.tool_calls) messages.push(new ToolMessage({ tool_call_id: id, content: "seen" }));
    }
    if (next) messages.push(new HumanMessage(next));
  }
  return { seen, messages };
}

const whole = (client, model) => both((messages) => client(model).bindTools([LOOK]).invoke(messages));

const WAYS = {
  whole,
  stream: (client, model) => both(async (messages) => {
    let sum;
    for await (const chunk of await client(model).bindTools([LOOK]).stream(messages)) {
      sum = sum === undefined ? chunk : sum.concat(chunk);
    }
    return sum;
  }),
  format: async (client, model) => {
    const { seen, messages } = await whole(client, model);
    messages.push(new HumanMessage("As JSON?"));
    const formed = client(model).withStructuredOutput(FORMAT, { method: "jsonSchema", name: "trip", strict: true });
    const streamed = [];
    for await (const part of await formed.stream(messages)) streamed.push(part);
    return [seen, await formed.invoke(messages), streamed.at(-1)];
  },
};

await conversations("langchain", WAYS, (apiKey) => (model) =>
  new ChatOpenAI({ model, apiKey, maxRetries: 0, configuration: { baseURL: process.env.BASE_URL } }));
