import type { Page } from "@playwright/test";
import { accessible, fits } from "../fixtures/axe.ts";
import { Chat } from "../fixtures/chat.ts";
import { TEXTS } from "../fixtures/texts.ts";
import { alive, expect, open } from "../fixtures/test.ts";
import { CITED, conversation, writer } from "../fixtures/writer.ts";

const test = writer(TEXTS);

/** The highlighted texts, sorted, since blocks are highlighted as their grammars arrive. */
function coloured(page: Page, colour: string): Promise<string[]> {
  return page.evaluate((colour) => {
    const ranges = [...(CSS.highlights.get(`cw-code-${colour}`) ?? [])];
    return ranges.map((range) => (range.startContainer as Text).data.slice(range.startOffset, range.endOffset)).sort();
  }, colour);
}

test("code is coloured, wrapped and copied, and coloured again after a reload", async ({ page, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await open(page);
  const chat = new Chat(page);
  await chat.ask("code");
  const answer = chat.answers.first();
  const check = async () => {
    await expect.poll(() => coloured(page, "comment")).toEqual(["# keep it", "// often enough", "/// Greets whoever is there."]);
    await expect.poll(() => coloured(page, "number")).toContain("42");
    await expect.poll(() => coloured(page, "keyword")).toEqual(expect.arrayContaining(["fn", "let", "false"]));
    await expect.poll(() => coloured(page, "removed")).toEqual(["- let times = 41;"]);
  };
  await check();
  // The button is only shown if a line is too long.
  const wrap = answer.getByRole("button", { name: "Wrap" });
  await expect(wrap).toHaveCount(1);
  await wrap.click();
  await expect(wrap).toHaveAttribute("aria-pressed", "true");
  const pre = answer.locator("pre").first();
  expect(await pre.evaluate((pre) => pre.scrollWidth <= pre.clientWidth)).toBe(true);
  await answer.getByRole("button", { name: "Copy code" }).nth(1).click();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe("cargo run --release | tee out.txt # keep it\n");
  await page.reload();
  await check();
  // Removed blocks have no highlights left.
  await page.getByRole("link", { name: "New conversation" }).click();
  await expect(chat.answers).toHaveCount(0);
  await expect.poll(() => coloured(page, "comment")).toEqual([]);
});

test("formulas are rendered and prices and other dollar signs stay text", async ({ page }) => {
  await open(page);
  const chat = new Chat(page);
  await chat.ask("formulas");
  const answer = chat.answers.first();
  const check = async () => {
    await expect(answer.locator("math")).toHaveCount(5);
    await expect(answer.locator("math").nth(1).locator("mfrac msqrt")).toHaveCount(1);
    await expect(answer).toContainText("It costs $5 and $6, or between $5-$10.");
    await expect(answer).toContainText("$\\nonsense{x}$");
    await expect(answer).not.toContainText("\\begin");
    expect(await answer.locator("mfrac").first().evaluate((element) => element.namespaceURI)).toContain("MathML");
  };
  await check();
  // Its code is loaded by the page that shows it.
  await page.reload();
  await expect(page.locator("meta[name=chunk][content=math]")).toHaveCount(1);
  await check();
});

test("named character references are shown as their characters", async ({ page }) => {
  await open(page);
  const chat = new Chat(page);
  await chat.ask("names of characters");
  const answer = chat.answers.last();
  const check = async () => {
    await expect(answer).toContainText("© 2026 Ada & Co → ½ of it, but &nonsense; &; and AT&T stay. In code: &copy;.");
    await expect(answer.getByRole("link", { name: "there" })).toHaveAttribute("href", "https://example.org/?a=1&b=2");
  };
  await check();
  await page.reload();
  await check();
});

test("footnotes link to the note and back", async ({ page }) => {
  await open(page);
  const chat = new Chat(page);
  await chat.ask("footnotes");
  const answer = chat.answers.first();
  await expect(answer).not.toContainText("[^");
  await expect(answer.getByRole("note")).toHaveCount(2);
  await answer.getByRole("button", { name: "Footnote everest", exact: true }).click();
  const note = answer.getByRole("note", { name: "Footnote everest" });
  await expect(note).toBeFocused();
  await expect(note).toContainText("At about 340 hPa.");
  await note.getByRole("button", { name: "Back to footnote everest in the text" }).click();
  await expect(answer.getByRole("button", { name: "Footnote everest", exact: true })).toBeFocused();
  await expect(answer.getByRole("checkbox", { name: "Done" })).toHaveCount(2);
  await expect(answer.locator("ul ul > li, ol ol > li")).toHaveCount(4);
});

test("a diagram is rendered with its source one click away and an invalid one stays code", async ({ page }) => {
  await open(page);
  const chat = new Chat(page);
  await chat.ask("diagrams");
  const answer = chat.answers.first();
  const drawn = answer.getByRole("img", { name: /^Diagram: / });
  await expect(drawn).toHaveCount(2, { timeout: 30_000 });
  await expect(drawn.first()).toHaveAttribute("alt", /Order placed/);
  expect(await drawn.first().evaluate((image: HTMLImageElement) => image.naturalWidth)).toBeGreaterThan(200);
  await expect(answer.getByText("nowhere")).toBeVisible();
  const source = answer.getByRole("button", { name: "Source" }).first();
  await source.click();
  await expect(source).toHaveAttribute("aria-pressed", "true");
  await expect(answer.getByText("B -- yes --> C")).toBeVisible();
  await expect(drawn).toHaveCount(1);
  await source.click();
  await expect(drawn).toHaveCount(2);
});

test("what a model writes into formulas and diagrams reaches no other host", async ({ page, console }) => {
  // The content security policy of the diagram renderer logs what it blocks.
  console.expect(/Content Security Policy|sandboxed|ERR_BLOCKED|@import rules are not allowed/);
  const elsewhere: string[] = [];
  await page.context().route(/elsewhere\.test/, (route) => {
    elsewhere.push(route.request().url());
    return route.abort();
  });
  await open(page);
  const chat = new Chat(page);
  await chat.ask("hostile");
  const answer = chat.answers.first();
  await expect(answer.getByRole("img", { name: /^Diagram: / }).or(answer.locator("[data-undrawn]"))).toHaveCount(2, { timeout: 30_000 });
  await expect(answer.getByRole("link")).toHaveCount(0);
  expect(elsewhere).toEqual([]);
  expect(await page.evaluate(() => "hacked" in window)).toBe(false);
  const frame = page.frames().find((frame) => frame.url().includes("mermaid"))!;
  expect(await frame.evaluate(() => origin)).toBe("null");
});

test("a page can switch off syntax highlighting and diagrams", async ({ page }) => {
  await open(page, "/plain");
  const chat = new Chat(page);
  await chat.ask("diagrams");
  await expect(chat.answers.first().getByText("sequenceDiagram")).toBeVisible();
  await expect(page.locator("script[src*='lazy/code.js']")).toHaveCount(0);
  await chat.ask("formulas");
  await expect(chat.answers.last()).toContainText("$ax^2 + bx + c = 0$");
});

test("numbers in the text link to the sources", async ({ page, server }) => {
  const id = await conversation(server.url, [CITED]);
  await open(page, `/markdown?conversation=${id}`);
  const answer = new Chat(page).answers.first();
  await expect(answer.getByText("2 sources")).toBeVisible();
  const list = answer.getByRole("listitem");
  await expect(list).toHaveCount(0);
  await answer.getByRole("button", { name: "Source 2" }).click();
  await expect(list).toHaveCount(2);
  await expect(list.nth(1)).toBeFocused();
  await expect(list.first()).toContainText("water boils");
  await expect(list.first().getByRole("link", { name: /A page/ })).toHaveAttribute("href", "https://example.org/a");
  // Copied text has the citations as footnotes.
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await answer.hover();
  await answer.getByRole("button", { name: "Copy answer" }).click();
  const copied = () => page.evaluate(() => navigator.clipboard.readText());
  const notes = "[^1]: [A page](<https://example.org/a>): “water boils”\n[^2]: A book";
  expect(await copied()).toBe(`Water boils at 71[^1]. On the mountain it is[^2]. Done.\n\n${notes}`);
  await answer.getByRole("button", { name: "More" }).click();
  await page.getByRole("menuitem", { name: "Copy as text" }).click();
  const lines = "[1] A page, https://example.org/a: “water boils”\n[2] A book";
  expect(await copied()).toBe(`Water boils at 71[1]. On the mountain it is[2]. Done.\n\n${lines}`);
  // The arrow of the list is where the config puts it.
  const arrow = async () => {
    const [words, arrow] = await Promise.all([answer.getByText("2 sources").boundingBox(), answer.locator("summary .cw-chevron").boundingBox()]);
    return arrow!.x < words!.x;
  };
  expect(await arrow()).toBe(false);
  await open(page, `/arrow?conversation=${id}`);
  expect(await arrow()).toBe(true);
});

test("without a list of sources a number in the text opens its source", async ({ page, server }) => {
  const other = { type: "source-url", sourceId: "s", url: "https://example.net/b", title: "Another page" };
  const id = await conversation(server.url, [CITED, other]);
  await open(page, `/cards?conversation=${id}`);
  const answer = new Chat(page).answers.first();
  await expect(answer.getByText(/sources$/)).toHaveCount(0);
  const number = answer.getByRole("button", { name: "Source 1: A page" });
  const link = page.getByRole("link", { name: /A page/ });
  // By keyboard: open, move to the link, and back.
  await number.focus();
  await page.keyboard.press("Enter");
  await expect(link).toHaveAttribute("href", "https://example.org/a");
  await expect(answer.getByRole("group", { name: "Source 1" })).toContainText("water boils");
  await accessible(page);
  await page.keyboard.press("Tab");
  await expect(link).toBeFocused();
  await page.keyboard.press("Escape");
  await expect(link).toHaveCount(0);
  await expect(number).toBeFocused();
  // By the number, by the cited words, and for a source without a URL.
  await answer.getByRole("button", { name: "Source 2: A book" }).click();
  await expect(answer.getByRole("group", { name: "Source 2" })).toHaveText("A book");
  // A source without a number in the text is named in a line below.
  await answer.getByRole("group", { name: "1 source" }).getByRole("button", { name: "Source 3: Another page" }).click();
  await expect(page.getByRole("link", { name: /Another page/ })).toBeVisible();
  await expect(answer.getByRole("group", { name: "Source 2" })).toHaveCount(0);
  await page.setViewportSize({ width: 320, height: 640 });
  await fits(page);
});

test("a long conversation renders its end first and the rest on demand", async ({ page, server }) => {
  const id = await conversation(server.url, [{ type: "text", text: "the end" }], 50);
  await open(page, `/markdown?conversation=${id}`);
  const chat = new Chat(page);
  const end = chat.log.getByText("the end");
  await expect(end).toBeInViewport();
  await expect(chat.log.getByText("Question 1.", { exact: true })).toHaveCount(0);
  // With the mouse wheel: the visible messages stay in place.
  await chat.log.hover();
  await expect(async () => {
    await page.mouse.wheel(0, -1500);
    await expect(chat.log.getByText("Question 1.", { exact: true })).toBeInViewport({ timeout: 200 });
  }).toPass({ timeout: 30_000 });
  await expect(page.getByRole("button", { name: "Show earlier messages" })).toHaveCount(0);
  // From a search result.
  await page.reload();
  await alive(page);
  await page.getByRole("searchbox", { name: "Search conversations" }).fill("Question 7");
  await page.locator(".cw-find").getByRole("link").click();
  await expect(chat.log.getByText("Question 7.", { exact: true })).toBeInViewport();
  // By keyboard.
  await page.getByRole("button", { name: "Jump to the latest message" }).click();
  await expect(end).toBeInViewport();
});
