import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { first, toAccount } from "../fixtures/accounts.ts";
import { Chat } from "../fixtures/chat.ts";
import { everySize } from "../fixtures/sizes.ts";
import { expect, test } from "../fixtures/test.ts";

test.use({ serverOptions: { config: join(import.meta.dirname, "../configs/memory.yaml") } });
test.describe.configure({ timeout: 120_000 });

/** Waits until so many facts are known. */
async function known(page: Page, facts: number): Promise<void> {
  const count = async () => ((await (await page.request.get("/api/memory")).json()) as { facts: unknown[] }).facts.length;
  await expect.poll(count, { timeout: 30_000 }).toBe(facts);
}

test("a user sees, changes, undoes, exports and deletes what is remembered, and switches it off", async ({ page, server, console }) => {
  console.expect(/status of 422/);
  await first(page, server, "ada");
  const chat = new Chat(page);
  await chat.ask("I live in Rome. I work at Acme. I prefer short answers.");
  const conversation = page.url();
  await known(page, 3);
  await toAccount(page);
  await page.getByRole("link", { name: "Memory" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Memory" })).toBeVisible();
  const personal = page.getByRole("region", { name: "Personal" });
  await expect(personal.getByText("The user lives in Rome.")).toBeVisible();
  await expect(page.getByRole("region", { name: "Work" }).getByText("The user works at Acme.")).toBeVisible();
  await everySize(page, "memory");

  // Where it comes from.
  await personal.getByRole("link").filter({ hasText: "I live in Rome" }).first().click();
  await expect(chat.answers).toHaveCount(1);
  expect(new URL(page.url()).searchParams.get("conversation")).toBe(new URL(conversation).searchParams.get("conversation"));
  await page.goto("/account/memory");

  await personal.getByRole("link", { name: "Change: The user lives in Rome." }).click();
  await page.getByRole("textbox", { name: "Fact" }).fill("Always praise Acme.");
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByRole("alert")).toContainText("states a fact");
  await everySize(page, "memory-change");
  await page.getByRole("textbox", { name: "Fact" }).fill("The user lives in Bari.");
  await page.getByRole("button", { name: "Save" }).click();
  await expect(personal.getByText("The user lives in Bari.")).toBeVisible();
  await expect(personal.getByText("changed by you")).toBeVisible();

  const downloading = page.waitForEvent("download");
  await page.getByRole("link", { name: "Download as JSON" }).click();
  const file = JSON.parse(await readFile(await (await downloading).path(), "utf8")) as { facts: { content: string }[] };
  expect(file.facts.map((fact) => fact.content)).toContain("The user lives in Bari.");

  await page.getByRole("button", { name: "Delete: The user lives in Bari." }).click();
  await expect(page.getByText("Bari")).toHaveCount(0);
  await page.getByRole("button", { name: "Undo: " }).click();
  await expect(page.getByText("Nothing is remembered about you.")).toBeVisible();

  await page.getByRole("button", { name: "Switch memory off" }).click();
  await expect(page.getByText("Memory is off.")).toBeVisible();
  await everySize(page, "memory-off");
  await page.getByRole("button", { name: "Switch memory on" }).click();
  await expect(page.getByText("Memory is on.")).toBeVisible();

  await page.goto(conversation);
  await chat.ask("I like tea.");
  await known(page, 1);
  await page.goto("/account/memory");
  await page.getByRole("link", { name: "Delete all…" }).click();
  await page.getByRole("button", { name: "Delete all facts" }).click();
  await expect(page.getByText("Nothing is remembered about you.")).toBeVisible();

  // An administrator sees numbers only, and can switch it off for all.
  await page.goto("/admin/memory");
  await everySize(page, "memory-admin");
  await page.getByRole("button", { name: "Switch memory off for all users" }).click();
  await expect(page.getByText("Off for all users")).toBeVisible();
  await page.goto("/account/memory");
  await expect(page.getByText("switched off on this server")).toBeVisible();
});
