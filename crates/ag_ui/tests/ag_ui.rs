//! Tests of the section of the config, and of its error messages.

use config::Language;
use insta::assert_snapshot;

/// Reads a config with this section; returns its problems.
fn check(value: &str) -> String {
    let language: Language = capability::language(&[ag_ui::DEFINITION]);
    let text = format!(
        "connections: [{{ id: demo, type: Demo }}]\nagents: [{{ id: helper, type: Agent, connectionId: demo, properties: {{ model: m }} }}]\nagUi: {value}\n"
    );
    match language.read_text(&text) {
        Ok((_, warnings)) => config::render(&warnings),
        Err(problems) => config::render_short(&problems),
    }
}

#[test]
fn all_keys_are_accepted() {
    for value in ["{}", "{ agents: [helper], bodyBytes: 1048576 }"] {
        assert_eq!(check(value), "", "{value}");
    }
}

#[test]
fn mistakes_are_named_with_their_position() {
    assert_snapshot!(check("{ agents: [helpr] }"), @r"
    chatwright.yaml:3:18: error: there is no agent `helpr`
       = help: did you mean `helper`?
    ");
    assert_snapshot!(check("{ bodyBytes: 10 }"), @"chatwright.yaml:3:20: error: expected a number between 1024 and 67108864, found the number 10");
    assert_snapshot!(check("{ agent: helper }"), @r"
    chatwright.yaml:3:9: error: there is no key `agent` here
       = help: did you mean `agents`?
    ");
}
