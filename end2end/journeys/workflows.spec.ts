import { join } from "node:path";
import type { Page } from "@playwright/test";
import { accessible, fits } from "../fixtures/axe.ts";
import { expect, test } from "../fixtures/test.ts";

test.use({ serverOptions: { config: join(import.meta.dirname, "../configs/workflows.yaml") } });

const PHONE = { width: 375, height: 720 };
const WIDE = { width: 1280, height: 900 };
const KEY = { authorization: "Bearer a-key-of-the-shop-1234" };

/** Opens a page that has no chat, and waits until it is alive. */
async function visit(page: Page, path: string): Promise<void> {
  await page.goto(path);
  await expect(page.locator("html[data-alive]")).toHaveCount(1, { timeout: 30_000 });
}

/** Takes a picture to look at, if a folder for it is named. */
async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env.PICTURES;
  if (folder !== undefined) {
    await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
  }
}

async function deliver(page: Page, text: string): Promise<void> {
  const sent = await page.request.post("/api/hooks/order/arrived", { headers: KEY, data: { text } });
  expect(sent.status()).toBe(202);
}

/** Opens the newest run in the console. */
async function newestRun(page: Page): Promise<void> {
  await page.goto("/admin/workflows");
  await page.getByRole("row").nth(1).getByRole("link").first().click();
}

test("a webhook starts a run, a person fills in its form on a phone, and it ends", async ({ page, console }) => {
  // The server refuses what the form does not know.
  console.expect(/status of 422/);
  test.setTimeout(120_000);
  expect((await page.request.post("/api/endpoints/runs/repair", { data: {} })).ok()).toBe(true);
  await page.setViewportSize(PHONE);
  await visit(page, "/tasks");
  await expect(page.getByText("Nothing waits for you now.")).toBeVisible();
  await deliver(page, "customer: Acme, amount: 620");
  // The page finds out by itself.
  const card = page.getByRole("group", { name: "How is the order of Acme delivered?" });
  await expect(card).toBeVisible({ timeout: 40_000 });
  await expect(page).toHaveTitle("(1) Tasks");
  await expect(page.getByRole("status").filter({ hasText: "1 task waits for you" })).toHaveCount(1);
  await fits(page);
  await picture(page, "task-phone");
  // Problems are shown beside their fields, and the form is not sent.
  await card.getByLabel("Boxes").fill("many");
  await card.getByLabel("Street").fill("Main Street 1");
  await card.getByRole("button", { name: "Answer" }).click();
  await expect(card.getByLabel("Delivery day")).toBeFocused();
  await expect(card.getByLabel("Delivery day")).toHaveAccessibleDescription("This field is required.");
  await expect(card.getByLabel("Boxes")).toHaveAccessibleDescription("Enter a whole number.");
  await expect(card.getByRole("alert")).toHaveText("Check the marked fields.");
  await accessible(page);
  await picture(page, "task-phone-errors");
  await card.getByLabel("Delivery day").fill("2026-12-24");
  await card.getByLabel("Boxes").fill("3");
  await card.getByLabel("By").selectOption("bike");
  await card.getByLabel("insurance").check();
  await card.getByLabel("City").fill("oslo");
  await card.getByLabel("Note for the driver").fill("Ring twice.\nThen wait.");
  await card.getByLabel("Comment").fill("As agreed.");
  await card.getByRole("button", { name: "Answer" }).click();
  // The server knows the pattern; what was entered stays.
  await expect(card.getByLabel("City")).toHaveAttribute("aria-invalid", "true");
  await expect(card.getByLabel("Street")).toHaveValue("Main Street 1");
  await card.getByLabel("City").fill("Oslo");
  await card.getByLabel("City").press("Enter");
  await expect(card.getByText("Answered. The run continues.")).toBeFocused();
  await expect(page).toHaveTitle("Tasks");
  await picture(page, "task-phone-done");
  await newestRun(page);
  await expect(page.getByRole("definition").filter({ hasText: "Done" }).first()).toBeVisible({ timeout: 20_000 });
  // On a phone the steps are a list.
  await expect(page.getByRole("list", { name: "Steps of the run" })).toBeVisible();
  await expect(page.getByRole("group", { name: "Steps of the run" })).toBeHidden();
  await fits(page);
  await accessible(page);
  await picture(page, "console-run-phone");
  await page.setViewportSize(WIDE);
  await page.getByRole("group", { name: "Steps of the run" }).getByRole("link", { name: /delivery/ }).press("Enter");
  await expect(page.getByText("Ring twice.")).toBeVisible();
  await accessible(page);
  await picture(page, "console-run-wide");
  await page.emulateMedia({ colorScheme: "dark" });
  await picture(page, "console-run-dark");
});

test("approvals and choices are answered by keyboard, and the list of conversations points to them", async ({ page, console }) => {
  console.expect(/status of 409/);
  expect((await page.request.post("/api/workflows/holiday/runs", { data: {} })).status()).toBe(201);
  await page.setViewportSize(WIDE);
  await visit(page, "/");
  const link = page.getByRole("link", { name: "1 task waits for you" });
  await expect(link).toBeVisible({ timeout: 40_000 });
  await expect(page).toHaveTitle("(1) Support");
  await picture(page, "list-mark");
  await link.click();
  const card = page.getByRole("group", { name: "Is a holiday from Monday to Friday fine?" });
  await expect(card.getByText("Ada asks for five days.")).toBeVisible();
  await accessible(page);
  await picture(page, "task-approve-wide");
  // A line break in the comment decides nothing.
  await card.getByLabel("Comment").fill("Enjoy it.");
  await card.getByLabel("Comment").press("Enter");
  await expect(card.getByRole("button", { name: "Approve" })).toBeVisible();
  await card.getByRole("button", { name: "Approve" }).press("Enter");
  await expect(card.getByText("Approved. The run continues.")).toBeFocused();
  const choice = page.getByRole("group", { name: "Who covers?" });
  await expect(choice).toBeVisible({ timeout: 40_000 });
  await choice.getByRole("button", { name: "Answer" }).click();
  await expect(choice.getByRole("alert")).toHaveText("Choose an answer.");
  await choice.getByLabel("Bob").press("ArrowDown");
  await expect(choice.getByLabel("Carol")).toBeChecked();
  // If another user answers first, the page says that this choice is not used.
  const [task] = (await (await page.request.get("/api/workflows/tasks")).json()).items;
  await page.request.post(`/api/workflows/tasks/${task.id}`, { data: { choice: "Bob" } });
  await choice.getByRole("button", { name: "Answer" }).click();
  await expect(choice.getByText("This task is closed")).toBeFocused();
});

test("what an approval is about must have been seen before it can be approved", async ({ page }) => {
  let deep: unknown = "the deepest";
  for (let level = 0; level < 8; level += 1) {
    deep = [deep];
  }
  const lines = Array.from({ length: 103 }, (_, at) => `line ${at}`);
  const input = { to: "pay \u202e001\u202c EUR", lines, deep };
  expect((await page.request.post("/api/workflows/payment/runs", { data: { input } })).status()).toBe(201);
  await page.setViewportSize(PHONE);
  await visit(page, "/tasks");
  const card = page.getByRole("group", { name: "Pay this?" });
  await expect(card).toBeVisible({ timeout: 40_000 });
  await expect(card).toContainText("pay U+202E001U+202C EUR");
  await expect(card).toContainText("Payments U+202Eknab");
  const approve = card.getByRole("button", { name: "Approve" });
  const status = card.getByRole("status");
  await expect(status).toHaveText("2 parts are not shown yet. Show them before you approve.");
  // Longer than the time for which a card that has just appeared cannot be approved.
  await page.waitForTimeout(700);
  await expect(approve).toBeDisabled();
  await expect(card.getByRole("button", { name: "Reject" })).toBeEnabled();
  await expect(card).not.toContainText("line 102", { useInnerText: true });
  await card.locator("summary", { hasText: "Show 3 more entries" }).press("Enter");
  await expect(status).toHaveText("1 part is not shown yet. Show it before you approve.");
  await expect(approve).toBeDisabled();
  await card.getByRole("button", { name: "Show all" }).press("Enter");
  await expect(card.getByText("the deepest")).toBeVisible();
  await expect(card.getByText("line 102")).toBeVisible();
  for (const edge of await card.locator(".cw-approval-edge").all()) {
    await edge.evaluate((element) => element.scrollIntoView());
    await page.waitForTimeout(100);
  }
  await expect(status).toHaveText("All parts are shown.");
  await accessible(page);
  await fits(page);
  await picture(page, "task-seen-phone");
  await approve.press("Enter");
  await expect(card.getByText("Approved. The run continues.")).toBeFocused();
});

test("a call of an agent without a chat is decided on with the tasks", async ({ page }) => {
  const asked = { agent_name: "keeper", input: { prompt: "Delete the article Gears" }, mode: "queued" };
  const { run_id } = await (await page.request.post("/api/runs", { data: asked })).json();
  await page.setViewportSize(PHONE);
  await visit(page, "/tasks");
  const card = page.getByRole("group", { name: "delete_article" });
  await expect(card).toBeVisible({ timeout: 40_000 });
  await expect(card.getByText("Keeper")).toBeVisible();
  await expect(card.getByText("Gears")).toBeVisible();
  await expect(page).toHaveTitle("(1) Tasks");
  await accessible(page);
  await fits(page);
  await picture(page, "task-call-phone");
  await card.getByRole("button", { name: "Approve" }).click();
  await expect(card.getByText("Approved. The run continues.")).toBeFocused();
  await expect(page).toHaveTitle("Tasks");
  const run = async () => (await (await page.request.get(`/api/runs/${run_id}`)).json()).status;
  await expect.poll(run, { timeout: 20_000 }).toBe("succeeded");
});

test("a user starts a run with a form, and retries a step that has failed", async ({ page }) => {
  test.setTimeout(120_000);
  await page.setViewportSize(WIDE);
  await visit(page, "/runs");
  await accessible(page);
  await picture(page, "runs-start");
  await page.getByRole("button", { name: "Start" }).click();
  await expect(page.getByLabel("The order")).toBeFocused();
  await page.getByLabel("The order").fill("customer: Ada, amount: 20");
  await page.getByLabel("Channel").selectOption("shop");
  await page.getByRole("button", { name: "Start" }).click();
  const graph = page.getByRole("group", { name: "Steps of the run" });
  await expect(graph.getByRole("button", { name: /^extract/ })).toBeVisible();
  // There is no table.
  const post = graph.getByRole("button", { name: /^post.*Failed/ });
  await expect(post).toBeVisible({ timeout: 30_000 });
  await post.press("Enter");
  await expect(post).toHaveAttribute("aria-pressed", "true");
  await expect(page.getByRole("button", { name: "Retry from here" })).toBeVisible();
  await accessible(page);
  await picture(page, "runs-failed");
  expect((await page.request.post("/api/endpoints/runs/repair", { data: {} })).ok()).toBe(true);
  await page.getByRole("button", { name: "Retry the failed steps" }).click();
  await expect(graph.getByRole("button", { name: /^post.*Done/ })).toBeVisible({ timeout: 30_000 });
  await page.emulateMedia({ colorScheme: "dark" });
  await picture(page, "runs-done-dark");
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize(PHONE);
  await fits(page);
  await picture(page, "runs-done-phone");
  await page.getByRole("button", { name: "All runs" }).click();
  await expect(page.getByRole("list", { name: "Runs" }).getByRole("button", { name: /Done.*Order/ })).toBeVisible();
  await fits(page);
  await picture(page, "runs-list-phone");
});

test("an operator pauses a trigger and answers a question in the console", async ({ page, console }) => {
  console.expect(/status of (422|503)/);
  test.setTimeout(120_000);
  await page.setViewportSize(WIDE);
  await page.goto("/admin");
  const groups = page.getByRole("navigation", { name: "Admin console" });
  await groups.getByRole("link", { name: "Work" }).click();
  await expect(groups.getByRole("link", { name: "Work" })).toHaveAttribute("aria-current", "true");
  const pages = page.getByRole("navigation", { name: "Work" });
  await pages.getByRole("link", { name: "Triggers" }).click();
  await picture(page, "console-menu");
  await page.getByRole("link", { name: "arrived" }).click();
  await page.getByRole("button", { name: "Pause" }).click();
  expect((await page.request.post("/api/hooks/order/arrived", { headers: KEY, data: { text: "x" } })).status()).toBe(503);
  await page.getByRole("button", { name: "Resume" }).click();
  await deliver(page, "customer: Bob, amount: 500");
  await expect(async () => {
    await page.goto("/admin/workflow-tasks");
    await expect(page.getByRole("link", { name: "How is the order of Bob delivered?" })).toBeVisible({ timeout: 500 });
  }).toPass();
  await page.getByRole("link", { name: "How is the order of Bob delivered?" }).click();
  await accessible(page);
  await page.getByLabel("Boxes").fill("99");
  await page.getByLabel("Note for the driver").fill("First line\nsecond");
  await page.getByRole("button", { name: "Answer", exact: true }).click();
  await expect(page.getByLabel("Boxes")).toHaveAccessibleDescription(/at most 20/);
  await expect(page.getByLabel("Note for the driver")).toHaveValue("First line\nsecond");
  await accessible(page);
  await picture(page, "console-task-errors");
  await page.getByLabel("Boxes").fill("9");
  await page.getByLabel("Delivery day").fill("2026-12-24");
  await page.getByLabel("Address: City").fill("Oslo");
  await page.getByRole("button", { name: "Answer", exact: true }).click();
  // The page of the run follows it without being loaded again.
  await expect(page.getByRole("group", { name: "Steps of the run" }).getByRole("link", { name: /^post/ })).toBeVisible({ timeout: 20_000 });
  await page.setViewportSize(PHONE);
  await page.goto("/admin/triggers");
  await fits(page);
  await picture(page, "console-menu-phone");
});

test("an administrator writes a definition, mends it, compares versions and rolls back", async ({ page, console }) => {
  // The server refuses a definition with errors.
  console.expect(/status of 422/);
  await page.setViewportSize(WIDE);
  await page.goto("/admin/workflow-definitions");
  await accessible(page);
  await picture(page, "definitions");
  await expect(page.getByRole("row", { name: /order/ })).toContainText(/Config, .*workflows\.yaml:\d+:\d+/);
  await page.getByRole("link", { name: "New definition" }).click();
  const text = page.getByLabel("Definition (YAML)");
  const definition = "id: greet\nsteps:\n  - id: pause\n    type: wait\n    seconds: 1\noutput: one\n";
  await text.fill(definition.replace("wait", "wiat"));
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByRole("alert")).toContainText("Line 4, column 11: there is no type of step `wiat` – did you mean `wait`?");
  await expect(text).toHaveValue(/wiat/);
  await accessible(page);
  await picture(page, "definition-errors");
  await text.fill(definition);
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByRole("status")).toContainText("Saved.");
  await text.fill(definition.replace("output: one", "output: two\ntitle: Greets"));
  await page.getByRole("button", { name: "Save" }).click();
  await accessible(page);
  await picture(page, "definition");
  await page.getByRole("link", { name: "Changes since version 1" }).click();
  await expect(page.getByRole("deletion").filter({ hasText: "output: one" })).toHaveText("- output: one");
  await expect(page.getByRole("insertion")).toHaveText(["+ title: Greets", "+ output: two"]);
  await accessible(page);
  await picture(page, "definition-changes");
  await page.emulateMedia({ colorScheme: "dark" });
  await page.setViewportSize(PHONE);
  await accessible(page);
  await fits(page);
  await picture(page, "definition-changes-phone-dark");
  await page.getByRole("link", { name: "Back to the definition" }).click();
  await fits(page);
  await picture(page, "definition-phone-dark");
  await page.getByRole("button", { name: "Roll back to version 1" }).click();
  await expect(text).toHaveValue(definition);
  const exported = await page.request.get("/admin/workflow-definitions/greet/yaml");
  expect(await exported.text()).toContain("workflows:\n  - id: greet\n");
  const started = await page.request.post("/api/workflows/greet/runs", { data: {} });
  expect(started.status()).toBe(201);
  await page.getByRole("button", { name: "Delete definition" }).click();
  await expect(page.getByRole("row", { name: /greet/ })).toHaveCount(0);
  expect((await page.request.post("/api/workflows/greet/runs", { data: {} })).status()).toBe(404);
});

test("a command of the composer starts a workflow with a form, the card asks, and the result comes into the conversation", async ({ page, console }) => {
  // The server refuses what the form does not know.
  console.expect(/status of 422/);
  test.setTimeout(120_000);
  expect((await page.request.post("/api/endpoints/runs/repair", { data: {} })).ok()).toBe(true);
  await page.setViewportSize(WIDE);
  await visit(page, "/desk");
  const composer = page.getByRole("textbox", { name: "Message" });
  await composer.fill("/");
  const commands = page.getByRole("listbox", { name: "Commands" });
  await expect(commands.getByRole("option")).toHaveText(["/orderOrder", "/days-offHoliday"]);
  await picture(page, "command-list");
  // By keyboard alone.
  await composer.fill("/or");
  await composer.press("Enter");
  const form = page.getByRole("region", { name: "Order" });
  await expect(form.getByLabel("The order")).toBeFocused();
  await expect(composer).toHaveValue("");
  await accessible(page);
  await form.getByRole("button", { name: "Start" }).click();
  await expect(form.getByLabel("The order")).toHaveAccessibleDescription(/This field is required\./);
  await picture(page, "command-form");
  await page.emulateMedia({ colorScheme: "dark" });
  await page.setViewportSize(PHONE);
  await fits(page);
  await picture(page, "command-form-phone-dark");
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize(WIDE);
  // Escape gives the composer back, and the form begins anew.
  await form.getByLabel("The order").press("Escape");
  await expect(composer).toBeFocused();
  await expect(form).toHaveCount(0);
  await composer.fill("/order");
  await commands.getByRole("option", { name: "/order" }).click();
  // The server's problem stands beside its field.
  await form.getByLabel("The order").fill("a");
  await form.getByRole("button", { name: "Start" }).click();
  await expect(form.getByLabel("The order")).toHaveAttribute("aria-invalid", "true");
  await form.getByLabel("The order").fill("customer: Acme, amount: 620");
  await form.getByLabel("Channel").selectOption("phone");
  await form.getByRole("button", { name: "Start" }).click();
  await expect(composer).toBeFocused({ timeout: 20_000 });
  await expect(form.getByRole("button", { name: "Start" })).toHaveCount(0);
  const log = page.getByRole("log");
  await expect(log.getByText("The order: customer: Acme, amount: 620")).toBeVisible();
  // The card has the question with its form.
  const card = log.getByRole("group", { name: "Order", exact: true }).first();
  const question = card.getByRole("group", { name: "How is the order of Acme delivered?" });
  await expect(question).toBeVisible({ timeout: 40_000 });
  await accessible(page);
  await picture(page, "command-card");
  await page.setViewportSize(PHONE);
  await fits(page);
  await picture(page, "command-card-phone");
  await page.setViewportSize(WIDE);
  // The conversation is there after a reload, and the list marks it.
  await page.reload();
  await expect(page.locator("html[data-alive]")).toHaveCount(1, { timeout: 30_000 });
  await expect(page.getByRole("link", { name: /Order/ }).first()).toBeVisible();
  await question.getByLabel("Delivery day").fill("2026-12-24");
  await question.getByLabel("Boxes").fill("3");
  await question.getByLabel("City").fill("Oslo");
  await question.getByRole("button", { name: "Answer" }).click();
  const result = log.getByRole("group", { name: "Order", exact: true }).nth(1);
  await expect(result.getByText("Done")).toBeVisible({ timeout: 40_000 });
  await expect(result.getByText("Acme")).toBeVisible();
  await accessible(page);
  await picture(page, "command-result");
  await page.emulateMedia({ colorScheme: "dark" });
  await picture(page, "command-result-dark");
  await page.setViewportSize(PHONE);
  await fits(page);
  await picture(page, "command-result-phone-dark");
  // The agent goes on talking, and can start the same workflow.
  await composer.fill("Start days-off: now");
  await composer.press("Enter");
  // The answer of the first workflow is private data from outside, so the second one needs an approval.
  await log.getByRole("group", { name: "Approval: Days off" }).getByRole("button", { name: "Approve" }).click();
  await expect(log.getByRole("group", { name: "Is a holiday from Monday to Friday fine?" })).toBeVisible({ timeout: 40_000 });
});
