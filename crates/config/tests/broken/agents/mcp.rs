//! Tests of MCP servers, remote agents, sub-agents and policies.

use crate::{check, with_basics};
use insta::assert_snapshot;

fn connection(properties: &str) -> String {
    check(&format!("connections: [{{ id: a, type: Mcp, properties: {properties} }}]\n"))
}

/// Returns the diagnostics for an agent with these lists.
fn agent(lists: &str) -> String {
    check(&format!(
        "connections:
  - {{ id: demo, type: Demo }}
  - {{ id: files, type: Mcp, properties: {{ command: npx, args: [x], env: {{ A: one }} }} }}
agents:
  - {{ id: b, type: Agent, connectionId: demo, properties: {{ model: m }} }}
  - id: a
    type: Agent
    connectionId: demo
    properties: {{ model: m }}
{lists}"
    ))
}

#[test]
fn invalid_mcp_connections_are_rejected() {
    assert_snapshot!(connection("{ url: 'https://mcp.example.com/mcp?team=1' }"), @"accepted");
    assert_snapshot!(connection("{ command: npx, args: [-y, server] }"), @"accepted");
    let apps = |apps: &str| connection(&format!("{{ command: npx, args: [-y, server], apps: {apps} }}"));
    assert_snapshot!(apps("{ domains: ['https://*.cdn.example/'] }"), @"accepted");
    for domain in ["http://cdn.example", "https://a.example; script-src *", "https://*"] {
        let refused = apps(&format!("{{ domains: [\"{domain}\"] }}"));
        assert!(
            refused.starts_with("refused") && refused.contains(&format!("`{domain}` is not a domain")),
            "{refused}"
        );
    }
    assert_snapshot!(connection("{ }"), @r#"
    refused
    chatwright.yaml:1:47: error: the MCP server `a` has no `url`
       |
     1 | connections: [{ id: a, type: Mcp, properties: { } }]
       |                                               ^
       = help: name its address, or write `transport: stdio` and the `command` that starts it
    "#);
    assert_snapshot!(connection("{ transport: stdio, url: 'http://localhost' }"), @r#"
    refused
    chatwright.yaml:1:47: error: the MCP server `a` has no `command`
       |
     1 | connections: [{ id: a, type: Mcp, properties: { transport: stdio, url: 'http://localhost' } }]
       |                                               ^
       = help: `stdio` starts a program: name it, for example `command: npx`
    "#);
    assert_snapshot!(connection("{ transport: carrier, url: 'http://localhost' }"), @r#"
    refused
    chatwright.yaml:1:60: error: there is no transport `carrier`
       |
     1 | connections: [{ id: a, type: Mcp, properties: { transport: carrier, url: 'http://localhost' } }]
       |                                                            ^^^^^^^
       = help: one of `http`, `sse` and `stdio`
    "#);
    assert_snapshot!(connection("{ url: 'ftp://localhost' }"), @r#"
    refused
    chatwright.yaml:1:54: error: this address must start with `https://` or `http://`
       |
     1 | connections: [{ id: a, type: Mcp, properties: { url: 'ftp://localhost' } }]
       |                                                      ^^^^^^^^^^^^^^^^^^
       = help: for example `https://mcp.example.com/mcp`
    "#);
    assert_snapshot!(connection("{ url: { _secret: NOT_SET } }"), @r#"
    refused
    chatwright.yaml:1:54: error: the environment variable `NOT_SET` is not set
       |
     1 | connections: [{ id: a, type: Mcp, properties: { url: { _secret: NOT_SET } } }]
       |                                                      ^
       = help: set it before the server starts: it is the `url` of the MCP server `a`
    "#);
    assert_snapshot!(connection("{ url: 'https://x.org', oauth: { tokenUrl: nowhere, clientId: a, clientSecret: b } }"), @r#"
    refused
    chatwright.yaml:1:90: error: this is not a web address
       |
     1 | …'https://x.org', oauth: { tokenUrl: nowhere, clientId: a, clientSecret: * } } }]
       |                                      ^^^^^^^
       = help: for example `https://mcp.example.com/mcp`
    "#);
}

#[test]
fn oauth_secret_over_plain_http_is_rejected() {
    let token = |url: &str| format!("oauth: {{ tokenUrl: '{url}', clientId: a, clientSecret: b }}");
    assert_snapshot!(connection(&format!("{{ url: 'https://x.org', {} }}", token("http://id.org/token"))), @"
    refused
    chatwright.yaml:1:90: error: the secret would be sent over `http://`, where others can read it
       |
     1 | …'https://x.org', oauth: { tokenUrl: 'http://id.org/token', clientId: a, clientSecret: * } } }]
       |                                      ^^^^^^^^^^^^^^^^^^^^^
       = help: write `https://`, or `allowPrivate: true` for a server of your own network
    ");
    assert_snapshot!(connection(&format!("{{ url: 'http://localhost:9', {} }}", token("http://localhost:8/token"))), @"accepted");
    assert_snapshot!(connection(&format!("{{ url: 'https://x.org', {} }}", token("https://id.org/token"))), @"accepted");
}

#[test]
fn inline_code_and_loader_variables_are_rejected() {
    assert_snapshot!(connection("{ command: bash, args: [-c, 'rm -rf /'] }"), @r#"
    refused
    chatwright.yaml:1:71: error: `-c` hands `bash` a program in its arguments, which is refused
       |
     1 | connections: [{ id: a, type: Mcp, properties: { command: bash, args: [-c, 'rm -rf /'] } }]
       |                                                                       ^^
       = help: put it into a separate file and name that file
    "#);
    assert_snapshot!(connection("{ command: /usr/bin/node, args: [--eval=1] }"), @r#"
    refused
    chatwright.yaml:1:80: error: `--eval=1` hands `node` a program in its arguments, which is refused
       |
     1 | connections: [{ id: a, type: Mcp, properties: { command: /usr/bin/node, args: [--eval=1] } }]
       |                                                                                ^^^^^^^^
       = help: put it into a separate file and name that file
    "#);
    assert_snapshot!(connection("{ command: npx, args: [-c, x] }"), @"accepted");
    assert_snapshot!(connection("{ command: npx, env: { NODE_OPTIONS: --require=x } }"), @r#"
    refused
    chatwright.yaml:1:84: error: `NODE_OPTIONS` is refused: it can make a program run something other than `command`
       |
     1 | connections: [{ id: a, type: Mcp, properties: { command: npx, env: { NODE_OPTIONS: --require=x } } }]
       |                                                                                    ^^^^^^^^^^^
    "#);
}

#[test]
fn invalid_mcp_sources_of_an_agent_are_rejected() {
    assert_snapshot!(agent("    mcp: [files, { connectionId: files, prefix: f_, allow: ['read_*'], confirm: true, env: { B: two } }]\n"), @"accepted");
    assert_snapshot!(agent("    mcp: [{ url: 'http://localhost:3001/mcp' }]\n"), @"accepted");
    assert_snapshot!(agent("    mcp: [file]\n"), @"
    refused
    chatwright.yaml:10:11: error: there is no connection `file`
        |
     10 |     mcp: [file]
        |           ^^^^
        = help: did you mean `files`?
    ");
    assert_snapshot!(agent("    mcp: [demo]\n"), @"
    refused
    chatwright.yaml:10:11: error: `mcp` needs a connection of the type Mcp; `demo` is of the type Demo
        |
     10 |     mcp: [demo]
        |           ^^^^
    ");
    assert_snapshot!(agent("    mcp: [{ connectionId: files, allow: ['read_*'], deny: ['[a'] }]\n"), @"
    refused
    chatwright.yaml:10:59: error: this is not a pattern: unclosed character class; missing ']'
        |
     10 |     mcp: [{ connectionId: files, allow: ['read_*'], deny: ['[a'] }]
        |                                                           ^
    ");
    assert_snapshot!(agent("    mcp: [{ confirm: true }]\n"), @"
    refused
    chatwright.yaml:10:11: error: the MCP server `MCP server` has no `url`
        |
     10 |     mcp: [{ confirm: true }]
        |           ^
        = help: name its address, or write `transport: stdio` and the `command` that starts it
    ");
    assert_snapshot!(agent("    mcp: [{ connectionId: files, confrim: true }]\n"), @"
    refused
    chatwright.yaml:10:34: error: there is no key `confrim` here
        |
     10 |     mcp: [{ connectionId: files, confrim: true }]
        |                                  ^^^^^^^
        = help: did you mean `confirm`?
    ");
}

#[test]
fn invalid_remote_agents_are_rejected() {
    let remote = |properties: &str, uses: &str| {
        check(&format!(
            "connections:
  - {{ id: demo, type: Demo }}
  - {{ id: far, type: RemoteAgent, properties: {properties} }}
agents:
  - id: a
    type: Agent
    connectionId: demo
    properties: {{ model: m }}
    remoteAgents: {uses}
"
        ))
    };
    let good = "{ baseURL: 'https://tools.example.com', apiKey: { _secret: KEY }, variables: { dburi: x } }";
    assert_snapshot!(remote(good, "[far, { connectionId: far, prefix: far, deny: ['delete_*'], confirm: true }]"), @"accepted");
    assert_snapshot!(remote(good, "[{ connectionId: far, allow: ['{a'] }]"), @"
    refused
    chatwright.yaml:9:48: error: this is not a pattern: unclosed alternate group; missing '}' (maybe escape '{' with '[{]'?)
       |
     9 |     remoteAgents: [{ connectionId: far, allow: ['{a'] }]
       |                                                ^
    ");
    assert_snapshot!(remote("{ baseURL: 'http://tools.example.com', apiKey: { _secret: KEY } }", "[far]"), @"
    refused
    chatwright.yaml:3:58: error: the key would be sent over `http://`, where others can read it
       |
     3 | …RemoteAgent, properties: { baseURL: 'http://tools.example.com', apiKey: { _secret: KEY } } }
       |                                      ^^^^^^^^^^^^^^^^^^^^^^^^^^
       = help: write `https://`, or `allowPrivate: true` for a server of your own network
    ");
    let own =
        "{ baseURL: 'https://tools.example.com', apiKey: { _secret: KEY }, token: { _secret: KEY }, userToken: true }";
    assert_snapshot!(remote(own, "[far]"), @"
    refused
    chatwright.yaml:3:149: error: there is a token for all users already
       |
     3 | …token: { _secret: KEY }, userToken: true } }
       |                                      ^^^^
       = help: leave out `token`, or `userToken`

    chatwright.yaml:3:149: error: in the mode `local` users have no token
       |
     3 | …token: { _secret: KEY }, userToken: true } }
       |                                      ^^^^
       = help: leave it out, or choose the mode `jwt` or `proxy`
    ");
    assert_snapshot!(remote("{ baseURL: 'https://tools.example.com', apiKey: plain }", "[fra]"), @"
    refused
    chatwright.yaml:3:95: warning: the config contains a key, which others may read
       |
     3 |   - { id: far, type: RemoteAgent, properties: { baseURL: 'https://tools.example.com', apiKey: ***** } }
       |                                                                                               ^^^^^
       = help: write `apiKey: { _secret: NAME }` and set the environment variable NAME

    chatwright.yaml:9:20: error: there is no connection `fra`
       |
     9 |     remoteAgents: [fra]
       |                    ^^^
       = help: did you mean `far`?
    ");
    assert_snapshot!(remote("{ baseURL: 'https://tools.example.com' }", "[demo]"), @"
    refused
    chatwright.yaml:3:35: error: `apiKey` is missing here
       |
     3 |   - { id: far, type: RemoteAgent, properties: { baseURL: 'https://tools.example.com' } }
       |                                   ^^^^^^^^^^
       = help: `apiKey`: Sent as `x-api-key`, best as `{ _secret: NAME_OF_A_VARIABLE }`.

    chatwright.yaml:9:20: error: `remoteAgents` needs a connection of the type RemoteAgent; `demo` is of the type Demo
       |
     9 |     remoteAgents: [demo]
       |                    ^^^^
    ");
}

#[test]
fn invalid_sub_agents_are_rejected() {
    assert_snapshot!(agent("    agents: [b, { agentId: b, name: other, description: Does it. }]\n"), @"accepted");
    assert_snapshot!(agent("    agents: [c]\n"), @"
    refused
    chatwright.yaml:10:14: error: there is no agent `c`
        |
     10 |     agents: [c]
        |              ^
        = help: one of `b` and `a`
    ");
    assert_snapshot!(agent("    agents: [b, b]\n"), @"
    refused
    chatwright.yaml:10:17: error: this agent has two tools with the name `b`
        |
     10 |     agents: [b, b]
        |                 ^
        = help: give one of them another `name`
    ");
    let tool = "api: [{ id: b, description: D, payloadSchema: { type: object }, routine: [{ ':return': 1 }] }]\n";
    assert_snapshot!(agent(&format!("    tools: [b]\n    agents: [b]\n{tool}")), @"
    refused
    chatwright.yaml:11:14: error: this agent has two tools with the name `b`
        |
     11 |     agents: [b]
        |              ^
        = help: give one of them another `name`
    ");
    assert_snapshot!(agent("    agents: [{ agentId: b, name: read-file }]\n"), @"
    refused
    chatwright.yaml:10:34: error: the tool name `read-file` belongs to the platform
        |
     10 |     agents: [{ agentId: b, name: read-file }]
        |                                  ^^^^^^^^^
        = help: give it another `name`
    ");
    assert_snapshot!(agent("    agents: [{ agentId: b, inputSchema: { type: 7 } }]\n"), @"
    refused
    chatwright.yaml:10:41: error: this is not a JSON Schema: 7 is not valid under any of the schemas listed in the 'anyOf' keyword
        |
     10 |     agents: [{ agentId: b, inputSchema: { type: 7 } }]
        |                                         ^
    ");
    assert_snapshot!(agent("    agents: [a]\n"), @"
    refused
    chatwright.yaml:10:13: error: these agents go round in a circle: a ▸ a
        |
     10 |     agents: [a]
        |             ^
        = help: an agent cannot hand a task to itself
    ");
}

#[test]
fn cyclic_or_too_deep_sub_agents_are_rejected() {
    let chain = |links: &[(&str, &str)]| {
        let agents = links.iter().map(|(id, below)| {
            format!(
                "  - {{ id: {id}, type: Agent, connectionId: demo, properties: {{ model: m }}, agents: [{below}] }}\n"
            )
        });
        check(&with_basics(&format!("agents:\n{}", agents.collect::<String>())))
    };
    assert_snapshot!(chain(&[("a", "b"), ("b", "c"), ("c", "b")]), @r#"
    refused
    chatwright.yaml:4:81: error: these agents go round in a circle: b ▸ c ▸ b
       |
     4 |   - { id: b, type: Agent, connectionId: demo, properties: { model: m }, agents: [c] }
       |                                                                                 ^
       = help: an agent cannot hand a task to itself

    chatwright.yaml:5:81: error: these agents go round in a circle: c ▸ b ▸ c
       |
     5 |   - { id: c, type: Agent, connectionId: demo, properties: { model: m }, agents: [b] }
       |                                                                                 ^
       = help: an agent cannot hand a task to itself
    "#);
    assert_snapshot!(chain(&[("a", "b"), ("b", "c"), ("c", "d"), ("d", "e"), ("e", "f"), ("f", "")]), @"accepted");
    assert_snapshot!(chain(&[("a", "b"), ("b", "c"), ("c", "d"), ("d", "e"), ("e", "f"), ("f", "g"), ("g", "")]), @r#"
    refused
    chatwright.yaml:3:81: error: agents below agents, 6 deep; 5 is the most
       |
     3 |   - { id: a, type: Agent, connectionId: demo, properties: { model: m }, agents: [b] }
       |                                                                                 ^
    "#);
}

#[test]
fn invalid_policies_are_rejected() {
    let policy = |policy: &str| agent(&format!("    policy: {policy}\n"));
    assert_snapshot!(
        policy("{ default: ask, rules: [{ tools: ['read_*'], action: allow }, { tools: [send], arguments: { mail.to: '*@example.com' }, action: allow }, { tools: [send], roles: [admin], action: deny, reason: Inside only. }] }"),
        @"accepted"
    );
    assert_snapshot!(policy("{ endpoint: decide }"), @"
    refused
    chatwright.yaml:10:25: error: there is no endpoint `decide`
        |
     10 |     policy: { endpoint: decide }
        |                         ^^^^^^
        = help: declare it in the section `api`
    ");
    assert_snapshot!(policy("{ rules: [{ tools: ['[a'], action: allow }] }"), @"
    refused
    chatwright.yaml:10:32: error: this is not a pattern: unclosed character class; missing ']'
        |
     10 |     policy: { rules: [{ tools: ['[a'], action: allow }] }
        |                                ^
    ");
    assert_snapshot!(policy("{ rules: [{ tools: [], action: permit }] }"), @"
    refused
    chatwright.yaml:10:32: error: expected a list of at least 1, found 0
        |
     10 |     policy: { rules: [{ tools: [], action: permit }] }
        |                                ^

    chatwright.yaml:10:44: error: there is no ruling `permit`
        |
     10 |     policy: { rules: [{ tools: [], action: permit }] }
        |                                            ^^^^^^
        = help: one of `allow`, `ask` and `deny`
    ");
}
