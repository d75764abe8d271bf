//! Calls of tools that their server runs as tasks only
//! (<https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks>): the answer to the call is a task, of
//! which the server is asked until it has a result.
//!
//! rmcp has no types for these tasks, so the requests are custom ones, and [`crate::message`] wraps the answers.

use super::{Connection, NO_RESULT, RequestError, STOPPED, call_options, cancel_and_ping, has_responded};
use crate::events::FollowedCall;
use crate::failure::FailureKind;
use crate::message::{TASK, TASK_CALLS};
use crate::{LIST_TIME, MAX_ERROR, PROBE_TIME, clean};
use contract::{CallReports, ToolContext, ToolError};
use rmcp::model::{
    CallToolResult, CancelledNotificationParam, ClientRequest, CustomRequest, CustomResult, JsonObject, RequestId,
    ServerResult,
};
use rmcp::service::{Peer, PeerRequestOptions, RoleClient, ServiceError};
use serde_json::{Value, json};
use std::ops::RangeInclusive;
use std::time::Duration;

/// The shortest and the longest time between two requests for the state of a task, in milliseconds.
const INTERVALS: RangeInclusive<u64> = 500..=10_000;
/// The time between two requests if the server does not say it, in milliseconds.
const DEFAULT_INTERVAL: u64 = 1000;
/// The maximum size of the id of a task in bytes.
const MAX_TASK_ID: usize = 500;
/// The maximum size of the message about the state of a task in bytes.
const MAX_STATUS: usize = 300;

/// The state of a task, from the last answer of its server.
#[derive(Debug, PartialEq)]
struct Task {
    id: String,
    status: TaskStatus,
    /// The server's message about the state.
    message: Option<String>,
    /// The time until the next request for the state.
    interval: Duration,
}

/// The state of a task.
#[derive(Clone, Copy, Debug, PartialEq)]
enum TaskStatus {
    /// It runs.
    Working,
    /// It waits for the user. The question comes with the answer to the request for the result.
    InputRequired,
    /// It has a result.
    Completed,
    /// It has failed; the result is an error.
    Failed,
    /// The server has ended it.
    Cancelled,
}

impl Task {
    /// Reads an answer; `None` if it is no task.
    fn read(answer: &ServerResult) -> Option<Self> {
        let ServerResult::CustomResult(CustomResult(answer)) = answer else { return None };
        let task = answer.get(TASK)?;
        let text = |key: &str| task.get(key).and_then(Value::as_str);
        let status = match text("status")? {
            "working" => TaskStatus::Working,
            "input_required" => TaskStatus::InputRequired,
            "completed" => TaskStatus::Completed,
            "failed" => TaskStatus::Failed,
            "cancelled" => TaskStatus::Cancelled,
            _ => return None,
        };
        let id = text("taskId").filter(|id| !id.is_empty() && id.len() <= MAX_TASK_ID)?.to_owned();
        let message = text("statusMessage").map(|message| clean(message, MAX_STATUS));
        let interval = task.get("pollInterval").and_then(Value::as_u64).unwrap_or(DEFAULT_INTERVAL);
        let interval = Duration::from_millis(interval.clamp(*INTERVALS.start(), *INTERVALS.end()));
        Some(Self { id, status, message: message.filter(|message| !message.is_empty()), interval })
    }
}

impl Connection {
    /// Returns whether the server runs calls of tools as tasks.
    pub(super) fn runs_tasks(&self) -> bool {
        let info = self.service.peer().peer_info();
        info.is_some_and(|info| info.capabilities.experimental.as_ref().is_some_and(|all| all.contains_key(TASK_CALLS)))
    }

    /// Calls a tool as a task, which the server should keep for this time. See [`Connection::call`].
    pub(super) async fn call_as_task(
        &self,
        tool: &str,
        time: Duration,
        arguments: JsonObject,
        context: ToolContext,
        gone: impl Future<Output = ()> + Send + 'static,
    ) -> Result<CallToolResult, RequestError> {
        let terms = json!({ "ttl": time.as_millis() as u64 });
        let called = request("tools/call", json!({ "name": tool, "arguments": arguments, "task": terms }));
        let sending = self.events.sending();
        let sent = self.service.peer().send_cancellable_request(called, call_options(&context));
        let handle = sent.await.map_err(|error| self.request_error(tool, &error))?;
        let following = sending.follow(&handle, context.clone());
        let (peer, request_id) = (handle.peer.clone(), handle.id.clone());
        let mut created = Box::pin(handle.await_response());
        let answer = tokio::select! {
            answer = &mut created => answer,
            () = context.cancel.cancelled() => {
                let ending = async move {
                    // Only the answer names the task, which would otherwise go on.
                    match tokio::time::timeout(PROBE_TIME, created).await {
                        Ok(answer) => {
                            let task = answer.as_ref().ok().and_then(Task::read);
                            match task {
                                Some(task) => cancel_task(&peer, &task.id, None).await,
                                None => has_responded(&answer),
                            }
                        }
                        Err(_) => cancel_and_ping(&peer, request_id).await,
                    }
                };
                self.end_in_background(ending, gone);
                return Err(RequestError::Answered(ToolError::new(STOPPED)));
            }
        };
        let answer = match answer {
            // It has run at once.
            Ok(ServerResult::CallToolResult(result)) => return Ok(result),
            Ok(answer) => answer,
            Err(error) => return Err(self.call_error(tool, &error, &context).await),
        };
        match Task::read(&answer) {
            Some(task) => self.finish_task(tool, task, following, context, gone).await,
            None => Err(RequestError::Answered(ToolError::new(NO_RESULT))),
        }
    }

    /// Waits for the result of a task.
    async fn finish_task(
        &self,
        tool: &str,
        task: Task,
        following: FollowedCall,
        context: ToolContext,
        gone: impl Future<Output = ()> + Send + 'static,
    ) -> Result<CallToolResult, RequestError> {
        let (id, peer) = (task.id.clone(), self.service.peer().clone());
        let waited = tokio::select! {
            waited = self.wait_for_task(tool, task, &context.reports) => waited,
            () = context.cancel.cancelled() => {
                self.end_in_background(async move { cancel_task(&peer, &id, None).await }, gone);
                return Err(RequestError::Answered(ToolError::new(STOPPED)));
            }
        };
        let status = match waited {
            Ok(status) => status,
            Err(error) => {
                // It may still run, although its result is not asked for any more.
                if matches!(error, RequestError::Answered(_)) {
                    self.end_in_background(async move { cancel_task(&peer, &id, None).await }, gone);
                }
                return Err(error);
            }
        };
        let sending = following.continue_with_request();
        let wanted = request("tasks/result", json!({ "taskId": id }));
        let sent = peer.send_cancellable_request(wanted, PeerRequestOptions::no_options()).await;
        let handle = sent.map_err(|error| self.task_error(tool, &error))?;
        let _following = sending.follow(&handle, context.clone());
        let request_id = handle.id.clone();
        let answer = tokio::select! {
            answer = handle.await_response() => answer,
            () = context.cancel.cancelled() => {
                self.end_in_background(async move { cancel_task(&peer, &id, Some(request_id)).await }, gone);
                return Err(RequestError::Answered(ToolError::new(STOPPED)));
            }
        };
        let failed = match answer {
            Ok(ServerResult::CallToolResult(mut result)) => {
                if status == TaskStatus::Failed {
                    result.is_error = Some(true);
                }
                return Ok(result);
            }
            Ok(_) => RequestError::Answered(ToolError::new(NO_RESULT)),
            Err(error) => self.task_error(tool, &error),
        };
        // Otherwise it may wait for the user without end.
        if status == TaskStatus::InputRequired && matches!(failed, RequestError::Answered(_)) {
            self.end_in_background(async move { cancel_task(&peer, &id, None).await }, gone);
        }
        Err(failed)
    }

    /// Asks for the state of a task until its result can be asked for, and reports the server's messages about it.
    async fn wait_for_task(
        &self,
        tool: &str,
        mut task: Task,
        reports: &CallReports,
    ) -> Result<TaskStatus, RequestError> {
        let (mut shown, mut changes) = (None, 0_u64);
        loop {
            if task.message.is_some() && task.message != shown {
                changes += 1;
                reports.progress(json!({ "progress": changes, "message": task.message }));
                shown.clone_from(&task.message);
            }
            match task.status {
                TaskStatus::Working => {}
                TaskStatus::Cancelled => {
                    let why = task.message.as_deref().unwrap_or("the server has cancelled it");
                    return Err(without_result(why));
                }
                status => return Ok(status),
            }
            tokio::time::sleep(task.interval).await;
            let asked = self.service.peer().send_request(request("tasks/get", json!({ "taskId": task.id })));
            let answer = tokio::time::timeout(LIST_TIME, asked).await;
            let answer = answer.unwrap_or(Err(ServiceError::Timeout { timeout: LIST_TIME }));
            let answer = answer.map_err(|error| self.task_error(tool, &error))?;
            let Some(next) = Task::read(&answer) else {
                return Err(without_result("the server's answer does not say what its state is"));
            };
            task = Task { id: task.id, ..next };
        }
    }

    /// Returns why a task has no result. The call has run, whatever the server says of the later request, so it counts
    /// neither as refused nor as unauthorized: it would be made again.
    fn task_error(&self, tool: &str, error: &ServiceError) -> RequestError {
        if let FailureKind::Answered(why) = FailureKind::from_service(error) {
            return without_result(&why);
        }
        tracing::warn!(server = self.name, tool, %error, last_words = self.last_words(), "a task of an MCP server was lost");
        self.lost()
    }
}

/// Returns the error of a task that has no result.
fn without_result(why: &str) -> RequestError {
    let why = clean(why.trim_end_matches('.'), MAX_ERROR);
    RequestError::Answered(ToolError::new(format!(
        "The task has no result: {why}. The call may or may not have had an effect."
    )))
}

fn request(method: &str, params: Value) -> ClientRequest {
    ClientRequest::CustomRequest(CustomRequest::new(method, Some(params)))
}

/// Cancels a task, and the request for its result if there is one. Returns whether the server still responds.
async fn cancel_task(peer: &Peer<RoleClient>, id: &str, waiting: Option<RequestId>) -> bool {
    let asked = async {
        let answer = peer.send_request(request("tasks/cancel", json!({ "taskId": id }))).await;
        if waiting.is_some() {
            let _ = peer.notify_cancelled(CancelledNotificationParam::new(waiting, None)).await;
        }
        answer
    };
    tokio::time::timeout(PROBE_TIME, asked).await.is_ok_and(|answer| has_responded(&answer))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::fit;
    use rmcp::model::ServerJsonRpcMessage;

    #[test]
    fn tasks_are_read_from_answers() {
        let check = |result: Value, expected: Option<(TaskStatus, Option<&str>, u64)>| {
            let text = json!({ "jsonrpc": "2.0", "id": 1, "result": result }).to_string();
            let message: ServerJsonRpcMessage = serde_json::from_str(&fit(&text, None)).unwrap();
            let ServerJsonRpcMessage::Response(answer) = message else { panic!("{text}") };
            let read = Task::read(&answer.result);
            let seen = read.as_ref().map(|task| {
                assert_eq!(task.id, "a", "{text}");
                (task.status, task.message.as_deref(), task.interval.as_millis() as u64)
            });
            assert_eq!(seen, expected, "{text}");
        };
        // rmcp would read the first one as a task of another version, without its interval.
        let times = json!({ "createdAt": "2026-01-01T00:00:00Z", "lastUpdatedAt": "2026-01-01T00:00:00Z", "ttl": 9 });
        let task = |more: Value| {
            let mut task = times.clone();
            let fields = task.as_object_mut().unwrap();
            fields.insert("taskId".to_owned(), "a".into());
            fields.extend(more.as_object().unwrap().clone());
            task
        };
        let working = json!({ "status": "working", "pollInterval": 3000, "statusMessage": "Rea\u{200b}ds" });
        check(task(working.clone()), Some((TaskStatus::Working, Some("Reads"), 3000)));
        check(json!({ "task": task(working) }), Some((TaskStatus::Working, Some("Reads"), 3000)));
        check(
            task(json!({ "status": "input_required", "pollInterval": 1 })),
            Some((TaskStatus::InputRequired, None, 500)),
        );
        check(task(json!({ "status": "completed", "pollInterval": 1e9 })), Some((TaskStatus::Completed, None, 1000)));
        let slow = json!({ "status": "failed", "pollInterval": 1_000_000, "statusMessage": "" });
        check(task(slow), Some((TaskStatus::Failed, None, 10_000)));
        check(task(json!({ "status": "cancelled" })), Some((TaskStatus::Cancelled, None, 1000)));
        check(task(json!({ "status": "unheard" })), None);
        check(task(json!({ "status": "working", "taskId": "x".repeat(501) })), None);
        check(json!({ "content": [] }), None);
    }
}
