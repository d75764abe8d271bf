// Runs the tests with the built package and the server program `target/debug/chatwright`, or CHATWRIGHT_BINARY.
// Arguments are passed on to node's test runner.
import { spawnSync } from "node:child_process";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { build } from "esbuild";

const folder = join(import.meta.dirname, "..");
const output = join(folder, "build");
const common = { bundle: true, platform: "node", format: "esm", outdir: output, logLevel: "warning", jsx: "automatic" };
await rm(output, { recursive: true, force: true });
const tests = (await readdir(join(folder, "test"))).filter((name) => name.includes(".test."));
const isReact = (name) => name.startsWith("react");
const entries = (names, suffix) => names.map((name) => ({ in: join(folder, "test", name), out: name.replace(/\.tsx?$/, suffix) }));
await build({ ...common, entryPoints: entries(tests.filter((name) => !isReact(name)), ""), external: ["chatwright"] });
// The hook is tested with both versions of React, which are built in.
const banner = { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' };
for (const version of ["", "-18"]) {
  const alias = Object.fromEntries(["react", "react-test-renderer"].map((name) => [name, join(folder, `node_modules/${name}${version}`)]));
  const entryPoints = entries(tests.filter(isReact), `.react${version}`);
  await build({ ...common, entryPoints, alias, banner, define: { "process.env.NODE_ENV": '"development"' } });
}
const files = (await readdir(output)).filter((name) => name.endsWith(".js")).map((name) => join(output, name));
const env = { ...process.env, CHATWRIGHT_BINARY: process.env.CHATWRIGHT_BINARY ?? join(folder, "../../target/debug/chatwright") };
const { status } = spawnSync(process.execPath, ["--test", ...process.argv.slice(2), ...files], { cwd: folder, env, stdio: "inherit" });
process.exitCode = status ?? 1;
