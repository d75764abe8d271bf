//! Configs: any text is loaded or rejected with problems, which can be rendered and contain no
//! secret.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::collections::HashMap;

fuzz_target!(|text: &str| {
    let env = HashMap::from([("KEY".to_owned(), "sk-canary".to_owned())]);
    let problems = match config::load_embedded(&[("chatwright.yaml", text)], &env) {
        Ok((_, warnings)) => warnings,
        Err(problems) => {
            assert!(!problems.is_empty(), "rejected without a problem");
            problems
        }
    };
    let rendered = config::render(&problems);
    assert!(text.contains("sk-canary") || !rendered.contains("sk-canary"), "a secret is rendered");
});
