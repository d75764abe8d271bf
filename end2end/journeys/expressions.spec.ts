import { join } from "node:path";
import type { Page } from "@playwright/test";
import { expect, test } from "../fixtures/test.ts";

test.use({ serverOptions: { config: join(import.meta.dirname, "../configs/expressions.yaml") } });

const AT_FIRST = ["sum 7", "Dear ADA, 0;1;2;", "nothing", "few", "2.5 3 1.0 0.30000000000000004"];

/** The titles that are not empty. */
async function titles(page: Page): Promise<string[]> {
  const all = await page.locator("h2.cw-title").allTextContents();
  return all.map((title) => title.trim()).filter((title) => title !== "");
}

test("the server and the browser compute the same", async ({ page, browser, baseURL }) => {
  const unscripted = await browser.newContext({ javaScriptEnabled: false });
  const rendered = await unscripted.newPage();
  await rendered.goto(`${baseURL}/`);
  expect(await titles(rendered)).toEqual(AT_FIRST);
  await unscripted.close();

  await page.goto("/");
  await expect(page.getByText("started")).toBeVisible();
  expect(await titles(page)).toEqual(AT_FIRST);
  await page.getByRole("spinbutton", { name: "Seats" }).fill("6");
  await page.getByRole("textbox", { name: "Your name" }).fill("Grace");
  await expect(page.getByText("Grace takes 6")).toBeVisible();
  expect(await titles(page)).toEqual([
    "sum 13",
    "Dear GRACE, 0;1;2;3;4;5;",
    "nothing",
    "many",
    "2.5 3 2.0 0.30000000000000004",
  ]);
});

test("actions evaluate expressions and show their errors", async ({ page }) => {
  await page.goto("/?seats=9");
  await expect(page.getByText("started")).toBeVisible();
  await page.getByRole("button", { name: "Add to 9" }).click();
  const messages = page.getByRole("list", { name: "Messages" });
  await expect(messages).toContainText("10 seats");
  await page.getByRole("button", { name: "Add to 10" }).click();
  await expect(messages).toContainText("An expression in an action of this page is invalid");
});

test("only a page with expressions loads the chunk for them", async ({ page }) => {
  const loaded: string[] = [];
  page.on("request", (request) => loaded.push(request.url()));
  await page.goto("/plain");
  await expect(page.getByRole("heading", { name: "Hello" })).toBeVisible();
  await page.waitForLoadState("networkidle");
  expect(loaded.filter((url) => url.includes("/expressions-"))).toEqual([]);
  await page.goto("/sums");
  await expect(page.getByText("started")).toBeVisible();
  expect(loaded.filter((url) => url.includes("/expressions-"))).toHaveLength(1);
});
