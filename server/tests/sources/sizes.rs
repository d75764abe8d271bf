//! Holds the bounds on the sizes of source files, folders and crates, within which a reader keeps an
//! overview.

use super::{SourceFile, root, source_files};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The most lines of a Rust file.
const FILE_LINES: usize = 400;
/// The most Rust files in a folder, without those of its folders.
const FOLDER_FILES: usize = 20;
/// The most lines in the folder `src` of a crate, without files that are only tests.
const CRATE_LINES: usize = 15_000;

/// The files, folders and folders `src` that may be larger, each with the reason.
const EXCEPTIONS: &[(&str, &str)] =
    &[("app/src", "boundaries between crates with views make the download larger: measured in app/README.md")];

/// A Rust file with its number of lines.
#[derive(Clone)]
struct FileSize {
    /// The path in the repository.
    path: PathBuf,
    lines: usize,
}

/// Returns the items that exceed a bound, by their paths.
fn exceeded(root: &Path, files: &[FileSize]) -> BTreeMap<String, String> {
    let (mut folders, mut crates) = (BTreeMap::<&Path, usize>::new(), BTreeMap::<&Path, usize>::new());
    let mut found = BTreeMap::new();
    let mut check = |path: &Path, size: usize, most: usize, unit: &str| {
        if size > most {
            found.insert(path.display().to_string(), format!("{size} {unit}, at most {most}"));
        }
    };
    for file in files {
        check(&file.path, file.lines, FILE_LINES, "lines");
        *folders.entry(file.path.parent().unwrap()).or_default() += 1;
        let is_src =
            |folder: &&Path| folder.ends_with("src") && root.join(folder).with_file_name("Cargo.toml").exists();
        let is_test = file.path.file_stem().is_some_and(|name| name == "tests")
            || file.path.parent().is_some_and(|folder| folder.iter().any(|name| name == "tests"));
        if let Some(src) = file.path.ancestors().find(is_src).filter(|_| !is_test) {
            *crates.entry(src).or_default() += file.lines;
        }
    }
    folders.into_iter().for_each(|(folder, count)| check(folder, count, FOLDER_FILES, "files"));
    crates.into_iter().for_each(|(src, lines)| check(src, lines, CRATE_LINES, "lines"));
    found
}

#[test]
fn files_folders_and_crates_are_within_their_bounds() {
    let size = |file: SourceFile| FileSize { lines: file.text.lines().count(), path: file.path };
    let files: Vec<_> = source_files().into_iter().map(size).collect();
    let found = exceeded(&root(), &files);
    let allowed: BTreeSet<_> = EXCEPTIONS.iter().map(|(path, _)| (*path).to_owned()).collect();
    let too_large: Vec<_> = found.iter().filter(|(path, _)| !allowed.contains(*path)).collect();
    let needless: Vec<_> = allowed.iter().filter(|path| !found.contains_key(*path)).collect();
    assert!(too_large.is_empty(), "split by subject, or add an exception with its reason: {too_large:#?}");
    assert!(needless.is_empty(), "these exceptions are not needed any more: {needless:?}");
}

#[test]
fn each_bound_is_checked() {
    let root = root();
    let file = |path: String, lines: usize| FileSize { path: path.into(), lines };
    let check = |files: &[FileSize], expected: &[(&str, &str)]| {
        let found = exceeded(&root, files);
        let found: Vec<_> = found.iter().map(|(path, size)| (path.as_str(), size.as_str())).collect();
        assert_eq!(found, expected);
    };
    let several = |count: usize, lines: usize| -> Vec<FileSize> {
        (0..count).map(|at| file(format!("server/src/folder{}/{at}.rs", at / FOLDER_FILES), lines)).collect()
    };
    check(&[file("server/tests/a.rs".to_owned(), FILE_LINES)], &[]);
    check(&[file("server/tests/a.rs".to_owned(), FILE_LINES + 1)], &[("server/tests/a.rs", "401 lines, at most 400")]);
    let folder: Vec<_> = (0..=FOLDER_FILES).map(|at| file(format!("docs/{at}.rs"), 1)).collect();
    check(&folder, &[("docs", "21 files, at most 20")]);
    check(&several(50, 300), &[]);
    check(&[several(50, 300), vec![file("server/src/more/tests.rs".to_owned(), 100)]].concat(), &[]);
    check(&several(51, 300), &[("server/src", "15300 lines, at most 15000")]);
}
