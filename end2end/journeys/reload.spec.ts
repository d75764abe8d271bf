import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "../fixtures/test.ts";

const folder = mkdtempSync(join(tmpdir(), "chatwright-config-"));
const file = join(folder, "chatwright.yaml");

/** Writes a config of one page with a heading. */
function write(heading: string): void {
  const page = `pages:\n  - id: home\n    blocks:\n      - { id: title, type: Title, properties: { ${heading} } }\n`;
  writeFileSync(file, page);
}

test.use({ serverOptions: { config: file } });
write("title: First");
test.afterAll(() => rmSync(folder, { recursive: true }));

test("an open page is notified of a changed config and of errors in an invalid one", async ({ page }) => {
  await page.goto("/");
  await expect(page.getByRole("heading", { name: "First" })).toBeVisible();
  write("titel: Second");
  const wrong = page.getByRole("alert").filter({ hasText: "The previous one stays in use" });
  await expect(wrong).toContainText("did you mean `title`?");
  await expect(page.getByRole("heading", { name: "First" })).toBeVisible();
  write("title: Second");
  await expect(wrong).toBeHidden();
  await page.getByRole("button", { name: "Reload" }).click();
  await expect(page.getByRole("heading", { name: "Second" })).toBeVisible();
  await expect(page.getByRole("button", { name: "Reload" })).toBeHidden();
});
