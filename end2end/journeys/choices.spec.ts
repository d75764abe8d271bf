import type { Locator, Page } from "@playwright/test";
import { accessible, fits } from "../fixtures/axe.ts";
import { Chat } from "../fixtures/chat.ts";
import { configured } from "../fixtures/configured.ts";
import { picture } from "../fixtures/picture.ts";
import { Provider } from "../fixtures/provider.ts";
import { alive, test as base, expect, open } from "../fixtures/test.ts";

const config = (url: string) => `
connections:
  - { id: model, type: OpenAICompatible, properties: { baseURL: "${url}", apiKey: none } }
libraries:
  - { id: handbook, title: Employee handbook, description: Work and vacation, documents: [{ name: handbook.md, text: "Who travels gets a day off." }] }
  - { id: travel, title: Travel rules, documents: [{ name: travel.md, text: "Who travels goes by train." }] }
agents:
  - id: assistant
    type: Agent
    connectionId: model
    properties: { model: m }
    knowledge: { libraries: [handbook, travel], choose: listed, documents: optOut }
    webFetch: {}
    web: optIn
  - { id: plain, type: Agent, connectionId: model, properties: { model: m }, knowledge: [handbook] }
pages:
  - { id: assistant, blocks: [{ id: chat, type: AgentChat, properties: { agentId: assistant } }] }
  - { id: plain, blocks: [{ id: chat, type: AgentChat, properties: { agentId: plain } }] }
`;

/** The tools that the model has been offered last, and what its search has found. */
const seen = { tools: [] as string[], found: "" };

/** Searches if it can, and says so. */
const test = base.extend({
  server: async ({}, use) => {
    const provider = await Provider.start((role, text, _instructions, _pictures, tools) => {
      seen.tools = tools.toSorted();
      if (role === "tool") {
        seen.found = text;
        return "I have searched.";
      }
      seen.found = "";
      return tools.includes("document_search") ? [{ name: "document_search", arguments: { query: "travels" } }] : "I have not searched.";
    });
    await configured(provider, config(provider.url), use);
  },
});

const DOCUMENT_TOOLS = ["document_read", "document_search"];

const button = (page: Page, name: string): Locator => page.getByRole("button", { name, exact: true });
const menu = (page: Page): Locator => page.getByRole("group", { name: "Libraries" });

/** Asks until the documents have been read, which takes a moment after the start. */
async function ask_read(page: Page, files: string[]): Promise<void> {
  await expect(async () => {
    await new Chat(page).ask("How do I travel?");
    for (const file of files) expect(seen.found).toContain(file);
  }).toPass();
}

test("the user chooses what is searched, and the conversation keeps it", async ({ page }, info) => {
  await open(page, "/assistant");
  const chat = new Chat(page);
  const [documents, web] = [button(page, "Documents"), button(page, "Web")];
  await expect(documents).toHaveAttribute("aria-pressed", "true");
  await expect(web).toHaveAttribute("aria-pressed", "false");
  await ask_read(page, ["handbook.md", "travel.md"]);
  expect(seen.tools).toEqual(DOCUMENT_TOOLS);

  // With the keyboard.
  await button(page, "Libraries").press("Enter");
  const boxes = menu(page).getByRole("checkbox");
  await expect(boxes).toHaveCount(2);
  await page.keyboard.press("Tab");
  await expect(menu(page).getByRole("checkbox", { name: "Employee handbook" })).toBeFocused();
  await expect(boxes.first()).toBeChecked();
  await page.keyboard.press("Space");
  await expect(boxes.first()).not.toBeChecked();
  await expect(boxes.last()).toBeChecked();
  await web.evaluate((own: HTMLElement) => own.click());
  for (const [size, width, height] of [["wide", 1280, 800], ["phone", 390, 844]] as const) {
    await page.setViewportSize({ width, height });
    await accessible(page);
    await fits(page);
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      await picture(page, info, `choices-${size}-${colorScheme}`);
    }
  }
  await page.keyboard.press("Escape");
  await expect(menu(page)).toBeHidden();
  const chosen = button(page, "Libraries (1)");
  await expect(chosen).toBeFocused();
  await chat.ask("And now?");
  expect(seen.tools).toEqual([...DOCUMENT_TOOLS, "web_fetch"]);
  expect(seen.found).toContain("travel.md");
  expect(seen.found).not.toContain("handbook.md");

  await page.reload();
  await alive(page);
  await expect(web).toHaveAttribute("aria-pressed", "true");
  await expect(chosen).toBeEnabled();
  await documents.click();
  await expect(documents).toHaveAttribute("aria-pressed", "false");
  await expect(chosen).toBeDisabled();
  await chat.ask("And without documents?");
  expect(seen.tools).toEqual(["web_fetch"]);
  await expect(chat.answers.last()).toContainText("I have not searched.");

  // All libraries again: that is what a new conversation begins with.
  await documents.click();
  await chosen.click();
  await boxes.first().check();
  await expect(button(page, "Libraries")).toBeVisible();
  await page.goto("/assistant");
  await alive(page);
  await expect(web).toHaveAttribute("aria-pressed", "false");
});

test("a library that is gone is taken out of the choice", async ({ page }) => {
  await open(page, "/assistant");
  await button(page, "Libraries").click();
  await menu(page).getByRole("checkbox", { name: "Employee handbook" }).uncheck();
  await expect(button(page, "Libraries (1)")).toBeVisible();
  await page.route(/\/api\/libraries\?agentId=assistant/, (route) => route.fulfill({ json: { items: [{ id: "handbook", name: "Employee handbook" }] } }));
  await page.reload();
  await alive(page);
  await expect(button(page, "Libraries (0)")).toBeVisible();
  await new Chat(page).ask("How do I travel?");
  expect(seen.tools).toEqual([]);
});

test("a chat without choices does not load their code", async ({ page }) => {
  const loaded: string[] = [];
  page.on("request", (request) => loaded.push(request.url()));
  const code = () => loaded.filter((url) => /\/choices-[0-9a-f]+\./.test(url));
  await open(page, "/plain");
  await new Chat(page).ask("How do I travel?");
  await expect(button(page, "Documents")).toHaveCount(0);
  expect(code()).toEqual([]);
  await open(page, "/assistant");
  await expect(button(page, "Documents")).toBeVisible();
  expect(code()).not.toEqual([]);
});
