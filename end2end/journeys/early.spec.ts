import { Chat } from "../fixtures/chat.ts";
import { configured } from "../fixtures/configured.ts";
import { List, seed } from "../fixtures/list.ts";
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

test("what is typed into the search before the page has come to life is searched for", async ({ page, server }) => {
  await seed(server.url, ["Delete the article about refunds", "count to 3"]);
  let load = () => {};
  const mayLoad = new Promise<void>((resolve) => (load = resolve));
  await page.route("**/*.wasm", async (route) => {
    await mayLoad;
    await route.continue().catch(() => {});
  });
  await page.goto("/", { waitUntil: "domcontentloaded" });
  const search = page.getByRole("searchbox", { name: "Search conversations" });
  await search.pressSequentially("article");
  await expect(new List(page).rows).toHaveCount(2);
  load();
  await expect(page.locator(".cw-find")).toHaveCount(1, { timeout: 30_000 });
  await expect(new List(page).rows.first()).toBeHidden();
  await expect(search).toHaveValue("article");
  await expect(search).toBeFocused();
});

test("a button of the page that is clicked before the page has come to life acts once, with what was typed", async ({ page }) => {
  const config = `
connections: [{ id: demo, type: Demo }]
agents: [{ id: demo, type: Agent, connectionId: demo, properties: { model: demo } }]
pages:
  - id: home
    blocks:
      - { id: name, type: TextInput }
      - id: save
        type: Button
        properties: { title: Save }
        events:
          onClick: [{ type: SetState, params: { said: { _state: name } } }]
      - { id: said, type: Title, properties: { title: { _state: said } } }
`;
  await configured(undefined, config, async (server) => {
    let load = () => {};
    const mayLoad = new Promise<void>((resolve) => (load = resolve));
    await page.route("**/*.wasm", async (route) => {
      await mayLoad;
      await route.continue().catch(() => {});
    });
    await page.goto(server.url, { waitUntil: "domcontentloaded" });
    await page.getByLabel("Name").fill("Ada");
    const save = page.getByRole("button", { name: "Save" });
    await save.click();
    await save.click();
    await expect(save).toHaveAttribute("aria-busy", "true");
    load();
    await expect(page.getByRole("heading", { name: "Ada" })).toBeVisible({ timeout: 30_000 });
    await expect(save).not.toHaveAttribute("aria-busy");
    await page.goto("about:blank");
  });
});

test("a form in the chat that is filled in and sent before the page has come to life is sent once", async ({ page }) => {
  await open(page);
  const chat = new Chat(page);
  await chat.ask("Ask me with a form");
  await expect(chat.question).toBeVisible();
  let load = () => {};
  const mayLoad = new Promise<void>((resolve) => (load = resolve));
  await page.route("**/*.wasm", async (route) => {
    await mayLoad;
    await route.continue().catch(() => {});
  });
  await page.reload({ waitUntil: "domcontentloaded" });
  const address = page.url();
  await chat.question.getByLabel("Name").fill("Ada of the forms");
  await chat.question.getByLabel("Boxes").fill("2");
  await chat.question.getByLabel("Size").selectOption("Large");
  await chat.question.getByLabel("It is a gift").check();
  await chat.question.getByRole("button", { name: "Answer" }).click();
  await chat.question.getByRole("button", { name: "Answer" }).click();
  expect(page.url()).toBe(address);
  load();
  await expect(chat.question).toHaveCount(0, { timeout: 30_000 });
  for (const said of ["name: Ada of the forms", "boxes: 2", "size: Large", "gift: true"]) {
    await expect(chat.answers.last()).toContainText(said, { timeout: 30_000 });
  }
});
