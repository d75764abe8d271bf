// Runs the conformance suite of the Model Context Protocol, with its arguments. The suite imports `globSync`
// of Node 22, which only a command needs that is not used here, so that it runs on Node 20 as well.
import { register } from "node:module";

const fs = 'data:text/javascript,export * from "node:fs"; export const globSync = undefined;';
const hooks = `
  export const resolve = (specifier, context, next) =>
    specifier === "fs" && context.parentURL?.includes("/conformance/")
      ? { url: ${JSON.stringify(fs)}, shortCircuit: true }
      : next(specifier, context);
`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
await import("../node_modules/@modelcontextprotocol/conformance/dist/index.js");
