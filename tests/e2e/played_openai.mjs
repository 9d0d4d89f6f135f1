// The official Node SDK: whole, as a stream, by its stream helper, and by its own loop of tools.

import OpenAI from "openai";

import { BASE, FORMAT, FOLLOW_UP, QUESTION, conversations } from "./played.mjs";

const LOOK = { type: "function", function: { name: "look", parameters: { type: "object", properties: {} } } };
const run = { ...LOOK, function: { ...LOOK.function, parse: JSON.parse, function: () => "seen" } };

async function loop(ask) {
  const messages = [{ role: "user", content: QUESTION }];
  const seen = [];
  for (const next of [FOLLOW_UP, null]) {
    for (;;) {
      const { choice, told } = await ask(messages);
      seen.push(told);
      messages.push(choice.message);
      if (!choice.message.tool_calls?.length) break;
      for (const { id } of choice.message.tool_calls) messages.push({ role: "tool", tool_call_id: id, content: "seen" });
    }
    if (next) messages.push({ role: "user", content: next });
  }
  return { seen, messages };
}

const WAYS = {
  whole: (chat, model) => loop(async (messages) => {
    const { choices } = await chat.create({ model, messages, tools: [LOOK] });
    return { choice: choices[0], told: choices };
  }),
  stream: (chat, model) => loop(async (messages) => {
    const chunks = [];
    const asked = { model, messages, tools: [LOOK], stream: true };
    for await (const chunk of await chat.create(asked)) chunks.push(chunk);
    const deltas = chunks.flatMap(({ choices }) => choices);
    const message = { role: "assistant", content: deltas.map(({ delta }) => delta.content ?? "").join("") };
    const calls = [];
    for (const { delta } of deltas) {
      for (const { index, id, function: said } of delta.tool_calls ?? []) {
        calls[index] ??= { id: "", type: "function", function: { name: "", arguments: "" } };
        calls[index].id += id ?? "";
        calls[index].function.name += said?.name ?? "";
        calls[index].function.arguments += said?.arguments ?? "";
      }
    }
    if (calls.length) message.tool_calls = calls;
    const told = {
      message,
      reasoning: deltas.map(({ delta }) => delta.reasoning_content ?? "").join(""),
      ids: new Set(chunks.map(({ id }) => id)).size,
      created: new Set(chunks.map((chunk) => chunk.created)).size,
      models: [...new Set(chunks.map((chunk) => chunk.model))],
      roles: deltas.filter(({ delta }) => delta.role).length,
      ends: deltas.map((each) => each.finish_reason).filter(Boolean),
      usages: chunks.filter(({ usage }) => usage).length,
    };
    return { choice: { message }, told };
  }),
  helper: (chat, model) => loop(async (messages) => {
    const events = new Set();
    const stream = chat.stream({ model, messages, tools: [LOOK], stream_options: { include_usage: true } });
    for (const name of ["content", "tool_calls.function.arguments.done", "message"]) {
      stream.on(name, () => events.add(name));
    }
    const { choices } = await stream.finalChatCompletion();
    return { choice: choices[0], told: [choices, [...events].sort()] };
  }),
  "own loop": async (chat, model) => {
    const runner = chat.runTools({ model, messages: [{ role: "user", content: QUESTION }], tools: [run] });
    return [await runner.finalContent(), runner.messages];
  },
  "own loop, stream": async (chat, model) => {
    const asked = { model, messages: [{ role: "user", content: QUESTION }], tools: [run], stream: true };
    const runner = chat.runTools(asked);
    return [await runner.finalContent(), runner.messages];
  },
  format: async (chat, model) => {
    const { seen, messages } = await WAYS.whole(chat, model);
    messages.push({ role: "user", content: "As JSON?" });
    const response_format = { type: "json_schema", json_schema: { name: "trip", strict: true, schema: FORMAT } };
    const asked = { model, messages, tools: [LOOK], response_format };
    const { choices } = await chat.create(asked);
    const streamed = await chat.stream(asked).finalChatCompletion();
    return [seen, choices, streamed.choices];
  },
};

const client = (apiKey) => new OpenAI({ baseURL: BASE, apiKey, maxRetries: 0 }).chat.completions;
await conversations("openai-node", WAYS, client);
