import { Chat } from "../fixtures/chat.ts";
import { configured } from "../fixtures/configured.ts";
import { Provider } from "../fixtures/provider.ts";
import { alive, expect, open, test as base } from "../fixtures/test.ts";

/** The requests that the model received, by turn. */
interface Told {
  instructions: string[];
}

/** One page for each group of a chat's properties. */
const config = (url: string) => `
connections: [{ id: model, type: OpenAICompatible, properties: { baseURL: "${url}", apiKey: none } }]
agents:
  - { id: clerk, type: Agent, connectionId: model, properties: { model: m, pageContext: true, instructions: You help. } }
pages:
  - id: welcome
    blocks:
      - id: heard
        type: Title
        properties: { title: { _state: heard } }
        visible: { _state: heard }
      - id: chat
        type: AgentChat
        properties:
          agentId: clerk
          welcome:
            icon: /assets/favicon.svg
            title: Ask the clerk
            variant: filled
            prompts: [{ key: order, label: Where is my order?, description: By its number, icon: "★" }]
            tracks:
              - { label: Returns, prompts: [I would like to return it] }
              - { label: Payment, prompts: [How can I pay?] }
          suggestions: [{ key: more, label: Tell me more, icon: "→" }]
          height: 420
          maxWidth: 30rem
          roles: { assistant: { variant: outlined, shape: corner }, user: { variant: borderless } }
        events:
          onSuggestionClick: [{ type: SetState, params: { heard: { _event: key } } }]
  - id: named
    blocks:
      - { id: which, type: Select, properties: { label: Ticket, options: [t-1, t-2], initial: t-1 } }
      - { id: plan, type: TextInput, properties: { label: Plan, initial: team } }
      - id: chat
        type: AgentChat
        properties:
          agentId: clerk
          conversationId: { _state: which }
          urlQuery: { plan: { _state: plan } }
          sharedState: { plan: { _state: plan } }
          sharedStateReadOnly: true
          messageDisplay: { editableMessages: false, showThoughtChain: false }
  - id: given
    blocks:
      - id: load
        type: Button
        properties: { title: Load }
        events: { onClick: [{ type: SetState, params: { given: [{ role: user, parts: [{ type: text, text: Before }] }, { role: assistant, parts: [{ type: text, text: What was said }] }] } }] }
      - id: clear
        type: Button
        properties: { title: Clear }
        events: { onClick: [{ type: SetState, params: { given: null } }] }
      - { id: chat, type: AgentChat, properties: { agentId: clerk, messages: { _state: given } } }
  - id: judged
    blocks:
      - id: chat
        type: AgentChat
        properties: { agentId: clerk, feedbackValues: { _state: judged } }
        events:
          onMessageComplete: [{ type: SetState, params: { judged: { _expr: "{event.id: 'like'}" } } }]
          onFeedback: [{ type: SetState, params: { judged: { _expr: "{event.id: event.rating}" } } }]
`;

const test = base.extend<{ told: Told }>({
  told: async ({}, use) => use({ instructions: [] }),
  server: async ({ told }, use) => {
    const provider = await Provider.start((role, text, instructions) => {
      told.instructions.push(instructions);
      if (text === "write") return [{ name: "update-page-state", arguments: { updates: { plan: "gold" } } }];
      return role === "tool" ? `The page said: ${text}` : `You said: ${text}`;
    });
    await configured(provider, config(provider.url), use);
  },
});

test("a chat has its size before hydration", async ({ browser, server }) => {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(`${server.url}/welcome`);
  const frame = page.getByRole("region", { name: "Chat with the agent" });
  expect((await frame.boundingBox())?.height).toBe(420);
  expect((await page.locator(".cw-composer-box").boundingBox())?.width).toBeLessThanOrEqual(480);
  await context.close();
});

test("an empty chat shows the texts and the size of the config", async ({ page }) => {
  await open(page, "/welcome");
  const chat = new Chat(page);
  const frame = page.getByRole("region", { name: "Chat with the agent" });
  await expect.poll(async () => (await frame.boundingBox())?.height).toBe(420);
  await expect.poll(async () => (await page.locator(".cw-composer-box").boundingBox())?.width).toBeLessThanOrEqual(480);
  await expect(page.locator(".cw-welcome-filled img")).toHaveJSProperty("complete", true);

  // One group is open at a time, and its suggestions can be edited before they are sent.
  await page.getByText("Payment").click();
  await page.getByText("Returns").click();
  await expect(page.getByRole("button", { name: "How can I pay?" })).toBeHidden();
  await page.getByRole("button", { name: "I would like to return it" }).click();
  await expect(chat.composer).toHaveValue("I would like to return it");
  await expect(chat.composer).toBeFocused();

  await chat.composer.fill("");
  await page.getByRole("button", { name: "Where is my order?" }).click();
  await expect(page.getByRole("heading", { name: "order" })).toBeVisible();
  await expect(chat.answers.last()).toContainText("You said: Where is my order?");
  await page.getByRole("button", { name: "Tell me more" }).click();
  await expect(page.getByRole("heading", { name: "more" })).toBeVisible();
  await expect(chat.answers.last()).toContainText("You said: Tell me more");
  const looks = (of: string) => page.locator(`${of} .cw-message-body`).last().evaluate((body) => {
    const { borderTopColor, borderTopLeftRadius, backgroundColor } = getComputedStyle(body);
    return { hasFrame: borderTopColor !== "rgba(0, 0, 0, 0)", radius: borderTopLeftRadius, backgroundColor };
  });
  expect(await looks(".cw-message-assistant")).toMatchObject({ hasFrame: true, radius: "6px" });
  expect(await looks(".cw-message-user")).toMatchObject({ hasFrame: false, backgroundColor: "rgba(0, 0, 0, 0)" });
});

test("the page names the conversation and shares its state read-only", async ({ page, told, console }) => {
  // The page checks whether the conversation exists.
  console.expect(/status of 404/);
  await open(page, "/named");
  const chat = new Chat(page);
  const ticket = page.getByLabel("Ticket");
  await chat.ask("about the first");
  await expect(page, "the address stays as it was").toHaveURL(/\/named$/);
  expect((await page.request.get("/api/conversations/t-1")).status()).toBe(200);
  expect(told.instructions.at(-1)).toContain('"plan":"team"');

  await ticket.selectOption("t-2");
  await expect(chat.answers).toHaveCount(0);
  await alive(page);
  await chat.ask("about the second");
  await ticket.selectOption("t-1");
  await expect(chat.answers.last()).toContainText("You said: about the first");
  await alive(page);
  await chat.ask("and more");
  const kept = (await (await page.request.get("/api/conversations/t-1")).json()) as { messages: object[] };
  expect(kept.messages).toHaveLength(4);

  // The agent has no tool to write the state, and its tool calls are not shown.
  await chat.ask("write");
  await expect(page.getByRole("textbox", { name: "Plan" })).toHaveValue("team");
  await expect(page.locator(".cw-call")).toHaveCount(0);
  await expect(page.getByRole("button", { name: "Edit" })).toHaveCount(0);
});

test("the page adds messages to the chat and removes them", async ({ page }) => {
  await open(page, "/given");
  const chat = new Chat(page);
  await page.getByRole("button", { name: "Load" }).click();
  await expect(chat.answers.last()).toContainText("What was said");
  // These messages have no answer yet.
  await page.getByRole("button", { name: "Clear" }).click();
  await expect(page.getByRole("heading", { name: "How can I help?" })).toBeVisible();
  await page.getByRole("button", { name: "Load" }).click();
  await expect(chat.answers.last()).toContainText("What was said");
  await chat.ask("and now");
  await expect(chat.log.getByRole("article")).toHaveCount(4);
  const conversation = page.url();
  await page.getByRole("button", { name: "Clear" }).click();
  await expect(page.getByRole("heading", { name: "How can I help?" })).toBeVisible();
  await page.getByRole("button", { name: "Load" }).click();
  await expect(chat.log.getByRole("article")).toHaveCount(2);
  // This is a new conversation; the previous one is unchanged.
  await open(page, conversation);
  await expect(chat.log.getByRole("article")).toHaveCount(4);
});

test("a refused first message does not start a conversation", async ({ page, console }) => {
  console.expect(/status of 429/);
  await open(page, "/given");
  const chat = new Chat(page);
  await page.getByRole("button", { name: "Load" }).click();
  await expect(chat.answers.last()).toContainText("What was said");
  const refuse = { status: 429, json: { code: "rate_limited", message: "Too many messages.", retryAfter: 9 } };
  await page.route("**/ui/send", (route) => route.fulfill(refuse));
  await page.getByRole("textbox", { name: "Message" }).fill("and now");
  await page.getByRole("button", { name: "Send" }).click();
  await expect(chat.log.getByText("Too many messages.")).toBeVisible();
  // The conversation has not started, so the page's messages can still be removed.
  await page.getByRole("button", { name: "Clear" }).click();
  await expect(chat.log.getByRole("article")).toHaveCount(0);
  await expect(page.getByRole("textbox", { name: "Message" })).toHaveValue("and now");
  // When sent again it is the first message, and the URL names the conversation.
  await page.unroute("**/ui/send");
  await page.getByRole("button", { name: "Send" }).click();
  await expect(chat.answers.last()).toContainText("You said: and now");
  await expect(page).toHaveURL(/conversation=/);
  await page.reload();
  await expect(chat.log.getByRole("article")).toHaveCount(2);
});

test("feedback that the page stores is shown", async ({ page }) => {
  await open(page, "/judged");
  const chat = new Chat(page);
  await chat.ask("Hello");
  const good = chat.answers.first().getByRole("button", { name: "Good answer" });
  const bad = chat.answers.first().getByRole("button", { name: "Bad answer" });
  await expect(good).toHaveAttribute("aria-pressed", "true");
  // A click is stored, and the page receives an event.
  await bad.click();
  await expect(bad).toHaveAttribute("aria-pressed", "true");
  await expect(good).toHaveAttribute("aria-pressed", "false");
  await page.getByRole("button", { name: "Close" }).click();
  // After a reload the page provides no feedback, so the stored one is shown.
  await page.reload();
  await alive(page);
  await expect(bad).toHaveAttribute("aria-pressed", "true");
  // After it is removed, none is shown.
  await bad.click();
  await expect(bad).toHaveAttribute("aria-pressed", "false");
  await expect(good).toHaveAttribute("aria-pressed", "false");
});
