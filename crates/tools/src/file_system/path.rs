//! Parses a path of a model into a path below the base folder, without access to the disk.

use super::refusal::Refusal;
use std::path::{Component, Path};

/// The maximum length of a path in bytes; no system opens a longer one.
const MAX_BYTES: usize = 4096;

/// Names below the base folder, joined by `/`, without `.` and `..`. Empty for the base folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BasePath(String);

impl BasePath {
    /// Returns the path of the base folder.
    pub(super) fn base() -> Self {
        Self(String::new())
    }

    /// Parses a path: a leading `/` means the base folder, and `..` removes the preceding name. The
    /// disk is not accessed, so an answer about a path outside reveals nothing about what exists
    /// there.
    pub(super) fn parse(written: &str) -> Result<Self, Refusal> {
        let mut names = Vec::new();
        for component in Path::new(written).components() {
            match component {
                Component::Normal(name) => names.push(name.to_str().ok_or(Refusal::Missing)?),
                Component::ParentDir => drop(names.pop().ok_or(Refusal::Outside)?),
                Component::RootDir | Component::CurDir => {}
                Component::Prefix(_) => return Err(Refusal::Outside),
            }
        }
        if written.len() > MAX_BYTES || written.contains('\0') {
            return Err(Refusal::Missing);
        }
        Ok(Self(names.join("/")))
    }

    /// Returns the path as the tools' results show it: `.` for the base folder.
    pub(super) fn shown(&self) -> &str {
        if self.0.is_empty() { "." } else { &self.0 }
    }

    /// Returns the last name: `.` for the base folder.
    pub(super) fn name(&self) -> &str {
        self.shown().rsplit('/').next().unwrap_or_default()
    }

    /// Returns the path for `cap-std`, in which the base folder is `.`.
    pub(super) fn as_path(&self) -> &Path {
        Path::new(self.shown())
    }

    /// Returns the path of an entry of this folder.
    pub(super) fn child(&self, name: &str) -> Self {
        if self.0.is_empty() { Self(name.to_owned()) } else { Self(format!("{}/{name}", self.0)) }
    }

    /// Returns the part after `folder`, which must contain this path.
    pub(super) fn below(&self, folder: &Self) -> &str {
        self.0.strip_prefix(&folder.0).unwrap_or(&self.0).trim_start_matches('/')
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn paths_are_parsed_without_the_disk() {
        let check = |written: &str, expected: Result<&str, Refusal>| {
            let parsed = BasePath::parse(written);
            assert_eq!(parsed.as_ref().map(BasePath::shown), expected.as_ref().copied(), "{written}");
        };
        check("", Ok("."));
        check(".", Ok("."));
        check("/", Ok("."));
        check("a/..", Ok("."));
        check("a", Ok("a"));
        check("/a", Ok("a"));
        check("//a//b/", Ok("a/b"));
        check("./a/./b", Ok("a/b"));
        check("a/../b", Ok("b"));
        check("a..b/...", Ok("a..b/..."));
        check("..", Err(Refusal::Outside));
        check("/..", Err(Refusal::Outside));
        check("a/../../a", Err(Refusal::Outside));
        check("a\0b", Err(Refusal::Missing));
        check(&"a".repeat(MAX_BYTES), Ok(&"a".repeat(MAX_BYTES)));
        check(&"a".repeat(MAX_BYTES + 1), Err(Refusal::Missing));
    }

    proptest! {
        #[test]
        fn a_path_is_below_the_base_and_parses_to_itself(written in r"([a-c.\\/]|\.\.|\PC){0,40}") {
            if let Ok(path) = BasePath::parse(&written) {
                let only_names = path.shown() == "." || path.as_path().components().all(|part| matches!(part, Component::Normal(_)));
                prop_assert!(only_names, "{path:?}");
                prop_assert_eq!(BasePath::parse(path.shown()), Ok(path.clone()));
                let child = path.child("x");
                prop_assert_eq!(child.below(&path), "x");
            }
        }
    }
}
