import { join } from "node:path";
import type { Page } from "@playwright/test";
import { accessible, fits } from "../fixtures/axe.ts";
import { Chat } from "../fixtures/chat.ts";
import { configured } from "../fixtures/configured.ts";
import { Provider, type Reply } from "../fixtures/provider.ts";
import { alive, expect, open, test as base } from "../fixtures/test.ts";

/** The next reply of the model, and its last request. */
const script = {
  told: "",
  next: (): Reply | Promise<Reply> => "Noted.",
};

const config = (url: string) => `
connections:
  - { id: model, type: OpenAICompatible, properties: { baseURL: "${url}", apiKey: none } }
agents:
  - id: helper
    type: Agent
    connectionId: model
    properties: { model: helper, instructions: You help., contextTokens: 1000, maxRetries: 0, context: { triggers: { tokens: 5000 } } }
pages:
  - { id: desk, blocks: [{ id: list, type: AgentConversations }, { id: chat, type: AgentChat, properties: { agentId: helper } }] }
`;

const test = base.extend({
  server: async ({}, use) => {
    const provider = await Provider.start((_, text) => {
      script.told = text;
      return script.next();
    });
    await configured(provider, config(provider.url), use);
  },
});

/** Takes a picture to look at, if a folder for it is named. */
async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env.PICTURES;
  if (folder !== undefined) {
    await page.screenshot({ path: join(folder, `context-${name}.png`) });
  }
}

test("the user has the conversation summarised, and it stays so", async ({ page, console }) => {
  // Without anything new there is nothing to summarize.
  console.expect(/status of 422/);
  script.next = () => "Noted.";
  await open(page, "/desk");
  const chat = new Chat(page);
  await chat.ask("The order is 4711.");
  await chat.ask(`The invoice is 815. ${"Please. ".repeat(300)}`);
  // The parts of the context are known before it is summarised.
  const room = page.getByRole("button", { name: "Context usage" });
  await room.press("Enter");
  const panel = page.getByRole("group", { name: "Context usage" });
  await expect(panel.getByRole("term")).toHaveText(["Instructions", "Messages"]);
  await accessible(page);
  await picture(page, "meter");
  await room.press("Escape");
  await expect(panel).toHaveCount(0);
  await expect(room).toBeFocused();

  // An empty summary is a failure, and loses nothing.
  script.next = () => " ";
  await chat.composer.fill("/");
  const command = page.getByRole("listbox", { name: "Commands" }).getByRole("option");
  await expect(command).toHaveText(["/compactSummarize the conversation. You can add what matters."]);
  await accessible(page);
  await picture(page, "command");
  await chat.composer.press("Enter");
  await expect(chat.composer).toHaveValue("/compact ");
  await chat.composer.pressSequentially("keep the numbers");
  await chat.composer.press("Enter");
  await expect(page.getByText("The model still reads all of them.")).toBeVisible();
  await chat.idle();
  await accessible(page);
  await picture(page, "failed");

  // It can be stopped while it runs, and tried again.
  script.next = () => new Promise<Reply>(() => {});
  await chat.send("/compact keep the numbers");
  await page.getByRole("button", { name: "Stop" }).click();
  await expect(page.getByText("Stopped.")).toBeVisible();
  script.next = () => "Order 4711, invoice 815.";
  await page.getByRole("button", { name: "Continue" }).click();
  const line = page.getByRole("button", { name: "Earlier messages are summarized" });
  await expect(line).toHaveAttribute("aria-expanded", "false");
  expect(script.told).toContain("keep the numbers");
  expect(script.told).toContain("The order is 4711.");

  await page.reload();
  await alive(page);
  await line.press("Enter");
  await expect(line).toHaveAttribute("aria-expanded", "true");
  await expect(page.locator(".cw-summary-opened")).toContainText("Order 4711, invoice 815.");
  await expect(page.getByRole("list", { name: /Summarized messages/ }).getByRole("listitem").first()).toContainText("The order is 4711.");
  await accessible(page);
  await picture(page, "summary");
  await page.emulateMedia({ colorScheme: "dark" });
  await page.setViewportSize({ width: 360, height: 720 });
  await fits(page);
  await accessible(page);
  await picture(page, "summary-phone-dark");

  // No message was added since. A command that is typed in full is sent at once.
  await chat.send("/compact");
  await expect(page.getByText("There is nothing to summarize")).toBeVisible();
  await expect(chat.composer).toHaveValue("/compact");
  await chat.composer.fill("");
  script.next = () => "Invoice 815.";
  await chat.ask("Which invoice?");
  await expect(page.getByRole("meter")).toHaveCount(0);
});
