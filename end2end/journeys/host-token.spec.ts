import { type KeyObject, generateKeyPairSync, sign } from "node:crypto";
import { createServer } from "node:http";
import type { BrowserContext } from "@playwright/test";
import { toAccount } from "../fixtures/accounts.ts";
import { Chat } from "../fixtures/chat.ts";
import { configured } from "../fixtures/configured.ts";
import { listening } from "../fixtures/listening.ts";
import type { Server } from "../fixtures/server.ts";
import { alive, expect, open, test as base } from "../fixtures/test.ts";

/** The host application: it signs tokens for its users and publishes its keys. */
class Host {
  readonly url: string;
  readonly close: () => void;
  #key!: { id: string; secret: KeyObject; published: object };

  private constructor(url: string, close: () => void) {
    this.url = url;
    this.close = close;
    this.rotate();
  }

  static async start(): Promise<Host> {
    const server = createServer((_, response) => {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ keys: [host.#key.published] }));
    });
    const { url, close } = await listening(server);
    const host = new Host(`${url}/keys`, close);
    return host;
  }

  /** Replaces the key by a new one; the old one becomes invalid. */
  rotate(): void {
    const { privateKey, publicKey } = generateKeyPairSync("ed25519");
    const id = `key-${Math.random()}`;
    this.#key = { id, secret: privateKey, published: { ...publicKey.export({ format: "jwk" }), kid: id } };
  }

  token(user: string, { seconds = 300, audience = "chat" } = {}): string {
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const exp = Math.floor(Date.now() / 1000) + seconds;
    const claims = { sub: user, name: `User ${user}`, roles: ["editor"], iss: "host", aud: audience, exp };
    const told = `${part({ alg: "EdDSA", kid: this.#key.id })}.${part(claims)}`;
    return `${told}.${sign(null, Buffer.from(told), this.#key.secret).toString("base64url")}`;
  }
}

const config = (url: string) => `
auth: { mode: jwt, publicUrls: ["https://chat.test"], jwksUrl: "${url}", allowPrivate: true, issuer: host, audience: chat, cookie: host_token, leewaySeconds: 0 }
connections: [{ id: demo, type: Demo, properties: { delayMs: 0 } }]
agents: [{ id: helper, type: Agent, connectionId: demo, properties: { model: demo } }]
pages:
  - id: support
    blocks: [{ id: list, type: AgentConversations }, { id: chat, type: AgentChat, properties: { agentId: helper } }]
`;

const test = base.extend<{ host: Host }>({
  host: async ({}, use) => {
    const host = await Host.start();
    await use(host);
    host.close();
  },
  server: async ({ host }, use) => {
    await configured(undefined, config(host.url), use);
  },
});

/** Sets the token as the host's page does. */
async function hand(context: BrowserContext, server: Server, token: string): Promise<void> {
  await context.addCookies([{ name: "host_token", value: token, url: server.url }]);
}

test("a user of the host application is signed in and sees only their own conversations", async ({ page, context, server, host, console }) => {
  console.expect(/status of 40[14]/);
  expect((await page.goto("/support"))?.status(), "nobody").toBe(401);
  await hand(context, server, host.token("ada"));
  await open(page, "/support");
  await new Chat(page).ask("Hello, this is Ada");
  const conversation = page.url();
  await expect(page.getByRole("button", { name: "Account of User ada" })).toBeVisible();
  await hand(context, server, host.token("bob"));
  await open(page, "/support");
  await expect(page.getByText("this is Ada")).toHaveCount(0);
  const id = new URL(conversation).searchParams.get("conversation")!;
  expect((await page.request.get(`/api/conversations/${id}`)).status(), "another's").toBe(404);
});

test("an expired or foreign token is refused and a new one is accepted", async ({ page, context, server, host, console }) => {
  console.expect(/status of 401/);
  await hand(context, server, host.token("ada"));
  await open(page, "/support");
  await new Chat(page).ask("Hello");
  const conversation = page.url();
  for (const token of [host.token("ada", { seconds: -1 }), host.token("ada", { audience: "shop" }), `${host.token("ada").slice(0, -4)}AAAA`]) {
    await hand(context, server, token);
    expect((await page.goto(conversation))?.status()).toBe(401);
    const answer = await page.request.get("/api/conversations");
    expect(answer.status()).toBe(401);
    expect(await answer.text()).not.toContain("Hello");
  }
  await hand(context, server, host.token("ada"));
  await page.goto(conversation);
  await alive(page);
  await expect(page.getByRole("article", { name: "You" })).toContainText("Hello");
});

test("after a key rotation tokens of the new key are accepted and those of the old one refused", async ({ page, context, server, host, console }) => {
  console.expect(/status of 401/);
  const old = host.token("ada");
  await hand(context, server, old);
  await open(page, "/support");
  host.rotate();
  // A token with an unknown key makes the server fetch the keys again, but at a limited rate.
  await expect(async () => {
    await hand(context, server, host.token("ada"));
    expect((await page.request.get("/api/conversations")).status()).toBe(200);
  }).toPass({ timeout: 15_000 });
  await open(page, "/support");
  await new Chat(page).ask("Still here");
  await hand(context, server, old);
  expect((await page.request.get("/api/conversations")).status()).toBe(401);
});

test("a user of the host application creates an API key", async ({ page, context, server, host, console }) => {
  console.expect(/status of 40[13]/);
  await hand(context, server, host.token("ada"));
  await open(page, "/support");
  await toAccount(page);
  await expect(page.getByRole("heading", { name: "User ada" })).toBeVisible();
  await expect(page.getByText("Password")).toHaveCount(0);
  await page.getByLabel("Key name").fill("nightly");
  await page.getByLabel("Manage conversations").check();
  await page.getByRole("button", { name: "Create key" }).click();
  const key = await page.getByLabel("New key").inputValue();
  const asked = (path: string) => fetch(`${server.url}${path}`, { headers: { authorization: `Bearer ${key}` } }).then(({ status }) => status);
  expect(await asked("/api/conversations")).toBe(200);
  expect(await asked("/api/keys")).toBe(403);
  await page.getByRole("button", { name: "Delete the key nightly" }).click();
  await expect(page.getByRole("button", { name: "Delete the key nightly" })).toHaveCount(0);
  expect(await asked("/api/conversations")).toBe(401);
});
