//! The path of a file of a skill.

use std::fmt;

/// The longest path in bytes.
const MAX_PATH: usize = 300;
/// The most names of a path.
pub(crate) const MAX_DEPTH: usize = 8;

/// The path of a file below the folder of its skill: names that are joined by `/`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SkillPath(String);

impl SkillPath {
    /// Parses a path as a model or an archive writes it.
    ///
    /// # Errors
    /// The problem of the path.
    pub(crate) fn parse(written: &str) -> Result<Self, &'static str> {
        if written.is_empty() || written.len() > MAX_PATH {
            return Err("a path has 1 to 300 bytes");
        }
        if written.starts_with('/') || written.contains(['\\', ':']) || written.chars().any(is_hidden) {
            return Err("a path is relative, with `/` between its names, and has no control characters");
        }
        let written = written.strip_prefix("./").unwrap_or(written);
        let names: Vec<_> = written.split('/').collect();
        if names.iter().any(|name| ["", ".", ".."].contains(name) || name.ends_with(['.', ' '])) {
            return Err("a path has no empty names and none that ends with a dot or a space");
        }
        if names.len() > MAX_DEPTH {
            return Err("a path has at most 8 names");
        }
        Ok(Self(written.to_owned()))
    }

    /// Returns the text.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the path and those of the folders above it, the topmost first.
    pub(crate) fn steps(&self) -> impl Iterator<Item = &str> {
        let ends = self.0.match_indices('/').map(|(at, _)| at).chain([self.0.len()]);
        ends.map(|end| &self.0[..end])
    }
}

/// Returns whether a character is not seen, or changes the order in which others are seen.
pub(crate) fn is_hidden(char: char) -> bool {
    char.is_control()
        || matches!(char, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

impl fmt::Display for SkillPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn paths_stay_below_the_folder() {
        let check = |written: &str, expected: Option<&str>| {
            assert_eq!(SkillPath::parse(written).ok().as_ref().map(SkillPath::as_str), expected, "{written}");
        };
        check("references/a.md", Some("references/a.md"));
        check("./a.md", Some("a.md"));
        check("a..b/.hidden", Some("a..b/.hidden"));
        for wrong in ["", ".", "..", "/etc/passwd", "a//b", "a/../b", "a\\b", "C:x", "a/", "a\0b", "a\u{202e}b", "a."] {
            check(wrong, None);
        }
        check(&"a/".repeat(MAX_DEPTH), None);
        check(&"a".repeat(MAX_PATH + 1), None);
    }

    proptest! {
        #[test]
        fn a_path_has_only_names(written in r"([a-c./\\]|\.\.|\PC){0,20}") {
            if let Ok(path) = SkillPath::parse(&written) {
                let only_names = std::path::Path::new(path.as_str())
                    .components()
                    .all(|part| matches!(part, std::path::Component::Normal(_)));
                prop_assert!(only_names, "{path}");
                prop_assert_eq!(path.steps().last(), Some(path.as_str()));
            }
        }
    }
}
