//! The example in the documentation is what the import does.

use config::{Language, render};
use lowdefy_import::import_embedded;
use std::fs;
use std::path::Path;

/// Returns the first block in a language.
fn block<'t>(page: &'t str, language: &str) -> &'t str {
    let start = format!("```{language}\n");
    let (_, rest) = page.split_once(&start).unwrap();
    rest.split("```").next().unwrap()
}

#[test]
fn example_in_the_documentation_is_true() {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/import.md")).unwrap();
    let import = import_embedded(&[("lowdefy.yaml", block(&page, "yml"))], &Language::default()).unwrap();
    let printed = block(&page, "text");
    for line in render(&import.notes).lines() {
        let known = printed.contains(line.strip_prefix("lowdefy.yaml").unwrap_or(line));
        assert!(known, "{line}");
    }
    assert!(printed.contains(&import.summary.to_string()), "{}", import.summary);
    // Backticks end a block, and the comment at the top has some.
    let config = page.split_once("```yaml\n").unwrap().1.split("\n```\n").next().unwrap();
    assert_eq!(config, import.files[0].text.trim_end());
}
