import { join } from "node:path";
import { accessible } from "../fixtures/axe.ts";
import { Chat } from "../fixtures/chat.ts";
import { expect, open, test } from "../fixtures/test.ts";
import { ENGLISH } from "../fixtures/words.ts";

test.use({ serverOptions: { config: join(import.meta.dirname, "../configs/home.yaml") } });

test("a conversation is handed over to the agent of another page, and shows it", async ({ page }) => {
  await open(page, "/writer");
  const chat = new Chat(page, { ...ENGLISH, agent: "Writer" });
  const palette = page.getByRole("dialog", { name: "Command palette" });
  const field = palette.getByRole("combobox");
  const type = async (words: string) => {
    // A page that has just been opened does not hear the keys yet.
    await expect(async () => {
      if (!(await field.isVisible())) await page.keyboard.press("Control+k");
      await expect(field).toBeFocused({ timeout: 2_000 });
    }).toPass();
    await page.keyboard.type(words);
  };
  // Without a conversation there is nothing to hand over.
  await type("hand this");
  await expect(palette.getByRole("status")).toHaveText("Nothing found.");
  await page.keyboard.press("Escape");

  await chat.ask("Shorten this letter");
  await type("hand this support");
  await expect(palette.getByRole("option", { selected: true })).toHaveText("Hand this conversation over to Support");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\/help\?conversation=/);
  await expect(chat.log).toContainText("Shorten this letter");
  await expect(chat.log).toContainText("Handed over from Writer to Support");
  await accessible(page);
  await new Chat(page).ask("Where is my parcel?");

  // It is the same conversation, and the line stays.
  await page.reload();
  await expect(chat.log).toContainText("Shorten this letter");
  await expect(chat.log).toContainText("Handed over from Writer to Support");
  await expect(chat.log).toContainText("Where is my parcel?");
});
