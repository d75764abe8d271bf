import { PASSWORD, token } from "../fixtures/accounts.ts";
import { configured } from "../fixtures/configured.ts";
import { everySize } from "../fixtures/sizes.ts";
import { TOKEN, Telegram } from "../fixtures/telegram.ts";
import { expect, test } from "../fixtures/test.ts";

/** A config with an agent that answers in Telegram. */
function config(telegram: Telegram): string {
  return `
auth: { mode: password }
connections:
  - { id: demo, type: Demo }
  - { id: telegram, type: Telegram, properties: { token: { _secret: TELEGRAM_TOKEN }, baseURL: "${telegram.url}", allowPrivate: true } }
agents: [{ id: helper, type: Agent, connectionId: demo, properties: { model: demo } }]
channels: [{ id: help, connectionId: telegram, agentId: helper }]
pages: [{ id: support, title: Support, blocks: [{ id: chat, type: AgentChat, properties: { agentId: helper } }] }]
`;
}

test("a user links their account at a messenger, asks there, and removes the link", async ({ page }) => {
  const telegram = await Telegram.start();
  try {
    await configured(undefined, config(telegram), async (server) => {
      await page.goto(`${server.url}/auth/first-admin`);
      await page.getByLabel("Token").fill(await token(server));
      await page.getByLabel("Name").fill("ada");
      await page.getByLabel("Password").fill(PASSWORD);
      await page.getByRole("button", { name: "Create the account" }).click();
      await page.waitForURL((url) => !url.pathname.startsWith("/auth/"));

      await page.goto(`${server.url}/account/messengers`);
      // The server knows the name of the bot after it has asked Telegram.
      await expect(async () => {
        await page.reload();
        await expect(page.getByRole("heading", { name: "Telegram: @TestNameBot" })).toBeVisible({ timeout: 500 });
      }).toPass();
      await everySize(page, "messengers-none-linked");
      await page.getByRole("button", { name: "Link Telegram: @TestNameBot" }).click();
      await expect(page.getByRole("status")).toContainText("within ten minutes");
      await everySize(page, "messengers-code");
      const command = await page.getByLabel("Code", { exact: true }).inputValue();
      expect(command).toMatch(/^\/start [0-9a-f]{32}$/);

      await telegram.write(command);
      await expect.poll(async () => (await telegram.newest())?.message.text).toContain("Link this chat to the account “ada”?");
      const asked = await telegram.newest();
      if (asked) await telegram.press(asked);
      await expect.poll(async () => (await telegram.newest())?.message.text).toContain("You are linked to the account");
      await page.goto(`${server.url}/account/messengers`);
      await expect(page.getByRole("listitem").filter({ hasText: "Ada Lovelace" })).toBeVisible();
      await everySize(page, "messengers-linked");

      await telegram.write("Hello");
      await expect.poll(async () => (await telegram.newest())?.message.text).toContain("I am the demo model");
      await page.getByRole("button", { name: "Remove the link to Ada Lovelace" }).click();
      await expect(page.getByRole("status")).toContainText("Removed.");
      await expect(page.getByRole("heading", { name: "Linked messenger accounts" })).toHaveCount(0);
    }, { TELEGRAM_TOKEN: TOKEN });
  } finally {
    telegram.close();
  }
});
