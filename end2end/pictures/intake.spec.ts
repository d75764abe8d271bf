import { join } from "node:path";
import { Chat } from "../fixtures/chat.ts";
import { ROOT, picture } from "../fixtures/picture.ts";
import { open, test } from "../fixtures/test.ts";
import type { Page } from "@playwright/test";

test.use({ serverOptions: { config: join(ROOT, "examples/intake") } });

/** On a narrow screen the form is a drawer. */
async function showForm(page: Page): Promise<void> {
  const button = page.getByRole("button", { name: "Form", exact: true });
  if (await button.isVisible()) await button.click();
}

test("a form", async ({ page }, info) => {
  await open(page);
  await showForm(page);
  await picture(page, info, "intake");
  await page.getByRole("textbox", { name: "E-mail" }).fill("nonsense");
  await page.getByRole("combobox", { name: "Plan" }).selectOption("Enterprise");
  await page.getByRole("button", { name: "Register" }).click();
  await picture(page, info, "intake-wrong");
  await page.getByRole("button", { name: "Register" }).scrollIntoViewIfNeeded();
  await picture(page, info, "intake-wrong-below");
});

test("a saved form, and what was saved", async ({ page }, info) => {
  await open(page);
  const chat = new Chat(page);
  await chat.ask("Fill in the form for Ada Lovelace at Analytical Engines");
  await showForm(page);
  await picture(page, info, "intake-agent");
  await page.getByRole("textbox", { name: "E-mail" }).fill("ada@engines.example");
  await page.getByLabel("The customer has accepted the terms").check();
  await page.getByRole("button", { name: "Register" }).click();
  await page.getByRole("list", { name: "Messages" }).getByText("The customer is registered.").waitFor();
  await picture(page, info, "intake-saved");
  await page.getByRole("tab", { name: "Registered" }).click();
  await picture(page, info, "intake-table");
});
