// The package `@ag-ui/client` as published. Run by the tests of the server, with its address and an API key.
// Prints a line for each check.
import { HttpAgent } from "@ag-ui/client";

const [origin, key] = process.argv.slice(2);
const headers = { authorization: `Bearer ${key}` };
const show = (name, value) => console.log(`${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`);
const start = (agentId = "helper", more = {}) => new HttpAgent({ url: `${origin}/ag-ui/${agentId}`, headers, ...more });
const user = (content, id = crypto.randomUUID()) => ({ id, role: "user", content });
// The client's logs of failures, which the checks print themselves.
console.error = () => {};

// Runs an agent; returns its new messages, the kinds of events, and how the run ended.
const run = async (agent, parameters = {}, ...messages) => {
  const events = [];
  let end;
  agent.addMessages(messages);
  const { newMessages } = await agent.runAgent(parameters, {
    onEvent: ({ event }) => void events.push(event.type),
    onRunFinishedEvent: (params) => void (end = params),
  });
  return { newMessages, events, end, texts: newMessages.map(({ role, content }) => `${role} ${content ?? "-"}`) };
};
// Joins the events of a text, of which there may be any number.
const short = (events) => events.filter((event, at) => event !== events[at - 1]);
const failure = async (call) => {
  try {
    await call();
    return "no error";
  } catch (error) {
    return `${error.status ?? "-"} ${error.payload?.error?.code ?? error.message} ${error.payload?.error?.path ?? ""}`.trim();
  }
};

const agent = start();
const plain = await run(agent, {}, user("say hello"));
show("plain", [plain.texts, plain.end.outcome, plain.end.result, plain.end.event.usage[0].totalTokens >= 0]);
show("events", short(plain.events));
const next = await run(agent, {}, user("say again"));
show("continued", [next.texts, agent.messages.length]);

const other = start("helper", { threadId: agent.threadId });
const opened = await run(other);
show("opened elsewhere", [opened.events, other.messages.map((message) => message.content)]);
other.addMessage(user("say from elsewhere"));
await other.runAgent();
const behind = await run(agent, {}, user("say after that"));
show("an edit", [behind.events.includes("MESSAGES_SNAPSHOT"), agent.messages.at(-1).content]);
const branch = start("helper", { threadId: agent.threadId });
await run(branch);
show("the branch", branch.messages.map((message) => message.content));
const new_only = start("helper", { threadId: agent.threadId });
await run(new_only, {}, user("say one more"));
show("only what is new", new_only.messages.map((message) => message.content));
new_only.setMessages(new_only.messages.slice(0, -1));
const again = await run(new_only);
show("again", [again.texts, new_only.messages.length]);

const tools = [
  {
    name: "weather",
    description: "The weather.",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  },
];
const asking = start();
const asks = await run(asking, { tools }, user('weather {"city":"Paris"}'));
const call = asks.newMessages.at(-1).toolCalls[0];
show("tool of the frontend", [asks.end.outcome, asks.end.pendingToolCallIds.length, call.function, short(asks.events)]);
const told = await run(asking, { tools }, { id: crypto.randomUUID(), role: "tool", toolCallId: call.id, content: "sunny" });
show("its result", told.texts);
const late = start();
const waiting = (await run(late, { tools }, user('weather {"city":"Oslo"}'))).newMessages.at(-1).toolCalls[0].id;
const result = { id: crypto.randomUUID(), role: "tool", toolCallId: waiting, content: "snow" };
const after = await run(late, { tools }, result, user("say thanks"));
const history = start("helper", { threadId: late.threadId });
await run(history);
show("result and message", [after.texts, history.messages.find((message) => message.role === "tool").content]);

const own = await run(start(), {}, user("find {}"));
show("tool of the agent", [own.texts, short(own.events).filter((event) => event.startsWith("TOOL"))]);

for (const [name, answer] of [
  ["approved", { status: "resolved", payload: { approved: true } }],
  ["denied", { status: "resolved", payload: { approved: false, reason: "not now" } }],
  ["edited", { status: "resolved", payload: { approved: true, editedArgs: { to: "Eve" } } }],
  ["cancelled", { status: "cancelled" }],
]) {
  const careful = start();
  const held = await run(careful, {}, user('send {"to":"Ada"}'));
  const [interrupt] = careful.pendingInterrupts;
  if (name === "approved") {
    show("approval", [held.end.outcome, interrupt.reason, interrupt.message, interrupt.metadata, interrupt.responseSchema.required]);
    show("its events", held.events.slice(-3));
    show("no decision", await failure(() => start("helper", { threadId: careful.threadId }).runAgent({ resume: [{ interruptId: "other", status: "cancelled" }] })));
    const wrong = { interruptId: interrupt.id, status: "resolved", payload: { approve: true } };
    show("wrong decision", await failure(() => start("helper", { threadId: careful.threadId }).runAgent({ resume: [wrong] })));
  }
  const done = await run(careful, { resume: [{ interruptId: interrupt.id, ...answer }] });
  show(name, [done.texts, done.end.outcome]);
}

const question = start();
await run(question, {}, user('ask-user {"kind":"missing_info","question":"Which one?","options":["a","b"]}'));
const [open] = question.pendingInterrupts;
const replied = await run(question, { resume: [{ interruptId: open.id, status: "resolved", payload: { option: "b" } }] });
show("question", [open.reason, open.message, replied.texts]);

const form = start("helper", { initialState: { name: "Ada", "a/b": 1 } });
const wrote = await run(form, {}, user('update-page-state {"updates":{"name":"Bob","a/b":2,"other":3}}'));
show("state", [form.state, wrote.texts.at(-1), wrote.events.filter((event) => event.startsWith("STATE")), wrote.end.outcome]);

const instructed = start();
instructed.addMessage({ id: "s", role: "system", content: "Speak French." });
show("instructions", (await run(instructed, {}, user("instructions"))).texts);
const about = await run(start(), { context: [{ description: "The page", value: "orders" }] }, user("find {}"));
show("context", about.end.outcome);
const seeded = start("helper", {
  initialMessages: [user("earlier"), { id: "a", role: "assistant", content: "yes", toolCalls: [{ id: "c", type: "function", function: { name: "weather", arguments: "{}" } }] }, { id: "t", role: "tool", toolCallId: "c", content: "wet" }],
});
await run(seeded, {}, user("say on"));
const reopened = start("helper", { threadId: seeded.threadId });
await run(reopened);
show("earlier messages", reopened.messages.map(({ role, content }) => `${role} ${content}`));
const picture = { type: "image", source: { type: "data", value: "iVBORw0KGgo=", mimeType: "image/png" } };
const seen = start();
// The scripted model does not read messages with files.
seen.addMessage(user([{ type: "text", text: "say seen" }, picture]));
await seen.runAgent();
const kept = start("helper", { threadId: seen.threadId });
await run(kept);
show("file", kept.messages[0].content.map((part) => part.source?.type ?? part.text));

show("wrong key", await failure(() => run(new HttpAgent({ url: `${origin}/ag-ui/helper`, headers: { authorization: "Bearer cw_wrong" } }), {}, user("say x"))));
show("unknown agent", await failure(() => run(start("nobody"), {}, user("say x"))));
show("agent that is not offered", await failure(() => run(start("hidden"), {}, user("say x"))));
show("unfit thread", await failure(() => run(start("helper", { threadId: "a b" }), {}, user("say x"))));
show("nothing to answer", await failure(() => run(start())));
show("taken tool", await failure(() => run(start(), { tools: [{ ...tools[0], name: "find" }] }, user("say x"))));
show("bad schema", await failure(() => run(start(), { tools: [{ ...tools[0], parameters: { type: "nothing" } }] }, user("say x"))));
show("file of a URL", await failure(() => run(start(), {}, user([{ type: "image", source: { type: "url", value: "https://a.test/x.png" } }]))));
const failing = start("broken");
failing.addMessage(user("say x"));
await failing.runAgent({}, { onRunErrorEvent: ({ event }) => show("failed run", [event.message, event.code]) });
