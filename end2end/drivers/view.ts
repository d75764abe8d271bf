import { expect } from "@playwright/test";
import type { Action, Frames, Tab } from "./driver.ts";

/** A description of elements to search for in a page. */
export interface Query {
  /** A selector of CSS, also into what is open in the shadow. */
  css: string;
  /** Its accessible name, whole or a part of it. */
  name?: string;
  /** A part of its text. */
  text?: string;
  /** Whether `name` is only a part. */
  part?: boolean;
}

export const button = (name: string, part = false): Query => ({ css: "button, [role=button], summary", name, part });
export const link = (name: string, part = false): Query => ({ css: "a[href]", name, part });
export const field = (name: string, part = false): Query => ({ css: "input, textarea, select", name, part });
export const heading = (name: string): Query => ({ css: "h1, h2, h3, h4", name, part: true });

/** The keys of WebDriver that have no character. */
const KEYS: Record<string, string> = {
  Enter: "\uE007",
  Escape: "\uE00C",
  Tab: "\uE004",
  Control: "\uE009",
  Delete: "\uE017",
  ArrowDown: "\uE015",
};
const WAIT = { timeout: 20_000 };

interface Found {
  count: number;
  text: string;
  value: string;
  /** The middle of the last one, if a click there would hit it. */
  point: { x: number; y: number } | null;
}

/** A page or a frame of it, as a person uses it. */
export class View {
  readonly tab: Tab;
  readonly #frames: Frames;

  constructor(tab: Tab, frames: Frames = []) {
    this.tab = tab;
    this.#frames = frames;
  }

  /** A frame in it. */
  frame(selector: string): View {
    return new View(this.tab, [...this.#frames, selector]);
  }

  /** The visible elements that fit; the text and the place are those of the last one. */
  find(query: Query): Promise<Found> {
    return this.call(search, query);
  }

  call<A extends unknown[], R>(run: (...given: A) => R, ...given: A): Promise<Awaited<R>> {
    return this.tab.call(this.#frames, run, ...given);
  }

  async shows(query: Query): Promise<void> {
    await expect.poll(async () => (await this.find(query)).count, { ...WAIT, message: `shows ${JSON.stringify(query)}` }).toBeGreaterThan(0);
  }

  async hides(query: Query): Promise<void> {
    await expect.poll(async () => (await this.find(query)).count, { ...WAIT, message: `hides ${JSON.stringify(query)}` }).toBe(0);
  }

  /** Waits until the text of the last one fits. */
  async says(query: Query, text: string | RegExp): Promise<void> {
    const pattern = typeof text === "string" ? new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")) : text;
    await expect.poll(async () => (await this.find(query)).text, { ...WAIT, message: JSON.stringify(query) }).toMatch(pattern);
  }

  /** Waits until a field has a value. */
  async holds(query: Query, value: string): Promise<void> {
    await expect.poll(async () => (await this.find(query)).value, { ...WAIT, message: JSON.stringify(query) }).toBe(value);
  }

  async hover(query: Query): Promise<void> {
    const { x, y } = await this.#point(query);
    await this.tab.act(this.#frames, "pointer", [{ type: "pointerMove", x, y }]);
  }

  async click(query: Query): Promise<void> {
    const { x, y } = await this.#point(query);
    const press: Action[] = [{ type: "pointerDown", button: 0 }, { type: "pointerUp", button: 0 }];
    await this.tab.act(this.#frames, "pointer", [{ type: "pointerMove", x, y }, ...press]);
  }

  /** Presses keys together, such as `Control+k`. */
  async press(keys: string): Promise<void> {
    const values = keys.split("+").map((key) => KEYS[key] ?? key);
    const down = values.map((value): Action => ({ type: "keyDown", value }));
    const up = values.toReversed().map((value): Action => ({ type: "keyUp", value }));
    await this.tab.act(this.#frames, "key", [...down, ...up]);
  }

  async type(text: string): Promise<void> {
    const strokes = [...text].flatMap((value): Action[] => [{ type: "keyDown", value }, { type: "keyUp", value }]);
    await this.tab.act(this.#frames, "key", strokes);
  }

  /** Replaces the text of a field by the keys of a person. */
  async fill(query: Query, text: string): Promise<void> {
    await this.click(query);
    await this.press("Control+a");
    await this.press("Delete");
    await this.type(text);
    await this.holds(query, text);
  }

  /** Sets a field whose keys depend on the browser and its language: a date, a list to choose from. */
  async set(query: Query, value: string): Promise<void> {
    await this.#point(query);
    await this.call(assign, query.name ?? "", value);
    await this.holds(query, value);
  }

  async #point(query: Query): Promise<{ x: number; y: number }> {
    let point: Found["point"] = null;
    await expect
      .poll(async () => {
        const before = point;
        point = (await this.find(query)).point;
        // It does not move any more.
        return point !== null && before !== null && point.x === before.x && point.y === before.y;
      }, { ...WAIT, message: `can be clicked: ${JSON.stringify(query)}` })
      .toBe(true);
    return point!;
  }
}

/** Runs in the page. */
function search({ css, name, text, part }: Query): Found {
  const within = (root: Document | ShadowRoot | Element): Element[] => {
    const inner = [...root.querySelectorAll("*")].flatMap((element) => (element.shadowRoot ? within(element.shadowRoot) : []));
    return [...root.querySelectorAll(css), ...inner];
  };
  const clean = (words: string | null | undefined) => (words ?? "").replace(/\s+/g, " ").trim();
  const nameOf = (element: Element): string => {
    const by = (element.getAttribute("aria-labelledby") ?? "").split(" ").map((id) => clean(document.getElementById(id)?.textContent));
    const labels = [...((element as HTMLInputElement).labels ?? [])].map((label) => clean(label.textContent));
    const own = element.matches("input, textarea, select") ? "" : clean(element.textContent);
    const title = element.getAttribute("title") ?? element.getAttribute("placeholder");
    return clean(by.join(" ")) || clean(element.getAttribute("aria-label")) || labels.join(" ") || own || clean(title);
  };
  const fits = (element: Element) => {
    if (!element.checkVisibility({ visibilityProperty: true })) return false;
    const called = name === undefined ? "" : nameOf(element);
    return (name === undefined || (part ? called.includes(name) : called === name)) && (text === undefined || clean(element.textContent).includes(text));
  };
  const found = within(document).filter(fits) as HTMLElement[];
  const last = found.at(-1);
  if (last === undefined) return { count: 0, text: "", value: "", point: null };
  const view = { width: document.documentElement.clientWidth, height: document.documentElement.clientHeight };
  const middle = () => {
    const { left, right, top, bottom } = last.getBoundingClientRect();
    return { x: Math.round((Math.max(left, 0) + Math.min(right, view.width)) / 2), y: Math.round((Math.max(top, 0) + Math.min(bottom, view.height)) / 2) };
  };
  const isHit = ({ x, y }: { x: number; y: number }) => {
    const hit = (last.getRootNode() as Document | ShadowRoot).elementFromPoint(x, y);
    return hit !== null && (last.contains(hit) || hit.contains(last) || [...((last as HTMLInputElement).labels ?? [])].some((label) => label.contains(hit)));
  };
  let point = middle();
  if (!isHit(point)) {
    last.scrollIntoView({ block: "center", inline: "nearest", behavior: "instant" });
    point = middle();
  }
  const isOff = (last as HTMLButtonElement).disabled === true;
  return { count: found.length, text: last.innerText, value: (last as HTMLInputElement).value ?? "", point: !isOff && isHit(point) ? point : null };
}

/** Runs in the page: gives a field a value as its own picker would. */
function assign(name: string, value: string): void {
  const named = [...document.querySelectorAll<HTMLInputElement | HTMLSelectElement>("input, select")].find((element) =>
    [element.getAttribute("aria-label"), ...[...(element.labels ?? [])].map((label) => label.textContent)].some((text) => text?.trim().startsWith(name)),
  );
  if (!named) throw new Error(`there is no field ${name}`);
  named.value = value;
  for (const type of ["input", "change"]) named.dispatchEvent(new Event(type, { bubbles: true }));
}
