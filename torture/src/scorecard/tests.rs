//! The page must be made of what is there, and name what is there.

use super::*;
use crate::scenarios;

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

#[test]
fn the_page_is_what_the_rows_and_the_last_runs_make() {
    let (rows, record) = (rows(root()).unwrap(), Record::load(root()).unwrap());
    let stored = std::fs::read_to_string(root().join(PAGE)).unwrap();
    assert!(stored == page(&rows, &record), "run `cargo xtask torture --page`, which makes the page anew");
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    assert!(readme.contains(&summary(&rows, &record)), "the summary in README.md is not the one of {PAGE}");
}

/// A test's file has it, as a Rust test or as a journey's title.
#[test]
fn every_test_that_is_named_is_there() {
    let mut missing = Vec::new();
    for row in rows(root()).unwrap() {
        for test in &row.tests {
            let (path, name) = test.split_once("::").unwrap();
            let code = std::fs::read_to_string(root().join(path)).unwrap_or_default();
            let is_there = match path.ends_with(".rs") {
                true => is_test(&code, name),
                false => code.contains(&format!("test(\"{name}\"")),
            };
            if !is_there {
                missing.push(format!("{} {test}", row.id));
            }
        }
        let unknown = row.scenarios.iter().filter(|name| !scenarios::ALL.iter().any(|known| known.name == **name));
        missing.extend(unknown.map(|name| format!("{} {name}", row.id)));
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

/// A function of this name with an attribute of a test over it.
fn is_test(code: &str, name: &str) -> bool {
    let Some(at) = code.find(&format!("fn {name}(")) else { return false };
    let before = code[..at].rsplit("\n\n").next().unwrap_or_default();
    before.contains("#[test]") || before.contains("#[tokio::test") || before.contains("proptest!")
}

#[test]
fn rows_are_unique_and_scenarios_are_used() {
    let rows = rows(root()).unwrap();
    let mut ids: Vec<_> = rows.iter().map(|row| row.id.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), rows.len());
    let used = |name: &str| rows.iter().any(|row| row.scenarios.iter().any(|known| known == name));
    let unused: Vec<_> = scenarios::ALL.iter().map(|scenario| scenario.name).filter(|name| !used(name)).collect();
    assert!(unused.is_empty(), "{unused:?} hold no row");
}
