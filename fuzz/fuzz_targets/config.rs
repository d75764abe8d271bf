//! A config: any text is a config or is told what is wrong with it, at places that are there.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::collections::HashMap;

fuzz_target!(|text: &str| {
    let env = HashMap::from([("KEY".to_owned(), "sk-canary".to_owned())]);
    let problems = match config::load_embedded(&[("chatwright.yaml", text)], &env) {
        Ok((_, warnings)) => warnings,
        Err(problems) => {
            assert!(!problems.is_empty(), "refused without a word");
            problems
        }
    };
    let told = config::render(&problems);
    assert!(text.contains("sk-canary") || !told.contains("sk-canary"), "a secret is told");
});
