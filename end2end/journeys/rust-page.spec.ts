import { join } from "node:path";
import { Chat } from "../fixtures/chat.ts";
import { expect, open, test } from "../fixtures/test.ts";

// The example's page, written in Rust, with the same config.
test.use({ serverOptions: { binary: "rust-page", config: join(import.meta.dirname, "../../examples/intake") } });

test("a page in Rust validates, saves and shares its form like one in YAML", { tag: "@thorough" }, async ({ page }) => {
  await open(page);
  const chat = new Chat(page);
  const name = page.getByRole("textbox", { name: "Legal name" });
  await expect(page.getByRole("row", { name: /Grace Hopper/ })).toBeVisible();
  await expect(page.getByRole("tab")).toHaveCount(0);
  await page.getByRole("button", { name: "Register" }).click();
  await expect(name).toBeFocused();
  await expect(name).toHaveAccessibleDescription("This field is required.");
  await page.getByRole("button", { name: "Let the agent fill it in" }).click();
  await expect(chat.composer).toHaveValue("Fill in the form for ");
  await chat.ask("Fill in the form for Ada Lovelace at Analytical Engines");
  await expect(name).toHaveValue("Ada Lovelace");
  await expect(page.getByRole("combobox", { name: "Plan" })).toHaveValue("starter");
  await page.getByLabel("Seats").fill("11");
  await page.getByLabel("Seats").press("Tab");
  await expect(page.getByLabel("Seats")).toHaveAccessibleDescription("The number must be between 1 and 10.");
  await page.getByRole("combobox", { name: "Plan" }).selectOption("Enterprise");
  await expect(page.getByText("Somebody from sales calls")).toBeVisible();
  await page.getByLabel("The customer has accepted the terms").check();
  await page.getByRole("button", { name: "Register" }).click();
  await expect(page.getByRole("row", { name: /Ada Lovelace/ })).toBeVisible();
  await expect(name).toHaveValue("");
});

test("a page in Rust is rendered by the server too", { tag: "@thorough" }, async ({ browser, server }) => {
  const context = await browser.newContext({ javaScriptEnabled: false, baseURL: server.url });
  const page = await context.newPage();
  await page.goto("/intake");
  await expect(page).toHaveTitle("Customer intake");
  await expect(page.getByRole("textbox", { name: "Legal name" })).toBeVisible();
  await expect(page.getByLabel("Seats")).toHaveValue("5");
  await context.close();
});
