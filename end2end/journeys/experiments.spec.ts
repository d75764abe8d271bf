import { join } from "node:path";
import { Chat } from "../fixtures/chat.ts";
import { everySize } from "../fixtures/sizes.ts";
import { expect, open, test } from "../fixtures/test.ts";

test.use({ serverOptions: { config: join(import.meta.dirname, "../configs/experiments.yaml") } });
test.describe.configure({ timeout: 180_000 });

test("a disliked answer becomes a case, an experiment, and a decision", async ({ page }) => {
  await open(page, "/desk");
  const chat = new Chat(page);
  await chat.ask("What do you know about refunds?");
  await chat.idle();
  await chat.answers.last().getByRole("button", { name: "Bad answer" }).click();
  const why = page.getByRole("textbox", { name: "Why?" });
  await why.fill("It does not say how many days.");
  await why.press("Enter");
  await expect(why).toHaveCount(0);

  // Feedback → case, with one click.
  await page.goto("/admin/feedback");
  await page.getByRole("button", { name: /Keep the answer in .* as a case/ }).click();
  await expect(page.getByRole("status")).toContainText("The answer is a case now.");
  await expect(page.getByLabel("Rubric for the judge")).toHaveValue(/It does not say how many days\./);
  await page.getByLabel("The answer contains (a text in each line)").fill("30 days");
  await everySize(page, "experiments-case");
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByRole("status")).toContainText("Saved, in a new version of the dataset.");
  // The same answer again is the same case.
  await page.goto("/admin/feedback");
  await page.getByRole("button", { name: /Keep the answer in .* as a case/ }).click();
  await expect(page.getByText("This answer was a case already.")).toBeVisible();

  // Case → experiment: the second agent may look things up.
  await page.getByRole("link", { name: "Feedback on helper" }).click();
  await page.getByLabel("JSON Lines, a case in each line; one with a known id replaces it").fill(
    ["hello", "count to 5"].map((input, at) => JSON.stringify({ id: `more-${at}`, input, tags: ["more"] })).join("\n"),
  );
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await expect(page.getByRole("row", { name: /count to 5/ })).toBeVisible();
  const run = async (name: string, other: string): Promise<void> => {
    await page.getByLabel("Compare with").selectOption(other);
    await page.getByLabel("At most (US$)").fill("");
    await page.getByLabel("Name", { exact: true }).fill(name);
    await page.getByRole("button", { name: "Run experiment" }).click();
    await expect(page.getByRole("heading", { name, level: 1 })).toBeVisible();
    await expect(page.getByRole("heading", { name: "Decision" }).or(page.getByText("done", { exact: true })).first()).toBeVisible({ timeout: 60_000 });
    await page.reload();
  };
  await run("As it is", "");
  await expect(page.getByRole("row", { name: /Cases that pass 67 %/ })).toBeVisible();
  await page.goBack();
  await page.goto("/admin/datasets");
  await page.getByRole("link", { name: "Feedback on helper" }).click();
  await run("Let it search", "searcher");
  await expect(page.getByRole("row", { name: /Cases that pass 67 %.*100 %/ })).toBeVisible();
  await everySize(page, "experiments-page");

  // The two answers beside each other, and how they came about.
  await page.getByRole("region", { name: "Changed cases, worst first" }).getByRole("link").first().click();
  await expect(page.getByRole("heading", { name: "How it was produced" })).toBeVisible();
  await expect(page.getByText("First divergence", { exact: true })).toBeVisible();
  await expect(page.getByText(/They first differ in step 1/)).toBeVisible();
  await everySize(page, "experiments-answers");
  await expect(page.getByRole("heading", { name: "What do you know about refunds?", level: 1 })).toBeVisible();

  // A person says what they think of an answer; judges are compared with that.
  const answer = page.getByRole("region", { name: "Answers" });
  await answer.getByRole("button", { name: "Good answer" }).first().click();
  await expect(answer.getByRole("button", { name: "Good answer", pressed: true })).toHaveCount(1);
  await expect(answer.getByRole("listitem")).toContainText(/Good, says Owner/);
  await answer.getByRole("button", { name: "Withdraw" }).click();
  await expect(answer.getByRole("listitem")).toHaveCount(0);
  await page.getByRole("link", { name: "all cases" }).click();
  await expect(page.getByRole("row", { name: /searcher/ })).toHaveCount(3);
  await everySize(page, "experiments-all-cases");
  await page.getByRole("link", { name: "Let it search" }).click();

  // Experiment → decision, with who and when.
  await page.getByLabel("Note").fill("It finds the article.");
  await page.getByRole("button", { name: "Adopt" }).click();
  await expect(page.getByRole("region", { name: "Decision" })).toContainText(/Adopted by Owner/);
  await page.goto("/admin/audit?action=admin%3Adecide_experiment");
  await expect(page.getByRole("row", { name: /decide_experiment/ })).toBeVisible();
  await page.goto("/admin/experiments");
  await expect(page.getByRole("row", { name: /Let it search.*67 % → 100 %.*adopted by Owner/ })).toBeVisible();
  await everySize(page, "experiments-list");
  await page.goto("/admin/datasets");
  await page.getByRole("link", { name: "Feedback on helper" }).click();
  await expect(page.getByRole("img", { name: /passed in 2 experiments: 67 % in the first, 100 % in the last/ })).toBeVisible();
  await everySize(page, "experiments-dataset");
});

test("a recorded run is replayed with another agent, and the first divergence is marked", async ({ page }) => {
  await open(page, "/desk");
  const chat = new Chat(page);
  await chat.ask("What do you know about refunds?");
  await chat.idle();
  await expect(async () => {
    await page.goto("/admin/recordings");
    await expect(page.getByRole("row", { name: /helper/ })).toBeVisible({ timeout: 1_000 });
  }).toPass();
  await everySize(page, "recordings-list");
  await page.getByRole("row", { name: /helper/ }).getByRole("link").click();
  await expect(page.getByRole("region", { name: "The user writes" })).toContainText("What do you know about refunds?");
  await everySize(page, "recordings-run");
  await page.getByRole("button", { name: "Replay" }).click();
  await expect(page.getByText("Both are the same.")).toBeVisible();
  await page.goBack();
  await page.getByLabel("Agent").selectOption("searcher");
  await page.getByLabel("Source of the model's replies").selectOption("auto");
  await page.getByRole("button", { name: "Replay" }).click();
  await expect(page.getByText(/They first differ in step 1 of helper/)).toBeVisible();
  await expect(page.getByText("First divergence", { exact: true })).toBeVisible();
  await expect(page.getByRole("columnheader", { name: "replayed" })).toBeVisible();
  await everySize(page, "recordings-replay");
});
