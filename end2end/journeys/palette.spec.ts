import { join } from "node:path";
import type { Page } from "@playwright/test";
import { accessible, fits } from "../fixtures/axe.ts";
import { Chat } from "../fixtures/chat.ts";
import { forReview } from "../fixtures/review.ts";
import { expect, open, test } from "../fixtures/test.ts";

test.use({ serverOptions: { config: join(import.meta.dirname, "../configs/home.yaml") } });

const palette = (page: Page) => page.getByRole("dialog", { name: "Command palette" });
const field = (page: Page) => palette(page).getByRole("combobox");
const options = (page: Page) => palette(page).getByRole("option");
/** Opens the palette; its code is loaded the first time. */
async function opened(page: Page): Promise<void> {
  // A page that has just been opened does not hear the keys yet.
  await expect(async () => {
    if (!(await field(page).isVisible())) await page.keyboard.press("Control+k");
    await expect(field(page)).toBeFocused({ timeout: 2_000 });
  }).toPass();
}

const selected = (page: Page) => palette(page).getByRole("option", { selected: true });

test("the palette starts a conversation with another agent, and goes back to one", async ({ page }) => {
  await open(page, "/writer");
  const chat = new Chat(page);
  await chat.send("Shorten this letter");
  await expect(chat.log.getByRole("article", { name: "Writer" })).toHaveCount(1);
  await chat.idle();
  await opened(page);
  await expect(options(page).first()).toHaveText("Shorten this letter");
  await expect(selected(page)).toHaveText("Shorten this letter");
  await expect(palette(page).getByRole("group")).toHaveCount(4);
  await expect(options(page).filter({ hasText: "Ledger" })).toHaveCount(0);
  await accessible(page);
  await fits(page);
  await forReview(page, "palette");

  await page.keyboard.type("supp");
  await expect(selected(page)).toHaveText(/^New conversation with Support/);
  const [active, id] = [await field(page).getAttribute("aria-activedescendant"), await selected(page).getAttribute("id")];
  expect(active).toBe(id);
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\/help$/);
  await expect(palette(page)).toHaveCount(0);
  await expect(chat.composer).toBeFocused();
  await expect(chat.answers).toHaveCount(0);
  await chat.ask("Where is my parcel?");

  // The conversation of the other page, by its title.
  await opened(page);
  await page.keyboard.type("LETTER");
  await expect(selected(page)).toHaveText("Shorten this letter");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\/writer\?conversation=/);
  await expect(chat.log).toContainText("Shorten this letter");
});

test("the palette finds words in messages and marks them", async ({ page }) => {
  await open(page, "/help");
  const chat = new Chat(page);
  await chat.ask("One thing");
  await chat.ask("The invoice number is 4711");
  await page.getByRole("link", { name: "New conversation" }).click();
  await opened(page);
  await page.keyboard.type("invoice number");
  await expect(selected(page)).toHaveText("One thing");
  await page.keyboard.press("Enter");
  await expect(chat.log.locator("[data-found]")).toContainText("invoice number");
});

test("keys move the selection, and the focus returns", async ({ page }) => {
  await open(page, "/writer");
  const chat = new Chat(page);
  await chat.composer.focus();
  await opened(page);
  await expect(options(page).filter({ hasText: "Keyboard shortcuts" })).toBeVisible();
  await expect(options(page).filter({ hasText: "Writer" })).toHaveCount(1);
  const height = (await palette(page).boundingBox())?.height;
  const all = await options(page).allInnerTexts();
  await page.keyboard.press("ArrowUp");
  await expect(selected(page)).toHaveText(all.at(-1)!);
  await expect(selected(page)).toBeInViewport();
  await page.keyboard.press("ArrowDown");
  await expect(selected(page)).toHaveText(/^New conversation with Support/);
  await page.keyboard.type("xyzzy");
  await expect(palette(page).getByRole("status")).toHaveText("Nothing found.");
  // The size of the palette does not change.
  expect((await palette(page).boundingBox())?.height).toBe(height);
  await page.keyboard.press("Escape");
  await expect(palette(page)).toHaveCount(0);
  await expect(chat.composer).toBeFocused();

  // Again, with an empty field; and the shortcut closes it, too.
  await opened(page);
  await expect(field(page)).toHaveValue("");
  await page.keyboard.press("Control+k");
  await expect(palette(page)).toHaveCount(0);
  await expect(chat.composer).toBeFocused();
});

test("the question mark lists all shortcuts, but not while typing", async ({ page }) => {
  await open(page, "/writer");
  const chat = new Chat(page);
  const list = page.getByRole("dialog", { name: "Keyboard shortcuts" });
  await chat.composer.focus();
  await page.keyboard.press("?");
  await expect(chat.composer).toHaveValue("?");
  await chat.composer.fill("");
  const start = page.getByRole("link", { name: "Start page" });
  await start.focus();
  await page.keyboard.press("?");
  await expect(list.getByRole("heading", { level: 3 })).toHaveText(["Anywhere", "In the chat", "In the list of conversations"]);
  await accessible(page);
  await forReview(page, "shortcuts");
  await page.keyboard.press("Escape");
  await expect(list).toHaveCount(0);
  await expect(start).toBeFocused();

  // From the palette, too.
  await opened(page);
  await page.keyboard.type("shortcuts");
  await page.keyboard.press("Enter");
  await expect(list).toBeVisible();
  await expect(palette(page)).toHaveCount(0);
});

test("the button opens the palette on a phone, and commands work", async ({ page }) => {
  await page.setViewportSize({ width: 360, height: 740 });
  await open(page, "/writer");
  await page.getByRole("button", { name: "Search and commands" }).click();
  await fits(page);
  await accessible(page);
  await options(page).filter({ hasText: "Theme: system. Switch to light" }).click();
  await expect(page.locator("html")).toHaveAttribute("data-theme", "light");
  await page.getByRole("button", { name: "Search and commands" }).click();
  await options(page).filter({ hasText: "Opening hours" }).click();
  await expect(page).toHaveURL(/\/hours$/);
  // A page without a chat has it as well.
  await opened(page);
  await options(page).filter({ hasText: "Go to the start page" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Assistants of Acme");
});
