import type { Page } from "@playwright/test";
import { Chat, expectCounted } from "../fixtures/chat.ts";
import { configured } from "../fixtures/configured.ts";
import { Provider } from "../fixtures/provider.ts";
import { expect, open, test as base } from "../fixtures/test.ts";

/** More tabs than a browser opens connections to a server over HTTP/1.1. */
const TABS = 8;
/** How far each answer counts before all have started. */
const ENOUGH = 40;

const config = (url: string) => `
connections: [{ id: model, type: OpenAICompatible, properties: { baseURL: "${url}", apiKey: none } }]
agents: [{ id: counter, type: Agent, connectionId: model, properties: { model: m } }]
pages:
  - id: hall
    blocks: [{ id: list, type: AgentConversations }, { id: chat, type: AgentChat, properties: { agentId: counter } }]
`;

/** The model counts and finishes when `go` is resolved. */
const test = base.extend<{ end: { go: () => void; come: boolean } }>({
  end: async ({}, use) => {
    const end = { go: () => void (end.come = true), come: false };
    await use(end);
  },
  server: async ({ end }, use) => {
    async function* counted() {
      for (let number = 1; number < ENOUGH || !end.come; number += 1) {
        yield `${number}, `;
        if (number > ENOUGH) await new Promise((resolve) => setTimeout(resolve, 200));
      }
      yield "that is all.";
    }
    const provider = await Provider.start(() => ({ pieces: counted(), pauseMs: 20 }));
    await configured(provider, config(provider.url), use);
  },
});

test("eight tabs over HTTP/1.1, each with an answer that is being written", { tag: "@thorough" }, async ({ page, context, end }) => {
  test.slow();
  const tabs: Page[] = [page];
  while (tabs.length < TABS) tabs.push(await context.newPage());
  const chats: Chat[] = [];
  for (const tab of tabs) {
    await open(tab, "/hall");
    const chat = new Chat(tab);
    await chat.send("Count.");
    await expect.poll(() => chat.counted(), { timeout: 20_000 }).toBeGreaterThan(1);
    chats.push(chat);
  }
  // Every tab receives updates, not only the first ones.
  const before = await Promise.all(chats.map((chat) => chat.counted()));
  await Promise.all(
    chats.map((chat, at) => expect.poll(() => chat.counted(), { timeout: 20_000 }).toBeGreaterThan(before[at]! + 2)),
  );
  // One tab is reloaded and its answer continues.
  await tabs[0]!.reload();
  const counted = await chats[0]!.counted();
  await expect.poll(() => chats[0]!.counted(), { timeout: 20_000 }).toBeGreaterThan(counted);
  end.go();
  for (const chat of chats) {
    await expect(chat.answers.last()).toContainText("that is all.", { timeout: 20_000 });
    await chat.idle();
    const text = await chat.answers.last().locator(".cw-message-body").innerText();
    expectCounted(text, (text.match(/\d+/g) ?? []).length);
  }
});
