import { Chat } from "../fixtures/chat.ts";
import { alive, expect, open, test } from "../fixtures/test.ts";

test("a question with options survives a reload and its answer resumes the conversation", async ({ page }) => {
  await open(page);
  const chat = new Chat(page);
  await chat.ask("Ask me something");
  await expect(chat.question).toContainText("How shall I explain a run to you?");
  await expect(chat.question.getByRole("radio", { checked: true })).toHaveCount(0);
  await chat.question.getByRole("button", { name: "Answer" }).click();
  await expect(chat.question.getByRole("alert")).toHaveText("Choose an answer or write one.");
  await page.reload();
  await expect(chat.question).toBeVisible();
  // Before hydration a click is lost, and Playwright does not repeat it.
  await alive(page);
  await chat.question.getByRole("radio", { name: "With an example" }).check();
  await chat.question.getByRole("textbox").fill("a short one");
  await chat.question.getByRole("button", { name: "Answer" }).click();
  await expect(chat.answers.last()).toContainText("You chose With an example.", { timeout: 30_000 });
  await expect(chat.answers.last()).toContainText("You wrote: “a short one”");
  await expect(chat.question).toHaveCount(0);
  await expect(chat.answers).toHaveCount(1);
  await expect(chat.answers.last()).toContainText("Answered");
});

test("a form is validated before it is sent", async ({ page }) => {
  await open(page);
  const chat = new Chat(page);
  await chat.ask("Ask me with a form");
  const form = chat.question;
  await form.getByLabel("Boxes").fill("many");
  await form.getByRole("button", { name: "Answer" }).click();
  await expect(form.getByRole("alert")).toHaveText("“Name” is required.");
  await form.getByLabel("Name").fill("Ada Lovelace");
  await form.getByRole("button", { name: "Answer" }).click();
  await expect(form.getByRole("alert")).toHaveText("“Boxes” needs a number.");
  await form.getByLabel("Boxes").fill("2");
  await form.getByLabel("Size").selectOption("Large");
  await form.getByLabel("Not before").fill("2026-12-10");
  await form.getByLabel("It is a gift").check();
  await form.getByLabel("It is a gift").press("Enter");
  for (const said of ["name: Ada Lovelace", "boxes: 2", "size: Large", "day: 2026-12-10", "gift: true"]) {
    await expect(chat.answers.last()).toContainText(said, { timeout: 30_000 });
  }
});

test("a question survives a crash of the server and a new message dismisses it", async ({ page, server, console }) => {
  console.expect(/Failed to load resource|ERR_CONNECTION|Failed to fetch|net::/);
  await open(page);
  const chat = new Chat(page);
  await chat.ask("Ask me something");
  await expect(chat.question).toBeVisible();
  await server.kill();
  await server.launch();
  await page.reload();
  await expect(chat.question).toBeVisible();
  await alive(page);
  await chat.ask("What can you do?");
  await expect(chat.question).toHaveCount(0);
  await expect(chat.answers.first()).toContainText("Not answered");
  await expect(chat.answers.last()).toContainText("This is a demo model");
});
