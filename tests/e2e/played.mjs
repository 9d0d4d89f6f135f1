// The conversations that every SDK has with a scripted upstream, or with the proxy before it: each way of asking with
// each pattern of calls, each by a key of its own. What the SDK saw is printed as JSON.

export const QUESTION = "What now?";
export const FOLLOW_UP = "And then?";
export const FORMAT = {
  type: "object",
  properties: { city: { type: "string" }, days: { type: "integer" } },
  required: ["city", "days"],
  additionalProperties: false,
};

// The API in which the upstream is spoken to, and its address in it.
export const API = process.env.API ?? "chat";
export const BASE = API === "messages" ? process.env.BASE_URL : `${process.env.BASE_URL}/v1`;

export async function conversations(name, ways, client) {
  const seen = {};
  for (const model of JSON.parse(process.env.PATTERNS)) {
    for (const [way, have] of Object.entries(ways)) {
      const key = `sk-${name}-${way}-${model}`.replace(/[^a-z]+/gi, "-");
      try {
        seen[key] = await have(client(key), model);
      } catch (error) {
        throw new Error(`${way}, ${model}: ${error.stack}`, { cause: error });
      }
    }
  }
  process.stdout.write(JSON.stringify(seen));
}
