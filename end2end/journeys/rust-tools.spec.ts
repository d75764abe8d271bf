import { Chat } from "../fixtures/chat.ts";
import { configured } from "../fixtures/configured.ts";
import { test as base } from "../fixtures/gate.ts";
import { Provider } from "../fixtures/provider.ts";
import { alive, expect, open } from "../fixtures/test.ts";

/** The page that `examples/rust-page` has in its own code, and an agent that calls what it is told to. */
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

test("a closure of a page in Rust does what its agent asks for, and the agent reads what came of it", async ({ page }) => {
  await open(page);
  const chat = new Chat(page);
  await chat.ask('offer_plan {"plan":"team","seats":20}');
  await expect(page.getByRole("combobox", { name: "Plan" })).toHaveValue("team");
  await expect(page.getByLabel("Seats")).toHaveValue("20");
  await expect(chat.answers.last()).toContainText('The page said: {"shown":{"plan":"team","seats":20}}');

  // What the page refuses is told, and what does not fit the tool does not reach the page.
  await chat.ask('offer_plan {"plan":"starter","seats":50}');
  await expect(chat.answers.last()).toContainText("Not allowed");
  await chat.ask('offer_plan {"plan":"gold","seats":1}');
  await expect(chat.answers.last()).toContainText("The arguments do not fit");
  await expect(page.getByRole("combobox", { name: "Plan" })).toHaveValue("starter");
});

test("a call waits for the page in Rust, and runs once when it is back", async ({ page, gate }) => {
  await open(page);
  const chat = new Chat(page);
  await chat.ask("hello");
  const address = page.url();
  await chat.send('later offer_plan {"plan":"enterprise","seats":7}');
  await expect(chat.stopButton).toBeVisible();
  // Nobody shows the page when the call is made.
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
  // A second run would have begun by the time at which the next question is answered.
  await chat.ask("hello");
  await expect(chat.log.getByText(/The page said/)).toHaveCount(1);
  // The form is kept over the reload.
  await expect(page.getByLabel("Seats")).toHaveValue("7");
});
