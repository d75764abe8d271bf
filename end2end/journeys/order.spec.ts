import { readFile } from "node:fs/promises";
import { Chat } from "../fixtures/chat.ts";
import { configured } from "../fixtures/configured.ts";
import { List, seed } from "../fixtures/list.ts";
import { alive, expect, open, test } from "../fixtures/test.ts";

test("conversations are pinned, archived and moved to a folder and back", async ({ page, server }) => {
  await seed(server.url, ["Apples", "Pears", "Plums"]);
  await open(page);
  const list = new List(page);
  await list.shows("Plums", "Pears", "Apples");
  await list.menu("Apples", "Pin");
  await list.shows("Apples", "Plums", "Pears");
  await list.menu("Plums", "Archive");
  await list.shows("Apples", "Pears");
  await list.menu("Pears", "Move to a folder…");
  await page.getByRole("textbox", { name: "Name of a new folder" }).fill("Fruit");
  await page.keyboard.press("Enter");
  const show = page.getByRole("combobox", { name: "Show" });
  await show.selectOption("Fruit");
  await list.shows("Pears");
  await page.getByRole("button", { name: "Rename this folder" }).click();
  await page.getByRole("textbox", { name: "New name of the folder" }).fill("Fruit and more");
  await page.keyboard.press("Enter");
  await expect(show.getByRole("option", { name: "Fruit and more", selected: true })).toBeAttached();
  await list.shows("Pears");
  await show.selectOption("Archive");
  await list.shows("Plums");
  await list.menu("Plums", "Unarchive");
  await expect(page.getByText("The archive is empty.")).toBeVisible();
  await page.reload();
  await list.shows("Apples", "Plums", "Pears");
  await show.selectOption("Fruit and more");
  await page.getByRole("button", { name: "Delete this folder and keep its conversations" }).click();
  await list.shows("Apples", "Plums", "Pears");
});

test("a temporary conversation can be kept", async ({ page, server }) => {
  await seed(server.url, ["Apples", "Pears"]);
  await open(page);
  const list = new List(page);
  // The list shows the change before the server has it.
  const saved = page.waitForResponse((response) => response.url().endsWith("/ui/change"));
  await list.menu("Apples", "Make temporary");
  await expect(page.getByText("Temporary.")).toHaveCount(1);
  expect((await saved).ok()).toBe(true);
  await page.reload();
  await expect(page.getByText("Temporary.")).toHaveCount(1);
  await page.goto("/admin/retention");
  await expect(page.getByRole("row", { name: /^Apples/ })).toHaveCount(1);
  await open(page);
  await list.menu("Apples", "Keep");
  await expect(page.getByText("Temporary.")).toHaveCount(0);
});

test("a deletion can be undone, and is final after that", async ({ page, server }) => {
  await seed(server.url, ["Apples", "Pears"]);
  await open(page);
  const list = new List(page);
  await list.link("Pears").click();
  await list.menu("Pears", "Delete");
  await list.shows("Apples");
  await expect(page).not.toHaveURL(/conversation=/);
  expect((await fetch(`${server.url}/api/conversations/seed-1`)).status).toBe(404);
  await page.getByRole("button", { name: "Undo" }).click();
  await list.shows("Pears", "Apples");
});

test("the list works by keyboard alone", async ({ page, server }) => {
  await seed(server.url, ["Apples", "Pears", "Plums", "Figs"]);
  await open(page);
  const list = new List(page);
  await list.link("Figs").focus();
  await page.keyboard.press("ArrowDown");
  await expect(list.link("Plums")).toBeFocused();
  await page.keyboard.press("F2");
  // The chunk that changes the list is loaded at its first use.
  await expect(page.getByRole("textbox", { name: "New title" })).toBeFocused();
  await page.keyboard.type("Prunes");
  await page.keyboard.press("Enter");
  await list.shows("Figs", "Prunes", "Pears", "Apples");
  await list.link("Prunes").focus();
  await page.keyboard.press("Delete");
  await list.shows("Figs", "Pears", "Apples");
  await expect(list.link("Pears")).toBeFocused();
  await page.keyboard.press("Space");
  await page.keyboard.press("End");
  await page.keyboard.press("Space");
  await expect(page.getByText("2 selected")).toBeVisible();
  await page.getByRole("toolbar", { name: "Selected conversations" }).getByRole("button", { name: "Archive" }).press("Enter");
  await list.shows("Figs");
  await page.getByRole("combobox", { name: "Show" }).selectOption("Archive");
  await list.shows("Pears", "Apples");
});

test("an unread answer is marked in every tab", async ({ page, context, server }) => {
  await seed(server.url, ["Apples", "Pears"]);
  await open(page);
  const list = new List(page);
  await expect(list.rows.getByText("Unread.")).toHaveCount(2);
  const other = await context.newPage();
  await open(other);
  const there = new List(other);
  await list.link("Apples").click();
  await expect(list.rows.getByText("Unread.")).toHaveCount(1);
  await expect(there.rows.getByText("Unread.")).toHaveCount(1);
  await list.menu("Apples", "Pin");
  await there.shows("Apples", "Pears");
});

test("a search finds words in messages and scrolls to the message", async ({ page, server }) => {
  await seed(server.url, ["Where is my <b>Überweisung</b>?", "count to 120", "Tell me about refunds"]);
  await open(page);
  const list = new List(page);
  const field = page.getByRole("searchbox", { name: "Search conversations" });
  await field.fill("uberweis");
  const finds = page.locator(".cw-find");
  await expect(finds).toHaveCount(1);
  await expect(finds.locator("mark").first()).toContainText("Überweisung");
  await expect(list.rows.first()).toBeHidden();
  await field.fill("\" OR owner:* NEAR(");
  await expect(page.getByText("No results.")).toBeVisible();
  await field.fill("119 120");
  await finds.getByRole("link").click();
  await expect(page).toHaveURL(/conversation=seed-1/);
  await expect(page.getByRole("log").getByRole("article", { name: "Agent" })).toBeInViewport();
  await field.focus();
  await page.keyboard.press("Escape");
  await expect(list.rows).toHaveCount(3);
});

test("a conversation is exported and imported", async ({ page, server, console }) => {
  console.expect(/422/);
  await seed(server.url, ["Search the knowledge base for refunds"]);
  await open(page);
  const list = new List(page);
  const download = async (item: string) => {
    const [file] = await Promise.all([page.waitForEvent("download"), list.menu("Search the knowledge base for refunds", item)]);
    expect(file.suggestedFilename()).toMatch(/^\d{4}-\d\d-\d\d Search the knowledge base for refunds\.(md|json)$/);
    return readFile((await file.path()) as string, "utf8");
  };
  expect(await download("Export as Markdown")).toMatch(/^# Search the knowledge base for refunds\n\n## You\n/);
  const exported = await download("Export as JSON");
  const kept = JSON.parse(exported);
  expect(kept.messages).toHaveLength(2);
  kept.title = "Back again";
  const choose = (text: string) =>
    page.getByLabel("Import a conversation").setInputFiles({ name: "c.json", mimeType: "application/json", buffer: Buffer.from(text) });
  await choose("{}");
  await expect(page.getByRole("alert").filter({ hasText: "not an exported conversation" })).toBeVisible();
  await choose(JSON.stringify(kept));
  await list.shows("Back again", "Search the knowledge base for refunds");
  await expect(page.getByRole("log").getByRole("article", { name: "Agent" })).toBeVisible();
});

test("a share link shows a copy to anyone until it is revoked", async ({ page, browser, server }) => {
  await seed(server.url, ["Tell me <b>about</b> refunds"]);
  await open(page);
  const list = new List(page);
  await list.menu("Tell me <b>about</b> refunds", "Share…");
  const dialog = page.getByRole("dialog", { name: "Share a copy" });
  await dialog.getByRole("button", { name: "Create a link" }).click();
  const address = dialog.getByRole("textbox", { name: "Link" });
  const link = await address.inputValue();
  // All of it can be seen, and making another link is not what the dialog proposes next.
  expect(await address.evaluate((field) => [field.scrollWidth - field.clientWidth, field.scrollHeight - field.clientHeight])).toEqual([0, 0]);
  await expect(dialog.getByRole("button", { name: "Create a link" })).not.toHaveClass(/cw-primary/);
  const stranger = await (await browser.newContext({ javaScriptEnabled: false })).newPage();
  await stranger.goto(link);
  await expect(stranger.getByRole("heading", { name: "Tell me <b>about</b> refunds" })).toBeVisible();
  await expect(stranger.getByRole("article", { name: "Agent" })).toBeVisible();
  await expect(stranger.getByRole("textbox")).toHaveCount(0);
  await dialog.getByRole("button", { name: "Revoke link" }).click();
  await expect(dialog.getByRole("textbox", { name: "Link" })).toHaveCount(0);
  expect((await stranger.goto(link))?.status()).toBe(404);
  await expect(stranger.getByRole("heading", { name: "Nothing is shared here" })).toBeVisible();
});

test("with two thousand conversations the DOM stays small while scrolling", { tag: "@thorough" }, async ({ page, server }) => {
  test.setTimeout(240_000);
  const total = 2_000;
  const message = (id: string, role: string, text: string) => ({ id, role, parts: [{ type: "text", text }] });
  let next = 0;
  const add = async () => {
    for (let at = next++; at < total; at = next++) {
      const file = {
        format: "chatwright.conversation.1",
        title: `Conversation ${at}`,
        pageId: "demo",
        agentId: "demo",
        createdAt: 1,
        head: "a",
        messages: [
          { createdAt: 1, message: message("q", "user", `Question ${at}`) },
          { parentId: "q", createdAt: 1, message: message("a", "assistant", `Answer ${at}`) },
        ],
      };
      const answer = await fetch(`${server.url}/api/conversations`, {
        method: "POST",
        // One connection each: an idle connection may be closed while it is reused.
        headers: { "content-type": "application/json", connection: "close" },
        body: JSON.stringify(file),
      });
      expect(answer.status).toBe(201);
      await answer.text();
    }
  };
  await Promise.all(Array.from({ length: 32 }, add));
  await open(page);
  const list = new List(page);
  const region = page.getByRole("navigation", { name: "Conversations" });
  const heap = () => page.evaluate(() => (performance as unknown as { memory: { usedJSHeapSize: number } }).memory.usedJSHeapSize);
  const [before, elements] = [await heap(), await page.locator("*").count()];
  const more = page.getByRole("button", { name: "Show more" });
  while ((await more.count()) > 0) {
    await region.evaluate((scroller) => scroller.scrollTo(0, scroller.scrollHeight));
    expect(await list.rows.count()).toBeLessThanOrEqual(160);
  }
  // The last rows reach their final position only after the button is gone.
  await expect(async () => {
    await region.evaluate((scroller) => scroller.scrollTo(0, scroller.scrollHeight));
    await expect(list.rows.last()).toBeInViewport({ timeout: 500 });
  }).toPass();
  expect(await page.locator("*").count()).toBeLessThan(elements + 160 * 16);
  expect((await heap()) - before).toBeLessThan(60 * 1024 * 1024);
  await region.evaluate((scroller) => scroller.scrollTo(0, scroller.scrollHeight / 2));
  await expect.poll(async () => list.rows.filter({ visible: true }).count()).toBeGreaterThan(5);
  await page.getByRole("searchbox", { name: "Search conversations" }).fill("question 1777");
  await expect(page.locator(".cw-find")).toHaveCount(1);
});

test("a shared copy has syntax highlighting and formulas", async ({ page, server }) => {
  const message = (id: string, role: string, text: string) => ({ id, role, parts: [{ type: "text", text }] });
  const written = "```js\nconst answer = 42; // that is all\n```\n\n$$\\frac{a}{b}$$\n";
  const file = {
    format: "chatwright.conversation.1",
    title: "Formulas",
    pageId: "demo",
    agentId: "demo",
    createdAt: 1,
    head: "a",
    messages: [
      { createdAt: 1, message: message("q", "user", "Show me both") },
      { parentId: "q", createdAt: 1, message: message("a", "assistant", written) },
    ],
  };
  const { id } = (await (await page.request.post(`${server.url}/api/conversations`, { data: file })).json()) as { id: string };
  const share = await page.request.post(`${server.url}/api/conversations/${id}/shares`, { data: {} });
  const { id: link } = (await share.json()) as { id: string };
  await page.goto(`/shared/${link}`);
  await expect(page.locator("math mfrac")).toBeVisible();
  await expect.poll(() => page.evaluate(() => CSS.highlights.get("cw-code-keyword")?.size ?? 0)).toBeGreaterThan(0);
  // Shared copies have no buttons on code blocks.
  await expect(page.getByRole("button")).toHaveCount(0);
});

test("the keyboard moves through a list that is longer than what is in the document", async ({ page }) => {
  test.setTimeout(120_000);
  const config = `
connections: [{ id: demo, type: Demo, properties: { delayMs: 0 } }]
agents: [{ id: demo, type: Agent, connectionId: demo, properties: { model: demo } }]
pages:
  - id: demo
    blocks:
      - id: columns
        type: Columns
        blocks: [{ id: list, type: AgentConversations }, { id: chat, type: AgentChat, properties: { agentId: demo } }]
`;
  await configured(undefined, config, async (server) => {
    await seed(server.url, Array.from({ length: 130 }, (_, at) => `count to 1 (${at})`));
    await page.goto(server.url);
    await alive(page);
    const focused = () => page.evaluate(() => document.activeElement?.closest("[data-conversation]")?.getAttribute("data-conversation") ?? document.activeElement?.tagName);
    const list = new List(page);
    // All of them are loaded, as by a user who wants to see the oldest ones.
    const more = page.getByRole("button", { name: "Show more" });
    await expect(async () => {
      // With each page that arrives the button moves, and with the last one it is gone, perhaps while it is clicked.
      if (await more.isVisible()) await more.click({ timeout: 1_000 });
      await expect(more).toHaveCount(0, { timeout: 500 });
    }).toPass();
    for (let round = 0; round < 2; round++) {
      await list.rows.first().getByRole("link").focus();
      await page.keyboard.press("End");
      await expect.poll(focused).toBe("seed-0");
      await page.keyboard.press("Home");
      await expect.poll(focused).toBe("seed-129");
    }
    await page.keyboard.press("End");
    await expect.poll(focused).toBe("seed-0");
    for (let at = 1; at < 130; at++) {
      await page.keyboard.press("ArrowUp");
      await expect.poll(focused).toBe(`seed-${at}`);
    }
    await page.goto("about:blank");
  });
});

test("a message to a conversation that was deleted elsewhere offers a new one", async ({ page, server, console }) => {
  console.expect(/status of 404/);
  await seed(server.url, ["Apples"]);
  await open(page);
  await new List(page).link("Apples").click();
  const chat = new Chat(page);
  await expect(chat.answers).toHaveCount(1);
  const id = new URL(page.url()).searchParams.get("conversation");
  expect((await page.request.delete(`${server.url}/api/conversations/${id}`)).ok()).toBe(true);
  await chat.send("Pears");
  const notice = page.locator(".cw-notice-danger");
  await expect(notice).toBeVisible();
  await expect(notice.getByRole("button", { name: "Try again" })).toHaveCount(0);
  await notice.getByRole("button", { name: "New conversation" }).click();
  await expect(chat.answers).toHaveCount(0);
  await expect(page).not.toHaveURL(/conversation=/);
  await chat.ask("Plums");
});
