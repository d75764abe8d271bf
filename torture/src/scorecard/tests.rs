//! Checks that the page is up to date, and that the tests and scenarios that it names exist.

use super::*;
use crate::scenarios;

fn repository_root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

#[test]
fn page_matches_rows_and_record() {
    let (rows, record) = (read_rows(repository_root()).unwrap(), Record::load(repository_root()).unwrap());
    let stored = std::fs::read_to_string(repository_root().join(PAGE)).unwrap();
    assert!(stored == render_page(&rows, &record), "the page is outdated: run `cargo xtask torture --page`");
    let readme = std::fs::read_to_string(repository_root().join("README.md")).unwrap();
    assert!(readme.contains(&render_summary(&rows, &record)), "the summary in README.md differs from {PAGE}");
}

/// Tests are Rust functions or titles of journeys.
#[test]
fn named_tests_and_scenarios_exist() {
    let mut missing = Vec::new();
    for row in read_rows(repository_root()).unwrap() {
        for test in &row.tests {
            let (path, name) = test.split_once("::").unwrap();
            let code = std::fs::read_to_string(repository_root().join(path)).unwrap_or_default();
            let is_there =
                if path.ends_with(".rs") { is_test(&code, name) } else { code.contains(&format!("test(\"{name}\"")) };
            if !is_there {
                missing.push(format!("{} {test}", row.id));
            }
        }
        let unknown = row.scenarios.iter().filter(|name| !scenarios::ALL.iter().any(|known| known.name == **name));
        missing.extend(unknown.map(|name| format!("{} {name}", row.id)));
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

/// Returns whether the code has a function with this name and a test attribute.
fn is_test(code: &str, name: &str) -> bool {
    let Some(at) = code.find(&format!("fn {name}(")) else { return false };
    let before = code[..at].rsplit("\n\n").next().unwrap_or_default();
    before.contains("#[test]") || before.contains("#[tokio::test") || before.contains("proptest!")
}

#[test]
fn rows_are_unique_and_scenarios_are_used() {
    let rows = read_rows(repository_root()).unwrap();
    let mut ids: Vec<_> = rows.iter().map(|row| row.id.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), rows.len());
    let used = |name: &str| rows.iter().any(|row| row.scenarios.iter().any(|known| known == name));
    let unused: Vec<_> = scenarios::ALL.iter().map(|scenario| scenario.name).filter(|name| !used(name)).collect();
    assert!(unused.is_empty(), "no row names {unused:?}");
}
