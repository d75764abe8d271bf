import { expect } from "@playwright/test";
import { test as base } from "../fixtures/served.ts";
import type { Driver, Tab } from "./driver.ts";
import { Firefox } from "./firefox.ts";
import { View } from "./view.ts";
import { WebKit } from "./webkit.ts";

/** The browsers, each with the variable that names its program. */
export const BROWSERS = { firefox: "FIREFOX", webkit: "WEBKIT_DRIVER" } as const;

interface Fixtures {
  tab: Tab;
  /** The page in the tab. */
  view: View;
  /** The errors that this journey provokes itself. */
  expected: RegExp[];
}

interface Shared {
  /** The browser of a project. */
  driven: keyof typeof BROWSERS;
  driver: Driver;
}

export const test = base.extend<Fixtures, Shared>({
  driven: ["firefox", { option: true, scope: "worker" }],
  driver: [
    async ({ driven }, use) => {
      const program = process.env[BROWSERS[driven]];
      if (!program) throw new Error(`set ${BROWSERS[driven]} to the path of the program`);
      const driver = driven === "firefox" ? await Firefox.start(program) : await WebKit.start(program);
      await use(driver);
      await driver.close();
    },
    { scope: "worker", timeout: 60_000 },
  ],
  expected: async ({}, use) => use([]),
  tab: async ({ driver, expected }, use, info) => {
    info.annotations.push({ type: "browser", description: driver.name });
    const tab = await driver.open();
    await use(tab);
    // Also collects the errors since the last call.
    const address = await tab.call([], () => location.href);
    const problems = tab.problems().filter((problem) => !expected.some((pattern) => pattern.test(problem)));
    await tab.close();
    expect(problems, `the console of ${driver.name} on ${address}`).toEqual([]);
  },
  view: async ({ tab }, use) => use(new View(tab)),
});

export { expect };
