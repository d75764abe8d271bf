import type { Page } from "@playwright/test";
import { Chat } from "../fixtures/chat.ts";
import { configured } from "../fixtures/configured.ts";
import { test as base } from "../fixtures/gate.ts";
import { Provider } from "../fixtures/provider.ts";
import { alive, expect, open } from "../fixtures/test.ts";

/** A page with a booking tool; the server counts the bookings. */
const config = (url: string) => `
connections:
  - { id: model, type: OpenAICompatible, properties: { baseURL: "${url}", apiKey: none } }
  - { id: data, type: Sql, properties: { url: "sqlite::memory:", init: "create table bookings (seats integer);" } }
agents:
  - { id: clerk, type: Agent, connectionId: model, properties: { model: m } }
  - id: strict
    type: Agent
    connectionId: model
    properties: { model: m }
    policy: { rules: [{ tools: [book], action: deny, reason: Nothing is booked today. }] }
api:
  - id: book
    routine:
      - { id: added, type: SqlExecute, connectionId: data, properties: { query: "insert into bookings values (:n)", parameters: { n: { _payload: seats } } } }
      - { id: all, type: SqlQuery, connectionId: data, properties: { query: "select count(*) as bookings from bookings" } }
      - { ":return": { _step: all } }
  - { id: refuse, routine: [{ ":reject": The house is full. }] }
pages:
  - id: hall
    blocks:
      - { id: seats, type: NumberInput }
      - { id: name, type: TextInput, properties: { required: true } }
      - id: chat
        type: AgentChat
        properties:
          agentId: clerk
          clientTools: &tools
            - name: book
              description: Books seats.
              inputSchema: { type: object, properties: { seats: { type: integer } }, required: [seats] }
              timeoutMs: 20000
              actions:
                - { type: SetState, params: { seats: { _event: seats } } }
                - { id: booked, type: CallEndpoint, params: { endpointId: book, payload: { seats: { _event: seats } } } }
              result: { now: { _step: booked }, seats: { _state: seats } }
            - name: cancel
              description: Cancels everything.
              inputSchema: { type: object }
              confirm: true
              actions: [{ type: SetState, params: { seats: 0 } }]
            - name: check
              description: Checks the form.
              inputSchema: { type: object }
              actions: [{ type: Validate }, { type: SetState, params: { seats: 99 } }]
            - name: try
              description: Tries to book.
              inputSchema: { type: object }
              actions: [{ type: CallEndpoint, params: { endpointId: refuse } }]
            - name: hurry
              description: Books within a second.
              inputSchema: { type: object }
              timeoutMs: 1000
              actions: [{ type: CallEndpoint, params: { endpointId: book, payload: { seats: 1 } } }]
  - { id: closed, blocks: [{ id: seats, type: NumberInput }, { id: name, type: TextInput }, { id: chat, type: AgentChat, properties: { agentId: strict, clientTools: *tools } }] }
`;

/** The model: "book {…}" calls the tool; "later …" does so when `go` is resolved. */
const test = base.extend({
  server: async ({ gate }, use) => {
    const provider = await Provider.start(async (role, text) => {
      if (role === "tool") return `Done: ${text}`;
      const [, later, name, input] = /^(later )?(\w+) ?(.*)$/.exec(text) ?? [];
      if (later !== undefined) await gate.released;
      if (name === undefined || name === "hello") return "Hello.";
      return [{ name, arguments: JSON.parse(input || "{}") as object }];
    });
    await configured(provider, config(provider.url), use);
  },
});

/** Holds back the responses of endpoint calls until they are released. */
async function hold(page: Page): Promise<{ reached: Promise<void>; release: () => void }> {
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  let reach = () => {};
  const reached = new Promise<void>((resolve) => (reach = resolve));
  await page.route("**/api/endpoints/**", async (route) => {
    const response = await route.fetch();
    reach();
    await released;
    // The requesting page may be gone.
    await route.fulfill({ response }).catch(() => {});
  });
  return { reached, release };
}

test("a call runs the actions of the page and the model reads the result", async ({ page }) => {
  await open(page, "/hall");
  const chat = new Chat(page);
  await chat.ask('book {"seats":3}');
  await expect(page.getByLabel("Seats")).toHaveValue("3");
  await expect(chat.answers.last()).toContainText('Done: {"now":[{"bookings":1}],"seats":3}');
  const card = page.locator("details", { hasText: "Book" });
  await expect(card).toHaveAttribute("data-state", "done");
  // Input that does not match the schema never reaches the page.
  await chat.ask('book {"seats":"many"}');
  await expect(page.getByLabel("Seats")).toHaveValue("3");
});

test("the model reads errors of client tools", async ({ page, console }) => {
  // The endpoint refuses the call.
  console.expect(/the server responded with a status of 422/);
  await open(page, "/hall");
  const chat = new Chat(page);
  await chat.ask("try");
  await expect(chat.answers.last()).toContainText("Done: The house is full.");
  await expect(page.locator("details", { hasText: "Try" })).toHaveAttribute("data-state", "failed");
  await chat.ask("check");
  await expect(chat.answers.last()).toContainText("Done: Some inputs of the page are invalid. name: This field is required.");
  await expect(page.getByLabel("Seats")).toHaveValue("");
  const held = await hold(page);
  await chat.ask("hurry");
  await expect(chat.answers.last()).toContainText("This call took longer than 1 s.");
  held.release();
});

test("a call that needs approval survives a reload and runs only if approved", async ({ page }) => {
  await open(page, "/hall");
  const chat = new Chat(page);
  await page.getByLabel("Seats").fill("5");
  await chat.ask("cancel");
  await chat.approval.getByRole("button", { name: "Deny" }).click();
  await expect(chat.answers.last()).toContainText("Denied");
  await chat.idle();
  await expect(page.getByLabel("Seats")).toHaveValue("5");
  await chat.ask("cancel");
  await expect(chat.approval).toBeVisible();
  await page.reload();
  await alive(page);
  await chat.approval.getByRole("button", { name: "Approve" }).click();
  await expect(page.getByLabel("Seats")).toHaveValue("0");
  await expect(chat.answers.last()).toContainText('Done: {"ok":true}');
});

test("a policy can forbid a client tool", async ({ page }) => {
  await open(page, "/closed");
  const chat = new Chat(page);
  await chat.ask('book {"seats":3}');
  await expect(chat.answers.last()).toContainText("Nothing is booked today.");
  await expect(page.getByLabel("Seats")).toHaveValue("");
});

test("a call that waits for the page runs when the page is back", async ({ page, gate }) => {
  await open(page, "/hall");
  const chat = new Chat(page);
  await chat.ask("hello");
  const address = page.url();
  // The stop button is shown before the server has the message.
  const accepted = page.waitForResponse((response) => response.url().endsWith("/ui/send"));
  await chat.send('later book {"seats":4}');
  await accepted;
  await expect(chat.stopButton).toBeVisible();
  await page.goto("about:blank");
  gate.go();
  await page.goto(address);
  await expect(chat.answers.last()).toContainText('Done: {"now":[{"bookings":1}],"seats":4}', { timeout: 30_000 });
});

test("a call that a reload interrupts is not repeated", async ({ page }) => {
  await open(page, "/hall");
  const chat = new Chat(page);
  const held = await hold(page);
  await chat.send('book {"seats":2}');
  await held.reached;
  await page.reload();
  await expect(chat.answers.last()).toContainText("It may or may not have had an effect", { timeout: 30_000 });
  await chat.idle();
  held.release();
  await page.unrouteAll({ behavior: "ignoreErrors" });
  await alive(page);
  await chat.ask('book {"seats":2}');
  await expect(chat.answers.last()).toContainText('"bookings":2');
});

test("a call whose request ends because the page is left has not failed", async ({ page, console }) => {
  console.expect(/net::ERR_/);
  await open(page, "/hall");
  const chat = new Chat(page);
  // As in some browsers: the requests of the page are aborted before the page is left.
  await page.route("**/api/endpoints/**", async (route) => {
    await route.fetch();
    await page.evaluate(() => dispatchEvent(new Event("beforeunload")));
    await route.abort();
  });
  const ended = page.waitForEvent("requestfailed", (request) => request.url().includes("/api/endpoints/"));
  await chat.send('book {"seats":2}');
  await ended;
  await page.unrouteAll({ behavior: "ignoreErrors" });
  await page.reload();
  await expect(chat.answers.last()).toContainText("It may or may not have had an effect", { timeout: 30_000 });
});

test("one of two tabs runs the call and the other takes over when it is closed", async ({ page, context, console }) => {
  // The claim of the slower tab is rejected with status 422.
  console.expect(/the server responded with a status of 422/);
  await open(page, "/hall");
  const chat = new Chat(page);
  await chat.ask("hello");
  const other = await context.newPage();
  await open(other, page.url());
  const calls: string[] = [];
  other.on("request", (request) => void (request.url().includes("/api/endpoints/") && calls.push(request.url())));
  const held = await hold(page);
  await chat.send('book {"seats":2}');
  await held.reached;
  // By then the other tab would have taken over an unclaimed call.
  const begun = Date.now();
  await expect.poll(() => Date.now()).toBeGreaterThan(begun + 5_000);
  held.release();
  await expect(chat.answers.last()).toContainText('"bookings":1', { timeout: 30_000 });
  await expect(new Chat(other).answers.last()).toContainText('"bookings":1', { timeout: 30_000 });
  expect(calls).toEqual([]);

  await page.unrouteAll();
  const lost = await hold(page);
  await chat.send("hurry");
  await lost.reached;
  await page.close();
  await expect(new Chat(other).answers.last()).toContainText("It may or may not have had an effect", { timeout: 30_000 });
  expect(calls).toEqual([]);
});
