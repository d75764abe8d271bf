//! The models that a provider names: their number and their names are bounded.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((&provider, body)) = data.split_first() else { return };
    let Some(names) = model_connections::model_names(provider, body) else { return };
    assert!(names.len() <= 500 && names.is_sorted());
    for name in names {
        assert!((1..=200).contains(&name.chars().count()), "{name}");
        assert!(!name.chars().any(|sign| sign.is_control() || sign.is_whitespace()), "{name}");
    }
});
