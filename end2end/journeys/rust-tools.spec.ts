import { Chat } from "../fixtures/chat.ts";
import { configured } from "../fixtures/configured.ts";
import { test as base } from "../fixtures/gate.ts";
import { Provider } from "../fixtures/provider.ts";
import { alive, expect, open } from "../fixtures/test.ts";

/** The page of `examples/rust-page`, with an agent that calls the requested tool. */
const config = (url: string) => `
connections: [{ id: model, type: OpenAICompatible, properties: { baseURL: "${url}", apiKey: none } }]
agents: [{ id: clerk, type: Agent, connectionId: model, properties: { model: m } }]
pages: [{ id: intake, title: Customer intake }]
`;

const test = base.extend({
  server: async ({ gate }, use) => {
    const provider = await Provider.start(async (role, text) => {
      if (role === "tool") return `The page said: ${text}`;
      const [, later, name, input] = /^(later )?(\w+) ({.*})$/.exec(text) ?? [];
      if (later !== undefined) await gate.released;
      return name === undefined ? "Hello." : [{ name, arguments: JSON.parse(input!) as object }];
    });
    await configured(provider, config(provider.url), use, {}, "rust-page");
  },
});

test("a closure of a page in Rust runs the agent's call and the agent reads the result", { tag: "@thorough" }, async ({ page }) => {
  await open(page);
  const chat = new Chat(page);
  await chat.ask('offer_plan {"plan":"team","seats":20}');
  await expect(page.getByRole("combobox", { name: "Plan" })).toHaveValue("team");
  await expect(page.getByLabel("Seats")).toHaveValue("20");
  await expect(chat.answers.last()).toContainText('The page said: {"shown":{"plan":"team","seats":20}}');

  // The agent reads errors of the page; input that does not match the schema does not reach the page.
  await chat.ask('offer_plan {"plan":"starter","seats":50}');
  await expect(chat.answers.last()).toContainText("Not allowed");
  await chat.ask('offer_plan {"plan":"gold","seats":1}');
  await expect(chat.answers.last()).toContainText("The arguments do not fit");
  await expect(page.getByRole("combobox", { name: "Plan" })).toHaveValue("starter");
});

test("a call waits for the page in Rust and runs once when the page is back", { tag: "@thorough" }, async ({ page, gate }) => {
  await open(page);
  const chat = new Chat(page);
  await chat.ask("hello");
  const address = page.url();
  await chat.send('later offer_plan {"plan":"enterprise","seats":7}');
  await expect(chat.stopButton).toBeVisible();
  // No tab shows the page when the call is made.
  await page.goto("about:blank");
  gate.go();
  const { origin, searchParams } = new URL(address);
  const conversation = `${origin}/api/conversations/${searchParams.get("conversation")}`;
  await expect.poll(async () => (await page.request.get(conversation)).text(), { timeout: 30_000 }).toContain('"input-available"');
  await page.goto(address);
  await expect(chat.answers.last()).toContainText('The page said: {"shown":{"plan":"enterprise","seats":7}}', { timeout: 30_000 });
  await expect(page.getByLabel("Seats")).toHaveValue("7");
  await page.reload();
  await alive(page);
  // A second run would have started before the next message is answered.
  await chat.ask("hello");
  await expect(chat.log.getByText(/The page said/)).toHaveCount(1);
  // The form survives the reload.
  await expect(page.getByLabel("Seats")).toHaveValue("7");
});
