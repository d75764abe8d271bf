import { defineConfig } from "@playwright/test";
import { BROWSERS } from "./drivers/test.ts";

/** The main journeys in the browsers that are there besides Chromium, which Playwright itself cannot drive. */
export default defineConfig<object, { driven: keyof typeof BROWSERS }>({
  testDir: "browsers",
  outputDir: "test-results-browsers",
  // A start of WebKit takes seconds where other steps use the processor.
  timeout: 120_000,
  expect: { timeout: 10_000 },
  fullyParallel: true,
  workers: 2,
  forbidOnly: Boolean(process.env.CI),
  retries: process.env.CI ? 2 : 0,
  reporter: process.env.CI ? [["list"], ["json", { outputFile: "test-results-browsers/report.json" }]] : [["list"]],
  projects: (["firefox", "webkit"] as const).filter((driven) => process.env[BROWSERS[driven]]).map((driven) => ({ name: driven, use: { driven } })),
});
