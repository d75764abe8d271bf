import type { Page } from "@playwright/test";
import { Chat, expectCounted } from "../fixtures/chat.ts";
import { Postgres } from "../fixtures/postgres.ts";
import { Proxy } from "../fixtures/proxy.ts";
import { Server } from "../fixtures/server.ts";
import { alive, expect, test as base } from "../fixtures/test.ts";

/** How long an answer of a dead server may stay open: the lease of 15 s and a poll interval. */
const TAKEN_OVER_MS = 25_000;

type Three = [Server, Server, Server];

/** Three servers with one database. Cookies do not depend on the port, so a browser is the same user on each of them. */
const test = base.extend<{ servers: Three }>({
  servers: async ({}, use, info) => {
    const postgres = await Postgres.start();
    test.skip(postgres === undefined, "no PostgreSQL is installed");
    const servers: Server[] = [];
    // The first server creates the tables.
    while (servers.length < 3) servers.push(await Server.start({ database: postgres!.url }));
    await use(servers as Three);
    for (const [at, server] of servers.entries()) {
      await server.close();
      if (info.status !== info.expectedStatus) {
        await info.attach(`server-${at + 1}.log`, { body: server.log.join("\n"), contentType: "text/plain" });
      }
    }
    await postgres!.close();
  },
  // The default server; journeys open the URLs that they need.
  server: async ({ servers }, use) => use(servers[2]),
});

/** Starts a long answer on `writer` and shows it on `reader`. */
async function begun(page: Page, writer: Server, reader: Server): Promise<Chat> {
  const chat = new Chat(page);
  await page.goto(writer.url);
  await alive(page);
  await chat.startCounting(2000, 5);
  await page.goto(page.url().replace(writer.url, reader.url));
  const before = await chat.counted();
  await expect.poll(() => chat.counted()).toBeGreaterThan(before + 10);
  return chat;
}

/** Waits until the answer is closed, continues it, and stops it again. Nothing that was shown may be missing. */
async function goesOn(page: Page, chat: Chat, shown: number): Promise<void> {
  const more = page.getByRole("button", { name: "Continue" });
  await expect(more).toBeVisible({ timeout: TAKEN_OVER_MS });
  const counted = await chat.counted();
  expect(counted).toBeGreaterThanOrEqual(shown);
  expectCounted(await chat.answers.last().locator(".cw-message-body").innerText(), counted);
  await more.click();
  await expect(chat.answers.last()).toContainText("continue in the same message", { timeout: 10_000 });
  await chat.stopButton.click();
  await chat.idle();
  await expect(chat.answers).toHaveCount(1);
}

test("answers of a killed and of a frozen server can be continued at a third one", { tag: "@thorough" }, async ({
  page,
  context,
  servers: [killed, frozen, third],
}) => {
  test.slow();
  const other = await context.newPage();
  const own = await context.newPage();
  const chat = await begun(page, killed, third);
  const second = await begun(other, frozen, third);
  const mine = await begun(own, third, third);
  // Text may be shown up to 0.1 s before it is stored.
  const shown = [await chat.counted(), await second.counted()] as const;
  await page.waitForTimeout(300);
  await killed.kill();
  frozen.freeze();
  // Answers of the third server itself are not affected.
  const before = await mine.counted();
  await expect.poll(() => mine.counted()).toBeGreaterThan(before + 10);
  await goesOn(page, chat, shown[0]);
  await goesOn(other, second, shown[1]);
  const text = await second.answers.last().innerText();
  // A server that wakes up cannot change an answer whose lease it has lost.
  frozen.thaw();
  await mine.stopButton.click();
  await mine.idle();
  await other.goto(other.url().replace(third.url, frozen.url));
  await alive(other);
  expect(await second.answers.last().innerText()).toBe(text);
  await expect(second.answers).toHaveCount(1);
  // The server works normally again.
  await second.ask("What can you do?");
  await expect(second.answers.last()).toContainText("This is a demo model");
});

test("all servers are restarted in turn behind a proxy while an answer is shown", async ({ page, servers, console }) => {
  test.slow();
  console.expect(/Failed to load resource|ERR_|Failed to fetch|net::|network error/i);
  const proxy = await Proxy.start(servers.map((server) => server.url));
  await page.goto(proxy.url);
  await alive(page);
  const chat = new Chat(page);
  await chat.startCounting(400, 5);
  for (const server of servers) {
    const before = await chat.counted();
    await server.stop();
    await server.launch();
    if (before < 390) await expect.poll(() => chat.counted()).toBeGreaterThan(before);
  }
  await expect(chat.answers.last()).toContainText("That was all.", { timeout: 30_000 });
  await chat.idle();
  expectCounted(await chat.answers.last().locator(".cw-message-body").innerText(), 400);
  await chat.ask("What can you do?");
  await expect(chat.answers.last()).toContainText("This is a demo model");
  proxy.close();
});
