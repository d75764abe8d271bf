import { join } from "node:path";
import type { Locator, Page } from "@playwright/test";
import { first, signUp } from "../fixtures/accounts.ts";
import { accessible, fits } from "../fixtures/axe.ts";
import { expect, test } from "../fixtures/test.ts";

const PHONE = { width: 375, height: 720 };
const WIDE = { width: 1280, height: 900 };
const PUMPS = "# Pumps\n\n## Night\n\nThe pumps run from 22:00 to 6:00.\n\n## Day\n\nAt noon the valves are cleaned.\n";

type NewFile = { name: string; mimeType: string; buffer: Buffer };

const text = (name: string, content: string): NewFile => ({ name, mimeType: "text/markdown", buffer: Buffer.from(content) });

/** A text whose reading takes a while. */
const long = (name: string): NewFile =>
  text(name, Array.from({ length: 60_000 }, (_, line) => `Line ${line} is about pumps, valves and the night shift.\n\n`).join(""));

/** Opens a page that has no chat, and waits until it is alive. */
async function visit(page: Page, path: string): Promise<void> {
  await page.goto(path);
  await expect(page.locator("html[data-alive]")).toHaveCount(1, { timeout: 30_000 });
}

/** Takes pictures to look at, light and dark, if a folder for them is named. */
async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env.PICTURES;
  if (folder === undefined) return;
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await page.screenshot({ path: join(folder, `${name}-${colorScheme}.png`), fullPage: true });
  }
  await page.emulateMedia({ colorScheme: "light" });
}

/** Waits until the server has found the files in the folder of the config; the library itself is there from the start on. */
async function followed(page: Page): Promise<void> {
  type Counts = { queued: number; processing: number; ready: number };
  const found = async () => {
    const { items } = (await (await page.request.get("/api/libraries")).json()) as { items: { documents: Counts }[] };
    return items.reduce((sum, { documents }) => sum + documents.queued + documents.processing + documents.ready, 0);
  };
  await expect.poll(found, { timeout: 30_000 }).toBeGreaterThan(0);
}

async function create(page: Page, name: string): Promise<void> {
  await page.getByRole("button", { name: "New library" }).click();
  await page.getByLabel("Name").fill(name);
  await page.getByRole("button", { name: "Create" }).click();
  await expect(page.getByRole("heading", { name, level: 3 })).toBeVisible();
}

async function upload(page: Page, ...files: NewFile[]): Promise<void> {
  const chosen = page.waitForEvent("filechooser");
  await page.getByRole("button", { name: "Add files" }).click();
  await (await chosen).setFiles(files);
}

/** The row of a document. */
function row(page: Page, name: string): Locator {
  const rows = page.getByRole("list", { name: "Documents" }).getByRole("listitem");
  return rows.filter({ has: page.getByRole("link", { name, exact: true }) });
}

test.describe("libraries of the only user", () => {
  test.use({ serverOptions: { config: join(import.meta.dirname, "../configs/libraries.yaml") } });
  test.describe.configure({ timeout: 180_000 });

  test("a document is uploaded, read, found and opened at its passage", async ({ page }) => {
    await page.setViewportSize(WIDE);
    await followed(page);
    await visit(page, "/documents");
    await expect(page.getByRole("link", { name: /Employee handbook/ })).toBeVisible();
    await picture(page, "list");
    await page.getByRole("button", { name: "New library" }).click();
    await expect(page.getByLabel("Name")).toBeFocused();
    await page.getByLabel("Name").fill("Plant");
    await page.getByLabel("Description").fill("How the plant works");
    await page.getByRole("group", { name: "Roles that may read" }).getByLabel("staff").check();
    await accessible(page);
    await picture(page, "create");
    await page.getByRole("button", { name: "Create" }).click();
    await expect(page.getByText("May be read by: staff")).toBeVisible();
    await expect(page.getByText("No documents yet.")).toBeVisible();
    await accessible(page);
    await picture(page, "empty");
    await upload(page, text("pumps.md", PUMPS), text("other.md", "# Other\n\nNothing of interest.\n"));
    // The states arrive without a reload.
    await expect(row(page, "pumps.md").getByText("Ready")).toBeVisible({ timeout: 30_000 });
    await expect(row(page, "other.md").getByText("Ready")).toBeVisible({ timeout: 30_000 });
    await expect(page.getByText("2 of 2 files uploaded")).toBeVisible();
    await accessible(page);
    await picture(page, "ready");
    await page.getByRole("searchbox", { name: "Search in this library" }).fill("running pump");
    await page.getByRole("searchbox", { name: "Search in this library" }).press("Enter");
    const results = page.getByRole("list", { name: "Results" });
    // Marked by the stem.
    await expect(results.locator("mark").filter({ hasText: "pumps run" })).toBeVisible();
    await accessible(page);
    await picture(page, "search");
    await page.getByLabel("How to search").selectOption("keyword");
    await expect(results.getByRole("link", { name: "pumps.md" })).toBeVisible();
    await results.getByRole("link", { name: "pumps.md" }).first().click();
    await expect(page.getByRole("heading", { name: "pumps.md" })).toBeFocused();
    await expect(page.getByRole("button", { name: "Passages" })).toHaveAttribute("aria-pressed", "true");
    await expect(page.locator("[data-found]")).toContainText("The pumps run from 22:00 to 6:00.");
    await accessible(page);
    await picture(page, "passages");
    await page.getByRole("button", { name: "Text" }).click();
    await expect(page.getByText("At noon the valves are cleaned.")).toBeVisible();
    const download = page.waitForEvent("download");
    await page.getByRole("link", { name: "Download the file" }).click();
    expect((await download).suggestedFilename()).toBe("pumps.md");
    // The browser's Back button leads to the results.
    await page.goBack();
    await expect(results.locator("mark").first()).toBeVisible();
    // A link to a document works for itself.
    await page.getByRole("list", { name: "Documents" }).getByRole("link", { name: "other.md" }).click();
    await page.reload();
    await expect(page.getByText("Nothing of interest.")).toBeVisible();
  });

  test("a failed file says why, and reading is cancelled, retried and ended by deleting", async ({ page }) => {
    await page.setViewportSize(WIDE);
    await visit(page, "/documents");
    await create(page, "Notes");
    await upload(page, text("blank.md", " \n"));
    await expect(row(page, "blank.md").getByText("Failed")).toBeVisible({ timeout: 30_000 });
    await expect(row(page, "blank.md")).toContainText(/no text|empty/i);
    await accessible(page);
    await picture(page, "failed");
    await row(page, "blank.md").getByRole("button", { name: "Read blank.md again" }).click();
    await expect(row(page, "blank.md").getByText("Failed")).toBeVisible({ timeout: 30_000 });
    await upload(page, long("long.md"));
    const cancel = row(page, "long.md").getByRole("button", { name: "Cancel reading long.md" });
    await cancel.click({ timeout: 60_000 });
    await expect(row(page, "long.md")).toContainText("Reading was cancelled.");
    await page.getByLabel("Show").selectOption("Failed");
    await expect(page.getByRole("list", { name: "Documents" }).getByRole("listitem")).toHaveCount(2);
    await page.getByLabel("Show").selectOption("All documents");
    await row(page, "long.md").getByRole("button", { name: "Read long.md again" }).click();
    // A fast machine has read it before the page shows that.
    const again = row(page, "long.md").getByRole("progressbar").or(row(page, "long.md").getByText("Ready"));
    await expect(again).toBeVisible({ timeout: 30_000 });
    await picture(page, "reading");
    // Deleted while it is read, or just after.
    await row(page, "long.md").getByRole("button", { name: "Delete long.md" }).click();
    await expect(page.getByRole("dialog", { name: "Delete “long.md”?" })).toBeVisible();
    await accessible(page);
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await expect(row(page, "long.md")).toHaveCount(0);
    await expect(page.getByText("1 failed")).not.toHaveCount(0);
    await page.reload();
    await expect(row(page, "blank.md")).toBeVisible();
    await expect(row(page, "long.md")).toHaveCount(0);
    // The whole library goes, after a question.
    await page.getByRole("button", { name: "Delete the library" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await expect(page.getByRole("link", { name: /Employee handbook/ })).toBeVisible();
    await expect(page.getByRole("link", { name: /Notes/ })).toHaveCount(0);
  });

  test("the user decides about a file whose name is known, and renames the library", async ({ page }) => {
    await page.setViewportSize(WIDE);
    await visit(page, "/documents");
    await create(page, "Rules");
    await upload(page, text("a.md", "# A\n\nFirst version.\n"), text("b.md", "# B\n\nFirst version.\n"));
    await expect(row(page, "a.md").getByText("Ready")).toBeVisible({ timeout: 30_000 });
    await expect(row(page, "b.md").getByText("Ready")).toBeVisible({ timeout: 30_000 });
    await upload(page, text("a.md", "# A\n\nSecond version.\n"), text("b.md", "# B\n\nSecond version.\n"));
    const question = page.getByRole("group", { name: "Action for a.md" });
    await expect(question).toBeVisible();
    await expect(page.getByRole("group", { name: "Action for b.md" })).toBeVisible();
    await accessible(page);
    await picture(page, "same-name");
    await question.getByLabel("Do this for all duplicate names").check();
    await question.getByRole("button", { name: "Replace it" }).click();
    await expect(page.getByText("2 of 2 files uploaded")).toBeVisible();
    await expect(page.getByRole("list", { name: "Documents" }).getByRole("listitem")).toHaveCount(2);
    await expect(row(page, "a.md").getByText("Ready")).toBeVisible({ timeout: 30_000 });
    await row(page, "a.md").getByRole("link").click();
    await expect(page.getByText("Second version.")).toBeVisible({ timeout: 30_000 });
    await page.getByRole("link", { name: "Back to the library" }).click();
    await page.getByRole("button", { name: "Edit the library" }).click();
    await page.getByLabel("Name").fill("Rules of the house");
    await page.getByRole("group", { name: "Roles that may add" }).getByLabel("editor").check();
    await page.getByRole("button", { name: "Save" }).click();
    await expect(page.getByRole("heading", { name: "Rules of the house" })).toBeVisible();
    await expect(page.getByText("May be changed by: editor")).toBeVisible();
  });

  test("what is left out of a document is said, and what a file is known as", async ({ page }) => {
    await visit(page, "/documents");
    await create(page, "Tables");
    const line = Array.from({ length: 501 }, (_, column) => `pump${column}`).join(",");
    const wide = { name: "wide.csv", mimeType: "text/csv", buffer: Buffer.from(`${line}\n${line}\n`) };
    await upload(page, wide);
    await expect(row(page, "wide.csv").getByText("Ready")).toBeVisible({ timeout: 30_000 });
    await expect(row(page, "wide.csv")).toContainText("Only the first 500 of 501 columns were read.");
    await upload(page, { ...wide, name: "again.csv" });
    await expect(page.getByText("Its content is in the library already. (wide.csv)")).toBeVisible();
    await accessible(page);
  });

  test("a library that follows a folder is read-only, on a phone and by keyboard", async ({ page }) => {
    await page.setViewportSize(PHONE);
    await followed(page);
    await visit(page, "/handbook");
    await expect(page.getByText("Follows a folder")).toBeVisible();
    await expect(row(page, "vacation.md").getByText("Ready")).toBeVisible({ timeout: 60_000 });
    await expect(page.getByRole("button", { name: "Add files" })).toHaveCount(0);
    await expect(page.getByRole("button", { name: /^Delete/ })).toHaveCount(0);
    await fits(page);
    await accessible(page);
    await picture(page, "phone-folder");
    await page.getByRole("searchbox", { name: "Search in this library" }).focus();
    await page.keyboard.type("vacation");
    await page.keyboard.press("Enter");
    await expect(page.getByRole("list", { name: "Results" }).locator("mark").first()).toBeVisible();
    await fits(page);
    await picture(page, "phone-search");
    // The mode, the button, then the first result.
    for (let press = 0; press < 3; press += 1) await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await expect(page.getByRole("button", { name: "Passages" })).toHaveAttribute("aria-pressed", "true");
    await expect(page.locator("[data-found]")).toBeVisible();
    await fits(page);
    await accessible(page);
    await picture(page, "phone-document");
    await visit(page, "/documents");
    await create(page, "On the phone");
    await upload(page, text("a-long-name-that-does-not-fit-into-a-line-of-a-phone.md", PUMPS));
    await expect(row(page, "a-long-name-that-does-not-fit-into-a-line-of-a-phone.md").getByText("Ready")).toBeVisible({ timeout: 30_000 });
    await fits(page);
    await picture(page, "phone-ready");
  });

  test("entities are listed, searched, followed and opened where they are mentioned", async ({ page }) => {
    await page.setViewportSize(WIDE);
    await followed(page);
    await visit(page, "/handbook");
    await page.getByRole("link", { name: "Entities" }).click();
    await expect(page.getByText("7 entities and 6 relations")).toBeVisible({ timeout: 90_000 });
    const list = page.getByRole("list", { name: "Entities" });
    await expect(list.getByRole("listitem")).toHaveCount(7);
    await accessible(page);
    await picture(page, "entities");
    await page.getByLabel("Type").selectOption("team");
    await expect(list.getByRole("listitem")).toHaveCount(3);
    await page.getByRole("searchbox", { name: "Search entities" }).fill("desk");
    await page.getByRole("searchbox", { name: "Search entities" }).press("Enter");
    await expect(list.getByRole("listitem")).toHaveCount(1);
    await list.getByRole("link", { name: "service desk" }).click();
    await expect(page.getByRole("heading", { name: "service desk" })).toBeFocused();
    const relations = page.getByRole("list", { name: "Relations" });
    await expect(relations).toContainText("Jonas Weber leads the service desk.");
    await accessible(page);
    await picture(page, "entity");
    // From one entity to the next, and back.
    await relations.getByRole("link", { name: "Jonas Weber" }).click();
    await expect(page.getByRole("heading", { name: "Jonas Weber" })).toBeVisible();
    await page.goBack();
    await expect(page.getByRole("heading", { name: "service desk" })).toBeVisible();
    await page.setViewportSize(PHONE);
    await fits(page);
    await picture(page, "phone-entity");
    await relations.getByRole("link", { name: /who-is-who.md/ }).click();
    await expect(page.locator("[data-found]")).toContainText("Jonas Weber leads the service desk.");
    // A link to the list works for itself.
    await page.goto(`${page.url().split("?")[0]}?entity=all`);
    await expect(list.getByRole("listitem")).toHaveCount(7);
  });

  test("what was asked of a library is listed, also without results alone", async ({ page }) => {
    await page.setViewportSize(WIDE);
    await visit(page, "/documents");
    await create(page, "Asked");
    const tabs = page.getByRole("navigation", { name: "Asked" });
    await tabs.getByRole("link", { name: "Questions" }).click();
    await expect(page.getByText("Nothing was asked yet.")).toBeVisible();
    await accessible(page);
    await tabs.getByRole("link", { name: "Documents" }).click();
    await upload(page, text("pumps.md", PUMPS));
    await expect(row(page, "pumps.md").getByText("Ready")).toBeVisible({ timeout: 30_000 });
    const field = page.getByRole("searchbox", { name: "Search in this library" });
    await field.fill("When do the pumps run?");
    await field.press("Enter");
    await expect(page.getByRole("list", { name: "Results" }).locator("mark").first()).toBeVisible();
    await field.fill("Zzyzx qwertz?");
    await field.press("Enter");
    await expect(page.getByText("Nothing was found.")).toBeVisible();
    // By keyboard.
    await tabs.getByRole("link", { name: "Questions" }).focus();
    await page.keyboard.press("Enter");
    const questions = page.getByRole("list", { name: "Questions" }).getByRole("listitem");
    // A question is stored after the search.
    await expect(async () => {
      await page.reload();
      await expect(questions).toHaveCount(2, { timeout: 3_000 });
    }).toPass();
    await expect(questions.nth(0)).toContainText("Zzyzx qwertz?");
    await expect(questions.nth(0)).toContainText("Nothing was found.");
    await expect(questions.nth(1)).toContainText("When do the pumps run?");
    await expect(questions.nth(1)).toContainText(/passages? found/);
    await expect(questions.nth(1)).toContainText("Search · you");
    await accessible(page);
    await picture(page, "questions");
    await page.getByLabel("Only without results").check();
    await expect(questions).toHaveCount(1);
    await expect(questions).toContainText("Zzyzx qwertz?");
    await page.setViewportSize(PHONE);
    await fits(page);
    await accessible(page);
    await picture(page, "phone-questions");
    // The only user is the administrator, who looks after the libraries of the config.
    await visit(page, "/handbook?questions=all");
    await expect(page.getByLabel("Only without results")).toBeVisible();
  });

  test("files of a dropped folder are uploaded", async ({ page }) => {
    await visit(page, "/documents");
    await create(page, "Dropped");
    // A folder cannot be dropped by a script, but its files can.
    const data = await page.evaluateHandle(() => {
      const data = new DataTransfer();
      for (const name of ["one.md", "two.md"]) data.items.add(new File([`# ${name}\n\nText.\n`], name));
      return data;
    });
    const area = page.getByRole("group", { name: "Drop files or folders here, or" });
    await area.dispatchEvent("dragover", { dataTransfer: data });
    await area.dispatchEvent("drop", { dataTransfer: data });
    await expect(row(page, "one.md").getByText("Ready")).toBeVisible({ timeout: 30_000 });
    await expect(row(page, "two.md").getByText("Ready")).toBeVisible({ timeout: 30_000 });
    await expect(page.getByRole("list", { name: "Documents" }).getByRole("listitem")).toHaveCount(2);
  });

  test("what the server cannot say is said and tried again", async ({ page, console }) => {
    console.expect(/Failed to load resource|ERR_FAILED|status of 503/);
    await followed(page);
    await page.route("**/api/libraries", (route) => route.abort());
    await visit(page, "/documents");
    await expect(page.getByRole("alert").filter({ hasText: "Try again" })).toBeVisible();
    await picture(page, "error");
    await page.unroute("**/api/libraries");
    await page.getByRole("button", { name: "Try again" }).click();
    await expect(page.getByRole("link", { name: /Employee handbook/ })).toBeVisible();
  });
});

test.describe("libraries of several users", () => {
  test.use({ serverOptions: { config: join(import.meta.dirname, "../configs/libraries-accounts.yaml") } });
  test.describe.configure({ timeout: 180_000 });

  test("a stranger's library is not there, and a visitor is asked to sign in", async ({ page, server, browser, console }) => {
    console.expect(/status of 40[14]/);
    await first(page, server, "ada");
    await visit(page, "/documents");
    await create(page, "Secret plans");
    const url = page.url();
    const other = await browser.newContext({ baseURL: server.url });
    const bob = await other.newPage();
    await signUp(bob, "bob");
    await bob.goto(url);
    await expect(bob.getByText("This library does not exist, or you may not read it.")).toBeVisible();
    await accessible(bob);
    const id = new URL(url).searchParams.get("library");
    for (const path of ["", "/documents", "/changes"]) {
      expect((await bob.request.get(`/api/libraries/${id}${path}`)).status()).toBe(404);
    }
    await bob.goto("/documents");
    await expect(bob.getByText("There are no libraries yet.")).toBeVisible();
    await picture(bob, "none");
    await other.close();
  });
});
