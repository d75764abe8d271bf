import { Chat } from "../fixtures/chat.ts";
import { expect, open, test } from "../fixtures/test.ts";

const CONVERSATION = /\/conversation-[0-9a-f]+\.bin/;
const SESSION = /\/session-[0-9a-f]+\.bin/;

test("the chunks of a conversation are loaded on demand", async ({ page }) => {
  const loaded: string[] = [];
  page.on("request", (request) => loaded.push(request.url()));
  await page.goto("/");
  // `xtask/src/site/sizes.rs` lists the same chunks for the size of this page.
  const named = page.locator("meta[name=chunk]");
  expect(await named.evaluateAll((all) => all.map((meta) => meta.getAttribute("content")))).toEqual(["inputs"]);
  await page.getByRole("textbox", { name: "Company" }).fill("Analytical Engines");
  await page.waitForLoadState("networkidle");
  expect(loaded.filter((url) => CONVERSATION.test(url))).toEqual([]);
  const chat = new Chat(page);
  const code = page.waitForResponse(CONVERSATION);
  await chat.composer.focus();
  await code;
  await chat.send("count to 5");
  await chat.idle();
  await expect(chat.answers).toHaveCount(1);
  // A page that is rendered with a chunk names it in the head, so it is loaded at once.
  const html = await (await page.request.get(page.url())).text();
  expect(html).toContain('<meta name="chunk" content="conversation"');
  expect(html).toMatch(/<link[^>]*href="\/pkg\/conversation-[0-9a-f]+\.bin"/);
  loaded.length = 0;
  await page.mouse.move(0, 0);
  await page.reload();
  await expect(chat.answers).toHaveCount(1);
  await page.waitForLoadState("networkidle");
  // Once: the preloaded file is the one that is used.
  expect(loaded.filter((url) => CONVERSATION.test(url))).toHaveLength(1);
  // The code that acts in a conversation is loaded when the user turns to the chat.
  expect(loaded.filter((url) => SESSION.test(url))).toEqual([]);
  const actions = page.waitForResponse(SESSION);
  await chat.composer.focus();
  await actions;
});

test("a chunk that cannot be loaded is requested again", async ({ page, console }) => {
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
