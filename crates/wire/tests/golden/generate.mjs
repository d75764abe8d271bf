// Writes what the AI SDK 6 does with the inputs below; the tests named `golden` compare ours with it. In a folder outside
// of the repository: `npm install ai@6.0.264`, copy this file there, run it with Node, and copy back what it has written.
import { mkdirSync, writeFileSync } from "node:fs";
import { convertToModelMessages, parsePartialJson, pruneMessages, readUIMessageStream } from "ai";
const out = import.meta.dirname;
mkdirSync(`${out}/scenarios`, { recursive: true });
const lines = (values) => `[\n${values.map((value) => JSON.stringify(value)).join(",\n")}\n]\n`;

// Partial JSON: every beginning of some texts.
const texts = ['{"city":"Lima","n":[-1.5e2,true,null],"note":"a\\u00e9\\n","in":{}}', '[[],{"x":[false,"]"]}]', '"a word"', "12", "nul"];
const parts = [];
for (const text of texts) {
  for (let end = 0; end <= text.length; end += 1) {
    const { value, state } = await parsePartialJson(text.slice(0, end));
    parts.push({ text: text.slice(0, end), value: value === undefined ? { __undefined: true } : value, state });
  }
}
// A minus without digits: version 7 leaves it out, as ours does, and version 6 fails.
const known = new Set(parts.map(({ text }) => text).filter((text) => text.endsWith("[-")));
writeFileSync(`${out}/partial-json.json`, lines(parts.filter(({ text }) => !known.has(text) && known.add(text))));

// Pruning.
const call = (id, toolName) => ({ type: "tool-call", toolCallId: id, toolName, input: { of: id } });
const result = (id, toolName) => ({ type: "tool-result", toolCallId: id, toolName, output: { type: "text", value: `result ${id}` } });
const user = (text) => ({ role: "user", content: [{ type: "text", text }] });
const reasoning = (text) => ({ type: "reasoning", text });
const said = (text) => ({ type: "text", text });
const convs = {
  twoTurns: [
    user("Where is it?"),
    { role: "assistant", content: [reasoning("look"), said("Wait."), call("a", "search"), call("b", "calc")] },
    { role: "tool", content: [result("a", "search"), result("b", "calc")] },
    { role: "assistant", content: [reasoning("think"), said("In Lima.")] },
    user("And the other?"),
    { role: "assistant", content: [call("c", "search")] },
    { role: "tool", content: [result("c", "search")] },
  ],
  newQuestion: [
    user("Add."),
    { role: "assistant", content: [reasoning("sum"), call("d", "calc")] },
    { role: "tool", content: [result("d", "calc")] },
    { role: "assistant", content: [said("3")] },
    user("Again."),
  ],
  onlyReasoning: [user("Hm?"), { role: "assistant", content: [reasoning("nothing")] }, user("Well?")],
};
const rules = ["none", "all", "before-last-message", "before-last-2-messages", "before-last-4-messages",
  [{ type: "all", tools: ["search"] }], [{ type: "before-last-message", tools: ["calc"] }, { type: "before-last-3-messages" }]];
const cases = [];
for (const [conv, messages] of Object.entries(convs)) {
  for (const toolCalls of rules) for (const reasoning of ["none", "all", "before-last-message"]) for (const emptyMessages of ["keep", "remove"]) {
    if (reasoning !== "none" && emptyMessages === "keep" && toolCalls !== "all") continue;
    const options = { toolCalls, reasoning, emptyMessages };
    cases.push({ conv, options, expected: pruneMessages({ messages, ...options }) });
  }
}
writeFileSync(`${out}/prune.json`, `{"convs":${JSON.stringify(convs)},"cases":${lines(cases).trim()}}\n`);

// UI messages to model messages.
const tool = (state, more) => ({ type: "tool-look_up", toolCallId: "k", state, input: { q: 1 }, ...more });
const ui = {
  text: [{ type: "text", text: "Hello", state: "done" }],
  reasoning: [{ type: "reasoning", text: "so", providerMetadata: { p: { signature: "s" } } }, { type: "text", text: "Yes." }],
  file: [{ type: "file", mediaType: "image/png", url: "data:image/png;base64,aGk=", filename: "a.png" }],
  ignored: [{ type: "source-url", sourceId: "1", url: "https://a.example" }, { type: "data-mood", data: 1 }, { type: "text", text: "x" }],
  steps: [{ type: "step-start" }, tool("output-available", { output: { rows: [1] } }), { type: "step-start" }, { type: "text", text: "One." }],
  parallel: [{ type: "step-start" }, tool("output-available", { output: "a" }), { ...tool("output-available", { output: null }), toolCallId: "l" }, { type: "text", text: "Two." }],
  failed: [{ type: "step-start" }, tool("output-error", { errorText: "no such row" }), { type: "step-start" }, { type: "text", text: "Sorry." }],
  dynamic: [{ type: "step-start" }, { type: "dynamic-tool", toolName: "remote", toolCallId: "r", state: "output-available", input: {}, output: 7 }],
  provider: [{ type: "step-start" }, { ...tool("output-available", { output: { found: 1 } }), providerExecuted: true }, { type: "text", text: "Found." }],
  empty: [{ type: "step-start" }],
};
const converted = [];
for (const role of ["user", "assistant"]) for (const [name, parts] of Object.entries(ui)) {
  const messages = [{ role, parts }];
  converted.push({ role, case: name, ignoreIncompleteToolCalls: false, messages, expected: await convertToModelMessages(messages) });
}
writeFileSync(`${out}/convert.json`, lines(converted));

// Writes the message that the client assembles from the chunks of an answer.
const scenario = async (name, chunks, before) => {
  const stream = new ReadableStream({ start(controller) { for (const chunk of chunks) controller.enqueue(chunk); controller.close(); } });
  let last;
  for await (const message of readUIMessageStream({ stream, message: structuredClone(before) })) last = message;
  const asked = { id: "u", role: "user", parts: [{ type: "text", text: "Hi" }] };
  const messages = before ? [asked, before] : [asked];
  const sse = [...chunks.map((chunk) => `data: ${JSON.stringify(chunk)}`), "data: [DONE]"];
  writeFileSync(`${out}/scenarios/${name}.json`, `${JSON.stringify({ name, messages, sse, onFinish: { messages: [asked, last] } }, null, 1)}\n`);
};
const text = (id, ...deltas) => [{ type: "text-start", id }, ...deltas.map((delta) => ({ type: "text-delta", id, delta })), { type: "text-end", id }];
const input = (toolCallId, toolName, text, input) => [
  { type: "tool-input-start", toolCallId, toolName }, { type: "tool-input-delta", toolCallId, inputTextDelta: text },
  { type: "tool-input-available", toolCallId, toolName, input },
];
await scenario("calls", [
  { type: "start", messageId: "m" }, { type: "start-step" },
  { type: "reasoning-start", id: "r" }, { type: "reasoning-delta", id: "r", delta: "look " }, { type: "reasoning-delta", id: "r", delta: "it up", providerMetadata: { p: { s: "x" } } }, { type: "reasoning-end", id: "r" },
  ...input("a", "search", '{"q":"x"}', { q: "x" }), ...input("b", "calc", '{"n":[1', { n: [1] }),
  { type: "tool-output-error", toolCallId: "b", errorText: "no number" },
  { type: "tool-output-available", toolCallId: "a", output: { rows: 2 }, preliminary: true },
  { type: "tool-output-available", toolCallId: "a", output: { rows: 3 } },
  { type: "finish-step" }, { type: "start-step" }, ...text("t", "Three ", "rows."),
  { type: "source-url", sourceId: "1", url: "https://a.example", title: "A" },
  { type: "finish-step" }, { type: "finish", finishReason: "stop" },
]);
await scenario("data", [
  { type: "start", messageId: "m" }, { type: "data-mood", id: "1", data: { is: "calm" } }, { type: "data-mood", id: "1", data: { is: "glad" } },
  { type: "data-gone", data: 1, transient: true }, { type: "file", mediaType: "image/png", url: "data:image/png;base64,aGk=" }, ...text("t", ""), { type: "finish" },
]);
await scenario("approval", [
  { type: "start", messageId: "m" }, { type: "start-step" }, ...input("c", "pay", '{"eur":1}', { eur: 1 }),
  { type: "tool-approval-request", approvalId: "y", toolCallId: "c" }, { type: "finish-step" }, { type: "finish", finishReason: "tool-calls" },
]);
await scenario("continued", [
  { type: "start" }, { type: "tool-output-available", toolCallId: "c", output: "paid" }, { type: "start-step" }, ...text("t", "Done."), { type: "finish-step" }, { type: "finish" },
], { id: "m", role: "assistant", parts: [{ type: "step-start" }, { type: "tool-pay", toolCallId: "c", state: "input-available", input: { eur: 1 } }] });
