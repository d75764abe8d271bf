import { join } from "node:path";
import type { Page } from "@playwright/test";
import { accessible, fits } from "../fixtures/axe.ts";
import { Chat } from "../fixtures/chat.ts";
import { alive, expect, open, test } from "../fixtures/test.ts";

test.use({ serverOptions: { config: join(import.meta.dirname, "../configs/models.yaml") } });

const list = (page: Page) => page.getByRole("combobox", { name: "Model" });
const think = (page: Page) => page.getByRole("button", { name: "Think", exact: true });

/** The models that answered in the conversation, and whether they thought, as the server has them. */
async function answered(page: Page): Promise<string[]> {
  const id = new URL(page.url()).searchParams.get("conversation");
  const view = (await (await page.request.get(`/api/conversations/${id}`)).json()) as {
    messages: { role: string; metadata: { model: string; thinking: boolean } }[];
  };
  const answers = view.messages.filter(({ role }) => role === "assistant");
  return answers.map(({ metadata: { model, thinking } }) => `${model} ${thinking}`);
}

test("the user chooses the model and lets it think, and the conversation keeps both", async ({ page }) => {
  await open(page, "/chooser");
  const chat = new Chat(page);
  await expect(list(page)).toHaveValue("quick");
  await expect(think(page)).toHaveCount(0);
  await chat.ask("Hello");

  // With the keyboard, before the next message: both survive a reload.
  await list(page).focus();
  await page.keyboard.press("ArrowDown");
  await expect(list(page)).toHaveValue("thorough");
  await expect(think(page)).toHaveAttribute("aria-pressed", "false");
  await think(page).press("Enter");
  await expect(think(page)).toHaveAttribute("aria-pressed", "true");
  await accessible(page);
  await page.reload();
  await alive(page);
  await expect(list(page)).toHaveValue("thorough");
  await expect(think(page)).toHaveAttribute("aria-pressed", "true");
  await chat.ask("Hello");
  expect(await answered(page)).toEqual(["demo/demo-quick false", "demo/demo-thorough true"]);

  // In another browser, which has chosen nothing.
  const other = await page.context().browser()!.newContext({ baseURL: new URL(page.url()).origin });
  const elsewhere = await other.newPage();
  await elsewhere.goto(page.url());
  await alive(elsewhere);
  await expect(list(elsewhere)).toHaveValue("thorough");
  await expect(think(elsewhere)).toHaveAttribute("aria-pressed", "true");
  await list(elsewhere).selectOption("quick");
  await expect(think(elsewhere)).toHaveCount(0);
  await new Chat(elsewhere).ask("Hello");
  // The first page shows what was chosen there.
  await page.reload();
  await alive(page);
  await expect(list(page)).toHaveValue("quick");
  await other.close();

  // A new conversation begins with the default; the old one has its own.
  await list(page).selectOption("thorough");
  await page.getByRole("link", { name: "New conversation" }).click();
  await expect(list(page)).toHaveValue("quick");
  await page.getByRole("link", { name: /Hello/ }).click();
  await expect(list(page)).toHaveValue("thorough");
});

test("only what can be chosen is shown, and a phone has room for it", async ({ page }) => {
  await page.setViewportSize({ width: 360, height: 740 });
  await open(page, "/thinker");
  const chat = new Chat(page);
  await expect(think(page)).toBeVisible();
  await expect(list(page)).toHaveCount(0);
  await think(page).click();
  await chat.ask("Hello");
  expect(await answered(page)).toEqual(["demo/demo-thorough true"]);
  await open(page, "/plain");
  await expect(new Chat(page).composer).toBeVisible();
  await expect(think(page)).toHaveCount(0);
  await expect(list(page)).toHaveCount(0);
  await open(page, "/chooser");
  await list(page).selectOption("thorough");
  await expect(think(page)).toBeVisible();
  await fits(page);
  await accessible(page);
});

test("the code of the list is not loaded where there is nothing to choose", async ({ page }) => {
  const loaded: string[] = [];
  page.on("request", (request) => loaded.push(request.url()));
  await open(page, "/plain");
  await new Chat(page).ask("Hello");
  expect(loaded.filter((url) => /models/.test(url))).toEqual([]);
  await open(page, "/chooser");
  await expect(list(page)).toBeVisible();
  expect(loaded.filter((url) => /models/.test(url))).not.toEqual([]);
});
