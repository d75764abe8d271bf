import { Chat, expectCounted } from "../fixtures/chat.ts";
import { expect, open, test } from "../fixtures/test.ts";

test("stopping an answer keeps what was written", async ({ page }) => {
  await open(page);
  const chat = new Chat(page);
  await chat.startCounting(1500, 5);
  await chat.stopButton.click();
  await chat.idle();
  const counted = await chat.counted();
  expect(counted).toBeLessThan(1500);
  await page.reload();
  await expect(page.getByText("Stopped.")).toBeVisible();
  await expect.poll(() => chat.counted()).toBeGreaterThanOrEqual(counted - 1);
});

test("an answer continues after a reload without repetition", async ({ page }) => {
  await open(page);
  const chat = new Chat(page);
  await chat.startCounting(300, 10);
  await page.reload();
  await expect.poll(() => chat.counted()).toBeGreaterThan(10);
  await expect(chat.answers.last()).toContainText("That was all.", { timeout: 30_000 });
  await chat.idle();
  expectCounted(await chat.answers.last().locator(".cw-message-body").innerText(), 300);
  await expect(chat.answers).toHaveCount(1);
});

test("leaving the page does not stop the answer", async ({ page }) => {
  await open(page);
  const chat = new Chat(page);
  await chat.startCounting(60, 5);
  const address = page.url();
  await page.goto("about:blank");
  await page.waitForTimeout(2500);
  await page.goto(address);
  await expect(chat.answers.last()).toContainText("That was all.", { timeout: 30_000 });
});

test("two tabs show the same answer live", async ({ page, context }) => {
  await open(page);
  const chat = new Chat(page);
  await chat.startCounting(1500, 5);
  const other = await context.newPage();
  await other.goto(page.url());
  const second = new Chat(other);
  await expect.poll(() => second.counted()).toBeGreaterThan(20);
  // The button is rendered before hydration, when a click is lost.
  await expect(async () => {
    // On a busy machine the stop shows late, and then there is no button to click.
    if ((await second.stopButton.count()) > 0) await second.stopButton.click({ timeout: 1000 });
    await expect(second.stopButton).toHaveCount(0, { timeout: 3000 });
  }).toPass();
  await chat.idle();
  await second.idle();
  expect(await second.counted()).toBe(await chat.counted());
  // And vice versa: a message that is sent in one tab is shown in the other.
  await chat.ask("What can you do?");
  await expect(second.answers.last()).toContainText("This is a demo model", { timeout: 15_000 });
});

test("after a crash of the server the shown text is kept and Continue resumes the answer", async ({ page, server, console }) => {
  console.expect(/Failed to load resource|ERR_|Failed to fetch|net::|network error/i);
  await open(page);
  const chat = new Chat(page);
  await chat.startCounting(1500, 20);
  // Text may be shown up to 0.1 s before it is stored.
  const shown = await chat.counted();
  await page.waitForTimeout(300);
  await server.kill();
  await server.launch();
  await expect(page.getByRole("button", { name: "Continue" })).toBeVisible({ timeout: 30_000 });
  expect(await chat.counted()).toBeGreaterThanOrEqual(shown);
  await page.reload();
  await expect(page.getByText("The answer was interrupted.")).toBeVisible();
  await expect(async () => {
    await page.getByRole("button", { name: "Continue" }).click({ timeout: 1000 });
    await expect(chat.answers.last()).toContainText("continue in the same message", { timeout: 10_000 });
  }).toPass();
  await expect(chat.answers).toHaveCount(1);
});
