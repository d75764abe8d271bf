import { Chat } from "../fixtures/chat.ts";
import { expect, open, test } from "../fixtures/test.ts";

test("a double click on the send button does not stop the answer", async ({ page }) => {
  await open(page);
  const chat = new Chat(page);
  await chat.composer.fill("Count to 30");
  await page.getByRole("button", { name: "Send", exact: true }).dblclick();
  await chat.idle();
  await expect(chat.answers.last()).not.toContainText("Stopped.");
});

test("what is clicked and typed before the page has come to life is kept", async ({ page }) => {
  let load = () => {};
  const mayLoad = new Promise<void>((resolve) => (load = resolve));
  await page.route("**/*.wasm", async (route) => {
    await mayLoad;
    await route.continue().catch(() => {});
  });
  await page.goto("/", { waitUntil: "domcontentloaded" });
  const chat = new Chat(page);
  await chat.composer.fill("half a thought");
  await page.reload({ waitUntil: "domcontentloaded" });
  await expect(chat.composer).toHaveValue("half a thought");
  await chat.composer.fill("");
  const prompt = page.locator(".cw-welcome > ul .cw-prompt").first();
  await prompt.click();
  await expect(page.locator(".cw-composer-early")).toHaveText("Will be sent as soon as the page is ready");
  await page.locator(".cw-theme").click();
  load();
  await expect(page.locator("html")).toHaveAttribute("data-theme", "light");
  await expect(chat.answers).toHaveCount(1, { timeout: 30_000 });
  await expect(page.locator(".cw-composer-early")).toBeEmpty();
});
