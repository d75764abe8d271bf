import { join } from "node:path";
import type { Page } from "@playwright/test";
import { Chat } from "../fixtures/chat.ts";
import { Line } from "../fixtures/line.ts";
import { expect, open, test } from "../fixtures/test.ts";

test.use({ serverOptions: { config: join(import.meta.dirname, "../configs/hand-over.yaml") } });

/** Longer than other tabs wait for the asking tab to act on an event. */
const COURTESY_MS = 5_000;

/** The page's notes so far, sorted, since the order of actions is not fixed. */
async function notes(page: Page, url: string): Promise<string[]> {
  const answer = await page.request.post(`${url}/api/endpoints/desk/notes`, { data: {} });
  expect(answer.ok()).toBe(true);
  const body = (await answer.json()) as { all: { kind: string; about: string }[] };
  return body.all.map(({ kind, about }) => `${kind} ${about.toLowerCase()}`).sort();
}

/** The id of the conversation that a tab shows. */
function conversation(page: Page): string {
  return new URL(page.url()).searchParams.get("conversation")!;
}

/** Whether the conversation has a running answer. */
async function running(page: Page, url: string, id: string): Promise<boolean> {
  const answer = await page.request.get(`${url}/api/conversations/${id}`);
  return ((await answer.json()) as { running: boolean }).running;
}

test("one of two tabs with the same conversation acts on an event", async ({ page, context, server }) => {
  await open(page);
  const chat = new Chat(page);
  await chat.ask("hello");
  await expect.poll(() => notes(page, server.url)).toEqual(["complete done stop false"]);
  const other = await context.newPage();
  await open(other, new URL(page.url()).pathname + new URL(page.url()).search);
  const second = new Chat(other);
  await chat.ask("search for nothing");
  await expect(second.answers).toHaveCount(2);
  await second.idle();
  const expected = ["call search", "complete done stop false", "complete done stop false", "result search"];
  await expect.poll(() => notes(page, server.url)).toEqual(expected);
  await page.waitForTimeout(COURTESY_MS);
  expect(await notes(page, server.url)).toEqual(expected);
  // Loading an existing conversation emits no events.
  for (const tab of [page, other]) await tab.reload();
  await expect(second.answers).toHaveCount(2);
  await page.waitForTimeout(COURTESY_MS);
  expect(await notes(page, server.url)).toEqual(expected);
});

test("another tab acts when the tab that asked is closed", async ({ page, context, server }) => {
  await open(page);
  await new Chat(page).startCounting(300, 3);
  const other = await context.newPage();
  await other.goto(page.url());
  const second = new Chat(other);
  await expect.poll(() => second.counted()).toBeGreaterThan(5);
  await page.close();
  await expect(second.answers.last()).toContainText("That was all.", { timeout: 30_000 });
  await expect.poll(() => notes(other, server.url), { timeout: 15_000 }).toEqual(["complete done stop false"]);
});

test("an answer that ends while the connection is lost is acted on once it is back", async ({ page, server, console }) => {
  console.expect(/Failed to load resource|ERR_|Failed to fetch|net::|network error/i);
  const line = await Line.to(server.url);
  try {
    await page.goto(`${line.url}/`);
    const chat = new Chat(page);
    await expect(async () => {
      if ((await chat.answers.count()) === 0) await chat.send("count to 300");
      await expect(chat.answers).toHaveCount(1, { timeout: 2_000 });
    }).toPass();
    await expect.poll(() => chat.counted()).toBeGreaterThan(3);
    const id = conversation(page);
    line.cut();
    await expect.poll(() => running(page, server.url, id), { timeout: 30_000 }).toBe(false);
    expect(await notes(page, server.url)).toEqual([]);
    line.mend();
    await expect(chat.answers.last()).toContainText("That was all.", { timeout: 30_000 });
    await expect.poll(() => notes(page, server.url)).toEqual(["complete done stop true"]);
    await page.reload();
    await expect(chat.answers.last()).toContainText("That was all.");
    await page.waitForTimeout(COURTESY_MS);
    expect(await notes(page, server.url)).toEqual(["complete done stop true"]);
  } finally {
    line.close();
  }
});

test("events are acted on once after a reload and after leaving the page", async ({ page, context, server }) => {
  await open(page);
  const chat = new Chat(page);
  await chat.startCounting(300, 3);
  await page.reload();
  await expect(chat.answers.last()).toContainText("That was all.", { timeout: 30_000 });
  await expect.poll(() => notes(page, server.url)).toEqual(["complete done stop false"]);
  await chat.startCounting(300, 3);
  const [address, id] = [page.url(), conversation(page)];
  await page.goto("about:blank");
  await expect.poll(() => running(page, server.url, id), { timeout: 30_000 }).toBe(false);
  // A tab that loads the finished answer does not act on its events.
  const other = await context.newPage();
  await other.goto(address);
  await expect(new Chat(other).answers.last()).toContainText("That was all.", { timeout: 30_000 });
  await page.waitForTimeout(COURTESY_MS);
  expect(await notes(other, server.url)).toHaveLength(1);
  // The tab that asked does, once.
  await page.goto(address);
  await expect.poll(() => notes(page, server.url)).toEqual(["complete done stop false", "complete done stop true"]);
});
