import { join } from "node:path";
import { Chat } from "../fixtures/chat.ts";
import { ROOT, picture } from "../fixtures/picture.ts";
import { expect, open, test } from "../fixtures/test.ts";

test.use({ serverOptions: { config: join(ROOT, "end2end/configs/gates.yaml") } });

test("a question, the call that it let run, and the list of standing approvals", async ({ page }, info) => {
  await open(page, "/keeper");
  const chat = new Chat(page);
  await chat.ask("Delete the article about refunds");
  await expect(chat.approval).toBeVisible();
  await picture(page, info, "gates-question");
  await chat.approval.getByRole("combobox").selectOption("Always");
  await chat.approval.getByRole("button", { name: "Approve" }).click();
  await expect(chat.answers.last()).toContainText("the article is deleted", { timeout: 30_000 });
  await chat.idle();
  await picture(page, info, "gates-standing");
  await page.getByRole("button", { name: "Manage" }).click();
  await expect(page.getByRole("dialog").getByRole("listitem")).toBeVisible();
  await picture(page, info, "gates-list");
});

test("a question that waits for a while, and expires", async ({ page }, info) => {
  await open(page, "/hasty");
  const chat = new Chat(page);
  await chat.ask("Delete the article about refunds");
  await expect(chat.approval).toContainText("You can decide until");
  await picture(page, info, "gates-time");
  await expect(chat.approval).toHaveCount(0, { timeout: 15_000 });
  await picture(page, info, "gates-expired");
});
