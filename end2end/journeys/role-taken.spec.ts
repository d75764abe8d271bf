import { Chat } from "../fixtures/chat.ts";
import { PASSWORD, first, signInFirstTime } from "../fixtures/accounts.ts";
import { configured } from "../fixtures/configured.ts";
import { Provider } from "../fixtures/provider.ts";
import { alive, expect, test as base } from "../fixtures/test.ts";

/** A page for editors, whose agent answers until the journey ends. */
const config = (url: string) => `
auth: { mode: password }
connections: [{ id: model, type: OpenAICompatible, properties: { baseURL: "${url}", apiKey: none } }]
agents: [{ id: helper, type: Agent, connectionId: model, properties: { model: m }, auth: { roles: [editor, admin] } }]
pages:
  - { id: desk, auth: { roles: [editor, admin] }, blocks: [{ id: chat, type: AgentChat, properties: { agentId: helper } }] }
`;

/** Starts an answer and finishes it when the journey is over. */
async function* held(over: Promise<void>): AsyncGenerator<string> {
  yield "The first half, ";
  await over;
  yield "and the second.";
}

const test = base.extend<{ asked: { times: number }; gate: { over: Promise<void> } }>({
  asked: async ({}, use) => use({ times: 0 }),
  gate: async ({}, use) => {
    let end = () => {};
    const over = new Promise<void>((resolve) => (end = resolve));
    await use({ over });
    end();
  },
  server: async ({ asked, gate }, use) => {
    const provider = await Provider.start((role) => {
      if (role === "user") asked.times += 1;
      return { pieces: held(gate.over), pauseMs: 0 };
    });
    await configured(provider, config(provider.url), use);
  },
});

test("after losing a role the user can send no more messages and loses the page", async ({ page, server, browser, console, asked }) => {
  test.setTimeout(120_000);
  console.expect(/status of 40[134]/, /ERR_INCOMPLETE_CHUNKED_ENCODING/);
  await first(page, server);
  const origin = new URL(server.url).origin;
  const added = await page.request.post("/api/admin/users", { data: { name: "bob", roles: ["editor"] }, headers: { origin } });
  const { id, password } = (await added.json()) as { id: string; password: string };
  const other = await browser.newContext({ baseURL: server.url });
  const bob = await other.newPage();
  await signInFirstTime(bob, "bob", password);
  await alive(bob);
  const chat = new Chat(bob);
  await chat.send("Tell me everything");
  await expect(chat.answers.last()).toContainText("The first half");
  await page.goto(`/admin/users/${id}`);
  await page.getByRole("checkbox", { name: "editor" }).uncheck();
  await page.getByRole("button", { name: /roles/i }).click();
  await expect(page.getByRole("status")).toHaveText("Done.");
  // The user keeps the conversation, but can send nothing, neither on the open page nor on a new one.
  // The answer ends when the role is lost, or when the user stops it; the button may disappear while it is clicked.
  if (await chat.stopButton.isVisible()) await chat.stopButton.click({ timeout: 5_000 }).catch(() => {});
  await chat.idle();
  const before = asked.times;
  const refused = bob.waitForResponse((response) => response.url().endsWith("/ui/send"));
  await chat.send("And more");
  expect((await refused).status()).toBe(404);
  expect(asked.times).toBe(before);
  expect((await bob.goto("/desk"))?.status()).toBe(404);
  await other.close();
});

test("an answer that an administrator stopped says so, also after the next message", async ({ page, server, browser, console }) => {
  test.setTimeout(120_000);
  console.expect(/status of 40[134]/, /ERR_INCOMPLETE_CHUNKED_ENCODING/);
  await first(page, server);
  const origin = new URL(server.url).origin;
  const added = await page.request.post("/api/admin/users", { data: { name: "bob", roles: ["editor"] }, headers: { origin } });
  const { id, password } = (await added.json()) as { id: string; password: string };
  const other = await browser.newContext({ baseURL: server.url });
  const bob = await other.newPage();
  await signInFirstTime(bob, "bob", password);
  await alive(bob);
  const chat = new Chat(bob);
  await chat.send("Tell me everything");
  await expect(chat.answers.last()).toContainText("The first half");
  const conversation = bob.url();
  for (const disabled of [true, false]) {
    const changed = await page.request.patch(`/api/admin/users/${id}`, { data: { disabled }, headers: { origin } });
    expect(changed.ok()).toBe(true);
  }
  await bob.goto("/auth/sign-in");
  await bob.getByLabel("Name").fill("bob");
  await bob.getByLabel("Password").fill(PASSWORD);
  await bob.getByRole("button", { name: "Sign in" }).click();
  await alive(bob);
  await bob.goto(conversation);
  await alive(bob);
  const stopped = chat.answers.first().getByText("Stopped by an administrator.");
  await expect(stopped).toBeVisible();
  await chat.send("And more");
  await expect(chat.answers.nth(1)).toContainText("The first half");
  await expect(stopped).toBeVisible();
  await bob.reload();
  await expect(stopped).toBeVisible();
  const file = await bob.request.get(`/api/conversations/${new URL(bob.url()).searchParams.get("conversation")}/export?format=markdown`);
  expect(await file.text()).toContain("An administrator stopped the answer.");
  await other.close();
});
