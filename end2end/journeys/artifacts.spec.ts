import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Locator, Page } from "@playwright/test";
import { accessible, fits } from "../fixtures/axe.ts";
import { Chat } from "../fixtures/chat.ts";
import { everySize } from "../fixtures/sizes.ts";
import { pdf } from "../fixtures/pdf.ts";
import { expect, open, test } from "../fixtures/test.ts";
import { HEBREW } from "../fixtures/words.ts";

const EXAMPLE = join(import.meta.dirname, "../../examples/analyst");
const PHONE = { width: 375, height: 720 };
const WIDE = { width: 1280, height: 900 };

test.use({ serverOptions: { config: EXAMPLE } });
test.describe.configure({ timeout: 360_000 });

/** Has the agent write files with a script, and show them. */
async function presented(page: Page, script: string, ...paths: string[]): Promise<void> {
  const chat = new Chat(page);
  await chat.ask(`start bash: ${script}`);
  await expect(chat.answers.last()).toContainText("Exit code 0");
  await chat.ask(`start present_files: ${paths.join(" ")}`);
}

/** The button of a file that was shown last. */
const file = (page: Page, name: string): Locator => page.locator(".cw-presented").last().getByRole("button", { name: new RegExp(`^${name}`) });
const panelOf = (page: Page, name: string): Locator => page.getByRole("dialog", { name });
const tab = (panel: Locator, name: string): Locator => panel.getByRole("tab", { name, exact: true });

test("a file has a preview, its source, versions that are compared and restored, and is followed while the agent writes", async ({ page }) => {
  await page.setViewportSize(WIDE);
  await open(page);
  await presented(page, "printf '# Plan\\n\\nOne *first* line.\\n\\n- a\\n- b\\n' > /outputs/plan.md", "/outputs/plan.md");
  const button = file(page, "plan.md");
  await button.click();
  const panel = panelOf(page, "plan.md");
  await expect(panel.getByRole("heading", { name: "plan.md" })).toBeFocused();
  await expect(button).toHaveAttribute("aria-expanded", "true");
  await expect(panel.getByRole("heading", { name: "Plan", exact: true })).toBeVisible();
  await expect(panel.getByRole("combobox", { name: "Version" })).toContainText("Version 1");
  // The chat stays in use beside it, and what the agent writes is followed.
  const chat = new Chat(page);
  await chat.ask("start bash: printf '# Plan\\n\\nOne second line.\\n\\n- a\\n- c\\n' > /outputs/plan.md");
  await expect(panel).toContainText("One second line.");
  await everySize(page, "artifact-markdown");
  // By the keyboard.
  await tab(panel, "Preview").focus();
  await page.keyboard.press("ArrowRight");
  await expect(tab(panel, "Source")).toBeFocused();
  await expect(panel.locator("pre")).toContainText("One second line.\n\n- a\n- c");
  await everySize(page, "artifact-source");
  await tab(panel, "Changes").click();
  await expect(panel.getByRole("status").filter({ hasText: "added" })).toHaveText("Lines added: 2, removed: 2");
  await expect(panel.locator("ins")).toHaveText(["One second line.", "- c"]);
  await expect(panel.locator("del")).toHaveText(["One *first* line.", "- b"]);
  await expect(panel.getByRole("combobox", { name: "Compared with" })).toContainText("Version 1");
  await everySize(page, "artifact-changes");
  // An old version stays while the agent writes, until the newest one is wanted.
  await panel.getByRole("combobox", { name: "Version", exact: true }).selectOption({ index: 1 });
  await tab(panel, "Preview").click();
  await expect(panel).toContainText("One first line.");
  await chat.ask("start bash: printf '# Plan\\n\\nThird.\\n' > /outputs/plan.md");
  await expect(panel.getByRole("combobox", { name: "Version", exact: true }).getByRole("option")).toHaveCount(3);
  await expect(panel).toContainText("One first line.");
  await everySize(page, "artifact-old");
  await panel.getByRole("button", { name: "Restore" }).click();
  await expect(panel.getByText("Restored as version 4.")).toBeVisible();
  await expect(panel.getByRole("combobox", { name: "Version", exact: true }).getByRole("option", { selected: true })).toContainText("Version 4");
  await expect(panel).toContainText("One first line.");
  await expect(panel.getByText("This is an older version")).toHaveCount(0);
  // The agent reads what was restored.
  await chat.ask("start read_file: /outputs/plan.md");
  await expect(chat.answers.last()).toContainText("One *first* line.");
  const download = page.waitForEvent("download");
  await panel.getByRole("link", { name: "Download plan.md" }).click();
  expect((await download).suggestedFilename()).toBe("plan.md");
  const archive = page.waitForEvent("download");
  await panel.getByRole("link", { name: "Download all results as a ZIP archive" }).click();
  expect((await archive).suggestedFilename()).toBe("files.zip");
  // Full width, and back.
  const full = panel.getByRole("button", { name: "Full width" });
  await full.click();
  await expect.poll(async () => (await panel.boundingBox())?.width).toBe(WIDE.width);
  await full.click();
  await panel.getByRole("heading", { name: "plan.md" }).click();
  await page.keyboard.press("Escape");
  await expect(panel).toBeHidden();
  await expect(button).toBeFocused();
  await expect(button).toHaveAttribute("aria-expanded", "false");
});

test("a table with 100,000 rows scrolls, with few of them in the document", { tag: "@thorough" }, async ({ page }) => {
  await page.setViewportSize(WIDE);
  await open(page);
  const script = `awk 'BEGIN { print "id,name,price"; for (i = 1; i <= 100000; i++) print i ",\\"Part " i ", large\\"," i % 97 }' > /outputs/parts.csv`;
  await presented(page, script, "/outputs/parts.csv");
  await file(page, "parts.csv").click();
  const panel = panelOf(page, "parts.csv");
  await expect(panel.getByText("Rows: 100,000")).toBeVisible();
  await expect(panel.getByRole("table")).toHaveAttribute("aria-rowcount", "100001");
  await expect(panel.getByRole("cell", { name: "Part 1, large", exact: true })).toBeVisible();
  const rows = panel.locator(".cw-artifact-rows");
  await rows.evaluate((rows) => rows.scrollTo(0, rows.scrollHeight / 2));
  await expect(panel.getByRole("row").filter({ has: page.getByText(/^Part 50\d{3}, large$/) }).first()).toBeVisible();
  await rows.evaluate((rows) => rows.scrollTo(0, rows.scrollHeight));
  await expect(panel.getByRole("cell", { name: "Part 100000, large" })).toBeInViewport();
  await expect(panel.getByRole("columnheader", { name: "name" })).toBeInViewport();
  expect(await panel.locator("td").count()).toBeLessThan(500);
  await accessible(page);
  await rows.evaluate((rows) => rows.scrollTo(0, 0));
  await everySize(page, "artifact-table");
});

test("a page runs in its frame, is followed, and the keyboard leaves it", async ({ page }) => {
  await page.setViewportSize(WIDE);
  await open(page);
  const html = (title: string) =>
    `cat > /outputs/page.html <<'END'\n<!doctype html><html><head><title>x</title><style>body{font-family:sans-serif}a{display:block;padding:8px}</style></head><body><h1>${title}</h1><a href="#end">To the end</a><form><input name="task" required aria-label="Task"><button>Add</button></form><ul></ul><div style="height:2000px"></div><p id="end">The end</p><script>document.querySelector("form").addEventListener("submit", (event) => { event.preventDefault(); const item = document.createElement("li"); item.textContent = event.target.task.value; document.querySelector("ul").append(item); });</script></body></html>\nEND`;
  await presented(page, html("Tasks"), "/outputs/page.html");
  await file(page, "page.html").click();
  const panel = panelOf(page, "page.html");
  const inner = panel.frameLocator("iframe").frameLocator("iframe");
  await expect(inner.getByRole("heading", { name: "Tasks" })).toBeVisible();
  await inner.getByRole("textbox", { name: "Task" }).fill("Water the plants");
  await inner.getByRole("button", { name: "Add" }).click();
  await expect(inner.getByRole("listitem")).toHaveText("Water the plants");
  await inner.getByRole("link", { name: "To the end" }).click();
  await expect(inner.getByText("The end", { exact: true })).toBeInViewport();
  await everySize(page, "artifact-page");
  await new Chat(page).ask(`start bash: ${html("Chores")}`);
  await expect(inner.getByRole("heading", { name: "Chores" })).toBeVisible();
  await inner.getByRole("textbox", { name: "Task" }).press("Escape");
  await expect(panel).toBeHidden();
  await expect(file(page, "page.html")).toBeFocused();
});

test("pictures, JSON, diagrams, code and PDF are shown each in their way", async ({ page }) => {
  await page.setViewportSize(WIDE);
  await open(page);
  const script = [
    `echo '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 20"><rect width="40" height="20" fill="teal"/></svg>' > /outputs/a.svg`,
    `echo '{"b":[1,2.50],"a":{}}' > /outputs/b.json`,
    "printf 'graph LR\\nA-->B\\n' > /outputs/c.mmd",
    "printf 'fn main() {}\\n' > /outputs/d.rs",
    `cat > /outputs/e.pdf <<'END'\n${pdf([["The first page."], ["The second page."]])}\nEND`,
    "printf '%%PDF-1.4\\n1 0 obj\\n<<>>\\nendobj\\n' > /outputs/f.pdf",
  ].join("\n");
  await presented(page, script, "/outputs/a.svg", "/outputs/b.json", "/outputs/c.mmd", "/outputs/d.rs", "/outputs/e.pdf", "/outputs/f.pdf");
  await file(page, "a.svg").click();
  const image = panelOf(page, "a.svg").getByRole("img", { name: "Preview of a.svg" });
  await expect.poll(() => image.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBeGreaterThan(0);
  await everySize(page, "artifact-picture");
  await file(page, "b.json").click();
  await expect(panelOf(page, "b.json").locator("code")).toHaveText('{\n  "b": [\n    1,\n    2.50\n  ],\n  "a": {}\n}');
  await tab(panelOf(page, "b.json"), "Source").click();
  await expect(panelOf(page, "b.json").locator("code")).toHaveText('{"b":[1,2.50],"a":{}}\n');
  await file(page, "c.mmd").click();
  const diagram = panelOf(page, "c.mmd").locator(".cw-diagram");
  await expect(diagram).toBeVisible({ timeout: 30_000 });
  // It follows the file: a new version is drawn, one that is no diagram is shown as it is, the next one is drawn again.
  const chat = new Chat(page);
  await chat.ask("start bash: printf 'graph LR\\nA-->Changed\\n' > /outputs/c.mmd");
  await expect(diagram).toHaveAttribute("alt", /Changed/, { timeout: 30_000 });
  await chat.ask("start bash: printf 'no diagram\\n' > /outputs/c.mmd");
  await expect(panelOf(page, "c.mmd").locator("code")).toHaveText("no diagram\n\n");
  await expect(panelOf(page, "c.mmd").locator("code")).toBeVisible();
  await chat.ask("start bash: printf 'graph LR\\nA-->Again\\n' > /outputs/c.mmd");
  await expect(diagram).toHaveAttribute("alt", /Again/, { timeout: 30_000 });
  await expect(diagram).toBeVisible();
  await file(page, "d.rs").click();
  await expect(panelOf(page, "d.rs").getByRole("tab")).toHaveText(["Source", "Changes"]);
  await expect(panelOf(page, "d.rs").locator("code")).toHaveText("fn main() {}\n");
  await file(page, "e.pdf").click();
  const pages = panelOf(page, "e.pdf").getByRole("group", { name: /^Page \d of 2$/ });
  await expect(pages).toHaveText(["The first page.", "The second page."], { timeout: 30_000 });
  await expect(panelOf(page, "e.pdf").locator("canvas")).toHaveCount(2);
  await expect(panelOf(page, "e.pdf").getByRole("button", { name: "Copy the source" })).toHaveCount(0);
  await everySize(page, "artifact-pdf");
  await file(page, "f.pdf").click();
  await expect(panelOf(page, "f.pdf").getByRole("alert")).toHaveText("The file cannot be shown. Download it to open it.");
  await accessible(page);
});

test("a file that was deleted is said to be gone", async ({ page, server }) => {
  await page.setViewportSize(WIDE);
  await open(page);
  await presented(page, "echo one > /outputs/gone.txt", "/outputs/gone.txt");
  const files = await page.locator(".cw-presented").last().locator("a[href*='/files/']").first().getAttribute("href");
  const list = (files ?? "").replace(/\/files\/.*/, "/files");
  expect((await page.request.delete(`${server.url}${list}?path=/outputs/gone.txt`)).ok()).toBe(true);
  await file(page, "gone.txt").click();
  const panel = panelOf(page, "gone.txt");
  await expect(panel.getByRole("alert")).toContainText("The file was deleted");
  await expect(panel.getByRole("tabpanel")).toHaveAttribute("aria-busy", "false");
  await panel.getByRole("button", { name: "Try again" }).click();
  await expect(panel.getByRole("alert")).toContainText("The file was deleted");
});

test("on the phone the panel takes the whole page, and focus stays in it", async ({ page }) => {
  await page.setViewportSize(PHONE);
  await open(page);
  await presented(page, "printf '# Note\\n\\nText.\\n' > /outputs/note.md", "/outputs/note.md");
  await file(page, "note.md").click();
  const panel = panelOf(page, "note.md");
  await expect(panel.getByRole("heading", { name: "Note", exact: true })).toBeVisible();
  await fits(page);
  await accessible(page);
  const box = await panel.boundingBox();
  expect([box?.x, box?.width]).toEqual([0, PHONE.width]);
  await panel.getByRole("button", { name: "Close" }).click();
  await expect(panel).toBeHidden();
  await expect(file(page, "note.md")).toBeFocused();
});

/** Writes a config with a library and an agent that has files. */
function written(more: string): string {
  const folder = mkdtempSync(join(tmpdir(), "artifacts-"));
  mkdirSync(join(folder, "documents"));
  writeFileSync(join(folder, "documents/plant.md"), "# Valves\n\nThe valves are greased every Friday before the night shift.\n");
  const config = join(folder, "chatwright.yaml");
  writeFileSync(
    config,
    `${more}
connections: [{ id: demo, type: Demo, properties: { delayMs: 0 } }]
libraries: [{ id: plant, title: The plant, folder: documents }]
agents: [{ id: helper, type: Agent, connectionId: demo, knowledge: [plant], workspace: {}, properties: { model: demo } }]
pages: [{ id: home, title: Plant, blocks: [{ id: chat, type: AgentChat, properties: { agentId: helper } }] }]
`,
  );
  return config;
}

test.describe("beside citations", () => {
  test.use({ serverOptions: { config: written("") } });

  test("there is one panel at a time", async ({ page }) => {
    await page.setViewportSize(WIDE);
    await open(page);
    await presented(page, "echo one > /outputs/a.txt", "/outputs/a.txt");
    const button = file(page, "a.txt");
    await button.click();
    const panel = panelOf(page, "a.txt");
    await expect(panel).toBeVisible();
    const chat = new Chat(page);
    const mark = chat.answers.last().getByRole("button", { name: /^Source \d+: plant.md/ }).first();
    await expect(async () => {
      await chat.ask("Tell me about valves");
      await expect(mark).toBeVisible({ timeout: 1_000 });
    }).toPass({ timeout: 60_000 });
    await mark.click();
    await expect(panelOf(page, "plant.md")).toBeVisible();
    await expect(panel).toBeHidden();
    await expect(button).toHaveAttribute("aria-expanded", "false");
    await button.click();
    await expect(panel).toBeVisible();
    await expect(panelOf(page, "plant.md")).toBeHidden();
    await expect(mark).not.toHaveAttribute("aria-expanded", "true");
  });
});

test.describe("in Hebrew", () => {
  test.use({ serverOptions: { config: written("locale: he") } });

  test("the panel is in the language of the page, from right to left", async ({ page }) => {
    await page.setViewportSize(WIDE);
    await open(page, "/", HEBREW);
    const chat = new Chat(page, HEBREW);
    for (const text of ["one\\ntwo", "one\\nthree"]) await chat.ask(`start bash: printf '${text}\\n' > /outputs/a.md`);
    await chat.ask("start present_files: /outputs/a.md");
    await file(page, "a.md").click();
    const panel = panelOf(page, "a.md");
    await expect(panel.getByRole("tab")).toHaveText(["תצוגה מקדימה", "מקור", "שינויים"]);
    await panel.getByRole("tab", { name: "שינויים" }).click();
    await expect(panel.locator("ins")).toHaveText(["three"]);
    await everySize(page, "artifact-hebrew");
    await tab(panel, "תצוגה מקדימה").focus();
    await page.keyboard.press("ArrowLeft");
    await expect(tab(panel, "מקור")).toBeFocused();
  });
});
