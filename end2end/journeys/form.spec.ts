import { Chat } from "../fixtures/chat.ts";
import { expect, open, test } from "../fixtures/test.ts";

test("the agent fills in the form; one click takes a field back", async ({ page }) => {
  await open(page);
  const chat = new Chat(page);
  await page.getByLabel("Company", { exact: true }).fill("Old company");
  await chat.ask("Fill in the form for Ada Lovelace at Analytical Engines");
  await expect(page.getByLabel("Legal name", { exact: true })).toHaveValue("Ada Lovelace");
  await expect(page.getByLabel("Company", { exact: true })).toHaveValue("Analytical Engines");
  await expect(page.getByLabel("E-mail", { exact: true })).toHaveValue("ada.lovelace@analytical-engines.example");
  await expect(page.getByLabel("Priority", { exact: true })).toHaveValue("high");
  await expect(page.getByLabel("Due date", { exact: true })).toHaveValue("2026-12-10");
  await expect(chat.answers).toHaveCount(1);
  await expect(chat.answers.last()).toContainText("I wrote legal_name");
  await page.getByRole("button", { name: "Undo the agent's change of Company" }).click();
  await expect(page.getByLabel("Company", { exact: true })).toHaveValue("Old company");
  await expect(page.getByLabel("Legal name", { exact: true })).toHaveValue("Ada Lovelace");
});

test("the agent sees what the form holds when the message is sent", async ({ page }) => {
  await open(page);
  const chat = new Chat(page);
  await page.getByLabel("Legal name", { exact: true }).fill("Grace Hopper");
  const sent = page.waitForRequest((request) => request.url().includes("/ui/send"));
  await chat.send("What can you do?");
  expect((await sent).postData()).toContain("Grace Hopper");
  await chat.idle();
});
