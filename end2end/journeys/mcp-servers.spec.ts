import { type ChildProcess, spawn } from "node:child_process";
import { createServer } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Chat } from "../fixtures/chat.ts";
import { everySize } from "../fixtures/sizes.ts";
import { expect, open, test } from "../fixtures/test.ts";

const SECRET = "canary-7c1f0d2e9a";
const EVERYTHING = join(import.meta.dirname, "../node_modules/@modelcontextprotocol/server-everything/dist/index.js");

test.use({
  serverOptions: {
    config: join(import.meta.dirname, "../configs/mcp-servers.yaml"),
    env: { MCP_JOURNEY_KEY: "0123456789abcdef0123456789abcdef", MCP_JOURNEY_TOKEN: "t" },
  },
});
test.describe.configure({ timeout: 180_000 });

/** Returns a port that is free. */
function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}

/** Starts MCP's reference server, and returns its address once it listens. */
async function reference(): Promise<{ server: ChildProcess; url: string }> {
  const port = await freePort();
  const server = spawn("node", [EVERYTHING, "streamableHttp"], { env: { ...process.env, PORT: `${port}` }, stdio: ["ignore", "ignore", "pipe"] });
  await new Promise<void>((resolve) => {
    createInterface({ input: server.stderr! }).on("line", (line) => {
      if (line.includes(`${port}`)) resolve();
    });
  });
  return { server, url: `http://127.0.0.1:${port}/mcp` };
}

test("an administrator adds a server, tests it, chooses its tools and switches it off", async ({ page, context, console }) => {
  console.expect(/status of 4(09|22)/);
  const { server, url } = await reference();
  try {
    await page.goto("/admin/mcp-servers");
    await expect(page.getByRole("row", { name: /files.*config.*on.*reader/ })).toBeVisible();
    await expect(page.getByRole("row", { name: /mcp\.example\.com.*config/ })).toHaveCount(2);
    await expect(page.getByText("None. Agents use the servers of the config.")).toBeVisible();

    await page.getByRole("link", { name: "Add a server" }).click();
    await page.getByLabel("Name", { exact: true }).fill("everything");
    await page.getByLabel("Address", { exact: true }).fill("ftp://example.com");
    await page.getByLabel("Headers, one a line, as Name: value").fill(`X-Key: ${SECRET}`);
    await page.getByRole("button", { name: "Add server" }).click();
    await expect(page.getByRole("alert")).toContainText("must start with https://");
    await expect(page.getByLabel("Name", { exact: true })).toHaveValue("everything");
    expect(await page.content()).not.toContain(SECRET);
    await everySize(page, "mcp-servers-refused");

    await page.getByLabel("Address", { exact: true }).fill(url);
    await page.getByLabel("Headers, one a line, as Name: value").fill(`X-Key: ${SECRET}\nX-Token: { _secret: MCP_JOURNEY_TOKEN }`);
    await page.getByLabel("Its tools can send data to others").uncheck();
    const opened = context.waitForEvent("page");
    await page.getByRole("button", { name: "Test in a new tab" }).click();
    const tested = await opened;
    await expect(tested.getByText("get-sum")).toBeVisible();
    await everySize(tested, "mcp-servers-tested");
    await tested.close();

    await page.getByRole("button", { name: "Add server" }).click();
    await expect(page.getByText("No agent gets its tools. Choose agents below.")).toBeVisible();
    expect(await page.content()).not.toContain(SECRET);
    await expect(page.getByLabel("Headers, one a line, as Name: value")).toHaveValue("X-Key: ***\nX-Token: { _secret: MCP_JOURNEY_TOKEN }");
    await page.getByRole("button", { name: "Test", exact: true }).click();
    await page.getByRole("group", { name: "Only these tools" }).getByLabel("echo", { exact: true }).check();
    await page.getByRole("group", { name: "Agents that get its tools" }).getByLabel("helper").check();
    await page.getByRole("button", { name: "Save" }).click();
    await expect(page.getByText("Saved. It is in effect from the next message on.")).toBeVisible();
    await expect(page.getByRole("group", { name: "Only these tools" }).getByLabel("echo", { exact: true })).toBeChecked();
    await everySize(page, "mcp-servers-page");

    await open(page, "/home");
    const chat = new Chat(page);
    await chat.ask("start echo: hi");
    await expect(chat.answers.last()).toContainText("Echo: hi");

    await page.goto("/admin/mcp-servers");
    await page.getByRole("button", { name: "Switch off files" }).click();
    await expect(page.getByRole("button", { name: "Switch on files" })).toBeVisible();
    await expect(page.getByRole("listitem").filter({ hasText: "everything is added for helper." })).toBeVisible();
    await expect(page.getByRole("listitem").filter({ hasText: "files is switched off for reader." })).toBeVisible();
    await everySize(page, "mcp-servers-list");
    const download = page.waitForEvent("download");
    await page.getByRole("link", { name: "Export as YAML" }).click();
    expect((await download).suggestedFilename()).toBe("mcp-servers.yaml");

    // Two administrators at once: the second is told.
    const other = await context.newPage();
    await page.getByRole("link", { name: "everything" }).click();
    await other.goto(page.url());
    await page.getByRole("button", { name: "Switch off", exact: true }).click();
    await expect(page.getByRole("button", { name: "Switch on", exact: true })).toBeVisible();
    await other.getByLabel("Description").fill("Everything");
    await other.getByRole("button", { name: "Save" }).click();
    await expect(other.getByRole("alert")).toContainText("Someone else has changed this in the meantime.");
    const again = other.waitForResponse((response) => response.request().method() === "POST");
    await other.getByRole("button", { name: "Save" }).click();
    expect((await again).status()).toBe(409);
    await expect(other.getByRole("alert")).toContainText("Someone else has changed this in the meantime.");
    await other.close();

    await open(page, "/home");
    await chat.ask("start echo: ho");
    await expect(chat.answers.last()).not.toContainText("Echo: ho");

    await page.goto("/admin/mcp-servers/everything");
    await page.getByRole("button", { name: "Delete server" }).click();
    await expect(page.getByRole("link", { name: "everything" })).toHaveCount(0);
    await page.goto("/admin/audit");
    for (const action of ["add_mcp_server", "change_mcp_server", "delete_mcp_server", "export_mcp_servers"]) {
      await expect(page.getByRole("row", { name: new RegExp(`admin:${action}`) })).toHaveCount(1);
    }
    await expect(page.getByRole("row", { name: /admin:disable_mcp_server/ })).toHaveCount(2);
  } finally {
    server.kill();
  }
});
