//! `stat-file`.

use super::base::{BaseFolder, FoundEntry};
use super::budget::WalkBudget;
use super::input::{PathInput, object, path_schema};
use super::path::BasePath;
use cap_std::time::SystemTime;
use contract::{ToolError, ToolSpec};
use jiff::Timestamp;
use serde_json::{Value, json};
use std::io;

/// Returns the declaration of the tool.
pub(super) fn spec() -> ToolSpec {
    let description = "Tells a file's or directory's size in bytes, its type, and when it was modified and created.";
    ToolSpec::new(
        "stat-file",
        description,
        object([("path", path_schema("A path in the base directory, for example `guides/setup.md`."))], &["path"]),
    )
}

/// Returns the name, path, size, type and dates; a date that the disk does not record is null.
pub(super) fn run(base: &BaseFolder, input: PathInput, _: &mut WalkBudget) -> Result<Value, ToolError> {
    let looked = BasePath::parse(&input.path).and_then(|path| Ok((base.look_up(&path)?, path)));
    let (FoundEntry { kind, metadata }, path) = looked.map_err(|refusal| refusal.into_tool_error(&input.path))?;
    Ok(json!({
        "name": path.name(),
        "path": path.display_path(),
        "size": metadata.len(),
        "type": kind.name(),
        "modified": date(metadata.modified()),
        "created": date(metadata.created()),
    }))
}

/// Formats a date as JavaScript does: `2026-01-31T12:00:00.000Z`.
fn date(time: io::Result<SystemTime>) -> Option<String> {
    let time = Timestamp::try_from(time.ok()?.into_std()).ok()?;
    Some(time.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string())
}
