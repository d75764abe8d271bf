//! `ls`.

use super::{AgentWorkspace, READS, path, refused};
use crate::tool_names::LS;
use contract::Tool;
use schemars::JsonSchema;
use serde::Deserialize;
use std::sync::Arc;

const DESCRIPTION: &str = "Lists a folder and the folders in it, with the sizes of files.";

/// The deepest listing.
const MAX_DEPTH: usize = 6;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The folder, for example `/workspace`; everything without it.
    #[serde(default)]
    path: Option<String>,
    /// How many levels of folders; 2 without it.
    #[serde(default = "default_depth")]
    #[schemars(range(min = 1, max = MAX_DEPTH))]
    depth: usize,
}

fn default_depth() -> usize {
    2
}

pub(super) fn tool(of: &AgentWorkspace) -> Arc<dyn Tool> {
    super::tool(of, LS, DESCRIPTION, READS, |workspace, input: Input, _| async move {
        let folder = path(input.path.as_deref().unwrap_or("/"))?;
        let tree = workspace.tree().await?;
        if tree.get(&folder).is_some() {
            return refused(format!("`{folder}` is a file"));
        }
        if !tree.is_folder(&folder) {
            return refused(format!("there is no folder `{folder}`"));
        }
        Ok(tree.listing(&folder, input.depth.clamp(1, MAX_DEPTH)).into())
    })
}
