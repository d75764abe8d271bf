import { join } from "node:path";
import type { Page } from "@playwright/test";
import { ROOT, picture } from "../fixtures/picture.ts";
import { expect, test } from "../fixtures/test.ts";

test.use({ serverOptions: { config: join(ROOT, "end2end/configs/hebrew.yaml") } });

async function openHebrew(page: Page, path: string): Promise<void> {
  await page.goto(path);
  const composer = page.getByRole("textbox", { name: "הודעה", exact: true });
  await expect(async () => {
    await composer.fill("hello");
    await expect(page.getByRole("button", { name: "שליחה" })).toBeEnabled({ timeout: 500 });
  }).toPass();
  await composer.fill("");
}

async function ask(page: Page, text: string): Promise<void> {
  const composer = page.getByRole("textbox", { name: "הודעה", exact: true });
  await composer.fill(text);
  await composer.press("Enter");
  await expect(page.getByRole("article", { name: "סוכן" }).last()).toBeVisible();
  await expect(page.getByRole("button", { name: "עצירה" })).toHaveCount(0, { timeout: 30_000 });
}

test("everything from the right", async ({ page }, info) => {
  await openHebrew(page, "/");
  await picture(page, info, "rtl-welcome");
  await ask(page, "What do you know about refunds?");
  await page.getByRole("article", { name: "סוכן" }).last().locator("summary").first().click();
  await picture(page, info, "rtl-tool");
  await page.getByRole("button", { name: "תשובה מחדש" }).click();
  await expect(page.getByRole("button", { name: "עצירה" })).toHaveCount(0, { timeout: 30_000 });
  await page.getByRole("button", { name: "תשובה לא טובה" }).first().click();
  await picture(page, info, "rtl-feedback");
  await ask(page, "Delete the article about refunds");
  await picture(page, info, "rtl-approval");
  await page.getByRole("group", { name: /^אישור/ }).getByRole("button", { name: "דחייה" }).click();
  await expect(page.getByRole("button", { name: "עצירה" })).toHaveCount(0, { timeout: 30_000 });
  await ask(page, "Ask me with a form");
  await picture(page, info, "rtl-question");
  const conversations = page.getByRole("button", { name: "שיחות" });
  if (await conversations.isVisible()) await conversations.click();
  await page.getByRole("button", { name: /^אפשרויות עבור/ }).first().click();
  await picture(page, info, "rtl-list");
  await page.getByRole("menuitem", { name: "שיתוף…" }).click();
  await page.getByRole("button", { name: "יצירת קישור" }).click();
  await picture(page, info, "rtl-share");
  await page.goto("/drawer");
  await page.getByRole("button", { name: "צ׳אט" }).click();
  await picture(page, info, "rtl-drawer");
});
