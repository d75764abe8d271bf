//! Parses a path of a model into a path below the base folder, without access to the disk.

use super::refusal::PathRefusal;
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
    pub(super) fn parse(written: &str) -> Result<Self, PathRefusal> {
        let mut names = Vec::new();
        for component in Path::new(written).components() {
            match component {
                Component::Normal(name) => names.push(name.to_str().ok_or(PathRefusal::Missing)?),
                Component::ParentDir => drop(names.pop().ok_or(PathRefusal::Outside)?),
                Component::RootDir | Component::CurDir => {}
                Component::Prefix(_) => return Err(PathRefusal::Outside),
            }
        }
        if written.len() > MAX_BYTES || written.contains('\0') {
            return Err(PathRefusal::Missing);
        }
        Ok(Self(names.join("/")))
    }

    /// Returns the path as the tools' results show it: `.` for the base folder.
    pub(super) fn display_path(&self) -> &str {
        if self.0.is_empty() { "." } else { &self.0 }
    }

    /// Returns the last name: `.` for the base folder.
    pub(super) fn name(&self) -> &str {
        self.display_path().rsplit('/').next().unwrap_or_default()
    }

    /// Returns the path for `cap-std`, in which the base folder is `.`.
    pub(super) fn as_path(&self) -> &Path {
        Path::new(self.display_path())
    }

    /// Returns the path of an entry of this folder.
    pub(super) fn child(&self, name: &str) -> Self {
        if self.0.is_empty() { Self(name.to_owned()) } else { Self(format!("{}/{name}", self.0)) }
    }

    /// Returns the part after `folder`, which must contain this path.
    pub(super) fn relative_to(&self, folder: &Self) -> &str {
        self.0.strip_prefix(&folder.0).unwrap_or(&self.0).trim_start_matches('/')
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn paths_are_parsed_without_the_disk() {
        let check = |written: &str, expected: Result<&str, PathRefusal>| {
            let parsed = BasePath::parse(written);
            assert_eq!(parsed.as_ref().map(BasePath::display_path), expected.as_ref().copied(), "{written}");
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
        check("..", Err(PathRefusal::Outside));
        check("/..", Err(PathRefusal::Outside));
        check("a/../../a", Err(PathRefusal::Outside));
        check("a\0b", Err(PathRefusal::Missing));
        check(&"a".repeat(MAX_BYTES), Ok(&"a".repeat(MAX_BYTES)));
        check(&"a".repeat(MAX_BYTES + 1), Err(PathRefusal::Missing));
    }

    proptest! {
        #[test]
        fn a_path_is_below_the_base_and_parses_to_itself(written in r"([a-c.\\/]|\.\.|\PC){0,40}") {
            if let Ok(path) = BasePath::parse(&written) {
                let only_names = path.display_path() == "." || path.as_path().components().all(|part| matches!(part, Component::Normal(_)));
                prop_assert!(only_names, "{path:?}");
                prop_assert_eq!(BasePath::parse(path.display_path()), Ok(path.clone()));
                let child = path.child("x");
                prop_assert_eq!(child.relative_to(&path), "x");
            }
        }
    }
}
