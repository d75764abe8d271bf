use crate::check;
use insta::assert_snapshot;

#[test]
fn invalid_origins_are_reported() {
    assert_snapshot!(check(
        "embed: { origins: ['https://a.test', 'https://b.test/shop/', '*', a.test, 'http://c.test', 'http://localhost:5173'] }\n"
    ), @"
    refused
    chatwright.yaml:1:38: error: expected scheme, host and port of a site, and nothing else
       |
     1 | …mbed: { origins: ['https://a.test', 'https://b.test/shop/', '*', a.test, 'http://c.test', 'http://localhost:51…
       |                                      ^^^^^^^^^^^^^^^^^^^^^^
       = help: write `https://b.test`, as a browser does

    chatwright.yaml:1:62: error: a pattern would also allow sites that are not intended
       |
     1 | …://a.test', 'https://b.test/shop/', '*', a.test, 'http://c.test', 'http://localhost:5173'] }
       |                                      ^^^
       = help: name each site by itself: `https://www.example.com`

    chatwright.yaml:1:67: error: this is not the address of a site
       |
     1 | …test', 'https://b.test/shop/', '*', a.test, 'http://c.test', 'http://localhost:5173'] }
       |                                      ^^^^^^
       = help: write it as in a browser: `https://www.example.com`

    chatwright.yaml:1:75: warning: over `http`, an attacker on the network can change the page around the chat
       |
     1 | …https://b.test/shop/', '*', a.test, 'http://c.test', 'http://localhost:5173'] }
       |                                      ^^^^^^^^^^^^^^^
       = help: serve the site over `https`
    ");
    assert_snapshot!(check("embed: { origins: [] }\n"), @"
    refused
    chatwright.yaml:1:19: error: expected a list of at least 1, found 0
       |
     1 | embed: { origins: [] }
       |                   ^
    ");
    assert_snapshot!(check("embed: { orgins: ['https://a.test'] }\n"), @"
    refused
    chatwright.yaml:1:10: error: there is no key `orgins` here
       |
     1 | embed: { orgins: ['https://a.test'] }
       |          ^^^^^^
       = help: did you mean `origins`?
    ");
}

/// The config of `docs/embedding.md`: users are identified by the tokens of their site, and the
/// site sets keys that no input has.
#[test]
fn embedding_sites_may_set_users_and_state() {
    let config = |embed: &str, state: &str| {
        format!(
            "connections: [{{ id: demo, type: Demo }}]\n\
             agents: [{{ id: helper, type: Agent, connectionId: demo, properties: {{ model: demo }} }}]\n\
             auth: {{ mode: anonymous, publicUrls: ['https://a.test'] }}\n\
             {embed}\
             pages:\n  - id: support\n    blocks:\n      - {{ id: company, type: TextInput }}\n\
             \x20     - {{ id: chat, type: AgentChat, properties: {{ agentId: helper, sharedState: {{ x: {{ _state: {state} }} }} }} }}\n"
        )
    };
    let embed = |tokens: &str| format!("embed: {{ origins: ['https://b.test']{tokens} }}\n");
    let tokens = embed(", tokens: { jwksUrl: 'https://b.test/keys' }");
    assert_eq!(check(&config(&tokens, "seats")), "accepted\n");
    let misspelt = check(&config(&tokens, "compny"));
    assert!(misspelt.contains("no input on this page has the id `compny`"), "{misspelt}");
    let nobody = check(&config(&embed(""), "seats"));
    assert!(nobody.contains("nobody can open any page") && !nobody.contains("seats`"), "{nobody}");
    let alone = check(&config("", "seats"));
    assert!(alone.contains("nobody can open any page") && alone.contains("no input on this page"), "{alone}");
}

#[test]
fn invalid_token_settings_are_reported() {
    let embed = |tokens: &str| format!("embed: {{ origins: ['https://a.test'], tokens: {{ {tokens} }} }}\n");
    assert_snapshot!(check(&embed("audience: chat")), @"
    refused
    chatwright.yaml:1:47: error: this does not say who signs the tokens
       |
     1 | embed: { origins: ['https://a.test'], tokens: { audience: chat } }
       |                                               ^
       = help: give `secrets`, or `jwksUrl`, `publicKey` or `jwk`
    ");
    assert_snapshot!(check(&embed("secrets: [{ _secret: KEY }, { _secret: NONE }]")), @"
    refused
    chatwright.yaml:1:59: error: a secret for tokens needs at least 32 characters
       |
     1 | embed: { origins: ['https://a.test'], tokens: { secrets: [{ _secret: KEY }, { _secret: NONE }] } }
       |                                                           ^
       = help: make one with `openssl rand -base64 32`

    chatwright.yaml:1:77: error: the environment variable `NONE` is not set
       |
     1 | embed: { origins: ['https://a.test'], tokens: { secrets: [{ _secret: KEY }, { _secret: NONE }] } }
       |                                                                             ^
       = help: set it before the server starts: it is the secret that signs tokens for embedded chats
    ");
    assert_snapshot!(check(&embed("secrets: [plain]")), @"
    refused
    chatwright.yaml:1:59: error: expected a mapping, found the text `plain`
       |
     1 | embed: { origins: ['https://a.test'], tokens: { secrets: [plain] } }
       |                                                           ^^^^^
       = help: its keys are `_secret`
    ");
    assert_snapshot!(check(&embed("secrets: [{ _secret: KEY }], jwksUrl: 'https://a.test/keys'")), @"
    refused
    chatwright.yaml:1:78: error: there is `secrets` already, and `jwksUrl` would be another way to sign
       |
     1 | …ens: { secrets: [{ _secret: KEY }], jwksUrl: 'https://a.test/keys' } }
       |                                      ^^^^^^^
       = help: leave one of them out
    ");
    assert_snapshot!(check(&embed("publicKey: '-----BEGIN PRIVATE KEY-----', audience: []")), @"
    refused
    chatwright.yaml:1:60: error: this is a private key, which only who signs the tokens may have
       |
     1 | embed: { origins: ['https://a.test'], tokens: { publicKey: '-----BEGIN PRIVATE KEY-----', audience: [] } }
       |                                                            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
       = help: give the public one, and make a new pair
    ");
}
