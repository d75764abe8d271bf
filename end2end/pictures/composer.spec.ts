import { join } from "node:path";
import { Chat } from "../fixtures/chat.ts";
import { picture } from "../fixtures/picture.ts";
import { expect, open, test } from "../fixtures/test.ts";

test.use({ serverOptions: { config: join(import.meta.dirname, "../configs/composer.yaml") } });

test("the composer", async ({ page, console }, info) => {
  console.expect(/413 \(Payload Too Large\)/);
  await open(page);
  const chat = new Chat(page);
  await picture(page, info, "composer");
  await chat.composer.fill("/");
  await picture(page, info, "composer-commands");
  await chat.composer.fill("");
  const chosen = page.waitForEvent("filechooser");
  await page.getByRole("button", { name: "Attach files" }).click();
  await (await chosen).setFiles([
    { name: "A table with a rather long name for its card.csv", mimeType: "text/csv", buffer: Buffer.from("a,b\n1,2\n") },
    { name: "far-too-large.txt", mimeType: "text/plain", buffer: Buffer.alloc(150_000, "x") },
    { name: "run.exe", mimeType: "", buffer: Buffer.from("MZ") },
  ]);
  await expect(page.getByRole("alert").first()).toBeVisible();
  await expect(page.getByText("The file is too large")).toBeVisible();
  await picture(page, info, "composer-files");
  await page.getByRole("button", { name: "Remove far-too-large.txt" }).click();
  await chat.send("Look at this table, please");
  await expect(chat.answers).toHaveCount(1);
  await chat.idle();
  await picture(page, info, "composer-sent");
  await chat.startCounting(200, 3);
  await chat.send("count to 2");
  await chat.send("And then tell me in some more words than fit into one line of the queue what you have found out about it");
  await chat.composer.fill("One more");
  await picture(page, info, "composer-queue");
  await chat.composer.fill("");
  await chat.stopButton.click();
  await chat.idle();
});
