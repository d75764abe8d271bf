//! Tests of the section of the config, and of its error messages.

use config::Language;
use insta::assert_snapshot;

/// Reads a config with this section; returns its problems.
fn check(value: &str) -> String {
    let language: Language = capability::language(&[openai_api::DEFINITION]);
    let text = format!(
        "connections: [{{ id: demo, type: Demo }}]\nagents: [{{ id: helper, type: Agent, connectionId: demo, properties: {{ model: m }} }}]\nopenaiApi: {value}\n"
    );
    match language.read_text(&text) {
        Ok((_, warnings)) => config::render(&warnings),
        Err(problems) => config::render_short(&problems),
    }
}

#[test]
fn all_keys_are_accepted() {
    for value in ["{}", "{ agents: [helper], agentTier: batch, bodyBytes: 1048576 }"] {
        assert_eq!(check(value), "", "{value}");
    }
}

#[test]
fn mistakes_are_named_with_their_position() {
    assert_snapshot!(check("{ agents: [helpr] }"), @r"
    chatwright.yaml:3:23: error: there is no agent `helpr`
       = help: did you mean `helper`?
    ");
    assert_snapshot!(check("{ agentTier: quick }"), @r"
    chatwright.yaml:3:25: error: there is no value `quick`
       = help: one of `simple`, `complex` and `batch`
    ");
    assert_snapshot!(check("{ bodyBytes: 10 }"), @"chatwright.yaml:3:25: error: expected a number between 1024 and 67108864, found the number 10");
    assert_snapshot!(check("{ agent: helper }"), @r"
    chatwright.yaml:3:14: error: there is no key `agent` here
       = help: did you mean `agents`?
    ");
}
