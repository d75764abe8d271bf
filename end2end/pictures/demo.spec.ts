import { join } from "node:path";
import { answered, ask } from "../fixtures/chat.ts";
import { ROOT, picture } from "../fixtures/picture.ts";
import { expect, open, test } from "../fixtures/test.ts";

test("a new conversation", async ({ page }, info) => {
  await open(page);
  await picture(page, info, "welcome");
});

test("a table and code", async ({ page }, info) => {
  await open(page);
  await ask(page, "Show me a table and some code");
  await answered(page, "Text streams in word by word");
  await picture(page, info, "answer");
});

test("an answer from the knowledge base, and the form filled in", async ({ page }, info) => {
  await open(page);
  await ask(page, "What do you know about refunds?");
  await answered(page, "Source:");
  await picture(page, info, "tool");
  await ask(page, "Fill in the form for Ada Lovelace at Analytical Engines");
  await answered(page, "Done.");
  await expect(page.getByLabel("Legal name", { exact: true })).toHaveValue("Ada Lovelace");
  await picture(page, info, "form");
  // The README's.
  if (info.project.name === "wide-light") {
    await page.screenshot({ path: join(ROOT, "docs/demo.png"), animations: "disabled", caret: "hide" });
  }
});

test("a question before a deletion", async ({ page }, info) => {
  await open(page);
  await ask(page, "Delete the article about refunds");
  await expect(page.getByRole("button", { name: /approve/i })).toBeVisible({ timeout: 30_000 });
  await picture(page, info, "approval");
});
