//! `present_files`.

use super::{AgentWorkspace, file_path, missing, refused};
use crate::path::OUTPUTS;
use crate::store;
use crate::tool_names::PRESENT_FILES;
use crate::workspace::{Workspace, WorkspaceError};
use contract::{Annotations, Tool, ToolContext};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;
use wire::file::{PRESENTED, PresentedContent, PresentedFile};

/// The most files of a call.
const MAX_PRESENTED: usize = 20;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The files, which are in `/outputs`.
    #[schemars(length(min = 1, max = MAX_PRESENTED))]
    paths: Vec<String>,
}

pub(super) fn tool(of: &AgentWorkspace) -> Arc<dyn Tool> {
    let description = "Shows files of `/outputs` to the user as downloads. Call it once when the results are written.";
    let annotations = Annotations { idempotent: true, reads_only: true, ..Annotations::default() };
    super::tool(of, PRESENT_FILES, description, annotations, |workspace, input: Input, context| async move {
        present(&workspace, &input.paths, &context).await
    })
}

async fn present(workspace: &Workspace, paths: &[String], context: &ToolContext) -> Result<Value, WorkspaceError> {
    if paths.is_empty() || paths.len() > MAX_PRESENTED {
        return refused(format!("1 to {MAX_PRESENTED} files are presented at once"));
    }
    let tree = workspace.tree().await?;
    let mut files = Vec::new();
    for written in paths {
        let path = file_path(written)?;
        if !path.is_below(OUTPUTS) {
            return refused(format!("`{path}` is not in {OUTPUTS}: only files there are presented"));
        }
        let Some((entry, version)) = tree.get(&path).and_then(|entry| Some((entry, entry.version()?))) else {
            return missing(&tree, &path);
        };
        let file = PresentedFile {
            path: path.to_string(),
            version,
            url: format!("/api/conversations/{}/files/{version}", workspace.of.id),
            media_type: entry.media_type.clone(),
            size: entry.size,
        };
        files.push(PresentedContent { file, file_id: Some(entry.file_id.clone()) });
    }
    for PresentedContent { file, .. } in &files {
        store::mark_presented(workspace.store(), &workspace.of, file.version).await?;
    }
    let names: Vec<_> = files.iter().map(|shown| shown.file.path.as_str()).collect();
    let said = format!("Presented to the user: {}.", names.join(", "));
    let name = PRESENTED.strip_prefix("data-").unwrap_or(PRESENTED);
    context.reports.add_data(name, Some(context.call_id.clone()), json!({ "files": files })).await;
    Ok(said.into())
}
