import { Chat } from "../fixtures/chat.ts";
import { configured } from "../fixtures/configured.ts";
import { DESK, HEBREW_DESK, config, model } from "../fixtures/desk.ts";
import { seed } from "../fixtures/list.ts";
import { expect, open, test as base } from "../fixtures/test.ts";
import { ENGLISH, HEBREW } from "../fixtures/words.ts";

/** A window that is less than twice as high as the menu of a conversation. */
const LOW = { width: 1100, height: 500 };

const test = base.extend<{ rtl: boolean }>({
  rtl: [false, { option: true }],
  server: async ({ rtl }, use) => {
    const desk = rtl ? HEBREW_DESK : DESK;
    const provider = await model(desk);
    await configured(provider, config(desk, provider.url, rtl ? { locale: "he" } : {}), use);
  },
});

for (const rtl of [false, true]) {
  const [desk, words] = rtl ? [HEBREW_DESK, HEBREW] : [DESK, ENGLISH];

  test.describe(rtl ? "from the right" : "from the left", () => {
    test.use({ rtl, viewport: LOW });

    test("in a low window a menu does not cover its button and can be scrolled", async ({ page, server }) => {
      const titles = Array.from({ length: 7 }, (_, at) => `${desk.groups[0]!.titles[0]} ${at}`);
      await seed(server.url, titles, "list/clerk");
      await open(page, "/list", words);
      for (const title of titles) {
        const button = page.getByRole("button", { name: words.optionsFor.replace("{1}", title) });
        await button.click();
        const menu = page.getByRole("menu").filter({ visible: true });
        await expect(menu.getByRole("menuitem").first()).toBeVisible();
        const [of, over] = [(await button.boundingBox())!, (await menu.boundingBox())!];
        expect(over.y >= of.y + of.height || over.y + over.height <= of.y, title).toBe(true);
        expect(over.y >= 0 && over.y + over.height <= LOW.height, title).toBe(true);
        await menu.getByRole("menuitem").last().scrollIntoViewIfNeeded();
        await expect(menu.getByRole("menuitem").last()).toBeInViewport({ ratio: 1 });
        await page.keyboard.press("Escape");
      }
    });

    test("the log and the composer are centered in the chat", async ({ page }) => {
      await open(page, "/chat", words);
      const chat = new Chat(page, words);
      await chat.ask(desk.hello.asked);
      const middle = async (selector: string) => {
        const box = (await page.locator(selector).boundingBox())!;
        return box.x + box.width / 2;
      };
      const [whole, log, box] = [await middle(".cw-chat"), await middle(".cw-log-content"), await middle(".cw-composer-box")];
      expect([log, box]).toEqual([whole, whole]);
    });

    test("text without letters has the direction of the page and other text its own", async ({ page }) => {
      await open(page, "/composer", words);
      const { composer } = new Chat(page, words);
      for (const [text, direction] of [["/", rtl ? "rtl" : "ltr"], ["12 + 3", rtl ? "rtl" : "ltr"], ["/order", "ltr"], ["שלום", "rtl"]] as const) {
        await composer.fill(text);
        await expect(composer, text).toHaveCSS("direction", direction);
      }
    });

    test("the name of a file that is too long keeps its extension", async ({ page }) => {
      await open(page, "/composer", words);
      const name = `${desk.file.repeat(5)}.xlsx`;
      await page.locator(".cw-composer input[type=file]").setInputFiles({ name, mimeType: "text/plain", buffer: Buffer.alloc(4000, "a") });
      const file = page.getByRole("list", { name: words.attachedFiles }).getByRole("listitem");
      await expect(file).toContainText("4 KB");
      const shown = file.getByTitle(name, { exact: true });
      const [card, whole, extension] = [(await file.boundingBox())!, (await shown.boundingBox())!, (await shown.getByText(/^\.xlsx$/).boundingBox())!];
      expect(whole.width).toBeLessThan(card.width);
      expect(extension.x >= whole.x && extension.x + extension.width <= whole.x + whole.width).toBe(true);
      expect(extension.width).toBeGreaterThan(20);
    });
  });
}

test.describe("from the right", () => {
  test.use({ rtl: true });

  test("an error of a provider is in the language of the page", async ({ page }) => {
    await open(page, "/chat", HEBREW);
    const chat = new Chat(page, HEBREW);
    await chat.send(HEBREW_DESK.fail);
    await expect(page.getByText(/^ספק המודל דחה את פרטי הגישה\..* מספר לפנייה: [0-9a-f]{8}$/)).toBeVisible();
  });
});
