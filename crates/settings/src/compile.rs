//! Patterns for names of tools and for values of arguments.

use globset::{Glob, GlobSet, GlobSetBuilder};

/// Compiles patterns such as `read_*`, of which one must match. `*` also matches slashes.
///
/// # Errors
/// The invalid pattern, in one line.
pub fn compile_patterns(texts: &[String]) -> Result<GlobSet, String> {
    let mut set = GlobSetBuilder::new();
    for text in texts {
        set.add(Glob::new(text).map_err(|error| format!("`{text}` is not a valid pattern: {}", error.kind()))?);
    }
    set.build().map_err(|error| error.to_string())
}
