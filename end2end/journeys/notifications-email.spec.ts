import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { first } from "../fixtures/accounts.ts";
import { Chat } from "../fixtures/chat.ts";
import { MailServer } from "../fixtures/mail.ts";
import { everySize } from "../fixtures/sizes.ts";
import { expect, test as base } from "../fixtures/test.ts";

const config = (port: number) => `
auth: { mode: password, openSignUp: true, publicUrls: ["http://chat.test"] }
connections:
  - { id: demo, type: Demo, properties: { delayMs: 0 } }
  - { id: mail, type: Smtp, properties: { host: 127.0.0.1, port: ${port}, security: none, from: "Chat <chat@example.com>" } }
agents: [{ id: helper, type: Agent, title: Helper, connectionId: demo, properties: { model: demo } }]
notifications: { contact: mailto:ops@example.com, email: { connectionId: mail, afterMinutes: 0 } }
pages: [{ id: home, blocks: [{ id: chat, type: AgentChat, properties: { agentId: helper } }] }]
`;

const test = base.extend<{ mail: MailServer }>({
  mail: async ({}, use) => {
    const mail = new MailServer();
    await use(mail);
    mail.stop();
  },
  serverOptions: async ({ mail }, use) => {
    const folder = await mkdtemp(join(tmpdir(), "chatwright-config-"));
    await writeFile(join(folder, "chatwright.yaml"), config(await mail.start()));
    await use({ config: join(folder, "chatwright.yaml") });
    await rm(folder, { recursive: true });
  },
});

/** Returns the path of the link in an e-mail that begins with this one. */
function link(mail: string | undefined, begin: string): string {
  return mail?.match(new RegExp(`http://chat\\.test(${begin}[^\\s>]*)`))?.[1] ?? "no link";
}

test("a user confirms an address, is told of an unread answer there, and ends that with its link", async ({ page, server, mail }) => {
  await first(page, server, "ada");
  await page.goto("/account/notifications");
  const part = page.getByRole("region", { name: "E-mail" });
  await part.getByLabel("E-mail address").fill("ada@example.com");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("status").filter({ hasText: "A link is on its way" })).toBeVisible();
  await expect(part).toContainText("A link was sent to ada@example.com.");
  await everySize(page, "notifications-email-asked");

  await expect.poll(() => mail.mails.length).toBe(1);
  await page.goto(link(mail.mails[0], "/account/notifications/confirm/"));
  await everySize(page, "notifications-email-confirm");
  await page.getByRole("button", { name: "Confirm the address" }).click();
  await expect(page.getByText("Notifications by e-mail are on.")).toBeVisible();
  await expect(part).toContainText("are sent to ada@example.com, in one e-mail");

  // The user leaves while the answer is written.
  await page.goto("/home");
  const chat = new Chat(page);
  await chat.composer.fill("count to 300");
  await chat.composer.press("Enter");
  await expect(page.getByRole("article").first()).toBeVisible();
  await page.goto("about:blank");
  await expect.poll(() => mail.mails.length, { timeout: 30_000 }).toBe(2);
  const told = mail.mails[1];
  expect(told).toMatch(/^Subject: Helper: .*: an answer is there$/m);
  await page.goto(link(told, "/home\\?conversation="));
  await expect(page.getByRole("article").first()).toContainText("count to 300");

  await page.goto(link(told, "/account/notifications/stop/"));
  await everySize(page, "notifications-email-stop");
  await page.getByRole("button", { name: "Turn off e-mail" }).click();
  await expect(page.getByRole("heading", { name: "Notifications by e-mail are off" })).toBeVisible();
  await page.goto("/account/notifications");
  await expect(part.getByLabel("E-mail address")).toBeVisible();
  await expect(part.getByRole("button", { name: "Turn off e-mail" })).toHaveCount(0);
});
