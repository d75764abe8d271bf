import { serveExample } from "../fixtures/example.ts";
import { expect, test as base } from "../fixtures/test.ts";

const test = base.extend<{ example: string }>({
  example: async ({ server }, use) => {
    const { url, close } = await serveExample("use-chat", server.url);
    await use(url);
    close();
  },
});

test("the unmodified client of the AI SDK shows text, runs a client tool and approves a call", async ({ page, example, server }) => {
  await page.goto(example);
  const answer = page.getByRole("article", { name: "Agent" }).last();
  const send = async (text: string) => {
    await page.getByRole("textbox", { name: "Message" }).fill(text);
    await page.getByRole("button", { name: "Send" }).click();
  };
  await send("What do you know about refunds?");
  await expect(answer).toContainText("within 30 days of paying");
  await expect(answer).toContainText("search_knowledge_base: output-available");
  await send("Fill in the form for Ada Lovelace at Analytical Engines");
  await expect(page.getByRole("textbox", { name: "legal_name" })).toHaveValue("Ada Lovelace");
  await expect(page.getByRole("textbox", { name: "company" })).toHaveValue("Analytical Engines");
  await expect(answer).toContainText("Done. I wrote");
  await send("Delete the article about refunds");
  const question = page.getByRole("group", { name: "May the agent call delete_article?" });
  await question.getByRole("button", { name: "No" }).click();
  await expect(answer).toContainText("Nothing was deleted");
  await send("Delete the article about refunds");
  await question.getByRole("button", { name: "Yes" }).click();
  await expect(answer).toContainText("delete_article: output-available");
  await expect(page.getByRole("button", { name: "Send" })).toBeVisible();
  // All messages are in one conversation on the server.
  const list = (await (await fetch(`${server.url}/api/conversations`)).json()) as { items: { id: string }[] };
  expect(list.items).toHaveLength(1);
});
