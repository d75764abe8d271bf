import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { build } from "esbuild";
import { expect, test as base } from "../fixtures/test.ts";

const EXAMPLE = join(import.meta.dirname, "../../examples/use-chat");

/** Serves the unmodified example with the packages of these tests and a proxy. */
const test = base.extend<{ example: string }>({
  example: async ({ server }, use) => {
    const built = await build({
      entryPoints: [join(EXAMPLE, "src/main.jsx")],
      bundle: true,
      write: false,
      jsx: "automatic",
      nodePaths: [join(import.meta.dirname, "../node_modules")],
      define: { "process.env.NODE_ENV": '"production"' },
    });
    const files: Record<string, [string, string]> = {
      "/": ["text/html", await readFile(join(EXAMPLE, "index.html"), "utf8")],
      "/src/main.jsx": ["text/javascript", built.outputFiles[0]!.text],
      "/src/style.css": ["text/css", await readFile(join(EXAMPLE, "src/style.css"), "utf8")],
    };
    const { host, hostname, port } = new URL(server.url);
    const proxy = createServer((asked, answer) => {
      const file = files[asked.url ?? ""];
      if (file) return void answer.writeHead(200, { "content-type": `${file[0]}; charset=utf-8` }).end(file[1]);
      if (!asked.url?.startsWith("/api/")) return void answer.writeHead(204).end();
      const passed = request({ hostname, port, path: asked.url, method: asked.method, headers: { ...asked.headers, host } }, (got) => {
        answer.writeHead(got.statusCode ?? 500, got.headers);
        got.pipe(answer);
      });
      asked.pipe(passed);
    });
    proxy.listen(0, "127.0.0.1");
    await once(proxy, "listening");
    await use(`http://127.0.0.1:${(proxy.address() as AddressInfo).port}`);
    proxy.closeAllConnections();
    proxy.close();
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
