use crate::{SEARCH, check, with_basics};
use insta::assert_snapshot;

/// A page with a chat that has these tools, and an agent with a tool `search`.
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
fn what_a_tool_needs() {
    assert_snapshot!(check(&chat("            - { name: go, actions: [{ type: Reset }] }
            - { name: idle, description: Nothing, inputSchema: { type: object }, actions: [] }
            - { name: no-list, description: Nothing, inputSchema: { type: object }, actions: { type: Reset } }
            - { name: quick, description: Q, inputSchema: { type: object }, actions: [{ type: Reset }], timeoutMs: 5, wait: 1 }
")), @"");
}

#[test]
fn names_are_free() {
    let tool = |name: &str| {
        format!(
            "            - {{ name: {name}, description: D, inputSchema: {{ type: object }}, actions: [{{ type: Reset }}] }}\n"
        )
    };
    let tools = ["update-page-state", "a b", "search", "go", "go"].map(tool).concat();
    assert_snapshot!(check(&chat(&tools)), @"");
}

#[test]
fn schemas_and_actions_are_checked() {
    assert_snapshot!(check(&chat("            - { name: a, description: A, inputSchema: { type: array }, actions: [{ type: Reset }] }
            - { name: b, description: B, inputSchema: { type: object, properties: { n: { type: int } } }, actions: [{ type: Reset }] }
            - { name: c, description: C, inputSchema: { type: object }, actions: [{ type: Explode }] }
            - { name: d, description: D, inputSchema: { type: object }, actions: [{ type: CallEndpoint, params: { endpointId: find } }] }
            - name: e
              description: E
              inputSchema: { type: object }
              actions: [{ id: one, type: SetState, params: { name: { _payload: n } } }]
              result: { _step: two }
")), @"");
}
