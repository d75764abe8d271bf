import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Locator } from "@playwright/test";
import { Chat } from "../fixtures/chat.ts";
import { configured } from "../fixtures/configured.ts";
import { seed } from "../fixtures/list.ts";
import { Provider } from "../fixtures/provider.ts";
import { alive, expect, open, test } from "../fixtures/test.ts";

/** The contrast between the background of a mark and what is behind it. */
function contrastOfMark(mark: Element): number {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true })!;
  const luminance = (color: string) => {
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    const [red, green, blue] = [...canvas.getImageData(0, 0, 1, 1).data].map((value) => {
      const part = value / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
  };
  let behind = mark.parentElement!;
  while (getComputedStyle(behind).backgroundColor === "rgba(0, 0, 0, 0)") behind = behind.parentElement!;
  const [own, other] = [mark, behind].map((element) => luminance(getComputedStyle(element).backgroundColor));
  return (Math.max(own!, other!) + 0.05) / (Math.min(own!, other!) + 0.05);
}

test("a search shows the word that was found, in the list and in the message", async ({ page, server }) => {
  await seed(server.url, ["Delete the article about refunds", "count to 3"]);
  await open(page);
  await page.getByRole("searchbox", { name: "Search conversations" }).fill("article");
  const find = page.locator(".cw-find").first();
  const mark = find.locator("mark").first();
  await expect(mark).toHaveText(/article/i);
  const box = (await mark.boundingBox())!;
  expect(Math.min(box.width, box.height)).toBeGreaterThan(5);
  await expect(find.locator(".cw-find-passage")).not.toContainText("*");
  const link = find.getByRole("link");
  await link.click();
  await expect(link).toHaveAttribute("aria-current", "true");
  await expect(page.locator("[data-found]")).toBeInViewport();
  // Also on the row of the open result, whose background is another one.
  expect(await mark.evaluate(contrastOfMark)).toBeGreaterThan(1.3);
  expect(await page.locator(".cw-find-passage mark").last().evaluate(contrastOfMark)).toBeGreaterThan(1.3);
  const highlighted = () => page.evaluate(() => [...(CSS.highlights.get("cw-found") ?? [])].map(String));
  await expect.poll(async () => (await highlighted()).length).toBeGreaterThan(0);
  if (process.env.PICTURES) await page.screenshot({ path: join(process.env.PICTURES, "found.png") });
  await page.getByRole("searchbox", { name: "Search conversations" }).fill("");
  await expect(page.locator("[data-found]")).toHaveCount(0);
});

test("columns beside each other have the widths of the config", async ({ page }) => {
  const columns = (id: string, widths: number[], blocks: string) => `
  - id: ${id}
    blocks: [{ id: columns, type: Columns, properties: { widths: [${widths.join(", ")}] }, blocks: [${blocks}] }]`;
  const [list, chat] = ["{ id: list, type: AgentConversations }", "{ id: chat, type: AgentChat, properties: { agentId: demo } }"];
  const card = (id: string) => `{ id: ${id}, type: Card, properties: { title: ${id} } }`;
  const config = `
connections: [{ id: demo, type: Demo }]
agents: [{ id: demo, type: Agent, connectionId: demo, properties: { model: demo } }]
pages:${columns("two", [3, 7], `${list}, ${chat}`)}${columns("four", [1, 1, 1, 1], `${list}, ${card("a")}, ${card("b")}, ${chat}`)}${columns("form", [4, 6], `${card("a")}, ${chat}`)}${columns("cards", [3, 7], `${card("a")}, ${card("b")}`)}
`;
  await configured(undefined, config, async (server) => {
    await page.setViewportSize({ width: 1400, height: 900 });
    const conversations = page.getByRole("navigation", { name: "Conversations" });
    const form = page.locator(".cw-region-content");
    const talk = page.getByRole("region", { name: "Chat", exact: true });
    const check = async (path: string, ...expected: [Locator, number][]) => {
      await page.goto(`${server.url}/${path}`);
      for (const [region, share] of expected) {
        expect((await region.boundingBox())!.width / 1400, path).toBeCloseTo(share, 2);
        // Neither is a part of it cut off at the side.
        expect(await region.evaluate((region) => region.scrollWidth - region.clientWidth), path).toBeLessThanOrEqual(1);
      }
      await alive(page);
    };
    await check("two", [conversations, 0.3], [talk, 0.7]);
    await check("four", [conversations, 0.25], [form, 0.5], [talk, 0.25]);
    // Shares of the whole width, without a list.
    await check("form", [form, 0.4], [talk, 0.6]);
    await page.goto(`${server.url}/cards`);
    const widths = await page.locator(".cw-column").evaluateAll((all) => all.map((column) => column.getBoundingClientRect().width));
    expect(widths[0]! / (widths[0]! + widths[1]!)).toBeCloseTo(0.3, 2);
    await page.goto("about:blank");
  });
});

test("the button Answer again stays in place, so that a second click does not rate the answer", async ({ page }) => {
  await open(page);
  const chat = new Chat(page);
  await chat.ask("What can you do?");
  const again = chat.answers.last().getByRole("button", { name: "Answer again" });
  const place = async () => (await again.boundingBox())!.x;
  const before = await place();
  await again.click();
  await expect(chat.answers.last().getByRole("group", { name: "Version 2 of 2" })).toBeVisible({ timeout: 30_000 });
  await chat.idle();
  expect(Math.abs((await place()) - before)).toBeLessThan(1);
  await expect(chat.answers.last().getByRole("button", { name: "Good answer" })).toHaveAttribute("aria-pressed", "false");
});

test("a message that is sent before hydration is sent once after it", async ({ page }) => {
  const line = await page.context().newCDPSession(page);
  await line.send("Network.enable");
  // The code that sends messages is held back until `release` is called.
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  await page.route("**/*.wasm", async (route) => {
    await released;
    await route.continue();
  });
  await line.send("Network.emulateNetworkConditions", { offline: false, latency: 400, downloadThroughput: 200_000, uploadThroughput: 50_000 });
  await page.goto("/", { waitUntil: "commit" });
  const chat = new Chat(page);
  await expect(chat.composer).toBeVisible({ timeout: 30_000 });
  await chat.composer.pressSequentially("count to 3");
  await expect(page.getByRole("button", { name: "Send" })).toBeEnabled();
  await chat.composer.press("Enter");
  await expect(chat.composer).toHaveValue("count to 3");
  await expect(page.getByText("Will be sent as soon as the page is ready")).toBeVisible();
  if (process.env.PICTURES) await page.screenshot({ path: join(process.env.PICTURES, "early.png") });
  const sent: string[] = [];
  page.on("request", (request) => void (request.url().endsWith("/ui/send") && sent.push(request.postData() ?? "")));
  await line.send("Network.emulateNetworkConditions", { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: -1 });
  release();
  await expect(chat.answers).toHaveCount(1, { timeout: 40_000 });
  await chat.idle();
  await expect(chat.composer).toHaveValue("");
  await expect(page.getByText("Will be sent as soon as the page is ready")).toHaveCount(0);
  expect(sent).toHaveLength(1);
});

test("a message that is edited before hydration is not sent", async ({ page }) => {
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  await page.route("**/*.wasm", async (route) => {
    await released;
    await route.continue();
  });
  await page.goto("/", { waitUntil: "commit" });
  const chat = new Chat(page);
  await chat.composer.pressSequentially("count to");
  await chat.composer.press("Enter");
  await chat.composer.pressSequentially(" 3");
  release();
  await expect(page.locator("form[data-alive]")).toBeVisible({ timeout: 40_000 });
  await expect(chat.composer).toHaveValue("count to 3");
  await expect(chat.answers).toHaveCount(0);
});

test("an open page is notified of config changes that affect it only", async ({ page }) => {
  const folder = await mkdtemp(join(tmpdir(), "chatwright-config-"));
  const write = (placeholder: string, instructions: string) =>
    writeFile(
      join(folder, "chatwright.yaml"),
      `
connections: [{ id: demo, type: Demo }]
agents: [{ id: demo, type: Agent, connectionId: demo, properties: { model: demo, instructions: ${instructions} } }]
pages:
  - { id: home, blocks: [{ id: chat, type: AgentChat, properties: { agentId: demo, placeholder: ${placeholder} } }] }
`,
    );
  await write("First", "One");
  const { Server } = await import("../fixtures/server.ts");
  const server = await Server.start({ config: join(folder, "chatwright.yaml") });
  try {
    await page.goto(server.url);
    await expect(page.getByPlaceholder("First")).toBeVisible();
    const version = async () => ((await (await fetch(`${server.url}/api/config/status?page=`)).json()) as { version: string; page: string });
    const before = await version();
    await page.waitForResponse((response) => response.url().includes("/api/config/status"));
    await write("First", "Two");
    await expect.poll(async () => (await version()).version).not.toBe(before.version);
    expect((await version()).page).toBe(before.page);
    for (let looks = 0; looks < 2; looks++) await page.waitForResponse((response) => response.url().includes("/api/config/status"));
    const news = page.getByRole("status").locator(".cw-changed").filter({ hasText: "This page has changed." });
    await expect(news).toHaveCount(0);
    await write("Second", "Two");
    await expect(news).toBeVisible();
    if (process.env.PICTURES) await page.screenshot({ path: join(process.env.PICTURES, "changed.png") });
    await news.getByRole("button", { name: "Reload" }).press("Enter");
    await expect(page.getByPlaceholder("Second")).toBeVisible();
    await expect(news).toHaveCount(0);
  } finally {
    await page.goto("about:blank");
    await server.close();
    await rm(folder, { recursive: true });
  }
});

test("the title of the tab names the conversation", async ({ page, server }) => {
  await seed(server.url, ["Tell me about refunds"]);
  await open(page);
  const title = await page.title();
  await page.getByRole("link", { name: /Tell me about refunds/ }).click();
  await expect(page).toHaveTitle(`Tell me about refunds · ${title}`);
  await page.reload();
  await expect(page).toHaveTitle(`Tell me about refunds · ${title}`);
  await page.getByRole("link", { name: "New conversation" }).click();
  await expect(page).toHaveTitle(title);
});

test("a long message of the user is collapsed", async ({ page }) => {
  await open(page);
  const chat = new Chat(page);
  const words = Array.from({ length: 30 }, (_, at) => `line ${at}`).join("\n");
  await chat.ask(words);
  const own = chat.log.getByRole("article", { name: "You" });
  const height = async () => (await own.locator(".cw-plain").boundingBox())!.height;
  const folded = await height();
  if (process.env.PICTURES) await page.screenshot({ path: join(process.env.PICTURES, "long.png") });
  const more = own.getByRole("button", { name: "Show more" });
  await expect(more).toHaveAttribute("aria-expanded", "false");
  await more.click();
  expect(await height()).toBeGreaterThan(folded * 2);
  await own.getByRole("button", { name: "Show less" }).click();
  expect(await height()).toBeCloseTo(folded, 0);
});

test("an answer that ends with heading marks has no empty heading", async ({ page }) => {
  const provider = await Provider.start(() => "One.\n\n## ");
  const config = `
connections: [{ id: model, type: OpenAICompatible, properties: { apiKey: none, baseURL: "${provider.url}" } }]
agents: [{ id: a, type: Agent, connectionId: model, properties: { model: m } }]
pages: [{ id: home, blocks: [{ id: chat, type: AgentChat, properties: { agentId: a } }] }]
`;
  await configured(provider, config, async (server) => {
    await open(page, server.url);
    const chat = new Chat(page);
    await chat.ask("hello");
    await expect(chat.answers.last()).toContainText("One.");
    await expect(chat.answers.last().getByRole("heading")).toHaveCount(0);
    await page.goto("about:blank");
  });
});
