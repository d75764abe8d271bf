import { once } from "node:events";
import { type ServerResponse, createServer } from "node:http";
import { Chat } from "../fixtures/chat.ts";
import { configured } from "../fixtures/configured.ts";
import { listening } from "../fixtures/listening.ts";
import { Provider } from "../fixtures/provider.ts";
import { expect, open, test as base } from "../fixtures/test.ts";

const config = (model: string, bank: string) => `
connections:
  - { id: model, type: OpenAICompatible, properties: { apiKey: none, baseURL: "${model}" } }
  - { id: bank, type: Http, properties: { baseURL: "${bank}", allowPrivate: true } }
agents:
  - { id: clerk, type: Agent, connectionId: model, properties: { model: m }, tools: [{ endpointId: pay, confirm: true }] }
api:
  - id: pay
    description: Pays.
    payloadSchema: { type: object, properties: { euros: { type: integer } }, required: [euros] }
    routine: [{ id: paid, type: Http, connectionId: bank, properties: { method: POST, path: pay } }, { ":return": { _step: paid.body } }]
pages:
  - { id: clerk, blocks: [{ id: chat, type: AgentChat, properties: { agentId: clerk } }] }
`;

interface Bank {
  url: string;
  /** The response that the first payment waits for. */
  response: Promise<ServerResponse>;
}

const test = base.extend<{ bank: Bank }>({
  bank: async ({}, use) => {
    const server = createServer();
    const response = once(server, "request").then(([, response]) => response as ServerResponse);
    const { url, close } = await listening(server);
    await use({ url, response });
    close();
  },
  server: async ({ bank }, use) => {
    const provider = await Provider.start((role, text) =>
      role === "tool" ? `The bank says: ${text}` : [{ name: "pay", arguments: { euros: 7 } }],
    );
    await configured(provider, config(provider.url, bank.url), use);
  },
});

test("a call that is approved in one tab is shown as approved in another while it runs", async ({ page, context, bank }) => {
  await open(page, "/clerk");
  const chat = new Chat(page);
  await chat.ask("Pay 7 euros");
  const other = await context.newPage();
  await open(other, page.url());
  const elsewhere = new Chat(other);
  await expect(elsewhere.approval).toBeVisible();
  // The sentences for screen readers.
  const announced: string[] = [];
  await other.exposeFunction("announce", (text: string) => void announced.push(text));
  await other.locator("p[aria-live=polite]").evaluate((node) => {
    const { announce } = window as unknown as { announce: (text: string) => void };
    new MutationObserver(() => announce(node.textContent ?? "")).observe(node, { childList: true, characterData: true, subtree: true });
  });
  await chat.approval.getByRole("button", { name: "Approve" }).click();
  const response = await bank.response;
  // The other tab follows the answer from its beginning.
  await expect(elsewhere.stopButton).toBeVisible();
  await expect(elsewhere.answers.last()).toContainText("Approved");
  await expect(elsewhere.approval).toHaveCount(0);
  response.writeHead(200, { "content-type": "application/json" }).end('{"receipt":7}');
  await expect(elsewhere.answers.last()).toContainText('"receipt":7');
  await expect.poll(() => announced.join(" ")).toContain("The bank says");
  expect(announced.join(" ")).not.toContain("approval");
});
