import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ANSWER, alive, ask } from "../drivers/talk.ts";
import { expect, test as base } from "../drivers/test.ts";
import { Server } from "../fixtures/server.ts";
import { Site } from "../fixtures/site.ts";

const config = (site: string) => `
connections: [{ id: demo, type: Demo, properties: { delayMs: 0 } }]
agents: [{ id: guide, type: Agent, connectionId: demo, auth: public, properties: { model: demo } }]
pages: [{ id: open, auth: public, blocks: [{ id: chat, type: AgentChat, properties: { agentId: guide } }] }]
auth: { mode: anonymous, publicUrls: ["http://127.0.0.1"] }
embed: { origins: ["${site}"] }
`;

const test = base.extend<{ site: Site }>({
  site: async ({}, use) => {
    const site = await Site.start();
    await use(site);
    site.close();
  },
  server: async ({ site }, use) => {
    const folder = await mkdtemp(join(tmpdir(), "chatwright-config-"));
    await writeFile(join(folder, "chatwright.yaml"), config(site.origin));
    const server = await Server.start({ config: join(folder, "chatwright.yaml") });
    site.chat = server.url;
    await use(server);
    await server.close();
    await rm(folder, { recursive: true });
  },
});

test("a chat answers in the page of another site", async ({ server, site, view }) => {
  expect(site.chat).toBe(server.url);
  site.options = { element: '<agent-chat page="open"></agent-chat>' };
  await view.tab.goto(site.origin);
  const chat = view.frame("agent-chat").frame("iframe");
  await alive(chat);
  await ask(chat, "What can you do?");
  await chat.says(ANSWER, "demo model");
});
