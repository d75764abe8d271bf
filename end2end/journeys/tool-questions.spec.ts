import { join } from "node:path";
import { accessible, fits } from "../fixtures/axe.ts";
import { Chat } from "../fixtures/chat.ts";
import { configured } from "../fixtures/configured.ts";
import { Provider } from "../fixtures/provider.ts";
import { expect, open, test as base } from "../fixtures/test.ts";

const EVERYTHING = join(import.meta.dirname, "../node_modules/@modelcontextprotocol/server-everything/dist/index.js");

const config = (url: string) => `
connections:
  - { id: model, type: OpenAICompatible, properties: { baseURL: "${url}", apiKey: none } }
  - { id: everything, type: Mcp, properties: { command: node, args: ["${EVERYTHING}", stdio] } }
agents:
  - { id: helper, type: Agent, connectionId: model, properties: { model: helper }, mcp: [everything] }
pages:
  - { id: desk, blocks: [{ id: list, type: AgentConversations }, { id: chat, type: AgentChat, properties: { agentId: helper } }] }
`;

const PAGE = "https://id.example.com/sign-in?next=chat";

const test = base.extend({
  server: async ({}, use) => {
    const provider = await Provider.start((role, text) => {
      if (role === "tool") return `The tool said: ${text.replaceAll("\n", " ")}`;
      if (text === "form") return [{ name: "trigger-elicitation-request", arguments: {} }];
      return [{ name: "trigger-url-elicitation", arguments: { url: PAGE } }];
    });
    await configured(provider, config(provider.url), use);
  },
});

test("a running tool asks with a form, which survives a reload", async ({ page }) => {
  await open(page, "/desk");
  const chat = new Chat(page);
  await chat.send("form");
  const question = page.getByRole("group", { name: "everything asks" });
  await expect(question).toContainText("Please provide inputs for the following fields:");
  await expect(question).toContainText("Enter no passwords, keys or card numbers here.");
  await expect(chat.stopButton).toBeVisible();
  await page.reload();
  // While the answer is written, the composer has no *Send*, for which `alive` waits.
  await expect(page.locator("form[data-alive]")).toBeVisible({ timeout: 30_000 });
  await expect(chat.stopButton).toBeVisible();
  await expect(question.getByLabel("Integer", { exact: true })).toHaveValue("42");
  await accessible(page);
  await fits(page);
  await question.getByLabel("Integer", { exact: true }).fill("1000");
  await question.getByRole("button", { name: "Answer" }).click();
  await expect(question).toContainText("The number must be at most 100.");
  await question.getByLabel("Integer", { exact: true }).fill("7");
  await question.getByRole("textbox", { name: "String", exact: true }).fill("Ada Lovelace");
  await question.getByRole("button", { name: "Answer" }).click();
  await expect(chat.answers.last()).toContainText("The tool said:", { timeout: 30_000 });
  await expect(chat.answers.last()).toContainText("Ada Lovelace");
  await expect(question).toContainText("Answered");
  await expect(question.getByRole("button")).toHaveCount(0);
});

test("the address of a page is shown in full before it opens, and can be declined", async ({ page, context }) => {
  await context.route("https://id.example.com/**", (route) => route.fulfill({ body: "Sign in here" }));
  await open(page, "/desk");
  const chat = new Chat(page);
  await chat.send("page");
  const question = page.getByRole("group", { name: "everything asks" });
  await expect(question).toContainText(PAGE);
  await expect(question.locator("strong")).toHaveText("id.example.com");
  await accessible(page);
  const opened = context.waitForEvent("page");
  await question.getByRole("link", { name: "Open the page" }).click();
  await expect((await opened).getByText("Sign in here")).toBeVisible();
  await expect(chat.answers.last()).toContainText("The tool said:", { timeout: 30_000 });

  await chat.send("page");
  await question.last().getByRole("button", { name: "Decline" }).click();
  await expect(question.last()).toContainText("Declined");
  await expect(chat.answers.last()).toContainText("declined", { timeout: 30_000 });
});
