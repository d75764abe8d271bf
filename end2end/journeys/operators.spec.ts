import { join } from "node:path";
import type { Page } from "@playwright/test";
import { expect, test } from "../fixtures/test.ts";

test.use({ serverOptions: { config: join(import.meta.dirname, "../configs/operators.yaml") } });

/** The examples whose result is not the documented one. */
async function wrong(page: Page): Promise<string[]> {
  const all = await page.locator("h2.cw-title").allTextContents();
  expect(all.length).toBeGreaterThan(250);
  return all.slice(1).map((title) => title.trim()).filter((title) => title !== "ok");
}

/** Opens the page and waits until the browser has taken it over. */
async function open(page: Page): Promise<void> {
  await page.goto("/");
  await expect(page.getByText("started", { exact: true })).toBeVisible();
}

test("every example has its documented result on the server", async ({ browser, baseURL }) => {
  const unscripted = await browser.newContext({ javaScriptEnabled: false });
  const rendered = await unscripted.newPage();
  await rendered.goto(`${baseURL}/?go=yes`);
  expect(await wrong(rendered)).toEqual([]);
  await unscripted.close();
});

test("every example has its documented result in the browser", async ({ page }) => {
  await open(page);
  await expect(page.getByText("waiting").first()).toBeVisible();
  await page.getByRole("textbox", { name: "Go" }).fill("yes");
  await expect(page.getByText("waiting")).toHaveCount(0);
  expect(await wrong(page)).toEqual([]);
});

test("actions have a clock and random values", async ({ page }) => {
  await open(page);
  await page.getByRole("button", { name: "Draw" }).click();
  await expect(page.getByRole("heading", { name: "drawn", exact: true })).toBeVisible();
});
