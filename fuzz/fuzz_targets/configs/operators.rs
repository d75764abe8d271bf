//! Operators: any value is evaluated to a value or an error within the limits, with a result that does not depend on
//! the limits, and secrets are not readable without permission.
#![no_main]

use libfuzzer_sys::fuzz_target;
use operators::{Operators, Scope, check_source, evaluate, evaluate_briefly, evaluate_source};
use serde_json::{Value, json};

fuzz_target!(|text: &str| {
    let Ok(value) = serde_json::from_str::<Value>(text) else { return };
    let state = json!({ "a": { "b": [1, "x", null] }, "text": "<b>", "n": 3 });
    let secret = |name: &str| (name == "KEY").then(|| "sk-canary".to_owned());
    let scope = Scope {
        state: Some(&state),
        payload: Some(&state),
        expressions: Some(evaluate_source),
        operators: Some(Operators::standard()),
        ..Scope::default()
    };
    let seen = evaluate(&value, &scope);
    assert!(seen.is_err() || text.contains("sk-canary") || !format!("{seen:?}").contains("sk-canary"));
    // A smaller budget does not change a result.
    assert!(evaluate_briefly(&value, &scope).is_none_or(|brief| brief.is_err() || brief == seen));
    let _ = evaluate(&value, &Scope { secret: Some(&secret), ..scope });
    if let Some(written) = value.as_str() {
        let _ = check_source(operators::ExpressionLanguage::Expression, written);
        let _ = check_source(operators::ExpressionLanguage::Template, written);
    }
});
