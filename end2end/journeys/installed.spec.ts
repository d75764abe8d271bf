import { join } from "node:path";
import type { Page } from "@playwright/test";
import { expect, test } from "../fixtures/test.ts";

test.use({ serverOptions: { config: join(import.meta.dirname, "../configs/workflows.yaml") } });

const KEY = { authorization: "Bearer a-key-of-the-shop-1234" };

/** Makes the page think that it was installed as an app, and records what its icon shows. */
async function install(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const { matchMedia } = window;
    window.matchMedia = (query) => matchMedia(query.includes("display-mode") ? "all" : query);
    const setAppBadge = (count: unknown) => Promise.resolve(Object.assign(window, { badge: Number(count) }));
    Object.defineProperty(navigator, "setAppBadge", { value: setAppBadge });
  });
}

test("the icon of an installed page shows how much waits for the user", async ({ page }) => {
  await install(page);
  await page.goto("/tasks");
  const badge = () => page.evaluate(() => (window as unknown as { badge?: number }).badge);
  await expect.poll(badge).toBe(0);
  const sent = await page.request.post("/api/hooks/order/arrived", { headers: KEY, data: { text: "customer: Acme, amount: 620" } });
  expect(sent.status()).toBe(202);
  await expect(page).toHaveTitle("(1) Tasks", { timeout: 40_000 });
  await expect.poll(badge).toBe(1);
});

test("an installed page says that the server cannot be reached, and can be opened again later", async ({ page, context, console }) => {
  console.expect(/ERR_INTERNET_DISCONNECTED|ERR_FAILED|status of 503|Failed to fetch|network/i);
  await install(page);
  await page.goto("/tasks");
  await expect.poll(() => page.evaluate(() => navigator.serviceWorker.controller !== null)).toBe(true);
  await context.setOffline(true);
  await page.goto("/tasks?again");
  await expect(page.getByRole("heading", { name: "The server cannot be reached" })).toBeVisible();
  await expect(page.getByText("Your drafts are kept in this browser.")).toBeVisible();
  await context.setOffline(false);
  await page.getByRole("link", { name: "Try again" }).click();
  await expect(page.getByRole("heading", { name: "Tasks" }).first()).toBeVisible();
  expect(new URL(page.url()).search).toBe("?again");
  // The worker has stored nothing.
  expect(await page.evaluate(() => caches.keys())).toEqual([]);
});
