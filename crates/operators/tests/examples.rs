//! Evaluates the examples of all operators, which are those of the documentation.

use operators::{Ambient, Docs, Operators, Scope, definitions, evaluate, evaluate_source, instead_of, operator};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The time and the random numbers of all examples.
#[derive(Debug)]
struct Fixed;

impl Ambient for Fixed {
    fn unix_ms(&self) -> i64 {
        1_611_837_509_802
    }

    fn random(&self) -> u64 {
        1 << 63
    }
}

/// Evaluates an operator with the values that the documentation names.
fn check(name: &str, argument: &str, expected: &str) {
    let state = json!({ "name": "Ada", "seats": 3, "cart": [{ "price": 2.5 }, { "price": 4 }] });
    let (url_query, event) = (json!({ "tab": "orders" }), json!({ "value": 3 }));
    let (step, item) = (json!({ "find": { "rows": [{ "id": 7 }] } }), json!({ "row": { "id": 7 } }));
    let (user, payload) = (json!({ "id": "u1" }), json!({ "order": { "id": 12 } }));
    let input = json!({ "amount": 12 });
    let (shared_state, error) = (json!({ "plan": "pro" }), json!({ "message": "no such table" }));
    let agent = json!({ "id": "support", "conversationId": "c1" });
    let scope = Scope {
        state: Some(&state),
        user: Some(&user),
        payload: Some(&payload),
        input: Some(&input),
        step: Some(&step),
        url_query: Some(&url_query),
        shared_state: Some(&shared_state),
        item: Some(&item),
        event: Some(&event),
        error: Some(&error),
        agent: Some(&agent),
        secret: None,
        expressions: Some(evaluate_source),
        operators: Some(Operators::standard()),
        ambient: Some(&Fixed),
    };
    let argument: Value = serde_json::from_str(argument).unwrap_or_else(|error| panic!("{name} {argument}: {error}"));
    let expected: Value = serde_json::from_str(expected).unwrap_or_else(|error| panic!("{name} {expected}: {error}"));
    let seen = evaluate(&json!({ name: argument }), &scope);
    let seen = seen.unwrap_or_else(|error| panic!("{name} {argument}: {error}"));
    assert_eq!(seen.to_string(), expected.to_string(), "{name} {argument}");
}

#[test]
fn every_example_has_its_documented_result() {
    for definition in definitions() {
        for (argument, result) in definition.docs.examples {
            check(definition.name, argument, result);
        }
    }
}

#[test]
fn every_operator_has_a_summary_and_examples() {
    // These operators have a value in some places only.
    let without_examples = ["_secret", "_args", "_function", "_number.EPSILON"];
    let mut names = BTreeSet::new();
    for definition in definitions() {
        let Docs { summary, examples } = definition.docs;
        assert!(names.insert(definition.name), "{} is declared twice", definition.name);
        assert!(summary.ends_with('.') && !summary.contains('\n'), "{}", definition.name);
        assert_eq!(examples.is_empty(), without_examples.contains(&definition.name), "{}", definition.name);
        assert_eq!(instead_of(definition.name), None, "{}", definition.name);
        assert!(operator(&json!({ definition.name: null })).is_some(), "{}", definition.name);
    }
    assert!(names.len() > 150, "{}", names.len());
}
