//! `list-files`.

use super::base::Base;
use super::budget::Budget;
use super::glob::Glob;
use super::input::{object, path_schema};
use super::notice::{Cut, with_notice};
use super::path::BasePath;
use super::walk::{End, walk};
use contract::{ToolError, ToolSpec};
use serde::Deserialize;
use serde_json::{Value, json};
use std::ops::ControlFlow;

/// The maximum size of the names and paths in one list, in bytes; a model could not read more at
/// once.
pub(super) const MAX_BYTES: usize = 512 * 1024;

#[derive(Deserialize)]
pub(super) struct Input {
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
pub(super) fn run(base: &Base, input: Input, budget: &mut Budget) -> Result<Value, ToolError> {
    let written = input.path.as_deref().unwrap_or_default();
    let glob = input.glob.as_deref().map(Glob::parse).transpose()?;
    let depth = glob.as_ref().map_or(1, |glob| glob.depth);
    let (mut list, mut bytes) = (Vec::new(), 0);
    let walked = BasePath::parse(written).and_then(|start| {
        walk(base, &start, depth, budget, |path, _| {
            if glob.as_ref().is_some_and(|glob| !glob.fits(path.below(&start))) {
                return ControlFlow::Continue(());
            }
            // Entries that lead out of the base are omitted.
            if let Ok(found) = base.look(path) {
                bytes += path.shown().len() + path.name().len();
                if bytes > MAX_BYTES {
                    return ControlFlow::Break(());
                }
                let (name, path, size) = (path.name(), path.shown(), found.metadata.len());
                list.push(json!({ "name": name, "path": path, "type": found.kind.name(), "size": size }));
            }
            ControlFlow::Continue(())
        })
    });
    let cut = match walked.map_err(|refusal| refusal.about(written))? {
        End::Complete => None,
        End::Enough => Some(Cut::Long),
        End::Spent(spent) => Some(Cut::Spent(spent)),
    };
    with_notice(list, "List truncated", cut)
}
