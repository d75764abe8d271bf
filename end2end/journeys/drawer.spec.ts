import { join } from "node:path";
import { Chat } from "../fixtures/chat.ts";
import { expect, test } from "../fixtures/test.ts";

test.use({ serverOptions: { config: join(import.meta.dirname, "../configs/displays.yaml") } });

test("a chat in a drawer works by keyboard and the page behind it stays usable", async ({ page }) => {
  await page.goto("/drawer");
  const chat = new Chat(page);
  const drawer = page.getByRole("dialog", { name: "Help" });
  const open = page.getByRole("button", { name: "Help", exact: true });
  await expect(drawer).toBeHidden();
  await open.focus();
  await page.keyboard.press("Enter");
  await expect(drawer).toBeVisible();
  await expect(chat.composer).toBeFocused();
  await page.keyboard.type("Fill in the form for Ada Lovelace at Analytical Engines");
  await page.keyboard.press("Enter");
  await expect(page.getByLabel("Legal name", { exact: true })).toHaveValue("Ada Lovelace");
  await chat.idle();
  // The page behind the drawer stays usable.
  await page.getByLabel("Company", { exact: true }).fill("Engines");
  await expect(drawer).toBeVisible();
  await chat.composer.focus();
  await page.keyboard.type("count to 1500");
  await page.keyboard.press("Enter");
  await expect.poll(() => chat.counted()).toBeGreaterThan(3);
  // The first Escape stops the answer, the second closes the drawer.
  await page.keyboard.press("Escape");
  await chat.idle();
  await expect(drawer).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(drawer).toBeHidden();
  await expect(open).toBeFocused();
  // A message from a button of the page opens the drawer.
  await page.getByRole("button", { name: "Ask for me" }).click();
  await expect(drawer).toBeVisible();
  await expect(chat.answers.last()).toContainText(/refund/i);
  await drawer.getByRole("button", { name: "Close" }).click();
  await expect(drawer).toBeHidden();
  await page.getByRole("button", { name: "Close the help" }).click();
  await page.getByRole("button", { name: "Open the help" }).click();
  await expect(drawer).toBeVisible();
});

test("on a narrow screen the drawer fills the screen", async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto("/drawer");
  await page.getByRole("button", { name: "Help", exact: true }).click();
  const drawer = page.getByRole("dialog", { name: "Help" });
  await expect.poll(async () => (await drawer.boundingBox())?.width).toBe(390);
  await expect.poll(async () => (await drawer.boundingBox())?.x).toBe(0);
  expect(await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)).toBeLessThanOrEqual(0);
});

for (const placement of ["top", "bottom"]) {
  test(`a drawer at the ${placement} takes the whole width`, async ({ page }) => {
    await page.setViewportSize({ width: 1000, height: 800 });
    await page.goto(`/${placement}`);
    await page.getByRole("button", { name: "Help", exact: true }).click();
    const drawer = page.getByRole("dialog", { name: "Help" });
    const y = placement === "top" ? 0 : 440;
    await expect.poll(() => drawer.boundingBox()).toEqual({ x: 0, y, width: 1000, height: 360 });
    await expect(new Chat(page).composer).toBeFocused();
    await drawer.getByRole("button", { name: "Close" }).click();
    await expect(drawer).toBeHidden();
    // A low window has no room for it: it ends at its edges.
    await page.setViewportSize({ width: 1000, height: 300 });
    await page.getByRole("button", { name: "Help", exact: true }).click();
    await expect.poll(async () => (await drawer.boundingBox())?.height).toBe(300);
  });
}

test("regions beside a chat that fills the page open from the bar", async ({ page }) => {
  await page.goto("/whole");
  const chat = new Chat(page);
  await expect(chat.composer).toBeVisible();
  await expect(page.getByLabel("Legal name", { exact: true })).toBeHidden();
  await expect(async () => {
    await page.getByRole("button", { name: "Form" }).click();
    await expect(page.getByLabel("Legal name", { exact: true })).toBeVisible({ timeout: 1000 });
  }).toPass();
  await page.keyboard.press("Escape");
  await expect(page.getByLabel("Legal name", { exact: true })).toBeHidden();
  await page.getByRole("button", { name: "Conversations" }).click();
  await expect(page.getByRole("button", { name: "New conversation" }).or(page.getByRole("link", { name: "New conversation" })).first()).toBeVisible();
});
