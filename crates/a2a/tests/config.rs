//! What a config says about A2A, and what its author reads about mistakes.

use config::Language;
use insta::assert_snapshot;

/// Reads a config with this section; returns its problems.
fn check(value: &str) -> String {
    let language: Language = capability::language(&[a2a::DEFINITION]);
    let agent = |id: &str| format!("{{ id: {id}, type: Agent, connectionId: demo, properties: {{ model: m }} }}");
    let text = format!(
        "connections: [{{ id: demo, type: Demo }}]\nagents: [{}, {}]\na2a: {value}\n",
        agent("helper"),
        agent("other")
    );
    match language.read_text(&text) {
        Ok((_, warnings)) => config::render(&warnings),
        Err(problems) => config::render_short(&problems),
    }
}

#[test]
fn all_keys_are_accepted() {
    let skill = "{ id: find, name: Find, description: Finds things., tags: [search], examples: [Find my order.] }";
    for value in [
        "{}".to_owned(),
        "{ agents: [helper], defaultAgent: helper, version: '2', bodyBytes: 1048576 }".to_owned(),
        "{ defaultAgent: other, provider: { organization: ACME, url: 'https://example.com' } }".to_owned(),
        format!("{{ agents: [other, {{ agentId: helper, skills: [{skill}] }}] }}"),
    ] {
        assert_eq!(check(&value), "", "{value}");
    }
}

#[test]
fn mistakes_are_named_with_their_position() {
    let all = [
        "{ agents: [helpr] }",
        "{ agents: [] }",
        "{ agents: [helper, helper] }",
        "{ agents: [helper], defaultAgent: other }",
        "{ defaultAgent: nobody }",
        "{ bodyBytes: 10 }",
        "{ agent: helper }",
        "{ provider: { organization: ACME, url: example.com } }",
        "{ agents: [{ agentId: helper, skills: [{ id: a }] }] }",
        "{ agents: [{ agentId: helper, skills: [{ id: a, description: A }, { id: a, description: B }] }] }",
    ];
    let all: Vec<_> = all.into_iter().map(check).collect();
    assert_snapshot!(all.join("\n"), @"");
}
