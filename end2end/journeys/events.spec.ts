import { join } from "node:path";
import { Chat } from "../fixtures/chat.ts";
import { expect, open, test } from "../fixtures/test.ts";

test.use({ serverOptions: { config: join(import.meta.dirname, "../configs/events.yaml") } });

test("a page can cancel messages and receives the chat's events", async ({ page }) => {
  await open(page);
  const chat = new Chat(page);
  await chat.send("search for nothing");
  // Refused: the tab with the missing input is opened, and the text stays.
  const name = page.getByRole("textbox", { name: "Your name" });
  await expect(name).toBeFocused();
  await expect(name).toHaveAccessibleDescription("This field is required.");
  await expect(chat.composer).toHaveValue("search for nothing");
  await expect(chat.log).toHaveCount(0);
  await name.fill("Ada");
  await page.getByRole("tab", { name: "Log" }).click();
  await chat.composer.press("Enter");
  await chat.idle();
  await expect(chat.composer).toHaveValue("");
  await expect(page.getByRole("heading", { name: "search for nothing" })).toBeVisible();
  await expect(page.getByRole("status").filter({ hasText: "search" }).filter({ hasText: "articles" })).toBeVisible();
  await expect(page.getByRole("status").filter({ hasText: "done" })).toBeVisible();
  // Loading an existing conversation emits no events.
  await page.reload();
  await expect(chat.answers).toHaveCount(1);
  await page.waitForTimeout(500);
  await expect(page.getByRole("heading", { name: "search for nothing" })).toHaveCount(0);
});

test("buttons of a page ask, stop and start a new conversation", async ({ page }) => {
  await open(page);
  const chat = new Chat(page);
  await page.getByRole("tab", { name: "Settings" }).click();
  await page.getByRole("textbox", { name: "Your name" }).fill("Ada");
  await page.getByLabel("Quiet").check();
  await expect(page.getByRole("button", { name: "Count" })).toBeDisabled();
  await page.getByLabel("Quiet").uncheck();
  await page.getByRole("tab", { name: "Log" }).click();
  await page.getByRole("button", { name: "Count" }).click();
  await expect.poll(() => chat.counted(), { timeout: 20_000 }).toBeGreaterThan(3);
  await page.getByRole("button", { name: "Ask" }).click();
  // It waits for the answer, like what the user sends.
  await expect(page.locator(".cw-queue")).toContainText("search for nothing");
  await page.getByRole("button", { name: "Enough" }).click();
  await chat.idle();
  await expect(page.getByRole("status").filter({ hasText: "stopped" }).first()).toBeVisible();
  await page.getByRole("button", { name: "Start over" }).click();
  await expect(chat.answers).toHaveCount(0);
  await page.getByRole("button", { name: "Hello" }).click();
  await chat.idle();
  await expect(page.getByRole("status").filter({ hasText: "Hello" }).first()).toBeVisible();
});

test("a list of actions ends with the first failure and shows it", async ({ page, console }) => {
  console.expect(/422/);
  await open(page);
  await page.getByRole("button", { name: "Fail" }).click();
  const messages = page.getByRole("list", { name: "Messages" });
  await expect(messages).toContainText("Not today.");
  await expect(page.getByText("never")).toHaveCount(0);
  await messages.getByRole("button", { name: "Dismiss" }).click();
  await expect(messages).toBeHidden();
  await page.getByRole("button", { name: "Skip" }).click();
  await expect(page.getByText("skipped")).toBeVisible();
  await page.getByRole("tab", { name: "Settings" }).click();
  await page.getByRole("textbox", { name: "Your name" }).fill("Ada");
  await page.getByRole("button", { name: "Go" }).click();
  await expect(page).toHaveURL(/\/other\?name=Ada$/);
  await expect(page.getByRole("heading", { name: "Ada" })).toBeVisible();
  await expect(page.getByText("Good to see you")).toBeVisible();
});

test("a page receives events for titles, data, regenerated answers and failures", async ({ page }) => {
  await open(page, "/story");
  const chat = new Chat(page);
  const told = (text: string) => page.getByRole("status").filter({ hasText: text });
  await chat.ask("hello");
  await expect(told("2 messages").first()).toBeVisible();
  await expect(told("data-mood")).toBeVisible();
  await expect(page.getByRole("link", { name: /^2 messages/ })).toBeVisible();
  await chat.answers.last().hover();
  await page.getByRole("button", { name: "Answer again" }).click();
  await chat.idle();
  await expect(told("once more")).toBeVisible();
  await chat.send("simulate a failure");
  await expect(told("did not accept").first()).toBeVisible({ timeout: 20_000 });
});
