import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { type Page, expect, test } from "@playwright/test";
import { record } from "../bench/figures.ts";
import { BINARY, Server } from "../fixtures/server.ts";

const run = promisify(execFile);
const BENCH = join(dirname(BINARY), "bench");
const SCREENS = join(import.meta.dirname, "../../bench/src/screens/screens.txt");
/** From the beginning of the navigation until the content is visible. */
const GOAL_MS = 300;
const TIMES = 5;
/** The number of screens that are stored, the slowest ones. */
const SHOWN = 12;
/** Something may still be painted so long after a page was loaded. */
const SETTLED_MS = 100;

/** The users of the lists, with the tokens of their sessions in the filled database. */
const VISITORS: Record<string, [name: string, token: string][]> = {
  all: [
    ["an administrator", "bench"],
    ["a busy user", "bench-busy"],
    ["a user", "bench-member"],
  ],
  admin: [["an administrator", "bench"]],
  busy: [["a busy user", "bench-busy"]],
};

interface Screen {
  address: string;
  visitor: string;
  token: string;
}

/** The date so many days ago, as a form submits it. */
const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);

/** A file is not opened but saved. */
const isFile = (address: string) => /\.csv$|\/export$/.test(address);

/** Reads the screens that the bench of the server measures. */
async function screens(): Promise<Screen[]> {
  const lines = (await readFile(SCREENS, "utf8")).split("\n").filter((line) => line && !line.startsWith("#"));
  return lines.flatMap((line) => {
    const [, who = "", ...addresses] = line.split(/\s+/);
    const visitors = VISITORS[who] ?? [];
    const opened = who === "-" ? [] : addresses.filter((address) => !isFile(address));
    return opened.flatMap((address) => visitors.map(([visitor, token]) => ({ address, visitor, token })));
  });
}

/** Opens a screen, and returns after how many milliseconds its largest content was painted. */
async function open(page: Page, url: string): Promise<number> {
  const answer = await page.goto(url);
  expect(answer?.ok(), url).toBe(true);
  return page.evaluate((settledMs) => {
    let painted = performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0;
    const look = (list: PerformanceObserverEntryList) => {
      for (const entry of list.getEntries()) painted = Math.max(painted, entry.startTime);
    };
    new PerformanceObserver(look).observe({ type: "largest-contentful-paint", buffered: true });
    // A page that nobody has painted yet is not there yet.
    return new Promise<number>((done) => setTimeout(() => done(painted || performance.now()), settledMs));
  }, SETTLED_MS);
}

test("every screen is visible soon", async ({ page, context }) => {
  const folder = await mkdtemp(join(tmpdir(), "chatwright-screens-"));
  const config = join(folder, "chatwright.yaml");
  await run(BENCH, ["screens-config", config]);
  const server = await Server.start({ config });
  try {
    await server.stop();
    await run(BENCH, ["fill-screens", server.database]);
    await server.launch();
    const measured: { name: string; median: number; slowest: number }[] = [];
    for (const { address, visitor, token } of await screens()) {
      await context.addCookies([{ name: "cw_session", value: token, url: server.url }]);
      const url = server.url + address.replace("FROM", day(40)).replace("TO", day(33));
      // The first time, the browser also downloads the code.
      await open(page, url);
      const times: number[] = [];
      for (let time = 0; time < TIMES; time++) times.push(await open(page, url));
      times.sort((a, b) => a - b);
      const name = `\`${address}\` by ${visitor}`;
      measured.push({ name, median: times[Math.floor(TIMES / 2)]!, slowest: times.at(-1)! });
      process.stdout.write(`\n${measured.at(-1)!.median.toFixed(0).padStart(5)} ms  ${name}\n`);
    }
    measured.sort((a, b) => b.median - a.median);
    const worst = measured[0]!;
    await record("All screens in the browser", "the slowest screen (median)", { measured: [worst.median, "ms"] }, { atMost: GOAL_MS });
    await record("All screens in the browser", "screens", { measured: [measured.length, ""] });
    for (const { name, median, slowest } of measured.slice(0, SHOWN)) {
      await record("Screens that take longest until they are visible", name, { median: [median, "ms"], slowest: [slowest, "ms"] });
    }
  } finally {
    await server.close();
    await rm(folder, { recursive: true, force: true });
  }
});
