import { join } from "node:path";
import type { Page, TestInfo } from "@playwright/test";
import { accessible, fits } from "../fixtures/axe.ts";
import { filled } from "../fixtures/filled.ts";
import { expect, test } from "../fixtures/test.ts";

test.use({ serverOptions: { config: join(import.meta.dirname, "../configs/console.yaml") } });

// Accessibility checks of long lists are slow, especially on a busy machine.
test.describe.configure({ timeout: 300_000 });

const MANY = 10_000;
/** The number of rows on a page of a list. */
const PAGE = 50;

/** The date this many days ago, as a form submits it. */
const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);

/** The screens with their headings and, for lists, the number of rows on the first page. */
const SCREENS: [path: string, heading: string, lines?: number][] = [
  ["/admin", "Overview"],
  ["/admin?days=30", "Overview"],
  ["/admin/users", "Users", PAGE],
  ["/admin/users?sort=newest", "Users", PAGE],
  ["/admin/users?role=admin", "Users", 1],
  ["/admin/users?text=user+99", "Users", 11],
  ["/admin/users/u7", "User 7"],
  ["/admin/access", "Sessions and API keys", PAGE],
  ["/admin/access?sort=used", "Sessions and API keys", PAGE],
  ["/admin/conversations", "Conversations", PAGE],
  ["/admin/conversations?sort=oldest", "Conversations", PAGE],
  ["/admin/conversations?sort=cost", "Conversations", PAGE],
  ["/admin/conversations?owner=u7&sort=cost", "Conversations", MANY / 1_000],
  ["/admin/conversations?agent=a4&errors=1", "Conversations", PAGE],
  ["/admin/conversations?judged=up&cost=1", "Conversations", PAGE],
  [`/admin/conversations?from=${day(40)}&to=${day(39)}`, "Conversations", PAGE],
  // A word that occurs in all messages, and one that occurs in one.
  ["/admin/conversations?text=refund", "Conversations", PAGE],
  ["/admin/conversations?text=order+199999&sort=cost", "Conversations", 1],
  ["/admin/conversations/c777", "Conversation about topic 277"],
  ["/admin/feedback", "Feedback", PAGE],
  ["/admin/feedback?judged=down&sort=oldest", "Feedback", PAGE],
  ["/admin/agents?sort=cost", "Agents"],
  ["/admin/agents/a1", "a1"],
  ["/admin/custom-agents", "Custom agents"],
  ["/admin/tools", "Tools"],
  ["/admin/approvals", "Standing approvals", PAGE],
  ["/admin/approvals?agent=a1&sort=tool", "Standing approvals", PAGE],
  ["/admin/retention", "Retention"],
  ["/admin/config", "Config"],
  ["/admin/embed", "Embed a chat"],
  ["/admin/audit", "Audit log", PAGE],
  ["/admin/audit?tool=tool_3&outcome=error", "Audit log"],
  ["/admin/audit?user=u7", "Audit log", PAGE],
];

/** Load times, to explain the duration of this journey. */
class Times {
  readonly #lines: string[] = [];

  async of<T>(what: string, work: () => Promise<T>): Promise<T> {
    const begun = performance.now();
    const done = await work();
    this.add(what, performance.now() - begun);
    return done;
  }

  add(what: string, ms: number): void {
    this.#lines.push(`${ms.toFixed(0).padStart(7)} ms  ${what}`);
  }

  async attach(info: TestInfo): Promise<void> {
    await info.attach("times.txt", { body: this.#lines.join("\n"), contentType: "text/plain" });
  }
}

/** The time until the whole document was loaded, in milliseconds. */
const waited = (page: Page) =>
  page.evaluate(() => (performance.getEntriesByType("navigation")[0] as PerformanceNavigationTiming).responseEnd);

test("each screen of the console over 10,000 conversations: accessible, and as wide as the screen", { tag: "@thorough" }, async ({ page, context, server }, info) => {
  const times = new Times();
  await times.of("fill", () => filled(server, context, MANY));
  const seen = new Set<string>();
  const lines = page.getByRole("rowheader");
  for (const [path, heading, count] of SCREENS) {
    await test.step(path, async () => {
      await page.setViewportSize({ width: 1280, height: 800 });
      await page.goto(path);
      times.add(path, await waited(page));
      await expect(page.getByRole("heading", { level: 1, name: heading })).toBeVisible();
      if (count !== undefined) await expect(lines).toHaveCount(count);
      // Filters and sorting change the rows of a page, but not their markup.
      if (!seen.has(heading)) await times.of("  looked for what is not accessible", () => accessible(page));
      seen.add(heading);
      await page.setViewportSize({ width: 320, height: 640 });
      await fits(page);
    });
  }
  await page.setViewportSize({ width: 1280, height: 800 });
  const table = page.locator("tbody");
  for (const path of ["users", "access?sort=used", "conversations", "conversations?sort=cost", "feedback", "approvals?sort=tool", "audit"]) {
    await test.step(`the second page of ${path}`, async () => {
      await page.goto(`/admin/${path}`);
      const first = await table.innerText();
      await page.getByRole("link", { name: "Next page" }).click();
      await expect(table).not.toHaveText(first, { useInnerText: true });
      times.add(`${path}, next page`, await waited(page));
      await expect(lines).toHaveCount(PAGE);
      await page.getByRole("link", { name: "First page" }).click();
      await expect(table).toHaveText(first, { useInnerText: true });
    });
  }
  // Drill down from a row by a filter of the form.
  await page.goto("/admin/conversations");
  await page.getByLabel("Search text").fill('"order 155555"');
  await page.getByRole("button", { name: "Show" }).click();
  await expect(lines).toHaveCount(1);
  await lines.getByRole("link").click();
  await expect(page.getByRole("article")).toHaveCount(20);
  await expect(page.getByText("The order 155555 about topic 277 was asked for")).toBeVisible();
  // Export as CSV.
  const csv = await times.of("all conversations as a table", () => page.request.get("/admin/conversations.csv"));
  expect((await csv.text()).trim().split("\r\n")).toHaveLength(MANY + 1);
  await times.attach(info);
});
