import { join } from "node:path";
import type { FrameLocator, Page } from "@playwright/test";
import { accessible, fits } from "../fixtures/axe.ts";
import { Chat } from "../fixtures/chat.ts";
import { configured } from "../fixtures/configured.ts";
import { Provider } from "../fixtures/provider.ts";
import { expect, open, test as base } from "../fixtures/test.ts";

/** The example servers of the specification that need no network, and one that does. */
const SERVERS = ["debug", "cohort-heatmap", "system-monitor", "map"];

const path = (name: string) => join(import.meta.dirname, `../node_modules/@modelcontextprotocol/server-${name}/dist/index.js`);
const settings = (name: string) => (name === "map" ? '{ domains: ["https://*.openstreetmap.org"] }' : "true");
const connection = (name: string) =>
  `  - { id: ${name}, type: Mcp, properties: { command: node, args: ["${path(name)}", --stdio], apps: ${settings(name)} } }`;
const agent = (name: string) => `  - { id: ${name}, type: Agent, connectionId: model, properties: { model: m }, mcp: [${name}] }`;
const page = (name: string) => `  - { id: ${name}, blocks: [{ id: chat, type: AgentChat, properties: { agentId: ${name} } }] }`;

const test = base.extend({
  server: async ({}, use) => {
    const provider = await Provider.start((role, text) => (role === "tool" ? "Here it is." : [{ name: text, arguments: {} }]));
    const config = `
connections:
  - { id: model, type: OpenAICompatible, properties: { baseURL: "${provider.url}", apiKey: none } }
${SERVERS.map(connection).join("\n")}
agents:
${SERVERS.map(agent).join("\n")}
pages:
${SERVERS.map(page).join("\n")}
`;
    await configured(provider, config, use);
  },
});

/** The page around an app, and the app itself. */
const host = (page: Page): FrameLocator => page.frameLocator("iframe.cw-app");
const app = (page: Page): FrameLocator => host(page).frameLocator("iframe").frameLocator("iframe");

async function show(page: Page, name: string, tool: string): Promise<Chat> {
  await open(page, `/${name}`);
  const chat = new Chat(page);
  await chat.ask(tool);
  await expect(page.locator("iframe.cw-app")).toHaveAttribute("title", `App of ${name}`);
  return chat;
}

test("the app that tries the whole protocol is told of its host, offers text, and fills the screen when the user wants it", async ({ page, console }) => {
  console.expect(/.*/);
  const chat = await show(page, "debug", "debug-tool");
  const shown = app(page);
  await expect(shown.locator("#host-context-info")).toContainText("inline");
  await expect(shown.locator("#host-styles-sample")).not.toHaveText("No styles");
  await expect(shown.locator("#callback-table-body")).toContainText("ontoolresult");
  await fits(page);

  // Text goes into the composer; a picture does not. What the model is to know is offered.
  await shown.locator("#send-message-text-btn").click();
  await expect(chat.composer).toHaveValue("Hello from debug app!");
  await chat.composer.fill("");
  await shown.locator("#send-message-image-btn").click();
  await shown.locator("#update-context-image-btn").click();
  const offer = host(page).locator("#offer");
  await expect(offer).toBeHidden();
  await shown.locator("#update-context-text-btn").click();
  await offer.getByText("The app offers this for your next message").click();
  await expect(offer.locator("pre")).toHaveText(/Current app state info/);
  await expect(chat.composer).toHaveValue("");
  await offer.getByRole("button", { name: "Insert" }).click();
  await expect(chat.composer).toHaveValue(/^App of debug:\nCurrent app state info/);
  await expect(chat.composer).toBeFocused();
  await accessible(page);

  // Its button enlarges it, and the button of the host makes it as it was.
  const enlarged = () => page.evaluate(() => document.fullscreenElement?.className);
  await shown.locator("#display-fullscreen-btn").click();
  await expect.poll(enlarged).toBe("cw-app");
  await expect(host(page).locator("#head")).toContainText("App of debug");
  await expect(shown.locator("#host-context-info")).toContainText("fullscreen");
  const height = await host(page).locator("iframe").evaluate((frame) => frame.clientHeight);
  expect(height).toBeGreaterThan(500);
  await host(page).getByRole("button", { name: "Close (Escape)" }).click();
  await expect.poll(enlarged).toBe(undefined);
  await expect(host(page).locator("#head")).toBeHidden();
  await expect(shown.locator("#host-context-info")).toContainText("inline");
  await fits(page);
  console.takeBreaches();
});

test("an app made with React shows its data", async ({ page, console }) => {
  console.expect(/.*/);
  await show(page, "cohort-heatmap", "get-cohort-data");
  await expect(app(page).getByText("Cohort Retention Analysis")).toBeVisible();
  await expect(app(page).getByText("100", { exact: true }).first()).toBeVisible();
  console.takeBreaches();
});

test("an app asks its server again and again by a tool that the model does not have", async ({ page, console }) => {
  console.expect(/.*/);
  const chat = await show(page, "system-monitor", "get-system-info");
  await expect(app(page).getByText(/\d GB \/ [\d.]+ GB/)).toBeVisible();
  await chat.ask("poll-system-stats");
  await expect(chat.answers.last().getByText("Failed")).toBeVisible();
  console.takeBreaches();
});

test("an app reaches those of its domains that the config allows", async ({ page, context, console }) => {
  console.expect(/.*/);
  const wanted: string[] = [];
  await context.route(/cesium|openstreetmap/, async (route) => {
    wanted.push(new URL(route.request().url()).hostname);
    await route.abort();
  });
  const policy = page.waitForResponse((response) => response.url().endsWith("/frame")).then((response) => response.headerValue("content-security-policy"));
  await show(page, "map", "show-map");
  expect(await policy).toContain("; connect-src https://*.openstreetmap.org; frame-src 'none'");
  await expect(app(page).getByText("Failed to load CesiumJS from CDN")).toBeVisible({ timeout: 20_000 });
  expect(wanted.filter((host) => host.includes("cesium"))).toEqual([]);
  console.takeBreaches();
});
