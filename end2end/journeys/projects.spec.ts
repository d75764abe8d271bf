import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Locator, Page } from "@playwright/test";
import { first, signUp, toAccount } from "../fixtures/accounts.ts";
import { Chat } from "../fixtures/chat.ts";
import { everySize } from "../fixtures/sizes.ts";
import { expect, open, test } from "../fixtures/test.ts";

test.use({ serverOptions: { config: join(import.meta.dirname, "../configs/projects.yaml") } });
test.describe.configure({ timeout: 120_000 });

/** A part of a page without scripts. */
function part(page: Page, name: string): Locator {
  return page.getByRole("region", { name, exact: true });
}

test("a project has settings, conversations, members and a download", async ({ page, server, browser, console }) => {
  console.expect(/status of 422/);
  await first(page, server, "ada");
  await toAccount(page);
  await page.getByRole("link", { name: "Projects" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Projects" })).toBeVisible();
  const form = part(page, "New project");
  await form.getByLabel("Name").fill("Sales");
  await form.getByLabel("Colour").selectOption("Green");
  await form.getByLabel("Instructions (optional)").fill("Answer briefly.");
  await form.getByLabel("House rules").check();
  await form.getByLabel("Model of new conversations").selectOption("Thorough");
  await everySize(page, "projects-list");
  await form.getByRole("button", { name: "Create project" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Sales" })).toBeVisible();
  await everySize(page, "projects-page");

  // The conversation begins with the model of the project, and gets its title with the first message.
  await page.getByRole("button", { name: "New conversation in this project" }).click();
  const chat = new Chat(page);
  await expect(page.getByLabel("Model", { exact: true })).toHaveValue("thorough");
  await chat.ask("Hello there");
  await expect(page.locator("li.cw-conversation")).toContainText("Hello there");

  // In the list the folder has its colour, its count and the way back to the project.
  await page.getByLabel("Show", { exact: true }).selectOption("Sales");
  await expect(page.locator(".cw-scope .cw-folder-dot")).toHaveAttribute("data-color", "green");
  await expect(page.locator(".cw-scope .cw-folder-count")).toHaveText("1");
  await everySize(page, "projects-folder");
  await page.getByRole("link", { name: "Project settings" }).click();
  await expect(part(page, "My conversations").getByRole("link", { name: "Hello there" })).toBeVisible();

  // A file is read in the background.
  const files = part(page, "Files");
  await expect(files.getByText("There are no files yet.")).toBeVisible();
  const plan = { name: "plan.md", mimeType: "text/markdown", buffer: Buffer.from("# Plan\n\nThe umbrellas are blue.") };
  await files.getByLabel("Choose files, or drop them here").setInputFiles(plan);
  await files.getByRole("button", { name: "Add files" }).click();
  await expect(page.getByRole("status")).toContainText("Added");
  await expect(async () => {
    await page.reload();
    await expect(files.getByRole("listitem")).toContainText("ready", { timeout: 500 });
  }).toPass();

  const members = part(page, "Members");
  await members.getByLabel("User name").fill("bob");
  await members.getByRole("button", { name: "Add", exact: true }).click();
  await expect(members.getByRole("alert")).toContainText("no user with this name");
  const bob = await browser.newContext({ baseURL: server.url });
  const desk = await bob.newPage();
  await signUp(desk, "bob");
  await members.getByRole("button", { name: "Add", exact: true }).click();
  await expect(members.getByRole("listitem")).toHaveCount(2);
  await everySize(page, "projects-members");

  // Bob sees the settings, and not Ada's conversations.
  await desk.goto("/account/projects");
  await desk.getByRole("link", { name: "Sales" }).click();
  await expect(desk.getByText("Answer briefly.")).toBeVisible();
  await expect(desk.getByText("You have no conversations in it yet.")).toBeVisible();
  await expect(part(desk, "Settings").getByRole("button")).toHaveCount(0);
  await expect(part(desk, "Files").getByRole("link", { name: "plan.md" })).toBeVisible();
  await expect(part(desk, "Files").getByRole("button")).toHaveCount(0);
  await everySize(desk, "projects-viewer");
  await members.getByRole("button", { name: "Let change: bob" }).click();
  await desk.reload();
  await part(desk, "Settings").getByLabel("Instructions (optional)").fill("Answer at length.");
  await part(desk, "Settings").getByRole("button", { name: "Save" }).click();
  await expect(desk.getByRole("status")).toContainText("Saved");
  const path = (await part(desk, "Files").getByRole("link", { name: "plan.md" }).getAttribute("href")) ?? "";
  expect((await desk.request.get(path)).status()).toBe(200);
  await desk.getByRole("button", { name: "Leave project" }).click();
  await expect(desk.getByText("You are in no projects yet.")).toBeVisible();
  expect((await desk.request.get(path)).status()).toBe(404);
  await bob.close();

  await page.reload();
  await expect(part(page, "Settings").getByLabel("Instructions (optional)")).toHaveValue("Answer at length.");
  await files.getByRole("button", { name: "Delete: plan.md" }).click();
  await expect(files.getByText("There are no files yet.")).toBeVisible();
  const downloading = page.waitForEvent("download");
  await page.getByRole("link", { name: "Download with my conversations" }).click();
  const lines = (await readFile(await (await downloading).path(), "utf8")).trim().split("\n");
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
    expect.objectContaining({ name: "Sales", instructions: "Answer at length." }),
    expect.objectContaining({ format: "chatwright.conversation.1", title: "Hello there" }),
  ]);
  await page.getByText("Delete project", { exact: true }).click();
  await page.getByRole("button", { name: "Delete for everybody" }).click();
  await expect(page.getByRole("status")).toContainText("Deleted");
});

test("a conversation is dragged onto a folder, or moved to it with the keyboard", async ({ page, server }) => {
  await first(page, server, "ada");
  for (const name of ["Sales", "Trade"]) {
    expect((await page.request.post("/api/projects", { data: { name } })).status()).toBe(201);
  }
  await open(page);
  const chat = new Chat(page);
  await chat.ask("Hello there");
  const row = page.locator("li.cw-conversation").getByRole("link");
  await row.hover();
  await page.mouse.down();
  // The folders are shown once the row is being dragged.
  await page.mouse.move(200, 300, { steps: 5 });
  const sales = page.locator(".cw-drop-targets .cw-move-target", { hasText: "Sales" });
  await expect(sales).toBeVisible();
  await sales.hover();
  await page.mouse.up();
  await expect(page.locator(".cw-drop-targets")).toBeHidden();
  await page.getByLabel("Show", { exact: true }).selectOption("Sales");
  await expect(page.locator("li.cw-conversation")).toHaveCount(1);

  await page.getByRole("button", { name: "Options for Hello there" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("menuitem", { name: "Move to a folder…" }).press("Enter");
  const dialog = page.getByRole("dialog", { name: "Move to a folder" });
  await everySize(page, "projects-move");
  await dialog.getByRole("button", { name: /^Trade/ }).press("Enter");
  await expect(page.locator("li.cw-conversation")).toHaveCount(0);
  await page.getByLabel("Show", { exact: true }).selectOption("Trade");
  await expect(page.locator("li.cw-conversation")).toHaveCount(1);
});

test("folders are put into folders, by dragging and with the keyboard, and downloaded", async ({ page, server }) => {
  await first(page, server, "ada");
  for (const name of ["Clients", "May", "Sales"]) {
    expect((await page.request.post("/api/projects", { data: { name } })).status()).toBe(201);
  }
  await open(page);
  await new Chat(page).ask("Hello there");
  const tree = page.locator(".cw-folder-tree");
  const folder = (name: string) => tree.getByRole("button", { name: new RegExp(`^${name}`) });
  const places = async () => {
    const { items } = (await (await page.request.get("/api/folders")).json()) as { items: { id: string; name: string; parentId?: string }[] };
    const name = (id?: string) => items.find((item) => item.id === id)?.name;
    return items.map((item) => [item.name, name(item.parentId)].filter(Boolean).join(" in ")).sort();
  };

  // The row is in a closed folder then, which gets the focus.
  await folder("May").dragTo(folder("Clients"));
  await expect(folder("May")).toHaveCount(0);
  await expect(folder("Clients")).toBeFocused();
  await page.keyboard.press("ArrowRight");
  await expect(folder("Clients")).toHaveAttribute("aria-expanded", "true");
  await page.keyboard.press("ArrowDown");
  await expect(folder("May")).toBeFocused();

  // A conversation counts for the folders around it, too.
  await page.locator("li.cw-conversation").getByRole("link").dragTo(folder("May"));
  for (const name of ["May", "Clients"]) await expect(folder(name).locator(".cw-folder-count")).toHaveText("1");
  await folder("May").click();
  const filed = tree.getByRole("link", { name: "Hello there" });
  await expect(filed).toBeVisible();
  await page.reload();
  await expect(filed).toBeVisible();
  await everySize(page, "projects-tree");

  await folder("Sales").focus();
  await page.keyboard.press("Tab");
  await expect(page.getByRole("button", { name: "Move to a folder: Sales" })).toBeFocused();
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog", { name: "Move to a folder" });
  await expect(dialog.getByRole("button", { name: /^Sales/ })).toHaveCount(0);
  await everySize(page, "projects-move-folder");
  await dialog.getByRole("button", { name: /^May/ }).press("Enter");
  await expect(folder("Sales")).toBeFocused();
  expect(await places()).toEqual(["Clients", "May in Clients", "Sales in May"]);
  await page.keyboard.press("ArrowLeft");
  await expect(folder("May")).toBeFocused();
  await page.keyboard.press("ArrowLeft");
  await expect(filed).toHaveCount(0);

  await page.getByLabel("Show", { exact: true }).selectOption("Clients");
  const downloading = page.waitForEvent("download");
  await page.getByRole("link", { name: "Download this folder as ZIP" }).click();
  expect((await downloading).suggestedFilename()).toBe("Clients.zip");

  // When a folder is deleted, its contents move to the folder around it.
  await page.getByRole("button", { name: /^Delete this folder/ }).click();
  await expect(folder("Clients")).toHaveCount(0);
  await folder("May").click();
  await folder("Sales").hover();
  await page.mouse.down();
  await page.mouse.move(100, 400, { steps: 5 });
  await tree.getByText("No folder").hover();
  await page.mouse.up();
  await expect.poll(places).toEqual(["May", "Sales"]);
  const order = page.getByLabel("Order of the folders");
  await order.selectOption("Last used");
  await page.reload();
  await expect(order).toHaveValue("use");
  await expect(tree.getByText("No folder")).toHaveCount(0);
});

test("folders are put into an order of one's own, by dragging, with the keyboard and in the dialog", async ({ page, server }) => {
  await first(page, server, "ada");
  const ids: string[] = [];
  for (const name of ["Clients", "May", "Sales"]) {
    const made = await page.request.post("/api/projects", { data: { name } });
    expect(made.status()).toBe(201);
    ids.push(((await made.json()) as { folderId: string }).folderId);
  }
  await open(page);
  const tree = page.locator(".cw-folder-tree");
  const folder = (name: string) => tree.getByRole("button", { name: new RegExp(`^${name}`) });
  const names = tree.locator(":scope > li > .cw-tree-row .cw-move-name");
  const stored = async () => {
    const { items } = (await (await page.request.get("/api/folders")).json()) as { items: { name: string; parentId?: string }[] };
    return items.filter((item) => item.parentId === undefined).map((item) => item.name);
  };
  const order = async (...expected: string[]) => {
    await expect(names).toHaveText(expected);
    await expect.poll(stored).toEqual(expected);
  };
  await expect(names).toHaveText(["Clients", "May", "Sales"]);

  await folder("Clients").focus();
  await page.keyboard.press("Alt+ArrowDown");
  await order("May", "Clients", "Sales");
  await expect(folder("Clients")).toBeFocused();
  await expect(page.getByText("Clients: position 2 of 3")).toBeAttached();
  // The last one stays where it is.
  for (let press = 0; press < 2; press += 1) await page.keyboard.press("Alt+ArrowDown");
  await order("May", "Sales", "Clients");
  await expect(folder("Clients")).toBeFocused();

  await page.getByRole("button", { name: "Move to a folder: Clients" }).click();
  const dialog = page.getByRole("dialog", { name: "Move to a folder" });
  await dialog.getByRole("button", { name: "Move up" }).click();
  await expect(dialog.getByRole("status")).toHaveText("Clients: position 2 of 3");
  await page.keyboard.press("Escape");
  await order("May", "Clients", "Sales");

  // The line says where the folder will be: above the first row here.
  await folder("Sales").hover();
  await page.mouse.down();
  await page.mouse.move(100, 400, { steps: 5 });
  const row = tree.locator(`[data-folder="${ids[1]}"]`);
  // The first move only enters the row.
  for (const y of [4, 3]) await row.hover({ position: { x: 60, y } });
  await expect(row).toHaveAttribute("data-line", "before");
  await page.mouse.up();
  await order("Sales", "May", "Clients");
  await expect(row).not.toHaveAttribute("data-line");

  // Below a folder in another one, it is moved there as well.
  await folder("May").dragTo(folder("Clients"));
  await expect(folder("Clients")).toBeFocused();
  await page.keyboard.press("ArrowRight");
  await expect(folder("May")).toBeVisible();
  const height = (await row.boundingBox())!.height;
  await folder("Sales").dragTo(row, { targetPosition: { x: 60, y: height - 3 } });
  await expect(tree.locator(".cw-tree-inside .cw-move-name")).toHaveText(["May", "Sales"]);
  await page.reload();
  await expect(tree.locator(".cw-tree-inside .cw-move-name")).toHaveText(["May", "Sales"]);

  // In another order, rows have no place of their own.
  await page.getByLabel("Order of the folders").selectOption("By name");
  await folder("Sales").focus();
  await page.keyboard.press("Alt+ArrowUp");
  await expect(tree.locator(".cw-tree-inside .cw-move-name")).toHaveText(["May", "Sales"]);
  await page.getByRole("button", { name: "Move to a folder: Sales" }).click();
  await expect(dialog.getByRole("button", { name: /^Clients/ })).toBeVisible();
  await expect(dialog.getByRole("button", { name: "Move up" })).toHaveCount(0);
  await page.keyboard.press("Escape");
  await page.getByLabel("Order of the folders").selectOption("My order");
  await expect(tree.locator(".cw-tree-inside .cw-move-name")).toHaveText(["May", "Sales"]);
});
