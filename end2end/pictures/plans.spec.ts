import { Chat } from "../fixtures/chat.ts";
import { picture } from "../fixtures/picture.ts";
import { planner, written } from "../fixtures/planner.ts";
import { expect, open } from "../fixtures/test.ts";

const LONG = "Compare the offers of all five suppliers, with the price for ten of them, the warranty and the time of delivery";
const STEPS = ["Read the request", LONG, "Write to the winner", "Tell the others"];

const test = planner({ reply: (role) => (role === "tool" ? "I begin to compare the offers." : written(1, STEPS)) });

test("a plan, closed and open", async ({ page }, info) => {
  await open(page, "/planner");
  const chat = new Chat(page);
  await chat.ask("Buy a printer");
  const bar = page.getByRole("region", { name: "Plan" });
  await expect(bar).toContainText("1 of 4");
  await picture(page, info, "plans-closed");
  await bar.getByRole("button").first().click();
  await expect(bar.getByRole("listitem")).toHaveCount(4);
  await picture(page, info, "plans-open");
});

test("the switch", async ({ page }, info) => {
  await open(page, "/chooser");
  await page.getByRole("button", { name: "Plan", exact: true }).click();
  await picture(page, info, "plans-switch");
});
