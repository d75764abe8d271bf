//! Which of a server's tools an agent takes.

use globset::{Glob, GlobSet, GlobSetBuilder};

/// A name matches if one of these does: `read_*`.
///
/// # Errors
/// In one line, which of them cannot be read.
pub fn patterns(texts: &[String]) -> Result<GlobSet, String> {
    let mut set = GlobSetBuilder::new();
    for text in texts {
        set.add(Glob::new(text).map_err(|error| format!("`{text}` is no pattern: {}", error.kind()))?);
    }
    set.build().map_err(|error| error.to_string())
}
