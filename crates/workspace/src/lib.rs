#![doc = include_str!("../README.md")]

// The shell is a large dependency, of which the fuzz target needs nothing else.
#[cfg(all(feature = "fuzz", not(feature = "shell")))]
#[path = "shell/container/archive.rs"]
mod archive;
mod capability;
mod path;
mod results;
mod routes;
mod section;
mod shared_file;
#[cfg(feature = "shell")]
mod shell;
mod source;
mod store;
mod texts;
mod tool_names;
mod tools;
mod tree;
mod workspace;

#[cfg(test)]
mod kill_tests;
#[cfg(test)]
mod share_tests;
#[cfg(test)]
mod tests;

pub use self::capability::{AgentShell, DEFINITION, shell_levels, shell_place_problem, shell_problem};
pub use self::shared_file::SharedFile;
#[cfg(all(feature = "shell", target_os = "linux"))]
pub use self::shell::{RUN_CONFINED, RUN_PROGRAMS, run_confined, run_programs_process};
#[cfg(feature = "shell")]
pub use self::shell::{RUN_SCRIPT, run_script_process};

/// Parses a path, for fuzzing.
#[cfg(feature = "fuzz")]
pub fn fuzz_path(written: &str) {
    if let Ok(path) = path::WorkspacePath::parse(written) {
        assert_eq!(path::WorkspacePath::parse(path.as_str()).as_ref(), Ok(&path));
        assert!(path.is_tree() || path::TREES.iter().any(|tree| path.is_below(tree)));
    }
}

/// Reads archives of containers, for fuzzing: one of any bytes, and one of entries, each with its kind, its size if it is not
/// that of the content, its path, and its content.
#[cfg(all(feature = "fuzz", not(feature = "shell")))]
pub fn fuzz_archive(bytes: &[u8], entries: &[(u8, Option<u64>, &str, &[u8])]) {
    archive::fuzz(bytes, entries);
}
