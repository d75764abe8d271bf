import { join } from "node:path";
import type { Locator, Page } from "@playwright/test";
import { PASSWORD, first, openAccountMenu, signUp, toAccount } from "../fixtures/accounts.ts";
import { Chat } from "../fixtures/chat.ts";
import { alive, expect, test } from "../fixtures/test.ts";

test.use({ serverOptions: { config: join(import.meta.dirname, "../configs/accounts.yaml") } });

// Two browsers and password hashing are slow.
test.describe.configure({ timeout: 120_000 });

async function signIn(page: Page, name: string, password = PASSWORD): Promise<void> {
  await page.getByLabel("Name").fill(name);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
}

test("the first account is created with the setup token and can sign out and in again", async ({ page, server, console }) => {
  console.expect(/status of 40[134]/);
  await page.goto("/");
  await page.getByLabel("Token").fill("guessed");
  await page.getByLabel("Name").fill("ada");
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Create the account" }).click();
  await expect(page.getByRole("alert")).toContainText("not the token");
  await first(page, server, "ada");
  await new Chat(page).ask("Hello");
  const conversation = page.url();
  await toAccount(page);
  await expect(page.getByRole("heading", { level: 1, name: "ada" })).toBeVisible();
  await expect(page.getByText("Roles: admin")).toBeVisible();
  await page.goBack();
  // Sign out from the menu, without the account page.
  await openAccountMenu(page);
  await page.getByRole("button", { name: "Sign out", exact: true }).click();
  // After signing in, the requested page is shown.
  await page.goto(conversation);
  await expect(page.getByRole("heading", { name: "Sign in" })).toBeVisible();
  await signIn(page, "ada", "wrong words altogether");
  await expect(page.getByRole("alert")).toContainText("The name or the password is wrong");
  await expect(page.getByLabel("Name")).toHaveValue("ada");
  await signIn(page, "ADA");
  await expect(page).toHaveURL(conversation);
  await expect(new Chat(page).answers).toHaveCount(1);
  expect((await page.goto("/auth/first-admin"))?.status()).toBe(404);
});

test("users do not see each other's conversations", async ({ page, server, browser, console }) => {
  console.expect(/status of 404/);
  await first(page, server, "ada");
  await new Chat(page).ask("A secret of Ada's");
  const conversation = new URL(page.url());
  const id = conversation.searchParams.get("conversation");
  const other = await browser.newContext({ baseURL: server.url });
  const bob = await other.newPage();
  await signUp(bob, "bob");
  for (const path of [`/support?conversation=${id}`, `/?conversation=${id}`]) {
    await bob.goto(path);
    await expect(bob.getByText("secret of Ada")).toHaveCount(0);
  }
  for (const path of [`/api/conversations/${id}`, `/api/agent/support/helper/${id}/stream`]) {
    expect((await bob.request.get(path)).status(), path).toBe(404);
  }
  expect((await bob.request.delete(`/api/conversations/${id}`)).status()).toBe(404);
  expect(await (await bob.request.get("/api/conversations")).text()).not.toContain(id);
  expect((await page.request.get(`/api/conversations/${id}`)).status()).toBe(200);
  await other.close();
});

test("a session that is ended elsewhere ends with its stream", async ({ page, server, browser, console }) => {
  console.expect(/status of 401/, /ERR_INCOMPLETE_CHUNKED_ENCODING/);
  await first(page, server, "ada");
  await new Chat(page).startCounting(1500, 3);
  const other = await browser.newContext({ baseURL: server.url });
  const phone = await other.newPage();
  await phone.goto("/auth/account");
  await signIn(phone, "ada");
  await expect(phone.getByText("this browser")).toHaveCount(1);
  await phone.getByRole("button", { name: /^Sign out Chrome/ }).click();
  await expect(phone.getByRole("button", { name: /^Sign out Chrome/ })).toHaveCount(0);
  await expect(page.getByRole("log").getByText("You are not signed in")).toBeVisible({ timeout: 15_000 });
  await page.reload();
  await expect(page.getByRole("heading", { name: "Sign in" })).toBeVisible();
  await other.close();
});

test("a user creates an API key and changes the password", async ({ page, server, request }) => {
  await first(page, server, "ada");
  await page.goto("/auth/account");
  await page.getByLabel("Key name").fill("nightly job");
  await page.getByLabel("Manage conversations").check();
  await page.getByRole("button", { name: "Create key" }).click();
  const key = await page.getByLabel("New key").inputValue();
  const ask = (path: string) => request.get(path, { headers: { authorization: `Bearer ${key}` } });
  expect((await ask("/api/conversations")).status()).toBe(200);
  expect((await ask("/api/keys")).status()).toBe(403);
  await page.goto("/auth/account");
  await expect(page.getByText(key)).toHaveCount(0);
  await page.getByRole("button", { name: "Delete the key nightly job" }).click();
  expect((await ask("/api/conversations")).status()).toBe(401);
  await page.getByLabel("Current password").fill(PASSWORD);
  await page.getByLabel("New password").fill("quite another sentence");
  await page.getByRole("button", { name: "Change password" }).click();
  await expect(page.getByRole("status")).toContainText("Your password was changed");
  await page.getByRole("button", { name: "Sign out", exact: true }).click();
  await signIn(page, "ada", "quite another sentence");
  await alive(page);
});

test("the account menu comes before the page's controls in keyboard order", async ({ page, server }) => {
  await first(page, server, "ada");
  const banner = page.getByRole("banner");
  await banner.getByRole("link", { name: "Start page" }).focus();
  const account = banner.getByRole("button", { name: "Account of ada" });
  for (let presses = 0; presses < 5 && !(await account.evaluate((button) => button === document.activeElement)); presses += 1) await page.keyboard.press("Tab");
  await expect(account).toBeFocused();
  await page.keyboard.press("Enter");
  await page.keyboard.press("Tab");
  await expect(page.getByRole("link", { name: "Your account" })).toBeFocused();
  await page.keyboard.press("Tab");
  await expect(page.getByRole("link", { name: "Admin console" })).toBeFocused();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { name: "Sign in" })).toBeVisible();
});

test("the account menu leads an administrator to the console, whose menu keeps to two lines beside a long name", async ({ page, server, browser }) => {
  const name = "a-very-long-user-name-that-goes-on-and-on-for-long";
  await page.setViewportSize({ width: 1440, height: 900 });
  await first(page, server, name);
  await openAccountMenu(page);
  // The name begins where the items begin.
  const start = (target: Locator) => target.evaluate((element) => {
    const range = document.createRange();
    range.selectNodeContents(element);
    return range.getBoundingClientRect().x;
  });
  const menu = page.locator(".cw-account-menu");
  const [own, item] = [await start(menu.locator("strong")), await start(menu.getByRole("link", { name: "Your account" }))];
  expect(Math.abs(own - item)).toBeLessThan(1);
  await menu.getByRole("link", { name: "Admin console" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Overview" })).toBeVisible();
  const entries = page.getByRole("navigation", { name: "Admin console" }).getByRole("link");
  const tops = await entries.evaluateAll((all) => all.map((entry) => entry.getBoundingClientRect().y));
  expect(new Set(tops).size).toBeLessThanOrEqual(2);
  await expect(page.getByText(name)).toHaveAttribute("title", name);
  // Others have no such item.
  const other = await browser.newContext({ baseURL: server.url });
  const bob = await other.newPage();
  await signUp(bob, "bob");
  await openAccountMenu(bob);
  await expect(bob.getByRole("link", { name: "Admin console" })).toHaveCount(0);
  await other.close();
});

test.describe("a quota", () => {
  test.use({ serverOptions: { config: join(import.meta.dirname, "../configs/quota.yaml") } });

  test("a user sees what they have used and when it renews", async ({ page, server, console }) => {
    console.expect(/status of 429/);
    await first(page, server, "ada");
    const usage = page.getByRole("region", { name: "Usage" });
    await page.goto("/auth/account");
    await expect(usage).toContainText(/Messages today.*0 of 1, 1 left.*Renews on .* UTC/);
    await page.goto("/");
    const chat = new Chat(page);
    await chat.ask("Hello");
    await page.goto("/auth/account");
    await expect(usage).toContainText(/Messages today.*1 of 1, 0 left.*Used up. You can continue from .* UTC/);
    await expect(usage).toContainText(/All usage this month.*Messages: 1,/);
    await page.goto("/");
    await chat.send("Again");
    await expect(page.getByText(/You have used 1 of 1 messages for today. You can continue from .* UTC/)).toBeVisible();
  });
});
