import { browser } from "../browser.ts";
import { Chat } from "../fixtures/chat.ts";
import { configured } from "../fixtures/configured.ts";
import { SpeechService } from "../fixtures/speech.ts";
import { expect, open, test as base } from "../fixtures/test.ts";

const config = (url: string) => `
connections:
  - { id: demo, type: Demo, properties: { delayMs: 0 } }
  - { id: speech, type: OpenAICompatible, properties: { baseURL: "${url}" } }
voice:
  transcription: { connectionId: speech, model: ears, maxSeconds: 30 }
  speech: { connectionId: speech, model: mouth, voice: alloy, format: wav }
agents: [{ id: helper, type: Agent, connectionId: demo, properties: { model: demo } }]
pages:
  - id: home
    blocks:
      - id: chat
        type: AgentChat
        properties: { agentId: helper, sender: { allowSpeech: true }, actions: { audio: true } }
`;

const test = base.extend<{ speech: SpeechService }>({
  speech: async ({}, use) => {
    const speech = await SpeechService.start("bright world", 1_500);
    await use(speech);
    speech.close();
  },
  server: async ({ speech }, use) => configured(undefined, config(speech.url), use),
});

// A microphone that beeps, and is allowed without a question.
const microphone = ["--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"];
test.use({ launchOptions: { ...browser.launchOptions, args: [...browser.launchOptions.args, ...microphone] } });

test("what is said is put at the cursor, with the keyboard", async ({ page, speech }) => {
  await open(page, "/home");
  const chat = new Chat(page);
  await chat.composer.fill("Hello of today");
  await chat.composer.evaluate((field: HTMLTextAreaElement) => field.setSelectionRange(5, 5));
  const dictate = page.getByRole("button", { name: "Dictate", exact: true });
  await dictate.press("Enter");
  const panel = page.getByRole("region", { name: "Dictate" });
  await expect(panel.getByRole("status")).toHaveText("Listening…");
  await expect(dictate).toHaveAttribute("aria-pressed", "true");
  const insert = panel.getByRole("button", { name: "Insert" });
  await expect(insert).toBeFocused();
  await expect(panel.getByRole("timer")).toHaveText("0:01");
  await insert.press("Enter");
  await expect(chat.composer).toHaveValue("Hello bright world of today");
  await expect(panel).toHaveCount(0);
  await expect(chat.composer).toBeFocused();
  expect(speech.recordings[0]).toBeGreaterThan(1_000);
});

test("a dictation is cancelled with Escape, and sent again after a failure", async ({ page, speech, console }) => {
  console.expect(/status of 503/);
  await open(page, "/home");
  const chat = new Chat(page);
  const dictate = page.getByRole("button", { name: "Dictate", exact: true });
  const panel = page.getByRole("region", { name: "Dictate" });
  await dictate.click();
  await expect(panel.getByRole("button", { name: "Insert" })).toBeFocused();
  await page.keyboard.press("Escape");
  await expect(panel).toHaveCount(0);
  expect(speech.recordings).toEqual([]);
  speech.failure = 500;
  await dictate.click();
  await panel.getByRole("button", { name: "Insert" }).click();
  await expect(page.getByRole("alert").filter({ hasText: "The speech service does not answer." })).toBeVisible();
  await expect(page.getByText("a secret")).toHaveCount(0);
  speech.failure = undefined;
  await panel.getByRole("button", { name: "Retry" }).click();
  await expect(chat.composer).toHaveValue("bright world");
});

test("the microphone is tested without the server", async ({ page, speech }) => {
  await open(page, "/home");
  await page.getByRole("button", { name: "Dictate", exact: true }).click();
  const panel = page.getByRole("region", { name: "Dictate" });
  await panel.getByRole("button", { name: "Test the microphone" }).click();
  await expect(panel.getByRole("status")).toHaveText("Say something. You will hear it in three seconds.");
  // The microphone beeps once a second.
  const level = () => panel.locator("meter").evaluate((meter: HTMLMeterElement) => meter.value);
  await expect.poll(level, { intervals: [50] }).toBeGreaterThan(0.05);
  await expect(panel.getByRole("status")).toHaveText(/^This was recorded/);
  expect(speech.recordings).toEqual([]);
  await panel.getByRole("button", { name: "Cancel" }).click();
  await expect(panel).toHaveCount(0);
});

test("an answer is read aloud, paused and stopped", async ({ page, speech }) => {
  await open(page, "/home");
  const chat = new Chat(page);
  await chat.ask("What can you do?");
  const read = async () => {
    await chat.answers.last().getByRole("button", { name: "More" }).click();
    await page.getByRole("menuitem", { name: "Read aloud" }).click();
  };
  await read();
  const panel = page.getByRole("region", { name: "Read aloud" });
  await panel.getByRole("button", { name: "Pause" }).press("Enter");
  await expect(panel.getByRole("button", { name: "Continue" })).toBeFocused();
  await panel.getByRole("button", { name: "Stop" }).click();
  await expect(panel).toHaveCount(0);
  const asked = speech.spoken.length;
  expect(asked).toBeGreaterThan(0);
  // Again, to the end: what was read is not asked for again.
  await read();
  await expect(panel.getByRole("button", { name: "Pause" })).toBeVisible();
  await expect(panel).toHaveCount(0, { timeout: 30_000 });
  expect(new Set(speech.spoken).size).toBe(speech.spoken.length);
});
