import { accessible, fits } from "../fixtures/axe.ts";
import type { Server } from "../fixtures/server.ts";
import { expect, test } from "../fixtures/test.ts";

// To fill the store takes longer than to look at it.
test.describe.configure({ timeout: 300_000 });

/** Each is imported by a request of its own, so that more would take minutes. */
const MANY = 1_000;

/** Conversations of the owner's, each with a question and an answer. */
async function fill(server: Server): Promise<void> {
  const message = (id: string, role: string, text: string) => ({ id, role, parts: [{ type: "text", text }] });
  const file = (n: number) => ({
    format: "chatwright.conversation.1",
    title: `Order ${n} of topic ${n % 100}`,
    pageId: "demo",
    agentId: "demo",
    createdAt: Date.now() - n * 60_000,
    head: "a",
    messages: [
      { createdAt: Date.now() - n * 60_000, message: message("q", "user", `Where is order ${n}?`) },
      { parentId: "q", createdAt: Date.now() - n * 60_000, message: message("a", "assistant", `Order ${n} comes tomorrow.`) },
    ],
  });
  let next = 0;
  const send = async () => {
    for (let n = next++; n < MANY; n = next++) {
      const answer = await fetch(`${server.url}/api/conversations`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(file(n)),
      });
      expect(answer.status).toBe(201);
      await answer.arrayBuffer();
    }
  };
  await Promise.all(Array.from({ length: 20 }, send));
}

test("each screen of the console over 1,000 conversations: accessible, and as wide as the screen", async ({ page, server, console }) => {
  console.expect(/status of 404/);
  await fill(server);
  const screens = [
    "/admin", "/admin?days=30", "/admin/users", "/admin/conversations", "/admin/conversations?sort=oldest", "/admin/conversations?text=tomorrow",
    "/admin/conversations?text=%22topic+42%22&sort=cost", "/admin/feedback", "/admin/agents?sort=name", "/admin/custom-agents", "/admin/tools",
    "/admin/approvals?sort=tool", "/admin/access", "/admin/retention", "/admin/config", "/admin/audit",
  ];
  for (const path of screens) {
    await test.step(path, async () => {
      await page.setViewportSize({ width: 1280, height: 800 });
      await page.goto(path);
      await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
      await accessible(page);
      await page.setViewportSize({ width: 320, height: 640 });
      await fits(page);
    });
  }
  // From page to page, and to the rows behind a number.
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.goto("/admin/conversations");
  const first = await page.getByRole("rowheader").first().innerText();
  await page.getByRole("link", { name: "Next page" }).click();
  await expect(page.getByRole("rowheader").first()).not.toHaveText(first);
  await expect(page.getByRole("rowheader")).toHaveCount(50);
  await page.getByRole("link", { name: "First page" }).click();
  await expect(page.getByRole("rowheader").first()).toHaveText(first);
  await page.getByRole("rowheader").first().getByRole("link").click();
  await expect(page.getByRole("article", { name: "User" })).toContainText("Where is order");
  // As a table.
  const table = await page.request.get("/admin/conversations.csv");
  expect((await table.text()).trim().split("\r\n")).toHaveLength(MANY + 1);
});
