//! Glob patterns for paths, such as `**/*.md`.

use contract::ToolError;
use globset::{GlobBuilder, GlobSet};

/// A pattern for paths below a folder.
pub(super) struct Glob {
    matcher: GlobSet,
    /// The number of levels below the folder that the pattern can match.
    pub(super) depth: usize,
}

impl Glob {
    /// The maximum length of a pattern in characters, for the tools' schemas.
    pub(super) const MAX_CHARS: usize = 500;

    /// Parses a pattern: `*` and `?` do not match `/`, `**` does; `{a,b}` and `[a-z]` are
    /// supported. A pattern that would lead out of the folder matches nothing.
    pub(super) fn parse(written: &str) -> Result<Self, ToolError> {
        let pattern = written.trim_start_matches("./").trim_start_matches('/');
        let depth = if pattern.contains("**") { usize::MAX } else { pattern.matches('/').count() + 1 };
        let matcher = GlobBuilder::new(pattern).literal_separator(true).empty_alternates(true).build();
        // A set with one glob, because a single glob panics if it becomes too large.
        let matcher = matcher.and_then(|glob| GlobSet::builder().add(glob).build());
        let matcher =
            matcher.map_err(|error| ToolError::new(format!("This glob cannot be used: {}.", error.kind())))?;
        Ok(Self { matcher, depth })
    }

    /// Returns whether a path below the folder matches.
    pub(super) fn fits(&self, below: &str) -> bool {
        self.matcher.is_match(below)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn globs_match_paths() {
        let check = |glob: &str, paths: &[&str], expected: &[&str]| {
            let glob = Glob::parse(glob).unwrap();
            let fitting: Vec<_> = paths.iter().copied().filter(|path| glob.fits(path)).collect();
            assert_eq!(fitting, expected);
        };
        let all = ["a.md", ".hidden", "sub/b.md", "sub/deep/c.md", "sub"];
        check("*", &all, &["a.md", ".hidden", "sub"]);
        check("**/*", &all, &all);
        check("**/*.md", &all, &["a.md", "sub/b.md", "sub/deep/c.md"]);
        check("./*.md", &all, &["a.md"]);
        check("/sub/*.md", &all, &["sub/b.md"]);
        check("{a,sub/b}.md", &all, &["a.md", "sub/b.md"]);
        check("[a-b].md", &all, &["a.md"]);
        check("**/**/**", &all, &all);
        check("../**", &all, &[]);
        check("", &all, &[]);
        check(&"{a,b}".repeat(100), &[&"ab".repeat(50)], &[&"ab".repeat(50)]);
    }

    #[test]
    fn invalid_globs_are_rejected() {
        let check = |glob: &str, expected: &str| {
            assert_eq!(Glob::parse(glob).err().map(|error| error.message).as_deref(), Some(expected), "{glob}");
        };
        check("[", "This glob cannot be used: unclosed character class; missing ']'.");
        check("{a", "This glob cannot be used: unclosed alternate group; missing '}' (maybe escape '{' with '[{]'?).");
        check("[z-a]", "This glob cannot be used: invalid range; 'z' > 'a'.");
    }

    proptest! {
        #[test]
        fn any_glob_is_handled_without_a_panic(glob in r"([*?{},\[\]!/a-c.\\-]|\PC){0,500}") {
            if let Ok(glob) = Glob::parse(&glob) {
                glob.fits("a/b/c");
            }
        }
    }
}
