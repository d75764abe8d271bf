import { join } from "node:path";
import { PASSWORD, token } from "../fixtures/accounts.ts";
import { Chat } from "../fixtures/chat.ts";
import { Provider } from "../fixtures/provider.ts";
import { everySize } from "../fixtures/sizes.ts";
import { alive, expect, open, test } from "../fixtures/test.ts";

const SECRET = "sk-canary-7c1f0d2e9a";

test.use({
  serverOptions: {
    config: join(import.meta.dirname, "../configs/first-run.yaml"),
    env: { CHATWRIGHT_SECRETS_KEY: "0123456789abcdef0123456789abcdef" },
  },
});
test.describe.configure({ timeout: 180_000 });

test("an empty server is set up in the browser, from the token to the first answer", async ({ page, server, console }) => {
  console.expect(/status of 422/);
  const provider = await Provider.start((_, text, instructions) => (text.includes("one word") ? "ready" : `Hello from the stand-in. ${instructions.includes("Be brief.") ? "Briefly." : ""}`));
  try {
    await page.goto("/");
    await page.getByLabel("Token").fill(await token(server));
    await page.getByLabel("Name").fill("ada");
    await page.getByLabel("Password").fill(PASSWORD);
    await page.getByRole("button", { name: "Create the account" }).click();
    await expect(page.getByRole("heading", { name: "First steps" })).toBeVisible();
    await everySize(page, "first-run-start");

    await page.getByRole("link", { name: "Add a model" }).click();
    await page.locator("select[name=provider]").selectOption("compatible");
    await page.getByLabel("API key").fill(SECRET);
    await page.getByRole("button", { name: "Add model" }).click();
    await expect(page.getByRole("alert")).toContainText("Enter the address.");
    expect(await page.content()).not.toContain(SECRET);
    await everySize(page, "first-run-refused");
    await page.getByLabel(/^Address/).fill(provider.url);
    await page.getByLabel("API key").fill(SECRET);
    await page.getByRole("button", { name: "Add model" }).click();
    await expect(page.getByText("Added. Now choose a model.")).toBeVisible();
    await expect(page.getByText(/^The provider names 2 models/)).toBeVisible();

    await page.getByLabel("Model", { exact: true }).fill("small");
    await page.getByLabel("Instructions").fill("Be brief.");
    await page.getByRole("group", { name: "Agents of the config that use it" }).getByLabel("helper (in place of demo)").check();
    await page.getByRole("button", { name: "Save" }).click();
    await expect(page.getByText("Saved. It is in effect from the next message on.")).toBeVisible();
    await page.getByRole("button", { name: "Test", exact: true }).click();
    await expect(page.getByText("ready", { exact: true })).toBeVisible();
    expect(await page.content()).not.toContain(SECRET);
    await everySize(page, "first-run-page");

    await page.getByRole("link", { name: "Ask the first question" }).click();
    await expect(page).toHaveURL(/\/assistant$/);
    await alive(page);
    const chat = new Chat(page);
    await chat.ask("Who are you?");
    await expect(chat.answers.last()).toContainText("Hello from the stand-in. Briefly.");
    await open(page, "/home");
    await chat.ask("Who are you?");
    await expect(chat.answers.last()).toContainText("Hello from the stand-in.");

    await page.goto("/admin");
    await expect(page.getByRole("heading", { name: "First steps" })).toHaveCount(0);
    await page.goto("/admin/start");
    await expect(page.getByText("Done: compatible.")).toBeVisible();
    await expect(page.getByRole("link", { name: "Invite users" })).toBeVisible();
    await page.goto("/admin/models");
    await expect(page.getByRole("row", { name: /compatible.*administrators.*on.*small.*helper, assistant/ })).toBeVisible();
    await everySize(page, "first-run-list");
    const download = page.waitForEvent("download");
    await page.getByRole("link", { name: "Export as YAML" }).click();
    expect((await download).suggestedFilename()).toBe("models.yaml");

    // Switched off, the agents of the config answer as before, and its own agent is gone.
    await page.getByRole("link", { name: "compatible" }).click();
    await page.getByRole("button", { name: "Switch off" }).click();
    await expect(page.getByRole("button", { name: "Switch on" })).toBeVisible();
    await open(page, "/home");
    await chat.ask("Hello");
    await expect(chat.answers.last()).not.toContainText("stand-in");
    await page.goto("/admin/models/compatible");
    await page.getByRole("button", { name: "Delete connection" }).click();
    await expect(page.getByRole("link", { name: "compatible" })).toHaveCount(0);
    await page.goto("/admin/audit");
    for (const action of ["add_model_connection", "test_model_connection", "disable_model_connection", "delete_model_connection"]) {
      await expect(page.getByRole("row", { name: new RegExp(`admin:${action}`) })).toHaveCount(1);
    }
  } finally {
    provider.close();
  }
});
