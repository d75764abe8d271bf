// The hook, with the server; `scripts/test.mjs` runs this with both versions of React.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { StrictMode, createElement, useEffect, version } from "react";
import { type ReactTestRenderer, type TestRendererOptions, create } from "react-test-renderer";
import { Chatwright, type DataPart, getPendingCalls, getText } from "../src/index.ts";
import { type UseChatHelpers, type UseChatOptions, useChat } from "../src/react.ts";
import { type Server, startServer } from "./server.ts";

let server: Server;
let client: Chatwright;

before(async () => {
  server = await startServer();
  client = new Chatwright({ url: server.url });
});
after(() => server.close());

type Options = Omit<UseChatOptions, "client" | "agent">;

/** A mounted component with the hook. */
class Mounted {
  /** The last result of the hook. */
  chat!: UseChatHelpers;
  statuses: string[] = [];
  #root!: ReactTestRenderer;

  #left: () => void = () => {};

  static async with(options: Options = {}): Promise<Mounted> {
    const mounted = new Mounted();
    const Page = () => {
      mounted.chat = useChat({ client, agent: "helper", page: "support", ...options });
      if (mounted.statuses.at(-1) !== mounted.chat.status) mounted.statuses.push(mounted.chat.status);
      useEffect(() => () => mounted.#left(), []);
      return null;
    };
    const element = createElement(StrictMode, null, createElement(Page));
    // Otherwise the root is that of React 17 in version 18, and StrictMode mounts once.
    mounted.#root = create(element, { unstable_isConcurrent: true } as unknown as TestRendererOptions);
    await mounted.until("it is mounted", (chat) => chat !== undefined);
    return mounted;
  }

  /** Waits until the hook returns what is expected. */
  async until(what: string, holds: (chat: UseChatHelpers) => boolean): Promise<void> {
    for (const end = Date.now() + 20_000; !holds(this.chat); ) {
      if (Date.now() > end) assert.fail(`${what}: ${JSON.stringify(this.chat)}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** Sends a message and waits for the end of the answer. */
  async send(text: string): Promise<void> {
    await this.chat.sendMessage({ text });
    await this.rendered();
  }

  /** Waits until what has happened is rendered. */
  async rendered(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }

  get newest(): string {
    return getText(this.chat.messages.at(-1)!);
  }

  async unmount(): Promise<void> {
    const left = new Promise<void>((resolve) => (this.#left = resolve));
    this.#root.unmount();
    await left;
  }
}

test(`a message is sent and answered (React ${version})`, async () => {
  const finished: unknown[] = [];
  const page = await Mounted.with({ onFinish: ({ isAbort, isError, finishReason }) => finished.push([isAbort, isError, finishReason]) });
  assert.deepEqual([page.chat.status, page.chat.messages], ["ready", []]);
  await page.send("Count to 3");
  assert.deepEqual(page.statuses, ["ready", "submitted", "streaming", "ready"]);
  assert.equal(page.newest, "1, 2, 3\n\nThat was all.");
  assert.deepEqual(finished, [[false, false, "stop"]]);
  assert.deepEqual((await client.conversations.get(page.chat.id)).messages.at(-1), page.chat.messages.at(-1));
  await page.unmount();
});

test("unmounting stops nothing, and mounting goes on", async () => {
  const first = await Mounted.with();
  const { id } = first.chat;
  const sent = first.chat.sendMessage({ text: "Count to 60" });
  await first.until("an answer", ({ status }) => status === "streaming");
  await first.unmount();
  await sent;
  assert.equal((await client.conversations.get(id)).running, true);
  const second = await Mounted.with({ conversation: id });
  await second.until("the answer in progress", ({ status }) => status === "streaming");
  await second.until("its end", ({ status }) => status === "ready");
  assert.equal(second.chat.messages.length, 2);
  assert.match(second.newest, /^1, 2, 3(.|\n)* 60\n\nThat was all\.$/);
  await second.unmount();
});

test("a message is not lost when the page is left at once", async () => {
  const page = await Mounted.with();
  const { id } = page.chat;
  const sent = page.chat.sendMessage("Count to 20");
  await page.unmount();
  await sent;
  assert.equal((await client.conversations.get(id)).messages[0]!.role, "user");
});

test("a decision goes on with the answer", async () => {
  const page = await Mounted.with();
  await page.send("Delete the article about Refunds");
  const [call] = getPendingCalls(page.chat.messages.at(-1));
  assert.equal(call!.state, "approval-requested");
  await page.chat.addToolApprovalResponse({ id: call!.approval!.id, approved: true });
  await page.rendered();
  assert.ok(page.chat.messages.at(-1)!.parts.some((part) => "approval" in part && part.approval?.approved === true));
  await page.until("the rest of the answer", ({ status, messages }) => status === "ready" && getPendingCalls(messages.at(-1)).length === 0);
  assert.equal(page.chat.messages.length, 2);
  assert.deepEqual((await client.conversations.get(page.chat.id)).messages.at(-1), page.chat.messages.at(-1));
  await page.unmount();
});

test("a tool of the page is run once, and its result goes to the agent", async () => {
  const calls: unknown[] = [];
  const data: DataPart[] = [];
  const page: Mounted = await Mounted.with({
    sharedState: () => ({ legal_name: "" }),
    onData: (part) => data.push(part),
    onToolCall: ({ toolCall }) => {
      if (toolCall.toolName !== "update-page-state") return;
      calls.push(toolCall.input);
      void page.chat.addToolOutput({ tool: toolCall.toolName, toolCallId: toolCall.toolCallId, output: { ok: true, written: ["legal_name"] } });
    },
  });
  await page.send("Fill in the form for Ada Lovelace");
  await page.until("the rest of the answer", (chat) => chat.status === "ready" && getPendingCalls(chat.messages.at(-1)).length === 0);
  assert.deepEqual(calls, [{ updates: { legal_name: "Ada Lovelace" } }]);
  assert.match(page.newest, /Done\. I wrote/);
  await page.unmount();
});

test("stop ends the answer on the server", async () => {
  const aborts: boolean[] = [];
  const page = await Mounted.with({ onFinish: ({ isAbort }) => aborts.push(isAbort) });
  const sent = page.chat.sendMessage({ text: "Count to 2000" });
  await page.until("an answer", ({ status }) => status === "streaming");
  await assert.rejects(page.chat.sendMessage("Hello"), /An answer is being written/);
  await page.chat.stop();
  await page.rendered();
  await sent;
  await page.until("its end", ({ status }) => status === "ready");
  assert.deepEqual(aborts, [true]);
  assert.equal((await client.conversations.get(page.chat.id)).running, false);
  await page.unmount();
});

test("messages are regenerated and edited", async () => {
  const page = await Mounted.with();
  await page.send("Count to 2");
  const first = page.chat.messages.at(-1)!.id;
  await page.chat.regenerate();
  await page.rendered();
  assert.equal(page.chat.messages.length, 2);
  assert.notEqual(page.chat.messages.at(-1)!.id, first);
  await page.chat.sendMessage({ text: "Count to 4", messageId: page.chat.messages[0]!.id });
  await page.rendered();
  assert.equal(page.newest, "1, 2, 3, 4\n\nThat was all.");
  assert.deepEqual((await client.conversations.get(page.chat.id)).messages, page.chat.messages);
  await page.unmount();
});

test("an error is shown, cleared, and the same message sent again", async () => {
  const errors: string[] = [];
  const page = await Mounted.with({ agent: "nobody", onError: (error) => errors.push(error.name) } as Options);
  await page.send("Hello");
  assert.deepEqual([page.chat.status, page.chat.error?.name, errors], ["error", "RequestError", ["RequestError"]]);
  assert.equal(page.chat.messages.length, 1);
  await page.chat.clearError();
  await page.rendered();
  assert.deepEqual([page.chat.status, page.chat.error], ["ready", undefined]);
  await page.unmount();

  const other = await Mounted.with();
  await other.send("Simulate a failure");
  assert.deepEqual([other.chat.status, other.chat.error?.name], ["error", "AnswerError"]);
  await other.chat.regenerate();
  await other.rendered();
  assert.equal(other.chat.status, "error");
  assert.equal(other.chat.messages.filter((message) => message.role === "user").length, 1);
  await other.unmount();
});

test("a new conversation begins with the messages that are shown", async () => {
  const greeting = { id: "greeting", role: "assistant" as const, parts: [{ type: "text" as const, text: "Hello!" }] };
  for (const options of [{}, { conversation: `new-${version}`.replaceAll(".", "-") }]) {
    const page = await Mounted.with({ messages: [greeting], ...options });
    assert.deepEqual(page.chat.messages, [greeting]);
    await page.send("Count to 2");
    assert.equal((await client.conversations.get(page.chat.id)).messages[0]!.id, "greeting");
    await page.unmount();
  }
});

test("files that a page has chosen are sent", async () => {
  const page = await Mounted.with();
  // A global in browsers, and in Node from version 20 on.
  const file = new File(["name,amount\nAda,7\n"], "list.csv", { type: "text/csv" });
  await page.chat.sendMessage({ text: "Count to 2", files: [file] });
  const [message] = (await client.conversations.get(page.chat.id)).messages;
  const part = message!.parts.find((part) => part.type === "file")!;
  assert.equal(part.filename, "list.csv");
  assert.equal(await (await fetch(new URL(part.url, server.url))).text(), "name,amount\nAda,7\n");
  await page.unmount();
});
