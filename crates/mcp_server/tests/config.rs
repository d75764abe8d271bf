//! The keys of a config for the MCP server, and the errors that its author reads.

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
         endpoints: [{ endpointId: orders/find, name: find, readOnly: true, destructive: false, idempotent: true, returnsContent: true }] }",
    ] {
        assert_eq!(check(value), "", "{value}");
    }
}

#[test]
fn mistakes_are_named_with_their_position() {
    assert_snapshot!(check("{}"), @r#"
    chatwright.yaml:9:9: error: this offers no tools
       = help: list `agents` or `endpoints`, or set `documents: true`
    "#);
    assert_snapshot!(check("{ agents: [helpr] }"), @r#"
    chatwright.yaml:9:20: error: there is no agent `helpr`
       = help: did you mean `helper`?
    "#);
    assert_snapshot!(check("{ endpoints: [orders/fnd, { endpointId: plain }, inner] }"), @r#"
    chatwright.yaml:9:23: error: there is no endpoint `orders/fnd`
       = help: did you mean `orders/find`?
    "#);
    assert_snapshot!(check("{ endpoints: [plain, inner] }"), @r#"
    chatwright.yaml:9:23: error: the endpoint `plain` has no `description`, by which models choose tools
       = help: add a `description` to it
    chatwright.yaml:9:23: error: the arguments of a tool are an object, and `plain` has no `payloadSchema` of that type
       = help: add `payloadSchema: { type: object, … }` to it
    chatwright.yaml:9:30: error: the endpoint `inner` is internal, so clients cannot call it
       = help: give it the type `Api`, or offer another one that calls it
    "#);
    assert_snapshot!(check("{ agents: [helper], endpoints: [{ endpointId: orders/find, name: helper }] }"), @r#"
    chatwright.yaml:9:41: error: there are two tools with the name `helper`
       = help: give one of them another `name`
    "#);
    assert_snapshot!(check("{ documents: true, agents: [{ agentId: helper, name: document_search }] }"), @r#"
    chatwright.yaml:9:37: error: there are two tools with the name `document_search`
       = help: give one of them another `name`
    "#);
    assert_snapshot!(check("{ agents: [{ agent: helper }] }"), @r#"
    chatwright.yaml:9:20: error: `agentId` is missing here
       = help: `agentId`: The agent.
    chatwright.yaml:9:22: error: there is no key `agent` here
       = help: one of `agentId`, `name` and `description`
    "#);
    assert_snapshot!(check("{ agents: [{ agentId: helper, name: 'ask me' }] }"), @r#"
    chatwright.yaml:9:45: error: `ask me` cannot be the name of a tool
       = help: use up to 64 letters, digits, `_` and `-`
    "#);
    assert_snapshot!(check_with("{ agents: [helper] }", "{ mode: anonymous, publicUrls: ['https://a.test'] }"), @r#"
    chatwright.yaml:1:15: warning: nobody can open any page: in the mode `anonymous` nobody is signed in, and no page is public
       = help: write `auth: public` at the pages, agents and endpoints that visitors may use
    chatwright.yaml:9:9: error: in the auth mode `anonymous` nobody is signed in, so nobody could use this
       = help: choose another `auth: { mode: … }`
    "#);
}
