import { join } from "node:path";
import type { Page } from "@playwright/test";
import { PASSWORD, first, openAccountMenu, signInFirstTime } from "../fixtures/accounts.ts";
import { Chat } from "../fixtures/chat.ts";
import { alive, expect, open, test } from "../fixtures/test.ts";

/** The user's own messages, in order. */
function own(page: Page) {
  return page.getByRole("log").getByRole("article", { name: "You" });
}

test.describe("messages that wait", () => {
  test.describe.configure({ timeout: 120_000 });
  test.use({ serverOptions: { config: join(import.meta.dirname, "../configs/composer.yaml") } });

  test("queued messages survive a reload and are sent in order, once each", async ({ page, context }) => {
    await open(page);
    const chat = new Chat(page);
    const waiting = page.getByRole("region", { name: "Waiting messages" }).getByRole("listitem");
    await chat.startCounting(1200, 3);
    await chat.send("count to 3");
    await chat.send("count to 4");
    await expect(waiting).toHaveText([/count to 3/, /count to 4/]);
    await page.reload();
    await expect(waiting).toHaveText([/count to 3/, /count to 4/]);
    // Another tab shows the conversation with the messages, which the server has.
    const other = await context.newPage();
    await other.goto(page.url());
    await expect.poll(() => new Chat(other).counted(), { timeout: 20_000 }).toBeGreaterThan(3);
    const elsewhere = other.getByRole("region", { name: "Waiting messages" }).getByRole("listitem");
    await expect(elsewhere).toHaveText([/count to 3/, /count to 4/]);
    await page.getByRole("button", { name: "Edit the waiting message" }).last().click();
    await page.getByRole("textbox", { name: "Waiting message" }).fill("count to 5");
    await page.keyboard.press("Enter");
    await page.reload();
    await expect(waiting).toHaveText([/count to 3/, /count to 5/]);
    await expect(own(page)).toHaveText([/count to 1200/, /count to 3/, /count to 5/], { timeout: 60_000 });
    await chat.idle();
    await expect(own(other)).toHaveText([/count to 1200/, /count to 3/, /count to 5/], { timeout: 20_000 });
    await page.reload();
    await expect(own(page)).toHaveCount(3);
    await expect(waiting).toHaveCount(0);
  });

  test("queued messages are sent when no tab is open", async ({ page, context }) => {
    // The first page of the config has an event before each message, which only an open page can handle.
    await open(page, "/plain");
    const chat = new Chat(page);
    await chat.startCounting(1200, 3);
    const isStored = (url: string) => url.includes("/api/message-queues/");
    const stored = page.waitForResponse((response) => response.request().method() === "PUT" && isStored(response.url()));
    await chat.send("count to 3");
    await chat.send("count to 4");
    const queue = (await stored).url().split("/").slice(0, -1).join("/");
    const waiting = async () => (await (await context.request.get(queue)).json()).items.length;
    await expect.poll(waiting).toBe(2);
    const address = page.url();
    const later = await context.newPage();
    await page.close();
    await expect.poll(waiting, { timeout: 90_000 }).toBe(0);
    await later.goto(address);
    await expect(own(later)).toHaveText([/count to 1200/, /count to 3/, /count to 4/], { timeout: 20_000 });
    await expect(later.getByRole("region", { name: "Waiting messages" })).toHaveCount(0);
  });

  test("held back messages survive a reload", async ({ page }) => {
    await open(page);
    const chat = new Chat(page);
    await chat.startCounting(2000, 3);
    await chat.send("count to 3");
    await chat.stopButton.click();
    await expect(page.getByText("1 message on hold")).toBeVisible();
    await page.reload();
    await expect(page.getByText("1 message on hold")).toBeVisible();
    await page.getByRole("button", { name: "Send the next message" }).click();
    await expect(own(page)).toHaveText([/count to 2000/, /count to 3/]);
  });

  test("a message that another tab edits can be sent or removed, and the text typed there stays", async ({ page, context }) => {
    await open(page, "/plain");
    const chat = new Chat(page);
    const sendNext = page.getByRole("button", { name: "Send the next message" });
    /** Lets a message wait behind an answer that was stopped, and types into it in another tab. */
    const editElsewhere = async (message: string, typed: string) => {
      await chat.startCounting(2000, 3);
      await chat.send(message);
      await chat.stopButton.click();
      await expect(page.getByText("1 message on hold")).toBeVisible();
      const other = await context.newPage();
      await other.goto(page.url());
      await other.getByRole("button", { name: "Edit the waiting message" }).click();
      await other.getByRole("textbox", { name: "Waiting message" }).fill(typed);
      await expect(other.getByRole("button", { name: "Send the next message" })).toHaveCount(0);
      await expect(page.getByText("Another tab may be editing it.")).toBeVisible({ timeout: 20_000 });
      return other;
    };
    // The tab is closed, and the server holds the message for ten minutes.
    await (await editElsewhere("count to 3", "count to 30")).close();
    await sendNext.click();
    // The time of day follows the text without a space.
    await expect(own(page)).toHaveText([/count to 2000/, /count to 3\d\d:\d\d$/]);
    await chat.idle();
    await expect(page.getByText("Another tab may be editing it.")).toHaveCount(0);

    const returned = async (other: Page, typed: string) => {
      await expect(other.locator(".cw-toast")).toContainText("Your text for it is in the message field.", { timeout: 20_000 });
      await expect(new Chat(other).composer).toHaveValue(typed);
      await expect(other.getByRole("region", { name: "Waiting messages" })).toHaveCount(0);
      await other.close();
    };
    const sender = await editElsewhere("count to 4", "count to 40");
    await sendNext.click();
    await returned(sender, "count to 40");
    await chat.idle();
    const remover = await editElsewhere("count to 5", "count to 50");
    await page.getByRole("button", { name: "Remove the waiting message" }).click();
    await returned(remover, "count to 50");
  });

  test("a message that is removed without a connection is removed when the server is back", async ({ page, context, console }) => {
    console.expect(/ERR_INTERNET_DISCONNECTED|ERR_FAILED|Failed to fetch/);
    await open(page, "/plain");
    const chat = new Chat(page);
    await chat.startCounting(2000, 3);
    const stored = page.waitForResponse((response) => response.request().method() === "PUT" && response.url().includes("/api/message-queues/"));
    await chat.send("count to 3");
    const queue = (await stored).url().split("/").slice(0, -1).join("/");
    await chat.stopButton.click();
    const waiting = page.getByRole("region", { name: "Waiting messages" }).getByRole("listitem");
    await expect(page.getByText("1 message on hold")).toBeVisible();
    await context.setOffline(true);
    await page.getByRole("button", { name: "Remove the waiting message" }).click();
    await expect(waiting).toContainText("Removed as soon as the server can be reached.");
    await expect(page.getByRole("button", { name: "Send the next message" })).toHaveCount(0);
    // The tab still knows about the removal after a reload.
    await page.route(/\/api\/message-queues\//, (route) => (route.request().method() === "DELETE" ? route.abort() : route.continue()));
    await context.setOffline(false);
    await page.reload();
    await expect(waiting).toContainText("Removed as soon as the server can be reached.", { timeout: 20_000 });
    const items = async () => (await (await context.request.get(queue)).json()).items.length;
    expect(await items()).toBe(1);
    await page.unrouteAll();
    await expect(waiting).toHaveCount(0, { timeout: 20_000 });
    expect(await items()).toBe(0);
    await page.reload();
    await expect(own(page)).toHaveText([/count to 2000/]);
    await expect(waiting).toHaveCount(0);
  });
});

test.describe("two people with one browser", () => {
  test.use({ serverOptions: { config: join(import.meta.dirname, "../configs/accounts.yaml") } });
  test.describe.configure({ timeout: 120_000 });
  test("two users of one browser do not see each other's drafts", async ({ page, server, console }) => {
    console.expect(/status of 40[134]/);
    await first(page, server);
    await page.goto("/admin/users");
    await page.getByLabel("User name").fill("bob");
    await page.getByRole("button", { name: "Add user" }).click();
    const password = await page.getByLabel("Password").inputValue();
    await open(page);
    const { composer } = new Chat(page);
    await composer.fill("for nobody's eyes");
    await page.reload();
    await expect(composer).toHaveValue("for nobody's eyes");
    const leave = async () => {
      await openAccountMenu(page);
      await page.getByRole("button", { name: "Sign out", exact: true }).click();
    };
    const shown = async () => {
      await expect(composer).toBeVisible();
      await expect(page.getByRole("button", { name: "Send" })).toBeVisible();
    };
    await leave();
    await signInFirstTime(page, "bob", password);
    await shown();
    await expect(composer).toHaveValue("");
    await alive(page);
    await composer.fill("bob's own words");
    await page.reload();
    await expect(composer).toHaveValue("bob's own words");
    await leave();
    await page.goto("/auth/sign-in");
    await page.getByLabel("Name").fill("ada");
    await page.getByLabel("Password").fill(PASSWORD);
    await page.getByRole("button", { name: "Sign in" }).click();
    await shown();
    await expect(composer).toHaveValue("for nobody's eyes");
  });
});
