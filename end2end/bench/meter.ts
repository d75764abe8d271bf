import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { CDPSession, Page } from "@playwright/test";

/** Where profiles of the main thread are written; none without it. */
export const PROFILE = process.env.PROFILE;
/** A frame that took longer than two of sixty a second, in milliseconds. */
const SLOW_MS = 34;

export interface Cost {
  mainThreadS: number;
  scriptS: number;
  layoutS: number;
  longTasks: number;
  longestMs: number;
  frames: number;
  /** In per cent. */
  slowFrames: number;
}

interface Seen {
  long: number[];
  frames: number[];
}

/** Measures the main thread of a page. */
export class Meter {
  private readonly page: Page;
  private readonly client: CDPSession;
  private readonly begun: Map<string, number>;
  private readonly profile: string | undefined;

  private constructor(page: Page, client: CDPSession, begun: Map<string, number>, profile: string | undefined) {
    this.page = page;
    this.client = client;
    this.begun = begun;
    this.profile = profile;
  }

  static async start(page: Page, profile?: string): Promise<Meter> {
    await page.evaluate(() => {
      const seen: Seen = { long: [], frames: [] };
      Object.assign(window, { seen });
      new PerformanceObserver((list) => seen.long.push(...list.getEntries().map((entry) => entry.duration))).observe({
        entryTypes: ["longtask"],
      });
      let last = performance.now();
      const tick = (now: number) => {
        seen.frames.push(now - last);
        last = now;
        requestAnimationFrame(tick);
      };
      requestAnimationFrame(tick);
    });
    const client = await page.context().newCDPSession(page);
    // Time in which the thread really ran: others may be busy on the machine, too.
    await client.send("Performance.enable", { timeDomain: "threadTicks" });
    if (profile) {
      await client.send("Profiler.enable");
      await client.send("Profiler.setSamplingInterval", { interval: 500 });
      await client.send("Profiler.start");
    }
    return new Meter(page, client, await metrics(client), profile);
  }

  async stop(): Promise<Cost> {
    const ended = await metrics(this.client);
    if (this.profile && PROFILE) {
      const { profile } = await this.client.send("Profiler.stop");
      await writeFile(join(PROFILE, `${this.profile}.cpuprofile`), JSON.stringify(profile));
    }
    await this.client.detach();
    const { long, frames } = await this.page.evaluate(() => (window as unknown as { seen: Seen }).seen);
    const took = (name: string) => (ended.get(name) ?? 0) - (this.begun.get(name) ?? 0);
    return {
      mainThreadS: took("TaskDuration"),
      scriptS: took("ScriptDuration"),
      layoutS: took("LayoutDuration") + took("RecalcStyleDuration"),
      longTasks: long.length,
      longestMs: Math.round(Math.max(0, ...long)),
      frames: frames.length - 1,
      slowFrames: (100 * frames.slice(1).filter((frame) => frame > SLOW_MS).length) / Math.max(1, frames.length - 1),
    };
  }
}

async function metrics(client: CDPSession): Promise<Map<string, number>> {
  const { metrics } = await client.send("Performance.getMetrics");
  return new Map(metrics.map(({ name, value }) => [name, value]));
}
