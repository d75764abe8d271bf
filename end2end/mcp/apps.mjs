// An MCP server over stdio with user interfaces (MCP Apps). Its argument is a JSON file: `{name: {html, csp, listed}}`. Each name is a
// tool `show_NAME` whose result the HTML shows. With `listed`, the domains are declared in the list of resources instead of the content.
// The results contain the data of the client that it received, and the calls that arrive.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const MEDIA_TYPE = "text/html;profile=mcp-app";
const apps = JSON.parse(readFileSync(process.argv[2], "utf8"));
const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const text = { type: "object", properties: { text: { type: "string" } } };
const tool = (name, ui) => ({ name, title: `The tool ${name}`, description: name, inputSchema: text, ...(ui ? { _meta: { ui } } : {}) });
const address = (name) => `ui://apps/${name}.html`;
const tools = [
  ...Object.keys(apps).map((name) => tool(`show_${name}`, { resourceUri: address(name) })),
  tool("refresh", { visibility: ["app"] }),
  tool("for_models", { visibility: ["model"] }),
  tool("pay"),
  tool("fail"),
];

let capabilities;
const calls = [];

function call({ name, arguments: given = {} }) {
  calls.push(name);
  const content = [{ type: "text", text: `${name}: ${given.text ?? ""}` }];
  if (name === "fail") return { content, isError: true };
  return { content, structuredContent: { calls: [...calls], extensions: capabilities.extensions }, _meta: { hidden: "for the app" } };
}

const declared = (csp) => ({ _meta: { ui: { csp, permissions: { camera: {} } } } });

function read({ uri }) {
  if (uri === "note://1") return { contents: [{ uri, mimeType: "text/plain", text: "a note" }] };
  const { html, csp, listed } = apps[Object.keys(apps).find((name) => address(name) === uri)];
  return { contents: [{ uri, mimeType: MEDIA_TYPE, text: html, ...(listed ? {} : declared(csp)) }] };
}

function list() {
  const entry = ([name, { csp, listed }]) => ({ uri: address(name), name, mimeType: MEDIA_TYPE, ...(listed ? declared(csp) : {}) });
  return { resources: Object.entries(apps).map(entry) };
}

const METHODS = {
  initialize: ({ capabilities: own }) => {
    capabilities = own;
    const offered = { tools: {}, resources: {} };
    return { protocolVersion: "2025-11-25", capabilities: offered, serverInfo: { name: "apps", version: "1" } };
  },
  "tools/list": () => ({ tools }),
  "tools/call": call,
  "resources/list": list,
  "resources/read": read,
  ping: () => ({}),
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id !== undefined && method in METHODS) say({ id, result: METHODS[method](params) });
});
