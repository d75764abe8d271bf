//! Checks the patches without building anything.

use super::*;
use crate::scenarios;

fn repository_root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

#[test]
fn every_defect_applies_and_has_a_scenario() {
    let defects = load_all(repository_root()).unwrap();
    assert!(!defects.is_empty());
    let problems = defects.iter().filter_map(|defect| {
        let is_known = scenarios::ALL.iter().any(|scenario| scenario.name == defect.scenario);
        let problem = match defect.patched_files(repository_root()) {
            Err(error) => format!("{error:#}"),
            Ok(_) if !is_known => format!("there is no scenario {}", defect.scenario),
            Ok(_) => return None,
        };
        Some(format!("{FOLDER}/{}.patch: {problem}", defect.name))
    });
    let problems: Vec<_> = problems.collect();
    assert!(problems.is_empty(), "{}\ntorture/README.md says how to adapt a patch", problems.join("\n"));
}

#[test]
fn patch_applies_where_lines_have_moved_and_not_where_they_have_changed() {
    let root = tempfile::tempdir().unwrap();
    let text = "A defect.\nFound by: redirect\n\n--- a/x.rs\n+++ b/x.rs\n@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n";
    let defect = Defect::parse("x", text).unwrap();
    assert_eq!(defect.scenario, "redirect");
    let check = |source: &str, expected: Result<&str, &str>| {
        std::fs::write(root.path().join("x.rs"), source).unwrap();
        match (defect.patched_files(root.path()), expected) {
            (Ok(files), Ok(expected)) => assert_eq!(files[Path::new("x.rs")], expected),
            (Err(error), Err(expected)) => assert!(format!("{error:#}").contains(expected), "{error:#}"),
            (found, expected) => panic!("{found:?} instead of {expected:?}"),
        }
    };
    check("one\ntwo\nthree\n", Ok("one\nTWO\nthree\n"));
    check("new\nnew\none\ntwo\nthree\n", Ok("new\nnew\none\nTWO\nthree\n"));
    check("one\nchanged\nthree\n", Err("x.rs has changed"));
    std::fs::remove_file(root.path().join("x.rs")).unwrap();
    assert!(format!("{:#}", defect.patched_files(root.path()).unwrap_err()).contains("if it was moved"));
}

#[test]
fn header_describes_the_defect_and_names_a_scenario() {
    let patch = "--- a/x.rs\n+++ b/x.rs\n@@ -1 +1 @@\n-1\n+2\n";
    for header in ["", "A defect.\n\n", "Found by: redirect\n\n"] {
        assert!(Defect::parse("x", &format!("{header}{patch}")).is_err(), "{header}");
    }
    let unknown = select(load_all(repository_root()).unwrap(), &["x".to_owned()]).err().unwrap();
    assert!(unknown.to_string().contains("available defects: approval-without-hash, "), "{unknown}");
}
