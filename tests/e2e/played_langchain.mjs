// LangChain: whole, as a stream whose chunks it adds up, and with an output of a given form.

import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { ChatAnthropic } from "@langchain/anthropic";
import { ChatOpenAI } from "@langchain/openai";

import { API, BASE, FOLLOW_UP, FORMAT, QUESTION, conversations } from "./played.mjs";

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
      // As one that keeps nothing else does, or, where the API has more, as it came.
      messages.push(API === "chat" ? new AIMessage({ content: said.content, tool_calls: said.tool_calls }) : said);
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
    const strict = API === "messages" ? {} : { strict: true };
    const formed = client(model).withStructuredOutput(FORMAT, { method: "jsonSchema", name: "trip", ...strict });
    if (API === "responses") return [seen, await formed.invoke(messages)]; // its parser of streams wants texts alone
    const streamed = [];
    for await (const part of await formed.stream(messages)) streamed.push(part);
    return [seen, await formed.invoke(messages), streamed.at(-1)];
  },
};

const OPENAI = { maxRetries: 0, configuration: { baseURL: BASE } };
const MAKE = {
  chat: (model, apiKey) => new ChatOpenAI({ model, apiKey, ...OPENAI }),
  // Without stored responses it sends back what the provider said, item by item.
  responses: (model, apiKey) => new ChatOpenAI({ model, apiKey, ...OPENAI, useResponsesApi: true, zdrEnabled: true }),
  messages: (model, apiKey) => new ChatAnthropic({ model, apiKey, anthropicApiUrl: BASE, maxRetries: 0, maxTokens: 900 }),
};
await conversations("langchain", WAYS, (apiKey) => (model) => MAKE[API](model, apiKey));
