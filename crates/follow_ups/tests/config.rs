//! What a config says about suggestions, and what its author reads about mistakes.

use config::Language;
use insta::assert_snapshot;

/// Reads a config with this value of `followUps`; returns its problems.
fn check(value: &str) -> String {
    let language: Language = capability::language(&[follow_ups::DEFINITION]);
    let text = format!(
        "connections: [{{ id: demo, type: Demo }}]\nagents:\n  - id: a\n    type: Agent\n    connectionId: demo\n    properties: {{ model: m }}\n    followUps: {value}\n"
    );
    match language.read_text(&text) {
        Ok((_, warnings)) => config::render(&warnings),
        Err(problems) => config::render_short(&problems),
    }
}

#[test]
fn all_forms_are_accepted() {
    let settings = "{ count: 5, when: onDemand, model: { connectionId: demo, model: small } }";
    for value in ["true", "false", "{}", "{ when: always }", settings] {
        assert_eq!(check(value), "", "{value}");
    }
}

#[test]
fn mistakes_are_named_with_their_position() {
    assert_snapshot!(check("{ count: 6 }"), @"chatwright.yaml:7:25: error: expected a number between 1 and 5, found the number 6");
    assert_snapshot!(check("{ when: never }"), @r"
    chatwright.yaml:7:24: error: there is no value `never`
       = help: one of `onDemand` and `always`
    ");
    assert_snapshot!(check("{ model: { connectionId: dema, model: m } }"), @r"
    chatwright.yaml:7:41: error: there is no connection `dema`
       = help: did you mean `demo`?
    ");
}
