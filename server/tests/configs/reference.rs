//! `docs/reference.md` names every key as the code defines it.

/// Renew the page with `cargo run --package server -- schema --markdown > docs/reference.md`.
#[test]
fn reference_page_is_up_to_date() -> std::io::Result<()> {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/reference.md"))?;
    let reference = server::config_language().reference();
    let first_difference =
        page.lines().zip(reference.lines()).find(|(old, new)| old != new).map(|(old, new)| format!("- {old}\n+ {new}"));
    assert_eq!(first_difference, None, "run `cargo run --package server -- schema --markdown > docs/reference.md`");
    assert_eq!(page, reference);
    Ok(())
}
