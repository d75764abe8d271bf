import { join } from "node:path";
import type { Page } from "@playwright/test";
import { accessible } from "../fixtures/axe.ts";
import { Clock } from "../fixtures/clock.ts";
import { Server } from "../fixtures/server.ts";
import { expect, test } from "../fixtures/test.ts";

const DAY = 24 * 60 * 60;

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** The next five midnights, UTC, as the console shows them. */
function midnights(clock: Clock): string[] {
  const at = (day: number) => new Date((Math.floor(clock.now / 1_000 / DAY) + day) * DAY * 1_000);
  const shown = (day: Date) => `${day.getUTCDate()} ${MONTHS[day.getUTCMonth()]} ${day.getUTCFullYear()}, 00:00`;
  return [1, 2, 3, 4, 5].map((day) => shown(at(day)));
}

test("a workflow starts at its times, and not while an operator has paused it", async ({ page }) => {
  test.setTimeout(120_000);
  const clock = new Clock();
  const server = await Server.start({ config: join(import.meta.dirname, "../configs/clock.yaml"), env: clock.env });
  const runs = async (workflow: string): Promise<{ state: string }[]> =>
    (await (await page.request.get(`${server.url}/api/admin/workflows?workflow=${workflow}`)).json()).items;
  const hasLooked = async (trigger: string) =>
    typeof (await (await page.request.get(`${server.url}/api/admin/triggers/${trigger}`)).json()).checkedAt;
  const nextTimes = page.getByRole("definition").getByRole("listitem");
  try {
    await expect.poll(() => hasLooked("nightly/midnight"), { timeout: 30_000 }).toBe("number");
    await expect.poll(() => hasLooked("daily/again"), { timeout: 30_000 }).toBe("number");
    await visit(page, server, "nightly/midnight");
    await expect(nextTimes).toHaveText(midnights(clock));
    await accessible(page);
    clock.setAhead(DAY);
    await expect.poll(async () => (await runs("nightly")).map((run) => run.state), { timeout: 30_000 }).toEqual(["done"]);
    await page.goto(`${server.url}/admin/workflows`);
    await expect(page.getByRole("row", { name: /nightly.*done/ })).toBeVisible();
    // The end of the run is seen a little later.
    await expect(async () => {
      await visit(page, server, "nightly/midnight");
      await expect(page.getByRole("table").getByText("done")).toBeVisible({ timeout: 500 });
    }).toPass();
    await expect(nextTimes).toHaveText(midnights(clock));
    // An operator pauses it: only the other one starts again.
    await page.getByRole("button", { name: "Pause" }).click();
    await expect(page.getByRole("button", { name: "Resume" })).toBeVisible();
    const before = (await runs("daily")).length;
    clock.setAhead(3 * DAY);
    await expect.poll(async () => (await runs("daily")).length, { timeout: 30_000 }).toBeGreaterThan(before);
    expect(await runs("nightly")).toHaveLength(1);
    // Changes during the pause are left out.
    await page.getByRole("button", { name: "Resume" }).click();
    await expect(page.getByRole("button", { name: "Pause" })).toBeVisible();
    await expect(nextTimes).toHaveText(midnights(clock));
    clock.setAhead(4 * DAY);
    await expect.poll(async () => (await runs("nightly")).length, { timeout: 30_000 }).toBe(2);
  } finally {
    await server.close();
    clock.close();
  }
});

async function visit(page: Page, server: Server, trigger: string): Promise<void> {
  await page.goto(`${server.url}/admin/triggers/${trigger}`);
}
