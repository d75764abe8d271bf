// An OpenID Connect provider for tests, on a free port of this machine: the package `oidc-provider` with accounts that
// need no password. Prints its issuer. `PUT /test/accounts` replaces the accounts.
//
//     node provider.mjs '{"alg":"RS256","accounts":{"ada":{"name":"Ada","groups":["admins"]}}}'
import { generateKeyPairSync, randomUUID, sign } from "node:crypto";
import { createServer } from "node:http";
import { Provider, errors } from "oidc-provider";

const settings = JSON.parse(process.argv[2] ?? "{}");
const alg = settings.alg ?? "RS256";
const id = settings.id ?? "company";
let accounts = settings.accounts ?? {};

// Token exchange (RFC 8693), which the package does not have: access tokens of the client become those of an audience.
const EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange";
const ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token";
const AUDIENCE = "orders-api";
const SCOPES = ["orders.read"];
let exchanges = 0;

// Assertions for the authorization server of another service (Identity Assertion JWT Authorization Grant), for ID tokens.
const ID_TOKEN = "urn:ietf:params:oauth:token-type:id_token";
const ASSERTION = "urn:ietf:params:oauth:token-type:id-jag";
/** The client of the other authorization server that the client of this provider is there. */
const CLIENT_ELSEWHERE = "chatwright-at-files";
/** The ID tokens for which there were assertions, and those that are refused next. */
let asserted = new Set();
const ended = new Set();
/** The access tokens that were exchanged, and those for which they were. */
let exchanged = [];

const { privateKey } =
  alg === "ES256"
    ? generateKeyPairSync("ec", { namedCurve: "P-256" })
    : generateKeyPairSync("rsa", { modulusLength: 2048 });
const key = { ...privateKey.export({ format: "jwk" }), kid: "k1", use: "sig", alg };

const server = createServer();
server.listen(0, "127.0.0.1", () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(issuer, {
    jwks: { keys: [key] },
    cookies: { keys: ["of the tests"] },
    clients: [
      {
        client_id: "chat",
        client_secret: "secret of the tests",
        redirect_uris: [`http://127.0.0.1/auth/openid-connect/${id}/callback`],
        id_token_signed_response_alg: alg,
        grant_types: ["authorization_code", "refresh_token", EXCHANGE],
      },
    ],
    issueRefreshToken: () => Boolean(settings.exchange),
    scopes: ["openid", "profile", "email", "groups"],
    claims: {
      openid: ["sub"],
      profile: ["name", "preferred_username"],
      email: ["email", "email_verified"],
      groups: ["groups"],
    },
    features: {
      devInteractions: { enabled: false },
      rpInitiatedLogout: {
        // Its own page loads a font from the network.
        logoutSource: (context, form) => {
          context.body = `<!DOCTYPE html><title>Provider</title>${form}
            <button form="op.logoutForm" name="logout" value="yes">Sign out at the provider</button>`;
        },
      },
    },
    interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
    findAccount: (_, id) => accounts[id] && { accountId: id, claims: () => ({ sub: id, ...accounts[id] }) },
    // Users are not asked for their consent.
    loadExistingGrant: async ({ oidc }) => {
      const grant = new oidc.provider.Grant({ clientId: oidc.client.clientId, accountId: oidc.session.accountId });
      grant.addOIDCScope("openid profile email groups");
      await grant.save();
      return grant;
    },
  });
  const grant = (context) =>
    context.oidc.params.requested_token_type === ASSERTION ? assert(provider, context) : exchange(provider, context);
  provider.registerGrantType(EXCHANGE, grant, [
    "audience",
    "resource",
    "scope",
    "subject_token",
    "subject_token_type",
    "requested_token_type",
  ]);
  // The port of the server under test is not known yet.
  provider.Client.prototype.redirectUriAllowed = (uri) =>
    /^http:\/\/127\.0\.0\.1:\d+\//.test(uri) && new URL(uri).pathname === `/auth/openid-connect/${id}/callback`;
  provider.Client.prototype.postLogoutRedirectUriAllowed = (uri) =>
    /^http:\/\/127\.0\.0\.1:\d+\/auth\/sign-in$/.test(uri);
  const callback = provider.callback();
  server.on("request", (request, response) => {
    const finish = interaction(provider, request, response) ?? service(provider, request, response) ?? control(provider, request, response);
    finish ? finish.catch((error) => response.writeHead(500).end(String(error))) : callback(request, response);
  });
  console.log(issuer);
});

/** The page on which users say who they are. */
function interaction(provider, request, response) {
  if (!request.url.startsWith("/interaction/")) return undefined;
  if (request.method === "GET") {
    response.setHeader("content-type", "text/html");
    response.end(`<!DOCTYPE html><title>Provider</title><form method="post">
      <label>Account <input name="account"></label> <button>Continue</button>
      <button name="decline" value="1">Decline</button></form>`);
    return Promise.resolve();
  }
  return body(request).then((text) => {
    const form = new URLSearchParams(text);
    const result = form.has("decline")
      ? { error: "access_denied", error_description: "declined" }
      : { login: { accountId: form.get("account") } };
    return provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
  });
}

/** Issues a token of the audience for an access token of a sign-in. */
async function exchange(provider, context) {
  const { client, params } = context.oidc;
  const subject = await provider.AccessToken.find(params.subject_token);
  if (!subject || subject.clientId !== client.clientId || params.subject_token_type !== ACCESS_TOKEN) {
    throw new errors.InvalidRequest("the subject token is not valid");
  }
  if (params.audience !== AUDIENCE) throw new errors.InvalidTarget("the audience is not known");
  const scopes = (params.scope ?? SCOPES.join(" ")).split(" ").filter((scope) => SCOPES.includes(scope));
  const token = new provider.AccessToken({
    accountId: subject.accountId,
    client,
    grantId: subject.grantId,
    gty: "token_exchange",
    scope: scopes.join(" "),
  });
  token.resourceServer = new provider.ResourceServer(AUDIENCE, { scope: SCOPES.join(" "), audience: AUDIENCE });
  exchanges += 1;
  exchanged.push(subject, token);
  context.body = {
    access_token: await token.save(),
    issued_token_type: ACCESS_TOKEN,
    token_type: "Bearer",
    expires_in: token.expiration,
    scope: token.scope,
  };
}

/** Issues an assertion about the user of an ID token. */
async function assert(provider, context) {
  const { client, params } = context.oidc;
  if (params.subject_token_type !== ID_TOKEN) throw new errors.InvalidRequest("the subject token is no ID token");
  const refuse = () => {
    throw new errors.InvalidGrant("the ID token is not valid");
  };
  const { payload } = await provider.IdToken.validate(params.subject_token, client).catch(refuse);
  const now = Math.floor(Date.now() / 1000);
  // A renewed token of the same second is the same text, so each is refused once.
  if (payload.exp <= now || ended.delete(params.subject_token)) refuse();
  asserted.add(params.subject_token);
  const { audience: aud, resource, scope } = params;
  const claims = { iss: provider.issuer, aud, sub: payload.sub, client_id: CLIENT_ELSEWHERE, resource, scope };
  const encode = (part) => Buffer.from(JSON.stringify(part)).toString("base64url");
  const signed = [{ alg, typ: "oauth-id-jag+jwt", kid: key.kid }, { ...claims, jti: randomUUID(), iat: now, exp: now + 300 }];
  const text = signed.map(encode).join(".");
  const signature = sign("sha256", Buffer.from(text), privateKey).toString("base64url");
  context.body = { access_token: `${text}.${signature}`, issued_token_type: ASSERTION, token_type: "N_A", expires_in: 300 };
}

/** A service that takes tokens of its audience only. */
function service(provider, request, response) {
  if (request.url !== "/service/whoami") return undefined;
  const answer = async () => {
    const [, value] = (request.headers.authorization ?? "").split(" ");
    const token = value && (await provider.AccessToken.find(value));
    if (!token || token.aud !== AUDIENCE) {
      response.writeHead(401, { "www-authenticate": 'Bearer error="invalid_token"' }).end();
      return;
    }
    const about = { account: token.accountId, audience: token.aud, scope: token.scope, exchanges };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(about));
  };
  return answer();
}

/** The settings that tests change. */
function control(provider, request, response) {
  if (request.url === "/test/expire" || request.url === "/test/revoke") {
    // A revoked grant ends its refresh tokens as well.
    const end = (token) => (request.url === "/test/expire" ? token.destroy() : provider.AccessToken.revokeByGrantId(token.grantId));
    const all = exchanged.map(end);
    exchanged = [];
    asserted.forEach((token) => ended.add(token));
    if (request.url === "/test/revoke" && asserted.size) provider.RefreshToken.find = async () => undefined;
    asserted = new Set();
    return Promise.all(all).then(() => response.writeHead(204).end());
  }
  if (request.url !== "/test/accounts" || request.method !== "PUT") return undefined;
  return body(request).then((text) => {
    accounts = JSON.parse(text);
    response.writeHead(204).end();
  });
}

async function body(request) {
  let text = "";
  for await (const chunk of request) text += chunk;
  return text;
}
