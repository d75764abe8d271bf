//! Determines how calls and their results are sent back. Most are function calls. The API requires
//! item types of their own for custom tools, for remote tools that need an approval, and for tools
//! that OpenAI defines and the caller runs.

use super::PROVIDER;
use super::request::{own_metadata, user_part};
use super::server_tool::{self, APPROVAL_REQUEST};
use contract::{AssistantPart, FileData, Message, ToolCall, ToolOutput, ToolResult, UserPart};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The formats of the results that are not plain function results.
pub(super) struct ResultFormats<'a> {
    formats: HashMap<&'a str, ResultFormat<'a>>,
    /// The ids of calls that arrived as items of a type of their own, but whose results that type
    /// cannot represent. Both are sent as function calls.
    as_functions: HashSet<&'a str>,
}

/// The format of a call's result.
enum ResultFormat<'a> {
    /// The result of a tool with text as input.
    Custom,
    /// The response to an approval request. `input` is the arguments that the user approved.
    Approval { request_id: &'a str, input: &'a Value, is_changed: bool },
    /// An item of a type of its own.
    OwnItem(Value),
    /// A function result, with the program at the provider that called the function.
    Program(&'a Value),
}

impl<'a> ResultFormats<'a> {
    /// Returns the formats for the calls of a conversation.
    pub(super) fn from_messages(messages: &'a [Arc<Message>]) -> Self {
        let results = messages.iter().filter_map(|message| match &**message {
            Message::Tool(results) => Some(results),
            _ => None,
        });
        let results: HashMap<_, _> =
            results.flatten().map(|result| (result.call_id.as_str(), &result.output)).collect();
        let mut forms = Self { formats: HashMap::new(), as_functions: HashSet::new() };
        for message in messages {
            let Message::Assistant(parts) = &**message else { continue };
            for part in parts {
                if let AssistantPart::ToolCall(call) = part
                    && !call.provider_executed
                {
                    forms.add_call(call, parts, results.get(call.id.as_str()).copied());
                }
            }
        }
        forms
    }

    fn add_call(&mut self, call: &'a ToolCall, parts: &'a [AssistantPart], result: Option<&ToolOutput>) {
        let metadata = call.metadata.as_ref();
        let kind = own_metadata(metadata, "itemType").and_then(Value::as_str);
        let form = match kind {
            Some(APPROVAL_REQUEST) => approval_format(call, parts),
            Some("custom_tool_call") => Some(ResultFormat::Custom),
            Some(kind) => result.and_then(|result| own_kind_result(kind, call, result)).map(ResultFormat::OwnItem),
            None => match own_metadata(metadata, "caller") {
                Some(caller) => Some(ResultFormat::Program(caller)),
                None => return,
            },
        };
        match form {
            Some(form) => {
                self.formats.insert(&call.id, form);
            }
            None => {
                self.as_functions.insert(&call.id);
            }
        }
    }

    /// Returns whether a call is sent back as the item that was received.
    pub(super) fn is_sent_as_item(&self, call_id: &str) -> bool {
        self.formats.get(call_id).is_some_and(|form| !matches!(form, ResultFormat::Program(_)))
    }

    /// Returns whether an item is omitted because its call is sent as a function call.
    pub(super) fn is_omitted(&self, item: &Value) -> bool {
        item["call_id"].as_str().is_some_and(|id| self.as_functions.contains(id)) && server_tool::is_own_kind(item)
    }

    /// Converts a result to the format of its call.
    pub(super) fn result_item(&self, result: &ToolResult) -> Value {
        let (kind, caller) = match self.formats.get(result.call_id.as_str()) {
            Some(ResultFormat::Approval { request_id, input, is_changed }) => {
                return approval_response(request_id, &result.output, is_changed.then_some(*input));
            }
            Some(ResultFormat::OwnItem(item)) => return item.clone(),
            Some(ResultFormat::Custom) => ("custom_tool_call_output", None),
            Some(ResultFormat::Program(caller)) => ("function_call_output", Some(*caller)),
            None => ("function_call_output", None),
        };
        let output = match &result.output {
            ToolOutput::Content(parts) => parts.iter().cloned().map(|part| user_part(&part.into())).collect(),
            other => Value::from(other.to_text()),
        };
        let mut item = json!({ "type": kind, "call_id": result.call_id, "output": output });
        if let Some(caller) = caller {
            item["caller"] = caller.clone();
        }
        item
    }
}

fn approval_format<'a>(call: &'a ToolCall, parts: &[AssistantPart]) -> Option<ResultFormat<'a>> {
    let request_id = own_metadata(call.metadata.as_ref(), "approvalRequestId")?.as_str()?;
    let is_changed = !parts.iter().any(|part| match part {
        AssistantPart::ProviderItem { provider, item } => {
            provider == PROVIDER && item["id"] == request_id && server_tool::mcp_arguments(item) == call.input
        }
        _ => false,
    });
    Some(ResultFormat::Approval { request_id, input: &call.input, is_changed })
}

/// Creates the response to an approval request. An approval of changed arguments is sent as a
/// rejection that names them, because OpenAI would use the original ones.
fn approval_response(request_id: &str, output: &ToolOutput, changed: Option<&Value>) -> Value {
    let mut answer = json!({ "type": "mcp_approval_response", "approval_request_id": request_id });
    let reason = match changed {
        _ if output.is_error() => Some(output.to_text()),
        Some(input) => Some(format!("The user approves only these arguments: {input}")),
        None => None,
    };
    answer["approve"] = reason.is_none().into();
    if let Some(reason) = reason {
        answer["reason"] = reason.into();
    }
    answer
}

/// Converts the result of a tool that OpenAI defines and the caller runs, from the AI SDK's format
/// or plain text; `None` if the item type cannot represent it, such as a screenshot without an
/// image.
fn own_kind_result(kind: &str, call: &ToolCall, output: &ToolOutput) -> Option<Value> {
    let data = match output {
        ToolOutput::Json(value) => value,
        _ => &Value::Null,
    };
    let to_text = || output.to_text();
    let mut item = match kind {
        "local_shell_call" => {
            let text = data["output"].as_str().map_or_else(to_text, str::to_owned);
            json!({ "type": "local_shell_call_output", "output": text })
        }
        "shell_call" => json!({ "type": "shell_call_output", "output": shell_outputs(data, output) }),
        "apply_patch_call" => {
            let is_failed = output.is_error() || data["status"] == "failed";
            let text = if data.is_null() { Some(to_text()) } else { data["output"].as_str().map(str::to_owned) };
            let mut item = json!({ "type": "apply_patch_call_output" });
            item["status"] = if is_failed { "failed" } else { "completed" }.into();
            if let Some(text) = text {
                item["output"] = text.into();
            }
            item
        }
        "tool_search_call" => {
            let tools = data["tools"].as_array().cloned().unwrap_or_default();
            json!({ "type": "tool_search_output", "execution": "client", "status": "completed", "tools": tools })
        }
        "computer_call" => {
            let mut item = json!({ "type": "computer_call_output", "output": screenshot(data, output)? });
            if let Some(checks) = data["acknowledgedSafetyChecks"].as_array() {
                item["acknowledged_safety_checks"] = checks.clone().into();
            }
            item
        }
        _ => return None,
    };
    item["call_id"] = call.id.as_str().into();
    let limit = &call.input["action"]["maxOutputLength"];
    if kind == "shell_call" && !limit.is_null() {
        item["max_output_length"] = limit.clone();
    }
    Some(item)
}

/// Returns the outputs of a shell's commands, one entry each.
fn shell_outputs(data: &Value, output: &ToolOutput) -> Vec<Value> {
    let exit = |code: Value| json!({ "type": "exit", "exit_code": code });
    if let Some(runs) = data["output"].as_array() {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let run = |run: &Value| {
            let outcome = &run["outcome"];
            let code = [&outcome["exitCode"], &outcome["exit_code"]].into_iter().find(|code| !code.is_null());
            let outcome = match outcome["type"].as_str() {
                Some("timeout") => json!({ "type": "timeout" }),
                _ => exit(code.cloned().unwrap_or_else(|| 0.into())),
            };
            json!({ "stdout": text(&run["stdout"]), "stderr": text(&run["stderr"]), "outcome": outcome })
        };
        return runs.iter().map(run).collect();
    }
    let (stdout, stderr) =
        if output.is_error() { (String::new(), output.to_text()) } else { (output.to_text(), String::new()) };
    let code = u8::from(output.is_error());
    vec![json!({ "stdout": stdout, "stderr": stderr, "outcome": exit(code.into()) })]
}

/// Returns the image of a screen.
fn screenshot(data: &Value, output: &ToolOutput) -> Option<Value> {
    let mut picture = json!({ "type": "computer_screenshot" });
    for (key, known) in [("image_url", "imageUrl"), ("file_id", "fileId")] {
        if let Some(value) = data["output"][known].as_str() {
            picture[key] = value.into();
            return Some(picture);
        }
    }
    let ToolOutput::Content(parts) = output else { return None };
    let url = parts.iter().cloned().find_map(|part| match part.into() {
        UserPart::File { media_type, data: FileData::Base64(data), .. } if media_type.starts_with("image/") => {
            Some(format!("data:{media_type};base64,{data}"))
        }
        _ => None,
    })?;
    picture["image_url"] = url.into();
    Some(picture)
}

#[cfg(test)]
mod tests {
    use super::*;
    use contract::OutputPart;

    /// Checks the items that are sent back for a call of a tool that OpenAI defines, and for its
    /// result.
    #[test]
    fn results_of_client_tools_are_converted() {
        let mut shown = String::new();
        let mut check = |kind: &str, input: Value, output: ToolOutput| {
            let metadata = json!({ "openai": { "itemId": "i1", "itemType": kind } });
            let call = ToolCall {
                id: "c1".to_owned(),
                name: "tool".to_owned(),
                input,
                provider_executed: false,
                metadata: serde_json::from_value(metadata).unwrap(),
            };
            let item = json!({ "type": kind, "call_id": "c1", "execution": "client" });
            let item = AssistantPart::ProviderItem { provider: PROVIDER.to_owned(), item };
            let result = ToolResult { call_id: "c1".to_owned(), name: "tool".to_owned(), output, metadata: None };
            let messages =
                vec![Message::Assistant(vec![AssistantPart::ToolCall(call), item]), Message::Tool(vec![result])];
            let body = super::super::request::body("gpt-5", &crate::testing::request(messages));
            for item in body["input"].as_array().unwrap() {
                shown += &format!("{item}\n");
            }
        };
        let runs = json!([{ "stdout": "a", "stderr": "", "outcome": { "type": "exit", "exitCode": 2 } }, { "outcome": { "type": "timeout" } }]);
        check("shell_call", json!({ "action": { "maxOutputLength": 9 } }), ToolOutput::Json(json!({ "output": runs })));
        check("shell_call", json!({}), ToolOutput::ErrorText("no shell".to_owned()));
        check("local_shell_call", json!({}), ToolOutput::Json(json!({ "output": "a" })));
        check("apply_patch_call", json!({}), ToolOutput::Text("done".to_owned()));
        check("apply_patch_call", json!({}), ToolOutput::Json(json!({ "status": "failed" })));
        check("tool_search_call", json!({}), ToolOutput::Json(json!({ "tools": [{ "type": "function" }] })));
        let picture = OutputPart::File { media_type: "image/png".to_owned(), data: "aGk=".to_owned() };
        check("computer_call", json!({}), ToolOutput::Content(vec![picture]));
        check("computer_call", json!({ "actions": [] }), ToolOutput::ErrorText("no screen".to_owned()));
        insta::assert_snapshot!(shown.trim(), @r##"
        {"type":"shell_call","call_id":"c1","execution":"client"}
        {"type":"shell_call_output","output":[{"stdout":"a","stderr":"","outcome":{"type":"exit","exit_code":2}},{"stdout":"","stderr":"","outcome":{"type":"timeout"}}],"call_id":"c1","max_output_length":9}
        {"type":"shell_call","call_id":"c1","execution":"client"}
        {"type":"shell_call_output","output":[{"stdout":"","stderr":"no shell","outcome":{"type":"exit","exit_code":1}}],"call_id":"c1"}
        {"type":"local_shell_call","call_id":"c1","execution":"client"}
        {"type":"local_shell_call_output","output":"a","call_id":"c1"}
        {"type":"apply_patch_call","call_id":"c1","execution":"client"}
        {"type":"apply_patch_call_output","status":"completed","output":"done","call_id":"c1"}
        {"type":"apply_patch_call","call_id":"c1","execution":"client"}
        {"type":"apply_patch_call_output","status":"failed","call_id":"c1"}
        {"type":"tool_search_call","call_id":"c1","execution":"client"}
        {"type":"tool_search_output","execution":"client","status":"completed","tools":[{"type":"function"}],"call_id":"c1"}
        {"type":"computer_call","call_id":"c1","execution":"client"}
        {"type":"computer_call_output","output":{"type":"computer_screenshot","image_url":"data:image/png;base64,aGk="},"call_id":"c1"}
        {"type":"function_call","call_id":"c1","name":"tool","arguments":"{\"actions\":[]}"}
        {"type":"function_call_output","call_id":"c1","output":"no screen"}
        "##);
    }
}
