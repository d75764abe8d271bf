import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { parsePartialJson } from "../src/partial-json.ts";
import { Reducer } from "../src/reducer.ts";
import { SseDecoder } from "../src/sse.ts";
import type { Chunk } from "../src/types.ts";

test("arguments that are still arriving are parsed as far as they go", () => {
  const check = (text: string, expected: unknown) => assert.deepEqual(parsePartialJson(text), expected, text);
  check("", undefined);
  check("{", {});
  check('{"a', {});
  check('{"a"', {});
  check('{"a":', {});
  check('{"a":"b', { a: "b" });
  check('{"a":"b\\', { a: "b" });
  check('{"a":"b\\u00', { a: "b" });
  check('{"a":"b\\u00e9', { a: "bé" });
  check('{"a":"b"', { a: "b" });
  check('{"a":[1, 2', { a: [1, 2] });
  check('{"a":[1, {"b":tr', { a: [1, {}] });
  check('{"a":true, "c', { a: true });
  check('{"a":1.5, "b": "x, {', { a: 1.5, b: "x, {" });
  check('{"a":{"b":[]}, "c":-', { a: { b: [] } });
  check("no JSON", undefined);
  // Every beginning of a text has a value that the whole text has, too.
  const text = '{"one":"a \\"quoted\\" \\u0041","two":[1,-2.5e3,true,null,{"three":{}}],"four":""}';
  for (let end = 1; end < text.length; end++) assert.ok(typeof parsePartialJson(text.slice(0, end)) === "object");
  check(text, JSON.parse(text));
});

test("every chunk that the server sends has a type here", async () => {
  const rust = await readFile("../../crates/wire/src/chunk.rs", "utf8");
  const chunks = rust.slice(rust.indexOf("pub enum Chunk"), rust.indexOf("/// A data chunk"));
  const names = [...chunks.matchAll(/^ {4}([A-Z]\w+)(?: \{|\(|,)/gm)].map(([, name]) => name!);
  const kebab = names.filter((name) => name !== "Data").map((name) => name.replaceAll(/(?<!^)([A-Z])/g, "-$1").toLowerCase());
  assert.ok(kebab.length > 20);
  const types = await readFile("src/types.ts", "utf8");
  for (const name of kebab) assert.ok(types.includes(`type: "${name}"`), name);
});

test("chunks build the message that the server stores", () => {
  const check = (chunks: Chunk[], parts: unknown) => {
    const reducer = new Reducer();
    for (const chunk of chunks) reducer.apply(chunk);
    assert.deepEqual(reducer.message.parts, parts);
  };
  const call = { toolCallId: "c", toolName: "find" };
  check(
    [{ type: "tool-input-start", ...call }, { type: "tool-input-delta", toolCallId: "c", inputTextDelta: '{"q":"re' }],
    [{ type: "tool-find", toolCallId: "c", state: "input-streaming", input: { q: "re" } }],
  );
  check(
    [
      { type: "tool-input-start", ...call, dynamic: true, title: "Find" },
      { type: "tool-input-error", ...call, input: "x", errorText: "bad" },
    ],
    [{ type: "dynamic-tool", toolName: "find", toolCallId: "c", state: "output-error", title: "Find", input: "x", errorText: "bad" }],
  );
  check(
    [
      { type: "data-mood", id: "1", data: "good" },
      { type: "data-mood", id: "1", data: "better" },
      { type: "data-mood", data: "transient", transient: true },
      { type: "text-delta", id: "unknown", delta: "x" },
    ],
    [{ type: "data-mood", id: "1", data: "better" }],
  );
});

test("metadata cannot reach a prototype", () => {
  const reducer = new Reducer();
  reducer.apply(JSON.parse('{"type":"message-metadata","messageMetadata":{"__proto__":{"polluted":1}}}') as Chunk);
  reducer.apply(JSON.parse('{"type":"message-metadata","messageMetadata":{"__proto__":{"polluted":1},"model":"m"}}') as Chunk);
  assert.equal(({} as { polluted?: number }).polluted, undefined);
});

test("events are decoded from any pieces, within a bound", () => {
  const bytes = new TextEncoder().encode(": comment\r\nid: 1.1\r\ndata: ä\r\ndata:b\r\n\r\ndata: c\n\n");
  for (let size = 1; size <= bytes.length; size++) {
    const decoder = new SseDecoder();
    const events = [];
    for (let at = 0; at < bytes.length; at += size) events.push(...decoder.push(bytes.slice(at, at + size)));
    assert.deepEqual(events, [{ id: "1.1", data: "ä\nb" }, { id: undefined, data: "c" }]);
  }
  const decoder = new SseDecoder();
  const piece = new TextEncoder().encode("x".repeat(1024 * 1024));
  assert.throws(() => {
    for (let count = 0; count < 10; count++) decoder.push(piece);
  }, RangeError);
});
