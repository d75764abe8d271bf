import { defineConfig } from "@playwright/test";
import { browser } from "./browser.ts";

/** How long every screen takes; run by `cargo xtask bench screens` with the release build. */
export default defineConfig({
  testDir: "screens",
  outputDir: "test-results",
  timeout: 600_000,
  workers: 1,
  reporter: [["line"]],
  use: { ...browser, viewport: { width: 1280, height: 720 } },
});
