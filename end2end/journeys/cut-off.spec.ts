import { createServer } from "node:http";
import { accessible } from "../fixtures/axe.ts";
import { Chat } from "../fixtures/chat.ts";
import { configured } from "../fixtures/configured.ts";
import { listening } from "../fixtures/listening.ts";
import { Provider } from "../fixtures/provider.ts";
import { expect, open, test as base } from "../fixtures/test.ts";

/** A bank that records each payment and responds only while `answers` is true. */
class Bank {
  readonly paid: string[] = [];
  answers = true;
  readonly #server = createServer(async (request, response) => {
    const body: Buffer[] = [];
    for await (const piece of request) body.push(piece as Buffer);
    this.paid.push(Buffer.concat(body).toString());
    if (this.answers) response.writeHead(200, { "content-type": "application/json" }).end(`{"number":${this.paid.length}}`);
  });

  #close = () => {};

  async open(): Promise<string> {
    const { url, close } = await listening(this.#server);
    this.#close = close;
    return url;
  }

  close(): void {
    this.#close();
  }
}

const config = (model: string, bank: string) => `
connections:
  - { id: model, type: OpenAICompatible, properties: { apiKey: none, baseURL: "${model}" } }
  - { id: bank, type: Http, properties: { baseURL: "${bank}", allowPrivate: true } }
agents:
  - { id: clerk, type: Agent, connectionId: model, properties: { model: m }, tools: [{ endpointId: pay }] }
  - { id: careful, type: Agent, connectionId: model, properties: { model: m }, tools: [{ endpointId: pay, idempotent: true }] }
api:
  - id: pay
    description: Pays.
    payloadSchema: { type: object, properties: { euros: { type: integer } }, required: [euros] }
    routine: [{ id: paid, type: Http, connectionId: bank, properties: { method: POST, path: pay, body: { euros: { _payload: euros } } } }, { ":return": { _step: paid.body } }]
pages:
  - { id: clerk, blocks: [{ id: chat, type: AgentChat, properties: { agentId: clerk } }] }
  - { id: careful, blocks: [{ id: chat, type: AgentChat, properties: { agentId: careful } }] }
`;

const banked = base.extend<{ bank: Bank }>({
  bank: async ({}, use) => {
    const bank = new Bank();
    await use(bank);
    bank.close();
  },
  server: async ({ bank }, use) => {
    const provider = await Provider.start((role, text) =>
      role === "tool" ? `The bank says: ${text}` : [{ name: "pay", arguments: { euros: 7 } }],
    );
    await configured(provider, config(provider.url, await bank.open()), use);
  },
});

/** Kills the server during a payment and restarts it. */
const test = banked.extend<{ chat: Chat }>({
  chat: async ({ page, server, bank, console }, use, info) => {
    console.expect(/Failed to load resource|ERR_CONNECTION|Failed to fetch|net::/);
    bank.answers = false;
    await open(page, info.title.startsWith("idempotent") ? "/careful" : "/clerk");
    const chat = new Chat(page);
    await chat.send("Pay 7 euros");
    await expect.poll(() => bank.paid.length).toBe(1);
    // The bank may get the payment before the page gets the response to its message.
    await expect(page).toHaveURL(/conversation=/);
    const address = page.url();
    await page.goto("about:blank");
    await server.kill();
    bank.answers = true;
    await server.launch();
    await open(page, address);
    await use(chat);
  },
});

test("an interrupted call runs again if the user approves", async ({ chat, page, bank, server }) => {
  const card = page.getByRole("group", { name: "Interrupted: Pay" });
  await expect(card).toContainText("It may or may not have taken effect");
  await expect(card.getByRole("button", { name: "Change" })).toHaveCount(0);
  await expect(card.getByRole("combobox")).toHaveCount(0);
  await accessible(page);
  // It waits until the user decides, also over another restart.
  await page.goto("about:blank");
  await server.kill();
  await server.launch();
  await page.goBack();
  await expect(card).toBeVisible();
  expect(bank.paid).toHaveLength(1);
  await open(page, page.url());
  const again = card.getByRole("button", { name: "Run again" });
  await expect(again).toBeEnabled();
  await again.focus();
  await page.keyboard.press("Enter");
  await expect(chat.answers.last()).toContainText('"number":2');
  expect(bank.paid).toEqual(['{"euros":7}', '{"euros":7}']);
  await page.reload();
  await expect(chat.answers.last()).toContainText('"number":2');
  await expect(card).toHaveCount(0);
});

test("an interrupted call that the user skips is reported to the agent", async ({ chat, page, bank }) => {
  const card = page.getByRole("group", { name: "Interrupted: Pay" });
  await card.getByRole("textbox").fill("I paid it myself");
  await card.getByRole("button", { name: "Skip" }).click();
  await expect(chat.answers.last()).toContainText("The user did not want it to be run again: I paid it myself");
  await expect(chat.answers.last()).toContainText("Not run again");
  expect(bank.paid).toHaveLength(1);
});

test("idempotent: an interrupted call runs again when the answer continues", async ({ chat, page, bank }) => {
  await expect(chat.log).toContainText("Continue to run the interrupted step again.");
  await accessible(page);
  expect(bank.paid).toHaveLength(1);
  await page.getByRole("button", { name: "Continue" }).click();
  await expect(chat.answers.last()).toContainText('"number":2');
  await chat.idle();
  expect(bank.paid).toHaveLength(2);
});
