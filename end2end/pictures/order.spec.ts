import { List, change, seed } from "../fixtures/list.ts";
import { picture } from "../fixtures/picture.ts";
import { open, test } from "../fixtures/test.ts";

test("the list in order", async ({ page, server }, info) => {
  await seed(server.url, [
    "What do you know about refunds?",
    "Delete the article about shipping",
    "A question with a title that is much too long for the column that it stands in",
    "Tell me about invoices",
  ]);
  await change(server.url, "seed-0", { pinned: true, unread: false });
  await open(page);
  const narrow = (page.viewportSize()?.width ?? 0) < 800;
  const drawer = async () => {
    if (narrow) await page.getByRole("button", { name: "Conversations" }).click();
  };
  await drawer();
  const list = new List(page);
  await picture(page, info, "list");
  await page.getByRole("searchbox", { name: "Search conversations" }).fill("refund");
  await page.locator(".cw-find").first().waitFor();
  await picture(page, info, "list-search");
  await page.keyboard.press("Escape");
  await list.link("Tell me about invoices").hover();
  await page.getByRole("button", { name: "Options for Tell me about invoices" }).click();
  await picture(page, info, "list-menu");
  await page.getByRole("menuitem", { name: "Select" }).click();
  await list.rows.getByRole("checkbox").nth(2).check();
  await picture(page, info, "list-selection");
  await page.getByRole("button", { name: "Move to a folder…" }).last().click();
  await picture(page, info, "list-move");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByRole("button", { name: "Undo" }).waitFor();
  await picture(page, info, "list-undo");
  await list.menu("What do you know about refunds?", "Share…");
  await page.getByRole("button", { name: "Create a link" }).click();
  const link = await page.getByRole("textbox", { name: "Link" }).inputValue();
  await picture(page, info, "list-share");
  await page.goto(link);
  await picture(page, info, "shared");
});
