import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Chat } from "../fixtures/chat.ts";
import { picture } from "../fixtures/picture.ts";
import { Server } from "../fixtures/server.ts";
import { Site, inside } from "../fixtures/site.ts";
import { alive, expect, test } from "../fixtures/test.ts";

test.describe("here", () => {
  test.use({ serverOptions: { config: join(import.meta.dirname, "../configs/displays.yaml") } });

  test("a drawer", async ({ page }, info) => {
    await page.goto("/drawer");
    await expect(page.getByRole("button", { name: "Help", exact: true })).toBeVisible();
    await picture(page, info, "drawer-closed");
    await page.getByRole("button", { name: "Help", exact: true }).click();
    await alive(page);
    const chat = new Chat(page);
    await chat.ask("Fill in the form for Ada Lovelace at Analytical Engines");
    await picture(page, info, "drawer-open");
  });

  test("a page", async ({ page }, info) => {
    await page.goto("/whole");
    await alive(page);
    const chat = new Chat(page);
    await chat.ask("What about refunds?");
    await picture(page, info, "whole");
    await page.getByRole("button", { name: "Conversations" }).click();
    await expect(page.getByRole("link", { name: /refunds/ })).toBeVisible();
    await picture(page, info, "whole-list");
  });
});

test("on a page of another site", async ({ page, console }, info) => {
  console.expect(/Blocked autofocusing/);
  const site = await Site.start();
  const folder = await mkdtemp(join(tmpdir(), "chatwright-config-"));
  const config = `
connections: [{ id: demo, type: Demo, properties: { delayMs: 0 } }]
agents: [{ id: helper, type: Agent, connectionId: demo, properties: { model: demo } }]
pages: [{ id: desk, blocks: [{ id: chat, type: AgentChat, properties: { agentId: helper } }] }]
embed: { origins: ["${site.origin}"] }
`;
  await writeFile(join(folder, "chatwright.yaml"), config);
  const server = await Server.start({ config: folder });
  site.chat = server.url;
  site.options = { element: '<agent-chat page="desk"></agent-chat>' };
  await page.goto(site.origin);
  await alive(inside(page));
  await new Chat(inside(page)).ask("hello");
  await picture(page, info, "site-inline");
  site.options = { element: '<agent-chat page="desk" display="drawer" label="Help"></agent-chat>' };
  await page.goto(site.origin);
  await page.getByRole("button", { name: "Help" }).click();
  await alive(inside(page));
  await new Chat(inside(page)).ask("hello");
  await picture(page, info, "site-drawer");
  await server.close();
  site.close();
});
