// How an answer is read from streams that a server rarely sends.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Chatwright, type Chunk, type Conversation, type Message, getText } from "chatwright";

const chunks = (...all: Chunk[]) => all;
const part = (text: string, state: "streaming" | "done" = "done") => ({ type: "text" as const, text, state });
const answer = (...parts: Message["parts"]): Message => ({ id: "a", role: "assistant", parts });
const BEGIN = chunks({ type: "start", messageId: "a" }, { type: "start-step" }, { type: "text-start", id: "t" });
const END = chunks({ type: "text-end", id: "t" }, { type: "finish-step" }, { type: "finish", finishReason: "stop" });
const delta = (text: string): Chunk => ({ type: "text-delta", id: "t", delta: text });

/** Events with cursors, which begin at a number. */
function events(all: Chunk[], from: number, isWhole = true): string {
  const lines = all.map((chunk, index) => `id: 1.${from + index}\ndata: ${JSON.stringify(chunk)}\n\n`);
  return `: keep-alive\n\n${lines.join("")}${isWhole ? "data: [DONE]\n\n" : ""}`;
}

/** Events without cursors, as an ended answer has them. */
function told(all: Chunk[]): string {
  return events(all, 1).replaceAll(/id: .*\n/g, "");
}

const GAP = 'data: {"type":"data-gap","data":{},"transient":true}\n\ndata: [DONE]\n\n';

/** A client whose server gives these responses to the requests in this order: a stream, nothing, or a conversation. */
function scripted(...responses: (string | null | Message[])[]): { client: Chatwright; asked: string[] } {
  const asked: string[] = [];
  const give = (async (input: string, init: RequestInit) => {
    const cursor = new Headers(init.headers).get("last-event-id");
    asked.push(`${init.method} ${new URL(input).pathname.split("/").at(-1)}${cursor === null ? "" : ` after ${cursor}`}`);
    assert.ok(responses.length > 0, `unexpected request: ${asked.join(", ")}`);
    const next = responses.shift()!;
    if (next === null) return new Response(null, { status: 204 });
    if (Array.isArray(next)) return Response.json({ messages: next } as Conversation);
    // In pieces that split lines and characters.
    const bytes = new TextEncoder().encode(next);
    const pieces = Array.from({ length: Math.ceil(bytes.length / 7) }, (_, index) => bytes.slice(index * 7, index * 7 + 7));
    return new Response(
      new ReadableStream({
        start(controller) {
          for (const piece of pieces) controller.enqueue(piece);
          controller.close();
        },
      }),
    );
  }) as typeof fetch;
  return { client: new Chatwright({ url: "http://localhost", fetch: give }), asked };
}

const user: Message = { id: "u", role: "user", parts: [{ type: "text", text: "Hi" }] };

async function check(responses: Parameters<typeof scripted>, expected: { asked: string[]; text: string; snapshots?: number }): Promise<void> {
  const { client, asked } = scripted(...responses);
  const reply = client.send("helper", { id: "u", text: "Hi" }, { conversation: "c" });
  let text = "";
  let snapshots = 0;
  const types: string[] = [];
  for await (const chunk of reply) {
    types.push(chunk.type);
    if (chunk.type === "text-delta") text += chunk.delta;
    if (chunk.type === "snapshot") [text, snapshots] = [getText(chunk.message), snapshots + 1];
  }
  assert.deepEqual({ asked, text, snapshots }, { snapshots: 0, ...expected });
  assert.equal(getText(await reply), expected.text);
  assert.equal(types.at(-1), "finish");
  assert.equal(types.filter((type) => type === "start").length, 1, types.join());
}

const POST = "POST helper";
const STREAM = "GET stream";
const LOAD = "GET c";

test("a broken stream goes on after its newest event", async () => {
  await check([events([...BEGIN, delta("Grü")], 1, false), events([delta("ße"), ...END], 5)], {
    asked: [POST, `${STREAM} after 1.4`],
    text: "Grüße",
  });
});

test("what was missed for good comes from the conversation", async () => {
  const cut = events([...BEGIN, delta("one")], 1, false);
  const after = [POST, `${STREAM} after 1.4`, LOAD];
  await check([cut, null, [user, answer({ type: "step-start" }, part("one two"))]], { asked: after, text: "one two" });
  // A text that does not continue the words that were read replaces them.
  await check([cut, null, [user, answer({ type: "step-start" }, part("two"))]], { asked: after, text: "two", snapshots: 1 });
});

test("after a gap the answer is read from its beginning, and told where it is new", async () => {
  const whole = events([...BEGIN, delta("o"), delta("ne"), delta(" two"), ...END], 1);
  await check([events([...BEGIN, delta("one")], 1, false), GAP, whole], {
    asked: [POST, `${STREAM} after 1.4`, STREAM],
    text: "one two",
  });
  // The answer has ended meanwhile.
  await check([events([...BEGIN, delta("one")], 1, false), GAP, null, [user, answer({ type: "step-start" }, part("one two"))]], {
    asked: [POST, `${STREAM} after 1.4`, STREAM, LOAD],
    text: "one two",
  });
});

test("a request without a response is sent again with the same id", async () => {
  await check(["", events([...BEGIN, delta("one"), ...END], 1)], { asked: [POST, POST], text: "one" });
});

test("answers that leave other calls open change the message only where they must", async () => {
  const call = (id: string, state: "approval-requested" | "approval-responded") => {
    return { type: "tool-send" as const, toolCallId: id, state, input: {}, approval: { id: `ask-${id}` } };
  };
  const before = answer({ type: "step-start" }, call("c1", "approval-requested"), call("c2", "approval-requested"));
  const responded: Message["parts"][number] = { ...call("c1", "approval-responded"), approval: { id: "ask-c1", approved: true } };
  const whole = told([
    { type: "start", messageId: "a" },
    { type: "start-step" },
    { type: "tool-input-available", toolCallId: "c1", toolName: "send", input: {} },
    { type: "tool-approval-request", toolCallId: "c1", approvalId: "ask-c1", approved: true },
    { type: "tool-input-available", toolCallId: "c2", toolName: "send", input: {} },
    { type: "tool-approval-request", toolCallId: "c2", approvalId: "ask-c2" },
    { type: "finish-step" },
    { type: "finish" },
  ]);
  const after = answer({ type: "step-start" }, responded, call("c2", "approval-requested"));
  const { client, asked } = scripted([user, before], whole, [user, after]);
  const reply = client.chat("helper", { conversation: "c" }).approve("c1");
  for await (const chunk of reply) assert.notEqual(chunk.type, "snapshot");
  assert.deepEqual(asked, [LOAD, POST, LOAD]);
  assert.deepEqual((await reply).parts, after.parts);
});
