import { join } from "node:path";
import { Server } from "../../../end2end/fixtures/server.ts";

export { Line } from "../../../end2end/fixtures/line.ts";
export { Server };

/** The config of the tests; they run in the package's folder. */
const CONFIG = join(process.cwd(), "../test.yaml");

export function startServer(): Promise<Server> {
  return Server.start({ config: CONFIG });
}

/** Returns an API key with these scopes of the server's owner. */
export async function createKey(server: Server, ...scopes: string[]): Promise<string> {
  const response = await fetch(`${server.url}/api/keys`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ name: "test", scopes, expiresInDays: 1 }),
  });
  return ((await response.json()) as { key: string }).key;
}
