// The packages `@ai-sdk/openai` and `@ai-sdk/openai-compatible` as published. Run by the tests of the server, with its
// address and an API key.
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, jsonSchema, Output, stepCountIs, streamText, tool } from "ai";

const [baseURL, apiKey] = process.argv.slice(2);
const show = (name, value) => console.log(`${name}: ${JSON.stringify(value)}`);
const openai = createOpenAI({ baseURL, apiKey });
const models = {
  chat: openai.chat("helper"),
  responses: openai.responses("helper"),
  compatible: createOpenAICompatible({ name: "chatwright", baseURL, apiKey, includeUsage: true, supportsStructuredOutputs: true })("helper"),
};
const weather = tool({
  description: "The weather.",
  inputSchema: jsonSchema({ type: "object", properties: { city: { type: "string" } }, required: ["city"], additionalProperties: false }),
  execute: async ({ city }) => `${city} is wet`,
});
for (const [name, model] of Object.entries(models)) {
  const plain = await generateText({ model, prompt: "say hello", maxRetries: 0 });
  show(`${name} plain`, [plain.text, plain.finishReason, plain.usage.totalTokens > 0]);
  const stream = streamText({ model, prompt: "say streamed", maxRetries: 0 });
  let text = "";
  for await (const delta of stream.textStream) text += delta;
  show(`${name} stream`, [text, await stream.finishReason, (await stream.usage).totalTokens > 0]);
  const used = await generateText({ model, prompt: 'weather {"city":"Bergen"}', tools: { weather }, stopWhen: stepCountIs(3), maxRetries: 0 });
  show(`${name} tool`, [used.steps.length, used.text]);
  const schema = jsonSchema({ type: "object", properties: { answer: { type: "number" } }, required: ["answer"], additionalProperties: false });
  const typed = await generateText({ model, prompt: 'say {"answer": 42}', output: Output.object({ schema }), maxRetries: 0 });
  show(`${name} output`, typed.output);
}
