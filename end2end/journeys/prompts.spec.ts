import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Locator, Page } from "@playwright/test";
import { first, signUp, toAccount } from "../fixtures/accounts.ts";
import { Chat } from "../fixtures/chat.ts";
import { everySize } from "../fixtures/sizes.ts";
import { expect, open, test } from "../fixtures/test.ts";

test.use({ serverOptions: { config: join(import.meta.dirname, "../configs/prompts.yaml") } });
test.describe.configure({ timeout: 120_000 });

/** The commands that the composer lists. */
function commands(page: Page): Locator {
  return page.getByRole("listbox", { name: "Commands" }).getByRole("option");
}

/** Fills in the form of a prompt in this part of a page without scripts, and sends it. */
async function fill(page: Page, part: string, entries: Record<string, string>, act: string): Promise<void> {
  const form = page.getByRole("region", { name: part, exact: true });
  for (const [label, value] of Object.entries(entries)) await form.getByLabel(label).fill(value);
  await form.getByRole("button", { name: act, exact: true }).click();
}

test("a prompt with variables is chosen and filled in with the keyboard alone", async ({ page, server }) => {
  await first(page, server, "ada");
  const chat = new Chat(page);
  await chat.composer.focus();
  await page.keyboard.type("/");
  // The command of the config is the first of its name, and hides no prompt.
  await expect(commands(page)).toHaveText([
    "/thanksOf the config",
    "/rotaFor administrators · shared prompt",
    "/thanksshared prompt",
    "/translateTranslates a text · shared prompt",
  ]);
  await everySize(page, "prompts-list");

  // Without variables, the text is there at once.
  await chat.composer.fill("/thanks");
  await chat.composer.press("ArrowDown");
  await chat.composer.press("Enter");
  await expect(chat.composer).toHaveValue("Thank you.");
  await expect(chat.composer).toBeFocused();

  await chat.composer.fill("/tr");
  await expect(commands(page)).toHaveCount(1);
  await chat.composer.press("Enter");
  const form = page.getByRole("region", { name: "translate" });
  await expect(form.getByLabel("language")).toBeFocused();
  await everySize(page, "prompts-variables");
  await form.getByLabel("language").focus();
  await page.keyboard.type("F");
  await expect(form.getByLabel("language")).toHaveValue("French");
  await page.keyboard.press("Tab");
  await expect(form.getByLabel("tone")).toBeFocused();
  await expect(form.getByLabel("tone")).toHaveValue("friendly");
  // A required value is missing.
  await page.keyboard.press("Enter");
  await expect(form.getByLabel("text")).toBeFocused();
  await page.keyboard.type("{{tone}} is");
  await page.keyboard.press("Shift+Enter");
  await page.keyboard.type("no variable");
  await page.keyboard.press("Enter");
  await expect(form).toHaveCount(0);
  await expect(chat.composer).toBeFocused();
  await expect(chat.composer).toHaveValue("Translate into French, friendly: {{tone}} is\nno variable");

  // Escape gives the composer back.
  await chat.composer.fill("/translate");
  await expect(commands(page)).toHaveCount(1);
  await chat.composer.press("Enter");
  await expect(form.getByLabel("language")).toBeFocused();
  await page.keyboard.press("Escape");
  await expect(form).toHaveCount(0);
  await expect(chat.composer).toBeFocused();

  // It is sent only by the user.
  await expect(chat.answers).toHaveCount(0);
  await open(page, "/plain");
  await chat.composer.fill("/");
  await expect(chat.composer).toHaveValue("/");
  await expect(commands(page)).toHaveCount(0);
});

test("a message becomes a prompt, which the user changes, exports and deletes", async ({ page, server, console }) => {
  console.expect(/status of 422/);
  await first(page, server, "ada");
  const chat = new Chat(page);
  await chat.ask("Sum up {{text|the report}}.");
  const message = chat.log.getByRole("article", { name: "You" }).first();
  await message.getByRole("button", { name: "More" }).click();
  await page.getByRole("menuitem", { name: "Save as prompt" }).click();
  const form = page.getByRole("region", { name: "Save as prompt" });
  await expect(form.getByLabel("Name of the prompt")).toBeFocused();
  await expect(form.getByLabel("Text of the prompt")).toHaveValue("Sum up {{text|the report}}.");
  await page.keyboard.type("sum up");
  await page.keyboard.press("Enter");
  await expect(form.getByRole("alert")).toContainText("and no spaces");
  await everySize(page, "prompts-save");
  await form.getByLabel("Name of the prompt").fill("sum");
  await page.keyboard.press("Enter");
  await expect(form).toHaveCount(0);
  await expect(chat.composer).toBeFocused();
  await chat.composer.fill("/su");
  await expect(commands(page)).toHaveText(["/sumyour prompt"]);

  await toAccount(page);
  await page.getByRole("link", { name: "Prompts" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Prompts" })).toBeVisible();
  const own = page.getByRole("region", { name: "My prompts" });
  await expect(own.getByText("Sum up {{text|the report}}.")).toBeVisible();
  await expect(page.getByRole("region", { name: "Shared with me" }).getByText("translate", { exact: true })).toBeVisible();
  await everySize(page, "prompts-account");
  await fill(page, "New prompt", { Name: "Sum", Text: "Again." }, "Add prompt");
  await expect(page.getByRole("alert")).toContainText("another prompt with this name");
  await expect(page.getByRole("textbox", { name: "Text" })).toHaveValue("Again.");
  await fill(page, "New prompt", { Name: "two" }, "Add prompt");
  await expect(own.getByRole("listitem")).toHaveCount(2);

  await own.getByRole("link", { name: "Change: sum" }).click();
  await everySize(page, "prompts-change");
  await fill(page, "Prompt", { Description: "Sums up" }, "Save");
  await expect(own.getByText("Sums up")).toBeVisible();
  const downloading = page.waitForEvent("download");
  await page.getByRole("link", { name: "Download as JSON" }).click();
  const file = JSON.parse(await readFile(await (await downloading).path(), "utf8")) as { prompts: { name: string }[] };
  expect(file.prompts.map((prompt) => prompt.name)).toEqual(["sum", "two"]);
  await own.getByRole("button", { name: "Delete: two" }).click();
  await expect(own.getByRole("listitem")).toHaveCount(1);
});

test("an administrator shares prompts with everybody or with roles", async ({ page, server, browser, console }) => {
  console.expect(/status of 422/);
  await first(page, server, "ada");
  await page.goto("/admin/prompts");
  await expect(page.getByRole("row", { name: /rota.*config.*admin/ })).toBeVisible();
  await everySize(page, "prompts-admin");
  await fill(page, "Share a prompt", { Name: "rota", Text: "Mine." }, "Share");
  await expect(page.getByRole("alert")).toContainText("The config shares a prompt with this name");
  await fill(page, "Share a prompt", { Name: "welcome", Text: "Say {{greeting|hello}}." }, "Share");
  await page.getByRole("link", { name: "welcome" }).click();
  await everySize(page, "prompts-admin-change");
  await fill(page, "Prompt", { Description: "Greets" }, "Save");
  await expect(page.getByRole("row", { name: /welcome.*Greets.*administrators.*everybody/ })).toBeVisible();

  const bob = await browser.newContext({ baseURL: server.url });
  const desk = await bob.newPage();
  await signUp(desk, "bob");
  const composer = new Chat(desk).composer;
  await composer.fill("/");
  await expect(commands(desk)).toHaveText([
    "/thanksOf the config",
    "/thanksshared prompt",
    "/translateTranslates a text · shared prompt",
    "/welcomeGreets · shared prompt",
  ]);
  await bob.close();

  await page.getByRole("link", { name: "welcome" }).click();
  await page.getByRole("button", { name: "Delete prompt" }).click();
  await expect(page.getByRole("link", { name: "welcome" })).toHaveCount(0);
  await page.goto("/admin/audit");
  for (const action of ["add_prompt", "change_prompt", "delete_prompt"]) {
    await expect(page.getByRole("row", { name: new RegExp(`admin:${action}`) })).toHaveCount(1);
  }
});

test.describe("without accounts", () => {
  test.use({ serverOptions: { config: join(import.meta.dirname, "../configs/prompts-visitors.yaml") } });

  test("visitors see shared prompts, and keep none of their own", async ({ page }) => {
    await open(page);
    const chat = new Chat(page);
    await chat.composer.fill("/");
    await expect(commands(page)).toHaveText(["/greetshared prompt"]);
    await chat.composer.press("Enter");
    await expect(page.getByRole("region", { name: "greet" }).getByLabel("name")).toBeFocused();
    await page.keyboard.press("Enter");
    await expect(chat.composer).toHaveValue("Hello, Ada.");
    await chat.composer.press("Enter");
    await expect(chat.answers).toHaveCount(1);
    await chat.idle();
    await chat.log.getByRole("article", { name: "You" }).getByRole("button", { name: "More" }).click();
    await expect(page.getByRole("menuitem").first()).toBeVisible();
    await expect(page.getByRole("menuitem", { name: "Save as prompt" })).toHaveCount(0);
  });
});
