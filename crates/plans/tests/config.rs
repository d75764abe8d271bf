//! Tests of the section of the config, and of its error messages.

use config::Language;
use insta::assert_snapshot;

/// Reads a config with this value of `planMode`; returns its problems.
fn check(value: &str) -> String {
    let language: Language = capability::language(&[plans::DEFINITION]);
    let text = format!(
        "connections: [{{ id: demo, type: Demo }}]\nagents:\n  - id: a\n    type: Agent\n    connectionId: demo\n    properties: {{ model: m }}\n    planMode: {value}\n"
    );
    match language.read_text(&text) {
        Ok((_, warnings)) => config::render(&warnings),
        Err(problems) => config::render_short(&problems),
    }
}

#[test]
fn all_forms_are_accepted() {
    for value in ["true", "false", "always", "optional", "{}", "{ mode: optional, approve: true }"] {
        assert_eq!(check(value), "", "{value}");
    }
}

#[test]
fn mistakes_are_named_with_their_position() {
    assert_snapshot!(check("sometimes"), @r"
    chatwright.yaml:7:15: error: there is no value `sometimes`
       = help: one of `always` and `optional`
    ");
    assert_snapshot!(check("{ approved: true }"), @r"
    chatwright.yaml:7:17: error: there is no key `approved` here
       = help: did you mean `approve`?
    ");
}
