//! The forms of `followUps` in a config, and the messages about mistakes.

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

/// A cost limit needs the price of the model that writes the suggestions.
#[test]
fn cost_limit_without_a_price_of_the_model_is_rejected() {
    let with_quota = |prices: &str| {
        let model = "{ model: { connectionId: demo, model: small } }";
        check(&format!(
            "{model}\nprices: {{ m: {{ input: 1, output: 2 }}{prices} }}\nlimits: {{ quotas: [{{ per: day, costUsd: 1 }}] }}"
        ))
    };
    assert_snapshot!(with_quota(""), @r"
    chatwright.yaml:7:54: error: the price of the model `small` is not known, so the cost limit in `quotas` cannot be kept
       = help: add it to the section `prices`, in US dollars for a million tokens: `small: { input: 1, output: 2 }`
    ");
    assert_eq!(with_quota(", small: { input: 1, output: 2 }"), "");
}
