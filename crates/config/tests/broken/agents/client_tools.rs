use crate::{SEARCH, check, with_basics};
use insta::assert_snapshot;

/// Returns a config with a chat that has these tools, and an agent with a tool `search`.
fn chat(tools: &str) -> String {
    with_basics(&format!(
        "{SEARCH}agents: [{{ id: helper, type: Agent, connectionId: demo, properties: {{ model: m }}, tools: [search] }}]
pages:
  - id: p
    blocks:
      - {{ id: name, type: TextInput }}
      - id: chat
        type: AgentChat
        properties:
          agentId: helper
          clientTools:
{tools}"
    ))
}

#[test]
fn incomplete_client_tools_are_rejected() {
    assert_snapshot!(check(&chat("            - { name: go, actions: [{ type: Reset }] }
            - { name: idle, description: Nothing, inputSchema: { type: object }, actions: [] }
            - { name: no-list, description: Nothing, inputSchema: { type: object }, actions: { type: Reset } }
            - { name: quick, description: Q, inputSchema: { type: object }, actions: [{ type: Reset }], timeoutMs: 5, wait: 1 }
")), @"
    refused
    chatwright.yaml:17:15: error: `description` is missing here
        |
     17 |             - { name: go, actions: [{ type: Reset }] }
        |               ^
        = help: `description`: The purpose of the tool; the model chooses tools by it.

    chatwright.yaml:17:15: error: `inputSchema` is missing here
        |
     17 |             - { name: go, actions: [{ type: Reset }] }
        |               ^
        = help: the model fills it in: `inputSchema: { type: object, properties: … }`

    chatwright.yaml:18:82: error: this tool does nothing
        |
     18 |             - { name: idle, description: Nothing, inputSchema: { type: object }, actions: [] }
        |                                                                                  ^^^^^^^
        = help: write what the page does as a list of actions under `actions`, or `host: true`

    chatwright.yaml:19:94: error: expected a list of actions, found a mapping
        |
     19 |             - { name: no-list, description: Nothing, inputSchema: { type: object }, actions: { type: Reset } }
        |                                                                                              ^
        = help: start the line with `- ` to make it a list of one

    chatwright.yaml:20:116: error: expected a number between 100 and 600000, found the number 5
        |
     20 | …ions: [{ type: Reset }], timeoutMs: 5, wait: 1 }
        |                                      ^

    chatwright.yaml:20:119: error: there is no key `wait` here
        |
     20 | …s: [{ type: Reset }], timeoutMs: 5, wait: 1 }
        |                                      ^^^^
        = help: one of `name`, `description`, `inputSchema`, `confirm`, `timeoutMs`, `readsPrivate`, `returnsUntrusted`, `egress`, `idempotent`, `readsOnly`, `actions`, `host` and `result`
    ");
}

#[test]
fn reserved_and_duplicate_names_are_rejected() {
    let tool = |name: &str| {
        format!(
            "            - {{ name: {name}, description: D, inputSchema: {{ type: object }}, actions: [{{ type: Reset }}] }}\n"
        )
    };
    let tools = ["update-page-state", "a b", "search", "go", "go"].map(tool).concat();
    assert_snapshot!(check(&chat(&tools)), @r#"
    refused
    chatwright.yaml:17:23: error: the tool name `update-page-state` belongs to the platform
        |
     17 |             - { name: update-page-state, description: D, inputSchema: { type: object }, actions: [{ type: Rese…
        |                       ^^^^^^^^^^^^^^^^^
        = help: give it another `name`

    chatwright.yaml:18:23: error: `a b` cannot be the name of a tool
        |
     18 |             - { name: a b, description: D, inputSchema: { type: object }, actions: [{ type: Reset }] }
        |                       ^^^
        = help: use up to 64 letters, digits, `_` and `-`

    chatwright.yaml:19:23: error: the agent `helper` has two tools with the name `search`
        |
     19 |             - { name: search, description: D, inputSchema: { type: object }, actions: [{ type: Reset }] }
        |                       ^^^^^^
        = help: the first one is at chatwright.yaml:7:91; give one of them another `name`

    chatwright.yaml:21:23: error: the agent `helper` has two tools with the name `go`
        |
     21 |             - { name: go, description: D, inputSchema: { type: object }, actions: [{ type: Reset }] }
        |                       ^^
        = help: the first one is at chatwright.yaml:20:23; give one of them another `name`
    "#);
}

#[test]
fn invalid_schemas_and_actions_are_rejected() {
    assert_snapshot!(check(&chat("            - { name: a, description: A, inputSchema: { type: array }, actions: [{ type: Reset }] }
            - { name: b, description: B, inputSchema: { type: object, properties: { n: { type: int } } }, actions: [{ type: Reset }] }
            - { name: c, description: C, inputSchema: { type: object }, actions: [{ type: Explode }] }
            - { name: d, description: D, inputSchema: { type: object }, actions: [{ type: CallEndpoint, params: { endpointId: find } }] }
            - name: e
              description: E
              inputSchema: { type: object }
              actions: [{ id: one, type: SetState, params: { name: { _payload: n } } }]
              result: { _step: two }
")), @"
    refused
    chatwright.yaml:17:55: error: this input schema is not the schema of an object
        |
     17 |             - { name: a, description: A, inputSchema: { type: array }, actions: [{ type: Reset }] }
        |                                                       ^
        = help: add `type: object`

    chatwright.yaml:18:96: error: JSON Schema has no type `int`
        |
     18 | …e: object, properties: { n: { type: int } } }, actions: [{ type: Reset }] }
        |                                      ^^^
        = help: one of `object`, `string`, `number`, `integer`, `boolean`, `array` and `null`

    chatwright.yaml:19:91: error: there is no action type `Explode`
        |
     19 |             - { name: c, description: C, inputSchema: { type: object }, actions: [{ type: Explode }] }
        |                                                                                           ^^^^^^^
        = help: one of `SetState`, `Reset`, `Validate`, `CallEndpoint`, `CallMethod`, `Link`, `Message` and `Throw`

    chatwright.yaml:20:127: error: there is no endpoint `find`
        |
     20 | …CallEndpoint, params: { endpointId: find } }] }
        |                                      ^^^^
        = help: the only one is `search`

    chatwright.yaml:24:70: error: the operator `_payload` has no meaning here
        |
     24 |               actions: [{ id: one, type: SetState, params: { name: { _payload: n } } }]
        |                                                                      ^^^^^^^^
        = help: what can be read here: `_state`, `_step`, `_url_query`, `_event`, `_expr` and `_template`; operators that only compute are allowed, too

    chatwright.yaml:25:32: error: no action before this one has the id `two`
        |
     25 |               result: { _step: two }
        |                                ^^^
        = help: the only one is `one`
    ");
}
