import { join } from "node:path";
import { type BrowserContext, type Page, expect as baseExpect } from "@playwright/test";
import { first, openAccountMenu } from "../fixtures/accounts.ts";
import { accessible, fits } from "../fixtures/axe.ts";
import { Chat } from "../fixtures/chat.ts";
import { List, seed } from "../fixtures/list.ts";
import type { Server } from "../fixtures/server.ts";
import { alive, expect, open, test } from "../fixtures/test.ts";

const config = (name: string) => ({ config: join(import.meta.dirname, `../configs/${name}.yaml`) });

// Each state is checked in two window sizes. In the smaller one, axe runs only with `cargo xtask test --thorough`; whether the page fits is always checked.
test.describe.configure({ timeout: 120_000 });

interface Given {
  page: Page;
  chat: Chat;
  context: BrowserContext;
  server: Server;
}

/** Brings the page into a state. */
type State = (given: Given) => Promise<void>;

/** States of the demo; each starts on its open page. */
const STATES: Record<string, State> = {
  welcome: async () => {},
  "an answer being written": async ({ chat }) => chat.startCounting(2000, 3),
  "a message that waits": async ({ chat, page }) => {
    await chat.startCounting(2000, 3);
    await chat.send("and then?");
    await expect(page.getByRole("region", { name: "Waiting messages" })).toBeVisible();
    await page.getByRole("button", { name: "Edit the waiting message" }).click();
  },
  "an unfolded tool card": async ({ chat }) => {
    await chat.ask("What do you know about refunds?");
    await chat.answers.last().locator("summary").first().click();
  },
  "code, a table and a formula": async ({ chat }) => chat.ask("Show me some Markdown"),
  "an approval": async ({ chat }) => {
    await chat.ask("Delete the article about refunds");
    await chat.approval.getByRole("button", { name: "Change" }).click();
  },
  "a question with options": async ({ chat }) => {
    await chat.ask("Ask me something");
    await chat.question.getByRole("button", { name: "Answer" }).click();
    await expect(chat.question.getByRole("alert")).toContainText("answer");
  },
  "a question with a form": async ({ chat }) => {
    await chat.ask("Ask me with a form");
    await expect(chat.question.getByLabel("Boxes")).toBeVisible();
  },
  "an answer that was stopped": async ({ chat }) => {
    await chat.startCounting(2000, 3);
    await chat.stopButton.click();
    await expect(chat.log.getByText("Stopped.")).toBeVisible();
  },
  offline: async ({ chat, page, context }) => {
    await chat.ask("Hello");
    await context.setOffline(true);
    await expect(page.getByText("You are offline.")).toBeVisible();
  },
  "why an answer was bad": async ({ chat, page }) => {
    await chat.ask("Hello");
    await chat.answers.last().getByRole("button", { name: "Bad answer" }).click();
    await expect(page.getByRole("textbox", { name: "Why?" })).toBeFocused();
  },
  "the menu of a message": async ({ chat, page }) => {
    await chat.ask("Hello");
    await chat.answers.last().getByRole("button", { name: "More" }).click();
    await expect(page.getByRole("menuitem", { name: "Copy as text" })).toBeVisible();
  },
  "editing a message": async ({ chat, page }) => {
    await chat.ask("Hello");
    await chat.log.getByRole("article", { name: "You" }).last().getByRole("button", { name: "Edit" }).click();
    await expect(page.getByRole("textbox", { name: "Edit your message" })).toBeFocused();
  },
  "a form that the agent filled in": async ({ chat, page }) => {
    await chat.ask("Fill in the form for Ada Lovelace");
    await expect(page.getByText("Changed by the agent").first()).toBeAttached();
  },
  "a conversation of somebody else": async ({ page }) => {
    await page.goto("/?conversation=unknown");
    await expect(page.getByText("This conversation cannot be shown")).toBeVisible();
  },
  "no such page": async ({ page }) => {
    await page.goto("/nowhere");
    await expect(page.getByRole("main")).toBeVisible();
  },
};

for (const [name, bring] of Object.entries(STATES)) {
  test(`axe: ${name}`, async ({ page, context, server, console }) => {
    console.expect(/status of 40[04]/, /ERR_INTERNET_DISCONNECTED/, /Failed to fetch/);
    await open(page);
    await bring({ page, chat: new Chat(page), context, server });
    await accessible(page);
    // 320 pixels, which corresponds to 1280 pixels at a zoom of 400 %.
    await page.setViewportSize({ width: 320, height: 640 });
    await fits(page);
    if (process.env.THOROUGH) await accessible(page);
  });
}

/** States of the list of conversations. */
const LISTS: Record<string, State> = {
  "the menu of a conversation": async ({ page }) => {
    await page.getByRole("button", { name: "Options for Apples" }).click();
    await expect(page.getByRole("menuitem", { name: "Share…" })).toBeVisible();
  },
  search: async ({ page }) => {
    await page.getByRole("searchbox", { name: "Search conversations" }).fill("Apples");
    await expect(page.getByText("1 conversation", { exact: true })).toBeVisible();
  },
  "a selection": async ({ page }) => {
    await new List(page).menu("Apples", "Select");
    await expect(page.getByText("1 selected")).toBeVisible();
  },
  renaming: async ({ page }) => {
    await new List(page).menu("Apples", "Rename");
    await expect(page.getByRole("textbox", { name: "New title" })).toBeFocused();
  },
  "the dialog that moves": async ({ page }) => {
    await new List(page).menu("Apples", "Move to a folder…");
    await expect(page.getByRole("heading", { name: "Move to a folder" })).toBeVisible();
  },
  "the dialog that shares": async ({ page }) => {
    await new List(page).menu("Apples", "Share…");
    await page.getByRole("button", { name: "Create a link" }).click();
    await expect(page.getByRole("textbox", { name: "Link" })).toBeVisible();
  },
  "a shared copy": async ({ page }) => {
    await new List(page).menu("Apples", "Share…");
    await page.getByRole("button", { name: "Create a link" }).click();
    await page.goto(await page.getByRole("textbox", { name: "Link" }).inputValue());
    await expect(page.getByRole("heading", { name: "Apples" })).toBeVisible();
  },
  undo: async ({ page }) => {
    await new List(page).menu("Apples", "Delete");
    await expect(page.getByRole("button", { name: "Undo" })).toBeVisible();
  },
};

for (const [name, bring] of Object.entries(LISTS)) {
  test(`axe: ${name}`, async ({ page, context, server }) => {
    await seed(server.url, ["Apples", "Pears"]);
    await open(page);
    await bring({ page, chat: new Chat(page), context, server });
    await accessible(page);
  });
}

test("axe: the drawers of a narrow screen", async ({ page }) => {
  await page.setViewportSize({ width: 320, height: 640 });
  await open(page);
  await page.getByRole("button", { name: "Conversations" }).click();
  await expect(page.getByRole("link", { name: "New conversation" })).toBeVisible();
  await fits(page);
  await accessible(page);
  await page.keyboard.press("Escape");
  await page.getByRole("banner").getByRole("button", { name: "Customer request" }).click();
  await expect(page.getByLabel("Legal name")).toBeVisible();
  await fits(page);
  await accessible(page);
});

test.describe("what the composer can do", () => {
  test.use({ serverOptions: config("composer") });
  test("axe: files, switches and commands", async ({ page }) => {
    await open(page);
    const files = page.locator(".cw-composer input[type=file]");
    await files.setInputFiles({ name: "a.csv", mimeType: "text/csv", buffer: Buffer.from("a,b") });
    await expect(page.getByRole("list", { name: "Attached files" })).toBeVisible();
    await files.setInputFiles({ name: "a.exe", mimeType: "application/octet-stream", buffer: Buffer.from("x") });
    await expect(page.getByRole("alert")).toContainText("a.exe");
    await new Chat(page).composer.fill("/");
    await expect(page.getByRole("listbox", { name: "Commands" })).toBeVisible();
    await accessible(page);
    await page.setViewportSize({ width: 320, height: 640 });
    await fits(page);
    await accessible(page);
  });
});

test.describe("a limit", () => {
  test.use({ serverOptions: config("limits") });
  test("axe: an answer that ends at its limit, and a quota that is used up", async ({ page, console }) => {
    console.expect(/status of 429/);
    await open(page);
    const chat = new Chat(page);
    await chat.ask("What do you know about refunds?");
    await expect(page.getByRole("button", { name: "Continue" })).toBeVisible();
    await accessible(page);
    await chat.send("Hello");
    await expect(chat.log.getByText(/begin anew|again at|limit/i).first()).toBeVisible();
    await accessible(page);
  });
});

test.describe("a chat over the page", () => {
  test.use({ serverOptions: config("displays") });
  test("axe: a drawer, closed and open, and the whole page", async ({ page }) => {
    await page.goto("/drawer");
    const opener = page.getByRole("button", { name: "Help", exact: true });
    await expect(opener).toBeVisible();
    await accessible(page);
    await opener.click();
    await alive(page);
    await accessible(page);
    await page.setViewportSize({ width: 320, height: 640 });
    await fits(page);
    await accessible(page);
    await page.goto("/whole");
    await alive(page);
    await fits(page);
    await accessible(page);
  });
});

test.describe("from the right", () => {
  test.use({ serverOptions: config("hebrew") });
  test("axe: Hebrew", async ({ page }) => {
    await page.goto("/");
    const composer = page.getByRole("textbox", { name: "הודעה", exact: true });
    await expect(async () => {
      await composer.fill("Delete the article about refunds");
      await expect(page.getByRole("button", { name: "שליחה" })).toBeEnabled({ timeout: 500 });
    }).toPass();
    await accessible(page);
    await composer.press("Enter");
    await expect(page.getByRole("group", { name: /^אישור/ })).toBeVisible();
    await accessible(page);
    await page.setViewportSize({ width: 320, height: 640 });
    await fits(page);
    await accessible(page);
  });
});

test.describe("accounts and the console", () => {
  test.use({ serverOptions: config("accounts") });
  test("axe: each page of the console", async ({ page, server, console }) => {
    console.expect(/status of 40[14]/);
    await page.goto("/");
    await first(page, server);
    await new Chat(page).ask("Hello");
    await page.goto("/admin");
    const links = () => page.getByRole("navigation").getByRole("link").evaluateAll((links) =>
      links.map((link) => new URL((link as HTMLAnchorElement).href).pathname).filter((path) => path.startsWith("/admin")));
    await expect(page.getByRole("navigation").first()).toBeVisible();
    const pages = [];
    for (const group of await links()) {
      await page.goto(group);
      pages.push(...await links());
    }
    baseExpect(new Set(pages).size).toBeGreaterThan(12);
    for (const path of new Set(pages)) {
      await test.step(path, async () => {
        await page.setViewportSize({ width: 1280, height: 800 });
        await page.goto(path);
        await accessible(page);
        await page.setViewportSize({ width: 320, height: 640 });
        await fits(page);
      });
    }
  });

  test("axe: signing in, the account, and what the console tells of one user and one conversation", async ({ page, server, console }) => {
    console.expect(/status of 40[14]/);
    await page.goto("/");
    await accessible(page);
    await first(page, server);
    await new Chat(page).ask("Hello");
    for (const [list, link] of [["/admin/users", "ada"], ["/admin/conversations", /Hello/]] as const) {
      await page.goto(list);
      await page.getByRole("link", { name: link }).first().click();
      await accessible(page);
    }
    await page.goto("/");
    await openAccountMenu(page);
    await accessible(page);
    await page.getByRole("link", { name: "Your account" }).click();
    await accessible(page);
    await page.getByRole("button", { name: "Sign out", exact: true }).click();
    await page.goto("/auth/sign-in");
    await accessible(page);
    await page.setViewportSize({ width: 320, height: 640 });
    await fits(page);
    await page.getByLabel("Name").fill("ada");
    await page.getByLabel("Password").fill("wrong");
    await page.getByRole("button", { name: "Sign in" }).click();
    await expect(page.getByRole("alert")).toBeVisible();
    await accessible(page);
  });
});
