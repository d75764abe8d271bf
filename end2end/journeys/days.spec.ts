import { accessible } from "../fixtures/axe.ts";
import { Clock } from "../fixtures/clock.ts";
import { configured } from "../fixtures/configured.ts";
import { List } from "../fixtures/list.ts";
import { alive, expect, test } from "../fixtures/test.ts";

const DAY = 24 * 60 * 60;

const CONFIG = `
connections: [{ id: demo, type: Demo, properties: { delayMs: 0 } }]
agents: [{ id: demo, type: Agent, connectionId: demo, properties: { model: demo } }]
pages:
  - id: demo
    blocks:
      - id: columns
        type: Columns
        blocks: [{ id: list, type: AgentConversations }, { id: chat, type: AgentChat, properties: { agentId: demo } }]
`;

/** The rows with the name of the group that begins with them. */
function groups(list: List): Promise<string[][]> {
  return list.rows.evaluateAll((rows) =>
    rows.map((row) => [row.getAttribute("data-group") ?? "", row.querySelector(".cw-conversation-title")?.textContent ?? ""]),
  );
}

test("the list is divided into days, by the clock of the browser", async ({ page }) => {
  test.setTimeout(120_000);
  const clock = new Clock();
  try {
    await configured(
      undefined,
      CONFIG,
      async (server) => {
        // The server's clock runs ahead, so the browser's day is set with it.
        for (const ahead of [0, 30, 65, 71, 72]) {
          clock.setAhead(ahead * DAY);
          await ask(server.url, `day ${ahead}`);
        }
        const today = clock.now;
        // Before a script runs, the groups are there; they are those of UTC.
        const html = await (await page.request.get(server.url)).text();
        expect([...html.matchAll(/data-group="([^"]+)"/g)].map((match) => match[1])).toEqual(["Today", "Yesterday", "Previous 7 days", "Older"]);

        await page.clock.setFixedTime(today);
        await page.goto(server.url);
        await alive(page);
        const list = new List(page);
        await expect.poll(() => groups(list)).toEqual([
          ["Today", "day 72"],
          ["Yesterday", "day 71"],
          ["Previous 7 days", "day 65"],
          ["Older", "day 30"],
          ["", "day 0"],
        ]);
        const name = list.rows.first().evaluate((row) => getComputedStyle(row, "::before").content);
        expect(await name).toBe('"Today"');
        await accessible(page);

        // A pinned conversation is above the groups, and its group begins with the next one.
        await list.menu("day 72", "Pin");
        await list.menu("day 30", "Pin");
        await expect.poll(() => groups(list)).toEqual([
          ["", "day 72"],
          ["", "day 30"],
          ["Yesterday", "day 71"],
          ["Previous 7 days", "day 65"],
          ["Older", "day 0"],
        ]);
        // By keyboard, names are no rows.
        await list.link("day 30").focus();
        await page.keyboard.press("ArrowDown");
        await expect(list.link("day 71")).toBeFocused();

        // The next day begins, also for a page that stays open.
        await page.clock.setFixedTime(today + DAY * 1_000);
        await page.reload();
        await alive(page);
        await expect.poll(async () => (await groups(list)).map(([group]) => group)).toEqual(["", "", "Previous 7 days", "Previous 30 days", "Older"]);
        await page.goto("about:blank");
      },
      clock.env,
    );
  } finally {
    clock.close();
  }
});

/** Begins a conversation with this title, as another client would. */
async function ask(url: string, title: string): Promise<void> {
  const id = title.replace(" ", "-");
  const answer = await fetch(`${url}/api/agent/demo/demo?conversationId=${id}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ messages: [{ id: `m-${id}`, role: "user", parts: [{ type: "text", text: title }] }] }),
  });
  expect(answer.status).toBe(200);
  await answer.text();
}
