import { join } from "node:path";
import type { Page } from "@playwright/test";
import { first, openAccountMenu, signUp } from "../fixtures/accounts.ts";
import { Chat } from "../fixtures/chat.ts";
import { List } from "../fixtures/list.ts";
import { alive, expect, open, test } from "../fixtures/test.ts";

test.use({ serverOptions: { config: join(import.meta.dirname, "../configs/accounts.yaml") } });

// Two browsers and password hashing are slow.
test.describe.configure({ timeout: 120_000 });

/** Lets the browser keep what is read. */
async function turnOn(page: Page): Promise<void> {
  await page.goto("/auth/account");
  await page.getByRole("button", { name: "Keep what I read on this device" }).click();
  await expect(page.getByText("The conversations that you open are kept on this device.")).toBeVisible();
}

/** The titles of the conversations that are kept; null if keeping is off. */
const titles = (page: Page) =>
  page.evaluate(async () => {
    if (!(await caches.has("cw-kept"))) return null;
    const index = await (await caches.match("/assets/lazy/kept.json", { cacheName: "cw-kept" }))?.json();
    return (index?.pages as { title: string }[] | undefined)?.map(({ title }) => title) ?? null;
  });

/** Asks in a new conversation, and waits until the whole of it is kept. Returns its address. */
async function read(page: Page, text: string): Promise<string> {
  await open(page, "/support");
  await new Chat(page).ask(text);
  const isWhole = async () => {
    const response = await page.evaluate(async () => (await caches.match(location.href, { cacheName: "cw-kept" }))?.text());
    return response?.includes("this same chat answers anything");
  };
  await expect.poll(isWhole, { timeout: 20_000 }).toBe(true);
  // The index is written after the page, within this lock.
  await page.evaluate(() => navigator.locks.request("cw-kept", () => undefined));
  return page.url();
}

test("what was read stays readable without a connection, until the user signs out", async ({ page, server, context, console }) => {
  console.expect(/ERR_INTERNET_DISCONNECTED|ERR_FAILED|status of 503|Failed to fetch|network/i);
  await first(page, server);
  await open(page, "/support");
  expect(await titles(page)).toBeNull();
  await turnOn(page);
  expect(await titles(page)).toEqual([]);
  const apples = await read(page, "Apples are red");
  const pears = await read(page, "Pears are <b>green</b>");
  expect(await titles(page)).toEqual(["Apples are red · Support", "Pears are <b>green</b> · Support"]);

  await context.setOffline(true);
  // The rest of the query does not matter.
  await page.goto(`${apples}&from=elsewhere`);
  const chat = new Chat(page);
  await expect(chat.answers).toContainText(["Apples are red is beyond me"]);
  await expect(page.getByText(/^Offline: as it was read on \d+ \w+, \d\d:\d\d$/)).toBeVisible();
  await expect(page.locator("form.cw-composer textarea")).toBeDisabled();
  // The style sheets are there as well.
  await expect(page.locator("form.cw-composer")).toHaveCSS("visibility", "hidden");
  expect(await page.evaluate(() => getComputedStyle(document.documentElement).getPropertyValue("--cw-space-4"))).not.toBe("");
  await page.goto("/support?conversation=never-read");
  await expect(page.getByRole("heading", { name: "The server cannot be reached" })).toBeVisible();
  await expect(page.getByRole("listitem")).toHaveText(["Pears are <b>green</b> · Support", "Apples are red · Support"]);
  await page.getByRole("link", { name: "Pears" }).click();
  await expect(page).toHaveURL(pears);
  await expect(chat.answers).toContainText(["Pears are <b>green</b> is beyond me"]);

  await context.setOffline(false);
  // Conversations that are deleted here are not kept either: by a program in the page, and in the list.
  const id = new URL(await read(page, "Plums are blue")).searchParams.get("conversation");
  expect(await titles(page)).toHaveLength(3);
  expect(await page.evaluate(async (id) => (await fetch(`/api/conversations/${id}`, { method: "DELETE" })).status, id)).toBe(204);
  await expect.poll(() => titles(page)).toHaveLength(2);
  await page.goto(apples);
  await alive(page);
  await new List(page).menu("Pears", "Delete");
  await expect.poll(() => titles(page)).toEqual(["Apples are red · Support"]);
  await openAccountMenu(page);
  await page.getByRole("button", { name: "Sign out", exact: true }).click();
  await expect(page.getByRole("heading", { name: "Sign in" })).toBeVisible();
  expect(await page.evaluate(() => caches.keys())).toEqual([]);
  await context.setOffline(true);
  await page.goto(apples);
  await expect(page.getByRole("heading", { name: "The server cannot be reached" })).toBeVisible();
  await expect(page.getByText("Apples")).toHaveCount(0);
});

test("a page is kept for 30 days", async ({ page, server, context, console }) => {
  console.expect(/ERR_INTERNET_DISCONNECTED|ERR_FAILED|status of 503|Failed to fetch|network/i);
  await first(page, server);
  await turnOn(page);
  const apples = await read(page, "Apples are red");
  await read(page, "Pears are green");
  /** Makes the first kept page this many days old. */
  const age = (days: number) =>
    page.evaluate(
      (days) =>
        navigator.locks.request("cw-kept", async () => {
          const cache = await caches.open("cw-kept");
          const index = (await (await cache.match("/assets/lazy/kept.json"))?.json()) as { pages: { at: number }[] };
          index.pages.forEach((kept, number) => (kept.at = Date.now() - (number === 0 ? days : 0) * 86_400_000));
          await cache.put("/assets/lazy/kept.json", Response.json(index));
        }),
      days,
    );
  const isStored = () => page.evaluate(async (url) => (await caches.match(url, { cacheName: "cw-kept" })) !== undefined, apples);
  await age(29);
  await context.setOffline(true);
  await page.goto(apples);
  await expect(new Chat(page).answers).toContainText(["Apples are red is beyond me"]);
  await age(31);
  await page.goto(apples);
  await expect(page.getByRole("heading", { name: "The server cannot be reached" })).toBeVisible();
  await expect(page.getByRole("listitem")).toHaveText(["Pears are green · Support"]);
  await expect.poll(isStored).toBe(false);
  expect(await titles(page)).toEqual(["Pears are green · Support"]);

  // A kept page that is too old is also removed when a page of the server is opened.
  await context.setOffline(false);
  await read(page, "Plums are blue");
  await page.goto("/auth/account");
  await age(31);
  await page.goto("/support");
  await expect.poll(() => titles(page)).toEqual(["Plums are blue · Support"]);
});

test("another user of the browser finds nothing, and switching off removes what was kept", async ({ page, server, browser, context }) => {
  await first(page, server);
  await turnOn(page);
  await read(page, "Apples are red");
  const other = await browser.newContext({ baseURL: server.url });
  await signUp(await other.newPage(), "bob");
  // Signed in without a sign-out, and without the page of signing in.
  await context.clearCookies();
  await context.addCookies(await other.cookies());
  await other.close();
  await open(page, "/support");
  await expect.poll(() => titles(page)).toBeNull();

  await turnOn(page);
  // As many as are kept at most, and one more.
  await page.evaluate(async () => {
    const cache = await caches.open("cw-kept");
    const page = (_: unknown, number: number) => ({ url: `/support?conversation=${number}`, title: `${number}`, at: Date.now(), size: 10 });
    const pages = Array.from({ length: 50 }, page);
    for (const { url } of pages) await cache.put(url, new Response("an earlier page"));
    await cache.put("/assets/lazy/kept.json", Response.json({ reader: null, pages }));
  });
  await read(page, "Pears are green");
  const kept = await titles(page);
  expect([kept?.length, kept?.at(0), kept?.at(-1)]).toEqual([50, "1", "Pears are green · Support"]);
  expect(await page.evaluate(async () => (await caches.match("/support?conversation=0")) === undefined)).toBe(true);
  await page.goto("/auth/account");
  await page.getByRole("button", { name: "Stop, and remove what is kept" }).click();
  await expect(page.getByText("Nothing is kept on this device.")).toBeVisible();
  expect(await page.evaluate(() => caches.keys())).toEqual([]);

  // A session that has expired, or was ended elsewhere: the server leads from the next page to the sign-in.
  await turnOn(page);
  await context.clearCookies();
  await page.goto("/support");
  await expect(page.getByRole("heading", { name: "Sign in" })).toBeVisible();
  await expect.poll(() => page.evaluate(() => caches.keys())).toEqual([]);
});
