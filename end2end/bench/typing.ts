import type { CDPSession, Locator, Page } from "@playwright/test";

const TEXT = "the quick brown fox jumps over the lazy dog and runs away from it";
const PAUSE_MS = 30;

/** The costs of keys, each in milliseconds. */
export interface Typed {
  /** All that the main thread does from a key to the next one, the frames that show it included; not what it waits for. */
  work: number[];
  /** From the moment of the key until its events have been handled: the browser tells the page of a key when it has time. */
  handled: number[];
}

/** An entry of the browser's trace. Times are microseconds; `tdur` is the time in which the thread really ran. */
interface Traced {
  name: string;
  ph: string;
  pid: number;
  tid: number;
  ts: number;
  dur?: number;
  tdur?: number;
  args: { data?: { type?: string } };
}

/** Types so many keys into a field. */
export async function type(page: Page, field: Locator, keys: number): Promise<Typed> {
  await field.focus();
  await page.evaluate(() => {
    const handled: number[] = [];
    Object.assign(window, { handled });
    const note = (event: KeyboardEvent) => {
      // A task of its own, behind the key's.
      const channel = new MessageChannel();
      channel.port1.onmessage = () => handled.push(performance.now() - event.timeStamp);
      channel.port2.postMessage(null);
    };
    addEventListener("keydown", note, { capture: true });
  });
  const client = await page.context().newCDPSession(page);
  const work = await traced(client, async () => {
    await field.pressSequentially(TEXT.slice(0, keys), { delay: PAUSE_MS });
    await page.waitForTimeout(10 * PAUSE_MS);
  });
  await client.detach();
  return { work, handled: await page.evaluate(() => (window as unknown as { handled: number[] }).handled) };
}

/** Returns the time of the main thread for each of the keys that `press` presses. */
async function traced(client: CDPSession, press: () => Promise<void>): Promise<number[]> {
  const events: Traced[] = [];
  client.on("Tracing.dataCollected", ({ value }) => events.push(...(value as object as Traced[])));
  await client.send("Tracing.start", { categories: "devtools.timeline,disabled-by-default-devtools.timeline,toplevel" });
  await press();
  const complete = new Promise((resolve) => client.once("Tracing.tracingComplete", resolve));
  await client.send("Tracing.end");
  await complete;
  const keys = events.filter(({ name, args }) => name === "EventDispatch" && args.data?.type === "keydown").sort((a, b) => a.ts - b.ts);
  const tasks = events.filter(({ name, ph, pid, tid }) => name === "RunTask" && ph === "X" && pid === keys[0]?.pid && tid === keys[0]?.tid);
  const ends = [...keys.slice(1).map(({ ts }) => ts), Infinity];
  // A key's task begins before it says so, and ends behind that.
  return keys.map(({ ts }, at) => {
    const own = tasks.filter((task) => task.ts + task.dur! > ts && task.ts + task.dur! <= ends[at]!);
    return own.reduce((sum, task) => sum + task.tdur!, 0) / 1000;
  });
}
