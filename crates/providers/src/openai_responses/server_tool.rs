//! Items of tools: those that OpenAI runs itself, and those that it knows and the caller runs. What a user sees of them; beside
//! that the items are kept as they came, since only they may go back.

use super::PROVIDER;
use crate::json::text_in;
use crate::lenient::tool_name;
use contract::{Part, ProviderMetadata, Source};
use serde_json::{Map, Value, json};
use std::collections::HashSet;

/// A call of a remote tool that OpenAI makes itself, once the user says yes. Until then it is a call of ours, whose result is the
/// user's answer.
pub(crate) const APPROVAL_REQUEST: &str = "mcp_approval_request";

/// A call of a remote tool that OpenAI has made; it comes with its result.
pub(crate) const REMOTE_CALL: &str = "mcp_call";

/// What the tools of a reply share.
#[derive(Default)]
pub(crate) struct Tools {
    /// Calls that wait for the item with their result, oldest first: hosted tool searches name no call.
    searches: Vec<String>,
    /// Files that were told as sources.
    files: HashSet<String>,
    /// Whether a search's pages were told.
    pub(crate) has_pages: bool,
    sources: u64,
}

/// Who runs the call that an item is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Runner {
    Provider,
    Caller,
}

/// A call's name and who runs it; none for an item that is no call.
pub(crate) fn call_of(item: &Value) -> Option<(String, Runner)> {
    let (name, runner) = match item["type"].as_str()? {
        "web_search_call" => ("web_search", Runner::Provider),
        "file_search_call" => ("file_search", Runner::Provider),
        "code_interpreter_call" => ("code_interpreter", Runner::Provider),
        "image_generation_call" => ("image_generation", Runner::Provider),
        "program" => ("programmatic_tool_calling", Runner::Provider),
        "tool_search_call" if item["execution"] == "client" => ("tool_search", Runner::Caller),
        "tool_search_call" => ("tool_search", Runner::Provider),
        "computer_call" if item["call_id"].is_null() => ("computer_use", Runner::Provider),
        "computer_call" => ("computer", Runner::Caller),
        "shell_call" if is_hosted(item) => ("shell", Runner::Provider),
        "shell_call" => ("shell", Runner::Caller),
        "local_shell_call" => ("local_shell", Runner::Caller),
        "apply_patch_call" => ("apply_patch", Runner::Caller),
        "custom_tool_call" | APPROVAL_REQUEST => return Some((tool_name(text_in(&item["name"])), Runner::Caller)),
        _ => return None,
    };
    Some((name.to_owned(), runner))
}

/// Where the shell is a container of OpenAI's.
fn is_hosted(item: &Value) -> bool {
    item["environment"]["type"].as_str().is_some_and(|kind| kind.starts_with("container"))
}

/// The id under which a call's result refers to it.
pub(crate) fn call_id(item: &Value) -> Option<String> {
    let text = |key: &str| text_in(&item[key]).filter(|id| !id.is_empty());
    match item["type"].as_str()? {
        "web_search_call" | "file_search_call" | "code_interpreter_call" | "image_generation_call" => text("id"),
        "tool_search_call" if item["execution"] != "client" => text("id"),
        _ => text("call_id").or_else(|| text("id")),
    }
}

/// Whether a call that the caller runs goes back as the item that it came as, with a result of the kind that belongs to it.
pub(crate) fn is_own_kind(item: &Value) -> bool {
    let kind = item["type"].as_str().unwrap_or_default();
    kind == APPROVAL_REQUEST
        || ["custom_tool_call", "local_shell_call", "shell_call", "apply_patch_call", "computer_call"].contains(&kind)
        || (kind == "tool_search_call" && item["execution"] == "client")
}

/// The name that a user sees.
pub(crate) fn shown_name(item: &Value, name: &str) -> String {
    if item["type"] == APPROVAL_REQUEST { format!("mcp.{name}") } else { name.to_owned() }
}

/// What goes back with a call: which item it was, so that its result can be written as the API wants it.
pub(crate) fn metadata(item: &Value, runner: Runner) -> ProviderMetadata {
    let mut own = json!({ "itemId": item["id"] });
    if runner == Runner::Caller && is_own_kind(item) {
        own["itemType"] = item["type"].clone();
    }
    if item["type"] == APPROVAL_REQUEST {
        own["approvalRequestId"] = item["id"].clone();
    }
    Map::from_iter([(PROVIDER.to_owned(), own)])
}

/// A call's input, as far as there is one before the result.
pub(crate) fn input(item: &Value) -> Value {
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
        APPROVAL_REQUEST => arguments(item),
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

/// The arguments of a remote tool: an object, or its JSON.
pub(crate) fn arguments(item: &Value) -> Value {
    let given = text_in(&item["arguments"]).and_then(|arguments| serde_json::from_str(&arguments).ok());
    given.filter(Value::is_object).unwrap_or_else(|| json!({}))
}

impl Tools {
    /// Appends what a complete item brings beside its call: results and sources, of a remote tool the call as well. `call` is the id
    /// under which the item's own call was told.
    pub(crate) fn complete(&mut self, item: &Value, call: Option<String>, parts: &mut Vec<Part>) {
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
                let output = if is_error { json!({ "status": item["status"] }) } else { web_search(&item["action"]) };
                parts.push(result("web_search", output, is_error));
                self.pages(&item["action"], parts);
            }
            "file_search_call" => {
                let results = item["results"].as_array();
                let shown = results.map(|results| results.iter().map(found).collect::<Value>());
                parts.push(result("file_search", json!({ "queries": item["queries"], "results": shown }), false));
                results.into_iter().flatten().for_each(|found| self.file(found, parts));
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
            "tool_search_call" if item["execution"] != "client" => self.searches.push(id),
            "tool_search_output" => {
                let waiting = || (!self.searches.is_empty()).then(|| self.searches.remove(0));
                let id = item["call_id"].as_str().map(str::to_owned).or_else(waiting);
                let id = id.or_else(|| call_id(item)).unwrap_or_default();
                let (name, output) = ("tool_search".to_owned(), json!({ "tools": item["tools"] }));
                parts.push(Part::ToolResult { id, name, output, is_error: false, metadata: None });
            }
            REMOTE_CALL => remote(item, id, parts),
            _ => {}
        }
    }

    fn pages(&mut self, action: &Value, parts: &mut Vec<Part>) {
        for source in action["sources"].as_array().into_iter().flatten().filter(|source| source["type"] == "url") {
            let Some(url) = source["url"].as_str() else { continue };
            self.has_pages = true;
            let id = self.source_id();
            parts.push(Part::Source(Source::Url { id, url: url.to_owned(), title: None, metadata: None }));
        }
    }

    /// A file is told once, however many of its pieces were found.
    fn file(&mut self, found: &Value, parts: &mut Vec<Part>) {
        let Some(file) = found["file_id"].as_str().filter(|file| self.files.insert((*file).to_owned())) else { return };
        let name = found["filename"].as_str().unwrap_or_default();
        parts.push(self.document(name, "text/plain", json!({ "type": "file_search", "fileId": file })));
    }

    /// Whether the search that found the cited files has told them.
    pub(crate) fn has_files(&self) -> bool {
        !self.files.is_empty()
    }

    /// The next source's id.
    pub(crate) fn source_id(&mut self) -> String {
        self.sources += 1;
        format!("source-{}", self.sources)
    }

    /// A document as a source.
    pub(crate) fn document(&mut self, name: &str, media_type: &str, kept: Value) -> Part {
        Part::Source(Source::Document {
            id: self.source_id(),
            media_type: media_type.to_owned(),
            title: name.to_owned(),
            filename: Some(name.to_owned()),
            metadata: Some(Map::from_iter([(PROVIDER.to_owned(), kept)])),
        })
    }
}

/// A call of a tool on a server that OpenAI asks comes with its result.
fn remote(item: &Value, id: String, parts: &mut Vec<Part>) {
    let called = tool_name(text_in(&item["name"]));
    let name = format!("mcp.{called}");
    let arguments = text_in(&item["arguments"]).unwrap_or_default();
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

fn web_search(action: &Value) -> Value {
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

fn found(result: &Value) -> Value {
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
