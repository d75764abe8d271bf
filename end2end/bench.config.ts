import { defineConfig } from "@playwright/test";
import { browser } from "./browser.ts";

/** The costs of the page; run by `cargo xtask bench --ui` with the release build. */
export default defineConfig({
  testDir: "bench",
  outputDir: "test-results",
  timeout: 300_000,
  workers: 1,
  reporter: [["line"]],
  use: { ...browser, viewport: { width: 1280, height: 720 } },
});
