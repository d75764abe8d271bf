import { Chat } from "../fixtures/chat.ts";
import { List } from "../fixtures/list.ts";
import { configured } from "../fixtures/configured.ts";
import { Provider } from "../fixtures/provider.ts";
import { alive, expect, open, test } from "../fixtures/test.ts";

/** An agent that may ask its model once, so that an answer with a call ends at that limit. */
const limited = (url: string) => `
connections: [{ id: model, type: OpenAICompatible, properties: { baseURL: "${url}", apiKey: none } }]
agents: [{ id: helper, type: Agent, connectionId: model, properties: { model: m, limits: { requests: 1 } }, tools: [find] }]
api: [{ id: find, description: Finds., payloadSchema: { type: object }, routine: [{ ":return": { found: 1 } }] }]
pages: [{ id: desk, blocks: [{ id: chat, type: AgentChat, properties: { agentId: helper } }] }]
`;

const limitedTest = test.extend({
  server: async ({}, use) => {
    const provider = await Provider.start((_, text) => (text.includes("find") ? [{ name: "find", arguments: {} }] : "Hello."));
    await configured(provider, limited(provider.url), use);
  },
});

limitedTest("the limit at which an answer ended stays named after the next message and a reload", async ({ page }) => {
  await open(page, "/desk");
  const chat = new Chat(page);
  await chat.ask("find it");
  const answer = chat.answers.first();
  const limit = "The agent reached its limit of model requests for one answer.";
  await expect(answer.getByText(`${limit} Continue to allow more.`)).toBeVisible();
  await chat.ask("hello");
  await expect(answer.getByText(limit, { exact: true })).toBeVisible();
  await page.reload();
  await expect(answer.getByText(limit, { exact: true })).toBeVisible();
  const file = await page.request.get(`/api/conversations/${new URL(page.url()).searchParams.get("conversation")}/export?format=markdown`);
  expect(await file.text()).toContain(limit);
});

const cutOffTest = test.extend({
  server: async ({}, use) => {
    let asked = 0;
    const provider = await Provider.start(() => ((asked += 1) === 1 ? { cutOff: "One, two," } : "three."));
    await configured(provider, limited(provider.url).replace("limits: { requests: 1 }", "maxOutputTokens: 4"), use);
  },
});

cutOffTest("an answer that the provider cut off is marked, wherever it is read, and goes on", async ({ page, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await open(page, "/desk");
  const chat = new Chat(page);
  await chat.ask("count");
  const answer = chat.answers.first();
  const limit = "The model reached its length limit for one answer.";
  const notice = answer.getByText(`${limit} Continue to allow more.`);
  await expect(notice).toBeVisible();
  await page.reload();
  await expect(notice).toBeVisible();
  await alive(page);
  await answer.getByRole("button", { name: "Copy answer" }).click();
  await expect(answer.getByRole("button", { name: "Copied" })).toBeVisible();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(`One, two,\n\n[${limit}]`);
  const id = new URL(page.url()).searchParams.get("conversation");
  const file = await page.request.get(`/api/conversations/${id}/export?format=markdown`);
  expect(await file.text()).toContain(`*This answer ended at a limit, before its end. ${limit}*`);
  await page.getByRole("button", { name: "Continue" }).click();
  await expect(answer).toContainText("three.");
  await chat.idle();
  await expect(answer).toContainText("One, two,");
  await expect(page.getByText(limit)).toHaveCount(0);
});

test("an answer that was stopped stays marked, wherever it is read", async ({ page, server }) => {
  await open(page);
  const chat = new Chat(page);
  await chat.startCounting(1500, 5);
  await chat.stopButton.click();
  await chat.idle();
  const stopped = chat.answers.first();
  await expect(stopped.getByText("Stopped.")).toBeVisible();
  await expect(stopped.getByRole("button", { name: "Continue" })).toBeVisible();
  await chat.ask("What can you do?");
  await expect(stopped.getByText("Stopped.")).toBeVisible();
  // Later messages build on the stopped answer: only the newest answer can be continued.
  await expect(page.getByRole("button", { name: "Continue" })).toHaveCount(0);
  await page.reload();
  await expect(stopped.getByText("Stopped.")).toBeVisible();
  await expect(page.getByText("Stopped.")).toHaveCount(1);
  const id = new URL(page.url()).searchParams.get("conversation");
  const api = `${server.url}/api/conversations/${id}`;
  expect(await (await page.request.get(`${api}/export?format=markdown`)).text()).toContain("*This answer was stopped before its end.*");
  const file = (await (await page.request.get(`${api}/export?format=json`)).json()) as { messages: { message: { metadata: { outcome?: string } } }[] };
  expect(file.messages.map(({ message }) => message.metadata.outcome)).toEqual([undefined, "stopped", undefined, "done"]);
  // The search finds the newest matching message: the stopped answer, and the question, which has no mark.
  await alive(page);
  const search = page.getByRole("searchbox", { name: "Search conversations" });
  const finds = page.getByRole("navigation", { name: "Conversations" }).locator(".cw-find");
  await search.fill("3 4 5");
  await expect(finds.first()).toContainText("Stopped.");
  await search.fill("1500");
  await expect(finds).toHaveCount(1);
  await expect(finds).not.toContainText("Stopped.");
  const shared = await page.request.post(`${api}/shares`, { data: {} });
  await page.goto(`/shared/${((await shared.json()) as { id: string }).id}`);
  await expect(page.getByRole("article").nth(1)).toContainText("Stopped.");
  await expect(page.getByText("Stopped.")).toHaveCount(1);
});

test("a failed answer can be retried after later messages", async ({ page }) => {
  await open(page);
  const chat = new Chat(page);
  await chat.send("simulate a failure");
  await expect(page.getByRole("button", { name: "Retry" })).toBeVisible({ timeout: 20_000 });
  await chat.send("hello");
  await expect(chat.answers).toHaveCount(2);
  await chat.idle();
  await page.reload();
  const failed = chat.answers.first();
  await expect(failed).toContainText("did not accept this request");
  await alive(page);
  await failed.getByRole("button", { name: "Retry" }).click();
  // The retry is another version: the messages after the first one are on the other branch.
  await expect(chat.answers).toHaveCount(1);
  await expect(failed.getByRole("button", { name: "Retry" })).toBeVisible({ timeout: 20_000 });
  await expect(chat.log).toContainText("2/2");
});

test("an interrupted answer stays marked after further messages", async ({ page, server, console }) => {
  console.expect(/Failed to load resource|ERR_|Failed to fetch|net::|network error/i);
  await open(page);
  const chat = new Chat(page);
  await chat.startCounting(1500, 20);
  await page.waitForTimeout(300);
  await server.kill();
  await server.launch();
  await expect(page.getByRole("button", { name: "Continue" })).toBeVisible({ timeout: 30_000 });
  await chat.ask("What can you do?");
  await expect(chat.answers.first().getByText("The answer was interrupted.")).toBeVisible();
  await page.reload();
  await expect(chat.answers.first().getByText("The answer was interrupted.")).toBeVisible();
});

test("a dismissed approval is not shown as denied", async ({ page, server }) => {
  await open(page);
  const chat = new Chat(page);
  await chat.ask("Delete the article about refunds");
  await expect(chat.approval).toBeVisible();
  await chat.ask("What can you do?");
  await expect(chat.approval).toHaveCount(0);
  const call = chat.answers.first().locator("details").filter({ hasText: "Not answered" });
  await expect(call).toHaveCount(1);
  await call.locator("summary").click();
  await expect(call).toContainText("You went on without answering this");
  await expect(chat.log).not.toContainText("Denied");
  const id = new URL(page.url()).searchParams.get("conversation");
  const file = await page.request.get(`${server.url}/api/conversations/${id}/export?format=markdown`);
  expect(await file.text()).toContain(": not answered*");
});

test("a conversation that waits for the user is marked in the list of every tab", async ({ page, context }) => {
  await open(page);
  const other = await context.newPage();
  await open(other);
  const chat = new Chat(page);
  await chat.ask("Delete the article about refunds");
  await expect(chat.approval).toBeVisible();
  for (const tab of [page, other]) {
    const mark = new List(tab).rows.first().getByTitle("Waiting for you");
    await expect(mark).toBeVisible();
    await expect(new List(tab).rows.first().getByRole("link")).toContainText("Waiting for you.");
  }
  await chat.approval.getByRole("button", { name: "Deny" }).click();
  await chat.idle();
  for (const tab of [page, other]) await expect(tab.getByTitle("Waiting for you")).toHaveCount(0);
});
