import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { first, signUp } from "../fixtures/accounts.ts";
import { accessible, fits } from "../fixtures/axe.ts";
import { Chat } from "../fixtures/chat.ts";
import { expect, test } from "../fixtures/test.ts";

/** Writes a config with accounts and an agent that has files. */
function written(): string {
  const config = join(mkdtempSync(join(tmpdir(), "shared-files-")), "chatwright.yaml");
  writeFileSync(
    config,
    `
auth: { mode: password, openSignUp: true }
connections: [{ id: demo, type: Demo, properties: { delayMs: 0 } }]
agents: [{ id: helper, type: Agent, connectionId: demo, workspace: {}, properties: { model: demo } }]
pages:
  - id: home
    title: Work
    blocks:
      - { id: list, type: AgentConversations }
      - { id: chat, type: AgentChat, properties: { agentId: helper } }
`,
  );
  return config;
}

test.use({ serverOptions: { config: written() } });
test.describe.configure({ timeout: 240_000 });

/** The command that writes a page, which says in which origin it runs, and whether it reaches the site. */
const writtenPage = (title: string) => `cat > /outputs/page.html <<'END'
<!doctype html><h1>${title}</h1><p id="a"></p><p id="b"></p><p id="c"></p><script>
const say = (id, text) => { document.getElementById(id).textContent = text; };
say("a", "origin " + self.origin);
try { say("b", "cookie " + document.cookie); } catch { say("b", "no cookie"); }
fetch("/api/conversations").then(() => say("c", "reached"), () => say("c", "out of reach"));
</script>
END`;

/** Expects the page that everybody with the link sees. */
async function reads(page: Page, link: string, title: string): Promise<void> {
  await page.goto(link);
  await expect(page.getByRole("heading", { name: "page.html" })).toBeVisible();
  await expect(page.getByText("Shared by ada")).toBeVisible();
  const inner = page.frameLocator("iframe").frameLocator("iframe");
  await expect(inner.getByRole("heading", { name: title })).toBeVisible();
  await expect(inner.getByText("origin null")).toBeVisible();
  await expect(inner.getByText("no cookie")).toBeVisible();
  await expect(inner.getByText("out of reach")).toBeVisible();
}

test("a version of a file is shared with visitors and other users until its link is revoked", async ({ page, server, browser, console }) => {
  // The requests of the page that are refused, and a link that was revoked.
  console.expect(/Content Security Policy|404|Failed to load|violates/);
  await page.setViewportSize({ width: 1280, height: 900 });
  await first(page, server);
  const chat = new Chat(page);
  await chat.ask(`start bash: ${writtenPage("Tasks")}`);
  await chat.ask("start present_files: /outputs/page.html");
  await page.locator(".cw-presented").last().getByRole("button", { name: /^page.html/ }).click();
  const panel = page.getByRole("dialog", { name: "page.html" });
  await panel.getByRole("button", { name: "Share…" }).click();
  const dialog = page.getByRole("dialog", { name: "Share a copy" });
  await expect(dialog.getByText("Anyone who has the link can read this version")).toBeVisible();
  await dialog.getByRole("button", { name: "Create a link" }).click();
  const link = await dialog.getByRole("textbox", { name: "Link" }).inputValue();
  expect(link).toMatch(/\/shared\/files\/[0-9a-f]{32}$/);
  await accessible(page);
  // Escape closes the dialog, and not the panel.
  await page.keyboard.press("Escape");
  await expect(dialog).toBeHidden();
  await expect(panel.getByRole("button", { name: "Share…" })).toBeFocused();
  // Later versions are not shared.
  await chat.ask(`start bash: ${writtenPage("Chores")}`);

  const visitor = await (await browser.newContext({ baseURL: server.url })).newPage();
  await reads(visitor, link, "Tasks");
  await fits(visitor);
  await accessible(visitor);
  const download = visitor.waitForEvent("download");
  await visitor.getByRole("link", { name: "Download page.html" }).click();
  expect((await download).suggestedFilename()).toBe("page.html");
  const other = await (await browser.newContext({ baseURL: server.url })).newPage();
  await signUp(other, "eve");
  await reads(other, link, "Tasks");

  // The owner finds the link where links to conversations are, and revokes it.
  await panel.getByRole("button", { name: "Close" }).click();
  await page.getByRole("button", { name: /^Options for/ }).first().click();
  await page.getByRole("menuitem", { name: "Share…" }).click();
  await expect(page.getByRole("heading", { name: "Links to files" })).toBeVisible();
  await expect(page.getByText("/outputs/page.html, Version 1")).toBeVisible();
  await page.getByRole("button", { name: "Revoke link" }).click();
  await expect(page.getByRole("heading", { name: "Links to files" })).toBeHidden();
  expect((await visitor.goto(link))?.status()).toBe(404);
  await expect(visitor.getByRole("heading", { name: "Nothing is shared here" })).toBeVisible();
  // The page tried to reach the site each time it was shown, and nothing else was refused.
  const refused = console.takeBreaches();
  expect(refused.length).toBeGreaterThan(0);
  expect(refused.filter((breach) => !/^connect-src: .*\/api\/conversations on about$/.test(breach))).toEqual([]);
});
