import { expect, open, test } from "../fixtures/test.ts";

test("what the page's policy forbids does not happen, and a journey in whose own context it is tried fails", async ({ page, console }) => {
  console.expect(/Content Security Policy|Failed to fetch|Refused to connect/);
  await open(page);
  expect(console.takeBreaches()).toEqual([]);
  await page.evaluate(() => {
    const script = document.createElement("script");
    script.textContent = "window.ran = true";
    document.body.append(script);
    fetch("https://example.org/told").catch(() => {});
  });
  await expect(() => expect(() => console.check()).toThrow(/breaches of the page's policy/)).toPass({ timeout: 10_000 });
  const seen: string[] = [];
  await expect.poll(() => seen.push(...console.takeBreaches())).toBe(2);
  expect(seen.map((breach) => breach.split(":")[0]).sort()).toEqual(["connect-src", "script-src-elem"]);
  expect(await page.evaluate(() => "ran" in window)).toBe(false);
});
