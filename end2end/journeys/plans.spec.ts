import type { Page } from "@playwright/test";
import { accessible } from "../fixtures/axe.ts";
import { Chat } from "../fixtures/chat.ts";
import { STEPS, planner, written } from "../fixtures/planner.ts";
import type { Reply } from "../fixtures/provider.ts";
import { alive, expect, open } from "../fixtures/test.ts";

/** The next reply of the model, and its last request. */
const script = {
  told: "",
  instructions: "",
  next: (): Reply | Promise<Reply> => "Done.",
  reply(_: string, text: string, instructions: string): Reply | Promise<Reply> {
    script.told = text;
    script.instructions = instructions;
    return script.next();
  },
};

const test = planner(script);

const bar = (page: Page) => page.getByRole("region", { name: "Plan" });
const head = (page: Page) => bar(page).getByRole("button").first();

test("a plan is followed and changed while the agent works, and stays", async ({ page }) => {
  let goOn = () => {};
  const paused = new Promise<void>((resolve) => (goOn = resolve));
  const replies: (() => Reply | Promise<Reply>)[] = [
    () => written(1),
    // The agent works until the user has changed the plan.
    async () => {
      await paused;
      return written(2);
    },
    () => "The plan has changed, I see.",
  ];
  script.next = () => replies.shift()!();
  await open(page, "/planner");
  const chat = new Chat(page);
  await expect(bar(page)).toHaveCount(0);
  await chat.send("Buy a printer");
  await expect(head(page)).toContainText("1 of 3");
  await expect(head(page)).toContainText("Compare the offers");

  // With the keyboard.
  await head(page).press("Enter");
  await expect(head(page)).toHaveAttribute("aria-expanded", "true");
  const rows = bar(page).getByRole("listitem");
  await expect(rows).toHaveCount(3);
  await expect(rows.nth(1)).toHaveAttribute("aria-current", "step");
  await accessible(page);
  await bar(page).getByRole("textbox", { name: "New step" }).fill("Tell the others");
  await page.keyboard.press("Enter");
  await expect(rows).toHaveCount(4);
  const up = bar(page).getByRole("button", { name: "Move up: Tell the others" });
  await up.press("Enter");
  await expect(up).toBeFocused();
  await expect(rows.nth(2).getByRole("textbox")).toHaveValue("Tell the others");
  await bar(page).getByRole("button", { name: "Remove Write to the winner" }).press("Enter");
  await expect(rows).toHaveCount(3);
  await bar(page).getByRole("textbox", { name: "Step 1" }).fill("Read it twice");
  await page.keyboard.press("Enter");
  await bar(page).getByRole("checkbox", { name: "Completed: Compare the offers" }).check();
  await expect(head(page)).toContainText("2 of 3");
  await expect(head(page)).toContainText("Tell the others");
  await expect.poll(() => steps(page)).toEqual(["Read it twice", "Compare the offers", "Tell the others"]);

  // The agent's list, which does not know the change, is not stored; it reads the plan as it is.
  goOn();
  await expect(chat.answers.last()).toContainText("The plan has changed, I see.");
  await chat.idle();
  expect(script.told).toContain("1. [completed] Read it twice");
  expect(script.told).toContain("3. [pending] Tell the others");
  await page.keyboard.press("Escape");
  await expect(head(page)).toHaveAttribute("aria-expanded", "false");

  await page.reload();
  await alive(page);
  await expect(head(page)).toContainText("2 of 3");
  // Between two answers, too.
  await head(page).click();
  await bar(page).getByRole("checkbox", { name: "Completed: Tell the others" }).check();
  await expect(head(page)).toContainText("All steps are completed");
  await expect.poll(() => open_steps(page)).toBe(0);
  script.next = () => "I know.";
  await chat.ask("And now?");
  expect(script.told).toContain("The user has changed the plan.");
  await expect(chat.answers.last()).toContainText("I know.");
});

interface Answer {
  plan: { todos: { content: string; status: string }[] };
}

/** The plan as the server has it. */
async function stored(page: Page): Promise<Answer["plan"]["todos"]> {
  const id = new URL(page.url()).searchParams.get("conversation");
  const answer = (await (await page.request.get(`/api/conversations/${id}/plan`)).json()) as Answer;
  return answer.plan.todos;
}

const steps = async (page: Page) => (await stored(page)).map(({ content }) => content);
const open_steps = async (page: Page) => (await stored(page)).filter(({ status }) => status !== "completed").length;

test("the user switches planning on, and the conversation keeps it", async ({ page }) => {
  script.next = () => "Well.";
  await open(page, "/chooser");
  const chat = new Chat(page);
  const plan = page.getByRole("button", { name: "Plan", exact: true });
  await expect(plan).toHaveAttribute("aria-pressed", "false");
  await chat.ask("Hello");
  expect(script.instructions).not.toContain("write_todos");
  await plan.click();
  await chat.ask("Buy a printer");
  expect(script.instructions).toContain("write_todos");
  await page.reload();
  await alive(page);
  await expect(plan).toHaveAttribute("aria-pressed", "true");
  await chat.ask("And a chair");
  expect(script.instructions).toContain("write_todos");
});

test("nothing is sent before the plan is approved", async ({ page }) => {
  const replies: Reply[] = [[{ name: "send", arguments: {} }], written(0), [{ name: "send", arguments: {} }], "It is sent."];
  script.next = () => replies.shift()!;
  await open(page, "/careful");
  const chat = new Chat(page);
  await chat.send("Send the offer");
  await expect(chat.approval).toContainText(STEPS[0]!);
  expect(script.told).toContain("Not allowed: the user approves a plan");
  await expect(bar(page)).toHaveCount(0);
  await chat.approval.getByRole("button", { name: "Approve" }).click();
  await expect(chat.answers.last()).toContainText("It is sent.");
  await expect(head(page)).toContainText("0 of 3");
});
