import { createServer } from "node:http";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { REQUESTS, RESULTS, attacks, listener } from "../fixtures/attacks.ts";
import { Chat } from "../fixtures/chat.ts";
import { listening } from "../fixtures/listening.ts";
import { expect, open, test } from "../fixtures/test.ts";

const EXAMPLE = join(import.meta.dirname, "../../examples/analyst");
const SECRET = "canary-7781";
/** Long enough for a request, a datagram, and a page that leaves after a while. */
const WAIT_MS = 2_500;

test.use({ serverOptions: { config: EXAMPLE } });
test.describe.configure({ timeout: 240_000 });

/** Stores a secret on this page where scripts of the same origin would find it. */
async function hide(page: Page): Promise<void> {
  await page.evaluate((secret) => {
    document.cookie = `secret=${secret}`;
    localStorage.setItem("secret", secret);
    sessionStorage.setItem("secret", secret);
    Object.assign(window, { cwSecret: () => secret });
  }, SECRET);
}

test("without protection, the same pages read the chat and reach the listener", async ({ browser, console }) => {
  console.expect(/.*/);
  const evil = await listener();
  const pages = attacks(evil);
  const site = await listening(
    createServer((request, response) => {
      const path = decodeURIComponent((request.url ?? "").slice(1));
      if (path === "sw.js") return response.writeHead(200, { "content-type": "text/javascript" }).end("");
      response.setHeader("content-type", "text/html");
      response.end(pages[path] ?? `<title>chat</title><p>${SECRET}</p><iframe src="/${path.slice(3)}"></iframe>`);
    }),
  );
  const context = await browser.newContext({ baseURL: site.url });
  const tried = async (name: string): Promise<Page> => {
    evil.heard.length = 0;
    const page = await context.newPage();
    await page.goto("/in-nothing");
    await hide(page);
    await page.evaluate(() => undefined);
    await page.goto(`/in-${name}`, { waitUntil: "commit" }).catch(() => undefined);
    return page;
  };
  for (const name of RESULTS) {
    const page = await tried(name);
    await expect.poll(() => evil.heard.includes("datagram"), { timeout: 20_000, message: name }).toBe(true);
    await page.close();
  }
  const requests = await tried("requests");
  await expect.poll(() => REQUESTS.filter((path) => !evil.heard.includes(path)), { timeout: 20_000 }).toEqual([]);
  await expect.poll(() => evil.heard.includes("datagram"), { timeout: 20_000 }).toBe(true);
  const report = requests.frameLocator("iframe").locator("#report").first();
  await expect(report).toContainText(`"cookie":"found: secret=${SECRET}`);
  for (const what of ["parent", "top", "storage", "session"]) await expect(report).toContainText(new RegExp(`"${what}":"found: [^"]*(\\\\.[^"]*)*${SECRET}`));
  await expect(report).toContainText('"worker":"found: registered"');
  const documents = await tried("documents");
  await expect.poll(() => evil.heard.includes("datagram"), { timeout: 20_000 }).toBe(true);
  // The newest documents among them come after the first datagram.
  const made = async (): Promise<number> => (await documents.frames()[1]?.evaluate(() => frames.length)) ?? 0;
  await expect.poll(made, { timeout: 20_000 }).toBeGreaterThan(17);
  for (const [name, path] of [["location", "/location"], ["refresh", "/refresh"], ["form", "/form"], ["anchor", "/anchor"], ["top", "/top"]] as const) {
    await tried(name);
    await expect.poll(() => evil.heard, { timeout: 20_000, message: name }).toContain(path);
  }
  console.takeBreaches();
  await context.close();
  site.close();
  evil.close();
});

for (const hasAllowlist of [true, false]) {
  test(`artifacts read nothing of the chat and reach nothing, ${hasAllowlist ? "with" : "without"} the browser's list of allowed connections`, { tag: hasAllowlist ? "@thorough" : [] }, async ({ page, console }) => {
    console.expect(/.*/);
    const evil = await listener();
    const pages = attacks(evil);
    if (!hasAllowlist) {
      await page.route("**/api/artifacts/frame", async (route) => {
        const response = await route.fetch();
        const { "connection-allowlist": list, ...headers } = response.headers();
        expect(list).toBe("()");
        await route.fulfill({ response, headers });
      });
    }
    await open(page);
    await hide(page);
    const chat = new Chat(page);
    await chat.ask(`Remember ${SECRET}`);
    for (const [name, html] of Object.entries(pages)) {
      await chat.ask(`start bash: cat > /outputs/${name}.html <<'END-OF-PAGE'\n${html}\nEND-OF-PAGE`);
      await expect(chat.answers.last()).toContainText("Exit code 0");
    }
    await chat.ask(`start present_files: ${Object.keys(pages).map((name) => `/outputs/${name}.html`).join(" ")}`);
    const address = page.url();
    evil.heard.length = 0;
    for (const name of Object.keys(pages)) {
      await page.locator(".cw-presented").last().getByRole("button", { name: new RegExp(`^${name}.html`) }).click();
      const panel = page.getByRole("dialog", { name: `${name}.html` });
      await expect(panel.locator("iframe")).toBeVisible();
      const inner = panel.frameLocator("iframe").frameLocator("iframe");
      if (name === "requests" || name === "documents") {
        const report = inner.locator("#report");
        await expect(report).toContainText('"end":"found: reached"', { timeout: 20_000 });
        await page.waitForTimeout(WAIT_MS);
        const text = (await report.textContent()) ?? "";
        expect(text).not.toContain(SECRET);
        const found = JSON.parse(text) as Record<string, string>;
        if (name === "requests") {
          for (const what of ["cookie", "parent", "top", "storage", "session", "functions", "address"]) expect.soft(found[what], what).toMatch(/^refused/);
          expect.soft(found.webrtc).toBe("refused: ReferenceError");
          expect.soft(found.open).toBe("found: null");
          for (const what of ["safe HTML", "parsed HTML"]) expect.soft(found[what], what).toBe("refused: TypeError");
          expect.soft(found.worker).not.toContain("registered");
        } else {
          // No way leads to a frame, and no constructor is left.
          for (const [way, outcome] of Object.entries(found)) expect.soft(outcome, way).toMatch(/^refused|^found: (0|0 and 0 frames|reached)$/);
        }
      } else {
        await page.waitForTimeout(WAIT_MS);
      }
      expect(page.url()).toBe(address);
      // A browser without the list opens the connection for a navigation before its policy forbids it. Nothing is sent on it.
      const heard = hasAllowlist ? evil.heard : evil.heard.filter((what) => what !== "connection");
      expect(heard, name).toEqual([]);
      await panel.getByRole("button", { name: "Close" }).click();
    }
    // The document of the frame has no content if it is opened by itself.
    const response = await page.request.get("/api/artifacts/frame");
    expect(response.headers()["content-security-policy"]).toContain("sandbox allow-scripts; default-src 'none'");
    console.takeBreaches();
    await page.close();
    evil.close();
  });
}
