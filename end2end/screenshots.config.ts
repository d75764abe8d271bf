import { defineConfig } from "@playwright/test";
import { browser } from "./browser.ts";

const sizes = { wide: { width: 1360, height: 850 }, narrow: { width: 390, height: 844 } };
const themes = ["light", "dark"] as const;

/** Every picture in every size and theme. */
export default defineConfig({
  testDir: "pictures",
  outputDir: "test-results",
  timeout: 60_000,
  workers: 2,
  reporter: [["list"]],
  projects: Object.entries(sizes).flatMap(([size, viewport]) =>
    themes.map((colorScheme) => ({
      name: `${size}-${colorScheme}`,
      use: { ...browser, viewport, colorScheme, contextOptions: { reducedMotion: "reduce" as const } },
    })),
  ),
});
