// An MCP server whose users have accounts at an authorization server of their own, for tests: the package `oidc-provider`, with
// registration of clients, and a tool `whoami`, both on a free port of this machine. Prints its origin.
// `POST /test/expire` makes the access tokens invalid, `POST /test/revoke` all tokens; `GET /test/counts` tells how often tokens
// were issued and revoked.
// With the issuer of a company's provider as an argument, it issues tokens for assertions of this provider as well.
import { createPublicKey, verify } from "node:crypto";
import { createServer } from "node:http";
import { Provider, errors } from "oidc-provider";

const company = process.argv[2];
const JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer";

const SCOPES = "files.read files.write";
const server = createServer();
server.listen(0, "127.0.0.1", () => {
  const origin = `http://127.0.0.1:${server.address().port}`;
  const resource = `${origin}/mcp`;
  const counts = { granted: 0, revoked: 0 };
  let expired = new Set();
  let issued = new Set();
  const provider = new Provider(origin, {
    cookies: { keys: ["of the tests"] },
    clients: company
      ? [
          {
            client_id: "chatwright-at-files",
            client_secret: "secret at files",
            grant_types: [JWT_BEARER],
            redirect_uris: [],
            response_types: [],
          },
        ]
      : [],
    scopes: ["openid", "offline_access", ...SCOPES.split(" ")],
    features: {
      devInteractions: { enabled: false },
      registration: { enabled: true },
      revocation: { enabled: true },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        getResourceServerInfo: (_, wanted) => {
          if (wanted !== resource) throw new Error(`unknown resource ${wanted}`);
          return { scope: SCOPES, accessTokenFormat: "opaque", accessTokenTTL: 3600 };
        },
      },
    },
    rotateRefreshToken: true,
    interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
  });
  if (company) provider.registerGrantType(JWT_BEARER, issueForAssertion, ["assertion", "scope"]);
  provider.on("grant.success", () => (counts.granted += 1));
  provider.on("access_token.issued", (token) => issued.add(token.jti));
  provider.on("access_token.saved", (token) => issued.add(token.jti));
  provider.on("refresh_token.destroyed", () => (counts.revoked += 1));
  const callback = provider.callback();

  /** The page on which users say who they are and agree. */
  async function interact(request, response) {
    if (request.method === "GET") {
      response.setHeader("content-type", "text/html");
      return response.end(`<!DOCTYPE html><title>Files</title><form method="post">
        <label>Account <input name="account"></label> <button>Allow</button></form>`);
    }
    const form = new URLSearchParams(await body(request));
    const { prompt, params, session } = await provider.interactionDetails(request, response);
    if (prompt.name === "login") {
      const login = { accountId: form.get("account") };
      return provider.interactionFinished(request, response, { login }, { mergeWithLastSubmission: false });
    }
    const grant = new provider.Grant({ accountId: session.accountId, clientId: params.client_id });
    grant.addOIDCScope(`openid ${params.scope}`);
    grant.addResourceScope(resource, params.scope);
    const consent = { grantId: await grant.save() };
    return provider.interactionFinished(request, response, { consent }, { mergeWithLastSubmission: true });
  }

  /** Issues a token to the user of an assertion. */
  async function issueForAssertion(context) {
    const { client, params } = context.oidc;
    const claims = await readAssertion(params.assertion ?? "");
    const isOurs = claims.aud === origin && claims.resource === resource && claims.client_id === client.clientId;
    if (!isOurs || claims.exp * 1000 <= Date.now()) throw new errors.InvalidGrant("the assertion is not for this server");
    const token = new provider.AccessToken({ accountId: claims.sub, client, gty: "jwt_bearer", scope: claims.scope });
    token.resourceServer = new provider.ResourceServer(resource, { scope: SCOPES, audience: resource });
    const accessToken = await token.save();
    context.body = { access_token: accessToken, token_type: "Bearer", expires_in: token.expiration, scope: token.scope };
  }

  /** The MCP server. */
  async function mcp(request, response) {
    const send = (status, headers, message) => {
      response.writeHead(status, { "content-type": "application/json", ...headers });
      response.end(message && JSON.stringify(message));
    };
    const metadata = `resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"`;
    const token = await provider.AccessToken.find((request.headers.authorization ?? "").replace("Bearer ", ""));
    if (!token || expired.has(token.jti) || token.aud !== resource) {
      return send(401, { "www-authenticate": `Bearer ${metadata}, scope="files.read"` });
    }
    if (request.method !== "POST") return send(405, {});
    const message = JSON.parse(await body(request));
    const answer = (result) => send(200, {}, { jsonrpc: "2.0", id: message.id, result });
    switch (message.method) {
      case "initialize":
        return answer({
          protocolVersion: message.params.protocolVersion,
          capabilities: { tools: {} },
          serverInfo: { name: "files", version: "1" },
        });
      case "tools/list":
        return answer({
          tools: ["whoami", "change"].map((name) => ({ name, description: name, inputSchema: { type: "object" } })),
        });
      case "tools/call": {
        const needed = message.params.name === "change" ? "files.write" : "files.read";
        if (!token.scope.split(" ").includes(needed)) {
          const challenge = `Bearer error="insufficient_scope", scope="${needed}", ${metadata}`;
          return send(403, { "www-authenticate": challenge });
        }
        return answer({ content: [{ type: "text", text: `${token.accountId} may ${token.scope}` }] });
      }
      default:
        return send(202, {});
    }
  }

  async function control(request, response) {
    if (request.url === "/test/counts") return response.end(JSON.stringify(counts));
    expired = new Set([...expired, ...issued]);
    issued = new Set();
    if (request.url === "/test/revoke") provider.RefreshToken.find = async () => undefined;
    response.end();
  }

  server.on("request", (request, response) => {
    const fail = (error) => response.writeHead(500).end(String(error.stack));
    if (request.url.startsWith("/interaction/")) interact(request, response).catch(fail);
    else if (request.url === "/mcp") mcp(request, response).catch(fail);
    else if (request.url.startsWith("/test/")) control(request, response).catch(fail);
    else if (request.url.startsWith("/.well-known/oauth-protected-resource")) {
      const scopes = ["files.read"];
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ resource, authorization_servers: [origin], scopes_supported: scopes }));
    } else callback(request, response);
  });
  console.log(origin);
});

/** Returns the claims of an assertion, whose signature is that of the company. */
async function readAssertion(assertion) {
  const [header, claims, signature] = assertion.split(".");
  const read = (part) => JSON.parse(Buffer.from(part ?? "", "base64url").toString());
  if (read(header).typ !== "oauth-id-jag+jwt") throw new errors.InvalidGrant("this is no assertion");
  const { keys } = await (await fetch(`${company}/jwks`)).json();
  const key = createPublicKey({ key: keys[0], format: "jwk" });
  const isSigned = verify("sha256", Buffer.from(`${header}.${claims}`), key, Buffer.from(signature, "base64url"));
  if (!isSigned || read(claims).iss !== company) throw new errors.InvalidGrant("the assertion is not signed by the company");
  return read(claims);
}

async function body(request) {
  let text = "";
  for await (const chunk of request) text += chunk;
  return text;
}
