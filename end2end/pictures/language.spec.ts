import { join } from "node:path";
import { Chat } from "../fixtures/chat.ts";
import { ROOT, picture } from "../fixtures/picture.ts";
import { open, test } from "../fixtures/test.ts";
import { HEBREW, beginning } from "../fixtures/words.ts";

test.use({ serverOptions: { config: join(ROOT, "end2end/configs/hebrew.yaml") } });

test("everything from the right", async ({ page }, info) => {
  await open(page, "/", HEBREW);
  const chat = new Chat(page, HEBREW);
  await picture(page, info, "rtl-welcome");
  await chat.ask("What do you know about refunds?");
  await chat.answers.last().locator("summary").first().click();
  await picture(page, info, "rtl-tool");
  await page.getByRole("button", { name: HEBREW.answerAgain }).click();
  await chat.idle();
  await page.getByRole("button", { name: HEBREW.badAnswer }).first().click();
  await picture(page, info, "rtl-feedback");
  await chat.ask("Delete the article about refunds");
  await picture(page, info, "rtl-approval");
  await chat.approval.getByRole("button", { name: HEBREW.deny }).click();
  await chat.idle();
  await chat.ask("Ask me with a form");
  await picture(page, info, "rtl-question");
  const conversations = page.getByRole("button", { name: HEBREW.conversations });
  if (await conversations.isVisible()) await conversations.click();
  await page.getByRole("button", { name: beginning(HEBREW.optionsFor) }).first().click();
  await picture(page, info, "rtl-list");
  await page.getByRole("menuitem", { name: HEBREW.shareMenu }).click();
  await page.getByRole("button", { name: HEBREW.shareCreate }).click();
  await picture(page, info, "rtl-share");
  await page.goto("/drawer");
  await page.getByRole("button", { name: "צ׳אט" }).click();
  await picture(page, info, "rtl-drawer");
});
