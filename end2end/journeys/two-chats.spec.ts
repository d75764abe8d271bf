import { join } from "node:path";
import { Chat } from "../fixtures/chat.ts";
import { expect, open, test } from "../fixtures/test.ts";

test.use({ serverOptions: { config: join(import.meta.dirname, "../configs/two-chats.yaml") } });

const FILL = "Fill in the form for Ada Lovelace at Analytical Engines";

test("two chats with the same agent each fill in the fields that they share", async ({ page }) => {
  await page.goto("/two");
  const field = (name: string) => page.getByLabel(name, { exact: true });
  const composer = (name: string) => page.getByPlaceholder(name);
  const ask = async (name: string) => {
    await expect(async () => {
      await composer(name).fill(FILL);
      await composer(name).press("Enter");
      await expect(composer(name)).toHaveValue("", { timeout: 1_000 });
    }).toPass();
  };
  await ask("Ask left");
  await expect(field("Legal name")).toHaveValue("Ada Lovelace");
  await expect(field("Company")).toHaveValue("");
  await ask("Ask right");
  await expect(field("Company")).toHaveValue("Analytical Engines");
  await page.getByRole("button", { name: "Undo the agent's change of Legal name" }).click();
  await expect(field("Legal name")).toHaveValue("");
  await expect(field("Company")).toHaveValue("Analytical Engines");
});

test("a form that belongs to a conversation is restored with it, also in another tab", async ({ page, context }) => {
  await open(page, "/kept");
  const chat = new Chat(page);
  const name = page.getByLabel("Legal name", { exact: true });
  await chat.ask("hello");
  await name.fill("Grace Hopper");
  const first = page.url();
  await page.getByRole("link", { name: "New conversation" }).click();
  await expect(name).toHaveValue("");
  await chat.ask(FILL);
  await expect(name).toHaveValue("Ada Lovelace");
  await page.getByRole("navigation", { name: "Conversations" }).locator(`a[href$="${new URL(first).search}"]`).click();
  await expect(name).toHaveValue("Grace Hopper");
  await expect(page.getByRole("button", { name: "Undo the agent's change" })).toHaveCount(0);
  const other = await context.newPage();
  await other.goto(first);
  await expect(other.getByLabel("Legal name", { exact: true })).toHaveValue("Grace Hopper");
});
