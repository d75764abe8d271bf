import { type Locator, chromium } from "@playwright/test";
import { browser } from "../browser.ts";
import { Chat } from "../fixtures/chat.ts";
import { alive, expect, open, test } from "../fixtures/test.ts";

test("the agent fills in the form and one click undoes a field", async ({ page }) => {
  await open(page);
  const chat = new Chat(page);
  await page.getByLabel("Company", { exact: true }).fill("Old company");
  await chat.ask("Fill in the form for Ada Lovelace at Analytical Engines");
  await expect(page.getByLabel("Legal name", { exact: true })).toHaveValue("Ada Lovelace");
  await expect(page.getByLabel("Company", { exact: true })).toHaveValue("Analytical Engines");
  await expect(page.getByLabel("E-mail", { exact: true })).toHaveValue("ada.lovelace@analytical-engines.example");
  await expect(page.getByLabel("Priority", { exact: true })).toHaveValue("high");
  await expect(page.getByLabel("Due date", { exact: true })).toHaveValue("2026-12-10");
  await expect(chat.answers).toHaveCount(1);
  await expect(chat.answers.last()).toContainText("I wrote legal_name");
  await page.getByRole("button", { name: "Undo the agent's change of Company" }).click();
  await expect(page.getByLabel("Company", { exact: true })).toHaveValue("Old company");
  await expect(page.getByLabel("Legal name", { exact: true })).toHaveValue("Ada Lovelace");
});

test("the agent sees what the form holds when the message is sent", async ({ page }) => {
  await open(page);
  const chat = new Chat(page);
  await page.getByLabel("Legal name", { exact: true }).fill("Grace Hopper");
  const sent = page.waitForRequest((request) => request.url().includes("/ui/send"));
  await chat.send("What can you do?");
  expect((await sent).postData()).toContain("Grace Hopper");
  await chat.idle();
});

const FILL = "Fill in the form for Ada Lovelace at Analytical Engines";

test("what the agent filled in survives a reload and belongs to its conversation", async ({ page }) => {
  await open(page);
  const chat = new Chat(page);
  const field = (name: string) => page.getByLabel(name, { exact: true });
  const undo = page.getByRole("button", { name: "Undo the agent's change of Legal name" });
  await field("Company").fill("Old company");
  await chat.ask(FILL);
  await expect(field("Company")).toHaveValue("Analytical Engines");
  await page.reload();
  await expect(field("Legal name")).toHaveValue("Ada Lovelace");
  await expect(field("Company")).toHaveValue("Analytical Engines");
  await expect(undo).toBeVisible();
  const first = page.url();
  // The next conversation does not have these values: the user's earlier entries are restored, and the user is asked about them.
  await page.getByRole("link", { name: "New conversation" }).click();
  await expect(field("Legal name")).toHaveValue("");
  await expect(undo).toHaveCount(0);
  await expect(field("Company")).toHaveValue("Old company");
  const ask = page.getByRole("group", { name: "Your entries are still in the form." });
  await ask.getByRole("button", { name: "Clear them" }).click();
  await expect(field("Company")).toHaveValue("");
  await expect(ask).toHaveCount(0);
  await chat.ask("hello");
  await page.getByRole("navigation", { name: "Conversations" }).locator(`a[href$="${new URL(first).search}"]`).click();
  await expect(field("Legal name")).toHaveValue("Ada Lovelace");
  await expect(undo).toBeVisible();
  await undo.click();
  await expect(field("Legal name")).toHaveValue("");
});

test("what the user entered stays, before a conversation and after it", async ({ page }) => {
  await open(page);
  const chat = new Chat(page);
  const name = page.getByLabel("Legal name", { exact: true });
  await name.fill("Grace Hopper");
  await page.reload();
  await expect(name).toHaveValue("Grace Hopper");
  await alive(page);
  await chat.ask("hello");
  await expect(name).toHaveValue("Grace Hopper");
  await page.reload();
  await expect(name).toHaveValue("Grace Hopper");
  await alive(page);
  await page.getByRole("link", { name: "New conversation" }).click();
  const ask = page.getByRole("group", { name: "Your entries are still in the form." });
  await ask.getByRole("button", { name: "Keep" }).click();
  await expect(ask).toHaveCount(0);
  await expect(name).toHaveValue("Grace Hopper");
});

test("what the agent filled in survives a page that closes before it reads the answer", async ({ page, console }) => {
  console.expect(/Failed to load resource|net::|Failed to fetch/);
  let accepted = () => {};
  const isAccepted = new Promise<void>((resolve) => (accepted = resolve));
  await page.route("**/ui/send", async (route) => {
    if (!/"answers"/.test(route.request().postData() ?? "")) return route.continue();
    await page.unroute("**/ui/send");
    // The server has accepted the result, and the page does not learn it.
    await route.fetch();
    accepted();
  });
  await open(page);
  await new Chat(page).send(FILL);
  await isAccepted;
  await page.reload();
  await expect(page.getByLabel("Legal name", { exact: true })).toHaveValue("Ada Lovelace");
  await expect(page.getByRole("button", { name: "Undo the agent's change of Legal name" })).toBeVisible();
  await expect(page.getByRole("log")).toContainText("I wrote legal_name");
  // Once, and not again over what the user enters.
  await page.getByLabel("Legal name", { exact: true }).fill("Grace Hopper");
  await page.reload();
  await expect(page.getByLabel("Legal name", { exact: true })).toHaveValue("Grace Hopper");
});

test("the bar below the form is at the lower edge and is announced", async ({ page }) => {
  await page.setViewportSize({ width: 1440, height: 1100 });
  await open(page);
  const chat = new Chat(page);
  const lower = async (target: Locator) => {
    const box = (await target.boundingBox())!;
    return box.y + box.height;
  };
  await page.getByLabel("Company", { exact: true }).fill("Own Co");
  await chat.ask("hello");
  await page.getByRole("link", { name: "New conversation" }).click();
  const bar = page.getByRole("group", { name: "Your entries are still in the form." });
  await expect(bar).toBeVisible();
  // It rises into its place.
  await expect.poll(async () => Math.abs((await lower(bar)) - (await lower(page.locator(".cw-region-content"))))).toBeLessThan(0.5);
  await expect(page.locator(".cw-agent-changes[aria-live=polite]").filter({ has: bar })).toHaveCount(1);
});

test("the mark of a changed field is not cut off in narrow columns with large text", async ({ page }) => {
  await open(page);
  await page.evaluate(() => (document.documentElement.style.fontSize = "200%"));
  await new Chat(page).ask(FILL);
  const notes = page.locator(".cw-note:has(button)");
  await expect(notes.first()).toBeVisible();
  expect(await notes.evaluateAll((all) => all.filter((note) => [...note.children, note].some((part) => part.scrollWidth > part.clientWidth + 1 && part.clientWidth > 0)).length)).toBe(0);
});

test("columns without room for a large font of the browser become drawers", async ({ server }) => {
  const large = await chromium.launch({ ...browser.launchOptions, args: [...browser.launchOptions.args, "--blink-settings=defaultFontSize=32"] });
  const page = await large.newPage({ viewport: { width: 1200, height: 900 } });
  await open(page, server.url);
  await expect(page.locator(".cw-region-content")).toBeHidden();
  await page.getByRole("button", { name: "Customer request" }).click();
  await expect(page.getByLabel("Legal name", { exact: true })).toBeVisible();
  await large.close();
});
