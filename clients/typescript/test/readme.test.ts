// The examples of the README and of the manual.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { type Server, createKey, startServer } from "./server.ts";

let server: Server;
let env: NodeJS.ProcessEnv;

before(async () => {
  server = await startServer();
  const key = await createKey(server, "agents", "conversations", "admin");
  env = { ...process.env, CHATWRIGHT_URL: server.url, CHATWRIGHT_KEY: key };
});
after(() => server.close());

/** Returns the code blocks in a language of a file. */
async function examples(file: string, language: string): Promise<string[]> {
  const text = await readFile(file, "utf8");
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\``, "gm"))].map(([, code]) => code!);
}

test("the example of the README runs", async () => {
  const [example] = await examples("README.md", "ts");
  const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", example!], { env, encoding: "utf8" });
  assert.equal(stderr, "");
  assert.match(stdout, /^1, 2, 3\n\nThat was all\.\n(.|\n)*Nothing was deleted: you said no\. Your reason: “Not today\.”\n$/);
});

test("the examples of the README and of the manual have no type errors", async () => {
  const folder = "build/examples";
  await mkdir(folder, { recursive: true });
  const files = ["README.md", "../../docs/clients.md"];
  let count = 0;
  for (const file of files) {
    for (const language of ["ts", "tsx"]) {
      for (const code of await examples(file, language)) {
        // Declarations that the examples leave out.
        const context = code.includes("new Chatwright(") ? "" : 'declare const client: import("chatwright").Chatwright;\n';
        await writeFile(`${folder}/${count++}.${language}`, `${context}${code}\nexport {};\n`);
      }
    }
  }
  assert.ok(count >= 4, String(count));
  const options = { extends: "../../tsconfig.json", compilerOptions: { jsx: "react-jsx", noUnusedLocals: false }, include: ["."] };
  await writeFile(`${folder}/tsconfig.json`, JSON.stringify(options));
  const { stdout } = spawnSync(process.execPath, ["node_modules/typescript/bin/tsc", "-p", folder], { encoding: "utf8" });
  assert.equal(stdout, "");
});
