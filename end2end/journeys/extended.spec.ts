import { join } from "node:path";
import { Chat } from "../fixtures/chat.ts";
import { expect, open, test } from "../fixtures/test.ts";

// A program with a block, an operator, a tool, a connection and a provider of its own.
test.use({
  serverOptions: {
    binary: "extended",
    config: join(import.meta.dirname, "../../examples/extended"),
    env: { WAREHOUSE_KEY: "k3y-of-the-warehouse" },
  },
});

test("an added block follows the page's state and emits events", { tag: "@thorough" }, async ({ page }) => {
  await open(page);
  const gauge = page.getByRole("meter", { name: /^Shelf/ });
  await expect(page.getByText("Shelf: 60 of 100")).toBeVisible();
  await expect(gauge).toHaveJSProperty("value", 60);
  await page.getByLabel("Bolts").fill("50");
  await page.getByRole("button", { name: "Refresh" }).click();
  await expect(page.getByText("Shelf: 25 of 100")).toBeVisible();
  await expect(gauge).toHaveJSProperty("value", 25);
});

test("an added block stands beside the chat, whose agent has an added tool", { tag: "@thorough" }, async ({ page }) => {
  await open(page);
  const chat = new Chat(page);
  await chat.ask("Look up bolt");
  await expect(chat.answers.last()).toContainText("120");
});

test("an added block is rendered by the server too", { tag: "@thorough" }, async ({ browser, server }) => {
  const context = await browser.newContext({ javaScriptEnabled: false, baseURL: server.url });
  const page = await context.newPage();
  await page.goto("/home");
  await expect(page.getByText("Shelf: 0 of 100")).toBeVisible();
  await expect(page.getByRole("meter")).toBeVisible();
  await context.close();
});
