// The official Node SDK and tools of the proxy's that it must not see: what it saw of each answer, printed as JSON.
// BASE_URL is either the proxy, or an upstream that never had such tools.

import OpenAI from "openai";

const client = new OpenAI({ baseURL: process.env.BASE_URL, apiKey: "sk-node", maxRetries: 0 });
const chat = client.chat.completions;
const rounds = Number(process.env.ANSWERS);

const look = (ran) => ({
  type: "function",
  function: {
    name: "look",
    parameters: { type: "object", properties: { at: { type: "string" } } },
    parse: JSON.parse,
    function: (given) => (ran.push(given), "seen"),
  },
});
const bare = ({ function: { name, parameters } }) => ({ type: "function", function: { name, parameters } });
const asked = (ran) => ({ model: "m", messages: [{ role: "user", content: "What now?" }], tools: [bare(look(ran))] });

const seen = [];
for (let number = 0; number < rounds; number++) {
  const whole = await chat.create(asked([]));
  const stream = chat.stream({ ...asked([]), stream_options: { include_usage: true } });
  const deltas = [];
  stream.on("content", (delta) => deltas.push(delta));
  const final = await stream.finalChatCompletion();
  const pieces = [];
  for await (const chunk of await chat.create({ ...asked([]), stream: true })) {
    for (const { delta, finish_reason } of chunk.choices) pieces.push([chunk.id, delta.role ?? null, finish_reason]);
  }
  const roles = pieces.filter(([, role]) => role).length;
  const ends = pieces.map(([, , end]) => end).filter(Boolean);
  seen.push({
    whole: whole.choices,
    final: final.choices,
    text: deltas.join(""),
    ids: new Set(pieces.map(([id]) => id)).size,
    roles,
    ends,
  });
}
console.log(JSON.stringify(seen));
