//! Runs the tools of a step concurrently. Each has a timeout, and a panic of one does not end the
//! run.

use crate::approval::expose::expose;
use crate::calls::meter::CallMeter;
use crate::calls::outcome::CallOutcome;
use crate::calls::validation::CallTarget;
use crate::event::EventRecorder;
use crate::limits::UsageMeter;
use crate::sub_agent::parent::AgentPermit;
use crate::sub_agent::{self, Resumption};
use crate::{Event, EventSink, ExposureState, GrantLookup, Policy, ROUTING, RepeatTerms, SinkClosed};
use contract::{
    CallReport, CallReports, CallTime, MCP_APP, ModelUse, Part, RunScope, TOOL_QUESTION, Tool, ToolCall, ToolContext,
    ToolError,
};
use futures::FutureExt;
use futures::stream::{FuturesUnordered, StreamExt};
use serde_json::Value;
use std::collections::{HashMap, VecDeque};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

/// The time that a cancelled tool has for its cleanup.
const GRACE: Duration = Duration::from_millis(500);
/// The time that a cancelled sub-agent has, which is longer because it waits for its own tools.
const AGENT_GRACE: Duration = Duration::from_millis(800);
/// The number of progress reports that may be queued; further ones are dropped.
const WAITING_REPORTS: usize = 8;

/// The result of a call that its provider runs, after the user's approval.
const APPROVED: &str = "The user approved this call.";

/// The context that all calls of a run have in common.
#[derive(Clone)]
pub(crate) struct CallScope {
    pub(crate) scope: Arc<RunScope>,
    pub(crate) grants: Option<Arc<dyn GrantLookup>>,
    pub(crate) exposure: ExposureState,
    pub(crate) cancel: CancellationToken,
    pub(crate) meter: Arc<UsageMeter>,
    /// Whether the agent is a sub-agent.
    pub(crate) is_sub_agent: bool,
    /// The policies of the calling agents, the root agent's first, then the agent's own.
    pub(crate) policies: Vec<Arc<dyn Policy>>,
    /// Whether a call has reported that the tools of a source have changed.
    pub(crate) tools_changed: Arc<AtomicBool>,
    /// The permit of the agent, from which its sub-agents get theirs.
    pub(crate) permit: AgentPermit,
    /// The time of the call; for a run, that of the task that it does.
    pub(crate) time: CallTime,
}

/// A call that can run.
pub(crate) struct RunnableCall {
    pub(crate) call: ToolCall,
    pub(crate) runner: CallTarget,
    /// The state and the decision with which a suspended call resumes.
    pub(crate) resumed: Option<Resumption>,
}

impl RunnableCall {
    /// Returns what is needed to repeat the call; `None` for a sub-agent, whose task consists of
    /// many calls. The calling agent can check what was done and delegate the task again.
    fn repeat(&self) -> Option<RepeatTerms> {
        let CallTarget::Tool(tool) = &self.runner else { return None };
        Some(RepeatTerms::for_tool(tool.spec()))
    }
}

/// In which order calls run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallOrder {
    /// How many run at the same time.
    pub(crate) at_once: usize,
    /// Whether the calls after one that fails are not run.
    pub(crate) ends_at_failure: bool,
}

/// The result of the calls after one that failed.
const AFTER_FAILURE: &str = "Not run: a call before it failed, and the tools of this agent run one after the other.";

/// Runs calls in this order, and emits the outcome of each when it is known.
/// Returns the outcomes by call id; if the run is stopped, those that are known.
pub(crate) async fn run_all<S: EventSink>(
    calls: Vec<RunnableCall>,
    caller: &CallScope,
    order: CallOrder,
    sink: &mut S,
) -> Result<HashMap<String, CallOutcome>, SinkClosed> {
    let mut waiting = VecDeque::from(calls);
    let (mut running, mut results) = (FuturesUnordered::new(), HashMap::new());
    let (reporter, mut reports) = mpsc::channel(WAITING_REPORTS);
    let (record, mut nested) = mpsc::channel::<(Event, oneshot::Sender<_>)>(1);
    loop {
        while running.len() < order.at_once.max(1) && !caller.cancel.is_cancelled() {
            let Some(ready) = waiting.pop_front() else { break };
            let (call_id, name) = (ready.call.id.clone(), ready.call.name.clone());
            // The exposure is recorded before the tool runs, because its result is read in any
            // case.
            expose(&caller.exposure, &name, ready.runner.spec().annotations, sink).await?;
            let (resumed, repeat) = (ready.resumed.is_some(), ready.repeat());
            sink.emit(Event::ToolStarted { call_id, name, resumed, repeat }).await?;
            let reports = CallReports::new(ready.call.id.clone(), reporter.clone());
            running.push(run_one(ready, caller.clone(), reports, record.clone()));
        }
        let FinishedCall { call_id, name, outcome, stopped } = tokio::select! {
            biased;
            Some(report) = reports.recv() => {
                handle_report(report, &results, caller, sink).await?;
                continue;
            }
            Some((event, recorded)) = nested.recv() => {
                let taken = sink.emit(event).await;
                // The receiver may have been dropped.
                let _ = recorded.send(taken);
                taken?;
                continue;
            }
            ended = running.next() => match ended {
                Some(ended) => ended,
                None => break,
            },
        };
        let has_failed = matches!(&outcome, CallOutcome::Result(Err(_)));
        results.insert(call_id.clone(), outcome.clone());
        // Queued reports are older than the result.
        while let Ok(report) = reports.try_recv() {
            handle_report(report, &results, caller, sink).await?;
        }
        match outcome {
            CallOutcome::Result(result) => {
                sink.emit(Event::ToolFinished { call_id, name, result, dynamic: false, stopped }).await?;
            }
            CallOutcome::Suspended { output, state, terms } => {
                sink.emit(Event::ToolSuspended { call_id: call_id.clone(), output, state }).await?;
                sink.emit(Event::ApprovalRequest { call_id: call_id.clone(), asked: None, terms }).await?;
            }
        }
        if has_failed && order.ends_at_failure && !caller.cancel.is_cancelled() {
            for RunnableCall { call, .. } in waiting.drain(..) {
                let result = Err(ToolError::new(AFTER_FAILURE));
                results.insert(call.id.clone(), CallOutcome::Result(result.clone()));
                let (call_id, name) = (call.id, call.name);
                sink.emit(Event::ToolFinished { call_id, name, result, dynamic: false, stopped: false }).await?;
            }
        }
    }
    Ok(results)
}

/// Passes the report of a call on to the run. `results` are those of the calls that have ended.
async fn handle_report<S: EventSink>(
    (call_id, report): (String, CallReport),
    results: &HashMap<String, CallOutcome>,
    caller: &CallScope,
    sink: &mut S,
) -> Result<(), SinkClosed> {
    match report {
        // The result has replaced it.
        CallReport::Progress(_) if results.contains_key(&call_id) => Ok(()),
        CallReport::Progress(output) => sink.emit(Event::ToolProgress { call_id, output }).await,
        CallReport::Source(source) => sink.emit(Event::Part(Part::Source(source))).await,
        // A remote agent chooses the names of its parts; the decision about a route is the run's own, and a
        // question or a user interface comes from a tool of this server.
        CallReport::Data { name, .. } if [ROUTING, TOOL_QUESTION, MCP_APP].contains(&name.as_str()) => Ok(()),
        CallReport::Data { name, id, data } => sink.emit(Event::Data { name, id, data }).await,
        CallReport::Question { id, data } => {
            sink.emit(Event::Data { name: TOOL_QUESTION.to_owned(), id: Some(id), data }).await
        }
        CallReport::App { data } => sink.emit(Event::Data { name: MCP_APP.to_owned(), id: Some(call_id), data }).await,
        CallReport::ToolsChanged => {
            caller.tools_changed.store(true, Ordering::Relaxed);
            Ok(())
        }
    }
}

/// A finished call.
struct FinishedCall {
    call_id: String,
    /// The tool's name.
    name: String,
    outcome: CallOutcome,
    /// Whether the run was stopped before the call finished.
    stopped: bool,
}

/// Runs a call to its end.
async fn run_one(ready: RunnableCall, caller: CallScope, reports: CallReports, record: EventRecorder) -> FinishedCall {
    let RunnableCall { call, runner, resumed } = ready;
    let (call_id, name) = (call.id.clone(), call.name.clone());
    let limit = runner.spec().timeout;
    let grace = if matches!(runner, CallTarget::Agent(_)) { AGENT_GRACE } else { GRACE };
    let run = caller.cancel.clone();
    let cancel = run.child_token();
    // Cancels the tool when this future is dropped.
    let _end = cancel.clone().drop_guard();
    let time = caller.time.below();
    let reports = reports.with_time(time.clone());
    let caller = CallScope { cancel: cancel.clone(), time: time.clone(), ..caller };
    let running = async move {
        match runner {
            CallTarget::Tool(tool) => CallOutcome::Result(run_tool(&*tool, call, caller, (reports, record)).await),
            CallTarget::Provider(_) => CallOutcome::Result(Ok(APPROVED.into())),
            CallTarget::Agent(agent) => {
                sub_agent::run_sub_agent(&agent, &call, resumed, caller, (reports, record)).await
            }
        }
    };
    let running = AssertUnwindSafe(running).catch_unwind();
    // Boxed: calls of agents nest this future.
    let run_out = Box::pin(time.run_out(limit));
    tokio::pin!(running);
    let failed = |error: String| Ok(CallOutcome::Result(Err(ToolError::new(error))));
    let ended = tokio::select! {
        ended = &mut running => ended,
        () = cancel.cancelled() => match tokio::time::timeout(grace, &mut running).await {
            Ok(ended) => ended,
            Err(_) => failed("Stopped before it finished. It may or may not have had an effect.".to_owned()),
        },
        () = run_out => {
            cancel.cancel();
            // The tool gets the time to pass the cancellation on, such as to a server.
            let _ = tokio::time::timeout(grace, &mut running).await;
            failed(format!("The tool did not finish within {} s and was stopped.", limit.as_secs_f32()))
        }
    };
    let outcome = ended.unwrap_or_else(|_| {
        tracing::error!(tool = name, "a tool panicked");
        CallOutcome::Result(Err(ToolError::new("The tool failed unexpectedly.")))
    });
    FinishedCall { call_id, name, outcome, stopped: run.is_cancelled() }
}

async fn run_tool(
    tool: &dyn Tool,
    call: ToolCall,
    caller: CallScope,
    (reports, record): (CallReports, EventRecorder),
) -> Result<Value, ToolError> {
    let CallScope { scope, cancel, meter, .. } = caller;
    let may_repeat = tool.spec().annotations.idempotent;
    let scope = scope.for_call(&call);
    let models = ModelUse::new(Arc::new(CallMeter {
        meter,
        record,
        call_id: call.id.clone(),
        agent_id: scope.agent_id.clone(),
    }));
    let context = ToolContext { call_id: call.id, scope, cancel, reports, may_repeat, models };
    tool.call(call.input, context).await
}
