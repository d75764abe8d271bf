//! Checks of the source files that no lint of the compiler has: their sizes, the cycles of their
//! imports, and calls that end the process.

mod cycles;
mod imports;
mod panics;
mod sizes;

use std::fs;
use std::path::{Path, PathBuf};

/// Folders with what is built or installed.
const NO_SOURCES: [&str; 3] = ["target", "node_modules", ".git"];

/// A Rust file.
struct SourceFile {
    /// The path in the repository.
    path: PathBuf,
    text: String,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Returns all Rust files of the repository.
fn source_files() -> Vec<SourceFile> {
    let mut files = Vec::new();
    read_folder(&root(), Path::new(""), &mut files);
    assert!(files.len() > 1_000, "only {} files were found", files.len());
    files
}

fn read_folder(root: &Path, folder: &Path, files: &mut Vec<SourceFile>) {
    for entry in fs::read_dir(root.join(folder)).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name();
        let path = folder.join(&name);
        if entry.file_type().unwrap().is_dir() {
            if !NO_SOURCES.iter().any(|skipped| name == *skipped) {
                read_folder(root, &path, files);
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(root.join(&path)).unwrap();
            files.push(SourceFile { path, text });
        }
    }
}
