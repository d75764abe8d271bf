import { serveExample } from "../fixtures/example.ts";
import { Line } from "../fixtures/line.ts";
import { expect, test as base } from "../fixtures/test.ts";

const test = base.extend<{ line: Line; example: string }>({
  line: async ({ server }, use) => {
    const line = await Line.to(server.url);
    await use(line);
    line.close();
  },
  example: async ({ line }, use) => {
    const { url, close } = await serveExample("react-page", line.url);
    await use(url);
    close();
  },
});

test("a page with the hook of the package goes on after a cut and a reload, runs a client tool and approves a call", async ({ page, example, line, server }) => {
  await page.goto(example);
  const answer = page.getByRole("article", { name: "Agent" }).last();
  const send = async (text: string) => {
    await page.getByRole("textbox", { name: "Message" }).fill(text);
    await page.getByRole("button", { name: "Send" }).click();
  };
  await send("Count to 200");
  await expect(answer).toContainText("1, 2, 3, 4, 5");
  line.cut();
  line.mend();
  await expect(answer).toContainText("51, 52, 53");
  await page.reload();
  await expect(answer).toContainText("200\n\nThat was all.", { timeout: 20_000 });
  const list = (await (await fetch(`${server.url}/api/conversations`)).json()) as { items: { id: string }[] };
  const stored = (await (await fetch(`${server.url}/api/conversations/${list.items[0]!.id}`)).json()) as {
    messages: { parts: { type: string; text?: string }[] }[];
  };
  const text = stored.messages[1]!.parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
  expect(await answer.textContent()).toBe(text);

  await send("Fill in the form for Ada Lovelace");
  await expect(page.getByRole("textbox", { name: "legal_name" })).toHaveValue("Ada Lovelace");
  await expect(answer).toContainText("Done. I wrote");
  await send("Delete the article about refunds");
  const question = page.getByRole("group", { name: "May the agent call delete_article?" });
  await page.reload();
  await question.getByRole("button", { name: "Yes" }).click();
  await expect(answer).toContainText("delete_article: output-available");

  const conversations = page.getByRole("navigation", { name: "Conversations" });
  await conversations.getByRole("button", { name: "New" }).click();
  await expect(page.getByRole("article")).toHaveCount(0);
  await send("Count to 2000");
  await page.getByRole("button", { name: "Stop" }).click();
  await expect(page.getByRole("button", { name: "Send" })).toBeVisible();
  await conversations.getByRole("button", { name: /Count to 200$/ }).click();
  await expect(page.getByRole("article")).toHaveCount(6);
});
