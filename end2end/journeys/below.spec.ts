import { join } from "node:path";
import type { Page } from "@playwright/test";
import { Chat } from "../fixtures/chat.ts";
import { everySize } from "../fixtures/sizes.ts";
import { expect, open, test } from "../fixtures/test.ts";

test.use({ serverOptions: { config: join(import.meta.dirname, "../configs/below.yaml") } });

const suggestions = (page: Page) => page.getByRole("list", { name: "Suggestions" });
const button = (page: Page) => page.getByRole("button", { name: "Suggest questions" });
const remembered = (page: Page) => page.getByRole("button", { name: "Memory updated" });

test("what to ask next is suggested on demand, with the keyboard, and nothing jumps", async ({ page }) => {
  await open(page, "/home");
  const chat = new Chat(page);
  await chat.ask("What can you do?");
  const before = await chat.answers.last().boundingBox();
  await button(page).press("Enter");
  const chips = suggestions(page).getByRole("button");
  await expect(chips).toHaveText(["Show me a table and some code.", "Count to 20.", "Write a long answer."]);
  await expect(chips.first()).toBeFocused();
  expect(await chat.answers.last().boundingBox()).toEqual(before);
  await everySize(page, "suggestions");
  await chips.nth(1).press("Enter");
  await expect(chat.answers).toHaveCount(2);
  await expect(suggestions(page)).toHaveCount(0);
  await chat.idle();
  await expect(chat.log.getByRole("article").nth(2)).toContainText("Count to 20.");
  await expect(button(page)).toBeVisible();
});

test("suggestions come after each answer, and below an older one on demand", async ({ page }) => {
  await open(page, "/eager");
  const chat = new Chat(page);
  await chat.ask("Hello!");
  await expect(suggestions(page).getByRole("button")).toHaveText(["What can you do?", "Show me a table and some code."]);
  await chat.ask("What can you do?");
  await expect(suggestions(page).getByRole("button")).toHaveText(["Show me a table and some code.", "Count to 20."]);
  await page.reload();
  await expect(button(page)).toBeVisible();
  await expect(suggestions(page)).toHaveCount(0);
});

test("what was remembered is told in the chat, and undone there", async ({ page }) => {
  await open(page, "/home");
  const chat = new Chat(page);
  await chat.ask("I live in Rome. I prefer short answers.");
  await expect(remembered(page)).toBeVisible({ timeout: 30_000 });
  await remembered(page).press("Enter");
  await expect(page.getByText("The user lives in Rome.")).toBeVisible();
  await expect(page.getByText("The user prefers short answers.")).toBeVisible();
  await expect(page.getByRole("link", { name: "All remembered facts" })).toHaveAttribute("href", "/account/memory");
  await everySize(page, "remembered");
  // As after a reload.
  await page.reload();
  await remembered(page).click();
  await page.getByRole("button", { name: "Undo" }).press("Enter");
  await expect(remembered(page)).toHaveCount(0);
  await expect(chat.composer).toBeFocused();
  const memory = (await (await page.request.get("/api/memory")).json()) as { facts: unknown[] };
  expect(memory.facts).toEqual([]);
});

test("a task is handed to a copy of the agent if the user allows it", async ({ page }) => {
  await open(page, "/home");
  const chat = new Chat(page);
  await chat.ask("start task: Show me a table and some code.");
  await expect(page.getByText("General purpose")).toHaveCount(0);
  const allow = page.getByRole("button", { name: "Delegate" });
  await allow.click();
  await expect(allow).toHaveAttribute("aria-pressed", "true");
  await chat.ask("start task: Show me a table and some code.");
  await expect(page.getByText("General purpose").first()).toBeVisible();
});
