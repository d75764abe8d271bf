import { join } from "node:path";
import type { Locator, Page } from "@playwright/test";
import { Chat } from "../fixtures/chat.ts";
import { alive, expect, open, test } from "../fixtures/test.ts";

test.use({ serverOptions: { config: join(import.meta.dirname, "../configs/messages.yaml") } });

/** The user's own messages, oldest first. */
function own(chat: Chat): Locator {
  return chat.log.getByRole("article", { name: "You" });
}

/** Which version of a message is shown. */
function version(message: Locator, name: string): Locator {
  return message.getByRole("group", { name, exact: true });
}

/** Chooses an item from a message's menu. */
async function choose(message: Locator, item: string): Promise<void> {
  await message.getByRole("button", { name: "More" }).click();
  await message.page().getByRole("menuitem", { name: item }).click();
}

async function heard(page: Page, event: string, about: string | RegExp): Promise<void> {
  const alert = page.getByRole("region", { name: "Form" }).getByRole("status").filter({ hasText: event });
  await expect(alert).toContainText(about);
}

test("an edited message is a new version and both survive a reload", async ({ page }) => {
  await open(page);
  const chat = new Chat(page);
  await chat.ask("count to 3");
  await chat.ask("count to 4");
  await own(chat).first().getByRole("button", { name: "Edit" }).click();
  const field = page.getByRole("textbox", { name: "Edit your message" });
  await expect(field).toBeFocused();
  await expect(field).toHaveValue("count to 3");
  // Escape cancels the edit.
  await field.fill("something else");
  await field.press("Escape");
  await expect(field).toHaveCount(0);
  await expect(own(chat).first()).toContainText("count to 3");
  await own(chat).first().getByRole("button", { name: "Edit" }).click();
  await field.fill("count to 5");
  await field.press("Enter");
  await expect(own(chat)).toHaveCount(1);
  await expect(version(own(chat).first(), "Version 2 of 2")).toBeVisible();
  await chat.idle();
  await expect(chat.answers).toHaveCount(1);
  await heard(page, "edit", "count to 3");
  // Back to the first version by keyboard; the focus stays on the same button.
  const back = own(chat).first().getByRole("button", { name: "Previous version" });
  await back.focus();
  await page.keyboard.press("Enter");
  await expect(version(own(chat).first(), "Version 1 of 2")).toBeVisible();
  await expect(back).toBeFocused();
  await expect(own(chat)).toHaveText([/count to 3/, /count to 4/]);
  await expect(chat.answers).toHaveCount(2);
  await page.reload();
  await expect(own(chat)).toHaveText([/count to 3/, /count to 4/]);
  await expect(version(own(chat).first(), "Version 1 of 2")).toBeVisible();
});

test("a regenerated answer is a new version that every tab shows", async ({ page, context }) => {
  await open(page);
  const chat = new Chat(page);
  await chat.ask("count to 3");
  const other = await context.newPage();
  await other.goto(page.url());
  await alive(other);
  const second = new Chat(other);
  await expect(second.answers).toHaveCount(1);
  await chat.answers.first().getByRole("button", { name: "Answer again" }).click();
  await expect(version(chat.answers.first(), "Version 2 of 2")).toBeVisible();
  await chat.idle();
  await heard(page, "regenerate", /\w{8,}/);
  await expect(version(second.answers.first(), "Version 2 of 2")).toBeVisible();
  await second.answers.first().getByRole("button", { name: "Previous version" }).click();
  await expect(version(second.answers.first(), "Version 1 of 2")).toBeVisible();
  await expect(version(chat.answers.first(), "Version 1 of 2")).toBeVisible();
  // The conversation continues from there.
  await second.ask("count to 2");
  await expect(chat.answers).toHaveCount(2);
  await chat.idle();
  await expect(version(chat.answers.first(), "Version 1 of 2")).toBeVisible();
});

test("a message is deleted with those after it and can be restored", async ({ page }) => {
  await open(page);
  const chat = new Chat(page);
  await chat.ask("count to 3");
  await chat.ask("count to 4");
  await choose(own(chat).nth(1), "Delete from here on");
  await expect(own(chat)).toHaveText([/count to 3/]);
  await heard(page, "delete", "count to 4");
  const undo = page.getByRole("button", { name: "Undo" });
  await expect(undo).toBeFocused();
  await undo.press("Enter");
  await expect(own(chat)).toHaveText([/count to 3/, /count to 4/]);
  await expect(undo).toHaveCount(0);
  await expect(chat.composer).toBeFocused();
  // Deleted by a method call of the page, also after a reload.
  await page.getByRole("button", { name: "Delete by page" }).click();
  await expect(chat.answers).toHaveCount(1);
  await page.reload();
  await expect(own(chat)).toHaveText([/count to 3/, /count to 4/]);
  await expect(chat.answers).toHaveCount(1);
  await alive(page);
  // A message without an answer can be answered.
  await own(chat).nth(1).getByRole("button", { name: "Answer this message" }).click();
  await expect(chat.answers).toHaveCount(2);
  await chat.idle();
  // Delete all messages.
  await choose(own(chat).first(), "Delete from here on");
  await expect(chat.log).toHaveCount(0);
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(chat.answers).toHaveCount(2);
});

test("feedback with a reason is stored", async ({ page }) => {
  await open(page);
  const chat = new Chat(page);
  await chat.ask("count to 3");
  const bad = chat.answers.first().getByRole("button", { name: "Bad answer" });
  const good = chat.answers.first().getByRole("button", { name: "Good answer" });
  await expect(bad).toHaveAttribute("aria-pressed", "false");
  await bad.click();
  await expect(bad).toHaveAttribute("aria-pressed", "true");
  const why = page.getByRole("textbox", { name: "Why?" });
  await expect(why).toBeFocused();
  await why.fill("It stops too early.");
  await why.press("Enter");
  await expect(why).toHaveCount(0);
  await heard(page, "down", "It stops too early.");
  await page.reload();
  await expect(bad).toHaveAttribute("aria-pressed", "true");
  await alive(page);
  // Change the feedback, then remove it.
  await good.click();
  await expect(bad).toHaveAttribute("aria-pressed", "false");
  await page.getByRole("button", { name: "Close" }).click();
  await good.click();
  await expect(good).toHaveAttribute("aria-pressed", "false");
  await expect(page.getByRole("textbox", { name: "Why?" })).toHaveCount(0);
});

test("an answer is copied as Markdown and as text", async ({ page, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await open(page);
  const chat = new Chat(page);
  await chat.ask("What can you do?");
  const clipboard = () => page.evaluate(() => navigator.clipboard.readText());
  await chat.answers.first().getByRole("button", { name: "Copy answer" }).click();
  await expect(chat.answers.first().getByRole("button", { name: "Copied" })).toBeVisible();
  const markdown = await clipboard();
  await choose(chat.answers.first(), "Copy as text");
  await expect.poll(clipboard).not.toBe(markdown);
  const text = await clipboard();
  expect(markdown).toMatch(/[*`#]/);
  expect(text).not.toMatch(/\*\*|`/);
  expect(text).toContain("This is a demo model");
});

test("a conversation that is branched off leaves the original unchanged", async ({ page }) => {
  await open(page);
  const chat = new Chat(page);
  await chat.ask("count to 3");
  await chat.ask("count to 4");
  const before = page.url();
  await choose(chat.answers.first(), "New conversation from here");
  await expect(own(chat)).toHaveText([/count to 3/]);
  expect(page.url()).not.toBe(before);
  await expect(page.getByRole("link", { name: /Copy of count to 3/ })).toBeVisible();
  await chat.ask("count to 5");
  await expect(chat.answers).toHaveCount(2);
  await page.goto(before);
  await expect(own(chat)).toHaveText([/count to 3/, /count to 4/]);
});

test("features that the config switches off are not shown", async ({ page }) => {
  await open(page, "/plain");
  const chat = new Chat(page);
  await chat.ask("count to 3");
  await expect(chat.answers.first().getByRole("button")).toHaveCount(0);
  await expect(own(chat).first().getByRole("button")).toHaveCount(0);
});

test("messages are shown as the config says", async ({ page }) => {
  await open(page, "/shown");
  const chat = new Chat(page);
  // A slow server.
  await page.route("**/ui/send", async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    await route.continue();
  });
  await chat.send("search for refunds");
  await expect(chat.log.getByText("Looking it up")).toBeVisible();
  await expect(chat.log.getByText("Still looking")).toBeVisible();
  const answer = chat.log.getByRole("article", { name: "Clerk" });
  await expect(chat.log.getByRole("article", { name: "Ada" })).toContainText("search for refunds");
  await expect(answer.getByText('"found": 3').first()).toBeVisible({ timeout: 20_000 });
  await chat.idle();
  await expect(answer.getByRole("separator")).toHaveCount(1);
  await answer.hover();
  await expect(answer).toContainText(/\d\d:\d\d/);
});
