//! Running the tools of a step: side by side, each within its time, none able to take the run down with it.

use crate::{Event, EventSink, SinkClosed};
use contract::{Progress, Tool, ToolCall, ToolContext, ToolError};
use futures::FutureExt;
use futures::stream::{FuturesUnordered, StreamExt};
use serde_json::Value;
use std::collections::{HashMap, VecDeque};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// A tool that was told to stop may tidy up for this long.
const GRACE: Duration = Duration::from_millis(500);

/// Reports of a call that wait to be told; what comes on top is left out.
const WAITING_REPORTS: usize = 8;

/// What all calls of a run have in common.
#[derive(Clone)]
pub(crate) struct Caller {
    pub(crate) user_id: String,
    pub(crate) conversation_id: String,
    pub(crate) cancel: CancellationToken,
}

/// Runs calls, at most `at_once` side by side, and tells each result when it is there. Answers the results by call id;
/// when the run is stopped, those that there are.
pub(crate) async fn run_all<S: EventSink>(
    calls: Vec<(ToolCall, Arc<dyn Tool>)>,
    caller: &Caller,
    at_once: usize,
    sink: &mut S,
) -> Result<HashMap<String, Result<Value, ToolError>>, SinkClosed> {
    let mut waiting = VecDeque::from(calls);
    let (mut running, mut results) = (FuturesUnordered::new(), HashMap::new());
    let (progress, mut reports) = mpsc::channel(WAITING_REPORTS);
    loop {
        while running.len() < at_once.max(1) && !caller.cancel.is_cancelled() {
            let Some((call, tool)) = waiting.pop_front() else { break };
            sink.emit(Event::ToolStarted { call_id: call.id.clone(), name: call.name.clone() }).await?;
            let progress = Progress::new(call.id.clone(), progress.clone());
            running.push(run_one(call, tool, caller.clone(), progress));
        }
        let (call, result) = tokio::select! {
            // A report that waits is older than the result.
            biased;
            Some((call_id, output)) = reports.recv() => {
                if !results.contains_key(&call_id) {
                    sink.emit(Event::ToolProgress { call_id, output }).await?;
                }
                continue;
            }
            ended = running.next() => match ended {
                Some(ended) => ended,
                None => break,
            },
        };
        let (call_id, name) = (call.id.clone(), call.name);
        sink.emit(Event::ToolFinished { call_id, name, result: result.clone(), dynamic: false }).await?;
        results.insert(call.id, result);
    }
    Ok(results)
}

async fn run_one(
    call: ToolCall,
    tool: Arc<dyn Tool>,
    caller: Caller,
    progress: Progress,
) -> (ToolCall, Result<Value, ToolError>) {
    let limit = tool.spec().timeout;
    let cancel = caller.cancel.child_token();
    // When this future is dropped, the tool learns of it.
    let _end = cancel.clone().drop_guard();
    let context = ToolContext {
        call_id: call.id.clone(),
        user_id: caller.user_id,
        conversation_id: caller.conversation_id,
        cancel: cancel.clone(),
        progress,
    };
    let running = AssertUnwindSafe(tool.call(call.input.clone(), context)).catch_unwind();
    tokio::pin!(running);
    let ended = tokio::select! {
        ended = &mut running => ended,
        () = cancel.cancelled() => match tokio::time::timeout(GRACE, &mut running).await {
            Ok(ended) => ended,
            Err(_) => Ok(Err(ToolError::new("Stopped before it finished. It may or may not have had an effect."))),
        },
        () = tokio::time::sleep(limit) => {
            cancel.cancel();
            Ok(Err(ToolError::new(format!("The tool did not finish within {} s and was stopped.", limit.as_secs_f32()))))
        }
    };
    let result = ended.unwrap_or_else(|_| {
        tracing::error!(tool = call.name, "a tool panicked");
        Err(ToolError::new("The tool failed unexpectedly."))
    });
    (call, result)
}
