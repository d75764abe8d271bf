import { join } from "node:path";
import { Chat } from "../fixtures/chat.ts";
import { ROOT, picture } from "../fixtures/picture.ts";
import { expect, open, test } from "../fixtures/test.ts";

test.use({ serverOptions: { config: join(ROOT, "end2end/configs/messages.yaml") } });

test("messages with versions, in editing, judged and deleted", async ({ page }, info) => {
  await open(page);
  const chat = new Chat(page);
  const own = chat.log.getByRole("article", { name: "You" });
  await chat.ask("What can you do?");
  await chat.answers.first().getByRole("button", { name: "Answer again" }).click();
  await expect(chat.answers.first().getByRole("group", { name: "Version 2 of 2" })).toBeVisible();
  await chat.idle();
  await chat.ask("And with a longer question that does not fit into one line of a narrow screen: count to 3");
  await own.last().hover();
  await picture(page, info, "messages-versions");
  await chat.answers.last().getByRole("button", { name: "More" }).click();
  await picture(page, info, "messages-menu");
  await page.keyboard.press("Escape");
  await chat.answers.last().getByRole("button", { name: "Bad answer" }).click();
  await picture(page, info, "messages-why");
  await page.keyboard.press("Escape");
  await own.last().hover();
  await own.last().getByRole("button", { name: "Edit" }).click();
  await picture(page, info, "messages-edit");
  await page.keyboard.press("Escape");
  await own.last().hover();
  await own.last().getByRole("button", { name: "More" }).click();
  await page.getByRole("menuitem", { name: "Delete from here on" }).click();
  await expect(page.getByRole("button", { name: "Undo" })).toBeVisible();
  await picture(page, info, "messages-deleted");
});
