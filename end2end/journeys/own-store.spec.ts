import { Chat } from "../fixtures/chat.ts";
import { configured } from "../fixtures/configured.ts";
import { Provider } from "../fixtures/provider.ts";
import { expect, open, test as base } from "../fixtures/test.ts";

/** A page that keeps the transcripts in a database of its own and gives them to the chat. */
const config = (url: string) => `
connections:
  - { id: model, type: OpenAICompatible, properties: { baseURL: "${url}", apiKey: none } }
  - id: data
    type: Sql
    properties:
      url: "sqlite::memory:"
      init: |
        create table saved (id text primary key, messages text);
        insert into saved values ('own-a', '[{"id":"q1","role":"user","parts":[{"type":"text","text":"Before"}]},{"id":"a1","role":"assistant","parts":[{"type":"text","text":"What was said"}]}]');
agents:
  - { id: clerk, type: Agent, connectionId: model, properties: { model: m }, hooks: { onFinish: [save] } }
api:
  - id: save
    routine:
      - id: saved
        type: SqlExecute
        connectionId: data
        properties:
          query: insert into saved values (:id, :messages) on conflict (id) do update set messages = :messages
          parameters: { id: { _payload: conversationId }, messages: { _json.stringify: { on: { _payload: messages } } } }
  - id: load
    routine:
      - { id: found, type: SqlQuery, connectionId: data, properties: { query: "select messages from saved where id = :id", parameters: { id: { _payload: id } } } }
      - ":if": { _step: found.0.messages }
        ":then": [{ ":return": { _json.parse: { _step: found.0.messages } } }]
      - ":return": null
  - id: ids
    routine:
      - { id: all, type: SqlQuery, connectionId: data, properties: { query: "select id from saved order by id" } }
      - ":return": { all: { _step: all } }
pages:
  - id: own
    blocks:
      - id: begin
        type: Button
        properties: { title: Begin }
        events: { onClick: [{ type: CallMethod, params: { blockId: chat, method: newConversation } }] }
      - id: fresh
        type: Button
        properties: { title: Fresh }
        events: { onClick: [{ type: SetState, params: { shown: own-c } }] }
      - id: list
        type: AgentConversations
        properties: { items: [{ key: own-a, label: First }, { key: own-b, label: Second }], activeKey: { _state: shown } }
        events:
          onSelect:
            - { type: SetState, params: { shown: { _event: key } } }
            - { id: loaded, type: CallEndpoint, params: { endpointId: load, payload: { id: { _event: key } } } }
            - { type: SetState, params: { given: { _step: loaded } } }
      - id: chat
        type: AgentChat
        properties: { agentId: clerk, conversationId: { _state: shown }, messages: { _state: given } }
        events:
          onConversationStart: [{ type: SetState, params: { shown: { _event: conversationId } } }]
          onMessageComplete:
            - { id: loaded, type: CallEndpoint, params: { endpointId: load, payload: { id: { _event: conversationId } } } }
            - { type: SetState, params: { given: { _step: loaded } } }
`;

const test = base.extend({
  server: async ({}, use) => {
    const provider = await Provider.start((_, text) => `You said: ${text}`);
    await configured(provider, config(provider.url), use);
  },
});

test("a page with its own store keeps each conversation under the id that it selects", async ({ page, console }) => {
  // The page checks whether the conversations exist.
  console.expect(/status of 404/);
  await open(page, "/own");
  const chat = new Chat(page);
  const messages = chat.log.getByRole("article");
  const choose = (label: string) => page.getByRole("button", { name: label, exact: true }).click();
  const stored = async (id: string) => {
    const answer = await page.request.get(`/api/conversations/${id}`);
    return answer.ok() ? ((await answer.json()) as { messages: object[] }).messages.length : 0;
  };
  const ids = async () => {
    const answer = (await (await page.request.post("/api/endpoints/own/ids", { data: {} })).json()) as { all: { id: string }[] };
    return answer.all.map(({ id }) => id);
  };

  await choose("First");
  await expect(chat.answers.last()).toContainText("What was said");
  await chat.ask("and now");
  await expect(messages).toHaveCount(4);
  expect(await stored("own-a")).toBe(4);
  // The page has loaded the messages again by now.
  await chat.ask("once more");
  await expect(messages).toHaveCount(6);
  expect(await stored("own-a")).toBe(6);
  await expect.poll(ids).toEqual(["own-a"]);

  // The messages of the first conversation are not those of another one.
  await choose("Second");
  await expect(messages).toHaveCount(0);
  await chat.ask("hello");
  expect(await stored("own-b")).toBe(2);
  await choose("First");
  await expect(messages).toHaveCount(6);
  await choose("Second");
  await expect(messages).toHaveCount(2);
  await choose("First");
  await expect(messages).toHaveCount(6);
  await chat.ask("the last");
  expect(await stored("own-a")).toBe(8);
  expect(await stored("own-b")).toBe(2);
  await expect.poll(ids).toEqual(["own-a", "own-b"]);

  // While the page still has the messages of the first conversation, a new one begins without them.
  await choose("Fresh");
  await expect(messages).toHaveCount(0);
  await chat.ask("a third one");
  expect(await stored("own-c")).toBe(2);

  // Only the page selects a conversation.
  await choose("Begin");
  await expect(page.getByText("The page's state selects the conversation: give it another id with `SetState`.", { exact: true })).toBeVisible();
  await expect(messages).toHaveCount(2);
  await chat.answers.last().getByRole("button", { name: "More" }).click();
  const copied = page.waitForResponse((answer) => answer.url().endsWith("/ui/revise"));
  await page.getByRole("menuitem", { name: "New conversation from here" }).click();
  await copied;
  await expect(messages).toHaveCount(2);
  await chat.ask("in the copy");
  await expect(messages).toHaveCount(4);
  expect(await stored("own-c")).toBe(2);
});
