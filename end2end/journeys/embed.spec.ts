import type { Page } from "@playwright/test";
import { Chat } from "../fixtures/chat.ts";
import { configured } from "../fixtures/configured.ts";
import { Provider } from "../fixtures/provider.ts";
import type { Server } from "../fixtures/server.ts";
import { SECRET, Site, type SiteOptions, inside, signed } from "../fixtures/site.ts";
import { alive, expect, test as base } from "../fixtures/test.ts";

/** A page for users with a token of the site, and one for everybody. The agent names the user and fills in the shared state. */
const config = (model: string, site: string) => `
connections: [{ id: model, type: OpenAICompatible, properties: { baseURL: "${model}", apiKey: none } }]
agents:
  - id: clerk
    type: Agent
    connectionId: model
    properties: { model: m, instructions: { _template: "You serve {{ user.name }} on {{ user.inputs.plan }}." } }
  - { id: guide, type: Agent, connectionId: model, properties: { model: m }, auth: public }
pages:
  - id: desk
    blocks:
      - { id: company, type: TextInput }
      - { id: seats, type: NumberInput }
      - id: chat
        type: AgentChat
        properties:
          agentId: clerk
          clientTools:
            - name: show_product
              description: Shows a product.
              inputSchema: { type: object, properties: { sku: { type: string } }, required: [sku] }
              host: true
          sharedState: { company: { _state: company }, seats: { _state: seats }, cart: { _state: cart } }
  - id: order
    events: { onInit: [{ type: SetState, params: { order: { company: Start, seats: 1 } } }] }
    blocks: [{ id: chat, type: AgentChat, properties: { agentId: clerk, sharedState: { _state: order } } }]
  - { id: open, auth: public, blocks: [{ id: chat, type: AgentChat, properties: { agentId: guide } }] }
auth: { mode: anonymous, publicUrls: ["http://127.0.0.1"] }
embed:
  origins: ["${site}"]
  tokens: { secrets: [{ _secret: EMBED_SECRET }], leewaySeconds: 0 }
`;

const test = base.extend<{ site: Site; show: (options: SiteOptions) => Promise<void> }>({
  site: async ({}, use) => {
    const site = await Site.start();
    await use(site);
    site.close();
  },
  server: async ({ site }, use) => {
    const provider = await Provider.start((role, text, instructions) => {
      if (role === "tool") return `Done: ${text}`;
      if (text === "who am I?") return instructions.split("\n").find((line) => line.startsWith("You serve"))!;
      if (text === "what do you see?") return instructions.split("\n").filter((line) => line.startsWith("- ")).join("; ");
      if (text.startsWith("show ")) return [{ name: "show_product", arguments: { sku: text.slice(5) } }];
      if (text.startsWith("write ")) return [{ name: "update-page-state", arguments: { updates: JSON.parse(text.slice(6)) as object } }];
      return "Hello.";
    });
    const known = async (server: Server): Promise<void> => {
      site.chat = server.url;
      await use(server);
    };
    await configured(provider, config(provider.url, site.origin), known, { EMBED_SECRET: SECRET });
  },
  show: async ({ page, site, server }, use) => {
    await use(async (options) => {
      site.options = options;
      site.chat = server.url;
      await page.goto(site.origin);
    });
  },
});

const ADA = { sub: "ada", name: "Ada", inputs: { plan: "gold" } };

/** The site's script requests tokens from its own server and records the events. */
const SCRIPT = `
const chat = document.querySelector("agent-chat");
chat.getToken = async () => (await fetch("/token")).text();
window.told = [];
for (const name of ["ready", "usermessage", "messagecomplete", "toolcall", "toolresult", "statechange", "conversationchange", "error", "tokenexpired"]) {
  chat.addEventListener(name, ({ type, detail }) => window.told.push({ type, detail }));
}
`;

/** Chromium logs this for `autofocus` in the chat's dialogs, although they are closed. */
const AUTOFOCUS = /Blocked autofocusing/;

const DESK = '<agent-chat page="desk" agent="clerk"></agent-chat>';

test.beforeEach(({ console }) => console.expect(AUTOFOCUS));

const told = (page: Page, type: string) =>
  page.evaluate((wanted) => (window as unknown as { told: { type: string; detail: unknown }[] }).told.filter(({ type }) => type === wanted).map(({ detail }) => detail), type);

test("an embedded chat has its own styles and policy and the user that the site vouches for", async ({ page, show }) => {
  await show({ element: DESK, script: SCRIPT, token: () => signed(ADA) });
  const frame = inside(page);
  await alive(frame);
  const chat = new Chat(frame);
  await chat.ask("who am I?");
  await expect(chat.answers.last()).toContainText("You serve Ada on gold.");
  // The site's styles do not apply inside the element.
  expect(await chat.composer.evaluate((field) => getComputedStyle(field).color)).not.toBe("rgb(255, 0, 0)");
  expect(await told(page, "ready")).toEqual([{}]);
  await expect.poll(() => told(page, "usermessage")).toMatchObject([{ text: "who am I?" }]);
  await expect.poll(() => told(page, "messagecomplete")).toMatchObject([{ text: "You serve Ada on gold.", isAbort: false }]);
  // The chat adds no entries to the history of the embedding page.
  await page.goto("about:blank");
  await page.goBack();
  await alive(inside(page));
  expect(await page.evaluate(() => history.length)).toBeLessThanOrEqual(3);
});

test("the embedding page calls methods and can cancel a message", async ({ page, show }) => {
  const veto = `chat.addEventListener("beforesend", (event) => event.detail.text.includes("secret") && event.preventDefault());`;
  await show({ element: DESK, script: SCRIPT + veto, token: () => signed(ADA) });
  const chat = new Chat(inside(page));
  const call = (source: string) => page.evaluate(`(async () => { const chat = document.querySelector("agent-chat"); return ${source}; })()`);
  await call('chat.sendMessage("who am I?")');
  await expect(chat.answers.last()).toContainText("You serve Ada on gold.");
  await chat.idle();
  expect(await call("chat.conversation")).toMatch(/^[0-9a-f]{32}$/);
  await chat.send("my secret");
  await expect(chat.composer).toHaveValue("my secret");
  await expect(chat.answers).toHaveCount(1);
  await call('chat.setInput("something else")');
  await expect(chat.composer).toHaveValue("something else");
  await call("chat.clear()");
  await expect(chat.answers).toHaveCount(0);
  expect(await call('chat.sendMessage("").catch((error) => error.message)')).toBe("There is nothing to send.");
  const ids = (await told(page, "conversationchange")) as { conversationId: string | null }[];
  expect(ids.at(-1)).toEqual({ conversationId: null });
  // A conversation that was started elsewhere can be continued here.
  const earlier = [
    { role: "user", parts: [{ type: "text", text: "Where were we?" }] },
    { role: "assistant", parts: [{ type: "text", text: "At the beginning." }] },
  ];
  await call(`chat.setMessages(${JSON.stringify(earlier)})`);
  await expect(chat.answers).toHaveText([/At the beginning\./]);
  await chat.ask("who am I?");
  await expect(chat.answers).toHaveText([/At the beginning\./, /You serve Ada on gold\./]);
  const id = (await call("chat.conversation")) as string;
  await show({ element: `<agent-chat page="desk" conversation="${id}"></agent-chat>`, script: SCRIPT, token: () => signed(ADA) });
  await expect(chat.answers).toHaveText([/At the beginning\./, /You serve Ada on gold\./]);
});

test("the embedding page shares the state that the chat's page declares", async ({ page, show, console }) => {
  console.expect(/the state does not fit what the chat's page declares/, /does not declare these keys of the state \[secret\]/);
  const script = `${SCRIPT} chat.state = { company: "Acme", cart: { items: 3 }, secret: 1, seats: "many" };`;
  await show({ element: DESK, script, token: () => signed(ADA) });
  const frame = inside(page);
  await alive(frame);
  const chat = new Chat(frame);
  await chat.ask("what do you see?");
  await expect(chat.answers.last()).toContainText('company (text): "Acme"; - seats (number): null; - cart (object, read only): {"items":3}');
  await chat.ask('write {"company":"Engines","seats":4,"cart":1,"secret":2}');
  await expect(chat.answers.last()).toContainText('"written":["company","seats"]');
  await expect(chat.answers.last()).toContainText('"ignored":["cart","secret"]');
  await expect.poll(() => told(page, "statechange")).toMatchObject([{ values: { company: "Engines", seats: 4 } }]);
  expect(await page.evaluate('document.querySelector("agent-chat").state')).toMatchObject({ company: "Engines", seats: 4, cart: { items: 3 } });
});

test("the embedding page shares an object whose keys nobody has listed", async ({ page, show }) => {
  await show({ element: '<agent-chat page="order" agent="clerk"></agent-chat>', script: SCRIPT, token: () => signed(ADA) });
  const frame = inside(page);
  await alive(frame);
  const chat = new Chat(frame);
  const state = () => page.evaluate('document.querySelector("agent-chat").state');
  await expect.poll(state).toEqual({ company: "Start", seats: 1 });
  await page.evaluate('document.querySelector("agent-chat").state = { company: "Acme", note: "new" }');
  await chat.ask("what do you see?");
  await expect(chat.answers.last()).toContainText('company (text): "Acme"');
  await expect(chat.answers.last()).toContainText('note (text): "new"');
  await chat.ask('write {"seats":4}');
  await expect(chat.answers.last()).toContainText('"written":["seats"]');
  await expect.poll(async () => (await told(page, "statechange")).at(-1)).toMatchObject({ values: { seats: 4 } });
  expect(await state()).toEqual({ company: "Acme", seats: 4, note: "new" });
});

test("a user without a valid token is refused and the embedding page learns why", async ({ page, show, console }) => {
  console.expect(/the server responded with a status of 40[13]/);
  const cases: [string, string, string][] = [
    [signed(ADA, { secret: "somebody else's secret, just as long" }), "unauthenticated", "not signed by a known key"],
    [signed(ADA, { seconds: -10 }), "unauthenticated", "has expired"],
    [signed(ADA, { audience: "another" }), "unauthenticated", "for another audience"],
    [signed({ ...ADA, page: "open" }), "forbidden", "for another page"],
    [signed({ ...ADA, agent: "guide" }), "forbidden", "for another agent"],
    ["", "unauthenticated", "sign"],
  ];
  for (const [token, code, message] of cases) {
    await show({ element: DESK, script: SCRIPT, token: () => token });
    const error = page.locator("agent-chat iframe").contentFrame().locator("iframe").contentFrame();
    await expect(error.getByRole("heading", { name: "The chat cannot be opened" })).toBeVisible();
    await expect.poll(() => told(page, "error")).toMatchObject([{ code, message: expect.stringContaining(message) }]);
  }
});

test("an expiring token is renewed while the chat is open", async ({ page, show }) => {
  let asked = 0;
  const token = () => {
    asked += 1;
    return signed(ADA, { seconds: asked === 1 ? 5 : 300 });
  };
  await show({ element: DESK, script: SCRIPT, token });
  const frame = inside(page);
  await alive(frame);
  const chat = new Chat(frame);
  await page.waitForFunction((from) => Date.now() - from > 5000, Date.now());
  await chat.ask("who am I?");
  await expect(chat.answers.last()).toContainText("You serve Ada on gold.");
  expect(asked).toBe(2);
  expect(await told(page, "error")).toEqual([]);
});

test("an anonymous visitor is recognized again without a cookie", async ({ page, show, context }) => {
  await show({ element: '<agent-chat page="open"></agent-chat>', script: SCRIPT });
  const frame = inside(page);
  await alive(frame);
  await new Chat(frame).ask("Hi");
  const id = (await page.evaluate('document.querySelector("agent-chat").conversation')) as string;
  await show({ element: `<agent-chat page="open" conversation="${id}"></agent-chat>`, script: SCRIPT });
  await expect(new Chat(inside(page)).answers.last()).toContainText("Hello.");
  expect(await context.cookies()).toEqual([]);
});

test("a site that the config does not name cannot show it", async ({ page, server, console }) => {
  console.expect(/frame|403|does not list this site/i);
  const foreign = await Site.start();
  foreign.chat = server.url;
  foreign.options = { element: DESK };
  const refused = page.waitForResponse((response) => response.url().includes("/embed/desk"));
  await page.goto(foreign.origin);
  expect((await refused).status()).toBe(403);
  await expect(page.locator("agent-chat iframe").contentFrame().locator("iframe")).toHaveCount(0);
  foreign.close();
  // A page that is not for embedding cannot be framed either.
  const { headers } = await fetch(`${server.url}/open`);
  expect(headers.get("x-frame-options")).toBe("DENY");
});

test("the drawer of an embedding page works by keyboard", async ({ page, show }) => {
  const element = '<agent-chat page="desk" agent="clerk" display="drawer" label="Help" placement="left" width="360"></agent-chat>';
  await show({ element, script: SCRIPT, token: () => signed(ADA) });
  const button = page.getByRole("button", { name: "Help" });
  await button.focus();
  await page.keyboard.press("Enter");
  const chat = new Chat(inside(page));
  await expect(page.getByRole("dialog", { name: "Help" })).toBeVisible();
  await expect(chat.composer).toBeFocused();
  await page.keyboard.type("who am I?");
  await page.keyboard.press("Enter");
  await expect(chat.answers.last()).toContainText("You serve Ada on gold.");
  await chat.idle();
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog", { name: "Help" })).toBeHidden();
  await expect(button).toBeFocused();
  await page.evaluate('document.querySelector("agent-chat").open()');
  await expect(chat.answers.last()).toContainText("You serve Ada on gold.");
});

test("answers that are completed while the drawer is closed are counted on its button", async ({ page, show }) => {
  const script = `${SCRIPT} chat.addEventListener("unreadchange", ({ type, detail }) => window.told.push({ type, detail }));`;
  await show({ element: '<agent-chat page="desk" agent="clerk" display="drawer" label="Help"></agent-chat>', script, token: () => signed(ADA) });
  const button = page.locator("agent-chat").getByRole("button", { name: /^Help/ });
  await button.click();
  const chat = new Chat(inside(page));
  await alive(inside(page));
  await chat.ask("who am I?");
  await chat.idle();
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog", { name: "Help" })).toBeHidden();
  await expect(button).toHaveAccessibleName("Help");
  await page.evaluate('void document.querySelector("agent-chat").sendMessage("and again?")');
  await expect.poll(() => told(page, "unreadchange")).toEqual([{ count: 1 }]);
  await expect(button).toHaveAccessibleName("Help, 1 unread answer");
  await button.click();
  await expect(chat.answers).toHaveCount(2);
  await expect.poll(() => told(page, "unreadchange")).toEqual([{ count: 1 }, { count: 0 }]);
  expect(await page.evaluate('document.querySelector("agent-chat").unread')).toBe(0);
  // A drawer that is built anew has nothing unread, and says so.
  await page.evaluate('document.querySelector("agent-chat").close()');
  await page.evaluate('void document.querySelector("agent-chat").sendMessage("once more?")');
  await expect.poll(() => told(page, "unreadchange")).toHaveLength(3);
  await page.evaluate('document.querySelector("agent-chat").setAttribute("label", "Ask")');
  await expect.poll(async () => (await told(page, "unreadchange")).slice(2)).toEqual([{ count: 1 }, { count: 0 }]);
});

test("the embedding page sets the look, and the frame applies only valid values", async ({ page, show, console }) => {
  console.expect(/`(background|text|font|density)` is not valid/);
  await show({ element: '<agent-chat page="open" accent="#7a1fa2" radius="4px" density="compact" font="Georgia, serif"></agent-chat>', script: SCRIPT });
  const frame = inside(page);
  await alive(frame);
  const variable = (name: string) => frame.locator("html").evaluate((root, name) => root.style.getPropertyValue(name), name);
  expect(await variable("--cw-accent")).toBe("#7a1fa2");
  expect(await variable("--cw-space-4")).toBe("0.75rem");
  expect(await frame.locator("body").evaluate((body) => getComputedStyle(body).fontFamily)).toBe("Georgia, serif");
  expect(await frame.locator(".cw-composer-box").evaluate((box) => getComputedStyle(box).borderRadius)).toBe("9.6px");
  // A change takes effect at once; what could load or read something does not, nor does what is no value at all.
  await page.evaluate(() => {
    const chat = document.querySelector("agent-chat")!;
    chat.setAttribute("accent", "rgb(10 20 30)");
    chat.setAttribute("background", "url(https://example.com/x)");
    chat.setAttribute("text", "rgb(10 20 30");
    chat.setAttribute("font", "a;color:red");
    chat.setAttribute("density", "huge");
    chat.removeAttribute("radius");
  });
  await expect.poll(() => variable("--cw-accent")).toBe("rgb(10 20 30)");
  for (const name of ["--cw-surface", "--cw-text", "--cw-font", "--cw-space-4", "--cw-radius"]) await expect.poll(() => variable(name), name).toBe("");
});

test("the agent runs a host tool of the embedding page once", async ({ page, show }) => {
  const script = `${SCRIPT}
    window.ran = [];
    customElements.whenDefined("agent-chat").then(() => chat.registerTool("show_product", async ({ sku }) => {
      window.ran.push(sku);
      if (sku === "broken") throw new Error("There is no such product.");
      return { shown: sku };
    }));`;
  await show({ element: DESK, script, token: () => signed(ADA) });
  const frame = inside(page);
  await alive(frame);
  const chat = new Chat(frame);
  await chat.ask("show lamp-1");
  await expect(chat.answers.last()).toContainText('Done: {"shown":"lamp-1"}');
  await chat.ask("show broken");
  await expect(chat.answers.last()).toContainText("There is no such product.");
  expect(await page.evaluate(() => (window as unknown as { ran: string[] }).ran)).toEqual(["lamp-1", "broken"]);
  // A page without the host tool reports an error.
  await show({ element: DESK, script: SCRIPT, token: () => signed(ADA) });
  await alive(inside(page));
  await chat.ask("show lamp-2");
  await expect(chat.answers.last()).toContainText("has not registered the tool");
});

test("a site that the config does not list gets an error that says why", async ({ page, server, console }) => {
  console.expect(/X-Frame-Options|Refused to display|does not list this site|status of 403|chrome-error/);
  const stranger = await Site.start();
  stranger.chat = server.url;
  stranger.options = { element: DESK, script: SCRIPT, token: () => signed(ADA) };
  await page.goto(stranger.origin);
  await expect(page.getByRole("alert")).toHaveText("The chat is not available here.");
  await expect(page.locator("agent-chat iframe")).toBeHidden();
  const message = expect.stringContaining(`Add ${stranger.origin} to embed.origins`) as unknown;
  await expect.poll(() => told(page, "error")).toMatchObject([{ code: "not_listed", message }]);
  expect(server.log.some((line) => line.includes("embed.origins") && line.includes(stranger.origin))).toBe(true);
  stranger.close();
});

test("a page learns that the server is away, or that the page itself forbids the frame", async ({ page, show, console }) => {
  console.expect(/ERR_FAILED|chrome-error|cannot be reached|frame-src/);
  await show({ element: DESK, script: SCRIPT, token: () => signed(ADA), forbidsFrames: true });
  await expect(page.getByRole("alert")).toHaveText("The chat is not available here.");
  const blocked = expect.stringContaining("must allow the server in frame-src") as unknown;
  await expect.poll(() => told(page, "error")).toMatchObject([{ code: "blocked", message: blocked }]);
  expect(console.takeBreaches().join()).toContain("frame-src");
  await page.route(/\/embed\/|\/embed-check\.js/, (route) => route.abort());
  await show({ element: DESK, script: SCRIPT, token: () => signed(ADA) });
  await expect(page.getByRole("alert")).toHaveText("The chat is not available here.");
  const away = expect.stringContaining("cannot be reached") as unknown;
  await expect.poll(() => told(page, "error")).toMatchObject([{ code: "unavailable", message: away }]);
});
