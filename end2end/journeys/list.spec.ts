import { join } from "node:path";
import { expect, test } from "../fixtures/test.ts";

test.use({ serverOptions: { config: join(import.meta.dirname, "../configs/list.yaml") } });

test("a list can show items of the page", async ({ page }) => {
  await page.goto("/");
  const list = page.getByRole("navigation", { name: "Conversations" });
  const says = (text: string) => page.getByRole("heading", { name: text, exact: true });
  const first = list.getByRole("button", { name: "First" });
  await expect(first).toContainText("20 Nov 2026");
  await expect(list.getByRole("button", { name: /Answering now. *$/ })).toContainText("Second");
  await expect(list.getByRole("button", { name: "Third" })).toBeHidden();
  await expect(async () => {
    await first.click();
    await expect(says("a")).toBeVisible({ timeout: 500 });
  }).toPass();
  await expect(first).toHaveAttribute("aria-current", "true");
  await list.getByRole("button", { name: /^Second/ }).click();
  await expect(says("b")).toBeVisible();
  await expect(says("a")).toBeVisible();
  await expect(first).not.toHaveAttribute("aria-current");
  await list.getByLabel("Options for First").click();
  await list.getByRole("button", { name: "Remove" }).click();
  await expect(says("remove")).toBeVisible();
  await expect(says("First")).toBeVisible();
  await expect(list.getByRole("button", { name: "Remove" })).toBeHidden();
  await list.getByText("Earlier").click();
  await expect(list.getByRole("button", { name: "Third" })).toBeDisabled();
  await list.getByRole("button", { name: "New chat" }).click();
  await expect(says("none")).toBeVisible();
});

test("a list of the page's items is at most as wide as the config says, by default 250 pixels", async ({ page }) => {
  for (const [path, width] of [["/", "220px"], ["/changing", "250px"]] as const) {
    await page.goto(path);
    await expect(page.locator(".cw-conversations")).toHaveCSS("max-inline-size", width);
  }
});

test("an open menu stays with its entry when the list changes", async ({ page }) => {
  await page.goto("/changing");
  const list = page.getByRole("navigation", { name: "Conversations" });
  const remove = list.getByRole("button", { name: "Remove" });
  // Before hydration, a click is lost.
  await expect(async () => {
    await list.getByRole("button", { name: "Second", exact: true }).click();
    await expect(page.getByText("chosen b")).toBeVisible({ timeout: 500 });
  }).toPass();
  await list.getByLabel("Options for First").click();
  await expect(remove).toBeVisible();
  // A real click elsewhere would close the menu.
  await page.getByRole("button", { name: "Add" }).dispatchEvent("click", { bubbles: false });
  // An entry was added above it.
  await expect(list.getByRole("button", { name: "New", exact: true })).toBeVisible();
  await expect(remove).toHaveCount(1);
  await remove.click();
  await expect(page.getByRole("heading", { name: "a", exact: true })).toBeVisible();
  // The menu disappears with its entry and does not move to another one.
  await list.getByLabel("Options for First").click();
  await expect(remove).toBeVisible();
  await page.getByRole("button", { name: "Drop" }).dispatchEvent("click", { bubbles: false });
  await expect(list.getByText("First")).toHaveCount(0);
  await expect(remove).toBeHidden();
});

test("a menu of an entry closes with Escape, a click elsewhere and when the focus leaves, and has arrow keys", async ({ page }) => {
  await page.goto("/");
  const list = page.getByRole("navigation", { name: "Conversations" });
  const remove = list.getByRole("button", { name: "Remove" });
  const opener = list.getByLabel("Options for First");
  await expect(page.locator("html[data-alive]")).toHaveCount(1);
  await opener.press("Enter");
  await expect(remove).toBeVisible();
  await opener.press("ArrowDown");
  await expect(remove).toBeFocused();
  await page.keyboard.press("ArrowDown");
  await expect(list.getByRole("button", { name: "copy" })).toBeFocused();
  await page.keyboard.press("Escape");
  await expect(remove).toBeHidden();
  await expect(opener).toBeFocused();
  await opener.click();
  await expect(remove).toBeVisible();
  await page.locator("body").click({ position: { x: 5, y: 5 } });
  await expect(remove).toBeHidden();
  await opener.press("Enter");
  await expect(remove).toBeVisible();
  await page.keyboard.press("Shift+Tab");
  await expect(remove).toBeHidden();
});
