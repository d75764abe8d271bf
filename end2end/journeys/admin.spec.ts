import { join } from "node:path";
import type { Page } from "@playwright/test";
import { first } from "../fixtures/accounts.ts";
import { Chat } from "../fixtures/chat.ts";
import { alive, expect, test } from "../fixtures/test.ts";

test.use({ serverOptions: { config: join(import.meta.dirname, "../configs/accounts.yaml") } });

// Two browsers and hashed passwords take their time.
test.describe.configure({ timeout: 120_000 });

/** Adds a user; gives his first password. */
async function add(page: Page, name: string): Promise<string> {
  await page.goto("/admin/users");
  await page.getByLabel("Name of the user").fill(name);
  await page.getByRole("button", { name: "Add the user" }).click();
  return page.getByLabel("The password").inputValue();
}

async function signIn(page: Page, name: string, password: string): Promise<void> {
  await page.goto("/auth/sign-in");
  await page.getByLabel("Name").fill(name);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
}

test("a user is added, signs in, is disabled and thrown out", async ({ page, server, browser, console }) => {
  console.expect(/status of 40[134]/, /ERR_INCOMPLETE_CHUNKED_ENCODING/);
  await first(page, server);
  const password = await add(page, "bob");
  const other = await browser.newContext({ baseURL: server.url });
  const bob = await other.newPage();
  await signIn(bob, "bob", password);
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
  await signIn(bob, "bob", password);
  await expect(bob.getByRole("alert")).toContainText("wrong");
  await page.getByRole("button", { name: "Enable" }).click();
  await signIn(bob, "bob", password);
  await alive(bob);
  await other.close();
});

test("who reads another's conversation leaves a row, and a deletion asks for the name", async ({ page, server, browser, console }) => {
  console.expect(/status of 422/);
  await first(page, server);
  const password = await add(page, "bob");
  const other = await browser.newContext({ baseURL: server.url });
  const bob = await other.newPage();
  await signIn(bob, "bob", password);
  await alive(bob);
  await new Chat(bob).ask("Pelicans in winter");
  await page.goto("/admin/conversations?text=pelicans");
  await page.getByRole("link", { name: /Pelicans/ }).click();
  await expect(page.getByRole("article", { name: "User" })).toContainText("Pelicans in winter");
  await expect(page.getByText("entered in the audit log")).toBeVisible();
  await page.getByRole("link", { name: "Audit log" }).click();
  await expect(page.getByRole("row", { name: /admin:read_conversation/ })).toHaveCount(1);
  await page.getByRole("link", { name: "Check the chain" }).click();
  await expect(page.getByRole("status")).toContainText("The chain holds");
  await page.goto("/admin/users");
  await page.getByRole("link", { name: "bob" }).click();
  await page.getByLabel("The user's name, to be sure").fill("bop");
  await page.getByRole("button", { name: "Delete the user" }).click();
  await expect(page.getByRole("alert")).toContainText("Nothing was deleted");
  await page.getByLabel("The user's name, to be sure").fill("bob");
  await page.getByRole("button", { name: "Delete the user" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Users" })).toBeVisible();
  await expect(async () => {
    await page.goto("/admin/conversations?text=pelicans");
    await expect(page.getByText("No conversation fits.")).toBeVisible({ timeout: 1_000 });
  }).toPass();
  // What he used stays.
  await page.goto("/admin");
  await expect(page.getByRole("img", { name: /^Messages by day: [1-9]/ })).toBeVisible();
  await other.close();
});

test("nobody takes his own rights away", async ({ page, server }) => {
  await first(page, server);
  await page.goto("/admin/users");
  await page.getByRole("link", { name: "ada" }).click();
  await expect(page.getByText("This is you")).toBeVisible();
  const path = new URL(page.url()).pathname;
  const origin = new URL(server.url).origin;
  for (const act of ["disable", "delete", "roles"]) {
    const answer = await page.request.post(`${path}/${act}`, { form: { name: "ada" }, headers: { origin } });
    expect(answer.status(), act).toBe(422);
    expect(await answer.text()).toContain("Another administrator can change it");
  }
});
