import { Chat } from "../fixtures/chat.ts";
import { configured } from "../fixtures/configured.ts";
import { Provider } from "../fixtures/provider.ts";
import { alive, expect, test as base } from "../fixtures/test.ts";

/** An agent with two sub-agents and a tool whose approval shows one argument. */
const config = (url: string) => `
connections:
  - { id: model, type: OpenAICompatible, properties: { baseURL: "${url}", apiKey: none } }
agents:
  - { id: chief, type: Agent, connectionId: model, properties: { model: m }, agents: [{ agentId: reader, description: R }, { agentId: writer, description: W }] }
  - { id: reader, type: Agent, connectionId: model, properties: { model: m } }
  - { id: writer, type: Agent, connectionId: model, properties: { model: m } }
  - id: postman
    type: Agent
    connectionId: model
    properties: { model: m }
    tools: [{ endpointId: send_mail, confirm: true, visibleParameters: [to] }]
api:
  - id: send_mail
    description: Send a mail.
    payloadSchema: { type: object, properties: { to: { type: string }, text: { type: string } } }
    routine: [{ ":return": { sent: { _payload: true } } }]
pages:
  - { id: chief, blocks: [{ id: chat, type: AgentChat, properties: { agentId: chief } }] }
  - { id: postman, blocks: [{ id: chat, type: AgentChat, properties: { agentId: postman } }] }
`;

interface Fixtures {
  /** Lets the sub-agent with this task finish. */
  finish: (task: string) => void;
}

const test = base.extend<Fixtures & { waiting: Map<string, () => void> }>({
  waiting: async ({}, use) => use(new Map()),
  finish: async ({ waiting }, use) => use((task) => waiting.get(task)?.()),
  server: async ({ waiting }, use) => {
    const provider = await Provider.start(async (role, text) => {
      if (role === "tool") return `Done: ${text}`;
      if (text === "go") return ["reader", "writer"].map((name) => ({ name, arguments: { task: `task of the ${name}` } }));
      if (text === "post") return [{ name: "send_mail", arguments: { to: "ada@example.org", text: "Good morning" } }];
      await new Promise<void>((resolve) => waiting.set(text, resolve));
      return `I am through with the ${text}.`;
    });
    await configured(provider, config(provider.url), use);
  },
});

test("two sub-agents that run in parallel are both shown", async ({ page, finish }) => {
  await page.goto("/chief");
  await alive(page);
  const chat = new Chat(page);
  await chat.send("go");
  const card = (name: string) => page.locator("details", { has: page.locator("summary", { hasText: name }) }).first();
  for (const name of ["Reader", "Writer"]) await expect(card(name)).toHaveAttribute("data-state", "running");
  await expect(async () => {
    finish("task of the writer");
    await expect(card("Writer")).toHaveAttribute("data-state", "done", { timeout: 500 });
  }).toPass();
  await expect(card("Reader")).toHaveAttribute("data-state", "running");
  // Both are shown after a reload.
  await page.reload();
  await expect(card("Writer")).toHaveAttribute("data-state", "done");
  await expect(card("Reader")).toHaveAttribute("data-state", "running");
  finish("task of the reader");
  await expect(card("Reader")).toHaveAttribute("data-state", "done");
  await chat.idle();
  await expect(chat.answers.last()).toContainText("I am through with the task of the writer.");
});

test("only the arguments that are shown first can be changed", async ({ page }) => {
  await page.goto("/postman");
  await alive(page);
  const chat = new Chat(page);
  await chat.ask("post");
  await expect(chat.approval).toContainText("ada@example.org");
  await expect(chat.approval.getByText("Good morning")).toBeHidden();
  await expect(chat.approval.getByRole("status")).toContainText("1 part is not shown yet");
  await page.waitForTimeout(700);
  await expect(chat.approval.getByRole("button", { name: "Approve" })).toBeDisabled();
  await chat.approval.getByText("All other arguments").click();
  await expect(chat.approval.getByText("Good morning")).toBeVisible();
  await chat.approval.getByRole("button", { name: "Change" }).click();
  const text = chat.approval.getByRole("textbox", { name: "The arguments, as JSON" });
  await expect(text).not.toHaveValue(/Good morning/);
  await text.fill('{ "to": "bob@example.org" }');
  await chat.approval.getByRole("button", { name: "Approve" }).click();
  await expect(chat.answers.last()).toContainText("bob@example.org", { timeout: 30_000 });
  await expect(chat.answers.last()).toContainText("Good morning");
});
