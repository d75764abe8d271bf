//! The tools of an agent with a workspace.

mod edit;
mod find;
mod list;
mod present;
mod read;
#[cfg(feature = "shell")]
mod run;

use crate::path::WorkspacePath;
use crate::section::{ShellLevel, WorkspaceKey};
use crate::tool_names::LS;
use crate::workspace::{Workspace, WorkspaceError, Workspaces};
use contract::{Annotations, FunctionTool, RunScope, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::sync::Arc;

/// The state that the tools of an agent share.
#[derive(Clone)]
pub(crate) struct AgentWorkspace {
    pub(crate) all: Workspaces,
    pub(crate) settings: Arc<WorkspaceKey>,
    #[cfg(feature = "shell")]
    pub(crate) shell: Arc<dyn crate::shell::Shell>,
}

impl AgentWorkspace {
    /// Returns at which level commands run.
    pub(crate) fn level(&self) -> ShellLevel {
        self.settings.shell.level()
    }

    /// Returns the same with commands that run at another level.
    pub(crate) fn at_level(&self, level: ShellLevel) -> Self {
        let shell = self.settings.shell.at_level(level);
        Self { settings: Arc::new(WorkspaceKey { shell, ..(*self.settings).clone() }), ..self.clone() }
    }

    /// Opens the workspace of a run's conversation.
    pub(crate) fn open(&self, scope: &RunScope) -> Workspace {
        self.all.open(&scope.user_id, &scope.conversation_id, self.settings.limits)
    }
}

/// Returns the tools of an agent. Only the agent of the conversation presents files, and not a sub-agent.
pub(crate) fn tools(of: &AgentWorkspace, may_present: bool) -> Vec<Arc<dyn Tool>> {
    let mut tools = vec![
        list::tool(of),
        read::tool(of),
        edit::write_tool(of),
        edit::replace_tool(of),
        find::glob_tool(of),
        find::grep_tool(of),
    ];
    if may_present {
        tools.push(present::tool(of));
    }
    if of.settings.view_images {
        tools.push(read::image_tool(of));
    }
    #[cfg(feature = "shell")]
    if let Some(shell) = of.settings.shell.settings() {
        tools.push(run::tool(of, shell));
    }
    tools
}

/// Makes a tool of a function that gets the workspace of the call's conversation.
fn tool<I, F, R>(
    of: &AgentWorkspace,
    name: &str,
    description: &str,
    annotations: Annotations,
    function: F,
) -> Arc<dyn Tool>
where
    I: JsonSchema + DeserializeOwned + Send + 'static,
    F: Fn(Workspace, I, ToolContext) -> R + Send + Sync + 'static,
    R: Future<Output = Result<Value, WorkspaceError>> + Send + 'static,
{
    let of = of.clone();
    let call = move |input: I, context: ToolContext| {
        let result = function(of.open(&context.scope), input, context);
        async move { result.await.map_err(tool_error) }
    };
    Arc::new(FunctionTool::new(name, description, call).with_annotations(annotations))
}

/// The annotations of tools that read files: they may be the user's, and anybody may have written them.
const READS: Annotations =
    Annotations { reads_private: true, returns_untrusted: true, egress: false, idempotent: true, reads_only: true };

/// Returns what the model reads instead of a result. The cause of a failure is for the operator.
pub(crate) fn tool_error(error: WorkspaceError) -> ToolError {
    match error {
        WorkspaceError::Refused(reason) => {
            let mut sentence = reason;
            if let Some(first) = sentence.get(..1) {
                let first = first.to_ascii_uppercase();
                sentence.replace_range(..1, &first);
            }
            ToolError::new(sentence + ".")
        }
        WorkspaceError::Gone => ToolError::new("The conversation and its files are gone."),
        WorkspaceError::Failed(error) => {
            tracing::error!(%error, "a workspace could not be read or changed");
            ToolError::new("The files cannot be reached right now.")
        }
    }
}

fn refused<T>(reason: impl Into<String>) -> Result<T, WorkspaceError> {
    Err(WorkspaceError::Refused(reason.into()))
}

/// Parses the path of a file or folder.
fn path(written: &str) -> Result<WorkspacePath, WorkspaceError> {
    WorkspacePath::parse(written).or_else(|reason| refused(format!("the path {written:?} is refused: {reason}")))
}

/// Parses the path of a file.
fn file_path(written: &str) -> Result<WorkspacePath, WorkspaceError> {
    WorkspacePath::parse_file(written).or_else(|reason| refused(format!("the path {written:?} is refused: {reason}")))
}

/// Returns that there is no file at a path, with what is there or a similar name.
fn missing<T>(tree: &crate::tree::Tree, path: &WorkspacePath) -> Result<T, WorkspaceError> {
    if tree.is_folder(path) {
        return refused(format!("`{path}` is a folder: list it with {LS}"));
    }
    let name = path.name().to_lowercase();
    let alike = tree.paths().find(|known| known.rsplit('/').next().is_some_and(|known| known.to_lowercase() == name));
    let hint = alike.map_or_else(|| format!("list the files with {LS}"), |known| format!("there is `{known}`"));
    refused(format!("there is no file `{path}`: {hint}"))
}
