//! `write_file` and `str_replace`.

use super::{AgentWorkspace, file_path, missing, refused};
use crate::path::WorkspacePath;
use crate::tool_names::{STR_REPLACE, WRITE_FILE};
use crate::tree::FileEntry;
use crate::workspace::{Change, Workspace, WorkspaceError, is_writable};
use bytes::Bytes;
use contract::{Annotations, Tool};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::sync::Arc;

const WRITE: &str = "Writes a text file, with the folders above it; a file that exists is replaced, or appended to.";
const REPLACE: &str = "Replaces a text in a file: exactly one occurrence, or all.";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WriteInput {
    /// The file, for example `/workspace/notes.md`, or `/outputs/report.md` for a result.
    path: String,
    /// The text.
    content: String,
    /// Whether to add the text to the end of the file.
    #[serde(default)]
    append: bool,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ReplaceInput {
    /// The file.
    path: String,
    /// The text to replace, exactly as it is in the file.
    #[schemars(length(min = 1))]
    old_str: String,
    /// The new text.
    new_str: String,
    /// Whether to replace all occurrences. Without it there must be exactly one.
    #[serde(default)]
    replace_all: bool,
}

pub(super) fn write_tool(of: &AgentWorkspace) -> Arc<dyn Tool> {
    super::tool(of, WRITE_FILE, WRITE, Annotations::default(), |workspace, input: WriteInput, _| async move {
        write(&workspace, input).await
    })
}

pub(super) fn replace_tool(of: &AgentWorkspace) -> Arc<dyn Tool> {
    super::tool(of, STR_REPLACE, REPLACE, Annotations::default(), |workspace, input: ReplaceInput, _| async move {
        replace(&workspace, input).await
    })
}

/// Parses the path of a file that the agent may change.
fn writable(written: &str) -> Result<WorkspacePath, WorkspaceError> {
    let path = file_path(written)?;
    if is_writable(&path) {
        return Ok(path);
    }
    refused(format!("`{path}` is read-only: write to /workspace, or to /outputs for results"))
}

async fn write(workspace: &Workspace, input: WriteInput) -> Result<Value, WorkspaceError> {
    let path = writable(&input.path)?;
    let tree = workspace.tree().await?;
    let known = tree.get(&path);
    let content = match known {
        Some(entry) if input.append => appended(workspace, &path, entry, &input.content).await?,
        _ => input.content.into(),
    };
    let verb = if known.is_some() { if input.append { "extended" } else { "replaced" } } else { "written" };
    store(workspace, path, known, content, verb).await
}

async fn appended(
    workspace: &Workspace,
    path: &WorkspacePath,
    entry: &FileEntry,
    more: &str,
) -> Result<Bytes, WorkspaceError> {
    let mut content = workspace.read(path, entry).await?.to_vec();
    content.extend_from_slice(more.as_bytes());
    Ok(content.into())
}

async fn replace(workspace: &Workspace, input: ReplaceInput) -> Result<Value, WorkspaceError> {
    let path = writable(&input.path)?;
    let tree = workspace.tree().await?;
    let Some(entry) = tree.get(&path) else { return missing(&tree, &path) };
    let content = workspace.read(&path, entry).await?;
    let Some(text) = super::read::as_text(&content) else { return refused(format!("`{path}` is not a text file")) };
    let content = replaced(text, &input, workspace.limits.file_bytes)
        .map_err(|reason| WorkspaceError::Refused(format!("`{path}` is unchanged: {reason}")))?;
    store(workspace, path, Some(entry), content.into(), "changed").await
}

/// Returns the text with the replacement, which has at most `most` bytes.
fn replaced(text: &str, input: &ReplaceInput, most: u64) -> Result<String, String> {
    if input.old_str.is_empty() {
        return Err("an empty text cannot be replaced".to_owned());
    }
    match text.matches(&input.old_str).count() {
        0 => Err("the text to replace does not occur in it; read it again".to_owned()),
        count if count > 1 && !input.replace_all => Err(format!(
            "the text to replace occurs {count} times in it; give more of the text around it, or set replace_all"
        )),
        count => {
            // Before the replacement is made: each occurrence may become a long text.
            let size = size_of_replaced(text, input, count);
            if size.is_none_or(|size| size as u64 > most) {
                return Err(format!("it would have more than {most} bytes"));
            }
            Ok(text.replace(&input.old_str, &input.new_str))
        }
    }
}

/// Returns how many bytes the text has with this number of replacements.
fn size_of_replaced(text: &str, input: &ReplaceInput, count: usize) -> Option<usize> {
    let kept = text.len().checked_sub(count.checked_mul(input.old_str.len())?)?;
    kept.checked_add(count.checked_mul(input.new_str.len())?)
}

async fn store(
    workspace: &Workspace,
    path: WorkspacePath,
    known: Option<&FileEntry>,
    content: Bytes,
    verb: &str,
) -> Result<Value, WorkspaceError> {
    let (size, base) = (content.len(), known.and_then(FileEntry::version));
    let change = Change { path: path.clone(), base, content: Some(content) };
    let numbers = workspace.apply(vec![change]).await?;
    let version = numbers.first().copied().flatten().unwrap_or_default();
    Ok(format!("`{path}` is {verb}: {size} bytes, version {version}.").into())
}
