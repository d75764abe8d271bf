//! Holds the bound on cycles of imports: files that import each other can only be understood
//! together.

use super::imports::{ModulePath, import_graph};
use super::{SourceFile, source_files};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The most files of a cycle.
const CYCLE_FILES: usize = 4;

/// Returns the files that can be reached from a file by imports.
fn reachable<'g>(
    from: &'g ModulePath,
    graph: &'g BTreeMap<ModulePath, BTreeSet<ModulePath>>,
) -> BTreeSet<&'g ModulePath> {
    let (mut reached, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(path) = open.pop() {
        for next in graph.get(path).into_iter().flatten() {
            if reached.insert(next) {
                open.push(next);
            }
        }
    }
    reached
}

/// Returns the files of the largest cycle.
fn largest_cycle(graph: &BTreeMap<ModulePath, BTreeSet<ModulePath>>) -> Vec<String> {
    let reached: BTreeMap<_, _> = graph.keys().map(|path| (path, reachable(path, graph))).collect();
    let cycles = reached.iter().map(|(path, targets)| {
        targets.iter().copied().filter(|target| reached.get(target).is_some_and(|back| back.contains(path))).collect()
    });
    let largest: Vec<&ModulePath> = cycles.max_by_key(Vec::len).unwrap_or_default();
    largest.iter().map(|path| path.join("::")).collect()
}

/// Returns the files of each folder `src`, by the folder of the crate.
fn crates(files: &[SourceFile]) -> BTreeMap<String, Vec<(&Path, &SourceFile)>> {
    let mut crates = BTreeMap::<String, Vec<_>>::new();
    for file in files {
        let Some(src) = file.path.ancestors().filter(|folder| folder.ends_with("src")).last() else { continue };
        let in_src = file.path.strip_prefix(src).unwrap();
        crates.entry(src.parent().unwrap().display().to_string()).or_default().push((in_src, file));
    }
    crates
}

#[test]
fn cycles_of_imports_are_small() {
    let files = source_files();
    let mut wrong = Vec::new();
    for (name, files) in crates(&files) {
        let cycle = largest_cycle(&import_graph(files.into_iter()));
        if cycle.len() > CYCLE_FILES {
            wrong.push(format!("{name}: a cycle has {} files: {}", cycle.len(), cycle.join(" ")));
        }
    }
    assert!(wrong.is_empty(), "move what the files share into one that imports none of them: {wrong:#?}");
}

#[test]
fn cycles_are_found_through_exports_and_paths() {
    let check = |files: &[(&str, &str)], expected: &[&str]| {
        let files: Vec<_> =
            files.iter().map(|(path, text)| SourceFile { path: (*path).into(), text: (*text).to_owned() }).collect();
        let graph = import_graph(files.iter().map(|file| (file.path.as_path(), file)));
        assert_eq!(largest_cycle(&graph), expected, "{:?}", files.iter().map(|file| &file.text).collect::<Vec<_>>());
    };
    let (a, b) = ("use crate::b::{self as other,\n    c::{D, E}};", "mod c;\npub(crate) use c::F;");
    check(&[("a.rs", a), ("b/mod.rs", b), ("b/c.rs", "fn d() { crate::a::x() }")], &["a", "b::c"]);
    check(&[("a.rs", "use crate::b::F;"), ("b/mod.rs", b), ("b/c.rs", "use super::super::a;")], &["a", "b::c"]);
    // These are no imports: a comment, a text, tests, the scope of a visibility.
    let none = "// crate::a\npub(in crate::a) fn c() { \"crate::a \\\" crate::a\"; r#\"crate::a\"#; }\n#[cfg(test)]\nmod tests { use crate::a; }";
    check(&[("a.rs", "use crate::b;"), ("b.rs", none)], &[]);
    check(&[("a.rs", "use crate::b;"), ("b.rs", "use std::fs;"), ("tests.rs", "use crate::a;")], &[]);
}
