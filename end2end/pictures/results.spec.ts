import { join } from "node:path";
import { Chat } from "../fixtures/chat.ts";
import { ROOT, picture } from "../fixtures/picture.ts";
import { expect, open, test } from "../fixtures/test.ts";
import { Told } from "../fixtures/told.ts";

test.use({ serverOptions: { config: join(ROOT, "end2end/configs/results.yaml") } });

test("pictures of a tool", async ({ page }, info) => {
  await open(page, "/pictures");
  await new Chat(page).ask("search for orders");
  await picture(page, info, "results-pictures");
});

test("what a remote tool shows", async ({ page, console }, info) => {
  console.expect(/Blocked script execution in 'about:srcdoc'/);
  await open(page, "/shop");
  await new Chat(page).ask("search for chairs");
  await picture(page, info, "results-remote");
});

test("what another agent did", async ({ page }, info) => {
  await open(page, "/chief");
  await new Chat(page).ask("search for the price of the chair");
  for (const name of ["Researcher", "Accountant"]) {
    await page.locator("summary", { hasText: name }).press("Enter");
  }
  await page.locator("summary", { hasText: "Researcher" }).scrollIntoViewIfNeeded();
  await picture(page, info, "results-agent");
});

test("calls that go on, and one that waits", async ({ page }, info) => {
  const told = await Told.on(page);
  await open(page, "/chief");
  await new Chat(page).send("compare the shops");
  const call = (toolCallId: string, toolName: string, input: object) => ({ type: "tool-input-available", toolCallId, toolName, input });
  const agent = (state: string, more: object) => ({ _subAgent: true, agentId: "buyer", state, steps: [], text: "", ...more });
  const read = { type: "tool", id: "a", name: "read_page", state: "done", input: { url: "shop.example/oak" }, durationMs: 840 };
  const data = { name: "files", message: "The server cannot be reached." };
  await told.tell(
    { type: "start", messageId: "m1" },
    { type: "data-source-unavailable", id: "files", data },
    call("1", "index_articles", {}),
    call("2", "researcher", { task: "Find the price" }),
    call("3", "buyer", { task: "Tidy up" }),
  );
  await told.progress("1", { progress: 3, total: 10, message: "Reading the third of ten articles" });
  const search = { ...read, id: "b", name: "search_web", state: "running", input: { query: "oak chairs" } };
  await told.progress("2", { ...agent("running", { steps: [read, search] }), agentId: "researcher" });
  const waiting = { toolName: "place_order", input: { chair: "Oak", count: 2 } };
  await told.progress("3", agent("waiting", { steps: [read, { ...read, id: "b", name: "place_order", state: "waiting" }], waiting }));
  await page.locator("summary", { hasText: "Researcher" }).press("Enter");
  await expect(page.locator("summary", { hasText: "oak chairs" })).toBeVisible();
  await picture(page, info, "results-running");
});

test("what an agent below wants to do", async ({ page }, info) => {
  await open(page, "/editor");
  await new Chat(page).ask("search for delete the article about refunds");
  await expect(new Chat(page).approval).toBeVisible();
  await page.locator("summary", { hasText: "Search desk" }).press("Enter");
  await picture(page, info, "results-approval");
});
