import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { WebSocket } from "undici";
import type { Action, Driver, Frames, Tab } from "./driver.ts";

const START_MS = 30_000;
/** Nothing is fetched from the network, and no first steps are shown. */
const PREFERENCES = {
  "app.update.enabled": false,
  "app.normandy.enabled": false,
  "browser.shell.checkDefaultBrowser": false,
  "browser.startup.page": 0,
  "browser.aboutwelcome.enabled": false,
  "datareporting.policy.dataSubmissionEnabled": false,
  "dom.disable_open_during_load": false,
  "extensions.update.enabled": false,
  "intl.accept_languages": "en-GB",
  "network.captive-portal-service.enabled": false,
  "network.connectivity-service.enabled": false,
  "remote.active-protocols": 1,
  "services.settings.server": "data:,#",
  "toolkit.telemetry.enabled": false,
  "toolkit.startup.max_resumed_crashes": -1,
};

interface Value {
  type: string;
  value?: unknown;
  sharedId?: string;
}

interface Message {
  id?: number;
  method?: string;
  params?: { source?: { context?: string }; level?: string; type?: string; text?: string; context?: string; parent?: string };
  result?: Record<string, unknown>;
  error?: string;
  message?: string;
}

/**
 * A Firefox that is driven by WebDriver BiDi, which it speaks itself. Playwright speaks it, too, but the Firefox of Debian does not know a
 * command that Playwright sends first (`emulation.setMediaFeaturesOverride`).
 */
export class Firefox implements Driver {
  name = "Firefox";
  readonly #socket: WebSocket;
  readonly #end: () => Promise<void>;
  readonly #waiting = new Map<number, { resolve: (result: Record<string, unknown>) => void; reject: (error: Error) => void }>();
  readonly #problems = new Map<string, string[]>();
  #last = 0;

  private constructor(socket: WebSocket, end: () => Promise<void>) {
    this.#socket = socket;
    this.#end = end;
    socket.addEventListener("message", ({ data }) => this.#receive(JSON.parse(String(data)) as Message));
    socket.addEventListener("close", () => {
      for (const { reject } of this.#waiting.values()) reject(new Error("Firefox has ended"));
      this.#waiting.clear();
    });
  }

  static async start(program: string): Promise<Firefox> {
    const profile = await mkdtemp(join(tmpdir(), "chatwright-firefox-"));
    const preferences = Object.entries(PREFERENCES).map(([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});\n`);
    await writeFile(join(profile, "user.js"), preferences.join(""));
    const child = spawn(program, ["--headless", "--remote-debugging-port=0", "--profile", profile, "--no-remote"], {
      // Firefox refuses the home folder of somebody else, and writes into it.
      env: { ...process.env, HOME: profile, TZ: "UTC", MOZ_CRASHREPORTER_DISABLE: "1" },
      stdio: ["ignore", "ignore", "pipe"],
    });
    const end = async () => {
      await ended(child);
      await rm(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    };
    try {
      const socket = new WebSocket(`${await endpoint(child, program)}/session`);
      await new Promise<void>((resolve, reject) => {
        socket.addEventListener("open", () => resolve());
        socket.addEventListener("error", () => reject(new Error(`${program}: no connection to WebDriver BiDi`)));
      });
      const firefox = new Firefox(socket, end);
      const { capabilities } = (await firefox.send("session.new", { capabilities: {} })) as { capabilities: { browserVersion: string } };
      firefox.name += ` ${capabilities.browserVersion}`;
      await firefox.send("session.subscribe", { events: ["log.entryAdded"] });
      return firefox;
    } catch (error) {
      await end();
      throw error;
    }
  }

  async open(): Promise<Tab> {
    const { userContext } = (await this.send("browser.createUserContext", {})) as { userContext: string };
    const { context } = (await this.send("browsingContext.create", { type: "tab", userContext })) as { context: string };
    await this.send("browsingContext.setViewport", { context, viewport: { width: 1280, height: 900 } });
    const problems: string[] = [];
    this.#problems.set(context, problems);
    return new FirefoxTab(this, userContext, context, problems);
  }

  async close(): Promise<void> {
    this.#socket.close();
    await this.#end();
  }

  /** Sends a command and waits for its result. */
  send(method: string, params: object): Promise<Record<string, unknown>> {
    const id = (this.#last += 1);
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#socket.send(JSON.stringify({ id, method, params }));
    });
  }

  #receive({ id, method, params, result, error, message }: Message): void {
    if (method === "log.entryAdded" && (params?.level === "error" || params?.level === "warn")) {
      // An entry of a frame has the context of the frame, not that of the tab.
      const problems = this.#problems.get(params.source?.context ?? "") ?? [...this.#problems.values()].at(-1);
      problems?.push(`${params.type} ${params.level}: ${params.text}`);
    }
    const waiting = this.#waiting.get(id ?? -1);
    if (!waiting) return;
    this.#waiting.delete(id ?? -1);
    if (error === undefined) waiting.resolve(result ?? {});
    else waiting.reject(new Error(`${error}: ${message}`));
  }
}

class FirefoxTab implements Tab {
  readonly #firefox: Firefox;
  readonly #user: string;
  readonly #context: string;
  readonly #problems: string[];

  constructor(firefox: Firefox, user: string, context: string, problems: string[]) {
    this.#firefox = firefox;
    this.#user = user;
    this.#context = context;
    this.#problems = problems;
  }

  async goto(url: string): Promise<void> {
    await this.#firefox.send("browsingContext.navigate", { context: this.#context, url, wait: "complete" });
  }

  async reload(): Promise<void> {
    await this.#firefox.send("browsingContext.reload", { context: this.#context, wait: "complete" });
  }

  async call<A extends unknown[], R>(frames: Frames, run: (...given: A) => R, ...given: A): Promise<Awaited<R>> {
    const body = `async () => JSON.stringify((await (${run})(...${JSON.stringify(given)})) ?? null)`;
    const { value } = await this.#evaluate(await this.#frame(frames), body);
    return JSON.parse(value as string) as Awaited<R>;
  }

  async act(frames: Frames, device: "pointer" | "key", actions: Action[]): Promise<void> {
    const context = await this.#frame(frames);
    await this.#firefox.send("input.performActions", { context, actions: [{ type: device, id: device, actions }] });
  }

  async choose(frames: Frames, selector: string, path: string): Promise<void> {
    const context = await this.#frame(frames);
    const { sharedId } = await this.#evaluate(context, `() => document.querySelector(${JSON.stringify(selector)})`);
    await this.#firefox.send("input.setFiles", { context, element: { sharedId }, files: [path] });
  }

  problems(): string[] {
    return this.#problems;
  }

  async close(): Promise<void> {
    await this.#firefox.send("browser.removeUserContext", { userContext: this.#user });
  }

  async #frame(frames: Frames): Promise<string> {
    let context = this.#context;
    for (const selector of frames) {
      const { value } = await this.#evaluate(context, `() => {
        const element = document.querySelector(${JSON.stringify(selector)});
        return (element?.shadowRoot?.querySelector("iframe") ?? element)?.contentWindow;
      }`);
      const inner = (value as { context?: string } | undefined)?.context;
      if (inner === undefined) throw new Error(`there is no frame ${selector}`);
      context = inner;
    }
    return context;
  }

  async #evaluate(context: string, functionDeclaration: string): Promise<Value> {
    const said = await this.#firefox.send("script.callFunction", { functionDeclaration, awaitPromise: true, target: { context } });
    if (said["type"] === "exception") throw new Error((said["exceptionDetails"] as { text: string }).text);
    return said["result"] as Value;
  }
}

/** Where it waits for commands, once it does. */
function endpoint(child: ChildProcess, program: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`${program} was not ready after ${START_MS} ms`)), START_MS);
    createInterface({ input: child.stderr! }).on("line", (line) => {
      const found = /WebDriver BiDi listening on (ws:\S+)/.exec(line);
      if (!found?.[1]) return;
      clearTimeout(timer);
      resolve(found[1]);
    });
    child.once("error", reject);
    child.once("exit", (code, signal) => reject(new Error(`${program} ended with ${code ?? signal}`)));
  });
}

/** Ends a process that this one has started, and waits until it has ended. */
export async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const exit = once(child, "exit");
  child.kill("SIGTERM");
  const stubborn = setTimeout(() => child.kill("SIGKILL"), 5_000);
  await exit;
  clearTimeout(stubborn);
}
