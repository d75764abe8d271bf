import { Chat } from "../fixtures/chat.ts";
import { alive, expect, test } from "../fixtures/test.ts";

test("the console composes the element of a chat, says what the config must allow, and previews it", async ({ page }) => {
  await page.goto("/admin/embed");
  await expect(page.locator("iframe")).toHaveCount(0);
  await page.getByLabel("Address of the site").fill("https://shop.example.com/cart");
  await page.getByLabel("Accent (colour)").fill("#7a1fa2");
  await page.getByLabel("Density").selectOption("compact");
  await page.getByRole("button", { name: "Show" }).click();
  await expect(page.getByLabel("Snippet")).toContainText('<agent-chat page="demo" agent="demo" density="compact" accent="#7a1fa2"></agent-chat>');
  await expect(page.getByLabel("Lines for the config")).toContainText('origins: ["https://shop.example.com"]');
  const preview = page.getByTitle("Preview of the chat").contentFrame();
  const frame = preview.locator("agent-chat iframe").contentFrame().locator("iframe").contentFrame();
  await alive(frame);
  expect(await frame.locator("html").evaluate((root) => root.style.getPropertyValue("--cw-accent"))).toBe("#7a1fa2");
  await new Chat(frame).ask("hello");
});

test("the preview tells why its chat did not open", async ({ page, console }) => {
  console.expect(/ERR_FAILED|chrome-error|the frame did not open/);
  await page.route(/\/embed\/demo\//, (route) => route.abort());
  const told = page.waitForEvent("console", { predicate: (message) => message.text().startsWith("The server "), timeout: 30_000 });
  await page.goto("/admin/embed");
  await page.getByRole("button", { name: "Show" }).click();
  await expect(page.getByTitle("Preview of the chat").contentFrame().getByRole("alert")).toHaveText("The chat is not available here.");
  // The error is not `unavailable` or `not_listed`: the server answers, and its own pages may frame its chats.
  expect((await told).text()).toContain("lists this site");
});
