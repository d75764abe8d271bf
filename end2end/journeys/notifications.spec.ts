import { createDecipheriv, createECDH, hkdfSync } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { first, toAccount } from "../fixtures/accounts.ts";
import { Chat } from "../fixtures/chat.ts";
import { everySize } from "../fixtures/sizes.ts";
import { expect, test } from "../fixtures/test.ts";

test.use({ serverOptions: { config: join(import.meta.dirname, "../configs/notifications.yaml") } });
test.describe.configure({ timeout: 120_000 });

/** A browser's half of a subscription, and a push service that decrypts what it gets (RFC 8291). */
class PushService {
  readonly messages: Record<string, string>[] = [];
  readonly #keys = createECDH("prime256v1");
  readonly #secret = Buffer.alloc(16, 3);
  readonly #server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      this.messages.push(this.#read(Buffer.concat(parts)));
      response.writeHead(201).end();
    });
  });

  async start(): Promise<{ endpoint: string; keys: { p256dh: string; auth: string } }> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    const p256dh = this.#keys.generateKeys("base64url");
    const { port } = this.#server.address() as AddressInfo;
    return { endpoint: `http://127.0.0.1:${port}/send`, keys: { p256dh, auth: this.#secret.toString("base64url") } };
  }

  stop(): void {
    this.#server.close();
  }

  #read(body: Buffer): Record<string, string> {
    const [salt, idLength] = [body.subarray(0, 16), body[20] ?? 0];
    const [sender, sealed] = [body.subarray(21, 21 + idLength), body.subarray(21 + idLength)];
    const info = Buffer.concat([Buffer.from("WebPush: info\0"), this.#keys.getPublicKey(), sender]);
    const secret = Buffer.from(hkdfSync("sha256", this.#keys.computeSecret(sender), this.#secret, info, 32));
    const key = Buffer.from(hkdfSync("sha256", secret, salt, "Content-Encoding: aes128gcm\0", 16));
    const nonce = Buffer.from(hkdfSync("sha256", secret, salt, "Content-Encoding: nonce\0", 12));
    const decipher = createDecipheriv("aes-128-gcm", key, nonce);
    decipher.setAuthTag(sealed.subarray(-16));
    const padded = Buffer.concat([decipher.update(sealed.subarray(0, -16)), decipher.final()]);
    return JSON.parse(padded.subarray(0, padded.lastIndexOf(2)).toString()) as Record<string, string>;
  }
}

/**
 * Lets the browser subscribe at this push service: that of Chromium is a server on the internet. A browser without windows does not tell
 * pages that they have the permission.
 */
async function subscribeAt(page: Page, subscription: object): Promise<void> {
  await page.addInitScript((subscription) => {
    Object.defineProperty(Notification, "permission", { get: () => "granted" });
    Notification.requestPermission = () => Promise.resolve("granted");
    const kept = "subscription";
    const current = () => {
      const unsubscribe = () => Promise.resolve(localStorage.removeItem(kept)).then(() => true);
      return localStorage.getItem(kept) === null ? null : { ...subscription, unsubscribe, toJSON: () => subscription };
    };
    Object.assign(PushManager.prototype, {
      getSubscription: () => Promise.resolve(current()),
      subscribe: () => {
        localStorage.setItem(kept, "yes");
        return Promise.resolve(current());
      },
    });
  }, subscription);
}

test("a user is notified of an answer that is unread, and a click opens it", async ({ page, context, server }) => {
  const push = new PushService();
  await subscribeAt(page, await push.start());
  await context.grantPermissions(["notifications"], { origin: server.url });
  await first(page, server, "ada");
  await toAccount(page);
  await page.getByRole("link", { name: "Notifications" }).click();
  await expect(page.getByText("Notifications are off in this browser.")).toBeVisible();
  await everySize(page, "notifications-off");
  await page.getByRole("button", { name: "Turn on in this browser" }).focus();
  await page.keyboard.press("Enter");
  await expect(page.getByText("Notifications are on in this browser.")).toBeVisible();
  await expect(page.getByRole("listitem")).toContainText(/on Linux/);
  await page.getByRole("button", { name: "Send a test" }).click();
  await expect(page.getByText("A test is on its way to each browser.")).toBeVisible();
  await expect.poll(() => push.messages.map((message) => message.body)).toEqual(["Notifications arrive in this browser."]);
  await everySize(page, "notifications-on");

  // The user leaves while the answer is written.
  await page.goto("/home");
  const chat = new Chat(page);
  await chat.composer.fill("Hello");
  await chat.composer.press("Enter");
  await expect(page.getByRole("article").first()).toBeVisible();
  await page.goto("about:blank");
  await expect.poll(() => push.messages.length, { timeout: 20_000 }).toBe(2);
  const message = push.messages[1];
  expect(message).toMatchObject({ title: "Helper", body: "An answer is there.", url: `/home?conversation=${message?.tag}` });

  // The worker shows it after a push. A browser without windows shows nothing, so what it is asked to show is kept.
  await page.goto("/account/notifications");
  const [worker] = context.serviceWorkers();
  const shown = () => worker?.evaluate(() => (self as unknown as { shown: unknown[] }).shown);
  await worker?.evaluate(() => {
    const own = self as unknown as { shown: unknown[]; registration: ServiceWorkerRegistration };
    own.shown = [];
    own.registration.showNotification = (title, options) => Promise.resolve(void own.shown.push({ title, ...options }));
  });
  const session = await context.newCDPSession(page);
  const registered = new Promise<string>((resolve) => {
    session.on("ServiceWorker.workerRegistrationUpdated", ({ registrations }) => {
      const found = registrations.find(({ scopeURL }) => scopeURL.startsWith(server.url));
      if (found) resolve(found.registrationId);
    });
  });
  await session.send("ServiceWorker.enable");
  const delivered = { origin: server.url, registrationId: await registered, data: JSON.stringify(message) };
  await session.send("ServiceWorker.deliverPushMessage", delivered);
  const expected = { title: "Helper", body: "An answer is there.", tag: message?.tag, data: { url: message?.url } };
  await expect.poll(shown).toMatchObject([expected]);
  await page.goto(message?.url ?? "");
  await expect(page.getByRole("article").first()).toContainText("Hello");

  await page.goto("/account/notifications");
  await page.getByRole("button", { name: "Turn off in this browser" }).click();
  await expect(page.getByText("Removed. That browser gets no more notifications.")).toBeVisible();
  await expect(page.getByText("None yet.")).toBeVisible();
  push.stop();
});
