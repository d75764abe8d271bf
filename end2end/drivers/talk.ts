import { expect } from "@playwright/test";
import { ENGLISH } from "../fixtures/words.ts";
import { type Query, type View, button, field } from "./view.ts";

export const COMPOSER: Query = { css: "textarea", name: ENGLISH.message };
export const ANSWER: Query = { css: "[role=log] article", name: ENGLISH.agent };
const STOP = button(ENGLISH.stop);

/** Opens an address and waits until its chat has come to life: until then, clicks are lost. */
export async function open(view: View, url: string): Promise<void> {
  await view.tab.goto(url);
  await alive(view);
}

export async function alive(view: View): Promise<void> {
  const isAlive = () => document.querySelector("form[data-alive] textarea") !== null;
  // A frame is not there at once.
  await expect(async () => expect(await view.call(isAlive)).toBe(true)).toPass({ timeout: 30_000 });
}

/** Waits until a page without a chat has come to life. */
export async function awake(view: View): Promise<void> {
  await expect.poll(() => view.call(() => document.documentElement.hasAttribute("data-alive")), { timeout: 30_000 }).toBe(true);
}

/** Writes and sends a message by the keyboard. */
export async function send(view: View, text: string): Promise<void> {
  await view.fill(COMPOSER, text);
  await view.press("Enter");
}

/** Waits until nothing is being written. */
export async function idle(view: View): Promise<void> {
  await view.hides(STOP);
}

/** Sends a message and waits for the whole answer. */
export async function ask(view: View, text: string): Promise<void> {
  const { count } = await view.find(ANSWER);
  await send(view, text);
  await expect.poll(async () => (await view.find(ANSWER)).count, { timeout: 20_000 }).toBe(count + 1);
  await idle(view);
}

/** Asks for a long answer, waits until it has come some way, and stops it. */
export async function stopCounting(view: View): Promise<void> {
  await send(view, "count to 1500");
  await view.says(ANSWER, /\b5\b/);
  await view.click(STOP);
  await idle(view);
}

export async function address(view: View): Promise<URL> {
  return new URL(await view.call(() => location.href));
}

/** Fills in several fields by their names. */
export async function fill(view: View, values: Record<string, string>): Promise<void> {
  for (const [name, value] of Object.entries(values)) await view.fill(field(name), value);
}
