import { join } from "node:path";
import { Chat } from "../fixtures/chat.ts";
import { ROOT, picture } from "../fixtures/picture.ts";
import { open, test } from "../fixtures/test.ts";

test.use({ serverOptions: { config: join(ROOT, "examples/support") } });

test("articles beside the chat", async ({ page }, info) => {
  await open(page);
  await new Chat(page).ask("What do you know about refunds?");
  await picture(page, info, "support");
});
