import { join } from "node:path";
import type { Locator, Page } from "@playwright/test";
import { accessible } from "../fixtures/axe.ts";
import { Chat } from "../fixtures/chat.ts";
import { alive, expect, open, test } from "../fixtures/test.ts";

test.use({ serverOptions: { config: join(import.meta.dirname, "../configs/gates.yaml") } });

const DELETE = "Delete the article about refunds";

/** Approves, with this duration of the approval. */
async function approve(chat: Chat, scope: string): Promise<void> {
  await chat.approval.getByRole("combobox", { name: "How long your approval is valid" }).selectOption(scope);
  await chat.approval.getByRole("button", { name: "Approve" }).click();
  await expect(chat.answers.last()).toContainText("the article is deleted", { timeout: 30_000 });
  await chat.idle();
}

/** Expects a call to run without an approval. */
async function runs(chat: Chat): Promise<void> {
  await chat.ask(DELETE);
  await expect(chat.answers.last()).toContainText("the article is deleted");
  await expect(chat.approval).toHaveCount(0);
}

async function manage(page: Page): Promise<Locator> {
  await page.getByRole("button", { name: "Manage" }).last().click();
  const dialog = page.getByRole("dialog", { name: "Standing approvals" });
  await expect(dialog).toBeVisible();
  return dialog;
}

test("a call with a standing approval runs without a question until it is revoked", async ({ page }) => {
  await open(page, "/keeper");
  const chat = new Chat(page);
  await chat.ask(DELETE);
  await approve(chat, "Always");
  await expect(chat.answers.last()).toContainText("Your standing approval allows “Delete article”.");
  await runs(chat);
  // In every conversation, also after a reload.
  await open(page, "/keeper");
  await runs(chat);
  const dialog = await manage(page);
  await expect(dialog.getByRole("listitem")).toContainText("In all conversations, for the agent Keeper");
  await dialog.getByRole("button", { name: "Revoke the approval of Delete article" }).click();
  await expect(dialog).toContainText("You have no standing approvals.");
  await page.keyboard.press("Escape");
  await expect(dialog).toBeHidden();
  await chat.ask(DELETE);
  await expect(chat.approval).toBeVisible();
});

test("an approval for a conversation does not apply to other conversations", async ({ page }) => {
  await open(page, "/keeper");
  const chat = new Chat(page);
  await chat.ask(DELETE);
  await approve(chat, "In this conversation");
  await page.reload();
  await alive(page);
  await expect(chat.answers.last()).toContainText("Your standing approval allows “Delete article” in this conversation.");
  await runs(chat);
  const dialog = await manage(page);
  await expect(dialog.getByRole("listitem")).toContainText(`In the conversation “${DELETE}”`);
  await dialog.getByRole("button", { name: "Close" }).click();
  await open(page, "/keeper");
  await chat.ask(DELETE);
  await expect(chat.approval).toBeVisible();
});

test("a standing approval applies to a call of a sub-agent", async ({ page }) => {
  await open(page, "/editor");
  const chat = new Chat(page);
  await chat.ask("search for delete the article about refunds");
  await expect(chat.approval).toContainText("wants to run “Delete article”");
  await approve(chat, "Always");
  await expect(chat.answers.last()).toContainText("Your standing approval allows “Delete article”.");
  await chat.ask("search for delete the article about refunds");
  await expect(chat.approval).toHaveCount(0);
  const dialog = await manage(page);
  await expect(dialog.getByRole("listitem")).toContainText("for the agent Search desk");
});

test("an approval that is not given in time expires", async ({ page }) => {
  await open(page, "/hasty");
  const chat = new Chat(page);
  await chat.ask(DELETE);
  await expect(chat.approval).toContainText("You can decide until");
  await expect(chat.approval.getByRole("combobox")).toHaveCount(0);
  await expect(chat.approval).toHaveCount(0, { timeout: 15_000 });
  await expect(chat.answers.last()).toContainText("Not decided in time");
  await page.getByRole("button", { name: "Continue" }).click();
  await chat.idle();
  await expect(chat.answers.last()).toContainText("Nothing was deleted");
});

test("an approval can expire while the server is down", async ({ page, server, console }) => {
  console.expect(/Failed to load resource|ERR_CONNECTION|Failed to fetch|net::/);
  await open(page, "/hasty");
  const chat = new Chat(page);
  await chat.ask(DELETE);
  const asked = Date.now();
  const address = page.url();
  await page.goto("about:blank");
  await server.kill();
  await expect.poll(() => Date.now()).toBeGreaterThan(asked + 4_000);
  await server.launch();
  await page.goto(address);
  await expect(chat.answers.last()).toContainText("Not decided in time");
  await expect(chat.approval).toHaveCount(0);
});

test("standing approvals can be opened from a new conversation", async ({ page }) => {
  await open(page, "/keeper");
  const chat = new Chat(page);
  const way = page.getByRole("button", { name: "Standing approvals" });
  // Standing approvals are not loaded before the user turns to the chat.
  await chat.composer.hover();
  await chat.ask(DELETE);
  await expect(way, "there are none").toHaveCount(0);
  await approve(chat, "Always");
  await expect(way).toBeVisible();
  // In a new, empty conversation, and by keyboard alone.
  await open(page, "/keeper");
  await expect(chat.answers).toHaveCount(0);
  await chat.composer.hover();
  await expect(way).toBeVisible();
  await accessible(page);
  await way.focus();
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog", { name: "Standing approvals" });
  await expect(dialog.getByRole("listitem")).toContainText("In all conversations, for the agent Keeper");
  await accessible(page);
  await page.keyboard.press("Escape");
  await expect(dialog).toBeHidden();
  await expect(way).toBeFocused();
  await page.keyboard.press("Enter");
  await dialog.getByRole("button", { name: "Revoke the approval of Delete article" }).press("Enter");
  await expect(dialog).toContainText("You have no standing approvals.");
  await page.keyboard.press("Escape");
  await expect(way).toHaveCount(0);
  await expect(chat.composer).toBeFocused();
  await chat.ask(DELETE);
  await expect(chat.approval).toBeVisible();
});
