import { join } from "node:path";
import type { Locator } from "@playwright/test";
import { Chat } from "../fixtures/chat.ts";
import { PICTURE, attached, choose } from "../fixtures/files.ts";
import { alive, expect, open, test } from "../fixtures/test.ts";

test.use({ serverOptions: { config: join(import.meta.dirname, "../configs/composer.yaml") } });

function own(chat: Chat): Locator {
  return chat.log.getByRole("article", { name: "You" });
}

/** Drops a file on an element, or pastes it there. */
async function give(target: Locator, how: "paste" | "drop", name: string, type: string): Promise<void> {
  await target.evaluate(
    (element, { how, name, type, bytes }) => {
      const data = new DataTransfer();
      data.items.add(new File([Uint8Array.from(atob(bytes), (char) => char.charCodeAt(0))], name, { type }));
      const common = { bubbles: true, cancelable: true };
      if (how === "paste") {
        element.dispatchEvent(new ClipboardEvent("paste", { ...common, clipboardData: data }));
      } else {
        element.dispatchEvent(new DragEvent("dragover", { ...common, dataTransfer: data }));
        element.dispatchEvent(new DragEvent("drop", { ...common, dataTransfer: data }));
      }
    },
    { how, name, type, bytes: PICTURE.toString("base64") },
  );
}

test("files are attached with the picker, sent with or without text, and survive a reload", async ({ page }) => {
  await open(page);
  const chat = new Chat(page);
  await choose(
    page,
    { name: "pixel.png", mimeType: "image/png", buffer: PICTURE },
    { name: "table.csv", mimeType: "text/csv", buffer: Buffer.from("a,b\n1,2\n") },
  );
  await expect(attached(page)).toHaveCount(2);
  await expect(attached(page).nth(1)).toContainText("8 bytes");
  await chat.composer.fill("Look at these");
  await chat.composer.press("Enter");
  await expect(attached(page)).toHaveCount(0);
  await chat.idle();
  const picture = own(chat).getByRole("img", { name: "pixel.png" });
  const table = own(chat).getByRole("link", { name: "table.csv" });
  await page.reload();
  await expect(picture).toBeVisible();
  expect(await picture.evaluate((image: HTMLImageElement) => image.decode().then(() => image.naturalWidth))).toBe(1);
  const saved = page.waitForEvent("download");
  await table.click();
  expect((await saved).suggestedFilename()).toBe("table.csv");
  await alive(page);
  // A file without text.
  await choose(page, { name: "note.txt", mimeType: "text/plain", buffer: Buffer.from("Hello") });
  await expect(attached(page)).toContainText("5 bytes");
  await page.getByRole("button", { name: "Send" }).click();
  await expect(own(chat).last().getByRole("link", { name: "note.txt" })).toBeVisible();
  await chat.idle();
});

test("a message that is sent during an upload is sent when its files are there", async ({ page }) => {
  await open(page);
  const chat = new Chat(page);
  const held: (() => void)[] = [];
  await page.route("**/api/files?**", async (route) => {
    await new Promise<void>((resolve) => held.push(resolve));
    await route.continue();
  });
  const waits = page.getByText("Will be sent as soon as the files are uploaded");
  const file = (name: string) => ({ name, mimeType: "text/plain", buffer: Buffer.from(name) });
  await choose(page, file("a.txt"), file("b.txt"));
  await expect(attached(page)).toHaveCount(2);
  await chat.send("Look at these");
  await expect(waits).toBeVisible();
  // A key that is pressed cancels the automatic sending.
  await chat.composer.pressSequentially("!");
  await expect(waits).toHaveCount(0);
  await page.getByRole("button", { name: "Send" }).click();
  await expect(waits).toBeVisible();
  await expect.poll(() => held.length).toBe(2);
  held[0]!();
  await expect(attached(page).getByRole("progressbar")).toHaveCount(1);
  await expect(waits).toBeVisible();
  held[1]!();
  await expect(own(chat)).toContainText("Look at these!");
  await expect(own(chat).getByRole("link")).toHaveText([/a\.txt/, /b\.txt/]);
  await expect(chat.composer).toHaveValue("");
  await expect(waits).toHaveCount(0);
  await chat.idle();
});

test("invalid files are refused with a reason and the typed text stays", async ({ page, console }) => {
  console.expect(/413 \(Payload Too Large\)/);
  await open(page);
  const chat = new Chat(page);
  await chat.composer.fill("These words stay");
  const alert = page.locator("form").getByRole("alert");
  await choose(page, { name: "run.exe", mimeType: "application/x-msdownload", buffer: Buffer.from("MZ") });
  await expect(alert).toHaveText("run.exe was not attached: only image/*, .csv, .txt.");
  await choose(page, { name: "large.txt", mimeType: "text/plain", buffer: Buffer.alloc(200_001, "x") });
  await expect(alert).toHaveText("large.txt was not attached: at most 200 KB.");
  await choose(page, { name: "empty.txt", mimeType: "text/plain", buffer: Buffer.alloc(0) });
  await expect(alert).toHaveText("empty.txt was not attached: it is empty.");
  await expect(attached(page)).toHaveCount(0);
  // A file that only the server refuses.
  await choose(page, { name: "middle.txt", mimeType: "text/plain", buffer: Buffer.alloc(150_000, "x") });
  await expect(attached(page).getByRole("alert")).toHaveText("The file is too large: 100 KB at most.");
  await chat.composer.press("Enter");
  await expect(own(chat)).toHaveCount(0);
  await expect(chat.composer).toHaveValue("These words stay");
  await page.getByRole("button", { name: "Remove middle.txt" }).click();
  await expect(attached(page)).toHaveCount(0);
  await chat.composer.press("Enter");
  await expect(own(chat)).toContainText("These words stay");
  await chat.idle();
});

test("files beside an error are not cut off", async ({ page }) => {
  await open(page);
  const file = (name: string) => ({ name, mimeType: "text/plain", buffer: Buffer.from("x") });
  await choose(page, file("one.txt"), file("two.txt"), file("three.txt"));
  await choose(page, { name: "run.exe", mimeType: "application/x-msdownload", buffer: Buffer.from("MZ") });
  await expect(page.locator("form").getByRole("alert")).toHaveText("run.exe was not attached: only image/*, .csv, .txt.");
  await expect(attached(page)).toHaveCount(3);
  for (const card of await attached(page).all()) {
    await card.scrollIntoViewIfNeeded();
    // It is seen as a whole: no part of it is outside of the list or below the window.
    await expect(card).toBeInViewport({ ratio: 1 });
  }
});

test("pasted pictures get names and files can be dropped anywhere on the chat", async ({ page }) => {
  await open(page);
  const chat = new Chat(page);
  await give(chat.composer, "paste", "image.png", "image/png");
  await give(chat.composer, "paste", "image.png", "image/png");
  await expect(attached(page)).toHaveCount(2);
  const names = await attached(page).locator(".cw-attachment-name").allTextContents();
  expect(new Set(names).size).toBe(2);
  for (const name of names) expect(name).toMatch(/^pasted-\d{4}-\d\d-\d\dT[\d-]+\.png$/);
  await give(page.getByRole("region", { name: "Chat with the agent" }), "drop", "dropped.png", "image/png");
  await expect(attached(page)).toHaveCount(3);
  await expect(attached(page).last()).toContainText("dropped.png");
});

test("messages that are sent during an answer are queued in order and can be edited", async ({ page }) => {
  await open(page);
  const chat = new Chat(page);
  await chat.startCounting(400, 3);
  for (const text of ["count to 2", "count to 3", "count to 4"]) await chat.send(text);
  const queue = page.getByRole("region", { name: "Waiting messages" });
  const lines = queue.getByRole("listitem");
  await expect(lines).toHaveText(["count to 2", "count to 3", "count to 4"]);
  // Stopping the answer holds them back, so that there is time to edit them.
  await chat.stopButton.click();
  await expect(queue).toContainText("3 messages on hold");
  await lines.nth(2).getByRole("button", { name: "Edit the waiting message" }).click();
  const field = queue.getByRole("textbox", { name: "Waiting message" });
  await expect(field).toBeFocused();
  await field.fill("count to 6");
  await field.press("Enter");
  await lines.nth(1).getByRole("button", { name: "Remove the waiting message" }).click();
  await expect(lines).toHaveText(["count to 2", "count to 6"]);
  await queue.getByRole("button", { name: "Send the next message" }).click();
  await expect(chat.answers).toHaveCount(3, { timeout: 30_000 });
  await chat.idle();
  await expect(queue).toHaveCount(0);
  await expect(own(chat)).toContainText([/count to 400/, /count to 2/, /count to 6/]);
});

test("stopping an answer holds the queued messages back until the user sends them", async ({ page }) => {
  await open(page);
  const chat = new Chat(page);
  await chat.startCounting(200, 3);
  await chat.send("count to 2");
  await chat.stopButton.click();
  await chat.idle();
  const queue = page.getByRole("region", { name: "Waiting messages" });
  await expect(queue).toContainText("1 message on hold");
  await queue.getByRole("button", { name: "Send the next message" }).click();
  await expect(own(chat)).toHaveCount(2);
  await expect(queue).toHaveCount(0);
  await chat.idle();
});

test("with interruption enabled a new message stops the answer and is sent", async ({ page }) => {
  await open(page, "/interrupt");
  const chat = new Chat(page);
  await chat.composer.fill("count to 200");
  // Here, Enter inserts a line break.
  await chat.composer.press("Enter");
  await chat.composer.press("Backspace");
  await expect(chat.composer).toHaveValue("count to 200");
  await chat.composer.press("Shift+Enter");
  await expect.poll(() => chat.counted(), { timeout: 20_000 }).toBeGreaterThan(3);
  await chat.composer.fill("count to 4");
  await page.getByRole("button", { name: "Stop and send" }).click();
  await expect(own(chat)).toContainText([/count to 200/, /count to 4/]);
  await expect(chat.answers).toHaveCount(2);
  await chat.idle();
});

test("a draft survives a reload and belongs to its conversation", async ({ page }) => {
  await open(page);
  const chat = new Chat(page);
  await chat.ask("count to 2");
  await chat.composer.fill("A draft\nof two lines");
  await page.reload();
  await expect(chat.composer).toHaveValue("A draft\nof two lines");
  await page.getByRole("link", { name: "New conversation" }).first().click();
  await expect(chat.composer).toHaveValue("");
  await page.goBack();
  await expect(chat.composer).toHaveValue("A draft\nof two lines");
});

test("the up arrow recalls sent messages", async ({ page }) => {
  await open(page);
  const chat = new Chat(page);
  await chat.ask("count to 2");
  await chat.ask("count to 3");
  await chat.composer.press("ArrowUp");
  await expect(chat.composer).toHaveValue("count to 3");
  await chat.composer.press("ArrowUp");
  await expect(chat.composer).toHaveValue("count to 2");
  await chat.composer.press("ArrowDown");
  await expect(chat.composer).toHaveValue("count to 3");
  await chat.composer.press("ArrowDown");
  await expect(chat.composer).toHaveValue("");
  // The existing text is not lost.
  await chat.composer.fill("mine");
  await chat.composer.press("ArrowUp");
  await expect(chat.composer).toHaveValue("mine");
});

test("switches, commands and suggestions work", async ({ page }) => {
  await open(page);
  const chat = new Chat(page);
  const heard = page.getByRole("region", { name: "Form" }).getByRole("status");
  const web = page.getByRole("button", { name: "Search the web" });
  await expect(page.getByRole("button", { name: "Think longer" })).toHaveAttribute("aria-pressed", "true");
  await expect(web).toHaveAttribute("aria-pressed", "false");
  await web.click();
  await expect(web).toHaveAttribute("aria-pressed", "true");
  await expect(heard.filter({ hasText: "web" })).toContainText("true");
  await chat.composer.pressSequentially("/");
  const options = page.getByRole("listbox", { name: "Commands" }).getByRole("option");
  await expect(options).toHaveCount(2);
  await chat.composer.press("ArrowDown");
  await expect(options.nth(1)).toHaveAttribute("aria-selected", "true");
  await chat.composer.pressSequentially("co");
  await expect(options).toHaveText([/\/count\s*Counts to five/]);
  await chat.composer.press("Enter");
  await expect(chat.composer).toHaveValue("count to 5");
  await chat.composer.press("Enter");
  await expect(chat.answers).toHaveCount(1);
  await chat.idle();
  await expect(heard.filter({ hasText: "before" })).toContainText("true");
  const suggestions = page.getByRole("list", { name: "Suggestions" });
  await suggestions.getByRole("button", { name: "Count to 3" }).click();
  await expect(chat.answers).toHaveCount(2);
  await chat.idle();
});

test("suggestions of an answer replace those of the config", async ({ page }) => {
  await open(page, "/advised");
  const chat = new Chat(page);
  const suggestions = page.getByRole("list", { name: "Suggestions" });
  await chat.send("count to 30");
  await expect.poll(() => chat.counted(), { timeout: 20_000 }).toBeGreaterThan(3);
  await expect(suggestions).toHaveCount(0);
  await chat.idle();
  await expect(suggestions.getByRole("button")).toHaveText(["Count to 4", "Say more"]);
  await suggestions.getByRole("button", { name: "Count to 4" }).click();
  await expect(chat.answers).toHaveCount(2);
  await chat.idle();
  await expect.poll(() => chat.counted()).toBe(4);
  // They are part of the answer, so a reload shows them again.
  await page.reload();
  await expect(suggestions.getByRole("button")).toHaveText(["Count to 4", "Say more"]);
});

test("a growing answer is drawn at most once in 50 ms", async ({ page }) => {
  await open(page);
  const chat = new Chat(page);
  await chat.send("count to 80");
  await expect.poll(() => chat.counted(), { timeout: 20_000 }).toBeGreaterThan(3);
  const draws = await chat.answers.last().evaluate(async (answer) => {
    const times: number[] = [];
    const observer = new MutationObserver(() => times.push(performance.now()));
    observer.observe(answer.querySelector(".cw-message-body")!, { childList: true, characterData: true, subtree: true });
    while (times.length < 8) await new Promise((done) => setTimeout(done, 20));
    observer.disconnect();
    return times;
  });
  // A busy machine makes the rests longer, never shorter. Clocks of pages are not exact to a millisecond.
  const rests = draws.slice(1).map((at, index) => at - draws[index]!);
  expect(Math.min(...rests)).toBeGreaterThanOrEqual(48);
});
