import { join } from "node:path";
import { awake } from "../drivers/talk.ts";
import { test } from "../drivers/test.ts";
import { field, link } from "../drivers/view.ts";

test.use({ serverOptions: { config: join(import.meta.dirname, "../configs/libraries.yaml") } });

test("a library opens, is searched, and opens a document", async ({ server, view }) => {
  await view.tab.goto(`${server.url}/documents`);
  await awake(view);
  await view.click(link("Employee handbook", true));
  await view.shows({ css: "main li", text: "Ready" });
  await view.fill(field("Search in this library"), "travel");
  await view.press("Enter");
  await view.shows({ css: "main mark" });
  await view.click({ css: "main a", name: "expenses.md", part: true });
  await view.shows({ css: "h1, h2, h3", text: "expenses.md" });
});
