//! `read-file`.

use super::base::{self, BaseFolder};
use super::budget::WalkBudget;
use super::input::{PathInput, object, path_schema};
use super::path::BasePath;
use super::refusal::PathRefusal;
use contract::{ToolError, ToolSpec};
use serde_json::Value;

/// The maximum size of a file's text that is shown, in bytes.
pub(super) const MAX_BYTES: usize = 512 * 1024;

/// Returns the declaration of the tool.
pub(super) fn spec() -> ToolSpec {
    let description = format!(
        "Reads a text file. Of a file that is larger than {} KB only the beginning is shown; find places in the rest with \
         search-files.",
        MAX_BYTES / 1024
    );
    ToolSpec::new(
        "read-file",
        description,
        object(
            [("path", path_schema("The file's path in the base directory, for example `guides/setup.md`."))],
            &["path"],
        ),
    )
}

/// Returns the file's text.
pub(super) fn run(base: &BaseFolder, input: PathInput, _: &mut WalkBudget) -> Result<Value, ToolError> {
    let read = BasePath::parse(&input.path).and_then(|path| {
        let file = base.open_file(&path)?;
        let size = file.size;
        // One byte more tells whether a character ends at the limit, and whether the file has
        // grown.
        let bytes = file.read(MAX_BYTES + 1)?;
        let size = size.max(bytes.len() as u64);
        shown(bytes, size).ok_or(PathRefusal::Binary)
    });
    read.map(Value::String).map_err(|refusal| refusal.into_tool_error(&input.path))
}

/// Returns a file's text, or its beginning with a note.
fn shown(mut bytes: Vec<u8>, size: u64) -> Option<String> {
    if size <= MAX_BYTES as u64 {
        return base::text(&bytes);
    }
    bytes.truncate(whole_characters(&bytes, MAX_BYTES));
    let mut text = base::text(&bytes)?;
    text.push_str(&format!(
        "\n\n[File truncated — showing first {}KB of {}KB. Use search-files to find specific content.]",
        MAX_BYTES / 1024,
        size.div_ceil(1024)
    ));
    Some(text)
}

/// Returns the largest length up to `limit` that does not split a UTF-8 character; `limit` if the
/// bytes are not UTF-8.
fn whole_characters(bytes: &[u8], limit: usize) -> usize {
    let continues = |at: usize| bytes.get(at).is_some_and(|byte| byte & 0b1100_0000 == 0b1000_0000);
    (limit.saturating_sub(3)..=limit).rev().find(|at| !continues(*at)).unwrap_or(limit)
}
