import { join } from "node:path";
import { Chat } from "../fixtures/chat.ts";
import { expect, open, test } from "../fixtures/test.ts";

test.use({ serverOptions: { config: join(import.meta.dirname, "../../examples/support") } });

test("changes by the agent are shown on the page at once", async ({ page }) => {
  await open(page);
  const chat = new Chat(page);
  const articles = page.getByRole("table");
  await expect(articles.getByRole("row", { name: /Refunds/ }).first()).toBeVisible();
  await chat.send("Delete the article about refunds");
  await chat.approval.getByRole("button", { name: /approve/i }).click({ timeout: 30_000 });
  await expect(chat.answers.last()).toContainText(/deleted/i, { timeout: 30_000 });
  await expect(articles.getByRole("cell", { name: "Refunds", exact: true })).toHaveCount(0);
});

test("one endpoint serves the page's search and the agent", async ({ page }) => {
  await open(page);
  const chat = new Chat(page);
  const rows = page.getByRole("table").getByRole("row");
  const search = page.getByRole("textbox", { name: "Search", exact: true });
  await search.fill("invoice");
  await search.press("Enter");
  await expect(page.getByRole("cell", { name: "Two-factor sign-in" })).toHaveCount(0);
  await expect(rows.filter({ hasText: "Invoices and receipts" })).toBeVisible();
  await search.fill("no such thing");
  await search.press("Enter");
  await expect(page.getByText("No article matches.")).toBeVisible();
  await chat.ask("What do you know about refunds?");
  await expect(chat.answers.last()).toContainText("Refunds");
});

test("a hook names the conversation after its first answer", async ({ page }) => {
  await open(page);
  const chat = new Chat(page);
  await chat.ask("What do you know about refunds?");
  await expect(page.getByRole("link", { name: /^Refunds/ })).toBeVisible();
  await chat.ask("What do you know about invoices?");
  await expect(page.getByRole("link", { name: /^Refunds/ })).toBeVisible();
});
