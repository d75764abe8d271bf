import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Locator, Page } from "@playwright/test";
import { accessible, fits } from "../fixtures/axe.ts";
import { Chat } from "../fixtures/chat.ts";
import { attached, choose } from "../fixtures/files.ts";
import { pdf } from "../fixtures/pdf.ts";
import { expect, open, test } from "../fixtures/test.ts";

const PHONE = { width: 375, height: 720 };
const WIDE = { width: 1280, height: 900 };

/** A page with as much text as makes it a passage of its own. */
const filled = (first: string, about: string): string[] => [
  first,
  ...Array.from({ length: 6 }, (_, at) => `Paragraph ${at + 1} of the rules says more about ${about} and who is in charge of it.`),
];

const VALVES = "The valves are greased every Friday before the night shift.";
const PAGES = [
  filled("The plant has two halls and a yard with a crane.", "the halls"),
  filled(VALVES, "the grease"),
  filled("Visitors sign the book at the gate and wear a helmet.", "visitors"),
];
const PRICES = "# Prices\n\nWhat spare parts cost.\n\n| Part | Price |\n|---|---|\n| Gasket | 12 EUR |\n| Impeller | 140 EUR |\n";

/** Writes a config with a folder of documents that can be changed; returns their folders. */
function written(auth: string): { config: string; documents: string } {
  const folder = mkdtempSync(join(tmpdir(), "citations-"));
  const documents = join(folder, "documents");
  mkdirSync(documents);
  writeFileSync(join(documents, "plant.pdf"), pdf(PAGES));
  writeFileSync(join(documents, "prices.md"), PRICES);
  const config = join(folder, "chatwright.yaml");
  writeFileSync(
    config,
    `auth: { mode: ${auth} }
connections: [{ id: demo, type: Demo, properties: { delayMs: 0 } }]
libraries: [{ id: plant, title: The plant, folder: documents }]
agents:
  - { id: helper, type: Agent, connectionId: demo, auth: public, knowledge: [plant], properties: { model: demo } }
  - { id: reader, type: Agent, connectionId: demo, auth: public, knowledge: { attachments: true }, properties: { model: demo } }
pages:
  - { id: home, title: Plant, auth: public, blocks: [{ id: chat, type: AgentChat, properties: { agentId: helper } }] }
  - id: reader
    title: Reader
    auth: public
    blocks: [{ id: chat, type: AgentChat, properties: { agentId: reader, sender: { attachments: { enabled: true } } } }]
`,
  );
  return { config, documents };
}

/** Waits until the panel shows the page of a PDF, drawn and with the quote marked. */
async function markedOnPage(panel: Locator, page: number): Promise<void> {
  await expect(panel.locator("cw-pdf")).toHaveAttribute("data-marked", "", { timeout: 30_000 });
  const shown = panel.getByRole("group", { name: `Page ${page} of 3` });
  await expect(shown).toContainText(VALVES);
  await expect(shown).toBeInViewport();
  // The words are drawn, not only there as text.
  await expect.poll(() => darkPixels(shown.locator("canvas"))).toBeGreaterThan(500);
}

/** The number of dark pixels of a canvas. */
function darkPixels(canvas: Locator): Promise<number> {
  return canvas.evaluate((element) => {
    const { width, height } = element as HTMLCanvasElement;
    const { data } = (element as HTMLCanvasElement).getContext("2d")!.getImageData(0, 0, width, height);
    return data.filter((value, at) => at % 4 === 0 && value < 100).length;
  });
}

/** Takes pictures to look at, light and dark, if a folder for them is named. */
async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env.PICTURES;
  if (folder === undefined) return;
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await page.screenshot({ path: join(folder, `${name}-${colorScheme}.png`) });
  }
  await page.emulateMedia({ colorScheme: "light" });
}

/** Asks until the documents are read, and returns the mark of the first citation. */
async function cited(page: Page, question: string, file: string): Promise<Locator> {
  const chat = new Chat(page);
  const mark = chat.answers.last().getByRole("button", { name: new RegExp(`^Source \\d+: ${file}`) }).first();
  await expect(async () => {
    await chat.ask(question);
    await expect(mark).toBeVisible({ timeout: 1_000 });
  }).toPass({ timeout: 60_000 });
  return mark;
}

test.describe("documents that answers cite", () => {
  const { config, documents } = written("local");
  test.use({ serverOptions: { config } });
  test.describe.configure({ timeout: 180_000 });

  test("a citation has a card and opens its document at the place, until it is deleted", async ({ page, console }) => {
    console.expect(/status of 404/);
    await page.setViewportSize(WIDE);
    await open(page);
    const mark = await cited(page, "Tell me about valves", "plant.pdf");
    const card = page.getByRole("tooltip");
    // Content that appears below the answer moves the number away from the pointer.
    await expect(async () => {
      await page.mouse.move(1, 1);
      await mark.hover();
      await expect(card).toBeVisible({ timeout: 2_000 });
    }).toPass();
    await expect(card).toContainText("plant.pdf");
    await expect(card).toContainText("page 2");
    await expect(card).toContainText(VALVES);
    await expect(card).toContainText("Relevance 100 %");
    await expect(mark).toHaveAccessibleDescription(/plant\.pdf/);
    await picture(page, "card");
    // It leaves its number free, and stays while the pointer is on it.
    const [number, shown] = [(await mark.boundingBox())!, (await card.boundingBox())!];
    expect(shown.y >= number.y + number.height || shown.y + shown.height <= number.y).toBe(true);
    await card.hover();
    await page.waitForTimeout(500);
    await expect(card).toBeVisible();
    await page.mouse.move(1, 1);
    await expect(card).toBeHidden();
    // By the keyboard.
    await new Chat(page).composer.press("Shift+Tab");
    await mark.focus();
    await expect(card).toBeVisible();
    await accessible(page);
    await page.keyboard.press("Escape");
    await expect(card).toBeHidden();
    await expect(mark).toBeFocused();
    await page.keyboard.press("Enter");
    const panel = page.getByRole("dialog", { name: "plant.pdf" });
    await expect(panel.getByRole("heading", { name: "plant.pdf" })).toBeFocused();
    await markedOnPage(panel, 2);
    await expect(panel.getByRole("link", { name: "Open the file" })).toHaveAttribute("href", /\/file\?conversationId=[^#]+#page=2$/);
    await expect(mark).toHaveAttribute("aria-expanded", "true");
    // The answer can still be read and used.
    await expect(mark).toBeInViewport();
    await accessible(page);
    await picture(page, "panel");
    await panel.getByRole("button", { name: "Show as text" }).click();
    await expect(panel.locator("mark")).toContainText(VALVES);
    await expect(panel.locator("mark")).toBeInViewport();
    await expect(panel.locator("[data-found]")).toContainText("Page 2");
    await accessible(page);
    await picture(page, "panel-text");
    await panel.getByRole("button", { name: "Show the pages" }).click();
    await markedOnPage(panel, 2);
    await page.keyboard.press("Escape");
    await expect(panel).toBeHidden();
    await expect(mark).toBeFocused();
    await page.setViewportSize(PHONE);
    await mark.click();
    await markedOnPage(panel, 2);
    await fits(page);
    await accessible(page);
    await picture(page, "panel-phone");
    await panel.getByRole("button", { name: "Close" }).click();
    // Deleted: what was quoted stays.
    rmSync(join(documents, "plant.pdf"));
    const count = async () => ((await (await page.request.get("/api/libraries/plant")).json()) as { documents: { ready: number } }).documents.ready;
    await expect.poll(count, { timeout: 30_000 }).toBe(1);
    await page.setViewportSize(WIDE);
    await mark.click();
    await expect(panel).toContainText("The document was deleted, or you may not read it.");
    await expect(panel.getByRole("blockquote")).toContainText(VALVES);
    await accessible(page);
    await picture(page, "panel-deleted");
  });

  test("tables are shown as such, with the quoted rows marked", async ({ page }) => {
    await page.setViewportSize(WIDE);
    await open(page);
    const mark = await cited(page, "Tell me about impeller", "prices.md");
    await mark.click();
    const panel = page.getByRole("dialog", { name: "prices.md" });
    await expect(panel.getByRole("cell", { name: "140 EUR" }).locator("mark")).toBeVisible();
    await expect(panel.getByText("Prices", { exact: true })).toBeVisible();
    await picture(page, "panel-table");
  });
});

test.describe("visitors", () => {
  test.use({ serverOptions: { config: written("anonymous").config } });

  test("a visitor opens what was cited to them, and a stranger does not", async ({ page, browser, server }) => {
    test.setTimeout(120_000);
    await page.setViewportSize(WIDE);
    await open(page);
    const mark = await cited(page, "Tell me about valves", "plant.pdf");
    await mark.click();
    const panel = page.getByRole("dialog", { name: "plant.pdf" });
    await markedOnPage(panel, 2);
    const file = (await panel.getByRole("link", { name: "Open the file" }).getAttribute("href")) as string;
    expect((await page.request.get(file)).headers()["content-type"]).toBe("application/pdf");
    expect((await page.request.get(file.replace(/\?.*/, ""))).status()).toBe(404);
    const stranger = await browser.newContext({ baseURL: server.url });
    expect((await stranger.request.get(file)).status()).toBe(404);
    await stranger.close();
  });
});

test.describe("what is attached", () => {
  test.use({ serverOptions: { config: written("anonymous").config } });

  test("an agent answers from an attached document, and its citation opens at the page", async ({ page }) => {
    test.setTimeout(120_000);
    await page.setViewportSize(WIDE);
    await open(page, "/reader");
    const chat = new Chat(page);
    await choose(page, { name: "attached.pdf", mimeType: "application/pdf", buffer: Buffer.from(pdf(PAGES)) });
    await expect(attached(page)).toHaveCount(1);
    await chat.ask("Tell me about valves");
    await chat.idle();
    const mark = chat.answers.last().getByRole("button", { name: /^Source \d+: attached.pdf/ }).first();
    await mark.click();
    const panel = page.getByRole("dialog", { name: "attached.pdf" });
    await markedOnPage(panel, 2);
    await accessible(page);
    await picture(page, "attached");
    // It is still found after a reload.
    await page.reload();
    await cited(page, "Where is the grease?", "attached.pdf");
  });
});

test.describe("the demo", () => {
  test.describe.configure({ timeout: 120_000 });

  test("the first page shows a cited answer", async ({ page }) => {
    await page.setViewportSize(WIDE);
    await open(page);
    await expect(page.getByRole("button", { name: "Who is on call at night?" })).toBeVisible();
    await picture(page, "demo-welcome");
    const mark = await cited(page, "Who is on call at night?", "on-call.md");
    await mark.click();
    const panel = page.getByRole("dialog", { name: "on-call.md" });
    await expect(panel.locator("mark").first()).toBeInViewport();
    // The chat is not covered.
    await expect(panel).toHaveAttribute("data-side", "left");
    await mark.click({ trial: true });
    await accessible(page);
    await picture(page, "demo-panel");
  });
});
