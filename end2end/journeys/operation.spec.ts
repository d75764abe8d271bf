import { join } from "node:path";
import { Chat } from "../fixtures/chat.ts";
import { expect, open, test } from "../fixtures/test.ts";

test.use({ serverOptions: { config: join(import.meta.dirname, "../configs/gates.yaml") } });

const DELETE = "Delete the article about refunds";

test("an operator sees and revokes a standing approval", async ({ page }) => {
  await open(page, "/keeper");
  const chat = new Chat(page);
  await chat.ask(DELETE);
  await chat.approval.getByRole("combobox", { name: "How long your approval is valid" }).selectOption("Always");
  await chat.approval.getByRole("button", { name: "Approve" }).click();
  await expect(chat.answers.last()).toContainText("the article is deleted", { timeout: 30_000 });
  await page.goto("/admin/approvals");
  const row = page.getByRole("row", { name: /delete_article/ });
  await expect(row).toContainText("All conversations");
  await row.getByRole("button", { name: /^Revoke delete_article/ }).click();
  await expect(page.getByText("There are no standing approvals.")).toBeVisible();
  await page.getByRole("link", { name: "System" }).click();
  await page.getByRole("link", { name: "Audit log" }).click();
  await expect(page.getByRole("row", { name: /admin:revoke_approval/ })).toHaveCount(1);
  await open(page, "/keeper");
  await chat.ask(DELETE);
  await expect(chat.approval).toBeVisible();
});

test("an operator tries an agent and its tool by keyboard alone", async ({ page, console }) => {
  console.expect(/status of 422/);
  await page.goto("/admin");
  const press = async (role: "link" | "button", name: string | RegExp) => {
    await page.getByRole(role, { name, exact: typeof name === "string" }).first().focus();
    await page.keyboard.press("Enter");
  };
  await press("link", "Agents");
  await press("link", "keeper");
  await page.getByLabel("Question").focus();
  await page.keyboard.type("Hello there");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { level: 1, name: "Test: Hello there" })).toBeVisible();
  await expect(page.getByRole("article", { name: "Agent" })).not.toBeEmpty();
  await press("link", "Agents");
  await press("link", "keeper");
  await press("link", "Current tools");
  await press("link", "delete_article");
  await page.getByLabel("Arguments (JSON)").fill('{ "title": "Refunds" }');
  await press("button", "Run the tool");
  await expect(page.getByRole("status")).toContainText("denied");
  await page.getByLabel("I approve the call if it needs approval").focus();
  await page.keyboard.press("Space");
  await press("button", "Run the tool");
  await expect(page.getByRole("status")).toContainText(/Outcome\s*ok/);
  await press("link", "System");
  await press("link", "Audit log");
  await expect(page.getByRole("row", { name: /admin:try_tool/ })).toHaveCount(2);
  await press("link", "Conversations");
  await press("link", "Retention");
  await expect(page.getByRole("row", { name: /Test: Hello there/ })).toHaveCount(1);
});

test.describe("custom agents", () => {
  test.use({ serverOptions: { config: join(import.meta.dirname, "../configs/custom.yaml") } });

  test("a custom agent is created, used, changed and deleted", async ({ page, console }) => {
    console.expect(/status of 40[49]/, /status of 422/);
    await page.goto("/admin/agents");
    await page.getByRole("link", { name: "Custom agents" }).click();
    await page.getByRole("link", { name: "New agent based on helper" }).click();
    await page.getByLabel("Agent name").fill("Librarian");
    await page.getByLabel("Purpose").fill("Finds articles.");
    await page.getByLabel("Instructions").fill("Answer from the articles only.");
    await page.getByLabel("search_articles").check();
    await page.getByRole("button", { name: "Create agent" }).click();
    await expect(page.getByRole("status")).toContainText("Users can chat with it now");
    const admin = page.url();
    const path = await page.getByRole("link", { name: /^\/custom-/ }).innerText();
    await open(page, path);
    const chat = new Chat(page);
    await chat.ask("What do you know about refunds?");
    await expect(chat.answers.last()).toContainText("30 days");

    // Another user saves in the meantime.
    const other = await page.context().newPage();
    await other.goto(admin);
    await page.goto(admin);
    await other.getByLabel("search_articles").uncheck();
    await other.getByRole("button", { name: "Save" }).click();
    await expect(other.getByRole("row", { name: /^2 / })).toHaveCount(1);
    await page.getByLabel("Agent name").fill("Archivist");
    await page.getByRole("button", { name: "Save" }).click();
    await expect(page.getByRole("alert")).toContainText("Someone else has changed this agent");
    await page.goto(admin);
    await page.getByRole("button", { name: "Delete agent" }).click();
    await expect(page.getByText("There are no custom agents yet.")).toBeVisible();
    expect((await page.goto(path))?.status()).toBe(404);
  });
});
