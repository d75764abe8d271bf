import { join } from "node:path";
import { expect, test } from "../fixtures/test.ts";

test.use({ serverOptions: { config: join(import.meta.dirname, "../configs/hebrew.yaml") } });

test("an installed page says in its language that the server cannot be reached", async ({ page, context, console }) => {
  console.expect(/ERR_INTERNET_DISCONNECTED|ERR_FAILED|status of 503|Failed to fetch|network/i);
  await page.addInitScript(() => {
    const { matchMedia } = window;
    window.matchMedia = (query) => matchMedia(query.includes("display-mode") ? "all" : query);
  });
  await page.goto("/");
  await expect.poll(() => page.evaluate(() => navigator.serviceWorker.controller !== null)).toBe(true);
  await context.setOffline(true);
  await page.goto("/?again");
  await expect(page.getByRole("heading", { name: "אין חיבור לרשת" })).toBeVisible();
  await expect(page.locator("html[lang=he][dir=rtl]")).toHaveCount(1);
  await context.setOffline(false);
  await page.getByRole("link", { name: "טעינה מחדש" }).click();
  await expect(page.locator("form.cw-composer").first()).toBeVisible();
});
