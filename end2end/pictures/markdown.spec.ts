import { Chat } from "../fixtures/chat.ts";
import { picture } from "../fixtures/picture.ts";
import { TEXTS } from "../fixtures/texts.ts";
import { expect, open } from "../fixtures/test.ts";
import { CITED, conversation, writer } from "../fixtures/writer.ts";

const test = writer(TEXTS);

for (const name of ["code", "formulas", "footnotes", "diagrams"]) {
  test(`what a model writes: ${name}`, async ({ page }, info) => {
    await open(page);
    const chat = new Chat(page);
    await chat.ask(name);
    if (name === "diagrams") await expect(chat.answers.getByRole("img", { name: /^Diagram/ })).toHaveCount(2, { timeout: 30_000 });
    if (name === "code") await expect.poll(() => page.evaluate(() => CSS.highlights.get("cw-code-comment")?.size)).toBeGreaterThan(1);
    await picture(page, info, `markdown-${name}`);
  });
}

test("what an answer refers to, in the list and on a card", async ({ page, server }, info) => {
  const other = { type: "source-url", sourceId: "s", url: "https://example.net/b", title: "A page about mountains with a rather long name" };
  const id = await conversation(server.url, [CITED, other]);
  await open(page, `/arrow?conversation=${id}`);
  await page.getByText("3 sources").click();
  await picture(page, info, "sources-list");
  await open(page, `/cards?conversation=${id}`);
  await page.getByRole("button", { name: "Source 1: A page" }).click();
  await expect(page.getByRole("group", { name: "Source 1" })).toBeVisible();
  await picture(page, info, "sources-card");
});
