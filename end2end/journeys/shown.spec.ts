import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { accessible } from "../fixtures/axe.ts";
import { Chat } from "../fixtures/chat.ts";
import { configured } from "../fixtures/configured.ts";
import { Provider } from "../fixtures/provider.ts";
import { expect, open, test as base } from "../fixtures/test.ts";

const PAY = { amount: "pay \u202e001\u202c EUR", "no\u200bte": "hi\u{e0068}\u{e0069} ❤\ufe0f", city: "ירושלים 12" };
const DEEP = { l1: { l2: { l3: { l4: { l5: { l6: { l7: "the deepest" } } } } } } };
const MANY = { items: Array.from({ length: 130 }, (_, at) => `item ${at}`), text: `${"long ".repeat(5_000)}the end` };
const BLANK = { to: `1 EUR to Bob${"\n".repeat(3_000)}and 9999 EUR to Mallory`, stack: `a${"\u0301".repeat(200)}`, gone: "\ufffc\ue000" };
const ALIKE = { toAddress: 1, to_address: 2, "to-address": 3, amount: 4 };
const LONG = { body: Array.from({ length: 150 }, (_, at) => `line ${at}`).join("\n"), cc: "attacker@evil.example", amount: 99_999 };
const CALLS: Record<string, object> = { pay: PAY, deep: DEEP, many: MANY, blank: BLANK, alike: ALIKE, long: LONG };

const config = (model: string) => `
connections:
  - { id: model, type: OpenAICompatible, properties: { apiKey: none, baseURL: "${model}" } }
agents:
  - { id: clerk, type: Agent, connectionId: model, properties: { model: m }, tools: [{ endpointId: transfer, confirm: true }] }
api:
  - id: transfer
    description: Pays.
    payloadSchema: { type: object }
    routine: [{ ":return": { paid: { _payload: amount } } }]
pages:
  - { id: clerk, title: Clerk, blocks: [{ id: chat, type: AgentChat, properties: { agentId: clerk } }] }
`;

const test = base.extend<{ chat: Chat }>({
  server: async ({}, use) => {
    const provider = await Provider.start((role, text) =>
      role === "tool" ? "Done." : CALLS[text] ? [{ name: "transfer", arguments: CALLS[text] }] : `You said \u202enothing\u202c, http://127.0.0.1@evil.test/x and שלום\u200f!`,
    );
    await configured(provider, config(provider.url), use);
  },
  chat: async ({ page }, use) => {
    await open(page, "/clerk");
    await use(new Chat(page));
  },
});

/** Scrolls with the card's button until nothing is out of view. */
async function lookedThrough(chat: Chat): Promise<void> {
  const status = chat.approval.getByRole("status");
  await expect(async () => {
    const show = chat.approval.getByRole("button", { name: "Show all" });
    if (await show.isVisible()) await show.press("Enter");
    await expect(status).toHaveText("All parts are shown.", { timeout: 500 });
  }).toPass();
}

/** Takes screenshots for review if `PICTURES` is set. */
async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env.PICTURES;
  if (!folder) return;
  mkdirSync(folder, { recursive: true });
  for (const [size, width] of [["wide", 1200], ["narrow", 400]] as const) {
    for (const theme of ["light", "dark"] as const) {
      await page.setViewportSize({ width, height: 900 });
      await page.emulateMedia({ colorScheme: theme });
      await page.waitForTimeout(300);
      await page.screenshot({ path: join(folder, `${name}-${size}-${theme}.png`) });
    }
  }
  await page.setViewportSize({ width: 1200, height: 900 });
}

test("hidden characters in arguments are visible and read out by screen readers", async ({ page, chat }) => {
  await chat.ask("pay");
  await expect(chat.approval).toContainText("pay U+202E001U+202C EUR");
  await expect(chat.approval).toContainText("hiU+E0068 U+E0069 ❤U+FE0F");
  await expect(chat.approval).toContainText("noU+200Bte");
  await expect(chat.approval.getByRole("img", { name: "Hidden characters: U+202E", exact: true })).toBeVisible();
  const amount = chat.approval.locator(".cw-value-text").first();
  expect(await amount.evaluate((element) => getComputedStyle(element).unicodeBidi)).toMatch(/isolate|plaintext/);
  // In the text field they are escapes, which are parsed to the same characters.
  await chat.approval.getByRole("button", { name: "Change" }).click();
  const text = chat.approval.getByRole("textbox", { name: "The arguments, as JSON" });
  await expect(text).toHaveValue(/pay \\u202e001\\u202c EUR/);
  await accessible(page);
  await chat.approval.getByRole("button", { name: "Approve" }).click();
  await expect(chat.answers.last()).toContainText("Done.", { timeout: 30_000 });
  await page.locator("summary", { hasText: "Transfer" }).click();
  await expect(chat.answers.last()).toContainText("pay U+202E001U+202C EUR");
  await picture(page, "card");
});

test("collapsed arguments must be expanded before approval, by keyboard", async ({ page, chat }) => {
  await chat.ask("many");
  const approve = chat.approval.getByRole("button", { name: "Approve" });
  await picture(page, "folded");
  await expect(chat.approval.getByRole("status")).toHaveText("2 parts are not shown yet. Show them before you approve.");
  await page.waitForTimeout(700);
  await expect(approve).toBeDisabled();
  await expect(chat.approval.getByRole("button", { name: "Deny" })).toBeEnabled();
  await chat.approval.locator("summary", { hasText: "Show 30 more entries" }).press("Enter");
  await expect(chat.approval).toContainText("item 129");
  await expect(chat.approval.getByRole("status")).toHaveText("1 part is not shown yet. Show it before you approve.");
  await expect(approve).toBeDisabled();
  await chat.approval.getByRole("button", { name: "Show all" }).press("Enter");
  await expect(chat.approval).toContainText("the end");
  await expect(chat.approval.locator("summary").first()).toBeFocused();
  await expect(chat.approval.getByRole("button", { name: "Change" })).toBeDisabled();
  await lookedThrough(chat);
  await accessible(page);
  await expect(approve).toBeEnabled();
  await picture(page, "unfolded");
  await approve.press("Enter");
  await expect(chat.answers.last()).toContainText("Done.", { timeout: 30_000 });
});

test("arguments longer than the window must be scrolled to before approval", async ({ page, chat }) => {
  await chat.ask("long");
  const approve = chat.approval.getByRole("button", { name: "Approve" });
  await expect(chat.approval.getByRole("status")).toHaveText("A part is out of view. Scroll to it before you approve.");
  await expect(approve).toBeDisabled();
  await picture(page, "out-of-view");
  // No part of the card scrolls by itself.
  const clipped = await chat.approval.evaluate((card) =>
    [...card.querySelectorAll("*")].filter((one) => one.scrollHeight > one.clientHeight + 1 && /auto|scroll|hidden/.test(getComputedStyle(one).overflowY)).length,
  );
  expect(clipped).toBe(0);
  await lookedThrough(chat);
  await expect(approve).toBeEnabled();
});

test("blank lines, stacked marks and unknown characters hide nothing", async ({ page, chat }) => {
  await chat.ask("blank");
  await expect(chat.approval).toContainText("U+000A ×196");
  await chat.approval.getByRole("button", { name: "Show all" }).click();
  await expect(chat.approval).toContainText("U+000A ×2796");
  await expect(chat.approval.getByText("and 9999 EUR to Mallory")).toBeVisible();
  await expect(chat.approval).toContainText("U+0301 ×194");
  await expect(chat.approval).toContainText("U+FFFC U+E000");
  await picture(page, "blank");
});

test("names of arguments that would look the same are shown as they are", async ({ chat }) => {
  await chat.ask("alike");
  await expect(chat.approval.locator("dt")).toHaveText(["toAddress", "to_address", "to-address", "Amount"]);
});

test("deeply nested arguments are collapsed, also after a reload", async ({ page, chat }) => {
  await chat.ask("deep");
  await page.reload();
  await expect(chat.approval.getByRole("status")).toContainText("1 part is not shown yet");
  await expect(async () => {
    await chat.approval.getByRole("button", { name: "Show all" }).click();
    await expect(chat.approval.getByRole("status")).toHaveText("All parts are shown.", { timeout: 500 });
  }).toPass();
  await expect(chat.approval).toContainText("the deepest");
  await expect(chat.approval.getByRole("button", { name: "Approve" })).toBeEnabled();
});

test("an approval is rejected if its card shows other arguments than the server has", async ({ page, chat, console }) => {
  console.expect(/409/);
  await chat.ask("pay");
  // Simulates arguments that were changed on the way to the card.
  await page.route("**/ui/send", async (route) => {
    const body = JSON.parse(route.request().postData() ?? "{}") as { request: { submission: { answers: { inputHash: string }[] } } };
    const answer = body.request.submission.answers[0]!;
    expect(answer.inputHash).toMatch(/^[0-9a-f]{64}$/);
    answer.inputHash = "0".repeat(64);
    await route.continue({ postData: JSON.stringify(body) });
  });
  await chat.approval.getByRole("button", { name: "Approve" }).click();
  await expect(page.getByText("The arguments changed after this page showed them")).toBeVisible();
  await expect(chat.approval).toBeVisible();
  await page.unroute("**/ui/send");
  await chat.approval.getByRole("button", { name: "Approve" }).click();
  await expect(chat.answers.last()).toContainText("Done.", { timeout: 30_000 });
});

test("bidirectional overrides in an answer are marked and deceptive addresses are not links", async ({ chat }) => {
  await chat.ask("hello");
  const answer = chat.answers.last();
  await expect(answer).toContainText("U+202EnothingU+202C");
  await expect(answer).toContainText("שלום\u200f!");
  await expect(answer.getByRole("link", { name: /evil/ })).toHaveCount(0);
  await expect(answer).toContainText("http://127.0.0.1@evil.test/x");
});
