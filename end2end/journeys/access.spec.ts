import { Chat } from "../fixtures/chat.ts";
import { alive, expect, open, test } from "../fixtures/test.ts";

test("everything works by keyboard alone", async ({ page }) => {
  await open(page);
  const chat = new Chat(page);
  const focused = () => page.evaluate(() => document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.textContent ?? "");
  const tabTo = async (name: string | RegExp) => {
    for (let presses = 0; presses < 60; presses += 1) {
      const now = await focused();
      if (typeof name === "string" ? now === name : name.test(now)) return;
      await page.keyboard.press("Tab");
    }
    throw new Error(`the Tab key never reaches ${name}`);
  };
  // The composer has the focus. The links between the demo's pages follow it, then the page begins again.
  await tabTo(/Skip to the content/);
  await tabTo("Message");
  await page.keyboard.type("Delete the article about refunds");
  await page.keyboard.press("Enter");
  await expect(chat.approval).toBeVisible({ timeout: 30_000 });
  await chat.idle();
  await page.locator("body").focus();
  await tabTo(/^Deny$/);
  await page.keyboard.press("Enter");
  await expect(chat.answers.last()).toContainText("Nothing was deleted");
  await chat.composer.focus();
  await page.keyboard.type("count to 1500");
  await page.keyboard.press("Enter");
  await expect.poll(() => chat.counted()).toBeGreaterThan(3);
  await page.keyboard.press("Escape");
  await chat.idle();
  await expect(page.getByText("Stopped.")).toBeVisible();
});

test("on a narrow screen the chat is shown and the form and the list are drawers", async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await open(page);
  const chat = new Chat(page);
  await expect(page.getByLabel("Legal name", { exact: true })).toBeHidden();
  await chat.ask("Fill in the form for Ada Lovelace at Analytical Engines");
  await page.getByRole("button", { name: /Customer request/ }).click();
  await expect(page.getByLabel("Legal name", { exact: true })).toHaveValue("Ada Lovelace");
  await page.keyboard.press("Escape");
  await expect(page.getByLabel("Legal name", { exact: true })).toBeHidden();
  await page.getByRole("button", { name: "Conversations" }).click();
  await expect(page.getByRole("link", { name: /Fill in the form/ })).toBeVisible();
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  expect(overflow).toBeLessThanOrEqual(0);
});

test("the theme follows the system, and the switch is remembered", async ({ page }) => {
  await page.emulateMedia({ colorScheme: "dark" });
  await open(page);
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const dark = await background();
  await page.emulateMedia({ colorScheme: "light" });
  await expect.poll(background).not.toBe(dark);
  const theme = page.getByRole("button", { name: /theme/i });
  for (let clicks = 0; clicks < 3 && (await background()) !== dark; clicks += 1) await theme.click();
  expect(await background()).toBe(dark);
  await page.reload();
  await alive(page);
  expect(await background()).toBe(dark);
});

test("nothing is fetched from other hosts, and markup in a message is text", async ({ page }) => {
  const foreign: string[] = [];
  page.on("request", (request) => {
    if (!request.url().startsWith("data:") && new URL(request.url()).hostname !== "127.0.0.1") foreign.push(request.url());
  });
  await open(page);
  const chat = new Chat(page);
  await chat.ask('<img src=x onerror="document.title=1"> ![x](https://evil.example/?q=1) <script>document.title=2</script>');
  await expect(page).toHaveTitle(/Chatwright/);
  expect(await chat.log.locator("script, img").count()).toBe(0);
  expect(foreign).toEqual([]);
});

test("an unknown address shows the 404 page", async ({ page, console }) => {
  console.expect(/404/);
  const response = await page.goto("/nowhere");
  expect(response?.status()).toBe(404);
  await expect(page.getByRole("link", { name: /start page|home/i }).first()).toBeVisible();
});
