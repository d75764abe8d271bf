import { join } from "node:path";
import { accessible } from "../fixtures/axe.ts";
import { Chat } from "../fixtures/chat.ts";
import { List } from "../fixtures/list.ts";
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

test("@ in the composer and the menu of the conversation lead to another agent", async ({ page }) => {
  await open(page, "/writer");
  const chat = new Chat(page, { ...ENGLISH, agent: "Writer" });
  const agents = page.getByRole("listbox", { name: "Agents" });
  const support = agents.getByRole("option", { name: "@Support" });

  // Without messages it goes there at once. The rest of the draft stays with the page.
  await chat.composer.pressSequentially("A letter for @sup");
  await expect(support).toHaveAttribute("aria-selected", "true");
  await expect(support).toHaveAttribute("data-heading", "Talk to another agent");
  await expect(agents.getByRole("option", { name: "@Writer" })).toHaveCount(0);
  await accessible(page);
  await chat.composer.press("Enter");
  await expect(page).toHaveURL(/\/help$/);
  await page.goBack();
  await expect(chat.composer).toHaveValue("A letter for ");

  // With messages, the user chooses between a new conversation and the open one.
  await chat.composer.fill("");
  await chat.ask("Shorten this letter");
  await chat.composer.pressSequentially("Thanks @sup");
  await expect(support).toBeVisible();
  await chat.composer.press("Enter");
  const choice = page.getByRole("region", { name: "Support", exact: true });
  await expect(choice.getByRole("button", { name: "New conversation with Support" })).toBeFocused();
  await expect(chat.composer).toHaveValue("Thanks ");
  await accessible(page);
  await page.keyboard.press("Escape");
  await expect(choice).toHaveCount(0);
  await expect(chat.composer).toBeFocused();
  await chat.composer.pressSequentially("@sup");
  await support.click();
  await choice.getByRole("button", { name: "Hand this conversation over to Support" }).click();
  await expect(page).toHaveURL(/\/help\?conversation=/);
  await expect(chat.log).toContainText("Handed over from Writer to Support");

  await new List(page).menu("Shorten this letter", "Talk to another agent");
  const palette = page.getByRole("dialog", { name: "Command palette" });
  await palette.getByRole("option", { name: "New conversation with Writer" }).click();
  await expect(page).toHaveURL(/\/writer$/);
});
