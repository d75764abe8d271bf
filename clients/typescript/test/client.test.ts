import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { AnswerError, Chatwright, type Chunk, NotPendingError, RequestError, getPendingCalls, getText, getToolName } from "chatwright";
import { Line, type Server, createKey, startServer } from "./server.ts";

let server: Server;
let client: Chatwright;

before(async () => {
  server = await startServer();
  client = new Chatwright({ url: server.url, key: await createKey(server, "agents", "conversations", "admin", "endpoints") });
});
after(() => server.close());

const page = { page: "support" };

/** The answer of the demo model to "Count to …". */
function counted(end: number): string {
  const numbers = Array.from({ length: end }, (_, index) => (index > 0 ? (index % 10 ? " " : "\n\n") : "") + (index + 1));
  return `${numbers.join(",")}\n\nThat was all.`;
}

/** Reads an answer; returns its events and the text that their deltas add up to. */
async function read(events: AsyncIterable<Chunk>): Promise<{ chunks: Chunk[]; text: string }> {
  const chunks: Chunk[] = [];
  for await (const chunk of events) chunks.push(chunk);
  return { chunks, text: chunks.map((chunk) => (chunk.type === "text-delta" ? chunk.delta : "")).join("") };
}

test("an answer is events and a message", async () => {
  const reply = client.send("helper", "Count to 3", page);
  const { chunks, text } = await read(reply);
  const message = await reply;
  assert.equal(text, counted(3));
  assert.equal(getText(message), text);
  assert.equal(message.metadata?.outcome, "done");
  assert.deepEqual([chunks[0]?.type, chunks.at(-1)?.type], ["start", "finish"]);
  const stored = await client.conversations.get(reply.conversation);
  assert.deepEqual(stored.messages[1], message);
  // Awaited without a loop, in the same conversation.
  const chat = client.chat("helper", { ...page, conversation: reply.conversation });
  assert.equal(getText(await chat.send("Count to 2")), counted(2));
  assert.equal((await chat.load()).messages.length, 4);
});

test("a connection that is cut in the middle loses nothing and doubles nothing", async () => {
  const line = await Line.to(server.url);
  const chat = new Chatwright({ url: line.url }).chat("helper", page);
  const reply = chat.send("Count to 120");
  let text = "";
  let cuts = 0;
  for await (const chunk of reply) {
    if (chunk.type !== "text-delta") continue;
    text += chunk.delta;
    if (text.length > (cuts + 1) * 100 && cuts < 3) {
      cuts += 1;
      line.cut();
      setTimeout(() => line.mend(), 250);
    }
  }
  line.close();
  assert.equal(cuts, 3);
  assert.equal(text, counted(120));
  assert.deepEqual(await reply, (await client.conversations.get(reply.conversation)).messages[1]);
});

test("an answer that ends while the connection is cut is completed from the conversation", async () => {
  const line = await Line.to(server.url);
  const reply = new Chatwright({ url: line.url }).send("helper", "Count to 30", page);
  let text = "";
  const types: string[] = [];
  for await (const chunk of reply) {
    types.push(chunk.type);
    if (chunk.type !== "text-delta") continue;
    if (text === "") {
      line.cut();
      while ((await client.conversations.get(reply.conversation)).running) await new Promise((resolve) => setTimeout(resolve, 50));
      line.mend();
    }
    text += chunk.delta;
  }
  line.close();
  assert.equal(text, counted(30));
  assert.deepEqual(types.slice(-3), ["text-end", "message-metadata", "finish"]);
  assert.deepEqual(await reply, (await client.conversations.get(reply.conversation)).messages[1]);
});

test("a message whose request is lost is sent once", async () => {
  const line = await Line.to(server.url);
  line.cut();
  const reply = new Chatwright({ url: line.url }).send("helper", "Count to 2", page);
  setTimeout(() => line.mend(), 300);
  assert.equal((await read(reply)).text, counted(2));
  line.close();
  assert.equal((await client.conversations.get(reply.conversation)).messages.length, 2);
});

test("a call that needs an approval waits for the decision", async () => {
  const chat = client.chat("helper", page);
  const asked = await chat.send("Delete the article about Refunds");
  assert.equal(asked.metadata?.outcome, "waiting");
  const [call] = getPendingCalls(asked);
  assert.equal(getToolName(call!), "delete_article");
  assert.deepEqual(call!.input, { title: "Refunds" });
  const denied = await chat.deny(call!.toolCallId, { reason: "Not today." });
  assert.equal(denied.id, asked.id);
  assert.match(getText(denied), /Nothing was deleted/);
  assert.deepEqual(denied, (await chat.load()).messages[1]);

  const again = await chat.send("Delete the article about Refunds");
  const { chunks } = await read(chat.approve(getPendingCalls(again)[0]!.toolCallId));
  assert.ok(chunks.some((chunk) => chunk.type === "tool-output-available"));
  await assert.rejects(async () => await chat.approve(call!.toolCallId), NotPendingError);
});

test("a question of the agent is answered", async () => {
  const chat = client.chat("helper", page);
  const [question] = getPendingCalls(await chat.send("Ask me something"));
  assert.equal(getToolName(question!), "ask-user");
  const answered = await chat.answer([{ toolCallId: question!.toolCallId, output: { option: "In one sentence" } }]);
  assert.match(getText(answered), /You chose \*In one sentence\*/);
});

test("stop ends the answer on the server", async () => {
  const reply = client.send("helper", "Count to 2000", page);
  let isStopped = false;
  for await (const chunk of reply) {
    if (chunk.type === "text-delta" && !isStopped) {
      isStopped = true;
      await reply.stop();
    }
  }
  const message = await reply;
  assert.equal(message.metadata?.outcome, "stopped");
  assert.equal((await client.conversations.get(reply.conversation)).running, false);
});

test("the answer goes on when the reading ends, and can be read again", async () => {
  const chat = client.chat("helper", page);
  for await (const chunk of chat.send("Count to 100")) if (chunk.type === "text-delta") break;
  const resumed = await read(chat.resume());
  assert.equal(resumed.text, counted(100));
  // No answer is in progress: no events, and the newest answer.
  const reply = chat.resume();
  assert.deepEqual((await read(reply)).chunks, []);
  assert.equal(getText(await reply), counted(100));
});

test("a signal ends the reading", async () => {
  const abort = new AbortController();
  const reply = client.chat("helper", page).send("Count to 100", { signal: abort.signal });
  await assert.rejects(async () => {
    for await (const chunk of reply) if (chunk.type === "text-delta") abort.abort();
  }, { name: "AbortError" });
  await reply.stop();
});

test("an answer that fails is an error with what was written", async () => {
  const reply = client.send("helper", "Simulate a failure", page);
  const error = await reply.then(() => undefined, (error: unknown) => error);
  assert.ok(error instanceof AnswerError);
  assert.deepEqual([error.outcome, error.partial.role], ["failed", "assistant"]);
  await assert.rejects(read(client.send("helper", "Simulate a failure", page)), AnswerError);
});

test("messages are regenerated and edited as versions", async () => {
  const chat = client.chat("helper", page);
  const first = await chat.send("Count to 2");
  const second = await chat.regenerate();
  assert.notEqual(second.id, first.id);
  const { forks = {}, messages } = await chat.load();
  assert.deepEqual(forks[second.id], [first.id, second.id]);
  assert.equal(getText(await chat.edit(messages[0]!.id, "Count to 4")), counted(4));
  await client.conversations.switchBranch(chat.conversation, first.id);
  assert.equal((await chat.load()).messages[1]!.id, first.id);
});

test("refusals are typed", async () => {
  const check = async (work: () => PromiseLike<unknown>, expected: unknown[]) => {
    const error = await work().then(() => undefined, (error: unknown) => error);
    assert.ok(error instanceof RequestError, String(error));
    assert.deepEqual([error.status, error.code, error.path], expected);
  };
  await check(() => client.conversations.get("unknown"), [404, "not_found", undefined]);
  await check(() => client.send("nobody", "Hello", page), [404, "not_found", undefined]);
  await check(() => client.files.upload("x"), [403, "forbidden", undefined]);
  await check(() => new Chatwright({ url: server.url, key: "cw_wrong" }).models(), [401, "unauthenticated", undefined]);
  await check(() => client.send("helper", { parts: [] }, page), [422, "invalid", "/message/parts"]);
  const chat = client.chat("helper", page);
  const running = chat.send("Count to 100");
  for await (const _ of running) break;
  await check(() => chat.send("Hello"), [409, "busy", undefined]);
  await chat.stop();
});

test("conversations are listed, changed, rated, copied and deleted", async () => {
  const reply = client.send("helper", "Count to 2", page);
  const { id: answerId } = await reply;
  const { conversations } = client;
  const id = reply.conversation;
  await conversations.rename(id, "Numbers");
  await conversations.rate(id, answerId, "up", "Right");
  const view = await conversations.get(id);
  assert.deepEqual([view.title, view.feedback], ["Numbers", { [answerId]: { rating: "up", reason: "Right" } }]);
  const copy = await conversations.copy(id, answerId);
  const all: string[] = [];
  for await (const item of conversations.all({ limit: 2 })) all.push(item.id);
  assert.ok(all.includes(id) && all.includes(copy));
  assert.equal(new Set(all).size, all.length);
  assert.ok((await conversations.search("Numbers")).items.length > 0);
  assert.ok((await conversations.usage(id)) !== undefined);
  await conversations.delete(id);
  await assert.rejects(conversations.get(id), RequestError);
  await conversations.restore(id);
  assert.equal((await conversations.get(id)).title, "Numbers");
});

test("files are sent with messages", async () => {
  // In the mode `local` a request without a key is the owner's.
  const owner = new Chatwright({ url: server.url });
  const stored = await owner.files.upload("name,amount\nAda,7\n", { name: "list.csv" });
  assert.equal(stored.filename, "list.csv");
  const reply = owner.send("helper", { text: "Count to 2", files: [owner.files.toPart(stored)] }, page);
  await reply;
  const [message] = (await owner.conversations.get(reply.conversation)).messages;
  assert.ok(message!.parts.some((part) => part.type === "file" && part.filename === "list.csv"));
  assert.equal(await (await owner.files.download(stored.id)).text(), "name,amount\nAda,7\n");
});

test("agents, endpoints and single questions", async () => {
  assert.deepEqual((await client.agents()).map((agent) => [agent.id, agent.models[0]?.id]), [["helper", "quick"]]);
  assert.deepEqual(await client.callEndpoint("support", "delete_article", { title: "x" }), { deleted: 1 });
  const invocation = await client.runs.invoke("helper", "Count to 2");
  assert.deepEqual([invocation.status, invocation.output], ["succeeded", counted(2)]);
  const waiting = await client.runs.start("helper", "Delete the article about Refunds");
  assert.equal(waiting.status, "waiting");
  await client.runs.answer(waiting.run_id, waiting.questions![0]!.call_id, false, "No");
  await client.runs.stop(waiting.run_id);
});

test("definitions of agents are synchronised", async () => {
  const good = { name: "order-helper", instructions: "Help with orders.", tools: { names: ["search_knowledge_base"] } };
  const bad = { name: "other", instructions: "Help.", tools: { names: ["unknown_tool"] } };
  const first = await client.syncAgentDefinitions([good, bad]);
  assert.deepEqual([first.state, first.created, first.failed, first.results[1]!.state], ["partial", 1, 1, "failed"]);
  const second = await client.syncAgentDefinitions([good, { ...good, name: "second" }]);
  assert.deepEqual([second.state, second.created, second.unchanged], ["synced", 1, 1]);
  const third = await client.syncAgentDefinitions([{ ...good, instructions: "Help well." }]);
  assert.deepEqual([third.state, third.updated], ["synced", 1]);
  assert.deepEqual((await client.agentDefinitions()).map((one) => [one.name, one.available]), [["order-helper", true], ["second", true]]);
  // An agent that was made at run time has a page of its own.
  assert.equal(getText(await client.send(first.results[0]!.id!, "Count to 2")), counted(2));
  await client.deleteAgentDefinition("second");
  assert.equal((await client.agentDefinitions()).length, 1);
});

test("an answer whose server is killed is interrupted, and has what was stored", async () => {
  const own = await startServer();
  const reply = new Chatwright({ url: own.url }).send("helper", "Count to 2000", page);
  const error = await (async () => {
    let text = "";
    for await (const chunk of reply) {
      if (chunk.type === "text-delta") text += chunk.delta;
      if (text.length > 100) {
        text = "";
        await own.kill();
        await own.launch();
      }
    }
  })().then(() => undefined, (error: unknown) => error);
  assert.ok(error instanceof AnswerError, String(error));
  assert.equal(error.outcome, "interrupted");
  assert.match(getText(error.partial), /^1, 2, 3, 4/);
  assert.deepEqual(error.partial, (await new Chatwright({ url: own.url }).conversations.get(reply.conversation)).messages[1]);
  await own.close();
});
