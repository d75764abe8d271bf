import { setTimeout as wait } from "node:timers/promises";

/** Input as WebDriver and WebDriver BiDi both describe it. */
export type Action =
  | { type: "pointerMove"; x: number; y: number; duration?: number }
  | { type: "pointerDown" | "pointerUp"; button: number }
  | { type: "keyDown" | "keyUp"; value: string }
  | { type: "pause"; duration: number };

/** A frame by the selectors of the `iframe` elements that lead to it; empty for the page itself. */
export type Frames = readonly string[];

/** A tab with cookies and storage of its own. */
export interface Tab {
  /** Opens an address and waits until it is loaded. */
  goto(url: string): Promise<void>;
  reload(): Promise<void>;
  /** Calls a function in a frame and waits for what it returns, if that is a promise. Arguments and result are JSON. */
  call<A extends unknown[], R>(frames: Frames, run: (...given: A) => R, ...given: A): Promise<Awaited<R>>;
  /** Moves and presses the pointer or the keys; positions are those of the frame. */
  act(frames: Frames, device: "pointer" | "key", actions: Action[]): Promise<void>;
  /** Puts a file into the field that a selector finds. */
  choose(frames: Frames, selector: string, path: string): Promise<void>;
  /** Errors and warnings of its scripts and its console, so far. */
  problems(): string[];
  close(): Promise<void>;
}

/** A browser that runs. */
export interface Driver {
  /** Its name, with its version. */
  readonly name: string;
  open(): Promise<Tab>;
  close(): Promise<void>;
}

/** Tries again until it succeeds or the time is over. */
export async function retried<T>(milliseconds: number, attempt: () => Promise<T>): Promise<T> {
  const end = Date.now() + milliseconds;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (Date.now() > end) throw error;
      await wait(100);
    }
  }
}
