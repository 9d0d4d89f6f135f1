// Anthropic's Node SDK: whole, as a stream, by its stream helper, and with an output of a given form.

import Anthropic from "@anthropic-ai/sdk";

import { BASE, FOLLOW_UP, FORMAT, QUESTION, conversations } from "./played.mjs";

const LOOK = { name: "look", input_schema: { type: "object", properties: {} } };
const common = { max_tokens: 900, tools: [LOOK] };

async function loop(ask) {
  const messages = [{ role: "user", content: QUESTION }];
  const all = [];
  for (const next of [FOLLOW_UP, null]) {
    for (;;) {
      const { message, shown } = await ask(messages);
      all.push(shown);
      messages.push({ role: "assistant", content: message.content });
      const calls = message.content.filter(({ type }) => type === "tool_use");
      if (!calls.length) break;
      messages.push({ role: "user", content: calls.map(({ id }) => ({ type: "tool_result", tool_use_id: id, content: "seen" })) });
    }
    if (next) messages.push({ role: "user", content: next });
  }
  return { all, messages };
}

const helped = async (api, asked) => {
  const stream = api.stream(asked);
  const events = [];
  for await (const event of stream) events.push(event);
  return { message: await stream.finalMessage(), events, text: await stream.finalText().catch(() => null) };
};

const WAYS = {
  whole: (api, model) => loop(async (messages) => {
    const message = await api.create({ ...common, model, messages });
    return { message, shown: message };
  }),
  stream: (api, model) => loop(async (messages) => {
    const { message, events, text } = await helped(api, { ...common, model, messages });
    return { message, shown: [events, message, text] };
  }),
  format: async (api, model) => {
    const { all, messages } = await WAYS.whole(api, model);
    messages.push({ role: "user", content: "As JSON?" });
    const asked = { ...common, model, messages, output_config: { format: { type: "json_schema", schema: FORMAT } } };
    return [all, await api.create(asked), (await helped(api, asked)).message];
  },
};

await conversations("anthropic", WAYS, (apiKey) => new Anthropic({ baseURL: BASE, apiKey, maxRetries: 0 }).messages);
