import { accessible } from "../fixtures/axe.ts";
import { expect, open, test } from "../fixtures/test.ts";

test("the demo's pages are linked, and a tour leads through them", async ({ page }) => {
  const loaded: string[] = [];
  page.on("request", (request) => loaded.push(request.url()));
  await open(page);
  const links = page.getByRole("navigation", { name: "Pages" });
  await expect(links.getByRole("link")).toHaveText(["Form", "Research", "Work", "Tour of one minute"]);
  expect(loaded.filter((url) => url.endsWith("/tour.js"))).toEqual([]);

  await links.getByRole("link", { name: "Tour of one minute" }).click();
  const card = page.getByRole("dialog", { name: "A form and an agent" });
  await expect(card).toBeFocused();
  await expect(card).toContainText("1 / 6");
  await accessible(page);
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("dialog", { name: "Nothing is deleted without you" })).toBeFocused();
  await page.getByRole("button", { name: "Next" }).click();
  await expect(page).toHaveURL(/\/research\?tour=2$/);
  await expect(page.getByRole("dialog", { name: "Answers with sources" })).toBeFocused();

  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toHaveCount(0);
  await expect(page).toHaveURL(/\/research$/);
  await links.getByRole("link", { name: "Work" }).click();
  await expect(page).toHaveURL(/\/work$/);
});

test("the links and the tour need little room on a phone", async ({ page }) => {
  await page.setViewportSize({ width: 375, height: 667 });
  await open(page, "/work?tour=5");
  await expect(page.getByRole("dialog", { name: "Work that takes days" })).toBeInViewport({ ratio: 1 });
  await expect(page.getByRole("button", { name: "Next" })).toHaveCount(0);
  await page.getByRole("button", { name: "Leave the tour" }).click();
  const links = await page.getByRole("navigation", { name: "Pages" }).boundingBox();
  const composer = await page.getByRole("textbox", { name: "Message" }).boundingBox();
  expect(links && composer && composer.y + composer.height <= links.y).toBe(true);
});
