import { join } from "node:path";
import { first, signUp, toAccount } from "../fixtures/accounts.ts";
import { Chat } from "../fixtures/chat.ts";
import { everySize } from "../fixtures/sizes.ts";
import { expect, test } from "../fixtures/test.ts";
import { ENGLISH } from "../fixtures/words.ts";

test.use({ serverOptions: { config: join(import.meta.dirname, "../configs/agents.yaml") } });
test.describe.configure({ timeout: 180_000 });

/** The agent with a picture goes by its title in the chat. */
const CLERK = { ...ENGLISH, agent: "Order clerk" };

test("a user makes an agent, tries it, restores a version, and shares it with others", async ({ page, server, browser, console }) => {
  console.expect(/status of (404|422)/);
  await first(page, server, "ada");
  await toAccount(page);
  await page.getByRole("link", { name: "Agents", exact: true }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Agents" })).toBeVisible();
  await expect(page.getByText("You have created no agents yet.")).toBeVisible();

  await page.getByRole("link", { name: "New agent" }).click();
  await page.getByLabel("Title").fill("Order clerk");
  await page.getByLabel(/^Name/).fill("order-clerk");
  await page.getByLabel(/^Picture/).fill("🦜");
  await page.getByLabel("Purpose").fill("Knows where orders are");
  await page.getByRole("textbox", { name: "Instructions", exact: true }).fill("Answer in one sentence.");
  await page.getByLabel("Model").selectOption("Thorough");
  await page.getByRole("group", { name: "Knowledge" }).getByLabel("handbook").check();
  await page.getByRole("group", { name: "Tools" }).getByLabel("find_order").check();
  await everySize(page, "agents-new");
  // With the keyboard alone.
  await page.getByRole("button", { name: "Create agent" }).focus();
  await page.keyboard.press("Enter");
  await expect(page.getByText("Saved.")).toBeVisible();
  await everySize(page, "agents-one");

  await page.getByRole("link", { name: "Try it" }).click();
  const chat = new Chat(page, CLERK);
  await expect(page.getByRole("heading", { level: 1, name: "Order clerk" })).toBeVisible();
  await everySize(page, "agents-chat");
  await chat.ask("Where is my order?");
  await expect(chat.log.getByText("🦜").first()).toBeVisible();
  const agent = new URL(page.url()).pathname;

  // A change is a version, and an earlier one can be restored.
  await page.goto(`/account/agents${agent}`);
  await page.getByRole("textbox", { name: "Instructions", exact: true }).fill("Answer at length.");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await expect(page.getByRole("button", { name: "Restore version 1" })).toBeVisible();
  await page.getByRole("button", { name: "Restore version 1" }).click();
  await expect(page.getByRole("textbox", { name: "Instructions", exact: true })).toHaveValue("Answer in one sentence.");
  await expect(page.getByText(/^Version 3 ·/)).toBeVisible();

  // Another user sees it only once it is shared.
  const other = await browser.newContext({ baseURL: server.url });
  const bob = await other.newPage();
  await signUp(bob, "bob");
  await bob.goto("/account/agents");
  await expect(bob.getByText("Nobody has shared an agent with you.")).toBeVisible();
  expect((await bob.request.get(agent)).status()).toBe(404);
  await page.getByLabel("Everybody who may use custom agents").check();
  await page.getByRole("button", { name: "Save sharing" }).click();
  await expect(page.getByLabel("Everybody who may use custom agents")).toBeChecked();
  await bob.reload();
  await bob.getByRole("link", { name: "Chat with Order clerk" }).click();
  await new Chat(bob, CLERK).ask("Where is my order?");
  await bob.goto("/account/agents");
  await everySize(bob, "agents-shared");

  // An administrator, who is ada here, switches it off.
  await page.goto("/admin/own-agents");
  await everySize(page, "agents-admin");
  await page.getByRole("button", { name: "Switch off: Order clerk" }).click();
  await expect(page.getByRole("button", { name: "Switch on: Order clerk" })).toBeVisible();
  await bob.reload();
  await expect(bob.getByText("Nobody has shared an agent with you.")).toBeVisible();
  await page.goto(`/account/agents${agent}`);
  await expect(page.getByRole("alert")).toContainText("An administrator has switched this agent off");
  await other.close();

  await page.getByRole("link", { name: "Delete…" }).click();
  await page.getByRole("button", { name: "Delete agent" }).click();
  await expect(page.getByText("You have created no agents yet.")).toBeVisible();
});

test("a user says how they want to be answered", async ({ page, server }) => {
  await first(page, server, "ada");
  await toAccount(page);
  await page.getByRole("link", { name: "How to answer me" }).click();
  const text = page.getByRole("textbox", { name: "How agents should answer you" });
  await text.fill("Briefly, with the result first.");
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByText("It applies to new conversations.")).toBeVisible();
  await expect(text).toHaveValue("Briefly, with the result first.");
  await everySize(page, "profile");
  await page.goto("/");
  await new Chat(page).ask("Hello");
  await page.goto("/account/profile");
  await page.getByRole("button", { name: "Delete" }).click();
  await expect(text).toHaveValue("");
});
