//! `list-files`.

use super::base::BaseFolder;
use super::budget::WalkBudget;
use super::glob::Glob;
use super::input::{object, path_schema};
use super::notice::{Truncation, with_notice};
use super::path::BasePath;
use super::walk::{WalkEnd, walk};
use contract::{ToolError, ToolSpec};
use serde::Deserialize;
use serde_json::{Value, json};
use std::ops::ControlFlow;

/// The maximum size of the names and paths in one list, in bytes; a model could not read more at
/// once.
pub(super) const MAX_BYTES: usize = 512 * 1024;

#[derive(Deserialize)]
pub(super) struct ListInput {
    path: Option<String>,
    glob: Option<String>,
}

/// Returns the declaration of the tool.
pub(super) fn spec() -> ToolSpec {
    let glob = "A pattern for paths in that directory, for example `**/*.md` for those at any depth; `*` if omitted.";
    let properties = [
        (
            "path",
            path_schema(
                "A directory in the base directory, for example `guides`; without it the base directory itself.",
            ),
        ),
        ("glob", json!({ "type": "string", "maxLength": Glob::MAX_CHARS, "description": glob })),
    ];
    let description = "Lists the files and directories in a directory, with name, path, type and size in bytes.";
    ToolSpec::new("list-files", description, object(properties, &[]))
}

/// Lists the entries, sorted folder by folder.
pub(super) fn run(base: &BaseFolder, input: ListInput, budget: &mut WalkBudget) -> Result<Value, ToolError> {
    let written = input.path.as_deref().unwrap_or_default();
    let glob = input.glob.as_deref().map(Glob::parse).transpose()?;
    let depth = glob.as_ref().map_or(1, |glob| glob.depth);
    let (mut list, mut bytes) = (Vec::new(), 0);
    let walked = BasePath::parse(written).and_then(|start| {
        walk(base, &start, depth, budget, |path, _| {
            if glob.as_ref().is_some_and(|glob| !glob.fits(path.relative_to(&start))) {
                return ControlFlow::Continue(());
            }
            // Entries that lead out of the base are omitted.
            if let Ok(found) = base.look_up(path) {
                bytes += path.display_path().len() + path.name().len();
                if bytes > MAX_BYTES {
                    return ControlFlow::Break(());
                }
                let (name, path, size) = (path.name(), path.display_path(), found.metadata.len());
                list.push(json!({ "name": name, "path": path, "type": found.kind.name(), "size": size }));
            }
            ControlFlow::Continue(())
        })
    });
    let cut = match walked.map_err(|refusal| refusal.into_tool_error(written))? {
        WalkEnd::Complete => None,
        WalkEnd::Enough => Some(Truncation::Long),
        WalkEnd::Spent(spent) => Some(Truncation::Spent(spent)),
    };
    with_notice(list, "List truncated", cut)
}
