//! `docs/reference.md` names every key, and `docs/operators.md` every operator, as the code defines
//! it.

use std::fs;

fn check(page: &str, generated: &str, option: &str) {
    let text = fs::read_to_string(format!("{}/../docs/{page}", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let mut lines = text.lines().zip(generated.lines());
    let first_difference = lines.find(|(old, new)| old != new).map(|(old, new)| format!("- {old}\n+ {new}"));
    let renew = format!("run `cargo run --package server -- schema --{option} > docs/{page}`");
    assert_eq!(first_difference, None, "{renew}");
    assert_eq!(text, generated, "{renew}");
}

#[test]
fn reference_page_is_up_to_date() {
    check("reference.md", &server::config_language().reference(), "markdown");
}

#[test]
fn page_of_operators_is_up_to_date() {
    check("operators.md", &operators::reference(operators::Operators::standard()), "operators");
}
