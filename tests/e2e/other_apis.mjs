// Official and well-known Node clients of the Responses and Messages APIs, whole and as streams, with a tool of their own:
// `node other_apis.mjs BASE_URL KEY` prints what they have seen, as JSON.

import Anthropic from "@anthropic-ai/sdk";
import { createOpenAI } from "@ai-sdk/openai";
import { ChatOpenAI } from "@langchain/openai";
import { generateText, isStepCount, jsonSchema, streamText, tool } from "ai";
import OpenAI from "openai";

globalThis.AI_SDK_LOG_WARNINGS = false;
const [base, apiKey] = process.argv.slice(2);
const PARAMETERS = { type: "object", properties: { q: { type: "string" } }, required: ["q"], additionalProperties: false };
const QUESTION = "What is in the house?";

async function openai() {
  const client = new OpenAI({ baseURL: `${base}/v1`, apiKey, maxRetries: 0 });
  const tools = [{ type: "function", name: "look", description: "Looks", parameters: PARAMETERS, strict: true }];
  const input = [{ role: "user", content: QUESTION }];
  const first = await client.responses.create({ model: "m", input, tools, store: false });
  input.push(...first.output, { type: "function_call_output", call_id: first.output.at(-1).call_id, output: "a cat" });
  const events = [];
  const stream = client.responses.stream({ model: "m", input, tools, store: false });
  for await (const event of stream) events.push(event);
  return [first, events, (await stream.finalResponse()).output_text];
}

async function anthropic() {
  const client = new Anthropic({ baseURL: base, apiKey, maxRetries: 0 });
  const tools = [{ name: "look", description: "Looks", input_schema: PARAMETERS }];
  const messages = [{ role: "user", content: QUESTION }];
  const first = await client.messages.create({ model: "m", max_tokens: 100, messages, tools });
  messages.push({ role: "assistant", content: first.content });
  messages.push({ role: "user", content: [{ type: "tool_result", tool_use_id: first.content.at(-1).id, content: "a cat" }] });
  const events = [];
  const stream = client.messages.stream({ model: "m", max_tokens: 100, messages, tools });
  for await (const event of stream) events.push(event);
  return [first, events, await stream.finalText()];
}

async function vercel() {
  const model = createOpenAI({ baseURL: `${base}/v1`, apiKey })("m"); // its default: Responses
  const look = tool({ inputSchema: jsonSchema(PARAMETERS), execute: () => "a cat" });
  const common = { model, tools: { look }, stopWhen: isStepCount(4), maxRetries: 0, prompt: QUESTION, providerOptions: { openai: { store: false } } };
  const whole = await generateText(common);
  const stream = streamText(common);
  const parts = [];
  for await (const part of stream.fullStream) {
    if (part.type === "error") throw part.error;
    if (parts.at(-1) !== part.type) parts.push(part.type);
  }
  const told = (steps) => steps.map((step) => [step.text, step.toolCalls.map((call) => [call.toolName, call.input]), step.finishReason]);
  return [told(whole.steps), told(await stream.steps), parts];
}

// Its default lets the provider store responses: what was said before is named by its items' ids.
async function stored() {
  const model = createOpenAI({ baseURL: `${base}/v1`, apiKey })("m");
  const look = tool({ inputSchema: jsonSchema(PARAMETERS), execute: () => "a cat" });
  const messages = [];
  const texts = [];
  for (const content of [QUESTION, "And then?", "And after that?"]) {
    messages.push({ role: "user", content });
    const told = await generateText({ model, tools: { look }, stopWhen: isStepCount(4), maxRetries: 0, messages });
    messages.push(...told.response.messages);
    texts.push(told.text);
  }
  return texts;
}

async function langchain() {
  const model = new ChatOpenAI({ model: "m", apiKey, useResponsesApi: true, maxRetries: 0, configuration: { baseURL: `${base}/v1` } });
  const bound = model.bindTools([{ type: "function", function: { name: "look", description: "Looks", parameters: PARAMETERS } }]);
  const first = await bound.invoke([{ role: "user", content: QUESTION }]);
  let text = "";
  for await (const chunk of await model.stream([{ role: "user", content: QUESTION }])) text += chunk.text;
  return [first.tool_calls, text];
}

const seen = {};
for (const [name, ask] of Object.entries({ openai, anthropic, vercel, stored, langchain })) seen[name] = await ask();
console.log(JSON.stringify(seen));
