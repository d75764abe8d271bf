// The package `@a2a-js/sdk` as published. Run by the tests of the server, with its address and an API key.
// Prints a line for each check.
import { SendMessageRequest, StreamResponse, Task, TaskState } from "@a2a-js/sdk";
import { ClientFactory, ClientFactoryOptions, DefaultAgentCardResolver, JsonRpcTransportFactory } from "@a2a-js/sdk/client";

const [origin, key] = process.argv.slice(2);
const fetchImpl = (url, init = {}) => fetch(url, { ...init, headers: { ...Object.fromEntries(new Headers(init.headers)), authorization: `Bearer ${key}` } });
const ids = new Map();
// Ids differ from run to run.
const named = (text) => text.replace(/[0-9a-f]{32}/g, (id) => ids.get(id) ?? (ids.set(id, `ID${ids.size + 1}`), ids.get(id))).replaceAll(origin, "ORIGIN");
const show = (name, value) => console.log(`${name}: ${named(typeof value === "string" ? value : JSON.stringify(value))}`);
const connect = (agent) => {
  const options = ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
    transports: [new JsonRpcTransportFactory({ fetchImpl })],
    cardResolver: new DefaultAgentCardResolver({ fetchImpl }),
  });
  return new ClientFactory(options).createFromUrl(`${origin}/a2a/${agent}/`, ".well-known/agent-card.json");
};
let sent = 0;
const request = (content, message = {}, configuration) =>
  SendMessageRequest.fromJSON({
    message: {
      messageId: `m-${(sent += 1)}`,
      role: "ROLE_USER",
      parts: typeof content === "string" ? [{ text: content }] : content,
      ...message,
    },
    configuration,
  });
const state = (task) => task.status.state.replace("TASK_STATE_", "");
const text = ({ artifacts = [] }) => artifacts.map(({ artifactId, parts }) => `${artifactId}=${parts.map((part) => part.text ?? part.url ?? "raw").join("")}`);
const plain = (task) => Task.toJSON(task);
const send = async (client, ...asked) => plain(await client.sendMessage(request(...asked)));
const stream = async (events) => {
  const all = [];
  for await (const event of events) all.push(StreamResponse.toJSON(event));
  return all;
};
const kinds = (events) =>
  events.map(({ task, statusUpdate, artifactUpdate }) => {
    if (task) return `task ${state(task)}${task.artifacts?.length ? ` with ${text(task)}` : ""}`;
    if (statusUpdate) return `status ${state(statusUpdate)}`;
    const { append, lastChunk, artifact } = artifactUpdate;
    return `${artifact.artifactId}${append ? " append" : ""}${lastChunk ? " last" : ""} ${JSON.stringify(artifact.parts.map((part) => part.text).join(""))}`;
  });
const failure = async (call) => {
  try {
    await call();
    return "no error";
  } catch (error) {
    return `${error.name} ${error.code ?? "-"} ${error.message}`;
  }
};

const client = await connect("helper");
const card = await client.getAgentCard();
show("card", [card.name, card.description, card.skills.map(({ id }) => id), card.supportedInterfaces.map(({ url, protocolBinding, protocolVersion }) => [url, protocolBinding, protocolVersion])]);
show("schemes", [Object.keys(card.securitySchemes).sort(), card.capabilities.streaming, card.capabilities.pushNotifications]);

const first = await send(client, "say hello");
show("task", [state(first), text(first), first.history.map(({ role, parts }) => [role, parts])]);
const contextId = first.contextId;
const second = await send(client, "say again", { contextId });
show("same context", [second.contextId === contextId, second.id !== first.id, text(second)]);
const streamed = await stream(client.sendMessageStream(request("say streamed", { contextId })));
show("streamed", kinds(streamed));
const got = plain(await client.getTask({ tenant: "", id: first.id, historyLength: 0 }));
show("got", [state(got), text(got), got.history ?? null]);

const once = request("say once", { messageId: "the-same" });
const [one, two] = await Promise.all([client.sendMessage(once), client.sendMessage(once)]);
const three = await client.sendMessage(once);
show("sent three times", [one.id === two.id && two.id === three.id, text(plain(three))]);
show("streamed again", kinds(await stream(client.sendMessageStream(once))));
const now = await send(client, "say later", {}, { returnImmediately: true });
show("returned immediately", [["SUBMITTED", "WORKING", "COMPLETED"].includes(state(now))]);

const approval = await send(client, 'send {"to":"Ada"}');
const [asks, details] = approval.status.message.parts;
show("approval", [state(approval), asks.text, details.data.kind, details.data.arguments]);
const approved = await send(client, [{ data: { id: details.data.id, approved: true } }], { taskId: approval.id });
show("approved", [state(approved), approved.id === approval.id, text(approved), approved.history.map(({ role, parts }) => [role, parts[0].text ?? parts[0].data.approved])]);
const denied = await send(client, 'send {"to":"Ada"}');
show("denied", text(await send(client, "not to her", { taskId: denied.id, contextId: denied.contextId })));
const edited = await send(client, 'send {"to":"Ada"}');
show("edited", text(await send(client, [{ data: { approved: true, editedArgs: { to: "Eve" } } }], { taskId: edited.id })));
const held = await send(client, 'send {"to":"Ada"}');
show("answer in a stream", kinds(await stream(client.sendMessageStream(request("yes", { taskId: held.id })))));
const question = await send(client, 'ask-user {"kind":"missing_info","question":"Which one?","options":["a","b"]}');
show("question", [state(question), question.status.message.parts[0].text]);
show("answered", text(await send(client, "b", { taskId: question.id })));

const waiting = await send(client, 'send {"to":"Ada"}');
show("subscribed to what waits", kinds(await stream(client.resubscribeTask({ tenant: "", id: waiting.id }))));
const canceled = plain(await client.cancelTask({ tenant: "", id: waiting.id, metadata: {} }));
show("canceled", [state(canceled), (await failure(() => client.cancelTask({ tenant: "", id: waiting.id, metadata: {} })))]);

const listed = await client.listTasks({ tenant: "", contextId, status: TaskState.TASK_STATE_UNSPECIFIED, pageSize: 2, pageToken: "", statusTimestampAfter: undefined });
show("listed", [listed.tasks.length, listed.totalSize, listed.nextPageToken !== "", listed.tasks[0].id === streamed[0].task.id, plain(listed.tasks[0]).artifacts ?? null]);
const rest = await client.listTasks({ tenant: "", contextId, status: TaskState.TASK_STATE_COMPLETED, pageSize: 2, pageToken: listed.nextPageToken, statusTimestampAfter: undefined, includeArtifacts: true });
show("next page", [rest.tasks.map(plain).map(text), rest.nextPageToken]);
const none = await client.listTasks({ tenant: "", contextId: "", status: TaskState.TASK_STATE_INPUT_REQUIRED, pageSize: 50, pageToken: "", statusTimestampAfter: undefined });
show("waiting tasks", none.totalSize);

const file = await send(client, [{ text: "say seen" }, { raw: "iVBORw0KGgo=", mediaType: "image/png", filename: "a.png" }], {}, { returnImmediately: true });
show("file", [file.history[0].parts.map((part) => part.text ?? [part.filename, part.mediaType, part.url.split("/").slice(0, -1).join("/")])]);
const failed = await (await connect("broken")).sendMessage(request("say x"));
show("failed", [state(plain(failed)), plain(failed).status.message.parts[0].text]);

show("unknown task", await failure(() => client.getTask({ tenant: "", id: "nothing" })));
show("ended task", await failure(() => client.sendMessage(request("say x", { taskId: first.id }))));
show("ended stream", await failure(() => stream(client.resubscribeTask({ tenant: "", id: first.id }))));
show("other context", await failure(() => client.sendMessage(request("yes", { taskId: (held.id), contextId: "other" }))));
show("task of another agent", await failure(async () => (await connect("broken")).getTask({ tenant: "", id: first.id })));
show("role", await failure(() => client.sendMessage(request("x", { role: "ROLE_AGENT" }))));
show("file elsewhere", await failure(() => client.sendMessage(request([{ url: "https://a.test/x.png" }]))));
show("page token", await failure(() => client.listTasks({ tenant: "", contextId: "", status: TaskState.TASK_STATE_UNSPECIFIED, pageSize: 2, pageToken: "x", statusTimestampAfter: undefined })));
show("agent that is not offered", await failure(() => connect("hidden")));
