import type { Page } from "@playwright/test";
import { first } from "../fixtures/accounts.ts";
import { Chat } from "../fixtures/chat.ts";
import { configured } from "../fixtures/configured.ts";
import { DESK, type Desk, HEBREW_DESK, config, model } from "../fixtures/desk.ts";
import { change, seed } from "../fixtures/list.ts";
import { otherMachine } from "../fixtures/machine.ts";
import type { Server } from "../fixtures/server.ts";
import { matches } from "../fixtures/still.ts";
import { alive, expect, open, test as base } from "../fixtures/test.ts";
import { ENGLISH, HEBREW, type Words } from "../fixtures/words.ts";

const WIDE = { width: 1100, height: 700 };
const NARROW = { width: 375, height: 667 };

/** The looks in which each state is shown. */
const LOOKS = {
  "wide-light-ltr": { viewport: WIDE, colorScheme: "light", rtl: false },
  "narrow-dark-ltr": { viewport: NARROW, colorScheme: "dark", rtl: false },
  "wide-dark-rtl": { viewport: WIDE, colorScheme: "dark", rtl: true },
  "narrow-light-rtl": { viewport: NARROW, colorScheme: "light", rtl: true },
} as const;

interface Options {
  /** Right-to-left, in Hebrew. */
  rtl: boolean;
  /** Additions to the config. */
  more: object;
}

interface Given {
  desk: Desk;
  words: Words;
  chat: Chat;
}

const test = base.extend<Options & Given>({
  rtl: [false, { option: true }],
  more: [{}, { option: true }],
  desk: async ({ rtl }, use) => use(rtl ? HEBREW_DESK : DESK),
  words: async ({ rtl }, use) => use(rtl ? HEBREW : ENGLISH),
  chat: async ({ page, words }, use) => use(new Chat(page, words)),
  server: async ({ rtl, more, desk }, use) => {
    const provider = await model(desk);
    await configured(provider, config(desk, provider.url, rtl ? { locale: "he", ...more } : more), use);
  },
});

interface State {
  bring: (given: Given & { page: Page; server: Server }) => Promise<void>;
  more?: object;
  /** Console errors that the state causes. */
  said?: RegExp;
}

/** Opens the list, which is in a drawer on a narrow screen. */
async function showList(page: Page, words: Words): Promise<void> {
  const button = page.getByRole("button", { name: words.conversations, exact: true });
  if (await button.isVisible()) await button.click();
}

const STATES: Record<string, State> = {
  welcome: { bring: ({ page, words }) => open(page, "/desk", words) },
  answer: {
    bring: async ({ page, words, chat, desk }) => {
      await open(page, "/chat", words);
      await chat.ask(desk.explain.asked);
      await expect.poll(() => page.evaluate(() => CSS.highlights.get("cw-code-comment")?.size)).toBe(1);
    },
  },
  approval: {
    bring: async ({ page, words, chat, desk }) => {
      await open(page, "/chat", words);
      await chat.ask(desk.remove.asked);
      // The button is disabled for a moment when it appears.
      await expect(chat.approval.getByRole("button", { name: words.approve, exact: true })).toBeEnabled();
      await chat.answers.last().locator("summary").first().click();
    },
  },
  error: {
    bring: async ({ page, words, chat, desk }) => {
      await open(page, "/list", words);
      await chat.ask(desk.hello.asked);
      await chat.send(desk.fail);
      await expect(page.getByRole("button", { name: words.retry })).toBeVisible();
    },
  },
  list: {
    bring: async ({ page, server, words, desk }) => {
      const titles = desk.groups.flatMap(({ titles }) => titles);
      await seed(server.url, titles, "list/clerk");
      await change(server.url, "seed-0", { pinned: true, unread: false });
      await open(page, "/list?conversation=seed-2", words);
      await showList(page, words);
      await page.getByRole("button", { name: words.optionsFor.replace("{1}", titles[3]!) }).click();
      await expect(page.getByRole("menuitem", { name: words.shareMenu })).toBeVisible();
    },
  },
  groups: {
    bring: async ({ page, words }) => {
      await open(page, "/groups", words);
      await showList(page, words);
    },
  },
  composer: {
    bring: async ({ page, words, chat, desk }) => {
      await open(page, "/composer", words);
      await page.locator(".cw-composer input[type=file]").setInputFiles({ name: desk.file, mimeType: "text/csv", buffer: Buffer.alloc(4000, "a,b\n") });
      await expect(page.getByRole("list", { name: words.attachedFiles })).toBeVisible();
      await chat.composer.fill("/");
      await expect(page.getByRole("listbox", { name: words.commands })).toBeVisible();
    },
  },
  drawer: {
    bring: async ({ page, words, chat, desk }) => {
      await page.goto("/drawer");
      await page.getByRole("button", { name: desk.help, exact: true }).click();
      await alive(page, words);
      await chat.ask(desk.hello.asked);
    },
  },
  admin: {
    bring: async ({ page, words, chat, desk }) => {
      await open(page, "/chat", words);
      await chat.ask(desk.explain.asked);
      await page.goto("/admin");
    },
  },
  "sign-in": {
    more: { auth: { mode: "password" } },
    said: /status of 40[14]/,
    bring: async ({ page, server, words }) => {
      await first(page, server, "ada", words);
      await page.context().clearCookies();
      await page.goto("/auth/sign-in");
      await page.getByLabel("Name").fill("ada");
      await page.getByLabel("Password").fill("wrong");
      await page.getByRole("button", { name: "Sign in" }).click();
      await expect(page.getByRole("alert")).toBeVisible();
    },
  },
};

test.beforeEach(async ({ browser }, info) => {
  const other = await otherMachine(browser, info);
  test.skip(other !== undefined, other);
});

for (const [look, { viewport, colorScheme, rtl }] of Object.entries(LOOKS)) {
  test.describe(look, () => {
    test.use({ viewport, colorScheme, rtl, contextOptions: { reducedMotion: "reduce" } });
    for (const [name, { bring, more, said }] of Object.entries(STATES)) {
      test.describe(() => {
        if (more) test.use({ more });
        test(`what it looks like: ${name}`, async ({ page, server, console, desk, words, chat }) => {
          if (said) console.expect(said);
          await bring({ page, server, desk, words, chat });
          await matches(page, `${name}-${look}`);
        });
      });
    }
  });
}
