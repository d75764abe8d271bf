import { join } from "node:path";
import { Chat } from "../fixtures/chat.ts";
import { alive, expect, open, test } from "../fixtures/test.ts";
import { Told } from "../fixtures/told.ts";

test.use({ serverOptions: { config: join(import.meta.dirname, "../configs/results.yaml") } });

test("space is reserved for pictures and sound", async ({ page }) => {
  await open(page, "/pictures");
  await new Chat(page).ask("search for orders");
  const picture = page.getByRole("img", { name: "Picture from Search pictures" });
  await expect(picture).toBeVisible();
  await expect.poll(() => picture.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(160);
  const height = (await picture.boundingBox())?.height ?? 0;
  await expect(page.getByText("A file that cannot be shown here (image/svg+xml)")).toBeVisible();
  const sound = page.getByLabel("Sound from Search pictures");
  await expect.poll(() => sound.evaluate((audio: HTMLAudioElement) => audio.duration)).toBeGreaterThan(0);
  await page.getByRole("checkbox", { name: "Enlarge" }).press("Space");
  expect((await picture.boundingBox())?.height).toBeGreaterThan(height);
  // The same after a reload, when the server renders it.
  await page.reload();
  await expect(picture).toBeVisible();
});

test("HTML of a remote tool is shown without any rights on the page", async ({ page, console }) => {
  console.expect(/Blocked script execution in 'about:srcdoc'/);
  await open(page, "/shop");
  await new Chat(page).ask("search for chairs");
  const frame = page.locator("iframe");
  await expect(frame).toHaveAttribute("sandbox", "");
  await expect(page.frameLocator("iframe").getByRole("heading", { name: "Chairs" })).toBeVisible();
  await expect(page.getByRole("link", { name: /^Terms of sale/ })).toHaveAttribute("rel", /noopener noreferrer/);
  await expect(page.getByText("In stock")).toBeVisible();
});

test("the steps of a sub-agent can be read by keyboard", async ({ page }) => {
  await open(page, "/chief");
  await new Chat(page).ask("search for the price of the chair");
  const card = page.locator("summary", { hasText: "Researcher" });
  await card.press("Enter");
  await expect(page.getByRole("cell", { name: "Taxes" }).first()).toBeVisible();
  await expect(page.getByText("7.4 s · $0.0123")).toBeVisible();
  await page.locator("summary", { hasText: "Accountant" }).press("Enter");
  await page.locator("summary", { hasText: "Calculate" }).press("Enter");
  await expect(page.getByText("144", { exact: true }).first()).toBeVisible();
});

test("a call of a sub-agent is approved after a reload", async ({ page }) => {
  await open(page, "/editor");
  const chat = new Chat(page);
  await chat.ask("search for delete the article about refunds");
  await expect(chat.approval).toContainText("The agent Search desk wants to run “Delete article”");
  await expect(chat.approval).toContainText("Refunds");
  await page.reload();
  await expect(chat.approval).toBeVisible();
  await alive(page);
  const card = page.locator("details", { hasText: "Search desk" }).first();
  await expect(card).toHaveAttribute("data-state", "waiting");
  await chat.approval.getByRole("button", { name: "Approve" }).click();
  await expect(card).toHaveAttribute("data-state", "done", { timeout: 30_000 });
  await chat.idle();
  await card.locator("summary").first().press("Enter");
  await expect(card.locator("summary", { hasText: "Delete article" })).toBeVisible();
  await expect(card.getByText("the article is deleted")).toBeVisible();
});

test("progress updates the card of a call in place", async ({ page, console }) => {
  // The server does not know the simulated conversation.
  console.expect(/404/);
  const told = await Told.on(page);
  await open(page, "/chief");
  await new Chat(page).send("go");
  const call = (toolCallId: string, toolName: string, input: object) => ({ type: "tool-input-available", toolCallId, toolName, input });
  await told.tell({ type: "start", messageId: "m1" }, call("1", "index", {}), call("2", "researcher", { task: "Find it" }));
  await told.progress("1", { progress: 1, total: 4, message: "Reading" });
  const card = page.locator("details", { hasText: "Index" });
  const bar = card.getByRole("progressbar", { name: "Progress" });
  await expect(bar).toHaveAttribute("value", "1");
  await card.evaluate((element) => element.setAttribute("data-same", ""));
  const turns = () => card.locator("svg").first().evaluate((icon) => icon.getAnimations()[0]?.startTime);
  const begun = await turns();
  await told.progress("1", { progress: 3, total: 4, message: "Writing" });
  await expect(card.locator("summary")).toContainText("Writing");
  await expect(bar).toHaveAttribute("value", "3");
  await expect(card).toHaveAttribute("data-same", "");
  await expect(card).toHaveAttribute("data-state", "running");
  expect(await turns()).toBe(begun);

  const agent = (state: string, more: object) => ({ _subAgent: true, agentId: "researcher", state, steps: [], text: "", ...more });
  const step = { type: "tool", id: "a", name: "read_page", state: "running", input: { url: "a.example" } };
  await told.progress("2", agent("running", { steps: [step] }));
  const helper = page.locator("details", { hasText: "Researcher" }).first();
  await expect(helper.locator("summary").first()).toContainText("Read page");
  await helper.locator("summary").first().press("Enter");
  const done = { ...step, state: "done", output: { price: 120 }, durationMs: 900 };
  await helper.locator("summary", { hasText: "a.example" }).press("Enter");
  await told.progress("2", agent("running", { steps: [done], text: "It costs **12" }));
  await expect(helper.locator("strong")).toHaveText("12");
  await expect(helper.getByText("Price")).toBeVisible();

  // The sub-agent needs approval to delete; its steps stay visible.
  const waiting = { toolName: "delete_article", input: { title: "Refunds" } };
  await told.progress("2", agent("waiting", { steps: [done, { ...step, id: "b", name: "delete_article", state: "waiting" }], waiting }));
  await told.tell(
    { type: "tool-output-available", toolCallId: "1", output: { pages: 4 } },
    { type: "tool-approval-request", approvalId: "x", toolCallId: "2" },
    { type: "finish", messageMetadata: { outcome: "waiting" } },
    null,
  );
  const approval = new Chat(page).approval;
  await expect(approval).toContainText("The agent Researcher wants to run “Delete article”");
  await expect(approval).toContainText("Refunds");
  await expect(helper).toHaveAttribute("data-state", "waiting");
  await expect(helper.getByText("Price")).toBeVisible();
  await approval.getByRole("button", { name: "Approve" }).click();
  await expect(approval).toHaveCount(0);
  await expect(helper).toHaveAttribute("data-state", "running");
  await expect(helper.getByText("Price")).toBeVisible();
});

test("unavailable tools are reported in one line", async ({ page }) => {
  const told = await Told.on(page);
  await open(page, "/chief");
  await new Chat(page).send("go");
  const data = { name: "files", message: "The server cannot be reached." };
  await told.tell({ type: "start", messageId: "m1" }, { type: "data-source-unavailable", id: "files", data });
  await expect(page.getByRole("log")).toContainText("files: The server cannot be reached.");
});
