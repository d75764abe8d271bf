//! Converts a server's tools into those that an agent can use.

use crate::apps::ToolUi;
use crate::message::TASK_SUPPORT;
use crate::settings::McpSelection;
use crate::{MAX_DESCRIPTION, MAX_SCHEMA, clean};
use ::settings::compile_patterns;
use contract::{Annotations, OmittedTool, ToolSpec, is_name};
use globset::GlobSet;
use rmcp::model::{Tool, ToolAnnotations};
use schemas::{Schema, SchemaError};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::time::Duration;

/// The maximum size of an unusable name that is shown, in bytes.
const MAX_NAME_SHOWN: usize = 100;
/// The maximum size of a title in bytes.
const MAX_TITLE: usize = 200;

/// A tool of a server, within limits.
#[derive(Clone, Debug)]
pub(crate) struct ListedTool {
    /// The server's name for the tool.
    pub(crate) name: String,
    /// The description that the model reads.
    pub(crate) description: String,
    /// The JSON Schema of the arguments, which are an object.
    pub(crate) schema: Value,
    /// A hash of the description and the schema.
    pub(crate) fingerprint: [u8; 32],
    /// Whether the server declares the tool as idempotent.
    pub(crate) is_idempotent: bool,
    /// Whether the server declares that the tool changes nothing.
    pub(crate) is_read_only: bool,
    /// The title, or else the name, for users.
    pub(crate) title: String,
    /// Its user interface, and who can call it.
    pub(crate) ui: ToolUi,
    /// Whether it can only be called as a task.
    pub(crate) is_task: bool,
}

/// A tool that is called, as it was listed.
#[derive(Clone, Debug)]
pub(crate) struct CalledTool {
    /// The server's name for the tool.
    pub(crate) name: String,
    /// The fingerprint that the user accepts by approving the call.
    pub(crate) fingerprint: [u8; 32],
    /// For a tool that is called as a task, how long the server should keep the task; `None` for others.
    pub(crate) task_time: Option<Duration>,
}

impl CalledTool {
    /// Returns whether a listed tool is still this one.
    pub(crate) fn is(&self, listed: &ListedTool) -> bool {
        let is_same = listed.name == self.name && listed.fingerprint == self.fingerprint;
        is_same && listed.is_task == self.task_time.is_some()
    }
}

/// The tools of a server.
#[derive(Debug)]
pub(crate) struct ServerTools {
    /// The tools that agents can use.
    pub(crate) offered: Vec<ListedTool>,
    /// The tools that they cannot use.
    pub(crate) left_out: Vec<OmittedTool>,
}

/// Reads the tools of a server, which may run calls as tasks. Those that cannot be used are also logged.
pub(crate) async fn read_tools(server: &str, listed: Vec<Tool>, runs_tasks: bool) -> ServerTools {
    let (mut offered, mut left_out) = (Vec::new(), Vec::new());
    for tool in listed {
        let name = clean(&tool.name, MAX_NAME_SHOWN);
        match read_one(tool, runs_tasks).await {
            Ok(tool) => offered.push(tool),
            Err(reason) => {
                tracing::warn!(server, tool = name, "left out a tool of an MCP server: {reason}");
                left_out.push(OmittedTool { name, reason });
            }
        }
    }
    // The order of a server may change between two lists, and the tools come first in what a provider
    // caches.
    offered.sort_by(|one: &ListedTool, other: &ListedTool| one.name.cmp(&other.name));
    ServerTools { offered, left_out }
}

async fn read_one(tool: Tool, runs_tasks: bool) -> Result<ListedTool, String> {
    let name = tool.name.into_owned();
    if !is_name(&name) {
        return Err("its name must have 1 to 64 letters, digits, `_` or `-`".to_owned());
    }
    let support = tool.meta.as_ref().and_then(|meta| meta.get(TASK_SUPPORT)).and_then(Value::as_str);
    let is_task = support == Some("required");
    if is_task && !runs_tasks {
        return Err("it can only be called as a task, and its server does not say that it runs tasks".to_owned());
    }
    let text = serde_json::to_string(&*tool.input_schema).map_err(|error| error.to_string())?;
    if text.len() > MAX_SCHEMA {
        return Err(format!("its schema is larger than {} KB", MAX_SCHEMA >> 10));
    }
    let mut schema = Value::Object((*tool.input_schema).clone());
    clean_texts(&mut schema);
    // Some servers leave the type out, but providers require it.
    schema["type"] = "object".into();
    match Schema::compile_cached(&schema).await {
        // A schema that could not be compiled now is compiled again for each run.
        Ok(_) | Err(SchemaError::Busy) => {}
        Err(SchemaError::Invalid { .. }) => return Err("its schema is not a valid JSON Schema".to_owned()),
        Err(SchemaError::Refused(reason)) => return Err(format!("its schema cannot be used: {}", clean(&reason, 300))),
    }
    let ui = ToolUi::read(tool.meta.as_ref());
    let title = tool.title.as_ref().or_else(|| tool.annotations.as_ref()?.title.as_ref());
    let title = title.map_or_else(|| name.clone(), |title| clean(title, MAX_TITLE));
    let described = tool.description.unwrap_or_default();
    let fingerprint = Sha256::new().chain_update(&*described).chain_update([0]).chain_update(&text).finalize().into();
    let is_hinted = |hint: fn(&ToolAnnotations) -> Option<bool>| tool.annotations.as_ref().and_then(hint) == Some(true);
    let is_read_only = is_hinted(|hints| hints.read_only_hint);
    // A read-only tool is idempotent.
    let is_idempotent = is_read_only || is_hinted(|hints| hints.idempotent_hint);
    let description = clean(&described, MAX_DESCRIPTION);
    Ok(ListedTool { name, description, schema, fingerprint, is_idempotent, is_read_only, title, ui, is_task })
}

/// Sanitizes the texts in a schema, which the model reads like the description.
fn clean_texts(value: &mut Value) {
    match value {
        Value::String(text) => *text = clean(text, MAX_DESCRIPTION),
        Value::Array(values) => values.iter_mut().for_each(clean_texts),
        Value::Object(fields) => fields.values_mut().for_each(clean_texts),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The selection of an agent, with its compiled patterns.
pub(crate) struct ToolSelector {
    allow: Option<GlobSet>,
    deny: GlobSet,
    selection: McpSelection,
}

impl ToolSelector {
    /// Compiles the patterns.
    pub(crate) fn new(selection: McpSelection) -> Result<Self, String> {
        let allow = selection.tools.allow.as_deref().map(compile_patterns).transpose()?;
        Ok(Self { allow, deny: compile_patterns(&selection.tools.deny)?, selection })
    }

    /// Returns whether the agent uses a tool of the server.
    pub(crate) fn is_used(&self, tool: &str) -> bool {
        self.allow.as_ref().is_none_or(|allow| allow.is_match(tool)) && !self.deny.is_match(tool)
    }

    /// Returns the declaration of a tool for whoever calls it, if the agent uses it.
    pub(crate) fn spec(&self, offered: &ListedTool, is_changed: bool) -> Option<ToolSpec> {
        if !self.is_used(&offered.name) {
            return None;
        }
        let name = format!("{}{}", self.selection.prefix, offered.name);
        if !is_name(&name) || tools::RESERVED_NAMES.contains(&name.as_str()) {
            tracing::warn!(tool = name, "left out a tool of an MCP server: the name is reserved, or too long");
            return None;
        }
        let base = self.base();
        Some(ToolSpec {
            name,
            description: offered.description.clone(),
            input_schema: offered.schema.clone(),
            needs_approval: base.needs_approval || is_changed,
            annotations: Annotations {
                idempotent: self.selection.idempotent_hint && offered.is_idempotent,
                reads_only: self.selection.idempotent_hint && offered.is_read_only,
                ..Annotations::default()
            },
            ..base
        })
    }

    /// Returns a declaration with what all tools of the server have in common, without a name.
    pub(crate) fn base(&self) -> ToolSpec {
        ToolSpec {
            needs_approval: self.selection.confirm,
            approval: self.selection.approval.clone(),
            timeout: self.selection.timeout,
            deferrable: true,
            ..ToolSpec::new("", "", Value::Null)
        }
    }

    /// Returns the prefix of the server's tools and prompts.
    pub(crate) fn prefix(&self) -> &str {
        &self.selection.prefix
    }

    /// Returns the name of a tool for the resources or prompts of a server. Without a prefix it begins with the
    /// server's name: agents may have several servers with resources.
    pub(crate) fn content_name(&self, server: &str, what: &str) -> String {
        let prefix = match self.selection.prefix.as_str() {
            "" => {
                let fits = |sign: char| if sign.is_ascii_alphanumeric() { sign } else { '_' };
                format!("{}_", server.chars().map(fits).take(40).collect::<String>())
            }
            prefix => prefix.to_owned(),
        };
        format!("{prefix}{what}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use settings::ToolSelection;

    fn listed(name: &str, description: &str, schema: &Value) -> Tool {
        serde_json::from_value(json!({ "name": name, "description": description, "inputSchema": schema })).unwrap()
    }

    #[tokio::test]
    async fn tools_are_limited_and_sanitized() {
        let check = async |name: &str, description: &str, schema: Value, expected: &str| {
            let read = read_one(listed(name, description, &schema), false).await;
            let seen = read.map_or_else(|problem| problem, |tool| format!("{} {}", tool.description, tool.schema));
            assert_eq!(seen, expected, "{name}");
        };
        let object = || json!({ "type": "object" });
        check("echo", "Says\u{202e} it", object(), r#"Says it {"type":"object"}"#).await;
        check("echo", "", json!({}), r#" {"type":"object"}"#).await;
        let hidden = json!({ "type": "object", "properties": { "a": { "description": "x\u{200b}y" } } });
        check("echo", "", hidden, r#" {"type":"object","properties":{"a":{"description":"xy"}}}"#).await;
        check("no name", "", object(), "its name must have 1 to 64 letters, digits, `_` or `-`").await;
        check("echo", "", json!({ "type": "object", "properties": 1 }), "its schema is not a valid JSON Schema").await;
        check("echo", "", json!({ "title": "x".repeat(70_000) }), "its schema is larger than 64 KB").await;
        let look_around = json!({ "type": "object", "properties": { "a": { "pattern": "(?=x)" } } });
        let reason = "its schema cannot be used: the pattern `(?=x)` needs look-around or a back-reference, which can take unbounded time";
        check("echo", "", look_around, reason).await;
    }

    #[tokio::test]
    async fn tool_that_must_be_called_as_a_task_is_left_out_if_its_server_runs_none() {
        let check = async |support: &str, runs_tasks: bool, expected: Result<bool, &str>| {
            let tool = json!({ "name": "t", "inputSchema": {}, "_meta": { TASK_SUPPORT: support } });
            let read = read_one(serde_json::from_value(tool).unwrap(), runs_tasks).await;
            let seen = read.as_ref().map(|tool| tool.is_task).map_err(String::as_str);
            assert_eq!(seen, expected, "{support} {runs_tasks}");
        };
        let left_out = "it can only be called as a task, and its server does not say that it runs tasks";
        check("required", false, Err(left_out)).await;
        check("required", true, Ok(true)).await;
        check("optional", true, Ok(false)).await;
        check("forbidden", true, Ok(false)).await;
    }

    #[tokio::test]
    async fn the_servers_hints_count_only_if_enabled() {
        let check = async |idempotent_hint: bool, annotations: Value, expected: bool, reads_only: bool| {
            let selected = ToolSelector::new(McpSelection {
                tools: ToolSelection::default(),
                prefix: String::new(),
                confirm: false,
                approval: contract::ApprovalTerms::default(),
                timeout: Duration::from_secs(1),
                idempotent_hint,
            });
            let tool = json!({ "name": "t", "inputSchema": { "type": "object" }, "annotations": annotations });
            let offered = read_one(serde_json::from_value(tool).unwrap(), false).await.unwrap();
            let spec = selected.unwrap().spec(&offered, false).unwrap();
            let seen = (spec.annotations.idempotent, spec.annotations.reads_only);
            assert_eq!(seen, (expected, reads_only), "{idempotent_hint} {annotations}");
        };
        check(true, json!({ "idempotentHint": true }), true, false).await;
        check(true, json!({ "readOnlyHint": true }), true, true).await;
        check(true, json!({ "idempotentHint": false }), false, false).await;
        check(true, json!({}), false, false).await;
        check(true, Value::Null, false, false).await;
        check(false, json!({ "idempotentHint": true, "readOnlyHint": true }), false, false).await;
    }

    #[tokio::test]
    async fn the_selection_filters_and_prefixes_tools() {
        let check = async |allow: Option<&[&str]>, deny: &[&str], prefix: &str, expected: &[&str]| {
            let owned = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
            let selected = ToolSelector::new(McpSelection {
                tools: ToolSelection { allow: allow.map(owned), deny: owned(deny) },
                prefix: prefix.to_owned(),
                confirm: false,
                approval: contract::ApprovalTerms::default(),
                timeout: Duration::from_secs(1),
                idempotent_hint: false,
            });
            let names = ["read_one", "read_two", "write", "read-file"];
            let tools = names.iter().map(|name| listed(name, "", &json!({}))).collect();
            let listed = read_tools("s", tools, false).await;
            let specs = listed.offered.iter().filter_map(|tool| selected.as_ref().unwrap().spec(tool, false));
            assert_eq!(specs.map(|spec| spec.name).collect::<Vec<_>>(), expected);
        };
        check(None, &[], "", &["read_one", "read_two", "write"]).await;
        check(None, &[], "s__", &["s__read-file", "s__read_one", "s__read_two", "s__write"]).await;
        check(Some(&["read_*"]), &["*_two"], "", &["read_one"]).await;
        check(Some(&[]), &[], "", &[]).await;
    }
}
