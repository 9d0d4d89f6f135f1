// The official Node SDK speaking Responses: whole, as a stream, by its stream helper, and with an output of a given form.

import OpenAI from "openai";

import { BASE, FOLLOW_UP, FORMAT, QUESTION, conversations } from "./played.mjs";

const LOOK = { type: "function", name: "look", parameters: { type: "object", properties: {} }, strict: false };
const STORE = Boolean(process.env.STORE);
const common = STORE ? {} : { store: false, include: ["reasoning.encrypted_content"] };

async function loop(ask) {
  let input = [{ role: "user", content: QUESTION }];
  let previous_response_id;
  const all = [];
  for (const next of [FOLLOW_UP, null]) {
    for (;;) {
      const { response, shown } = await ask({ input, previous_response_id });
      all.push(shown);
      if (STORE) {
        input = [];
        previous_response_id = response.id;
      } else input.push(...response.output);
      const calls = response.output.filter(({ type }) => type === "function_call");
      for (const { call_id } of calls) input.push({ type: "function_call_output", call_id, output: "seen" });
      if (!calls.length) break;
    }
    if (next) input.push({ role: "user", content: next });
  }
  return { all, given: { input, previous_response_id } };
}

const WAYS = {
  whole: (responses, model) => loop(async (given) => {
    const response = await responses.create({ ...common, model, tools: [LOOK], ...given });
    return { response, shown: response };
  }),
  stream: (responses, model) => loop(async (given) => {
    const events = [];
    for await (const event of await responses.create({ ...common, model, tools: [LOOK], ...given, stream: true })) events.push(event);
    return { response: events.at(-1).response, shown: events };
  }),
  helper: (responses, model) => loop(async (given) => {
    const stream = responses.stream({ ...common, model, tools: [LOOK], ...given });
    const kinds = [];
    for await (const { type } of stream) kinds.push(type);
    const response = await stream.finalResponse();
    return { response, shown: [kinds, response] };
  }),
  format: async (responses, model) => {
    const { all, given } = await WAYS.whole(responses, model);
    given.input.push({ role: "user", content: "As JSON?" });
    const text = { format: { type: "json_schema", name: "trip", strict: true, schema: FORMAT } };
    const asked = { ...common, model, tools: [LOOK], ...given, text };
    const parsed = await responses.parse(asked);
    return [all, parsed.output_parsed, await responses.stream(asked).finalResponse()];
  },
};

await conversations("responses", WAYS, (apiKey) => new OpenAI({ baseURL: BASE, apiKey, maxRetries: 0 }).responses);
