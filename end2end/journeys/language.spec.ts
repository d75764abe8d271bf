import { join } from "node:path";
import { type Locator, type Page, expect as baseExpect } from "@playwright/test";
import { Chat } from "../fixtures/chat.ts";
import { expect, open, test } from "../fixtures/test.ts";
import { HEBREW, beginning } from "../fixtures/words.ts";

test.use({ serverOptions: { config: join(import.meta.dirname, "../configs/hebrew.yaml") } });

/** UI texts without a Hebrew letter; texts of users, agents and the config are ignored. */
async function foreign(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const found: string[] = [];
    const look = (words: string | null | undefined) => {
      if (words && /[A-Za-z]{3}/.test(words) && !/[\u05d0-\u05ea]/.test(words)) found.push(words);
    };
    const own = ".cw-message-body, [aria-live], .cw-conversation-title, .cw-prompt, .cw-suggestion, .cw-commands, .cw-bar-title, code, pre, dd, [data-own]";
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walk.nextNode(); node; node = walk.nextNode()) {
      const around = node.parentElement;
      if (around && !around.closest(own) && !around.closest("script, style, textarea, select[class*=control] option[value]:not([value=''])")) look(node.textContent?.trim());
    }
    for (const element of document.querySelectorAll("[aria-label], [title], [placeholder]")) {
      for (const name of ["aria-label", "title", "placeholder"]) look(element.getAttribute(name));
    }
    return found;
  });
}

test("the page, the list and the chat are in Hebrew and right-to-left", async ({ page }) => {
  await open(page, "/", HEBREW);
  const chat = new Chat(page, HEBREW);
  await expect(page.locator("html")).toHaveAttribute("lang", "he");
  await expect(page.locator("html")).toHaveAttribute("dir", "rtl");
  await expect(page.getByRole("heading", { name: "איך אפשר לעזור?" })).toBeVisible();
  expect(await foreign(page)).toEqual([]);
  // The list is on the right, where lines begin, and the form in the middle.
  const at = async (label: string, role: "navigation" | "region") => (await page.getByRole(role, { name: label, exact: true }).boundingBox())!.x;
  expect(await at("שיחות", "navigation")).toBeGreaterThan(await at("צ׳אט", "region"));
  await chat.ask("What do you know about refunds?");
  await expect(page.getByText("בוצע").first()).toBeVisible();
  await expect(page.getByRole("button", { name: "תשובה טובה" })).toBeVisible();
  expect(await foreign(page)).toEqual([]);
  await chat.answers.getByRole("button", { name: "עוד", exact: true }).click();
  await expect(page.getByRole("menuitem", { name: "העתקה כטקסט" })).toBeVisible();
  await page.keyboard.press("Escape");
  await chat.ask("Delete the article about refunds");
  await expect(chat.approval.getByRole("button", { name: "דחייה" })).toBeVisible();
  await chat.approval.getByRole("button", { name: "אישור", exact: true }).click();
  await expect(chat.approval).toHaveCount(0);
  await chat.idle();
  // Chunks that are loaded later and the server-rendered page use the same texts.
  await page.getByRole("button", { name: beginning(HEBREW.optionsFor) }).first().click();
  await expect(page.getByRole("menuitem", { name: "שיתוף…" })).toBeVisible();
  await page.getByRole("menuitem", { name: "שיתוף…" }).click();
  await expect(page.getByRole("heading", { name: "שיתוף עותק" })).toBeVisible();
  expect(await foreign(page)).toEqual([]);
});

test("inputs show text in its own direction, and empty ones in the page's", async ({ page }) => {
  await open(page, "/", HEBREW);
  const direction = (field: Locator) => field.evaluate((field) => getComputedStyle(field).direction);
  const search = page.getByRole("searchbox");
  const inputs = [search, page.locator(".cw-field input[type=text]").first(), page.locator(".cw-field textarea").first()];
  for (const input of inputs) {
    expect(await direction(input)).toBe("rtl");
    await input.fill("Written by the assistant.");
    expect(await direction(input)).toBe("ltr");
    await input.fill("שלום.");
    expect(await direction(input)).toBe("rtl");
    await input.fill("12");
    expect(await direction(input)).toBe("rtl");
  }
  await search.fill("");
});

test("errors and validation messages are in Hebrew", async ({ page, console }) => {
  console.expect(/status of 404/);
  const missing = await page.goto("/nowhere");
  baseExpect(missing?.status()).toBe(404);
  await expect(page.getByText("הדף הזה אינו זמין").or(page.getByText("אין כאן דף"))).toBeVisible();
  await open(page, "/", HEBREW);
  await page.goto("/support?conversation=of-somebody-else");
  await expect(page.getByText("השיחה אינה קיימת, או שאינה שלך.")).toBeVisible();
});

test("a block can have its own language and texts", async ({ page }) => {
  await page.goto("/english");
  const chat = page.getByRole("region", { name: "Chat with the agent" });
  await expect(chat).toHaveAttribute("lang", "en");
  await expect(chat).toHaveAttribute("dir", "ltr");
  await expect(page.getByRole("link", { name: "דף הבית" })).toBeVisible();
  const composer = chat.getByRole("textbox", { name: "Message" });
  const send = chat.getByRole("button", { name: "Off it goes" });
  await expect(async () => {
    await composer.fill("count to 3");
    await expect(send).toBeEnabled({ timeout: 500 });
  }).toPass();
  await send.click();
  // Without the time of day below it.
  await expect(chat.getByRole("article", { name: "Agent" }).locator(".cw-message-body")).toContainText("3");
  await expect(chat.getByRole("button", { name: "Good answer" })).toBeVisible({ timeout: 30_000 });
});
