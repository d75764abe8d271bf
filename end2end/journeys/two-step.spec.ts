import { join } from "node:path";
import type { Page } from "@playwright/test";
import { PASSWORD, first, signUp, toAccount } from "../fixtures/accounts.ts";
import { Authenticator } from "../fixtures/authenticator.ts";
import { accessible, fits } from "../fixtures/axe.ts";
import { configured } from "../fixtures/configured.ts";
import { alive, expect, test } from "../fixtures/test.ts";

const KEY = { SECOND_FACTOR_KEY: "a key of more than thirty-two characters" };

test.use({ serverOptions: { config: join(import.meta.dirname, "../configs/two-step.yaml"), env: KEY } });

// Password hashing is slow, and each code of the app is used once.
test.describe.configure({ timeout: 120_000 });

async function enterPassword(page: Page, name: string): Promise<void> {
  await page.getByLabel("Name").fill(name);
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Sign in" }).click();
}

async function enterCode(page: Page, code: string): Promise<void> {
  await page.getByLabel("Code", { exact: true }).fill(code);
  await page.getByRole("button", { name: "Sign in" }).click();
}

/** Scans the QR code of the page: here, reads the secret below it. */
async function scan(page: Page): Promise<Authenticator> {
  await expect(page.getByRole("heading", { name: "Set up two-step sign-in" })).toBeVisible();
  await expect(page.getByRole("img", { name: "QR code" })).toBeVisible();
  return new Authenticator((await page.getByRole("region", { name: "Secret" }).textContent()) ?? "");
}

/** The recovery codes that the page shows. */
async function recoveryCodes(page: Page): Promise<string[]> {
  const codes = ((await page.getByRole("region", { name: "Recovery codes" }).textContent()) ?? "").split("\n");
  expect(codes).toHaveLength(10);
  return codes;
}

async function signOut(page: Page): Promise<void> {
  await page.goto("/auth/account");
  await page.getByRole("button", { name: "Sign out", exact: true }).click();
  await expect(page.getByRole("heading", { name: "Sign in" })).toBeVisible();
}

test("a user sets up an app, signs in with its codes and a recovery code, and turns it off", async ({ page, server, console }) => {
  console.expect(/status of 4(01|22)/);
  await first(page, server, "ada");
  await toAccount(page);
  await page.getByRole("link", { name: "Turn on" }).click();
  const app = await scan(page);
  await accessible(page);
  await fits(page);
  await page.getByLabel("Your password").fill(PASSWORD);
  await page.getByLabel("Code", { exact: true }).fill("000000");
  await page.getByRole("button", { name: "Turn on two-step sign-in" }).click();
  await expect(page.getByRole("alert")).toContainText("This code is wrong");
  await page.getByLabel("Your password").fill(PASSWORD);
  await page.getByLabel("Code", { exact: true }).fill(await app.next());
  await page.getByRole("button", { name: "Turn on two-step sign-in" }).click();
  const codes = await recoveryCodes(page);
  await accessible(page);
  await page.getByRole("link", { name: "I have stored them" }).click();
  await expect(page.getByText("10 recovery codes are left")).toBeVisible();
  await signOut(page);

  // The page that was asked for opens after the second step.
  await page.goto("/support?x=1");
  await enterPassword(page, "ada");
  await expect(page.getByRole("heading", { name: "Second step" })).toBeVisible();
  await expect(page.getByLabel("Code", { exact: true })).toBeFocused();
  await accessible(page);
  await enterCode(page, "000000");
  await expect(page.getByRole("alert")).toContainText("This code is wrong");
  await enterCode(page, await app.next());
  await expect(page).toHaveURL(`${server.url}/support?x=1`);
  await alive(page);
  await signOut(page);
  await enterPassword(page, "ada");
  await enterCode(page, codes[3] ?? "");
  await alive(page);

  await page.goto("/auth/account");
  await expect(page.getByText("9 recovery codes are left")).toBeVisible();
  const section = page.getByRole("region", { name: "Two-step sign-in" });
  await section.getByLabel("Your password").fill(PASSWORD);
  await section.getByLabel("Code", { exact: true }).fill(codes[4] ?? "");
  await section.getByRole("button", { name: "Turn off" }).click();
  await expect(page.getByRole("status")).toContainText("Two-step sign-in is off");
  await signOut(page);
  await enterPassword(page, "ada");
  await alive(page);
});

test("an administrator resets the app of a user who has lost it", async ({ page, server, browser }) => {
  await first(page, server, "ada");
  const other = await browser.newContext({ baseURL: server.url });
  const bob = await other.newPage();
  await signUp(bob, "bob");
  await toAccount(bob);
  await bob.getByRole("link", { name: "Turn on" }).click();
  const app = await scan(bob);
  await bob.getByLabel("Your password").fill(PASSWORD);
  await bob.getByLabel("Code", { exact: true }).fill(await app.next());
  await bob.getByRole("button", { name: "Turn on two-step sign-in" }).click();
  await recoveryCodes(bob);
  await page.goto("/admin/users");
  await expect(page.getByRole("cell", { name: "password, authenticator app" })).toHaveCount(1);
  await page.getByRole("link", { name: "bob" }).click();
  await page.getByRole("button", { name: "Reset two-step sign-in" }).click();
  await expect(page.getByRole("status")).toContainText("Done");
  await expect(page.getByRole("button", { name: "Reset two-step sign-in" })).toHaveCount(0);
  await bob.goto("/auth/account");
  await enterPassword(bob, "bob");
  await expect(bob.getByRole("heading", { level: 1, name: "bob" })).toBeVisible();
  await other.close();
});

test("where it is required, a new user sets up an app before anything else", async ({ page }) => {
  const config = `
auth: { mode: password, openSignUp: true, secondFactor: required, secondFactorKeys: [{ _secret: SECOND_FACTOR_KEY }] }
connections: [{ id: demo, type: Demo }]
agents: [{ id: helper, type: Agent, connectionId: demo, properties: { model: demo } }]
pages: [{ id: support, title: Support, blocks: [{ id: chat, type: AgentChat, properties: { agentId: helper } }] }]
`;
  await configured(undefined, config, async (server) => {
    const shown = () => server.log.map((line) => /with the token (\S+)$/.exec(line)?.[1]).find(Boolean);
    await expect.poll(shown).toBeTruthy();
    await page.goto(`${server.url}/`);
    await page.getByLabel("Token").fill(shown() ?? "");
    await page.getByLabel("Name").fill("ada");
    await page.getByLabel("Password").fill(PASSWORD);
    await page.getByRole("button", { name: "Create the account" }).click();
    const app = await scan(page);
    // Going elsewhere does not help.
    const elsewhere = await page.context().newPage();
    await elsewhere.goto(`${server.url}/support`);
    await expect(elsewhere.getByRole("heading", { name: "Sign in" })).toBeVisible();
    await elsewhere.close();
    await page.getByLabel("Code", { exact: true }).fill(await app.next());
    await page.getByRole("button", { name: "Turn on two-step sign-in" }).click();
    await recoveryCodes(page);
    await page.getByRole("link", { name: "I have stored them" }).click();
    await expect(page.getByRole("heading", { name: "First steps" })).toBeVisible();
    await page.goto(`${server.url}/auth/account`);
    await expect(page.getByRole("button", { name: "Turn off" })).toHaveCount(0);
    await expect(page.getByRole("button", { name: "Use another app" })).toBeVisible();
  }, KEY);
});
