import { Chat } from "../fixtures/chat.ts";
import { configured } from "../fixtures/configured.ts";
import { Provider } from "../fixtures/provider.ts";
import { expect, open, test as base } from "../fixtures/test.ts";

/** The instructions of the newest request to the model, what holds a routine back, and how often the model has failed. */
interface Told {
  instructions: string;
  released: Promise<void>;
  release: () => void;
  failures: number;
}

const config = (url: string) => `
connections: [{ id: model, type: OpenAICompatible, properties: { baseURL: "${url}", apiKey: none } }]
agents:
  - { id: clerk, type: Agent, connectionId: model, properties: { model: m, instructions: You help., maxRetries: 2 }, tools: [dig], hooks: { onStart: [note] } }
api:
  - id: dig
    description: Digs.
    payloadSchema: { type: object, properties: { where: { type: string } }, required: [where] }
    routine:
      - ":status": { _template: "Digging in {{ payload.where }}" }
      - { id: held, type: GenerateText, connectionId: model, properties: { model: m, prompt: hold } }
      - ":return": { _step: held.text }
  - { id: note, routine: [{ ":return": null }] }
pages:
  - id: state
    events:
      onInit: [{ type: SetState, params: { cart: { id: 7, items: [apple] }, order: { note: "" , total: 3 } } }]
    blocks:
      - { id: company, type: TextInput }
      - { id: items, type: Title, properties: { title: { _template: "{{ state.cart.id }}: {{ state.cart.items | join(', ') }}" } }, visible: { _state: cart } }
      - { id: mood, type: Title, properties: { title: { _state: mood } }, visible: { _state: mood } }
      - id: add
        type: Button
        properties: { title: Add }
        events: { onClick: [{ type: SetState, params: { "cart.items": [apple, pear], mood: glad } }] }
      - id: chat
        type: AgentChat
        properties:
          agentId: clerk
          sharedState: { company: { _state: company }, items: { _state: cart.items }, mood: { _state: mood }, id: { _state: cart.id } }
          sharedStateReadOnly: [id]
  - id: object
    events:
      onInit: [{ type: SetState, params: { order: { note: "", total: 3 } } }]
    blocks:
      - { id: note, type: Title, properties: { title: { _template: "{{ state.order.total }} {{ state.order.note }}" } }, visible: { _state: order } }
      - { id: chat, type: AgentChat, properties: { agentId: clerk, sharedState: { _state: order } } }
  - id: all
    blocks:
      - { id: company, type: TextInput }
      - { id: set, type: Button, properties: { title: Set }, events: { onClick: [{ type: SetState, params: { colour: red } }] } }
      - { id: chat, type: AgentChat, properties: { agentId: clerk, sharedState: { _state: true } } }
  - id: methods
    blocks:
      - { id: count, type: Title, properties: { title: { _template: "{{ state.seen | length }} seen, {{ state.done | length }} done" } }, visible: { _state: seen } }
      - { id: clicked, type: Title, properties: { title: { _template: "{{ state.clicked.text }}: {{ state.clicked.href }}" } }, visible: { _state: clicked } }
      - { id: quiet, type: Switch, properties: { label: Quiet } }
      - { id: hide, type: Button, properties: { title: Hide the rules }, events: { onClick: [{ type: SetState, params: { hidden: true } }] } }
      - { id: refuse, type: Button, properties: { title: Refuse }, events: { onClick: [{ type: Throw }] } }
      - { id: show, type: Button, properties: { title: Show the rules }, events: { onClick: [{ type: SetState, params: { hidden: false } }] } }
      - id: file
        type: Button
        properties: { title: Give a file }
        events:
          onClick:
            - type: CallMethod
              params:
                blockId: chat
                method: sendMessage
                args: [{ text: Read this, files: [{ url: "data:text/plain,hello", mediaType: text/plain, filename: note.txt }], metadata: { topic: notes } }]
      - id: more
        type: Button
        properties: { title: Ask more }
        events: { onClick: [{ type: CallMethod, params: { blockId: chat, method: sendMessage, args: [More] } }] }
      - id: earlier
        type: Button
        properties: { title: Earlier }
        events:
          onClick:
            - type: CallMethod
              params:
                blockId: chat
                method: setMessages
                args:
                  - messages:
                      - { id: q-1, role: user, parts: [{ type: text, text: Where was it? }, { type: file, mediaType: text/plain, url: "https://files.example/a.txt", filename: a.txt }] }
                      - id: a-1
                        role: assistant
                        parts:
                          - { type: reasoning, text: I look it up. }
                          - { type: tool-dig, toolCallId: c-1, state: output-available, input: { where: archive }, output: { found: 3 } }
                          - { type: tool-dig, toolCallId: c-2, state: input-available, input: { where: nowhere } }
                          - { type: reasoning, text: "" }
                          - { type: data-provider-output, data: { provider: openai, name: later_kind, content: { found: "a\u202Eb" } } }
                          - { type: text, text: In the archive. }
      - id: chat
        type: AgentChat
        properties:
          agentId: clerk
          messageDisplay: { toolResultDisplay: full }
          sender: { header: { title: Rules of the house, content: { _if: { test: { _state: quiet }, then: Please whisper., else: Be kind. } }, open: { _if: { test: { _state: hidden }, then: false, else: true } } } }
        events:
          onBeforeSend: [{ type: Throw, params: { message: Not while it is quiet., throw: { _state: quiet } } }]
          onUserMessage: [{ type: SetState, params: { seen: { _event: messages } } }]
          onMessageComplete: [{ type: SetState, params: { done: { _event: messages } } }]
          onLinkClick: [{ type: SetState, params: { clicked: { _event: true } } }]
  - id: list
    blocks:
      - id: list
        type: AgentConversations
        properties: { width: 230, creation: { label: Begin, icon: "★", align: center }, menu: [{ key: flag, label: Flag it, icon: "⚑" }, { key: burn, danger: true }] }
        events:
          onNew: [{ type: SetState, params: { said: new } }]
          onSelect: [{ type: SetState, params: { said: { _event: previousKey }, chosen: { _event: key } } }]
          onMenuClick: [{ type: SetState, params: { said: { _event: action }, chosen: { _event: conversation.label } } }]
      - { id: said, type: Title, properties: { title: { _template: "{{ state.said }} / {{ state.chosen }}" } }, visible: { _state: said } }
      - { id: chat, type: AgentChat, properties: { agentId: clerk } }
`;

const test = base.extend<{ told: Told }>({
  told: async ({}, use) => {
    let release = () => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    await use({ instructions: "", released, release, failures: 0 });
  },
  server: async ({ told }, use) => {
    const provider = await Provider.start(async (role, text, instructions) => {
      if (text === "hold") {
        await told.released;
        return "gold";
      }
      told.instructions = instructions;
      if (role === "tool") return `Done: ${text}`;
      if (text === "fail once" && told.failures === 0) {
        told.failures += 1;
        return { status: 503 };
      }
      if (text.startsWith("write ")) return [{ name: "update-page-state", arguments: { updates: JSON.parse(text.slice(6)) as object } }];
      if (text === "where") return "In [the shop](https://shop.example/x).";
      if (text.startsWith("dig ")) return [{ name: "dig", arguments: { where: text.slice(4) } }];
      return "Hello.";
    });
    await configured(provider, config(provider.url), use);
  },
});

test("the agent writes what an action set, a place in it, and a key that no input has", async ({ page, told }) => {
  await open(page, "/state");
  const chat = new Chat(page);
  const title = (text: string) => page.getByRole("heading", { name: text, exact: true });
  await expect(title("7: apple")).toBeVisible();
  await chat.ask('write {"items": ["plum", "fig"], "mood": "calm", "id": 9, "other": 1}');
  await expect(title("7: plum, fig")).toBeVisible();
  await expect(title("calm")).toBeVisible();
  await expect(chat.answers.last()).toContainText('"written":["items","mood"],"ignored":["id","other"]');
  expect(told.instructions).toContain('- items (list): ["plum","fig"]');
  expect(told.instructions).toContain("- id (number, read only): 7");
  // It can be undone, although no input shows it.
  const bar = page.getByRole("group", { name: "Changes by the agent" });
  await expect(bar).toContainText("2 changes");
  await bar.getByRole("button", { name: "Undo all" }).click();
  await expect(title("7: apple")).toBeVisible();
  await expect(title("calm")).toHaveCount(0);
  await chat.ask('write {"mood": "calm"}');
  await expect(bar).toContainText("1 change by the agent");
  await page.getByRole("button", { name: "Add" }).click();
  await expect(title("7: apple, pear")).toBeVisible();
  await expect(title("glad")).toBeVisible();
  // The state that the agent writes belongs to its conversation.
  await chat.ask('write {"items": ["kiwi"]}');
  await page.reload();
  await expect(title("7: apple")).toBeVisible();
});

test("an object can be the shared state as a whole", async ({ page, told }) => {
  await open(page, "/object");
  const chat = new Chat(page);
  await chat.ask('write {"note": "by post", "total": 4, "else": 1}');
  await expect(page.getByRole("heading", { name: "4 by post" })).toBeVisible();
  await expect(chat.answers.last()).toContainText('"written":["note","total"],"ignored":["else"]');
  expect(told.instructions).toContain('- note (text): "by post"');
  await open(page, "/all");
  await page.getByRole("button", { name: "Set" }).click();
  await chat.ask("hello");
  expect(told.instructions).toContain('- colour (text): "red"');
  expect(told.instructions).toContain("- company (text): null");
});

test("a page sends files, sends while an answer is written, and sees the messages in events", async ({ page, told }) => {
  await open(page, "/methods");
  const chat = new Chat(page);
  await page.getByRole("button", { name: "Give a file" }).click();
  await expect(chat.log.getByText("note.txt")).toBeVisible();
  await expect(chat.answers).toHaveCount(1);
  await chat.idle();
  await expect(page.getByRole("heading", { name: "1 seen, 2 done" })).toBeVisible();
  const id = new URL(page.url()).searchParams.get("conversation");
  const stored = (await (await page.request.get(`/api/conversations/${id}`)).json()) as { messages: { metadata: object }[] };
  expect(stored.messages[0]!.metadata).toMatchObject({ topic: "notes" });
  // The user's draft is kept.
  await chat.send("dig gold");
  await chat.composer.fill("my draft");
  await expect(chat.log.getByText("Digging in gold")).toBeVisible();
  await page.getByRole("button", { name: "Ask more" }).click();
  await expect(page.locator(".cw-queue")).toContainText("More");
  await expect(chat.composer).toHaveValue("my draft");
  told.release();
  await expect(chat.answers).toHaveCount(3);
  await chat.idle();
  // The status is gone with the answer.
  await expect(chat.log.getByText("Digging in gold")).toHaveCount(0);
  await expect(chat.composer).toHaveValue("my draft");
});

test("a page shows whole messages, which are sent with the next one", async ({ page }) => {
  await open(page, "/methods");
  const chat = new Chat(page);
  await page.getByRole("button", { name: "Earlier" }).click();
  await expect(chat.answers.last()).toContainText("In the archive.");
  await expect(chat.answers.last()).toContainText('"found": 3');
  await expect(chat.log.getByText("a.txt")).toBeVisible();
  await expect(chat.log.getByText("nowhere")).toHaveCount(0);
  await expect(chat.log.locator('[data-message="a-1"]')).toHaveCount(1);
  // Reasoning without a text is not shown.
  await expect(chat.log.getByText("Thought")).toHaveCount(1);
  // An item of the provider that nothing else shows is a closed card with its JSON.
  const item = chat.log.locator("details").filter({ hasText: "Later kind" });
  await expect(item).toContainText("openai");
  await expect(item.locator("pre")).toBeHidden();
  await item.locator("summary").click();
  await expect(item.locator("pre")).toContainText('"a\\u202eb"');
  const sent = page.waitForRequest((request) => request.method() === "POST" && (request.postData() ?? "").includes("In the archive."));
  await chat.ask("hello");
  const history = JSON.stringify((await sent).postData());
  for (const part of ["q-1", "a-1", "a.txt", "tool-dig", "found", "I look it up."]) expect(history).toContain(part);
  await expect(chat.answers).toHaveCount(2);
});

test("Throw keeps a message back, and a panel above the composer can be closed", async ({ page }) => {
  await open(page, "/methods");
  const chat = new Chat(page);
  const panel = page.getByRole("group", { name: "Rules of the house" });
  await expect(panel).toContainText("Be kind.");
  await page.getByLabel("Quiet").check();
  await expect(panel).toContainText("Please whisper.");
  await chat.send("HELLO");
  await expect(page.getByText("Not while it is quiet.").first()).toBeVisible();
  await expect(chat.composer).toHaveValue("HELLO");
  await expect(chat.answers).toHaveCount(0);
  await panel.getByRole("button", { name: "Close Rules of the house" }).press("Enter");
  await expect(panel).toHaveCount(0);
  await expect(chat.composer).toBeFocused();
  // A panel that the user has closed is shown again when the page opens it anew.
  await page.getByRole("button", { name: "Hide the rules" }).click();
  await expect(panel).toHaveCount(0);
  await page.getByRole("button", { name: "Show the rules" }).click();
  await expect(panel).toBeVisible();
  await page.getByRole("button", { name: "Refuse" }).click();
  await expect(page.getByText("This could not be done.").first()).toBeVisible();
  await page.getByLabel("Quiet").uncheck();
  await chat.composer.focus();
  await chat.composer.press("Enter");
  await expect(chat.answers).toHaveCount(1);
});

test("a page follows the links of an answer itself", async ({ page, context }) => {
  await open(page, "/methods");
  const chat = new Chat(page);
  await chat.ask("where");
  const link = chat.answers.last().getByRole("link", { name: "the shop" });
  await link.click();
  await expect(page.getByRole("heading", { name: "the shop: https://shop.example/x" })).toBeVisible();
  expect(context.pages()).toHaveLength(1);
  // A click with a modifier key is the browser's.
  await context.route("https://shop.example/**", (route) => route.fulfill({ body: "shop" }));
  const click = { bubbles: true, cancelable: true, ctrlKey: true };
  expect(await link.evaluate((node, click) => node.dispatchEvent(new MouseEvent("click", click)), click)).toBe(true);
});

test("the user reads that the model is asked again", async ({ page, told }) => {
  await open(page, "/methods");
  const chat = new Chat(page);
  await chat.send("fail once");
  await expect(chat.log.getByText("The model did not answer. Asking again…")).toBeVisible();
  await expect(chat.answers.last()).toContainText("Hello.");
  await chat.idle();
  await expect(chat.log.getByText("Asking again")).toHaveCount(0);
  expect(told.failures).toBe(1);
});

test("a list of the stored conversations has the page's button, menu, width and events", async ({ page }) => {
  await open(page, "/list");
  const chat = new Chat(page);
  const list = page.getByRole("navigation", { name: "Conversations" });
  const begin = list.getByRole("link", { name: "Begin" });
  await chat.ask("first");
  const first = new URL(page.url()).searchParams.get("conversation")!;
  await begin.click();
  await expect(page.getByRole("heading", { name: /^new/ })).toBeVisible();
  await chat.ask("second");
  const second = new URL(page.url()).searchParams.get("conversation")!;
  await list.getByRole("link", { name: "first" }).click();
  await expect(page.getByRole("heading", { name: `${second} / ${first}` })).toBeVisible();
  await list.getByRole("link", { name: "second" }).hover();
  await list.getByRole("button", { name: "Options for second" }).click();
  await page.getByRole("menuitem", { name: "Flag it" }).click();
  await expect(page.getByRole("heading", { name: "flag / second" })).toBeVisible();
  await expect(page.getByRole("menuitem", { name: "Flag it" })).toBeHidden();
  expect((await list.locator(".cw-conversations").boundingBox())!.width).toBeLessThanOrEqual(230);
});
