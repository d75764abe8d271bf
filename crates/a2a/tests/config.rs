//! The keys of a config for A2A, and the errors that its author reads.

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
        "{ agents: [helper, other], defaultAgent: other, provider: { organization: ACME, url: 'https://example.com' } }".to_owned(),
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
        "{ defaultAgent: other }",
        "{ bodyBytes: 10 }",
        "{ agent: helper }",
        "{ provider: { organization: ACME, url: example.com } }",
        "{ agents: [{ agentId: helper, skills: [{ id: a }] }] }",
        "{ agents: [{ agentId: helper, skills: [{ id: a, description: A }, { id: a, description: B }] }] }",
    ];
    let all: Vec<_> = all.into_iter().map(check).collect();
    assert_snapshot!(all.join("\n"), @r"
    chatwright.yaml:3:17: error: there is no agent `helpr`
       = help: did you mean `helper`?
    chatwright.yaml:3:16: error: expected a list of at least 1, found 0
    chatwright.yaml:3:25: error: the agent `helper` is listed twice
    chatwright.yaml:3:40: error: the agent `other` is not offered
       = help: add `other` to `agents`
    chatwright.yaml:3:22: error: there is no agent `nobody`
       = help: one of `helper` and `other`
    chatwright.yaml:3:22: error: the card of `other` is not public, so nobody would find it there
       = help: list it in `agents`, or give it `auth: public`
    chatwright.yaml:3:19: error: expected a number between 1024 and 67108864, found the number 10
    chatwright.yaml:3:8: error: there is no key `agent` here
       = help: did you mean `agents`?
    chatwright.yaml:3:45: error: `example.com` is not the address of a website
       = help: write it like `https://example.com`
    chatwright.yaml:3:45: error: `description` is missing here
       = help: `description`: The description, by which other agents choose.
    chatwright.yaml:3:72: error: there are two skills with the id `a`
    ");
}
