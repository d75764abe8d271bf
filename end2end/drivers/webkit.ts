import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { type Action, type Driver, type Frames, type Tab, retried } from "./driver.ts";
import { ended } from "./firefox.ts";

const START_MS = 20_000;
/** The name of a reference to an element in WebDriver. */
const ELEMENT = "element-6066-11e4-a52e-4f735466cecf";
/** Where Debian keeps the browser that belongs to the driver. */
const LIBRARIES = ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/libexec", "/usr/lib"];

/** WebKitGTK, which is driven by the WebDriver that comes with it, on a virtual screen. */
export class WebKit implements Driver {
  readonly name: string;
  readonly #url: string;
  readonly #end: () => Promise<void>;

  private constructor(name: string, url: string, end: () => Promise<void>) {
    this.name = name;
    this.#url = url;
    this.#end = end;
  }

  static async start(program: string): Promise<WebKit> {
    const screen = spawn("Xvfb", ["-displayfd", "3", "-screen", "0", "1400x1000x24", "-nolisten", "tcp"], {
      stdio: ["ignore", "ignore", "ignore", "pipe"],
    });
    const display = await displayOf(screen);
    const port = await freePort();
    const child = spawn(program, [`--port=${port}`], {
      env: { ...process.env, DISPLAY: `:${display}`, GDK_BACKEND: "x11", TZ: "UTC", LANG: "en_GB.UTF-8", LIBGL_ALWAYS_SOFTWARE: "1", NO_AT_BRIDGE: "1" },
      stdio: "ignore",
    });
    const end = async () => {
      await ended(child);
      await ended(screen);
    };
    const url = `http://127.0.0.1:${port}`;
    try {
      // Rejects if there is no such program.
      await once(child, "spawn");
      await retried(START_MS, () => command(url, "GET", "/status"));
      const { sessionId, capabilities } = await session(url);
      await command(url, "DELETE", `/session/${sessionId}`);
      return new WebKit(`WebKitGTK ${capabilities.browserVersion}`, url, end);
    } catch (error) {
      await end();
      throw error;
    }
  }

  async open(): Promise<Tab> {
    const { sessionId } = await session(this.#url);
    const tab = new WebKitTab(`${this.#url}/session/${sessionId}`);
    await tab.send("POST", "/window/rect", { x: 0, y: 0, width: 1280, height: 980 });
    return tab;
  }

  async close(): Promise<void> {
    await this.#end();
  }
}

class WebKitTab implements Tab {
  readonly #session: string;
  readonly #problems: string[] = [];

  constructor(session: string) {
    this.#session = session;
  }

  send(method: string, path: string, body?: object): Promise<unknown> {
    return command(this.#session, method, path, body);
  }

  async goto(url: string): Promise<void> {
    await this.#leave(() => this.send("POST", "/url", { url }));
  }

  async reload(): Promise<void> {
    await this.#leave(() => this.send("POST", "/refresh", {}));
  }

  async call<A extends unknown[], R>(frames: Frames, run: (...given: A) => R, ...given: A): Promise<Awaited<R>> {
    await this.#enter(frames);
    const script = `const done = arguments[arguments.length - 1];
      (${watch})();
      const say = (said) => done({ ...said, problems: window.cwProblems.splice(0) });
      (async () => (${run})(...${JSON.stringify(given)}))()
        .then((value) => say({ value: JSON.stringify(value ?? null) }), (error) => say({ error: String(error) }));`;
    const said = (await this.#execute(script)) as { value: string; error?: string; problems: string[] };
    this.#problems.push(...said.problems);
    if (said.error !== undefined) throw new Error(said.error);
    return JSON.parse(said.value) as Awaited<R>;
  }

  /** Runs a script. If the page is left meanwhile, it runs in the next one. */
  async #execute(script: string): Promise<unknown> {
    // A page may lead to another one, such as after a sign-in.
    for (let left = 0; ; left++) {
      try {
        return await this.send("POST", "/execute/async", { script, args: [] });
      } catch (error) {
        if (left === 5 || !String(error).includes("before the unload event")) throw error;
      }
    }
  }

  async act(frames: Frames, device: "pointer" | "key", actions: Action[]): Promise<void> {
    // Its driver reads positions as those of the page.
    const { x, y } = await this.#enter(frames);
    const placed = actions.map((action) => (action.type === "pointerMove" ? { ...action, x: action.x + x, y: action.y + y } : action));
    await this.send("POST", "/actions", { actions: [{ type: device, id: device, actions: placed }] });
  }

  async choose(frames: Frames, selector: string, path: string): Promise<void> {
    await this.#enter(frames);
    const element = (await this.send("POST", "/element", { using: "css selector", value: selector })) as Record<string, string>;
    await this.send("POST", `/element/${element[ELEMENT]}/value`, { text: path });
  }

  problems(): string[] {
    return this.#problems;
  }

  async close(): Promise<void> {
    await command(this.#session, "DELETE", "");
  }

  /** Leaves the page and waits until the next one is loaded, whose problems are noted from as early as is possible. */
  async #leave(go: () => Promise<unknown>): Promise<void> {
    await this.call([], () => void Object.assign(window, { cwLeft: true }));
    await go();
    const isLoaded = () => !("cwLeft" in window) && document.readyState === "complete";
    await retried(START_MS, async () => {
      if (!(await this.call([], isLoaded))) throw new Error("the page is not loaded");
    });
  }

  /** Goes to a frame, from the page itself, and returns where it is in the page. */
  async #enter(frames: Frames): Promise<{ x: number; y: number }> {
    await this.send("POST", "/frame", { id: null });
    const place = { x: 0, y: 0 };
    for (const selector of frames) {
      const script = `const found = document.querySelector(${JSON.stringify(selector)});
        const element = found?.shadowRoot?.querySelector("iframe") ?? found;
        if (!element) return null;
        const { left, top } = element.getBoundingClientRect();
        return { element, x: Math.round(left + element.clientLeft), y: Math.round(top + element.clientTop) };`;
      const inner = (await this.send("POST", "/execute/sync", { script, args: [] })) as { element: object; x: number; y: number } | null;
      if (inner === null) throw new Error(`there is no frame ${selector}`);
      place.x += inner.x;
      place.y += inner.y;
      await this.send("POST", "/frame", { id: inner.element });
    }
    return place;
  }
}

/** Notes what goes wrong in a document, once. WebDriver tells nothing of the console. */
function watch(): void {
  const page = window as unknown as { cwProblems?: string[] };
  if (page.cwProblems !== undefined) return;
  const problems: string[] = [];
  page.cwProblems = problems;
  window.addEventListener("error", (event) => problems.push(`error: ${event.message ?? "a file was not loaded"}`));
  window.addEventListener("unhandledrejection", ({ reason }) => problems.push(`rejected: ${String(reason)}`));
  document.addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) => problems.push(`policy: ${violatedDirective} ${blockedURI}`));
  for (const level of ["error", "warn"] as const) {
    const say = console[level].bind(console);
    console[level] = (...said: unknown[]) => {
      problems.push(`${level}: ${said.map(String).join(" ")}`);
      say(...said);
    };
  }
}

async function session(url: string): Promise<{ sessionId: string; capabilities: { browserVersion: string } }> {
  const folder = LIBRARIES.find((path) => browserIn(path) !== undefined);
  const binary = folder === undefined ? undefined : browserIn(folder);
  if (binary === undefined) throw new Error("MiniBrowser was not found; on Debian it belongs to `webkit2gtk-driver`");
  const wanted = { pageLoadStrategy: "none", "webkitgtk:browserOptions": { binary, args: ["--automation"] } };
  const made = await command(url, "POST", "/session", { capabilities: { alwaysMatch: wanted } });
  return made as { sessionId: string; capabilities: { browserVersion: string } };
}

/** The browser in a folder of libraries. */
function browserIn(folder: string): string | undefined {
  if (!existsSync(folder)) return undefined;
  const versions = readdirSync(folder).filter((name) => name.startsWith("webkit2gtk-") || name.startsWith("webkitgtk-"));
  return versions.map((name) => join(folder, name, "MiniBrowser")).find((path) => existsSync(path));
}

async function command(url: string, method: string, path: string, body?: object): Promise<unknown> {
  const answer = await fetch(url + path, { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  const { value } = (await answer.json()) as { value: unknown };
  if (!answer.ok) {
    const { error, message } = value as { error: string; message: string };
    throw new Error(`${method} ${path}: ${error}: ${message}`);
  }
  return value;
}

async function displayOf(screen: ChildProcess): Promise<string> {
  const said = once(screen.stdio[3]!, "data") as Promise<[Buffer]>;
  const failed = once(screen, "exit").then(() => Promise.reject(new Error("Xvfb has ended")));
  const [number] = await Promise.race([said, failed]);
  failed.catch(() => {});
  return number.toString().trim();
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}
