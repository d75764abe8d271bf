import { Chat } from "../fixtures/chat.ts";
import { expect, open, test } from "../fixtures/test.ts";

const CONVERSATION = /\/conversation-[0-9a-f]+\.bin/;

test("what a conversation needs is loaded when somebody turns to it", async ({ page }) => {
  const loaded: string[] = [];
  page.on("request", (request) => loaded.push(request.url()));
  await page.goto("/");
  // The figure for this page in xtask/src/site/figures.rs counts these.
  const named = page.locator("meta[name=chunk]");
  expect(await named.evaluateAll((all) => all.map((meta) => meta.getAttribute("content")))).toEqual(["inputs"]);
  await page.getByRole("textbox", { name: "Company" }).fill("Analytical Engines");
  await page.waitForLoadState("networkidle");
  expect(loaded.filter((url) => CONVERSATION.test(url))).toEqual([]);
  const chat = new Chat(page);
  const code = page.waitForResponse(CONVERSATION);
  await chat.composer.focus();
  await code;
  await chat.send("search for refund");
  await chat.idle();
  await expect(chat.answers).toHaveCount(1);
  // With the page that shows it, it comes at once: it is named in the head.
  const html = await (await page.request.get(page.url())).text();
  expect(html).toContain('<meta name="chunk" content="conversation"');
  expect(html).toMatch(/<link[^>]*href="\/pkg\/conversation-[0-9a-f]+\.bin"/);
  loaded.length = 0;
  await page.reload();
  await expect(chat.answers).toHaveCount(1);
  await page.waitForLoadState("networkidle");
  // Once: what was preloaded is what is used.
  expect(loaded.filter((url) => CONVERSATION.test(url))).toHaveLength(1);
});

test("a part that cannot be loaded is asked for again", async ({ page, console }) => {
  console.expect(/ERR_FAILED|Failed to (load|fetch)|fetch/);
  let asked = 0;
  await page.route(CONVERSATION, (route) => {
    asked += 1;
    return asked === 1 ? route.abort() : route.continue();
  });
  await open(page);
  const chat = new Chat(page);
  await chat.send("search for refund");
  await expect(chat.answers).toHaveCount(1);
  expect(asked).toBe(2);
});
