//! Adapts messages about tasks of the version 2025-11-25, for which rmcp's types have no fields: its tasks are
//! those of later versions.

use super::MessageHead;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// The key in a tool's `_meta` for its `execution.taskSupport`.
pub(crate) const TASK_SUPPORT: &str = "chatwright/taskSupport";
/// The key in a server's `experimental` capabilities that says that it runs calls of tools as tasks.
pub(crate) const TASK_CALLS: &str = "chatwright/taskCalls";
/// The only key of a result that describes a task.
pub(crate) const TASK: &str = "chatwright/task";

/// Returns a message about tasks in the form that rmcp passes on; `None` for other messages.
pub(super) fn fit(text: &str) -> Option<String> {
    let names = |key: &str| text.contains(key);
    let supported = names("\"taskSupport\"").then(|| keep_task_support(text)).flatten();
    let begun = || names("\"tasks\"").then(|| keep_task_calls(text)).flatten();
    let task = || names("\"taskId\"").then(|| wrap_task(text)).flatten();
    supported.or_else(begun).or_else(task)
}

/// Returns a list of tools with `execution.taskSupport` copied to their `_meta`; `None` for other
/// messages.
fn keep_task_support(text: &str) -> Option<String> {
    let mut message: Value = serde_json::from_str(text).ok()?;
    let mut is_changed = false;
    for tool in message.pointer_mut("/result/tools")?.as_array_mut()? {
        let Some(support) = tool.pointer("/execution/taskSupport").cloned() else { continue };
        if !tool["_meta"].is_object() {
            tool["_meta"] = json!({});
        }
        tool["_meta"][TASK_SUPPORT] = support;
        is_changed = true;
    }
    is_changed.then(|| message.to_string())
}

/// Returns a server's first answer with its capability to run calls as tasks among the `experimental` ones; `None` for
/// other messages.
fn keep_task_calls(text: &str) -> Option<String> {
    let mut message: Value = serde_json::from_str(text).ok()?;
    let capabilities = message.pointer_mut("/result/capabilities")?;
    if !capabilities.pointer("/tasks/requests/tools/call").is_some_and(Value::is_object) {
        return None;
    }
    if !capabilities["experimental"].is_object() {
        capabilities["experimental"] = json!({});
    }
    capabilities["experimental"][TASK_CALLS] = json!({});
    Some(message.to_string())
}

/// The fields of a result that tell whether it describes a task.
#[derive(Deserialize)]
struct TaskFields<'a> {
    /// A new task.
    #[serde(borrow)]
    task: Option<&'a RawValue>,
    /// The id of the task that the result itself is.
    #[serde(borrow, rename = "taskId")]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow, rename = "structuredContent")]
    data: Option<&'a RawValue>,
}

/// Returns a result that describes a task with the task below [`TASK`]; `None` for other messages, also for a call's
/// result.
fn wrap_task(text: &str) -> Option<String> {
    let head: MessageHead<'_> = serde_json::from_str(text).ok()?;
    if head.method.is_some() || head.error.is_some() {
        return None;
    }
    let (id, result) = (head.id?, head.result?);
    let fields: TaskFields<'_> = serde_json::from_str(result.get()).ok()?;
    if fields.content.is_some() || fields.data.is_some() {
        return None;
    }
    let task = fields.task.or_else(|| fields.id.map(|_| result))?;
    let (id, task): (Value, Value) = (serde_json::from_str(id.get()).ok()?, serde_json::from_str(task.get()).ok()?);
    Some(json!({ "jsonrpc": "2.0", "id": id, "result": { TASK: task } }).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(message: &Value, expected: &Value) {
        let text = message.to_string();
        let fitted = super::super::fit(&text, None).into_owned();
        assert_eq!(serde_json::from_str::<Value>(&fitted).unwrap(), *expected, "{text}");
    }

    #[test]
    fn task_support_of_tools_is_kept() {
        let tool = |more: Value| {
            let mut tool = json!({ "name": "t", "inputSchema": {} });
            tool.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            tool
        };
        let listed = |tools: Value| json!({ "jsonrpc": "2.0", "id": 1, "result": { "tools": tools } });
        let required = json!({ "execution": { "taskSupport": "required" } });
        let kept = json!({ "execution": { "taskSupport": "required" }, "_meta": { TASK_SUPPORT: "required" } });
        check(&listed(json!([tool(required), tool(json!({}))])), &listed(json!([tool(kept), tool(json!({}))])));
    }

    #[test]
    fn capability_to_run_tasks_is_kept() {
        let begun =
            |capabilities: Value| json!({ "jsonrpc": "2.0", "id": 1, "result": { "capabilities": capabilities } });
        let tasks = || json!({ "cancel": {}, "requests": { "tools": { "call": {} } } });
        let kept = begun(json!({ "tasks": tasks(), "experimental": { TASK_CALLS: {} } }));
        check(&begun(json!({ "tasks": tasks() })), &kept);
        check(&begun(json!({ "tasks": tasks(), "experimental": 7 })), &kept);
        let other = begun(json!({ "tasks": { "requests": { "sampling": { "createMessage": {} } } } }));
        check(&other, &other);
    }

    #[test]
    fn results_that_describe_a_task_are_wrapped() {
        let answer = |result: Value| json!({ "jsonrpc": "2.0", "id": 1, "result": result });
        let task = || json!({ "taskId": "a", "status": "working", "ttl": 9, "pollInterval": 7 });
        let wrapped = answer(json!({ TASK: task() }));
        check(&answer(task()), &wrapped);
        check(&answer(json!({ "task": task(), "_meta": {} })), &wrapped);
        for kept in [
            answer(json!({ "content": [], "_meta": { "io.modelcontextprotocol/related-task": { "taskId": "a" } } })),
            answer(json!({ "content": [], "taskId": "a" })),
            answer(json!({ "structuredContent": { "taskId": "a" }, "task": { "taskId": "a" } })),
            json!({ "jsonrpc": "2.0", "method": "notifications/tasks/status", "params": task() }),
        ] {
            check(&kept, &kept);
        }
    }
}
