import { join } from "node:path";
import type { Page } from "@playwright/test";
import { Chat } from "../fixtures/chat.ts";
import { Line } from "../fixtures/line.ts";
import { expect, open, test } from "../fixtures/test.ts";

test.use({ serverOptions: { config: join(import.meta.dirname, "../configs/hand-over.yaml") } });

/** Longer than a tab that has not asked leaves an event to the tab that has. */
const COURTESY_MS = 5_000;

/** What the page has noted so far, in the order of letters: actions do not wait for each other. */
async function notes(page: Page, url: string): Promise<string[]> {
  const answer = await page.request.post(`${url}/api/endpoints/desk/notes`, { data: {} });
  expect(answer.ok()).toBe(true);
  const body = (await answer.json()) as { all: { kind: string; about: string }[] };
  return body.all.map(({ kind, about }) => `${kind} ${about.toLowerCase()}`).sort();
}

/** The conversation that a tab shows. */
function conversation(page: Page): string {
  return new URL(page.url()).searchParams.get("conversation")!;
}

/** Whether an answer is being written in it. */
async function running(page: Page, url: string, id: string): Promise<boolean> {
  const answer = await page.request.get(`${url}/api/conversations/${id}`);
  return ((await answer.json()) as { running: boolean }).running;
}

test("of two tabs that look on, one acts on an event", async ({ page, context, server }) => {
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
  // What was loaded is no news.
  for (const tab of [page, other]) await tab.reload();
  await expect(second.answers).toHaveCount(2);
  await page.waitForTimeout(COURTESY_MS);
  expect(await notes(page, server.url)).toEqual(expected);
});

test("when the tab that asked is gone, another one acts", async ({ page, context, server }) => {
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

test("an answer that ends while the connection is away is acted on after the return, once", async ({ page, server, console }) => {
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

test("a reload in mid-answer, and an answer that ends while the tab is elsewhere", async ({ page, context, server }) => {
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
  // A tab that comes upon the finished answer acts on nothing.
  const other = await context.newPage();
  await other.goto(address);
  await expect(new Chat(other).answers.last()).toContainText("That was all.", { timeout: 30_000 });
  await page.waitForTimeout(COURTESY_MS);
  expect(await notes(other, server.url)).toHaveLength(1);
  // The one that asked does, once.
  await page.goto(address);
  await expect.poll(() => notes(page, server.url)).toEqual(["complete done stop false", "complete done stop true"]);
});
