import { defineConfig } from "@playwright/test";
import { browser } from "./browser.ts";

export default defineConfig({
  testDir: "journeys",
  outputDir: "test-results",
  // The other properties of a machine that pictures depend on are in fixtures/machine.ts.
  snapshotPathTemplate: "snapshots/{arg}{ext}",
  timeout: 60_000,
  expect: { timeout: 10_000 },
  // Each journey has a server and a database of its own, so they do not disturb each other.
  fullyParallel: true,
  // On two cores, three take a fifth less time than two: a journey also waits, for a server to start and for what it streams.
  workers: 3,
  // `cargo xtask test --thorough` also runs the journeys that take minutes and those of the examples, whose sites take minutes to build.
  grepInvert: process.env.THOROUGH ? [] : /@thorough/,
  forbidOnly: Boolean(process.env.CI),
  // A journey that passes only sometimes is a failure to be understood; on a loaded machine it must not hide the others.
  retries: process.env.CI ? 2 : 0,
  // `cargo xtask test` lists the flaky journeys from the report in the end.
  reporter: process.env.CI ? [["list"], ["json", { outputFile: "test-results/report.json" }]] : [["list"]],
  // Recording every journey costs a fifth of the time. Where a failed one is tried again, that attempt is recorded.
  use: { ...browser, trace: process.env.CI ? "on-first-retry" : "retain-on-failure", screenshot: "only-on-failure" },
});
