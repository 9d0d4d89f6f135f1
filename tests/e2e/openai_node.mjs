// The official Node SDK: a table of cases run against BASE_URL with API_KEY, what each of them saw printed as JSON.
// Run once directly against the upstream and once through the proxy, it must print the same.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";

import OpenAI, { toFile } from "openai";

const client = new OpenAI({ baseURL: process.env.BASE_URL, apiKey: process.env.API_KEY, maxRetries: 0 });
const chat = client.chat.completions;

const tool = (name, properties) => ({
  type: "function",
  function: { name, parameters: { type: "object", properties } },
});
const WEATHER = tool("get_weather", { city: { type: "string" }, days: { type: "integer" } });
const CLOCK = tool("get_time", { zone: { type: "string" } });
const SCHEMA = {
  type: "object",
  properties: { city: { type: "string" }, days: { type: "integer" } },
  required: ["city", "days"],
  additionalProperties: false,
};
const TRIP = { type: "json_schema", json_schema: { name: "trip", strict: true, schema: SCHEMA } };

const ask = (content, fields = {}) => ({ model: "demo-chat", messages: [{ role: "user", content }], ...fields });

async function chunks(content, fields, options) {
  const seen = [];
  for await (const chunk of await chat.create({ ...ask(content, fields), stream: true }, options)) seen.push(chunk);
  assert(seen.length > 2);
  return seen;
}

async function helper(content, fields) {
  const seen = [];
  const stream = chat.stream(ask(content, fields));
  stream.on("chunk", (chunk) => seen.push(chunk));
  return { seen, final: await stream.finalChatCompletion(), usage: await stream.totalUsage() };
}

async function failure(kind, call) {
  try {
    await call();
  } catch (error) {
    assert(error instanceof kind, `${error.constructor.name}: ${error.message}`);
    const { status, message, code, type, param, requestID } = error;
    return { kind: error.constructor.name, status, message, code, type, param, requestID, body: error.error };
  }
  return assert.fail("nothing was thrown");
}

const faulty = (fault, more = {}) => ({ headers: { "x-demo-fault": fault, ...more } });

const CASES = {
  "completion": () => chat.create(ask("say: ¡Qué mañana! 🌵")),
  "every field": () =>
    chat.create(ask("say: one two STOP three", { temperature: 0.3, stop: ["STOP"], user: "ana", seed: 7, not_known: [1] })),
  "several choices": () => chat.create(ask("tell me a thing", { n: 3 })),
  "logprobs": () => chat.create(ask("say: a b ñ", { logprobs: true, top_logprobs: 2 })),
  "refusal": () => chat.create(ask("refuse to help")),
  "reasoning": () => chat.create(ask("say: thought", { model: "demo-reasoner" })),
  "tool calls and results": async () => {
    const asked = ask("get_weather in Rosario for 3 days and get_time", { tools: [WEATHER, CLOCK] });
    const first = await chat.create(asked);
    const { message } = first.choices[0];
    assert.equal(message.tool_calls.length, 2);
    const results = message.tool_calls.map(({ id }) => ({ role: "tool", tool_call_id: id, content: `of ${id}` }));
    return [first, await chat.create({ ...asked, messages: [...asked.messages, message, ...results] })];
  },
  "parsed answer": () => chat.parse(ask("A trip to 'Rosario' for 3 days", { response_format: TRIP })),
  "response": async () => {
    const { data, response, request_id } = await chat.create(ask("say: raw")).withResponse();
    const headers = Object.fromEntries([...response.headers].filter(([name]) => !name.startsWith("x-olvido-")));
    return { data, status: response.status, headers, request_id };
  },
  "stream": () => chunks("40 words"),
  "stream with usage": () => chunks("40 words", { stream_options: { include_usage: true } }),
  "stream of choices": () => chunks("tell me a thing", { n: 2 }),
  "stream of logprobs": () => chunks("say: a b ñ", { logprobs: true, top_logprobs: 1 }),
  "stream of tool calls": () => chunks("get_weather in 'Rosario' for 12 days and get_time", { tools: [WEATHER, CLOCK] }),
  "stream of a refusal": () => chunks("refuse to help"),
  "stream of reasoning": () => chunks("say: thought", { model: "demo-reasoner" }),
  "stream in an odd framing": () => chunks("40 words", {}, faulty("odd")),
  "stream helper": () => helper("40 words", { stream_options: { include_usage: true } }),
  "stream helper with tools": () => helper("get_weather in 'Rosario'", { tools: [WEATHER] }),
  "stream helper with format": () => helper("A trip to 'Rosario' for 3 days", { response_format: TRIP }),
  "wrong order": () =>
    failure(OpenAI.BadRequestError, () =>
      chat.create({ model: "demo-chat", messages: [{ role: "tool", tool_call_id: "x", content: "y" }] })),
  "no key": () =>
    failure(OpenAI.AuthenticationError, () => chat.create(ask("hi"), { headers: { authorization: "Basic eDp5" } })),
  "unknown model": () => failure(OpenAI.NotFoundError, () => chat.create(ask("hi", { model: "demo-nope" }))),
  "rate limit": () => failure(OpenAI.RateLimitError, () => chat.create(ask("hi"), faulty("429=7"))),
  "server error": () => failure(OpenAI.InternalServerError, () => chat.create(ask("hi"), faulty("500"))),
  "bad gateway": () => failure(OpenAI.InternalServerError, () => chat.create(ask("hi"), faulty("502"))),
  "error event": () => failure(OpenAI.APIError, () => chunks("40 words", {}, faulty("error-event=3"))),
  "retried by the SDK": () =>
    chat.create(ask("say: at last"), {
      maxRetries: 3, ...faulty("429=0.01x2", { "x-demo-fault-key": process.env.API_KEY }),
    }),
  "timed out": () =>
    failure(OpenAI.APIConnectionTimeoutError, () => chat.create(ask("hi"), { timeout: 200, ...faulty("slow-first-byte") })),
  "models": async () => [(await client.models.list()).data, await client.models.retrieve("demo-chat")],
  "embeddings": () => client.embeddings.create({ model: "text-embedding-3-small", input: ["uno", "two"] }),
  "files": async () => {
    const content = Buffer.alloc(1_000_000, "olvido");
    const file = await client.files.create({ file: await toFile(content, "notas ñ.bin"), purpose: "assistants" });
    const back = Buffer.from(await (await client.files.content(file.id)).arrayBuffer());
    assert(back.equals(content));
    return [file, createHash("sha256").update(back).digest("hex")];
  },
};

// What only happens to a stream that breaks: told apart from the table because a cut connection and a proxy that says
// so are rightly not the same error.
const BROKEN = {
  "cut": () => failure(OpenAI.OpenAIError, () => chunks("40 words", {}, faulty("cut=4"))),
  "reset": () => failure(OpenAI.OpenAIError, () => chunks("40 words", {}, faulty("reset=4"))),
};

const table = process.argv[2] === "broken" ? BROKEN : CASES;
const seen = {};
for (const [name, run] of Object.entries(table)) {
  try {
    seen[name] = await run();
  } catch (error) {
    throw new Error(`case ${name}: ${error.stack}`, { cause: error });
  }
}
process.stdout.write(JSON.stringify(seen));
