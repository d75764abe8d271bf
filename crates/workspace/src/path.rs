//! Paths in a workspace.

use std::fmt;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// The longest path in bytes.
pub(crate) const MAX_PATH: usize = 400;
/// The longest name of a path in bytes.
pub(crate) const MAX_NAME: usize = 120;
/// The most names of a path.
pub(crate) const MAX_DEPTH: usize = 12;

/// The tree of the agent's own files. Relative paths begin here.
pub(crate) const WORKSPACE: &str = "/workspace";
/// The tree of what the user attached or uploaded.
pub(crate) const UPLOADS: &str = "/uploads";
/// The tree of results for the user.
pub(crate) const OUTPUTS: &str = "/outputs";
/// All trees.
pub(crate) const TREES: [&str; 3] = [OUTPUTS, UPLOADS, WORKSPACE];

/// The path of a file or a folder: `/`, or names below one of the trees that are joined by `/`, in
/// Unicode's composed form.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct WorkspacePath(String);

impl WorkspacePath {
    /// Parses a path as a model, a script or a user writes it. A relative path is in `/workspace`.
    ///
    /// # Errors
    /// The problem with it, as a sentence without the path.
    pub(crate) fn parse(written: &str) -> Result<Self, String> {
        if written.len() > MAX_PATH {
            return Err(format!("a path has at most {MAX_PATH} bytes"));
        }
        let composed = if is_nfc_quick(written.chars()) == IsNormalized::Yes {
            written.to_owned()
        } else {
            written.nfc().collect()
        };
        let below = if composed.starts_with('/') { "" } else { WORKSPACE };
        let names: Vec<&str> =
            below.split('/').chain(composed.split('/')).filter(|name| !["", "."].contains(name)).collect();
        for name in &names {
            check_name(name)?;
        }
        if names.len() > MAX_DEPTH {
            return Err(format!("a path has at most {MAX_DEPTH} names"));
        }
        let path = format!("/{}", names.join("/"));
        if path.len() > MAX_PATH {
            return Err(format!("a path has at most {MAX_PATH} bytes"));
        }
        let is_inside = path == "/" || TREES.iter().any(|tree| path == *tree || path.starts_with(&format!("{tree}/")));
        if is_inside { Ok(Self(path)) } else { Err("there are only /workspace, /uploads and /outputs".to_owned()) }
    }

    /// Parses the path of a file, which is below a tree.
    ///
    /// # Errors
    /// The problem with it.
    pub(crate) fn parse_file(written: &str) -> Result<Self, String> {
        let path = Self::parse(written)?;
        let names_a_folder = path.is_tree() || written.ends_with('/');
        if names_a_folder { Err("this is a folder, and a file is needed".to_owned()) } else { Ok(path) }
    }

    /// Returns the text.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the last name; empty for `/`.
    pub(crate) fn name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or_default()
    }

    /// Returns whether it is `/` or one of the trees.
    pub(crate) fn is_tree(&self) -> bool {
        self.0 == "/" || TREES.contains(&self.0.as_str())
    }

    /// Returns whether it is below a folder; everything but `/` is below `/`.
    pub(crate) fn is_below(&self, folder: &str) -> bool {
        let rest = self.0.strip_prefix(folder.trim_end_matches('/'));
        rest.is_some_and(|rest| rest.starts_with('/') && rest.len() > 1)
    }

    /// Returns the paths of the folders above it, the tree first.
    pub(crate) fn folders(&self) -> impl Iterator<Item = &str> {
        self.0.match_indices('/').map(|(at, _)| &self.0[..at]).filter(|folder| !folder.is_empty())
    }
}

impl fmt::Display for WorkspacePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Returns what is equal for names that systems may take for the same: without the difference of upper and
/// lower case, and of compatible characters.
pub(crate) fn folded(path: &str) -> String {
    path.nfkc().collect::<String>().to_lowercase().nfkc().collect()
}

fn check_name(name: &str) -> Result<(), String> {
    if name == ".." {
        return Err("`..` is not allowed: write the path from its tree, such as /workspace/data.csv".to_owned());
    }
    if name.len() > MAX_NAME {
        return Err(format!("a name has at most {MAX_NAME} bytes"));
    }
    if name.chars().any(is_hidden) {
        return Err(
            "a name has no control characters, invisible characters, or characters that change the direction of text"
                .to_owned(),
        );
    }
    if name.contains(['\\', ':', '*', '?', '"', '<', '>', '|']) {
        return Err("a name cannot contain the characters \\ : * ? \" < > |".to_owned());
    }
    if name.ends_with(['.', ' ']) || name.starts_with(' ') {
        return Err("a name cannot begin with a space, and cannot end with a dot or a space".to_owned());
    }
    Ok(())
}

/// Returns whether a character is not seen, or changes the order in which others are seen.
fn is_hidden(char: char) -> bool {
    char.is_control()
        || matches!(char,
            '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn paths_are_in_one_of_the_trees() {
        let check = |written: &str, expected: &str| {
            let parsed = WorkspacePath::parse(written).map(|path| path.0);
            assert_eq!(parsed.as_deref().unwrap_or_else(|error| error), expected, "{written:?}");
        };
        check("a.md", "/workspace/a.md");
        check("./a//b/", "/workspace/a/b");
        check("/outputs/Bericht – März.md", "/outputs/Bericht – März.md");
        check("/outputs/ä.md", "/outputs/\u{e4}.md");
        check("/outputs/a\u{308}.md", "/outputs/\u{e4}.md");
        check("/", "/");
        check("", "/workspace");
        let outside = "there are only /workspace, /uploads and /outputs";
        check("/etc/passwd", outside);
        check("/workspaces/a", outside);
        let dots = "`..` is not allowed: write the path from its tree, such as /workspace/data.csv";
        check("../a", dots);
        check("/workspace/../../etc/passwd", dots);
        let hidden =
            "a name has no control characters, invisible characters, or characters that change the direction of text";
        for sign in ['\0', '\n', '\u{7f}', '\u{202e}', '\u{200b}', '\u{2066}', '\u{feff}', '\u{e0041}'] {
            check(&format!("a{sign}b"), hidden);
        }
        check("a\\b", "a name cannot contain the characters \\ : * ? \" < > |");
        check("C:/x", "a name cannot contain the characters \\ : * ? \" < > |");
        check("a.", "a name cannot begin with a space, and cannot end with a dot or a space");
        check(&"a/".repeat(MAX_DEPTH), "a path has at most 12 names");
        check(&"a".repeat(MAX_NAME + 1), "a name has at most 120 bytes");
        check(&"ab/".repeat(MAX_PATH / 3 + 1), "a path has at most 400 bytes");
    }

    #[test]
    fn files_are_below_a_tree() {
        let check =
            |written: &str, is_file: bool| assert_eq!(WorkspacePath::parse_file(written).is_ok(), is_file, "{written}");
        check("a", true);
        check("/outputs/a", true);
        for folder in ["", "/", "/outputs", "/outputs/", "a/"] {
            check(folder, false);
        }
    }

    #[test]
    fn names_that_systems_take_for_the_same_are_folded() {
        for (one, other) in [("A.md", "a.md"), ("\u{e4}", "A\u{308}"), ("ﬁle", "file"), ("Ⅳ", "iv")] {
            assert_eq!(folded(one), folded(other));
        }
        assert_ne!(folded("a"), folded("b"));
    }

    proptest! {
        #[test]
        fn a_path_has_only_names_and_parses_to_itself(written in r"(/workspace/|/outputs|/)?([a-c./\\]|\.\.|\PC|\p{C}){0,20}") {
            if let Ok(path) = WorkspacePath::parse(&written) {
                prop_assert_eq!(WorkspacePath::parse(path.as_str()), Ok(path.clone()));
                let parts = std::path::Path::new(path.as_str()).components().skip(1);
                let only_names = parts.into_iter().all(|part| matches!(part, std::path::Component::Normal(_)));
                prop_assert!(only_names, "{}", path);
                prop_assert!(!path.as_str().contains("//"));
                prop_assert!(path == WorkspacePath::parse("/").unwrap() || TREES.iter().any(|tree| path.as_str() == *tree || path.is_below(tree)));
            }
        }
    }
}
