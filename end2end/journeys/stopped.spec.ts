import type { Page } from "@playwright/test";
import { Chat } from "../fixtures/chat.ts";
import { alive, expect, open, test } from "../fixtures/test.ts";

/** Hydrates the page again, without the markup of the server that it expects, so that it panics. */
async function panic(page: Page): Promise<void> {
  await page.evaluate(async () => {
    const app = await import("/pkg/chatwright.js" as string);
    document.body.firstElementChild?.remove();
    setTimeout(() => app.hydrate());
  });
}

test("after a panic the page says so and stays readable", async ({ page, console }) => {
  console.expect(/panicked|unreachable|RuntimeError|hydrat/i);
  await open(page);
  const chat = new Chat(page);
  await chat.ask("hello");
  const stopped = page.getByRole("alert").filter({ hasText: "This page has stopped working." });
  await expect(stopped).toBeHidden();
  await panic(page);
  await expect(stopped).toContainText("The conversation so far is saved.");
  await expect(stopped.getByRole("link")).toHaveText(["Reload"]);
  await stopped.getByRole("link", { name: "Reload" }).click();
  await expect(stopped).toBeHidden();
  await expect(chat.log).toContainText("hello");

  // The same on a page that is opened with a conversation.
  const conversation = page.url();
  await open(page, conversation);
  await panic(page);
  await expect(stopped.getByRole("link")).toHaveText(["Reload", "Read the conversation", "New conversation"]);
  await stopped.getByRole("link", { name: "Read the conversation" }).click();
  await expect(page.getByRole("article", { name: "User" })).toHaveText("hello");
  await open(page, conversation);
  await panic(page);
  await stopped.getByRole("link", { name: "New conversation" }).click();
  await expect(page).not.toHaveURL(/conversation=/);
  await alive(page);
  await chat.ask("and now?");
});
