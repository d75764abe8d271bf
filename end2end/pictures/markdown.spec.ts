import { Chat } from "../fixtures/chat.ts";
import { picture } from "../fixtures/picture.ts";
import { TEXTS } from "../fixtures/texts.ts";
import { expect, open } from "../fixtures/test.ts";
import { writer } from "../fixtures/writer.ts";

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
