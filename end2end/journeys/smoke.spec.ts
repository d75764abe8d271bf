import { expect, open, test } from "../fixtures/test.ts";

test("the page is readable before any script runs", async ({ browser, server }) => {
  const context = await browser.newContext({ javaScriptEnabled: false, baseURL: server.url });
  const page = await context.newPage();
  await page.goto("/");
  await expect(page).toHaveTitle(/Chatwright/);
  await expect(page.getByRole("textbox", { name: "Message" })).toBeVisible();
  await expect(page.getByLabel("Legal name", { exact: true })).toBeVisible();
  await context.close();
});

test("data that the server loads is sent with the page once", async ({ request }) => {
  const html = await (await request.get("/")).text();
  const loaded = [...html.matchAll(/__RESOLVED_RESOURCES\[\d+\] = ("(?:[^"\\]|\\.)*")/g)].map(([, json]) => json);
  // The page's config, the list, and the open conversation (none).
  expect(loaded).toHaveLength(3);
  expect(new Set(loaded).size).toBe(3);
});

test("the page is hydrated", async ({ page }) => {
  await open(page);
  await expect(page).toHaveTitle(/Chatwright/);
  await expect(page.getByRole("textbox", { name: "Message" })).toBeVisible();
});

test("an answer survives a crash of the server", async ({ page, server, console }) => {
  // The open page polls the server while it is down.
  console.expect(/ERR_|Failed to load resource|Failed to fetch/);
  await open(page);
  await page.getByRole("textbox", { name: "Message" }).fill("What can you do?");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/conversation=/);
  await expect(page.getByRole("button", { name: "Send" })).toBeVisible({ timeout: 30_000 });
  const answer = page.getByRole("log").getByRole("article").last();
  const said = (await answer.innerText()).trim();
  expect(said).not.toBe("");
  await server.stop();
  await server.launch();
  await page.reload();
  await expect(answer).toHaveText(said, { useInnerText: true });
});
