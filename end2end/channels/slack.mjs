// Starts a stand-in for Slack, the package `emulate`, on a free port of this machine, and prints its address. The token of
// the bot is `xoxb-test`; those of the users Ada and Eve are `xoxp-ada` and `xoxp-eve`.
import { register } from "node:module";

// The package imports two functions of Node 24 that only its command needs. They are replaced, so that it runs on Node 20.
const shim =
  'data:text/javascript,export * from "node:module"; export const registerHooks = undefined, stripTypeScriptTypes = undefined;';
const hooks = `
  export const resolve = (specifier, context, next) =>
    specifier === "module" && context.parentURL?.includes("/emulate/dist/")
      ? { url: ${JSON.stringify(shim)}, shortCircuit: true }
      : next(specifier, context);
`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
const { createEmulator } = await import("emulate");

const bot = { bot_id: "B1", bot_user_id: "UBOT" };
const app = { client_id: "1", client_secret: "of the tests", redirect_uris: [], name: "Helper", ...bot };
const slack = {
  users: [{ name: "ada", real_name: "Ada" }, { name: "eve", real_name: "Eve" }],
  oauth_apps: [app],
  tokens: [
    { token: "xoxb-test", type: "bot", user: "UBOT", ...bot },
    { token: "xoxp-ada", type: "user", user: "ada" },
    { token: "xoxp-eve", type: "user", user: "eve" },
  ],
};
const { url } = await createEmulator({ service: "slack", port: 0, hostname: "127.0.0.1", seed: { slack } });
console.log(url);
