import { List, seed } from "../fixtures/list.ts";
import { expect, open, test } from "../fixtures/test.ts";

test("pin, archive, move to a folder, and back", async ({ page, server }) => {
  await seed(server.url, ["Apples", "Pears", "Plums"]);
  await open(page);
  const list = new List(page);
  await list.shows("Plums", "Pears", "Apples");
  await list.menu("Apples", "Pin");
  await list.shows("Apples", "Plums", "Pears");
  await list.menu("Plums", "Archive");
  await list.shows("Apples", "Pears");
  await list.menu("Pears", "Move to a folder…");
  await page.getByRole("textbox", { name: "Name of a new folder" }).fill("Fruit");
  await page.keyboard.press("Enter");
  const show = page.getByRole("combobox", { name: "Show" });
  await show.selectOption("Fruit");
  await list.shows("Pears");
  await page.getByRole("button", { name: "Rename this folder" }).click();
  await page.getByRole("textbox", { name: "New name of the folder" }).fill("Fruit and more");
  await page.keyboard.press("Enter");
  await expect(show).toContainText("Fruit and more");
  await show.selectOption("Archive");
  await list.shows("Plums");
  await list.menu("Plums", "Move out of the archive");
  await expect(page.getByText("The archive is empty.")).toBeVisible();
  await page.reload();
  await list.shows("Apples", "Plums", "Pears");
  await show.selectOption("Fruit and more");
  await page.getByRole("button", { name: "Delete this folder, not what is in it" }).click();
  await list.shows("Apples", "Plums", "Pears");
});

test("a deletion can be undone, and is final after that", async ({ page, server }) => {
  await seed(server.url, ["Apples", "Pears"]);
  await open(page);
  const list = new List(page);
  await list.link("Pears").click();
  await list.menu("Pears", "Delete");
  await list.shows("Apples");
  await expect(page).not.toHaveURL(/conversation=/);
  expect((await fetch(`${server.url}/api/conversations/seed-1`)).status).toBe(404);
  await page.getByRole("button", { name: "Undo" }).click();
  await list.shows("Pears", "Apples");
});

test("the list by keyboard alone", async ({ page, server }) => {
  await seed(server.url, ["Apples", "Pears", "Plums", "Figs"]);
  await open(page);
  const list = new List(page);
  await list.link("Figs").focus();
  await page.keyboard.press("ArrowDown");
  await expect(list.link("Plums")).toBeFocused();
  await page.keyboard.press("F2");
  await page.keyboard.type("Prunes");
  await page.keyboard.press("Enter");
  await list.shows("Figs", "Prunes", "Pears", "Apples");
  await list.link("Prunes").focus();
  await page.keyboard.press("Delete");
  await list.shows("Figs", "Pears", "Apples");
  await expect(list.link("Pears")).toBeFocused();
  await page.keyboard.press("Space");
  await page.keyboard.press("End");
  await page.keyboard.press("Space");
  await expect(page.getByText("2 selected")).toBeVisible();
  await page.getByRole("toolbar", { name: "Selected conversations" }).getByRole("button", { name: "Archive" }).press("Enter");
  await list.shows("Figs");
  await page.getByRole("combobox", { name: "Show" }).selectOption("Archive");
  await list.shows("Pears", "Apples");
});

test("an answer that came while nobody looked is marked, in every tab", async ({ page, context, server }) => {
  await seed(server.url, ["Apples", "Pears"]);
  await open(page);
  const list = new List(page);
  await expect(list.rows.getByText("Unread.")).toHaveCount(2);
  const other = await context.newPage();
  await open(other);
  const there = new List(other);
  await list.link("Apples").click();
  await expect(list.rows.getByText("Unread.")).toHaveCount(1);
  await expect(there.rows.getByText("Unread.")).toHaveCount(1);
  await list.menu("Apples", "Pin");
  await there.shows("Apples", "Pears");
});

test("words are found in messages, and the message is brought before the reader", async ({ page, server }) => {
  await seed(server.url, ["Where is my <b>Überweisung</b>?", "count to 120", "Tell me about refunds"]);
  await open(page);
  const list = new List(page);
  const field = page.getByRole("searchbox", { name: "Search conversations" });
  await field.fill("uberweis");
  const finds = page.locator(".cw-find");
  await expect(finds).toHaveCount(1);
  await expect(finds.locator("mark").first()).toContainText("Überweisung");
  await expect(list.rows.first()).toBeHidden();
  await field.fill("\" OR owner:* NEAR(");
  await expect(page.getByText("Nothing was found.")).toBeVisible();
  await field.fill("119 120");
  await finds.getByRole("link").click();
  await expect(page).toHaveURL(/conversation=seed-1/);
  await expect(page.getByRole("log").getByRole("article", { name: "Agent" })).toBeInViewport();
  await field.focus();
  await page.keyboard.press("Escape");
  await expect(list.rows).toHaveCount(3);
});
