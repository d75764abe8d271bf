import { ConnectionError, type ErrorBody, RequestError } from "./error.ts";
import type { ErrorCode } from "./types.ts";

/** A value, or a function that is asked for it before each request. */
export type Credential = string | (() => string | Promise<string>);

export interface ChatwrightOptions {
  /** The address of the server, such as `https://chat.example.com`. In a page of the server itself it can be left out. */
  url?: string | URL;
  /** An API key of the user. */
  key?: Credential;
  /** A token of the host application, in the auth mode `jwt`. */
  token?: Credential;
  /** Whether the browser sends the cookie of the session; the default of `fetch` is `same-origin`. */
  credentials?: RequestCredentials;
  /** Added to each request. */
  headers?: Record<string, string>;
  /** Another `fetch`, such as one with a proxy. */
  fetch?: typeof fetch;
}

export interface RequestOptions {
  query?: Record<string, string | number | boolean | undefined>;
  /** The body as JSON. */
  json?: unknown;
  /** The body as it is. */
  body?: BodyInit;
  headers?: Record<string, string>;
  signal?: AbortSignal | undefined;
}

/** The codes of statuses, for responses that do not come from the server, such as a proxy's. */
const CODES: Record<number, ErrorCode> = {
  401: "unauthenticated",
  403: "forbidden",
  404: "not_found",
  409: "busy",
  413: "too_large",
  422: "invalid",
  429: "rate_limited",
  502: "unavailable",
  503: "unavailable",
  504: "unavailable",
};

/** Sends requests to one server. */
export class Http {
  readonly #base: string;
  readonly #options: ChatwrightOptions;
  readonly #fetch: typeof fetch;

  constructor(options: ChatwrightOptions) {
    const url = options.url ?? (typeof location === "undefined" ? undefined : location.origin);
    if (url === undefined) throw new TypeError("`url` is missing: write the address of the server, as in a browser");
    const base = new URL(url);
    if (base.protocol !== "http:" && base.protocol !== "https:") {
      throw new TypeError(`\`url\` is not the address of a server: write it as in a browser, https://chat.example.com`);
    }
    this.#base = `${base.origin}${base.pathname.replace(/\/+$/, "")}`;
    this.#options = options;
    // A browser's `fetch` must not be called as a method.
    this.#fetch = options.fetch ?? ((input, init) => fetch(input, init));
  }

  /** Sends a request; segments of the path are encoded. Returns a successful response. */
  async send(method: string, path: readonly string[], options: RequestOptions = {}): Promise<Response> {
    const headers = new Headers({ ...this.#options.headers, ...options.headers });
    const credential = this.#options.key ?? this.#options.token;
    if (credential !== undefined) {
      headers.set("authorization", `Bearer ${typeof credential === "string" ? credential : await credential()}`);
    }
    let body = options.body;
    if (options.json !== undefined) {
      headers.set("content-type", "application/json");
      body = JSON.stringify(options.json);
    }
    const query = new URLSearchParams();
    for (const [key, value] of Object.entries(options.query ?? {})) {
      if (value !== undefined) query.set(key, String(value));
    }
    const url = `${this.#base}/${path.map(encodeURIComponent).join("/")}${query.size > 0 ? `?${query}` : ""}`;
    const init: RequestInit = { method, headers, redirect: "error" };
    if (body !== undefined) init.body = body;
    if (options.signal) init.signal = options.signal;
    if (this.#options.credentials) init.credentials = this.#options.credentials;
    let response: Response;
    try {
      response = await this.#fetch(url, init);
    } catch (error) {
      options.signal?.throwIfAborted();
      throw new ConnectionError(`the server cannot be reached: ${causeOf(error)}`, { cause: error });
    }
    if (!response.ok) throw await refusal(response);
    return response;
  }

  /** Sends a request and returns the JSON of the response. */
  async json<T>(method: string, path: readonly string[], options: RequestOptions = {}): Promise<T> {
    const response = await this.send(method, path, options);
    try {
      return (await response.json()) as T;
    } catch (error) {
      options.signal?.throwIfAborted();
      throw new ConnectionError(`the server's answer cannot be read: ${causeOf(error)}`, { cause: error });
    }
  }

  /** Sends a request whose response has no body. */
  async run(method: string, path: readonly string[], options: RequestOptions = {}): Promise<void> {
    const response = await this.send(method, path, options);
    await response.body?.cancel();
  }
}

function causeOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return cause instanceof Error ? cause.message : String(cause);
}

async function refusal(response: Response): Promise<RequestError> {
  const { status } = response;
  let told: Partial<ErrorBody> | undefined;
  try {
    told = ((await response.json()) as { error?: Partial<ErrorBody> }).error;
  } catch {
    // Not JSON: a proxy has answered.
  }
  const code = told?.code ?? CODES[status] ?? (status < 500 ? "malformed" : "internal");
  const wait = Number(response.headers.get("retry-after") ?? Number.NaN);
  const body: ErrorBody = { ...told, code, message: told?.message ?? `The server answered with ${status}.` };
  if (body.retryAfter === undefined && Number.isFinite(wait)) body.retryAfter = wait;
  return new RequestError(status, body);
}
