import { join } from "node:path";
import { Chat } from "../fixtures/chat.ts";
import { everySize } from "../fixtures/sizes.ts";
import { expect, open, test } from "../fixtures/test.ts";

const EXAMPLE = join(import.meta.dirname, "../../examples/analyst");

test.use({ serverOptions: { config: EXAMPLE } });
test.describe.configure({ timeout: 120_000 });

test("an attached table is analysed, and its chart and report are shown and saved", async ({ page }) => {
  await open(page);
  const chat = new Chat(page);
  await page.locator(".cw-composer input[type=file]").setInputFiles(join(EXAMPLE, "sales.csv"));
  // A message is not sent while its file is on the way.
  const file = page.getByRole("list", { name: "Attached files" }).getByRole("listitem");
  await expect(file).toContainText("sales.csv");
  await expect(file.getByRole("progressbar")).toHaveCount(0);
  await chat.ask("Analyse sales.csv");
  const presented = page.locator(".cw-presented");
  await expect(presented.getByRole("listitem")).toHaveCount(3);
  const chart = presented.getByRole("img", { name: "chart.svg" });
  await expect.poll(() => chart.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBeGreaterThan(0);
  const download = page.waitForEvent("download");
  await presented.getByRole("link", { name: /report\.md/ }).click();
  expect((await download).suggestedFilename()).toBe("report.md");
  await everySize(page, "presented");
  // The page runs beside the chat.
  await presented.getByRole("button", { name: /^totals\.html/ }).click();
  const panel = page.getByRole("dialog", { name: "totals.html" });
  const inner = panel.frameLocator("iframe").frameLocator("iframe");
  await expect(inner.locator("output")).toHaveText(["2000", "2300", "2500", "2850"]);
  await inner.getByRole("button", { name: "Sort by total" }).click();
  await expect(inner.locator("output")).toHaveText(["2850", "2500", "2300", "2000"]);
  await everySize(page, "analyst-page");
  await panel.getByRole("button", { name: "Close" }).click();

  // After a reload the same versions are there.
  await page.reload();
  await expect(presented.getByRole("listitem")).toHaveCount(3);
});
