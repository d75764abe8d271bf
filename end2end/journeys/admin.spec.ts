import { join } from "node:path";
import type { Page } from "@playwright/test";
import { PASSWORD, first, signInFirstTime } from "../fixtures/accounts.ts";
import { Chat } from "../fixtures/chat.ts";
import { alive, expect, test } from "../fixtures/test.ts";

test.use({ serverOptions: { config: join(import.meta.dirname, "../configs/accounts.yaml") } });

// Two browsers and password hashing are slow.
test.describe.configure({ timeout: 120_000 });

/** Adds a user and returns the initial password. */
async function add(page: Page, name: string): Promise<string> {
  await page.goto("/admin/users");
  await page.getByLabel("User name").fill(name);
  await page.getByRole("button", { name: "Add user" }).click();
  return page.getByLabel("Password").inputValue();
}

async function signIn(page: Page, name: string, password: string): Promise<void> {
  await page.goto("/auth/sign-in");
  await page.getByLabel("Name").fill(name);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
}

test("an added user can sign in and loses the session when disabled", async ({ page, server, browser, console }) => {
  console.expect(/status of 40[134]/, /ERR_INCOMPLETE_CHUNKED_ENCODING/);
  await first(page, server);
  const password = await add(page, "bob");
  const other = await browser.newContext({ baseURL: server.url });
  const bob = await other.newPage();
  await signInFirstTime(bob, "bob", password);
  await alive(bob);
  expect((await bob.goto("/admin"))?.status()).toBe(404);
  expect((await bob.request.get("/api/admin/users")).status()).toBe(404);
  await bob.goto("/");
  await alive(bob);
  await new Chat(bob).startCounting(1500, 3);
  await page.goto("/admin/users");
  await page.getByRole("link", { name: "bob" }).click();
  await page.getByRole("button", { name: "Disable" }).click();
  await expect(page.getByRole("status")).toHaveText("Done.");
  await expect(page.getByRole("definition").filter({ hasText: "Disabled" })).toBeVisible();
  await bob.reload();
  await expect(bob.getByRole("heading", { name: "Sign in" })).toBeVisible();
  await signIn(bob, "bob", PASSWORD);
  await expect(bob.getByRole("alert")).toContainText("wrong");
  await page.getByRole("button", { name: "Enable" }).click();
  await signIn(bob, "bob", PASSWORD);
  await alive(bob);
  await other.close();
});

test("an invited user chooses name and password and has the roles of the invitation", async ({ page, server, browser, console }) => {
  console.expect(/status of 404/);
  await first(page, server);
  await page.goto("/admin/users");
  await page.getByRole("link", { name: "invite them" }).click();
  const invite = async (label: string) => {
    await page.getByLabel("Invited person").fill(label);
    await page.getByRole("checkbox", { name: "admin" }).check();
    await page.getByRole("button", { name: "Create link" }).click();
    return page.getByRole("textbox", { name: "Link" }).inputValue();
  };
  const [link, revoked] = [await invite("Bob of sales"), await invite("Mallory")];
  await page.getByRole("button", { name: "Revoke the invitation for Mallory" }).click();
  await expect(page.getByRole("status")).toHaveText("The invitation was revoked.");
  await expect(page.getByRole("listitem").filter({ hasText: "Bob of sales" })).toContainText("admin; created by ada");
  const other = await browser.newContext({ baseURL: server.url });
  const bob = await other.newPage();
  expect((await bob.goto(revoked))?.status()).toBe(404);
  await expect(bob.getByRole("heading", { name: "This invitation is not valid" })).toBeVisible();
  await bob.goto(link);
  await bob.getByLabel("Name").fill("bob");
  await bob.getByLabel("Password").fill(PASSWORD);
  await bob.getByRole("button", { name: "Create the account" }).click();
  await alive(bob);
  expect((await bob.goto("/admin"))?.status()).toBe(200);
  expect((await bob.goto(link))?.status()).toBe(404);
  await page.reload();
  await expect(page.getByText("No invitation is open.")).toBeVisible();
  await other.close();
});

test("reading a user's conversation is audited and deleting a user asks for the name", async ({ page, server, browser, console }) => {
  console.expect(/status of 422/);
  await first(page, server);
  const password = await add(page, "bob");
  const other = await browser.newContext({ baseURL: server.url });
  const bob = await other.newPage();
  await signInFirstTime(bob, "bob", password);
  await alive(bob);
  await new Chat(bob).ask("Pelicans in winter");
  await page.goto("/admin/conversations?text=pelicans");
  await page.getByRole("link", { name: /Pelicans/ }).click();
  await expect(page.getByRole("article", { name: "User" })).toContainText("Pelicans in winter");
  await expect(page.getByText("records that you opened this conversation")).toBeVisible();
  await page.getByRole("navigation", { name: "Admin console" }).getByRole("link", { name: "System" }).click();
  await page.getByRole("link", { name: "Audit log" }).click();
  await expect(page.getByRole("row", { name: /admin:read_conversation/ })).toHaveCount(1);
  await page.getByRole("link", { name: "Verify the chain" }).click();
  await expect(page.getByRole("status")).toContainText("The chain is intact");
  await page.goto("/admin/users");
  await page.getByRole("link", { name: "bob" }).click();
  await page.getByLabel("Type the user's name to confirm").fill("bop");
  await page.getByRole("button", { name: "Delete user" }).click();
  await expect(page.getByRole("alert")).toContainText("Nothing was deleted");
  await page.getByLabel("Type the user's name to confirm").fill("bob");
  await page.getByRole("button", { name: "Delete user" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Users" })).toBeVisible();
  await expect(async () => {
    await page.goto("/admin/conversations?text=pelicans");
    await expect(page.getByText("No conversations match.")).toBeVisible({ timeout: 1_000 });
  }).toPass();
  // Usage statistics are kept.
  await page.goto("/admin");
  await expect(page.getByRole("img", { name: /^Messages by day: maximum [1-9]/ })).toBeVisible();
  await other.close();
});

test("administrators cannot change their own rights", async ({ page, server }) => {
  await first(page, server);
  await page.goto("/admin/users");
  await page.getByRole("link", { name: "ada" }).click();
  await expect(page.getByText("This is your own account")).toBeVisible();
  const path = new URL(page.url()).pathname;
  const origin = new URL(server.url).origin;
  for (const act of ["disable", "delete", "roles"]) {
    const answer = await page.request.post(`${path}/${act}`, { form: { name: "ada" }, headers: { origin } });
    expect(answer.status(), act).toBe(422);
    expect(await answer.text()).toContain("Another administrator can change it");
  }
});

test("the audit log shows successful and failed sign-ins by name", async ({ page, server, browser, console }) => {
  console.expect(/status of 401/);
  await first(page, server);
  const password = await add(page, "bob");
  const other = await browser.newContext({ baseURL: server.url });
  const bob = await other.newPage();
  for (const wrong of ["wrong words 1", "wrong words 2", "wrong words 3"]) await signIn(bob, "bob", wrong);
  await signInFirstTime(bob, "bob", password);
  await alive(bob);
  const stranger = await browser.newContext({ baseURL: server.url });
  await signIn(await stranger.newPage(), "hunter2", "wrong words");
  await expect(async () => {
    await page.goto("/admin/audit?kind=accounts");
    await expect(page.getByRole("row", { name: /account:/ })).toHaveCount(5, { timeout: 1_000 });
  }).toPass();
  await expect(page.getByRole("row", { name: /account:first_account ada/ })).toHaveCount(1);
  // The first of three attempts has a row at once.
  await expect(page.getByRole("row", { name: /account:sign_in bob .* refused/ })).toHaveCount(1);
  await expect(page.getByRole("row", { name: /account:change_password bob .* ok/ })).toHaveCount(1);
  await expect(page.getByRole("row", { name: /account:sign_in bob .* ok/ })).toHaveCount(1);
  expect(await page.content()).not.toContain("hunter2");
  await page.getByLabel("User (name or id)").fill("Bob");
  await page.getByLabel("About").selectOption("Sign-ins and accounts");
  await page.getByRole("button", { name: "Show" }).click();
  await expect(page.getByRole("row", { name: /account:sign_in/ })).toHaveCount(2);
  await page.getByRole("link", { name: "Verify the chain" }).click();
  await expect(page.getByRole("status")).toContainText("The chain is intact");
  await stranger.close();
  await other.close();
});

test("a role that the config does not name needs a confirmation", async ({ page, server, console }) => {
  console.expect(/status of 422/);
  await first(page, server);
  await add(page, "bob");
  await page.goto("/admin/users");
  await page.getByRole("link", { name: "bob" }).click();
  await page.getByLabel("Other roles, separated by commas").fill("admn");
  await page.getByRole("button", { name: "Save roles" }).click();
  await expect(page.getByRole("alert")).toHaveText("The config does not name the role admn. Did you mean admin?");
  await page.getByLabel("Save roles that the config does not name").check();
  await page.getByRole("button", { name: "Save roles" }).click();
  await expect(page.getByRole("status")).toHaveText("Done.");
  await expect(page.getByRole("definition").filter({ hasText: "admn (not in the config)" })).toBeVisible();
  const origin = new URL(server.url).origin;
  const post = (data: object) => page.request.post("/api/admin/users", { data, headers: { origin } });
  expect((await post({ name: "cleo", roles: ["guest"] })).status()).toBe(422);
  expect((await post({ name: "cleo", roles: ["guest"], allowUnknownRoles: true })).status()).toBe(201);
});

test("sessions are named by their browser", async ({ page, server }) => {
  await first(page, server);
  await page.goto("/admin/access");
  await expect(page.getByRole("rowheader", { name: /^(A browser|Chrome on \w+)$/ })).toBeVisible();
  await expect(page.getByText("Mozilla/5.0")).toHaveCount(0);
});

test("the menu is folded on a phone, and opens above the page", async ({ page, server }) => {
  await first(page, server);
  await page.setViewportSize({ width: 375, height: 720 });
  await page.goto("/admin/users");
  const menu = page.getByRole("navigation", { name: "Admin console" });
  const button = page.getByRole("button", { name: "Menu" });
  const heading = page.getByRole("heading", { level: 1 });
  await expect(menu).toHaveCount(0);
  const before = await heading.boundingBox();
  await button.press("Enter");
  await expect(menu.getByRole("link", { name: "People" })).toHaveAttribute("aria-current", "true");
  expect(await heading.boundingBox()).toEqual(before);
  await page.keyboard.press("Escape");
  await expect(menu).toHaveCount(0);
  await button.click();
  await menu.getByRole("link", { name: "System" }).click();
  await button.click();
  await page.getByRole("navigation", { name: "System" }).getByRole("link", { name: "Audit log" }).click();
  await expect(heading).toHaveText("Audit log");
});
