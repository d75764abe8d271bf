//! What a config says about the MCP server, and what its author reads about mistakes.

use config::Language;
use insta::assert_snapshot;

/// Reads a config with this section; returns its problems.
fn check(value: &str) -> String {
    check_with(value, "{ mode: local }")
}

fn check_with(value: &str, auth: &str) -> String {
    let language: Language = capability::language(&[mcp_server::DEFINITION]);
    let text = format!(
        "auth: {auth}\n\
         connections: [{{ id: demo, type: Demo }}]\n\
         agents: [{{ id: helper, type: Agent, connectionId: demo, properties: {{ model: m }} }}]\n\
         api:\n\
         \x20 - {{ id: orders/find, description: Finds., payloadSchema: {{ type: object }}, routine: [{{ ':return': 1 }}] }}\n\
         \x20 - {{ id: plain, routine: [{{ ':return': 1 }}] }}\n\
         \x20 - {{ id: inner, type: InternalApi, description: D, payloadSchema: {{ type: object }}, routine: [{{ ':return': 1 }}] }}\n\
         pages: [{{ id: home }}]\n\
         mcpApi: {value}\n"
    );
    match language.read_text(&text) {
        Ok((_, warnings)) => config::render_short(&warnings),
        Err(problems) => config::render_short(&problems),
    }
}

#[test]
fn all_keys_are_accepted() {
    for value in [
        "{ agents: [helper] }",
        "{ endpoints: [orders/find] }",
        "{ documents: true }",
        "{ agents: [{ agentId: helper, name: ask, description: Answers. }], instructions: Ask the agents., \
         endpoints: [{ endpointId: orders/find, name: find, readOnly: true, destructive: false, idempotent: true }] }",
    ] {
        assert_eq!(check(value), "", "{value}");
    }
}

#[test]
fn mistakes_are_named_with_their_position() {
    assert_snapshot!(check("{}"), @"");
    assert_snapshot!(check("{ agents: [helpr] }"), @"");
    assert_snapshot!(check("{ endpoints: [orders/fnd, { endpointId: plain }, inner] }"), @"");
    assert_snapshot!(check("{ endpoints: [plain, inner] }"), @"");
    assert_snapshot!(check("{ agents: [helper], endpoints: [{ endpointId: orders/find, name: helper }] }"), @"");
    assert_snapshot!(check("{ documents: true, agents: [{ agentId: helper, name: document_search }] }"), @"");
    assert_snapshot!(check("{ agents: [{ agent: helper }] }"), @"");
    assert_snapshot!(check("{ agents: [{ agentId: helper, name: 'ask me' }] }"), @"");
    assert_snapshot!(check_with("{ agents: [helper] }", "{ mode: anonymous, publicUrls: ['https://a.test'] }"), @"");
}
