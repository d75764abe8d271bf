// Generates the types of both clients from the server's OpenAPI document:
//
//     node clients/generate.mjs            writes them
//     node clients/generate.mjs --check    fails if what is committed is not current
//
// The document is that of the server program (`target/debug/chatwright`, or CHATWRIGHT_BINARY). Only the operations
// that the clients offer are kept, so that the packages stay small.
import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const require = createRequire(join(import.meta.dirname, "typescript/package.json"));
const { default: openapiTS, astToString } = await import(require.resolve("openapi-typescript").replace(/\.c?js$/, ".mjs"));
const TYPESCRIPT = join(import.meta.dirname, "typescript/src/openapi.ts");
const PYTHON = join(import.meta.dirname, "python/src/chatwright/_openapi.py");
const BINARY = process.env.CHATWRIGHT_BINARY ?? join(import.meta.dirname, "../target/debug/chatwright");
const READY = /^listening on (http:\/\/\S+)$/;

/** The operations of the clients. */
const OPERATIONS = [
  "POST /api/agent/{page}/{agent}",
  "GET /api/agent/{page}/{agent}/{conversation}/stream",
  "POST /api/agent/{page}/{agent}/{conversation}/stop",
  "GET /api/models",
  "POST /api/runs/invoke",
  "POST /api/runs",
  "GET /api/runs/{id}",
  "POST /api/runs/{id}/answer",
  "POST /api/runs/{id}/stop",
  "GET /api/grants",
  "DELETE /api/grants/{id}",
  "GET /api/conversations",
  "GET /api/conversations/{id}",
  "PATCH /api/conversations/{id}",
  "DELETE /api/conversations/{id}",
  "GET /api/conversations/{id}/usage",
  "POST /api/conversations/{id}/change",
  "GET /api/conversations/{id}/files",
  "POST /api/conversations/{id}/files",
  "DELETE /api/conversations/{id}/files",
  "GET /api/conversations/{id}/files/{version}",
  "GET /api/search",
  "POST /api/files",
  "GET /api/files/{id}",
  "DELETE /api/files/{id}",
  "POST /api/endpoints/{page}/{endpoint}",
  "POST /api/agents/definitions",
  "GET /api/agents/definitions",
  "DELETE /api/agents/definitions/{name}",
];

/** Returns the document of the server, which is the same for every config. */
async function loadDocument() {
  const folder = await mkdtemp(join(tmpdir(), "chatwright-openapi-"));
  const server = spawn(BINARY, ["serve", "--addr", "127.0.0.1:0", "--database", `sqlite://${join(folder, "a.db")}`], {
    cwd: folder,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise((resolve) => server.once("close", resolve));
  try {
    for await (const line of createInterface({ input: server.stdout })) {
      const ready = READY.exec(line);
      if (ready) return await (await fetch(`${ready[1]}/api/openapi.json`)).json();
    }
    throw new Error(`${BINARY} ended before it was ready`);
  } finally {
    server.kill("SIGKILL");
    await ended;
    await rm(folder, { recursive: true, force: true });
  }
}

/** Returns the document with the operations of the clients and the schemas that they need. */
function select(document) {
  const paths = {};
  for (const operation of OPERATIONS) {
    const [method, path] = operation.split(" ");
    const found = document.paths[path]?.[method.toLowerCase()];
    if (!found) throw new Error(`the server has no operation ${operation}`);
    (paths[path] ??= {})[method.toLowerCase()] = found;
  }
  const schemas = {};
  const visit = (value) => {
    for (const name of JSON.stringify(value).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      if (schemas[name[1]]) continue;
      schemas[name[1]] = document.components.schemas[name[1]];
      visit(schemas[name[1]]);
    }
  };
  visit(paths);
  const sorted = Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1)));
  return { openapi: document.openapi, info: document.info, paths, components: { schemas: sorted } };
}

/** Returns the schemas as `TypedDict`s. What has no such form, such as a message's parts, is `Any` there and written by hand. */
function python(schemas) {
  const lines = [
    "# Generated from the server's OpenAPI document by `node clients/generate.mjs`. Do not edit.",
    '"""The bodies of requests and responses."""',
    "",
    "from __future__ import annotations",
    "",
    "import sys",
    "from typing import Any, Literal, TypeAlias, TypedDict",
    "",
    "if sys.version_info >= (3, 11):",
    "    from typing import NotRequired",
    "else:",
    "    from typing_extensions import NotRequired",
    "",
  ];
  for (const [name, schema] of Object.entries(schemas)) {
    lines.push("", ...pythonSchema(name, schema), "");
  }
  const text = `${lines.join("\n").replaceAll(/\n{4,}/g, "\n\n\n").trimEnd()}\n`;
  return text;
}

const IDENTIFIER = /^[A-Za-z_]\w*$/;
const KEYWORDS = new Set(["from", "in", "is", "class", "global", "import", "pass"]);

function pythonSchema(name, schema) {
  const about = docstring(schema.description ?? name);
  if (schema.type !== "object" || !schema.properties || schema.anyOf || schema.oneOf) {
    // Not evaluated before all names are known.
    return [`${name}: TypeAlias = ${quoteAll(pythonType(schema))}`, ...(schema.description ? [about.trim()] : [])];
  }
  const required = new Set(schema.required ?? []);
  const fields = Object.entries(schema.properties).map(([key, value]) => {
    const type = pythonType(value);
    return [key, required.has(key) ? type : `NotRequired[${type}]`, value.description];
  });
  if (fields.some(([key]) => !IDENTIFIER.test(key) || KEYWORDS.has(key))) {
    return [
      `${name} = TypedDict(`,
      `    "${name}",`,
      "    {",
      ...fields.map(([key, type]) => `        ${JSON.stringify(key)}: ${JSON.stringify(type)},`),
      "    },",
      ")",
      about.trim(),
    ];
  }
  const lines = [`class ${name}(TypedDict):`, about];
  for (const [key, type, description] of fields) {
    lines.push("", `    ${key}: ${type}`);
    if (description) lines.push(docstring(description));
  }
  return lines;
}

/** Aliases refer to types by text where those may follow. */
function quoteAll(type) {
  return /^(Literal|Any|str|int|float|bool)/.test(type) ? type : JSON.stringify(type);
}

function docstring(text) {
  return `    """${text.replaceAll("\\", "\\\\").replaceAll('"""', "'''").replace(/"$/, '" ')}"""`;
}

function pythonType(schema) {
  if (schema.$ref) {
    const name = schema.$ref.split("/").at(-1);
    return name;
  }
  const any = schema.anyOf ?? schema.oneOf;
  if (any) {
    if (any.every((one) => typeof one.const === "string")) return `Literal[${any.map((one) => JSON.stringify(one.const)).join(", ")}]`;
    const types = [...new Set(any.map(pythonType))];
    return types.includes("Any") ? "Any" : types.join(" | ");
  }
  if (schema.const !== undefined) return `Literal[${JSON.stringify(schema.const)}]`;
  if (schema.enum?.every((one) => typeof one === "string")) return `Literal[${schema.enum.map((one) => JSON.stringify(one)).join(", ")}]`;
  if (Array.isArray(schema.type)) {
    const types = schema.type.map((type) => (type === "null" ? "None" : pythonType({ ...schema, type })));
    return types.includes("Any") ? "Any" : types.join(" | ");
  }
  switch (schema.type) {
    case "string": return "str";
    case "integer": return "int";
    case "number": return "float";
    case "boolean": return "bool";
    case "null": return "None";
    case "array": return `list[${schema.items ? pythonType(schema.items) : "Any"}]`;
    case "object": {
      const values = schema.additionalProperties;
      return `dict[str, ${values && typeof values === "object" ? pythonType(values) : "Any"}]`;
    }
    default: return "Any";
  }
}

const document = select(await loadDocument());
const outputs = [
  [
    TYPESCRIPT,
    `// Generated from the server's OpenAPI document by \`node clients/generate.mjs\`. Do not edit.\n${astToString(await openapiTS(structuredClone(document)))}`,
  ],
  [PYTHON, python(document.components.schemas)],
];
// The packages have the version of the server.
const { version } = document.info;
const versions = [
  [join(import.meta.dirname, "typescript/package.json"), `"version": "${version}"`],
  [join(import.meta.dirname, "python/pyproject.toml"), `version = "${version}"`],
];
for (const [path, line] of versions) {
  if ((await readFile(path, "utf8")).includes(line)) continue;
  console.error(`${path} has another version than the server, ${version}`);
  process.exitCode = 1;
}
for (const [path, text] of outputs) {
  if (!process.argv.includes("--check")) await writeFile(path, text);
  else if ((await readFile(path, "utf8")) !== text) {
    console.error(`${path} is not current: run \`node clients/generate.mjs\``);
    process.exitCode = 1;
  }
}
