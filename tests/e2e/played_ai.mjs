// The Vercel AI SDK: whole and as a stream, with its own loop of tools, and with an output of a given form.

import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { Output, generateText, isStepCount, jsonSchema, streamText, tool } from "ai";

import { API, BASE, FOLLOW_UP, FORMAT, QUESTION, conversations } from "./played.mjs";

globalThis.AI_SDK_LOG_WARNINGS = false;
const look = tool({ inputSchema: jsonSchema({ type: "object", properties: {} }), execute: () => "seen" });
// A provider that stores responses is the default of its Responses; reasoning goes back encrypted where it does not.
const unstored = { store: false, include: ["reasoning.encrypted_content"] };
const providerOptions = process.env.STORE ? {} : { openai: unstored };
const common = { tools: { look }, stopWhen: isStepCount(12), maxRetries: 0, providerOptions };

const told = (step) => ({
  text: step.text,
  reasoning: step.reasoningText ?? null,
  calls: step.toolCalls.map(({ toolCallId, toolName, input }) => [toolCallId, toolName, input]),
  results: step.toolResults.map(({ toolCallId, output }) => [toolCallId, output]),
  end: step.finishReason,
  raw: step.rawFinishReason ?? null,
  warnings: step.warnings ?? null,
});

async function both(ask) {
  const messages = [{ role: "user", content: QUESTION }];
  const seen = [];
  for (const next of [FOLLOW_UP, null]) {
    const { steps, responses, more } = await ask(messages);
    seen.push([steps.map(told), responses, more]);
    messages.push(...responses);
    if (next) messages.push({ role: "user", content: next });
  }
  return { seen, messages };
}

const whole = (model) => both(async (messages) => {
  const result = await generateText({ ...common, model, messages });
  return { steps: result.steps, responses: result.responseMessages ?? result.response.messages };
});

const WAYS = {
  whole: (provider, model) => whole(provider(model)),
  stream: (provider, model) => both(async (messages) => {
    const result = streamText({ ...common, model: provider(model), messages });
    const parts = [];
    const texts = {};
    for await (const part of result.fullStream) {
      if (part.type === "error") throw part.error;
      if (part.text !== undefined) texts[part.type] = (texts[part.type] ?? "") + part.text;
      if (parts.at(-1) !== part.type) parts.push(part.type);
    }
    const response = await result.response;
    return { steps: await result.steps, responses: await (result.responseMessages ?? response.messages), more: [parts, texts] };
  }),
  format: async (provider, model) => {
    const { seen, messages } = await whole(provider(model));
    messages.push({ role: "user", content: "As JSON?" });
    const output = Output.object({ schema: jsonSchema(FORMAT) });
    const result = await generateText({ ...common, model: provider(model), messages, output });
    const stream = streamText({ ...common, model: provider(model), messages, output });
    await stream.consumeStream();
    return [seen, result.output, await stream.output];
  },
};

const MAKE = {
  chat: (apiKey) => createOpenAICompatible({ name: "up", baseURL: BASE, apiKey, supportsStructuredOutputs: true }),
  responses: (apiKey) => createOpenAI({ baseURL: BASE, apiKey }),
  messages: (apiKey) => createAnthropic({ baseURL: `${BASE}/v1`, apiKey }),
};
await conversations("ai", WAYS, MAKE[API]);
