import { Chat } from "../fixtures/chat.ts";
import { alive, expect, open, test } from "../fixtures/test.ts";

test("a denied call does not run and the agent reads the note", async ({ page }) => {
  await open(page);
  const chat = new Chat(page);
  await chat.ask("Delete the article about refunds");
  await expect(chat.approval).toContainText("Refunds");
  await expect(page.getByRole("button", { name: "Approve" })).not.toBeFocused();
  await chat.approval.getByRole("textbox").fill("we still need it");
  await chat.approval.getByRole("button", { name: "Deny" }).click();
  await expect(chat.answers.last()).toContainText("we still need it");
  await expect(chat.approval).toHaveCount(0);
  await page.getByRole("link", { name: "New conversation" }).click();
  await expect(chat.answers).toHaveCount(0);
  await chat.ask("What do you know about refunds?");
  await expect(chat.answers.last()).toContainText("30 days");
});

test("an approved call runs once, also after a reload", async ({ page }) => {
  await open(page);
  const chat = new Chat(page);
  await chat.ask("Delete the article about refunds");
  await expect(chat.approval).toBeVisible();
  await page.reload();
  await expect(chat.approval).toBeVisible();
  // Before hydration a click is lost, and Playwright does not repeat it.
  await alive(page);
  await chat.approval.getByRole("button", { name: "Approve" }).click();
  await expect(chat.answers.last()).toContainText("the article is deleted", { timeout: 30_000 });
  await expect(chat.answers).toHaveCount(1);
});

test("a call that is approved with changed arguments runs with these", async ({ page }) => {
  await open(page);
  const chat = new Chat(page);
  await chat.ask("Delete the article about refunds");
  await alive(page);
  await chat.approval.getByRole("button", { name: "Change" }).click();
  const text = chat.approval.getByRole("textbox", { name: "The arguments, as JSON" });
  await expect(text).toHaveValue(/"title": "Refunds"/);
  await text.fill("[]");
  await chat.approval.getByRole("button", { name: "Approve" }).click();
  await expect(chat.approval.getByRole("alert")).toContainText("not a JSON object");
  await text.fill('{ "title": "Exporting data" }');
  await chat.approval.getByRole("button", { name: "Approve" }).click();
  await expect(chat.answers.last()).toContainText("the article is deleted", { timeout: 30_000 });
  await page.getByRole("link", { name: "New conversation" }).click();
  await expect(chat.answers).toHaveCount(0);
  await chat.ask("What do you know about refunds?");
  await expect(chat.answers.last()).toContainText("30 days");
});

test("a pending approval survives a crash of the server", async ({ page, server, console }) => {
  console.expect(/Failed to load resource|ERR_CONNECTION|Failed to fetch|net::/);
  await open(page);
  const chat = new Chat(page);
  await chat.ask("Delete the article about refunds");
  await expect(chat.approval).toBeVisible();
  await server.kill();
  await server.launch();
  await page.reload();
  await expect(chat.approval).toBeVisible();
  // Before hydration a click is lost, and Playwright does not repeat it.
  await alive(page);
  await chat.approval.getByRole("button", { name: "Approve" }).click();
  await expect(chat.answers.last()).toContainText("the article is deleted", { timeout: 30_000 });
});

test("a new message dismisses the pending approval", async ({ page }) => {
  await open(page);
  const chat = new Chat(page);
  await chat.ask("Delete the article about refunds");
  await expect(chat.approval).toBeVisible();
  await chat.ask("What can you do?");
  await expect(chat.approval).toHaveCount(0);
  await expect(chat.answers.last()).toContainText("This is a demo model");
});
