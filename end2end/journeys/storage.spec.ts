import type { Locator, Page } from "@playwright/test";
import { Chat, answered } from "../fixtures/chat.ts";
import { configured } from "../fixtures/configured.ts";
import { PICTURE, attached, choose } from "../fixtures/files.ts";
import { Provider } from "../fixtures/provider.ts";
import { Storage } from "../fixtures/storage.ts";
import { expect, open, test as base } from "../fixtures/test.ts";

const config = (provider: string, storage: string) => `
connections: [{ id: upstream, type: OpenAICompatible, properties: { baseURL: "${provider}", apiKey: none } }]
agents: [{ id: clerk, type: Agent, connectionId: upstream, properties: { model: m } }]
api:
  - id: sign-upload
    payloadSchema: { type: object, properties: { name: { type: string }, type: { type: string }, size: { type: number, maximum: 1000 } } }
    routine:
      - :if: { _eq: [{ _payload: name }, "secret.png"] }
        :then: [{ ":reject": This file is not for others. }]
      - :return:
          url: "${storage}"
          fields: { key: "ada/\${filename}", signature: right }
  - id: sign-download
    routine: [{ ":return": { url: { _template: "${storage}/{{ payload.key }}?for={{ payload.type }}" } } }]
pages:
  - id: desk
    blocks:
      - id: chat
        type: AgentChat
        properties:
          agentId: clerk
          sender:
            attachments: { enabled: true, uploadPolicyRequestId: sign-upload, downloadPolicyRequestId: sign-download, uploadOrigin: "${storage}" }
  - id: open
    blocks:
      - id: chat
        type: AgentChat
        properties: { agentId: clerk, sender: { attachments: { enabled: true, uploadPolicyRequestId: sign-upload, uploadOrigin: "${storage}" } } }
`;

const test = base.extend<{ storage: Storage; seen: string[] }>({
  storage: async ({}, use) => {
    const storage = await Storage.start();
    await use(storage);
    storage.close();
  },
  seen: async ({}, use) => use([]),
  server: async ({ storage, seen }, use) => {
    const provider = await Provider.start((_, text, __, pictures) => {
      seen.push(...pictures);
      return `You said: ${text}`;
    });
    await configured(provider, config(provider.url, storage.url), use);
  },
});

/** Attaches a picture and returns its item in the composer. */
async function attach(page: Page, name: string): Promise<Locator> {
  await choose(page, { name, mimeType: "image/png", buffer: PICTURE });
  return attached(page).filter({ hasText: name });
}

test("a file is uploaded to the page's own storage and the model reads it there", async ({ page, storage, seen, server }) => {
  const asked: string[] = [];
  page.on("request", (request) => asked.push(new URL(request.url()).pathname));
  await open(page, "/desk");
  const chat = new Chat(page);
  await expect(await attach(page, "pixel.png")).toContainText(`${PICTURE.length} bytes`);
  await chat.send("Look");
  await answered(page, "You said: Look");
  expect([...storage.files.keys()]).toEqual(["ada/pixel.png"]);
  expect(Buffer.from(storage.files.get("ada/pixel.png")!)).toEqual(PICTURE);
  const address = `${storage.url}/ada/pixel.png?for=image/png`;
  expect(seen).toEqual([address]);
  expect(asked).not.toContain("/api/files");
  // It is shown in the conversation.
  await page.reload();
  await expect(chat.log.getByRole("link", { name: "pixel.png" })).toHaveAttribute("href", address);
  // With public read access, the URL of the storage and the file name are enough.
  await open(page, "/open");
  await attach(page, "b c.png");
  await chat.send("And this");
  await answered(page, "You said: And this");
  expect(seen.at(-1)).toBe(`${storage.url}/ada/b%20c.png`);
  expect(server.log.join("")).not.toContain("ERROR");
});

test("a refused upload shows the error at the file and can be retried", async ({ page, storage, console }) => {
  console.expect(/Failed to load resource/);
  await open(page, "/desk");
  const chat = new Chat(page);
  await chat.composer.fill("What I wrote stays");
  await expect(await attach(page, "secret.png")).toContainText("This file is not for others.");
  await page.getByRole("button", { name: "Remove secret.png" }).click();
  storage.status = 503;
  const file = await attach(page, "late.png");
  await expect(file.getByRole("alert")).toBeVisible();
  storage.status = 204;
  await file.getByRole("button", { name: "Try again" }).click();
  await expect(file).toContainText("bytes");
  expect([...storage.files.keys()]).toEqual(["ada/late.png"]);
  await expect(chat.composer).toHaveValue("What I wrote stays");
});
