import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type CDPSession, type Page, expect, test } from "@playwright/test";
import { Chat } from "../fixtures/chat.ts";
import { Provider } from "../fixtures/provider.ts";
import { Server } from "../fixtures/server.ts";
import { alive } from "../fixtures/test.ts";
import { type Cell, record } from "./figures.ts";
import { import_ } from "./history.ts";
import { Meter, PROFILE } from "./meter.ts";
import { type } from "./typing.ts";

/** Markdown as models write it, told in pieces of this many characters. */
const TEXT = `### How it is measured

Each stream is *checked* to its end, with [links](https://example.org), **bold** words and \`code\` in it.

1. first
2. second, which is longer

\`\`\`rust
let answer = 42;
\`\`\`

| key | value |
|-----|-------|
| one | 1     |

`;
const PIECE = 16;
const PAUSE_MS = 5;
/** Deltas of a reply, and messages before it. */
const REPLIES = [
  [1_000, 0],
  [1_000, 500],
  [3_000, 500],
] as const;
const LONG = 2_000;
const TIMES = 5;
/** Conversations in a list, and how many are made at once. */
const MANY = 10_000;
const AT_ONCE = 20;
/** Turns of the wheel between two looks at where the list stands, and the time between two turns. */
const WHEEL = 10;
const FRAME_MS = 16;
/** Pixels of a turn of the wheel: the fastest flick of a finger. */
const FAST = 400;
/** Turns of a simulated hour: one a minute. */
const ROUNDS = 60;
/** Conversations in the list before it: more than it has rows for in the document, so that its own growth is over. */
const LISTED = 200;
const ROWS = 160;
/** Limits on any machine: a task of the main thread while a long conversation opens, and the tab's memory with it. */
const TASK_MS = 200;
const TAB_MB = 300;
/** By how much memory may grow from the first third of the hour to its end. */
const GROWTH = 1.05;
/** Keys that are typed, and what the page may take for one whatever the machine is doing: a frame. */
const KEYS = 60;
const KEY_MS = 16;

const config = (url: string) => `
connections: [{ id: upstream, type: OpenAICompatible, properties: { baseURL: "${url}", apiKey: none } }]
agents: [{ id: bench, type: Agent, connectionId: upstream, properties: { model: bench } }]
limits: { bodyBytes: 16000000 }
pages:
  - id: bench
    blocks: [{ id: list, type: AgentConversations }, { id: chat, type: AgentChat, properties: { agentId: bench } }]
`;

function deltas(count: number): string[] {
  const text = TEXT.repeat(Math.ceil((count * PIECE) / TEXT.length));
  return Array.from({ length: count }, (_, at) => text.slice(at * PIECE, (at + 1) * PIECE));
}

let server: Server;
let provider: Provider;
let folder: string;

test.beforeAll(async () => {
  provider = await Provider.start((_, text) => ({ pieces: deltas(Number(text) || 1), pauseMs: PAUSE_MS }));
  folder = await mkdtemp(join(tmpdir(), "chatwright-bench-"));
  await writeFile(join(folder, "chatwright.yaml"), config(provider.url));
  server = await Server.start({ config: join(folder, "chatwright.yaml") });
});

test.afterAll(async () => {
  await server.close();
  provider.close();
  await rm(folder, { recursive: true });
});

for (const [count, history] of REPLIES) {
  test(`a reply of ${count} deltas into ${history} messages`, async ({ page }) => {
    const id = history ? await import_(page.request, server.url, history) : undefined;
    await page.goto(`${server.url}/bench${id ? `?conversation=${id}` : ""}`);
    await alive(page);
    const chat = new Chat(page);
    const meter = await Meter.start(page, PROFILE ? `reply-${count}-${history}` : undefined);
    await chat.composer.fill(String(count));
    await chat.composer.press("Enter");
    await answered(page);
    const cost = await meter.stop();
    const perDelta = ((cost.mainThreadS * 1000) / count).toFixed(2);
    report(
      `${count} deltas into ${history} messages: ${cost.mainThreadS.toFixed(2)} s on the main thread (${perDelta} ms a delta; script ` +
        `${cost.scriptS.toFixed(2)} s, layout and style ${cost.layoutS.toFixed(2)} s), ${cost.longTasks} tasks over 50 ms (longest ` +
        `${cost.longestMs} ms), slow frames ${cost.slowFrames.toFixed(1)} % of ${cost.frames}`,
    );
    await record("A reply", `${count} deltas into ${history} messages`, {
      "main thread": [cost.mainThreadS, "s"],
      script: [cost.scriptS, "s"],
      "layout and style": [cost.layoutS, "s"],
      "tasks over 50 ms": [cost.longTasks, ""],
      "longest task": [cost.longestMs, "ms"],
      "slow frames": [cost.slowFrames, "%"],
    });
  });
}

test("opening a long conversation, and typing in it", async ({ page }) => {
  const id = await import_(page.request, server.url, LONG);
  await page.goto(`${server.url}/bench`);
  await alive(page);
  const chat = new Chat(page);
  const list = page.getByRole("navigation", { name: "Conversations" });
  await list.getByRole("link", { name: `History of ${LONG}` }).first().waitFor();
  const opened: number[] = [];
  const tasks: number[] = [];
  for (let time = 0; time < TIMES; time += 1) {
    const meter = await Meter.start(page, PROFILE && time === 1 ? "open" : undefined);
    opened.push(await page.evaluate(opening, [id, `Answer ${LONG - 1}`] as const));
    tasks.push((await meter.stop()).longestMs);
    await page.getByRole("link", { name: "New conversation" }).first().click();
    await expect(chat.answers).toHaveCount(0);
  }
  report(`opening a conversation of ${LONG} messages, from the click to the frame that shows its end: ${figures(opened)}; longest task: ${figures(tasks)}`);
  await recordAll(`opening a conversation of ${LONG} messages`, opened);
  await recordAll("the longest task of that", tasks);
  expect(Math.max(...tasks)).toBeLessThanOrEqual(TASK_MS);

  const loaded: number[] = [];
  for (let time = 0; time < TIMES; time += 1) {
    await page.goto(`${server.url}/bench?conversation=${id}`);
    await chat.answers.last().waitFor();
    loaded.push(await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]!.startTime));
    await alive(page);
  }
  report(`loading a page with it, to the first paint, which shows its end: ${figures(loaded)}`);
  await recordAll("loading a page with it, to the first paint", loaded);
  const memory = await held(await page.context().newCDPSession(page));
  report(`memory of the tab with it: ${memory.toFixed(1)} MB`);
  await record("Memory of the tab", `a conversation of ${LONG} messages`, { measured: [memory, "MB"] });
  expect(memory).toBeLessThanOrEqual(TAB_MB);

  const typed = await type(page, chat.composer, KEYS);
  const bare = await page.context().newPage();
  await bare.setContent("<textarea></textarea>");
  const least = await type(bare, bare.getByRole("textbox"), KEYS);
  report(`typing in it, all that the main thread does for a key: ${figures(typed.work)}; in a page with a text area alone: ${figures(least.work)}`);
  report(`from the key until its events are handled, with what the browser waits for: ${figures(typed.handled)}; there: ${figures(least.handled)}`);
  await recordAll("work of the page for a key in it", typed.work);
  await recordAll("the same in a page with a text area alone", least.work);
  expect(Math.max(...typed.work)).toBeLessThanOrEqual(KEY_MS);
});

test("scrolling a list of many conversations", async ({ page }) => {
  test.setTimeout(600_000);
  await fill(page, MANY);
  await page.goto(`${server.url}/bench`);
  await alive(page);
  const list = page.getByRole("navigation", { name: "Conversations" });
  const rows = list.getByRole("listitem");
  await rows.first().hover();
  const scroll = async (step: number) => {
    let [before, now] = [-1, 0];
    while (now !== before) {
      for (let turn = 0; turn < WHEEL; turn += 1) {
        await page.mouse.wheel(0, step);
        await page.waitForTimeout(FRAME_MS);
      }
      [before, now] = [now, await page.evaluate(scrolled)];
    }
  };
  for (const [what, step] of [["down, while it loads", FAST], ["up again", -FAST]] as const) {
    const meter = await Meter.start(page);
    await scroll(step);
    const cost = await meter.stop();
    report(
      `a list of ${MANY} conversations ${what}: ${await rows.count()} rows in the document, slow frames ` +
        `${cost.slowFrames.toFixed(1)} % of ${cost.frames}, ${cost.longTasks} tasks over 50 ms (longest ${cost.longestMs} ms)`,
    );
    await record("Scrolling a list", `${MANY} conversations, ${what}`, {
      "rows in the document": [await rows.count(), ""],
      "slow frames": [cost.slowFrames, "%"],
      "tasks over 50 ms": [cost.longTasks, ""],
      "longest task": [cost.longestMs, "ms"],
    });
  }
});

test("memory over many turns", async ({ page }) => {
  test.setTimeout(1_200_000);
  await fill(page, LISTED);
  const id = await import_(page.request, server.url, 500);
  await page.goto(`${server.url}/bench?conversation=${id}`);
  await alive(page);
  const chat = new Chat(page);
  const client = await page.context().newCDPSession(page);
  // Until all are loaded, so that as many rows are in the document as it can hold.
  const rows = page.getByRole("navigation", { name: "Conversations" }).getByRole("listitem");
  await rows.first().hover();
  await expect(async () => {
    await page.mouse.wheel(0, FAST);
    await expect(page.getByRole("button", { name: "Show more" })).toHaveCount(0, { timeout: 1 });
  }).toPass();
  await page.evaluate(() => document.querySelectorAll("*").forEach((element) => element.scrollTo(0, 0)));
  await expect(rows).toHaveCount(ROWS);
  const seen: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    await page.getByRole("link", { name: "New conversation" }).first().click();
    await expect(chat.answers).toHaveCount(0);
    await chat.composer.fill("300");
    await chat.composer.press("Enter");
    await answered(page);
    await page.evaluate((id) => document.querySelector<HTMLElement>(`a[href*="${id}"]`)?.click(), id);
    await expect(chat.answers.last()).toContainText("Answer 499");
    seen.push(await held(client));
  }
  const at = (round: number) => seen[round]!.toFixed(1);
  const [third, last] = [Math.floor(ROUNDS / 3), ROUNDS - 1];
  report(`memory over ${ROUNDS} new conversations and as many openings of one of 500 messages: ${at(0)} MB after the first, ${at(third)} after ${third + 1}, ${at(last)} at the end`);
  for (const round of [0, third, last]) {
    await record("Memory of the tab", `after ${round + 1} conversations`, { measured: [seen[round]!, "MB"] });
  }
  const mean = (figures: number[]) => figures.reduce((sum, figure) => sum + figure, 0) / figures.length;
  expect(mean(seen.slice(-third))).toBeLessThan(mean(seen.slice(third, 2 * third)) * GROWTH);
});

/** Makes so many conversations of two messages. */
async function fill(page: Page, count: number): Promise<void> {
  for (let made = 0; made < count; made += AT_ONCE) {
    await Promise.all(Array.from({ length: AT_ONCE }, () => import_(page.request, server.url, 2)));
  }
}

/** Megabytes that a page holds when its garbage is gone: the script's objects, the document's, and buffers. */
async function held(client: CDPSession): Promise<number> {
  await client.send("HeapProfiler.collectGarbage");
  const { usedSize, embedderHeapUsedSize, backingStorageSize } = (await client.send("Runtime.getHeapUsage")) as Record<string, number>;
  return (usedSize! + embedderHeapUsedSize! + backingStorageSize!) / 1e6;
}

/** In the page: how far the list is scrolled, in pixels. */
function scrolled(): number {
  const all = [...document.querySelectorAll<HTMLElement>(".cw-conversations, .cw-conversations *, .cw-region-conversations")];
  return Math.max(0, ...all.map((element) => element.scrollTop));
}

/** Waits for the answer and its end. Looks seldom, and without roles, which cost more to find out than what is measured. */
async function answered(page: Page): Promise<void> {
  const is = (there: boolean) => Boolean(document.querySelector("button[aria-label='Stop']")) === there;
  await page.waitForFunction(is, true, { polling: 100 });
  await page.waitForFunction(is, false, { polling: 300, timeout: 240_000 });
}

/** In the page: opens a conversation by its link; answers with the milliseconds until a frame shows the end. */
function opening([id, end]: readonly [string, string]): Promise<number> {
  const link = document.querySelector<HTMLElement>(`a[href*="${id}"]`)!;
  const begun = performance.now();
  link.click();
  return new Promise((resolve) => {
    const look = () => {
      const last = [...document.querySelectorAll("article")].at(-1);
      const log = document.querySelector(".cw-log");
      const seen = last?.textContent?.includes(end) && log && last.getBoundingClientRect().top < log.getBoundingClientRect().bottom;
      requestAnimationFrame(seen ? () => resolve(performance.now() - begun) : look);
    };
    requestAnimationFrame(look);
  });
}

function median(all: number[]): number {
  return [...all].sort((a, b) => a - b)[Math.floor((all.length - 1) / 2)]!;
}

function figures(all: number[]): string {
  return `median ${median(all).toFixed(0)} ms, slowest ${Math.max(...all).toFixed(0)} ms of ${all.length}`;
}

/** Stores the median and the slowest of times in milliseconds. */
function recordAll(what: string, all: number[]): Promise<void> {
  const cells: Record<string, Cell> = { median: [median(all), "ms"], slowest: [Math.max(...all), "ms"] };
  return record("In the browser", what, cells);
}

function report(line: string): void {
  process.stdout.write(`\n${line}\n`);
}
