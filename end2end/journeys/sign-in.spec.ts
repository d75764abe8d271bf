import type { Page } from "@playwright/test";
import { PASSWORD, openAccountMenu, toAccount } from "../fixtures/accounts.ts";
import { configured } from "../fixtures/configured.ts";
import { OpenIdProvider } from "../fixtures/openid.ts";
import { alive, expect, test } from "../fixtures/test.ts";

const ACCOUNTS = { "1": { name: "Ada Lovelace", preferred_username: "ada.l", groups: ["admins"] } };

/** A config with users at the provider. */
function config(issuer: string, mode: string): string {
  return `
auth:
  mode: ${mode}
  openidConnect:
    - { id: company, label: Example Ltd, issuer: "${issuer}", allowPrivate: true, clientId: chat, clientSecret: { _secret: OPENID_SECRET },
        scopes: [profile, groups], signUp: true, groups: { roles: { admins: admin } } }
connections: [{ id: demo, type: Demo }]
agents: [{ id: helper, type: Agent, connectionId: demo, properties: { model: demo } }]
pages: [{ id: support, title: Support, blocks: [{ id: chat, type: AgentChat, properties: { agentId: helper } }] }]
`;
}

const SECRET = { OPENID_SECRET: "secret of the tests" };

async function answerProvider(page: Page, account: string): Promise<void> {
  await page.getByLabel("Account").fill(account);
  await page.getByRole("button", { name: "Continue" }).click();
}

test("a user signs in with their company account and sees the page that they asked for", async ({ page }) => {
  const provider = await OpenIdProvider.start(ACCOUNTS);
  try {
    await configured(undefined, config(provider.issuer, "openidConnect"), async (server) => {
      await page.goto(`${server.url}/support?x=1`);
      await expect(page.getByLabel("Password")).toHaveCount(0);
      await page.getByRole("link", { name: "Sign in with Example Ltd" }).click();
      await answerProvider(page, "1");
      await expect(page).toHaveURL(`${server.url}/support?x=1`);
      await alive(page);
      await toAccount(page);
      await expect(page.getByRole("heading", { level: 1, name: "ada.l" })).toBeVisible();
      await expect(page.getByText("Roles: admin")).toBeVisible();
      // The only way to sign in stays.
      await page.getByRole("button", { name: "Unlink Example Ltd" }).click();
      await expect(page.getByRole("alert")).toContainText("your only way to sign in");
      await page.goto(`${server.url}/support`);
      await openAccountMenu(page);
      await page.getByRole("button", { name: "Sign out", exact: true }).click();
      await expect(page.getByRole("status")).toContainText("You are signed out here");
      await page.getByRole("link", { name: "Sign out there, too" }).click();
      await page.getByRole("button", { name: "Sign out at the provider" }).click();
      await expect(page).toHaveURL(/\/auth\/sign-in/);
      await page.getByRole("link", { name: "Sign in with Example Ltd" }).click();
      await expect(page.getByLabel("Account")).toBeVisible();
    }, SECRET);
  } finally {
    provider.close();
  }
});

test("a user with a password links a company account and signs in with it", async ({ page, context }) => {
  const provider = await OpenIdProvider.start({ "1": { preferred_username: "someone" } });
  try {
    await configured(undefined, config(provider.issuer, "password"), async (server) => {
      await page.goto(`${server.url}/support`);
      await page.getByRole("link", { name: "Create the first one" }).click();
      await page.getByLabel("Token").fill(tokenOf(server.log));
      await page.getByLabel("Name").fill("ada");
      await page.getByLabel("Password").fill(PASSWORD);
      await page.getByRole("button", { name: "Create the account" }).click();
      await expect(page.getByRole("heading", { name: "First steps" })).toBeVisible();
      await page.goto(`${server.url}/support`);
      await alive(page);
      await toAccount(page);
      await page.getByRole("button", { name: "Link Example Ltd" }).click();
      await page.getByRole("link", { name: "Continue to Example Ltd" }).click();
      await answerProvider(page, "1");
      await expect(page.getByRole("status")).toContainText("was linked");
      await context.clearCookies();
      await page.goto(`${server.url}/support`);
      await page.getByRole("link", { name: "Sign in with Example Ltd" }).click();
      await answerProvider(page, "1");
      await alive(page);
      await toAccount(page);
      await expect(page.getByRole("heading", { level: 1, name: "ada" })).toBeVisible();
    }, SECRET);
  } finally {
    provider.close();
  }
});

/** The token for the first account, which the server has printed. */
function tokenOf(log: string[]): string {
  return log.map((line) => /with the token (\S+)$/.exec(line)?.[1]).find(Boolean) ?? "";
}
