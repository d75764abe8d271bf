import { Chat } from "../fixtures/chat.ts";
import { expect, open, test } from "../fixtures/test.ts";

test("an answer streams, with a table and code that can be copied", async ({ page, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await open(page);
  const chat = new Chat(page);
  await chat.send("Show me a table and some code");
  await expect(chat.stopButton).toBeVisible();
  await chat.idle();
  await expect(chat.answers.last().getByRole("table")).toContainText("Connection");
  await expect(chat.answers.last().getByRole("columnheader", { name: "Part" })).toBeVisible();
  await chat.answers.last().getByRole("button", { name: /copy code/i }).click();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toContain("fn plus_one");
  await expect(page).toHaveURL(/conversation=/);
});

test("Shift+Enter breaks the line, Enter sends", async ({ page }) => {
  await open(page);
  const chat = new Chat(page);
  await chat.composer.fill("two");
  await chat.composer.press("Shift+Enter");
  await chat.composer.pressSequentially("lines");
  await expect(chat.composer).toHaveValue("two\nlines");
  await chat.composer.press("Enter");
  await expect(chat.composer).toHaveValue("");
  await expect(chat.log.getByRole("article", { name: "You" })).toContainText("lines");
});

test("a tool's card shows what was asked and what came back", async ({ page }) => {
  await open(page);
  const chat = new Chat(page);
  await chat.ask("What do you know about refunds?");
  const answer = chat.answers.last();
  await expect(answer).toContainText("30 days");
  await answer.getByText(/search knowledge base/i).first().click();
  await expect(answer).toContainText("refunds");
});

test("the list shows the newest first; selecting one shows it, without scripts too", async ({ page, browser, server }) => {
  await open(page);
  const chat = new Chat(page);
  await chat.ask("What can you do?");
  await page.getByRole("link", { name: "New conversation" }).click();
  await expect(chat.answers).toHaveCount(0);
  await chat.ask("Show me a table and some code");
  const list = page.getByRole("navigation", { name: /conversations/i });
  const titles = list.getByRole("link", { name: /What can you do|Show me a table/ });
  await expect(titles).toHaveCount(2);
  await expect(titles.first()).toContainText("Show me a table");
  await titles.last().click();
  await expect(chat.answers.last()).toContainText("This is a demo model");
  const context = await browser.newContext({ javaScriptEnabled: false, baseURL: server.url });
  const still = await context.newPage();
  await still.goto(page.url());
  await expect(still.getByRole("log")).toContainText("This is a demo model");
  await expect(still.locator("noscript > .cw-changed")).toBeVisible();
  await context.close();
});

test("an error is shown in plain words and Retry asks again", async ({ page }) => {
  await open(page);
  const chat = new Chat(page);
  await chat.send("simulate a failure");
  await expect(page.getByText("The model provider did not accept this request")).toBeVisible();
  await page.getByRole("button", { name: "Retry" }).click();
  await expect(page.getByRole("button", { name: "Retry" })).toBeVisible();
  await chat.ask("What can you do?");
  await expect(chat.answers.last()).toContainText("This is a demo model");
});
