import type { Page } from "@playwright/test";
import type { Console } from "../fixtures/console.ts";
import { expect, open, test } from "../fixtures/test.ts";

test("violations of the content security policy are blocked and fail a journey", async ({ page, console, browser, server }) => {
  console.expect(/Content Security Policy|Failed to fetch|Refused to connect|Refused to load/);
  await open(page);
  const context = await browser.newContext();
  const other = await context.newPage();
  await open(other, server.url);
  expect(console.takeBreaches()).toEqual([]);
  await tryAll(page);
  await expect(() => expect(() => console.check()).toThrow(/breaches of the page's policy/)).toPass({ timeout: 10_000 });
  const expected = ["connect-src", "img-src", "script-src-elem"];
  await expectBreaches(console, expected);
  // Pages of other contexts are checked too.
  await tryAll(other);
  await expectBreaches(console, expected);
  expect(await page.evaluate(() => "ran" in window)).toBe(false);
  await context.close();
});

/** An inline script, a request to another host, and a picture of a site that the config does not list. */
async function tryAll(page: Page): Promise<void> {
  await page.evaluate(() => {
    const script = document.createElement("script");
    script.textContent = "window.ran = true";
    document.body.append(script);
    fetch("https://example.org/told").catch(() => {});
    new Image().src = "https://example.org/told.png";
  });
}

async function expectBreaches(console: Console, expected: string[]): Promise<void> {
  const seen: string[] = [];
  await expect.poll(() => seen.push(...console.takeBreaches())).toBe(expected.length);
  expect(seen.map((breach) => breach.split(":")[0]).sort()).toEqual(expected);
}
