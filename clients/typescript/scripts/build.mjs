// Builds `dist`, and puts the licences beside it.
import { execFileSync } from "node:child_process";
import { copyFile, rm } from "node:fs/promises";
import { join } from "node:path";

const folder = join(import.meta.dirname, "..");
await rm(join(folder, "dist"), { recursive: true, force: true });
execFileSync(process.execPath, [join(folder, "node_modules/typescript/bin/tsc"), "-p", "tsconfig.build.json"], { cwd: folder, stdio: "inherit" });
for (const name of ["LICENSE-MIT", "LICENSE-APACHE"]) await copyFile(join(folder, "../..", name), join(folder, name));
