import { join } from "node:path";
import { awake } from "../drivers/talk.ts";
import { expect, test } from "../drivers/test.ts";
import { type Query, button, field } from "../drivers/view.ts";

test.use({ serverOptions: { config: join(import.meta.dirname, "../configs/workflows.yaml") } });

const KEY = { authorization: "Bearer a-key-of-the-shop-1234", "content-type": "application/json" };

test("a person fills in the form of a workflow", async ({ server, view }) => {
  const post = async (path: string, body: object) => (await fetch(server.url + path, { method: "POST", headers: KEY, body: JSON.stringify(body) })).status;
  expect(await post("/api/endpoints/runs/repair", {})).toBe(200);
  expect(await post("/api/hooks/order/arrived", { text: "customer: Acme, amount: 620" })).toBe(202);
  await view.tab.goto(`${server.url}/tasks`);
  await awake(view);
  const card: Query = { css: "[role=group], fieldset", name: "How is the order of Acme delivered?" };
  await expect.poll(async () => (await view.find(card)).count, { timeout: 40_000 }).toBeGreaterThan(0);
  await view.fill(field("Boxes", true), "many");
  await view.click(button("Answer"));
  await view.says({ css: "[role=alert]" }, "Check the marked fields.");
  await view.set(field("Delivery day", true), "2026-12-24");
  await view.fill(field("Boxes", true), "3");
  await view.fill(field("City", true), "Oslo");
  await view.click(button("Answer"));
  await view.shows({ css: "main *", text: "Answered. The run continues." });
});
