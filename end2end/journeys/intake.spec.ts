import { join } from "node:path";
import { Chat } from "../fixtures/chat.ts";
import { expect, open, test } from "../fixtures/test.ts";

test.use({ serverOptions: { config: join(import.meta.dirname, "../../examples/intake") } });

test("a form shows errors at the fields and saves valid input", async ({ page, console }) => {
  // A second customer with the same address is refused.
  console.expect(/422/);
  await open(page);
  await page.getByRole("button", { name: "Register" }).click();
  const name = page.getByRole("textbox", { name: "Legal name" });
  await expect(name).toBeFocused();
  await expect(name).toHaveAttribute("aria-invalid", "true");
  await expect(name).toHaveAccessibleDescription("This field is required.");
  await expect(page.getByText("Please tick this box.")).toBeVisible();
  await name.fill("Ada Lovelace");
  await expect(name).not.toHaveAttribute("aria-invalid");
  await page.getByRole("textbox", { name: "E-mail" }).fill("nonsense");
  await page.getByRole("textbox", { name: "E-mail" }).press("Tab");
  await expect(page.getByRole("textbox", { name: "E-mail" })).toHaveAccessibleDescription("This is no e-mail address.");
  await page.getByRole("textbox", { name: "E-mail" }).fill("ada@engines.example");
  await page.getByRole("combobox", { name: "Plan" }).selectOption("Starter");
  await expect(page.getByText("5 seats cost 45 euros a month.")).toBeVisible();
  await page.getByLabel("Seats").fill("11");
  await page.getByLabel("Seats").press("Tab");
  await expect(page.getByLabel("Seats")).toHaveAccessibleDescription("The number must be between 1 and 10.");
  await page.getByRole("combobox", { name: "Plan" }).selectOption("Enterprise");
  await expect(page.getByText("Somebody from sales calls")).toBeVisible();
  await page.getByLabel("Seats").fill("12");
  const topics = page.getByRole("group", { name: "Interested in" });
  await topics.getByLabel("Support").check();
  await topics.getByLabel("Billing").check();
  await page.getByLabel("The customer has accepted the terms").check();
  const saved = page.waitForRequest((request) => request.url().includes("customers%2Fsave"));
  await page.getByRole("button", { name: "Register" }).click();
  expect((await saved).postDataJSON()).toEqual({
    legal_name: "Ada Lovelace",
    company: null,
    email: "ada@engines.example",
    plan: "enterprise",
    seats: 12,
    topics: ["Billing", "Support"],
  });
  await expect(page.getByRole("list", { name: "Messages" }).getByText("The customer is registered.")).toBeVisible();
  await expect(name).toHaveValue("");
  await expect(page.getByLabel("Seats")).toHaveValue("5");
  await expect(topics.getByLabel("Support")).not.toBeChecked();
  await page.getByRole("tab", { name: "New customer" }).focus();
  await page.keyboard.press("ArrowRight");
  await expect(page.getByRole("row", { name: /Ada Lovelace/ })).toBeVisible();
  await expect(page.getByRole("row", { name: /Grace Hopper/ })).toBeVisible();
  await page.getByRole("tab", { name: "New customer" }).click();
  await name.fill("Ada Again");
  await page.getByRole("textbox", { name: "E-mail" }).fill("ada@engines.example");
  await page.getByRole("combobox", { name: "Plan" }).selectOption("Team");
  await page.getByLabel("The customer has accepted the terms").check();
  await page.getByRole("button", { name: "Register" }).click();
  await expect(page.getByRole("list", { name: "Messages" }).getByText("There is a customer with this e-mail address already.")).toBeVisible();
  await expect(name).toHaveValue("Ada Again");
});

test("the agent fills in shared fields and a button of the page sends a message", async ({ page }) => {
  await open(page, "/intake?name=Grace");
  const chat = new Chat(page);
  await expect(page.getByRole("textbox", { name: "Legal name" })).toHaveValue("Grace");
  await page.getByRole("button", { name: "Let the agent fill it in" }).click();
  await expect(chat.composer).toBeFocused();
  await expect(chat.composer).toHaveValue("Fill in the form for ");
  await chat.ask("Fill in the form for Ada Lovelace at Analytical Engines");
  await expect(page.getByRole("textbox", { name: "Legal name" })).toHaveValue("Ada Lovelace");
  await expect(page.getByRole("textbox", { name: "E-mail" })).toHaveValue("ada.lovelace@analytical-engines.example");
  await page.getByRole("button", { name: "Undo the agent's change of Legal name" }).click();
  await expect(page.getByRole("textbox", { name: "Legal name" })).toHaveValue("Grace");
});

test("the form can be read and filled in before any script runs", async ({ browser, server }) => {
  const context = await browser.newContext({ javaScriptEnabled: false, baseURL: server.url });
  const page = await context.newPage();
  await page.goto("/intake?name=Ada");
  await expect(page.getByRole("textbox", { name: "Legal name" })).toHaveValue("Ada");
  await expect(page.getByLabel("Seats")).toHaveValue("5");
  await expect(page.getByText("Somebody from sales calls")).toBeHidden();
  await context.close();
});
