import { Chat } from "../fixtures/chat.ts";
import { configured } from "../fixtures/configured.ts";
import { Provider } from "../fixtures/provider.ts";
import { alive, expect, open, test as base } from "../fixtures/test.ts";

/** The prompts that the model received, by turn. */
interface Told {
  instructions: string[];
}

const config = (model: string) => `
connections:
  - { id: model, type: OpenAICompatible, properties: { baseURL: "${model}", apiKey: none } }
  - { id: demo, type: Demo, properties: { delayMs: 1 } }
agents:
  - id: lead
    type: Agent
    connectionId: model
    properties: { model: m, instructions: You lead. }
    agents: [{ agentId: clerk, description: Looks things up }, { agentId: writer, description: Writes }]
  - { id: clerk, type: Agent, connectionId: model, properties: { model: m } }
  - { id: writer, type: Agent, connectionId: model, properties: { model: m } }
  - { id: counter, type: Agent, connectionId: demo, properties: { model: demo, contextTokens: 400 } }
pages:
  - id: lead
    blocks:
      - id: chat
        type: AgentChat
        properties: { agentId: lead, sender: { header: Answers come from the handbook., mentions: true } }
  - id: counter
    blocks: [{ id: list, type: AgentConversations }, { id: chat, type: AgentChat, properties: { agentId: counter } }]
`;

const test = base.extend<{ told: Told }>({
  told: async ({}, use) => use({ instructions: [] }),
  server: async ({ told }, use) => {
    const provider = await Provider.start((_, text, instructions) => {
      told.instructions.push(instructions);
      return `You said: ${text}`;
    });
    await configured(provider, config(provider.url), use);
  },
});

test("@ offers the sub-agents before other agents, and the agent is told which one is meant", async ({ page, told }) => {
  await open(page, "/lead");
  const chat = new Chat(page);
  await expect(page.getByText("Answers come from the handbook.")).toBeVisible();
  await chat.composer.pressSequentially("Please @");
  const agents = page.getByRole("listbox", { name: "Agents" });
  await expect(agents.getByRole("option")).toHaveText([/@clerk\s*Looks things up/, /@writer\s*Writes/, /@Counter/]);
  await chat.composer.pressSequentially("wr");
  await expect(agents.getByRole("option", { selected: true })).toContainText("@writer");
  await chat.composer.press("Enter");
  await expect(chat.composer).toHaveValue("Please @writer ");
  await expect(agents).toHaveCount(0);
  // An e-mail address is not the name of an agent.
  await chat.composer.fill("ada@");
  await expect(agents).toHaveCount(0);
  await chat.composer.fill("@clerk look it up");
  await chat.composer.press("Enter");
  await expect(chat.answers.last()).toContainText("You said: @clerk look it up");
  expect(told.instructions.at(-1)).toMatch(/^You lead\.[^]*write @ and the name of one of your tools/);
});

test("the usage of the context window is shown once it is high", async ({ page }) => {
  await open(page, "/counter");
  const chat = new Chat(page);
  await chat.ask("Hello");
  const meter = page.getByRole("meter", { name: /of the context used/ });
  await expect(meter).toHaveCount(0);
  await chat.ask("count to 150");
  await expect(meter).toBeVisible();
  expect(Number(await meter.getAttribute("value"))).toBeGreaterThanOrEqual(50);
  await expect(meter).toHaveAttribute("title", /of the 400 tokens/);
  await page.reload();
  await expect(meter).toBeVisible();
  await page.getByRole("link", { name: "New conversation" }).click();
  await expect(meter).toHaveCount(0);
});

test("days have headings in the user's time zone", async ({ page, server }) => {
  await open(page, "/counter");
  const chat = new Chat(page);
  await chat.ask("count to 3");
  const days = chat.log.locator(".cw-day");
  await expect(days).toHaveCount(0);
  const conversation = new URL(page.url()).searchParams.get("conversation");
  const exported = await (await page.request.get(`/api/conversations/${conversation}/export?format=json`)).text();
  // The same conversation a day and several days earlier.
  const earlier = exported.replace(/"createdAt":\s*(\d+)/g, (_, at) => `"createdAt": ${Number(at) - 86_400_000}`);
  expect(earlier).not.toBe(exported);
  const imported = await page.request.post(`${server.url}/api/conversations?pageId=counter`, { data: JSON.parse(earlier) as object });
  const { id } = (await imported.json()) as { id: string };
  await page.goto(`/counter?conversation=${id}`);
  await expect(days).toHaveText(["Yesterday"]);
  await alive(page);
  await chat.ask("count to 4");
  await expect(days).toHaveText(["Yesterday", "Today"]);
  await expect(chat.log.getByRole("heading", { name: "Today" })).toBeVisible();
});
