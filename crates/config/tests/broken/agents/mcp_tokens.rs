//! Access tokens for MCP servers, without a user.

use crate::check;

/// Returns the diagnostics for a connection with these keys of `oauth`.
fn connection(url: &str, oauth: &str) -> String {
    check(&format!(
        "connections: [{{ id: a, type: Mcp, properties: {{ url: '{url}', oauth: {{ clientId: a, {oauth} }} }} }}]\n"
    ))
}

#[test]
fn token_endpoint_is_known_in_one_way() {
    let check = |url: &str, keys: &str, expected: &str| {
        let read = connection(url, &format!("clientSecret: b{keys}"));
        assert!(read.contains(expected), "{url} {keys}\n{read}");
    };
    let plain = "the secret would be sent over `http://`, where others can read it";
    check("https://x.org", "", "accepted");
    check("http://localhost:9", "", "accepted");
    check("https://x.org", ", issuer: 'https://id.org'", "accepted");
    check("http://x.org", "", plain);
    check("https://x.org", ", issuer: 'http://id.org'", plain);
    check("https://x.org", ", issuer: nowhere", "this is not a web address");
    let private = "this address is of this machine or a private network, so it would not be reached";
    check("https://x.org", ", issuer: 'http://localhost:9'", private);
    check("https://x.org", ", tokenUrl: 'https://10.0.0.1/token'", private);
    check("http://10.0.0.1", ", issuer: 'http://localhost:9'", "accepted");
    let both = ", issuer: 'https://id.org', tokenUrl: 'https://id.org/token'";
    check("https://x.org", both, "`tokenUrl` says where tokens are issued, so the issuer is not asked");
}

#[test]
fn programs_get_no_settings_of_requests() {
    let check = |keys: &str, expected: &str| {
        let read = check(&format!("connections: [{{ id: a, type: Mcp, properties: {{ command: notes, {keys} }} }}]\n"));
        assert!(read.contains(expected), "{keys}\n{read}");
    };
    check("args: [b]", "accepted");
    check("oauth: { clientId: a, clientSecret: b }", "a program that the server starts gets no access token");
    check("headers: { X-Key: b }", "a program that the server starts gets no headers");
    check("auth: { type: oauth }", "a program that the server starts cannot be authorized for each user");
    check("transport: stdio, url: 'https://x.org'", "a program that the server starts has no address");
    check("allowPrivate: true", "a program that the server starts is not reached over a network");
}

#[test]
fn a_header_does_not_compete_with_an_access_token() {
    let check = |header: &str, expected: &str| {
        let oauth = "oauth: { tokenUrl: 'https://id.org', clientId: a, clientSecret: b }";
        let properties = format!("{{ url: 'https://x.org', headers: {{ {header}: c }}, {oauth} }}");
        let read = check(&format!("connections: [{{ id: a, type: Mcp, properties: {properties} }}]\n"));
        assert!(read.contains(expected), "{header}\n{read}");
    };
    check("X-Key", "accepted");
    check("authorization", "chatwright.yaml:1:97: error: there are two values of the header `authorization`");
}

#[test]
fn servers_with_an_address_get_no_settings_of_programs() {
    let check = |keys: &str, column: usize, expected: &str| {
        let prefix = "connections: [{ id: a, type: Mcp, properties: { url: 'https://x.org', ";
        let read = check(&format!("{prefix}{keys} }} }}]\n"));
        let expected = format!(
            "chatwright.yaml:1:{}: error: this MCP server is reached at its address, so {expected}",
            prefix.len() + column
        );
        assert!(read.contains(&expected), "{keys}\n{read}");
    };
    check("command: notes", 10, "no program is started");
    check("transport: sse, command: notes", 26, "no program is started");
    check("args: [b]", 7, "no program gets arguments");
    check("env: { A: b }", 6, "no program gets environment variables");
    let agent = |entry: &str| {
        crate::check(&format!(
            "connections:
  - {{ id: demo, type: Demo }}
  - {{ id: tracker, type: Mcp, properties: {{ url: 'https://x.org' }} }}
  - {{ id: notes, type: Mcp, properties: {{ command: notes }} }}
agents:
  - {{ id: a, type: Agent, connectionId: demo, properties: {{ model: m }}, mcp: [{{ {entry} }}] }}
"
        ))
    };
    assert!(agent("connectionId: tracker, env: { A: b }").contains("so no program gets environment variables"));
    assert!(agent("connectionId: notes, allowPrivate: true").contains("is not reached over a network"));
    // Settings of the other kind are those of another server.
    assert_eq!(agent("connectionId: tracker, command: notes, env: { A: b }").trim(), "accepted");
    assert_eq!(agent("connectionId: notes, url: 'https://x.org', allowPrivate: true").trim(), "accepted");
}

#[test]
fn clients_prove_who_they_are_in_one_way() {
    let check = |keys: &str, expected: &str| {
        let read = connection("https://x.org", keys);
        assert!(read.contains(expected), "{keys}\n{read}");
    };
    check("scope: b", "nothing proves who the client is");
    check("clientSecret: b, privateKey: { _secret: KEY }", "there are two ways to prove who the client is");
    check("privateKey: { _secret: KEY }", "the environment variable has no private key in PEM (PKCS #8)");
    check("privateKey: { _secret: NOT_SET }", "the environment variable `NOT_SET` is not set");
}
