import { join } from "node:path";
import { everySize } from "../fixtures/sizes.ts";
import { expect, test } from "../fixtures/test.ts";

test.use({ serverOptions: { config: join(import.meta.dirname, "../configs/console-config.yaml") } });

/** Returns a page with this title, as changes of the config. */
function changes(title: string, type = "Title"): string {
  return `pages:
  - id: home
    blocks:
      - { id: heading, type: ${type}, properties: { title: ${title} } }
      - { id: chat, type: AgentChat, properties: { agentId: helper } }
`;
}

test("an administrator changes a page: a mistake, a trial, the publication, and back", async ({ page }) => {
  const heading = (name: string) => page.getByRole("heading", { name, exact: true });
  const field = page.getByLabel("Changes (YAML)");

  await page.goto("/admin/config/files");
  const file = page.getByLabel("console-config.yaml", { exact: true }).last();
  await expect(file).toContainText("apiKey: ***");
  expect(await page.content()).not.toContain("canary");
  await everySize(page, "config-files");

  await page.getByRole("link", { name: "Change", exact: true }).click();
  await field.fill(changes("From the console", "Titel"));
  await page.getByRole("button", { name: "Save and check" }).click();
  await expect(page.getByRole("alert")).toContainText("Line 4, column");
  await expect(page.getByLabel("The changes with what is wrong")).toContainText("= help: did you mean `Title`?");
  await expect(page.getByRole("button", { name: "Publish" })).toHaveCount(0);
  await everySize(page, "config-mistake");

  await field.fill(changes("From the console"));
  await page.getByRole("button", { name: "Save and check" }).click();
  await expect(page.getByText("The checker finds nothing wrong.")).toBeVisible();
  await expect(page.getByRole("listitem").filter({ hasText: "pages/home changed" })).toBeVisible();
  await page.getByRole("button", { name: "Try it", exact: true }).click();
  await page.getByRole("link", { name: "Open the app" }).click();
  await expect(heading("From the console")).toBeVisible();
  await page.goto("/admin/config/draft");
  await page.getByRole("button", { name: "End the trial" }).click();
  await page.goto("/");
  await expect(heading("From the files")).toBeVisible();

  await page.goto("/admin/config/draft");
  await page.getByRole("button", { name: "Publish" }).click();
  await expect(page.getByRole("status").filter({ hasText: "Published." })).toBeVisible();
  await field.fill(changes("From the second version"));
  await page.getByRole("button", { name: "Save and check" }).click();
  // The words that differ are marked.
  await expect(page.locator("ins strong").filter({ hasText: "second version" })).toBeVisible();
  await everySize(page, "config-difference");
  await page.getByRole("button", { name: "Publish" }).click();
  await page.goto("/");
  await expect(heading("From the second version")).toBeVisible();

  await page.goto("/admin/config/versions");
  await everySize(page, "config-versions");
  await page.getByRole("row", { name: /^1 / }).getByRole("link").click();
  await everySize(page, "config-version");
  await page.getByRole("button", { name: "Publish this again" }).click();
  await expect(page.getByRole("row", { name: /^3 .*version 1 again.*in use/ })).toBeVisible();
  await page.goto("/");
  await expect(heading("From the console")).toBeVisible();
});
