//! A server without agents and endpoints: its calls do what their payload says.

use crate::engine::{Call, CallError, CallOutcome, StepHost, handler};
use crate::service::{self, CurrentConfig, RetryRequest, RunDetail, Runs, StartRequest, Viewer};
use crate::store::{self, ResumedStep, Used};
use ::store::{CapabilityTables, Schema};
use capability::Waiting;
use chat::{Caller, SuspendedInvocation};
use futures::FutureExt;
use futures::future::BoxFuture;
use jobs::{Jobs, Workers};
use operators::Operators;
use parking_lot::Mutex;
use serde_json::{Value, json};
use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use wire::UserError;
use wire::invoke::RunQuestion;
use workflow_definition::{StepKind, Workflow, WorkflowBytes};

const TABLES: &[CapabilityTables] = &[store::TABLES];

/// The effects of calls, and a record of them.
pub(super) struct Fake {
    pub(super) workflows: Vec<Workflow>,
    /// The ids of steps that were called, in order.
    pub(super) calls: Mutex<Vec<String>>,
    /// The idempotency keys of the calls.
    pub(super) keys: Mutex<Vec<String>>,
    /// The roles of the calls.
    pub(super) roles: Mutex<Vec<Vec<String>>>,
    /// The workflows that led to the calls.
    pub(super) causes: Mutex<Vec<Vec<String>>>,
    /// How many calls can run at once; others are refused.
    pub(super) places: Arc<Semaphore>,
    /// How many requests each agent could make.
    pub(super) shares: Mutex<Vec<Option<u64>>>,
    /// A file to which each effect is appended, for tests that kill the process.
    pub(super) effects: Option<PathBuf>,
    /// How many bytes runs keep.
    pub(super) bytes: Mutex<WorkflowBytes>,
    /// The notifier of people about questions.
    pub(super) waiting: Waiting,
}

impl StepHost for Fake {
    fn workflow(&self, id: &str) -> Option<Workflow> {
        self.workflows.iter().find(|workflow| workflow.id.0 == id).cloned()
    }

    fn operators(&self) -> Arc<Operators> {
        Arc::default()
    }

    fn bytes(&self) -> WorkflowBytes {
        *self.bytes.lock()
    }

    fn waiting(&self) -> Waiting {
        self.waiting.clone()
    }

    fn call(&self, call: Call) -> BoxFuture<'static, CallOutcome> {
        let Ok(place) = self.places.clone().try_acquire_owned() else {
            let error = CallError::Refused { message: "full".to_owned(), pause: Duration::from_millis(50) };
            return std::future::ready(CallOutcome { result: Err(error), used: Used::default() }).boxed();
        };
        self.keys.lock().push(call.key.clone());
        self.causes.lock().push(call.causes.clone());
        self.roles.lock().push(call.caller.roles().to_vec());
        let count = {
            let mut calls = self.calls.lock();
            calls.push(call.step.id.0.clone());
            calls.iter().filter(|id| **id == call.step.id.0).count()
        };
        if let Some(path) = &self.effects {
            // One write, so that a line is there as a whole or not at all.
            let mut file = OpenOptions::new().create(true).append(true).open(path).unwrap();
            file.write_all(format!("{} {}\n", call.step.id.0, call.key).as_bytes()).unwrap();
        }
        let (input, key) = (call.input.clone(), call.key.clone());
        let is_agent = matches!(call.step.kind, StepKind::Agent(_));
        if is_agent {
            self.shares.lock().push(call.remaining.requests);
        }
        if let Some(asks) = is_agent.then(|| asks(&input, call.resumed.as_ref())).flatten() {
            return std::future::ready(asks).boxed();
        }
        let cancel = call.cancel.clone();
        async move {
            let _place = place;
            if let Some(ms) = input["sleepMs"].as_u64() {
                tokio::time::sleep(Duration::from_millis(ms)).await;
            }
            if input["untilStopped"] == true {
                cancel.cancelled().await;
            }
            let fails = input["fails"].as_u64().unwrap_or_default() as usize;
            let result = if count <= fails {
                Err(CallError::Failed("failed", format!("it failed the {count}. time")))
            } else if input["panics"] == true {
                panic!("on purpose")
            } else {
                Ok(json!({ "got": input, "key": key }))
            };
            let requests = if is_agent { 1 } else { 0 };
            CallOutcome {
                result,
                used: Used { requests, total_tokens: requests * 10, cost_usd: 0.01, ..Used::default() },
            }
        }
        .boxed()
    }
}

/// Returns what an agent with the prompt `pay` does: it waits for decisions on two calls, then it answers with them. With
/// `pay soon`, the first question lapses soon.
fn asks(input: &Value, resumed: Option<&ResumedStep>) -> Option<CallOutcome> {
    let lapses = input == "pay soon";
    if !lapses && input != "pay" {
        return None;
    }
    let used = Used { requests: 1, total_tokens: 10, tool_calls: 1, cost_usd: 0.01, unpriced: 0 };
    if let Some(ResumedStep { state, suspensions, used: before }) = resumed {
        let state: Value = serde_json::from_str(state).unwrap();
        let decisions = [&state["calls"][0]["decision"], &state["calls"][1]["decision"]];
        let output = json!({ "decisions": decisions, "suspensions": suspensions, "before": before.requests });
        return Some(CallOutcome { result: Ok(output), used });
    }
    let call = |id: &str| {
        let terms = json!({ "may_remember": false, "expires_after": null, "visible_parameters": null });
        json!({ "call": { "id": id, "name": "pay", "input": { "for": id } }, "asks": terms })
    };
    let question = |id: &str| RunQuestion {
        call_id: id.to_owned(),
        tool_name: "pay".to_owned(),
        input: json!({ "for": id }),
        cut_off: false,
        expires_at: (lapses && id == "one").then(|| web::times::now_millis() + 300),
    };
    let suspended = SuspendedInvocation {
        state: json!({ "calls": [call("one"), call("two")] }).to_string(),
        questions: vec![question("one"), question("two")],
        approvers: vec!["manager".to_owned()],
    };
    Some(CallOutcome { result: Err(CallError::Asks(Box::new(suspended))), used })
}

/// A server with its database.
pub(super) struct Server {
    pub(super) runs: Runs,
    pub(super) host: Arc<Fake>,
    pub(super) workers: Workers,
}

/// Returns a step that calls an endpoint.
pub(super) fn call(id: &str, payload: Value) -> Value {
    json!({ "id": id, "type": "endpoint", "endpointId": "e", "payload": payload })
}

pub(super) fn workflow(definition: Value) -> Workflow {
    serde_json::from_value(definition).unwrap()
}

pub(super) fn ada() -> Caller {
    Caller::signed_in("ada").with_roles(vec!["manager".to_owned()])
}

/// Returns what a config with these workflows says when a run continues.
pub(super) fn of_config(all: Vec<Workflow>) -> CurrentConfig<impl Fn(&str) -> Option<Workflow> + Send + 'static> {
    let workflow = move |id: &str| all.iter().find(|workflow| workflow.id.0 == id).cloned();
    CurrentConfig { workflow, operators: Arc::default() }
}

/// Returns the request that makes a run continue from a step.
pub(super) fn from_step(path: &str) -> RetryRequest {
    RetryRequest { path: Some(path.to_owned()), ..RetryRequest::default() }
}

impl Server {
    pub(super) async fn open(url: &str, workflows: Vec<Workflow>, effects: Option<PathBuf>) -> Self {
        Self::open_whole(url, workflows, effects, Arc::new(Semaphore::new(Semaphore::MAX_PERMITS))).await
    }

    /// A server that can make so many calls at once.
    pub(super) async fn open_with_places(url: &str, workflows: Vec<Workflow>, places: Arc<Semaphore>) -> Self {
        Self::open_whole(url, workflows, None, places).await
    }

    async fn open_whole(url: &str, workflows: Vec<Workflow>, effects: Option<PathBuf>, places: Arc<Semaphore>) -> Self {
        let store = Schema::new(TABLES).open(url, "", Duration::ZERO).await.unwrap();
        let jobs = Jobs::new(store.clone());
        let workers = Workers::new(jobs.clone());
        let host = Arc::new(Fake {
            workflows,
            calls: Mutex::default(),
            keys: Mutex::default(),
            roles: Mutex::default(),
            causes: Mutex::default(),
            places,
            shares: Mutex::default(),
            effects,
            bytes: Mutex::default(),
            waiting: Waiting::default(),
        });
        workers.add(handler(host.clone()));
        workers.add(crate::engine::match_handler(host.clone()));
        workers.start();
        Self { runs: Runs { store, jobs }, host, workers }
    }

    pub(super) async fn start(&self, id: &str, input: Value) -> String {
        let request = StartRequest { input: input.as_object().cloned().unwrap_or_default(), ..StartRequest::default() };
        let workflow = self.host.workflow(id).unwrap();
        service::start(&self.runs, &ada(), workflow, request).await.unwrap().id
    }

    /// Returns what the config in use says when a run continues.
    pub(super) fn current(&self) -> CurrentConfig<impl Fn(&str) -> Option<Workflow> + Send + 'static> {
        of_config(self.host.workflows.clone())
    }

    /// Retries a run with the config of the server.
    pub(super) async fn retry(&self, viewer: Viewer<'_>, id: &str, request: RetryRequest) -> Result<(), UserError> {
        service::retry(&self.runs, viewer, id, request, self.current(), None).await
    }

    pub(super) async fn detail(&self, id: &str) -> RunDetail {
        service::detail(&self.runs, Viewer::Owner(&ada()), id).await.unwrap()
    }

    pub(super) async fn stop(&self, id: &str) {
        service::stop(&self.runs, Viewer::Owner(&ada()), id, None).await.unwrap();
    }

    /// Lets the run look at its state.
    pub(super) async fn wake(&self, id: &str) {
        let (jobs, id) = (self.runs.jobs.clone(), id.to_owned());
        let write = self
            .runs
            .store
            .write(move |db| Box::pin(async move { crate::engine::wake(&jobs, db, &id, "ada", jobs::Due::Now).await }));
        write.await.unwrap();
    }

    /// Waits until a step was called.
    pub(super) async fn called(&self, id: &str) {
        for _ in 0..400 {
            if self.host.calls.lock().iter().any(|called| called == id) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("{id} was not called: {:?}", self.host.calls.lock());
    }

    /// Shuts the server down, as a deploy does.
    pub(super) async fn close(self) {
        self.workers.shutdown(Duration::from_secs(3)).await;
        self.runs.store.close().await;
    }

    /// Waits until the run has ended or waits.
    pub(super) async fn rest(&self, id: &str) -> RunDetail {
        for _ in 0..1_000 {
            let detail = service::detail(&self.runs, Viewer::Owner(&ada()), id).await.unwrap();
            if detail.run.state != store::RunState::Running {
                return detail;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("the run does not rest");
    }

    /// Waits until the run has ended.
    pub(super) async fn ended(&self, id: &str) -> RunDetail {
        for _ in 0..1_000 {
            let detail = service::detail(&self.runs, Viewer::Owner(&ada()), id).await.unwrap();
            if detail.run.ended_at.is_some() {
                return detail;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("the run does not end");
    }
}

/// Returns the state, the output or the error, and the steps of a run.
pub(super) fn shown(detail: &RunDetail) -> String {
    let RunDetail { run, steps, .. } = detail;
    let mut text = format!("{} {}", run.state.name(), run.output);
    if let Some(error) = &run.error {
        text += &format!(" {}: {} ({})", error.kind, error.message, error.step);
    }
    for step in steps {
        text += &format!("\n{} {:?} {}", step.path, step.state, step.attempt);
    }
    text
}
