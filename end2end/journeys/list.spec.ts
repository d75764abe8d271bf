import { join } from "node:path";
import { expect, test } from "../fixtures/test.ts";

test.use({ serverOptions: { config: join(import.meta.dirname, "../configs/list.yaml") } });

test("a list that the page keeps by itself", async ({ page }) => {
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
