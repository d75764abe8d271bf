//! Tests of `auth` of connections that are called on behalf of users.

use crate::check;

/// Asserts that a connection is refused with a message, which stands at a key.
fn refuses(connection: &str, agent: &str, expected: &str) {
    let config = format!(
        "connections:
  - {{ id: demo, type: Demo }}
  - {{ id: files, {connection} }}
agents:
  - {{ id: a, type: Agent, connectionId: demo, properties: {{ model: m }}{agent} }}
"
    );
    let diagnostics = check(&config);
    assert!(diagnostics.contains(&format!("error: {expected}")), "{connection} {agent}: {diagnostics}");
}

fn mcp(properties: &str) -> String {
    format!("type: Mcp, properties: {{ {properties} }}")
}

fn remote(properties: &str) -> String {
    format!("type: RemoteAgent, properties: {{ baseURL: 'https://x.org', apiKey: {{ _secret: KEY }}, {properties} }}")
}

#[test]
fn accounts_of_users_need_a_key_and_an_authorization_server() {
    let url = "url: 'https://x.org/mcp'";
    let check = |connection: &str, expected: &str| refuses(connection, "", expected);
    let oauth = |more: &str| format!("{url}, auth: {{ type: oauth{more} }}");
    check(&mcp(&oauth("")), "there is no key to encrypt with");
    check(&mcp("url: 'http://x.org/mcp', auth: { type: oauth }"), "the tokens of users would be sent over `http://`");
    check(&mcp(&format!("{}, shared: true", oauth(""))), "one connection for all users cannot be authorized");
    let client = "oauth: { tokenUrl: 'https://x.org', clientId: a, clientSecret: b }";
    check(&mcp(&format!("{}, {client}", oauth(""))), "there are two ways to get an access token");
    check(&mcp(&oauth(", clientSecret: { _secret: KEY }")), "there is a secret without a client");
    check(&mcp(&oauth(", issuer: 'https://id.org', tokenUrl: 'https://id.org/t'")), "these keys do not fit together");
    check(&mcp(&oauth(", issuer: nowhere")), "this is not a web address");
    check(&mcp(&oauth(", issuer: 'http://id.org'")), "this address must start with `https://`");
    check(&mcp(&oauth(", issuer: 'https://me:secret@id.org'")), "this address must have a host and no user name");
    let endpoints = "authorizationUrl: 'https://id.org/a', tokenUrl: 'https://id.org/t'";
    check(&mcp(&oauth(&format!(", {endpoints}, clientId: a, assumePkce: true"))), "this has no effect: it is about");
    check(
        &remote("auth: { type: oauth, issuer: 'https://id.org', assumePkce: true }"),
        "this has no effect: it is about",
    );
    check(&mcp(&oauth(&format!(", {endpoints}"))), "an authorization server without metadata registers no clients");
    check(&remote("auth: { type: oauth }"), "nothing says where users agree");
    check(&remote("auth: { type: oauth, issuer: 'https://id.org' }"), "there is no key to encrypt with");
    check(&remote("token: { _secret: KEY }, auth: { type: oauth }"), "there are two ways to get a token");
    check(&remote("variables: { dburi: { name: Database } }"), "there is no key to encrypt with");
    let exchange = "auth: { type: tokenExchange, tokenUrl: 'https://id.org/t', clientId: a }";
    check(&remote(exchange), "in the mode `local` users have no token");
    let access = "auth: { type: crossAppAccess, clientId: a }";
    check(&remote(access), "nothing says which authorization server issues the token");
    check(&mcp(&format!("{url}, {access}")), "in the mode `local` users have no token");
    let http = |more: &str| format!("type: Http, properties: {{ baseURL: 'https://x.org', {more} }}");
    check(&http(exchange), "in the mode `local` users have no token");
    check(&http(&format!("headers: {{ Authorization: a }}, {exchange}")), "there are two values of the header");
    check(&http("auth: { type: oauth }"), "nothing says where users agree");
    let plain = "type: Http, properties: { baseURL: 'http://x.org', auth: { type: oauth, issuer: 'https://id.org' } }";
    check(plain, "the tokens of users would be sent over `http://`");
}

#[test]
fn agents_cannot_change_where_tokens_of_users_are_sent() {
    let files = mcp("url: 'https://x.org/mcp', auth: { type: oauth }");
    let check = |agent: &str, expected: &str| refuses(&files, &format!(", mcp: [{agent}]"), expected);
    check("{ connectionId: files, url: 'https://evil.org' }", "the tokens of users are for the connection's address");
    check("{ connectionId: files, shared: true }", "the connection is authorized for each user");
    check("{ url: 'https://x.org', auth: { type: oauth } }", "an agent cannot have its own `auth`");
}
