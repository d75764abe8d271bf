import { join } from "node:path";
import type { Locator, Page } from "@playwright/test";
import { accessible, fits } from "../fixtures/axe.ts";
import { Chat } from "../fixtures/chat.ts";
import { configured } from "../fixtures/configured.ts";
import { forReview } from "../fixtures/review.ts";
import { alive, expect, open, test } from "../fixtures/test.ts";

test.use({ serverOptions: { config: join(import.meta.dirname, "../configs/home.yaml") } });

const links = (page: Page, region: string): Locator => page.getByRole("region", { name: region }).getByRole("link");
const field = (page: Page) => page.getByRole("searchbox", { name: "Search agents, pages and conversations" });

test("the start page lists what the user may use, and an agent without a page has a chat", async ({ page, console }) => {
  console.expect(/status of 40[14]/);
  await page.goto("/");
  await expect(page).toHaveTitle("Assistants of Acme");
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Assistants of Acme");
  // The agent below another and the one that visitors may not use are not there.
  await expect(links(page, "Agents")).toHaveText([/Support.*Knows our articles/, /Writer.*Drafts letters/]);
  await expect(links(page, "Pages")).toHaveText(["OOpening hours"]);
  await expect(page.getByText("Your conversations appear here.")).toBeVisible();
  expect((await page.goto("/ledger"))?.status()).toBe(401);
  expect((await page.goto("/clerk"))?.status()).toBe(404);

  await page.goto("/");
  await page.getByRole("link", { name: "Writer" }).click();
  await alive(page);
  await expect(page).toHaveURL(/\/writer$/);
  await expect(page.getByRole("heading", { name: "Writer", level: 2 })).toBeVisible();
  const chat = new Chat(page);
  const answer = chat.log.getByRole("article", { name: "Writer" });
  await chat.send("What is a refund?");
  await expect(answer).toHaveCount(1);
  await chat.idle();

  // From within the app the start page is a document of its own, and so is the way back.
  await page.getByRole("link", { name: "Start page" }).click();
  await expect(links(page, "Recent conversations")).toHaveText([/What is a refund\?/]);
  await accessible(page);
  await fits(page);
  await forReview(page, "home");
  await links(page, "Recent conversations").first().click();
  await expect(answer).toHaveCount(1);
  await page.goBack();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Assistants of Acme");
});

test("the search finds agents, pages and conversations with the keyboard alone", async ({ page }) => {
  await open(page, "/help");
  await new Chat(page).ask("Where is my parcel?");
  await page.goto("/");
  await page.keyboard.press("Tab");
  await expect(page.getByRole("link", { name: "Skip to the content" })).toBeFocused();
  await page.keyboard.press("Enter");
  await page.keyboard.press("Tab");
  await expect(field(page)).toBeFocused();
  await page.keyboard.type("PARCEL");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\?q=PARCEL$/);
  await expect(links(page, "Conversations")).toHaveText([/Where is my parcel\?/]);
  await expect(page.getByRole("region", { name: "Agents" })).toHaveCount(0);
  await accessible(page);
  await forReview(page, "home-found");

  await field(page).fill("letters");
  await field(page).press("Enter");
  await expect(links(page, "Agents")).toHaveText([/Writer/]);
  await field(page).fill("<b>nothing</b>");
  await field(page).press("Enter");
  await expect(page.getByRole("status")).toHaveText("Nothing found for “<b>nothing</b>”. Check the spelling, or use fewer words.");
  await page.getByRole("link", { name: "Show all" }).click();
  await expect(links(page, "Agents")).toHaveCount(2);
});

test("the start page works on a phone and without scripts", async ({ browser, server }) => {
  const context = await browser.newContext({ baseURL: server.url, javaScriptEnabled: false, viewport: { width: 360, height: 740 } });
  const page = await context.newPage();
  await page.goto("/");
  await expect(links(page, "Agents")).toHaveCount(2);
  await field(page).fill("hours");
  await page.getByRole("button", { name: "Search" }).click();
  await expect(links(page, "Pages")).toHaveCount(1);
  await links(page, "Pages").click();
  await expect(page.getByText("Monday to Friday")).toBeVisible();
  await context.close();
});

test("connection and agent are a complete config", async ({ page }) => {
  const config = `
connections: [{ id: demo, type: Demo, properties: { delayMs: 0 } }]
agents: [{ id: helper, type: Agent, connectionId: demo, properties: { model: demo } }]
locale: he
`;
  await configured(undefined, config, async ({ url }) => {
    await page.goto(url);
    await expect(page).toHaveTitle("דף הבית");
    await expect(page.locator("html")).toHaveAttribute("dir", "rtl");
    await accessible(page);
    await fits(page);
    await page.getByRole("link", { name: "helper" }).click();
    await expect(page).toHaveURL(`${url}/helper`);
    await expect(page.getByRole("textbox")).toHaveCount(1);
    // The server stops now, and a request that it does not answer is an error in the console.
    await page.goto("about:blank");
  });
});
