import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ANSWER, address, alive, ask, idle, open, send, stopCounting } from "../drivers/talk.ts";
import { expect, test } from "../drivers/test.ts";
import { type Query, button, field, heading, link } from "../drivers/view.ts";
import { seed } from "../fixtures/list.ts";

const APPROVAL: Query = { css: "[role=group]", name: "Approval: ", part: true };
const SEARCH = field("Search conversations");
const row = (title: string): Query => ({ css: "[data-conversation] a", name: title, part: true });
const find = (title: string): Query => ({ css: ".cw-find a", name: title, part: true });
const item = (name: string): Query => ({ css: "[role=menuitem]", name });

test("an answer streams and survives a reload", async ({ server, view }) => {
  await open(view, server.url);
  await send(view, "count to 300");
  await view.says(ANSWER, /\b3\b/);
  expect((await view.find(ANSWER)).text).not.toMatch(/\b300\b/);
  await view.says(ANSWER, /\b300\b/);
  await idle(view);
  expect((await address(view)).searchParams.get("conversation")).toMatch(/^\S+$/);
  await view.tab.reload();
  await alive(view);
  await view.says(ANSWER, /\b1\b[^]*\b300\b/);
});

test("an answer is stopped", async ({ server, view }) => {
  await open(view, server.url);
  await stopCounting(view);
  const said = (await view.find(ANSWER)).text;
  expect(said).not.toMatch(/\b1500\b/);
  await view.tab.reload();
  await alive(view);
  await view.says(ANSWER, /\b5\b/);
  expect((await view.find(ANSWER)).text).not.toMatch(/\b1500\b/);
});

test("a call is approved after a reload", async ({ server, view }) => {
  await open(view, server.url);
  await ask(view, "Delete the article about refunds");
  await view.says(APPROVAL, "Refunds");
  await view.tab.reload();
  await alive(view);
  await view.click(button("Approve", true));
  await view.says(ANSWER, "the article is deleted");
  await view.hides(APPROVAL);
});

test("the agent fills in the form, and a click undoes a field", async ({ server, view }) => {
  await open(view, server.url);
  await view.fill(field("Company"), "Old company");
  await ask(view, "Fill in the form for Ada Lovelace at Analytical Engines");
  await view.holds(field("Legal name"), "Ada Lovelace");
  await view.holds(field("Company"), "Analytical Engines");
  await view.holds(field("Due date"), "2026-12-10");
  await view.click(button("Undo the agent's change of Company"));
  await view.holds(field("Company"), "Old company");
  await view.holds(field("Legal name"), "Ada Lovelace");
});

test("a conversation is found, renamed and deleted", async ({ server, view }) => {
  await seed(server.url, ["Apples", "Pears"]);
  await open(view, server.url);
  await view.shows(row("Apples"));
  await view.fill(SEARCH, "Pears");
  await view.shows(find("Pears"));
  await view.hides(row("Apples"));
  await view.press("Escape");
  await view.hover(row("Pears"));
  await view.click(button("Options for Pears"));
  await view.click(item("Rename"));
  await view.shows({ css: "[data-conversation] input" });
  await view.press("Control+a");
  await view.type("Plums");
  await view.press("Enter");
  await view.shows(row("Plums"));
  await view.hides(row("Pears"));
  await view.hover(row("Plums"));
  await view.click(button("Options for Plums"));
  await view.click(item("Delete"));
  await view.hides(row("Plums"));
  await view.tab.reload();
  await view.shows(row("Apples"));
  await view.hides(row("Plums"));
});

test("a file is attached and read", async ({ server, view }) => {
  const folder = await mkdtemp(join(tmpdir(), "chatwright-file-"));
  await writeFile(join(folder, "notes.md"), "# Notes\n\nThe pumps run at night.\n");
  await open(view, `${server.url}/work`);
  await view.tab.choose([], "form[data-alive] input[type=file]", join(folder, "notes.md"));
  await view.shows({ css: "[aria-label='Attached files'] li", text: "notes.md" });
  await ask(view, "What is in the attached file?");
  await view.says(ANSWER, "The pumps run at night.");
  await rm(folder, { recursive: true });
});

test("the palette opens by its keys and leads to another page", async ({ server, view }) => {
  await open(view, server.url);
  const palette: Query = { css: "dialog, [role=dialog]", name: "Command palette" };
  await expect(async () => {
    if ((await view.find(palette)).count === 0) await view.press("Control+k");
    await expect.poll(async () => (await view.find(palette)).count, { timeout: 2_000 }).toBe(1);
  }).toPass();
  await expect.poll(() => view.call(() => document.activeElement?.getAttribute("role"))).toBe("combobox");
  await view.type("research");
  await view.shows({ css: "[role=option][aria-selected=true]", text: "esearch" });
  await view.press("Enter");
  await expect.poll(async () => (await address(view)).pathname).toContain("research");
});

test("a citation opens its source", async ({ server, view }) => {
  await open(view, `${server.url}/research`);
  const mark: Query = { css: "[role=log] article button", name: ": on-call.md", part: true };
  await expect(async () => {
    await ask(view, "Who is on call at night?");
    // The documents are read after the start of the server.
    expect((await view.find(mark)).count).toBeGreaterThan(0);
  }).toPass({ timeout: 40_000 });
  await view.click(mark);
  const panel: Query = { css: "dialog", name: "on-call.md" };
  await view.shows(panel);
  await view.shows({ css: "dialog mark" });
  await view.press("Escape");
  await view.hides(panel);
});

test("the console opens, and so does a recorded conversation in it", async ({ server, view }) => {
  await seed(server.url, ["Apples"]);
  await view.tab.goto(`${server.url}/admin`);
  await view.shows({ css: "h1" });
  await view.click(link("Conversations", true));
  await view.shows({ css: "main a", name: "Apples", part: true });
  await view.click({ css: "main a", name: "Apples", part: true });
  await view.shows({ css: "main", text: "Apples" });
});

test("an installed page says that the server cannot be reached", async ({ server, view, expected }) => {
  expected.push(/NetworkError|Load failed|network connection|status of 503|connection .*(interrupted|lost)/i);
  await open(view, server.url);
  const isControlled = () => navigator.serviceWorker?.controller !== null;
  await view.call(() => void navigator.serviceWorker.register("/assets/lazy/offline-worker.js", { scope: "/" }));
  await expect.poll(() => view.call(isControlled), { timeout: 20_000 }).toBe(true);
  await server.stop();
  await view.tab.goto(`${server.url}/?again`).catch(() => {});
  await view.shows(heading("The server cannot be reached"));
  await server.launch();
  await view.click(link("Try again"));
  await alive(view);
  expect((await address(view)).search).toBe("?again");
});
