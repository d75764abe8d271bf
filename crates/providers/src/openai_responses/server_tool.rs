//! Converts the items of tools that OpenAI runs itself, or defines and the caller runs, to parts
//! that the user sees. The items are also kept as received, because only they can be sent back.

use super::PROVIDER;
use crate::json::text_from_value;
use crate::lenient::tool_name_or_default;
use contract::{Part, ProviderMetadata, Source};
use serde_json::{Map, Value, json};
use std::collections::HashSet;

/// The item type of a call of a remote tool that OpenAI makes once the user approves it. Until then
/// it is a call whose result is the user's decision.
pub(crate) const APPROVAL_REQUEST: &str = "mcp_approval_request";

/// The item type of a call of a remote tool that OpenAI made; it contains the result.
pub(crate) const MCP_CALL: &str = "mcp_call";

/// The state that the tools of a reply share.
#[derive(Default)]
pub(crate) struct ServerToolState {
    /// The ids of hosted tool searches without a result, oldest first: their results name no call.
    pending_searches: Vec<String>,
    /// The ids of files that were reported as sources.
    source_files: HashSet<String>,
    /// Whether the pages of a search were reported as sources.
    pub(crate) has_page_sources: bool,
    source_count: u64,
}

/// Who runs a call.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ToolExecutor {
    Provider,
    Caller,
}

/// Returns the tool name and the executor of a call; `None` if the item is not a call.
pub(crate) fn identify_call(item: &Value) -> Option<(String, ToolExecutor)> {
    let (name, runner) = match item["type"].as_str()? {
        "web_search_call" => ("web_search", ToolExecutor::Provider),
        "file_search_call" => ("file_search", ToolExecutor::Provider),
        "code_interpreter_call" => ("code_interpreter", ToolExecutor::Provider),
        "image_generation_call" => ("image_generation", ToolExecutor::Provider),
        "program" => ("programmatic_tool_calling", ToolExecutor::Provider),
        "tool_search_call" if item["execution"] == "client" => ("tool_search", ToolExecutor::Caller),
        "tool_search_call" => ("tool_search", ToolExecutor::Provider),
        "computer_call" if item["call_id"].is_null() => ("computer_use", ToolExecutor::Provider),
        "computer_call" => ("computer", ToolExecutor::Caller),
        "shell_call" if is_hosted_shell(item) => ("shell", ToolExecutor::Provider),
        "shell_call" => ("shell", ToolExecutor::Caller),
        "local_shell_call" => ("local_shell", ToolExecutor::Caller),
        "apply_patch_call" => ("apply_patch", ToolExecutor::Caller),
        "custom_tool_call" | APPROVAL_REQUEST => {
            return Some((tool_name_or_default(text_from_value(&item["name"])), ToolExecutor::Caller));
        }
        _ => return None,
    };
    Some((name.to_owned(), runner))
}

/// Returns whether the shell runs in one of OpenAI's containers.
fn is_hosted_shell(item: &Value) -> bool {
    item["environment"]["type"].as_str().is_some_and(|kind| kind.starts_with("container"))
}

/// Returns the id with which a call's result refers to it.
pub(crate) fn call_id(item: &Value) -> Option<String> {
    let text = |key: &str| text_from_value(&item[key]).filter(|id| !id.is_empty());
    match item["type"].as_str()? {
        "web_search_call" | "file_search_call" | "code_interpreter_call" | "image_generation_call" => text("id"),
        "tool_search_call" if item["execution"] != "client" => text("id"),
        _ => text("call_id").or_else(|| text("id")),
    }
}

/// Returns whether a call that the caller runs is sent back as the item that was received, with a
/// result of the matching type.
pub(crate) fn is_own_kind(item: &Value) -> bool {
    let kind = item["type"].as_str().unwrap_or_default();
    kind == APPROVAL_REQUEST
        || ["custom_tool_call", "local_shell_call", "shell_call", "apply_patch_call", "computer_call"].contains(&kind)
        || (kind == "tool_search_call" && item["execution"] == "client")
}

/// Returns the tool name that the user sees.
pub(crate) fn display_name(item: &Value, name: &str) -> String {
    if item["type"] == APPROVAL_REQUEST { format!("mcp.{name}") } else { name.to_owned() }
}

/// Creates metadata that is sent back with a call: its item and type, which determine the format of
/// its result.
pub(crate) fn call_metadata(item: &Value, runner: ToolExecutor) -> ProviderMetadata {
    let mut own = json!({ "itemId": item["id"] });
    if runner == ToolExecutor::Caller && is_own_kind(item) {
        own["itemType"] = item["type"].clone();
    }
    if item["type"] == APPROVAL_REQUEST {
        own["approvalRequestId"] = item["id"].clone();
    }
    Map::from_iter([(PROVIDER.to_owned(), own)])
}

/// Returns a call's input, as far as it is known before the result.
pub(crate) fn call_input(item: &Value) -> Value {
    match item["type"].as_str().unwrap_or_default() {
        "code_interpreter_call" => json!({ "containerId": item["container_id"], "code": item["code"] }),
        "program" => json!({ "code": item["code"], "fingerprint": item["fingerprint"] }),
        "tool_search_call" => {
            let call_id = if item["execution"] == "client" { item["call_id"].clone() } else { Value::Null };
            json!({ "arguments": item["arguments"], "call_id": call_id })
        }
        "local_shell_call" => {
            let action = &item["action"];
            json!({ "action": without_nulls(json!({
                "type": "exec",
                "command": action["command"],
                "timeoutMs": action["timeout_ms"],
                "user": action["user"],
                "workingDirectory": action["working_directory"],
                "env": action["env"],
            })) })
        }
        "shell_call" => {
            let action = &item["action"];
            json!({ "action": without_nulls(json!({
                "commands": action["commands"],
                "timeoutMs": action["timeout_ms"],
                "maxOutputLength": action["max_output_length"],
            })) })
        }
        "apply_patch_call" => json!({ "callId": item["call_id"], "operation": item["operation"] }),
        "custom_tool_call" => json!({ "input": item["input"] }),
        APPROVAL_REQUEST => mcp_arguments(item),
        "computer_call" => {
            let one = || Some(&item["action"]).filter(|action| !action.is_null()).into_iter().cloned().collect();
            json!({
                "actions": item["actions"].as_array().cloned().unwrap_or_else(one),
                "pendingSafetyChecks": item["pending_safety_checks"].as_array().cloned().unwrap_or_default(),
                "status": item["status"],
            })
        }
        _ => json!({}),
    }
}

/// Returns the arguments of a remote tool, which may be an object or its JSON as text.
pub(crate) fn mcp_arguments(item: &Value) -> Value {
    let given = text_from_value(&item["arguments"]).and_then(|arguments| serde_json::from_str(&arguments).ok());
    given.filter(Value::is_object).unwrap_or_else(|| json!({}))
}

impl ServerToolState {
    /// Appends what a complete item contains apart from its call: results and sources, and for a
    /// remote tool the call, too. `call` is the id with which the item's own call was reported.
    pub(crate) fn push_results(&mut self, item: &Value, call: Option<String>, parts: &mut Vec<Part>) {
        let id = call.or_else(|| call_id(item)).unwrap_or_default();
        let result = |name: &str, output: Value, is_error: bool| Part::ToolResult {
            id: id.clone(),
            name: name.to_owned(),
            output,
            is_error,
            metadata: None,
        };
        match item["type"].as_str().unwrap_or_default() {
            "web_search_call" => {
                let is_error = item["status"] != "completed";
                let output =
                    if is_error { json!({ "status": item["status"] }) } else { web_search_output(&item["action"]) };
                parts.push(result("web_search", output, is_error));
                self.push_page_sources(&item["action"], parts);
            }
            "file_search_call" => {
                let results = item["results"].as_array();
                let shown = results.map(|results| results.iter().map(file_search_result).collect::<Value>());
                parts.push(result("file_search", json!({ "queries": item["queries"], "results": shown }), false));
                results.into_iter().flatten().for_each(|found| self.push_file_source(found, parts));
            }
            "code_interpreter_call" => {
                parts.push(result("code_interpreter", json!({ "outputs": item["outputs"] }), false));
            }
            "image_generation_call" => {
                parts.push(result("image_generation", json!({ "result": item["result"] }), false));
            }
            "computer_call" if item["call_id"].is_null() => {
                let output = json!({ "type": "computer_use_tool_result", "status": item["status"] });
                parts.push(result("computer_use", output, false));
            }
            "program_output" => {
                let output = json!({ "result": item["result"], "status": item["status"] });
                parts.push(result("programmatic_tool_calling", output, false));
            }
            "shell_call_output" => parts.push(result("shell", shell_output(item), false)),
            "tool_search_call" if item["execution"] != "client" => self.pending_searches.push(id),
            "tool_search_output" => {
                let waiting = || (!self.pending_searches.is_empty()).then(|| self.pending_searches.remove(0));
                let id = item["call_id"].as_str().map(str::to_owned).or_else(waiting);
                let id = id.or_else(|| call_id(item)).unwrap_or_default();
                let (name, output) = ("tool_search".to_owned(), json!({ "tools": item["tools"] }));
                parts.push(Part::ToolResult { id, name, output, is_error: false, metadata: None });
            }
            MCP_CALL => push_mcp_call(item, id, parts),
            _ => {}
        }
    }

    fn push_page_sources(&mut self, action: &Value, parts: &mut Vec<Part>) {
        for source in action["sources"].as_array().into_iter().flatten().filter(|source| source["type"] == "url") {
            let Some(url) = source["url"].as_str() else { continue };
            self.has_page_sources = true;
            let id = self.next_source_id();
            parts.push(Part::Source(Source::Url { id, url: url.to_owned(), title: None, metadata: None }));
        }
    }

    /// Appends a file as a source; once, even if several of its passages were found.
    fn push_file_source(&mut self, found: &Value, parts: &mut Vec<Part>) {
        let Some(file) = found["file_id"].as_str().filter(|file| self.source_files.insert((*file).to_owned())) else {
            return;
        };
        let name = found["filename"].as_str().unwrap_or_default();
        parts.push(self.document_source(name, "text/plain", json!({ "type": "file_search", "fileId": file })));
    }

    /// Returns whether a search reported files as sources.
    pub(crate) fn has_file_sources(&self) -> bool {
        !self.source_files.is_empty()
    }

    /// Returns the id of the next source.
    pub(crate) fn next_source_id(&mut self) -> String {
        self.source_count += 1;
        format!("source-{}", self.source_count)
    }

    /// Creates a document source.
    pub(crate) fn document_source(&mut self, name: &str, media_type: &str, kept: Value) -> Part {
        Part::Source(Source::Document {
            id: self.next_source_id(),
            media_type: media_type.to_owned(),
            title: name.to_owned(),
            filename: Some(name.to_owned()),
            metadata: Some(Map::from_iter([(PROVIDER.to_owned(), kept)])),
        })
    }
}

/// Appends the call of a remote tool that OpenAI made, and its result.
fn push_mcp_call(item: &Value, id: String, parts: &mut Vec<Part>) {
    let called = tool_name_or_default(text_from_value(&item["name"]));
    let name = format!("mcp.{called}");
    let arguments = text_from_value(&item["arguments"]).unwrap_or_default();
    let mut output = json!({
        "type": "call",
        "serverLabel": item["server_label"],
        "name": called,
        "arguments": arguments,
    });
    for key in ["output", "error"] {
        if !item[key].is_null() {
            output[key] = item[key].clone();
        }
    }
    let (provider_executed, metadata) = (true, None);
    parts.push(Part::ToolCall { id: id.clone(), name: name.clone(), input: arguments, provider_executed, metadata });
    parts.push(Part::ToolResult { id, name, output, is_error: false, metadata: None });
}

fn web_search_output(action: &Value) -> Value {
    match action["type"].as_str().unwrap_or_default() {
        "search" => {
            let shown = json!({ "type": "search", "query": action["query"], "queries": action["queries"] });
            without_nulls(json!({ "action": without_nulls(shown), "sources": action["sources"] }))
        }
        "open_page" => json!({ "action": { "type": "openPage", "url": action["url"] } }),
        "find_in_page" => {
            json!({ "action": { "type": "findInPage", "url": action["url"], "pattern": action["pattern"] } })
        }
        _ => json!({}),
    }
}

fn file_search_result(result: &Value) -> Value {
    json!({
        "attributes": result["attributes"],
        "fileId": result["file_id"],
        "filename": result["filename"],
        "score": result["score"],
        "text": result["text"],
    })
}

fn shell_output(item: &Value) -> Value {
    let run = |run: &Value| {
        let outcome = match run["outcome"]["type"].as_str() {
            Some("exit") => json!({ "type": "exit", "exitCode": run["outcome"]["exit_code"] }),
            _ => json!({ "type": "timeout" }),
        };
        json!({ "stdout": run["stdout"], "stderr": run["stderr"], "outcome": outcome })
    };
    let output: Value = item["output"].as_array().into_iter().flatten().map(run).collect();
    without_nulls(json!({ "maxOutputLength": item["max_output_length"], "output": output }))
}

fn without_nulls(mut value: Value) -> Value {
    if let Some(fields) = value.as_object_mut() {
        fields.retain(|_, value| !value.is_null());
    }
    value
}
