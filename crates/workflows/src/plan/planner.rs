//! Goes through a definition beside the records.

use super::{End, Frame, LAPSED, Plan, Records, RunFacts, Start, StepError, StepState};
use crate::value::{Moment, bind, evaluate};
use operators::is_truthy;
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use workflow_definition::{HumanStep, IfStep, LoopStep, Step, StepKind, SwitchStep, WaitStep, Workflow};

/// The most steps that one plan looks at. A loop without records, which would be endless work,
/// reaches it.
const MAX_VISITS: u32 = 100_000;

/// Returns what a run does next. `now` is the time in milliseconds since 1970.
pub(crate) fn plan(workflow: &Workflow, facts: &RunFacts, records: &Records, now: i64) -> Plan {
    let mut planner = Planner::new(facts, records, now);
    let mut frame = Frame::default();
    let flow = planner.run_list(&workflow.steps, "", &mut frame, facts.created_at);
    let end = match flow {
        _ if planner.visits > MAX_VISITS => {
            let message = format!("the run goes through more than {MAX_VISITS} steps");
            Some(End::Failed(StepError::new("limit", message, "")))
        }
        Flow::Pending => None,
        Flow::Failed(error, _) => Some(End::Failed(error)),
        Flow::Returned(value) => Some(End::Done(value)),
        Flow::Done(last, at) => Some(match &workflow.output {
            None => End::Done(last.into_owned()),
            Some(output) => match evaluate(output, Moment { facts, frame: &frame, at, path: "output" }) {
                Ok(output) => End::Done(output),
                Err(message) => End::Failed(StepError::new("value", message, "output")),
            },
        }),
    };
    match end {
        Some(end) => Plan { end: Some(end), ..Plan::default() },
        None => planner.plan,
    }
}

/// Returns the paths of the steps that have failed and whose errors nothing handles. They are why a run fails, now or
/// when the steps beside them have ended.
pub(crate) fn unhandled_failures(workflow: &Workflow, facts: &RunFacts, records: &Records, now: i64) -> Vec<String> {
    let mut planner = Planner::new(facts, records, now);
    planner.run_list(&workflow.steps, "", &mut Frame::default(), facts.created_at);
    planner.unhandled
}

/// The progress of a list of steps.
enum Flow<'d> {
    /// They have ended with an output, at this time.
    Done(Cow<'d, Value>, i64),
    /// They run or wait.
    Pending,
    /// One of them has failed, at this time.
    Failed(StepError, i64),
    /// The run ends with an output.
    Returned(Value),
}

struct Planner<'d, 'f> {
    facts: &'f RunFacts,
    records: &'d Records,
    now: i64,
    visits: u32,
    plan: Plan,
    /// The number of enclosing steps that handle errors.
    handlers: u32,
    /// The steps whose errors nothing handles.
    unhandled: Vec<String>,
}

impl<'d, 'f> Planner<'d, 'f> {
    fn new(facts: &'f RunFacts, records: &'d Records, now: i64) -> Self {
        Self { facts, records, now, visits: 0, plan: Plan::default(), handlers: 0, unhandled: Vec::new() }
    }

    /// Goes through a list of steps. Their results are added to the frame.
    fn run_list<'p>(&mut self, steps: &'d [Step], prefix: &str, frame: &mut Frame<'p>, mut at: i64) -> Flow<'d>
    where
        'd: 'p,
    {
        let mut last = Cow::Owned(Value::Null);
        for step in steps {
            match self.run_step(step, prefix, frame, at) {
                Flow::Done(output, ended) => {
                    frame.push(&step.id.0, output.clone());
                    (last, at) = (output, ended);
                }
                other => return other,
            }
        }
        Flow::Done(last, at)
    }

    fn run_step(&mut self, step: &'d Step, prefix: &str, frame: &Frame<'_>, at: i64) -> Flow<'d> {
        self.visits += 1;
        if self.visits > MAX_VISITS {
            return Flow::Pending;
        }
        let path = format!("{prefix}{}", step.id.0);
        let handles = !step.on_error.is_empty();
        self.handlers += u32::from(handles);
        let flow = match step.timeout_seconds.filter(|_| step.is_container()) {
            Some(seconds) => self.run_timed(step, seconds, &path, frame, at),
            None => self.run_kind(step, &path, frame, at),
        };
        self.handlers -= u32::from(handles);
        match flow {
            Flow::Failed(error, at) if handles => {
                let error = json!({ "kind": error.kind, "message": error.message, "step": error.step });
                let mut inner = Frame::handler(frame, error);
                self.run_list(&step.on_error, &format!("{path}/onError/"), &mut inner, at)
            }
            flow => flow,
        }
    }

    /// Runs a step of steps that has a time limit. Once its time is over it has a record, so that what its steps still do
    /// changes nothing.
    fn run_timed(&mut self, step: &'d Step, seconds: u32, path: &str, frame: &Frame<'_>, at: i64) -> Flow<'d> {
        if let Some(record) = self.records.get(path) {
            if self.handlers == 0 {
                self.unhandled.push(path.to_owned());
            }
            let error = record.error.clone().unwrap_or_else(|| StepError::new("timeout", "", path));
            return Flow::Failed(error, record.ended_at);
        }
        let flow = self.run_kind(step, path, frame, at);
        if matches!(flow, Flow::Pending) {
            let begin = at.max(self.facts.resumed_at.unwrap_or(at));
            let deadline = begin.saturating_add(i64::from(seconds) * 1_000);
            if deadline <= self.now {
                self.plan.expired.push((path.to_owned(), step.id.0.clone()))
            } else {
                self.plan.wakes_at = self.plan.wakes_at.into_iter().chain([deadline]).min()
            }
        }
        flow
    }

    /// Runs a question, and its steps for the case that nobody answers in time.
    fn run_human(&mut self, step: &'d Step, human: &'d HumanStep, path: &str, frame: &Frame<'_>, at: i64) -> Flow<'d> {
        let steps = human.on_lapse.as_ref().map_or(&[][..], |lapse| &lapse.steps);
        let handles = !steps.is_empty();
        self.handlers += u32::from(handles);
        let flow = self.run_leaf(step, path, frame, at);
        self.handlers -= u32::from(handles);
        match flow {
            Flow::Failed(error, at) if error.kind == LAPSED && handles => {
                self.run_list(steps, &format!("{path}/onLapse/"), &mut Frame::within(frame), at)
            }
            flow => flow,
        }
    }

    fn run_kind(&mut self, step: &'d Step, path: &str, frame: &Frame<'_>, at: i64) -> Flow<'d> {
        match &step.kind {
            StepKind::If(choice) => self.run_if(choice, path, frame, at),
            StepKind::Switch(choice) => self.run_switch(choice, path, frame, at),
            StepKind::Parallel(parallel) => {
                let mut branches = Vec::new();
                for (name, steps) in &parallel.branches {
                    let flow = self.run_list(steps, &format!("{path}.{name}/"), &mut Frame::within(frame), at);
                    branches.push((name.as_str(), flow));
                }
                joined(branches, at, |outputs| {
                    Value::Object(
                        outputs.into_iter().map(|(name, output)| (name.to_owned(), output)).collect::<Map<_, _>>(),
                    )
                })
            }
            StepKind::Loop(repeated) => match (&repeated.list, &repeated.until) {
                (Some(list), _) => self.run_for(repeated, list, path, frame, at),
                (None, until) => self.run_until(repeated, until.as_ref(), path, frame, at),
            },
            StepKind::Return(end) => match self.optional(end.value.as_ref(), path, frame, at) {
                Ok(value) => Flow::Returned(value),
                Err(error) => Flow::Failed(error, at),
            },
            StepKind::Fail(end) => match self.evaluate(&end.message, path, frame, at) {
                Ok(message) => Flow::Failed(StepError::new("failed", text(message), path), at),
                Err(error) => Flow::Failed(error, at),
            },
            StepKind::Human(human) => self.run_human(step, human, path, frame, at),
            StepKind::Agent(_)
            | StepKind::Tool(_)
            | StepKind::Endpoint(_)
            | StepKind::Wait(_)
            | StepKind::Workflow(_) => self.run_leaf(step, path, frame, at),
        }
    }

    fn run_if(&mut self, choice: &'d IfStep, path: &str, frame: &Frame<'_>, at: i64) -> Flow<'d> {
        let steps = match self.evaluate(&choice.test, path, frame, at) {
            Ok(test) if is_truthy(&test) => &choice.then,
            Ok(_) => &choice.otherwise,
            Err(error) => return Flow::Failed(error, at),
        };
        self.run_list(steps, &format!("{path}/"), &mut Frame::within(frame), at)
    }

    fn run_switch(&mut self, choice: &'d SwitchStep, path: &str, frame: &Frame<'_>, at: i64) -> Flow<'d> {
        let mut steps = &choice.default;
        for case in &choice.cases {
            match self.evaluate(&case.test, path, frame, at) {
                Ok(test) if is_truthy(&test) => {
                    steps = &case.then;
                    break;
                }
                Ok(_) => {}
                Err(error) => return Flow::Failed(error, at),
            }
        }
        self.run_list(steps, &format!("{path}/"), &mut Frame::within(frame), at)
    }

    /// Runs the steps of a loop for each item. No iteration is started after one has failed.
    fn run_for(&mut self, repeated: &'d LoopStep, list: &Value, path: &str, frame: &Frame<'_>, at: i64) -> Flow<'d> {
        let items = match self.evaluate(list, path, frame, at) {
            Ok(Value::Array(items)) => items,
            Ok(_) => return Flow::Failed(StepError::new("value", "`in` is not a list", path), at),
            Err(error) => return Flow::Failed(error, at),
        };
        if items.len() > repeated.max as usize {
            let message = format!("the list has {} items; the loop has at most {}", items.len(), repeated.max);
            return Flow::Failed(StepError::new("limit", message, path), at);
        }
        let name = repeated.item.as_ref().map_or("item", |item| &item.0);
        let concurrency = repeated.concurrency.unwrap_or(1) as usize;
        let (mut pending, mut begin, mut iterations) = (0, at, Vec::new());
        for (index, item) in items.iter().enumerate() {
            let mut inner = Frame::iteration(frame, Some((name, item)), index);
            let flow = self.run_list(&repeated.body, &format!("{path}[{index}]/"), &mut inner, begin);
            let has_failed = matches!(flow, Flow::Failed(..));
            match flow {
                Flow::Returned(value) => return Flow::Returned(value),
                Flow::Pending => pending += 1,
                // Iterations that run one after the other begin when the one before has ended.
                Flow::Done(_, ended) if concurrency == 1 => begin = ended,
                _ => {}
            }
            iterations.push(((), flow));
            if has_failed || pending >= concurrency {
                break;
            }
        }
        joined(iterations, at, |outputs| outputs.into_iter().map(|((), output)| output).collect())
    }

    /// Repeats the steps of a loop until its condition is true.
    fn run_until(
        &mut self,
        repeated: &'d LoopStep,
        until: Option<&Value>,
        path: &str,
        frame: &Frame<'_>,
        mut at: i64,
    ) -> Flow<'d> {
        let mut outputs = Vec::new();
        for index in 0..repeated.max as usize {
            let mut inner = Frame::iteration(frame, None, index);
            match self.run_list(&repeated.body, &format!("{path}[{index}]/"), &mut inner, at) {
                Flow::Done(output, ended) => {
                    at = ended;
                    outputs.push(output.into_owned());
                }
                other => return other,
            }
            match self.optional(until, path, &inner, at) {
                Ok(value) if is_truthy(&value) => return Flow::Done(Cow::Owned(Value::Array(outputs)), at),
                Ok(_) => {}
                Err(error) => return Flow::Failed(error, at),
            }
        }
        let message = format!("the condition of the loop was not true after {} iterations", repeated.max);
        Flow::Failed(StepError::new("limit", message, path), at)
    }

    /// Looks up the record of a step that does something, or starts it.
    fn run_leaf(&mut self, step: &'d Step, path: &str, frame: &Frame<'_>, at: i64) -> Flow<'d> {
        let Some(record) = self.records.get(path) else { return self.start(step, path, frame, at, 1) };
        let is_due = record.next_at.is_some_and(|next| next <= self.now);
        match record.state {
            StepState::Done => return Flow::Done(Cow::Borrowed(&record.output), record.ended_at),
            StepState::Failed => {
                if self.handlers == 0 {
                    self.unhandled.push(path.to_owned());
                }
                let error = record.error.clone().unwrap_or_else(|| StepError::new("failed", "", path));
                return Flow::Failed(error, record.ended_at);
            }
            StepState::Retrying if is_due => return self.start(step, path, frame, at, record.attempt + 1),
            StepState::Waiting if is_due => self.plan.due.push((path.to_owned(), step.id.0.clone())),
            StepState::Retrying | StepState::Waiting => {
                self.plan.wakes_at = self.plan.wakes_at.into_iter().chain(record.next_at).min();
            }
            StepState::Running | StepState::Unknown => {}
        }
        Flow::Pending
    }

    fn start(&mut self, step: &'d Step, path: &str, frame: &Frame<'_>, at: i64, attempt: u32) -> Flow<'d> {
        match self.input(step, path, frame, at) {
            Ok(input) => {
                self.plan.start.push(Start { path: path.to_owned(), step_id: step.id.0.clone(), input, attempt });
                Flow::Pending
            }
            Err(error) => Flow::Failed(error, at),
        }
    }

    /// Evaluates the input of a step. It is the same in every attempt.
    fn input(&self, step: &Step, path: &str, frame: &Frame<'_>, at: i64) -> Result<Value, StepError> {
        let or_empty = |value: Option<&Value>| match value {
            Some(value) => self.evaluate(value, path, frame, at),
            None => Ok(json!({})),
        };
        match &step.kind {
            StepKind::Agent(asked) => Ok(Value::String(text(self.evaluate(&asked.prompt, path, frame, at)?))),
            StepKind::Tool(called) => or_empty(called.arguments.as_ref()),
            StepKind::Endpoint(called) => or_empty(called.payload.as_ref()),
            StepKind::Workflow(child) => or_empty(child.input.as_ref()),
            StepKind::Human(human) => {
                let title = text(self.evaluate(&human.title, path, frame, at)?);
                Ok(json!({ "title": title, "details": self.optional(human.details.as_ref(), path, frame, at)? }))
            }
            StepKind::Wait(WaitStep { event: Some(event), condition, .. }) => {
                let until = step.timeout_seconds.map(|seconds| at.saturating_add(i64::from(seconds) * 1_000));
                let condition =
                    condition.as_ref().map(|condition| self.bind(condition, path, frame, at)).transpose()?;
                Ok(json!({ "event": event.0, "since": at, "until": until, "where": condition }))
            }
            StepKind::Wait(wait) => Ok(json!({ "until": self.wait_end(wait, path, frame, at)? })),
            _ => Ok(Value::Null),
        }
    }

    fn wait_end(&self, wait: &WaitStep, path: &str, frame: &Frame<'_>, at: i64) -> Result<i64, StepError> {
        if let Some(seconds) = wait.seconds {
            return Ok(at.saturating_add(i64::from(seconds) * 1_000));
        }
        let until = self.optional(wait.until.as_ref(), path, frame, at)?;
        let parsed = match &until {
            Value::String(text) => text.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_millisecond),
            value => value.as_i64(),
        };
        parsed.ok_or_else(|| StepError::new("value", "`until` is not a time such as `2026-12-24T09:00:00Z`", path))
    }

    fn evaluate(&self, value: &Value, path: &str, frame: &Frame<'_>, at: i64) -> Result<Value, StepError> {
        let moment = Moment { facts: self.facts, frame, at, path };
        evaluate(value, moment).map_err(|message| StepError::new("value", message, path))
    }

    /// Returns a condition over an event with all that it reads beside the event.
    fn bind(&self, value: &Value, path: &str, frame: &Frame<'_>, at: i64) -> Result<Value, StepError> {
        let moment = Moment { facts: self.facts, frame, at, path };
        bind(value, moment).map_err(|message| StepError::new("value", message, path))
    }

    fn optional(&self, value: Option<&Value>, path: &str, frame: &Frame<'_>, at: i64) -> Result<Value, StepError> {
        value.map_or(Ok(Value::Null), |value| self.evaluate(value, path, frame, at))
    }
}

/// Combines branches or iterations that run concurrently: all of them run to their end, and the
/// first error in their order is the error of all.
fn joined<'d, K>(flows: Vec<(K, Flow<'d>)>, at: i64, combine: impl FnOnce(Vec<(K, Value)>) -> Value) -> Flow<'d> {
    let (mut outputs, mut latest, mut failed) = (Vec::new(), at, None);
    for (key, flow) in flows {
        match flow {
            Flow::Done(output, ended) => {
                latest = latest.max(ended);
                outputs.push((key, output.into_owned()));
            }
            Flow::Failed(error, ended) => {
                latest = latest.max(ended);
                failed.get_or_insert(error);
            }
            Flow::Returned(value) => return Flow::Returned(value),
            Flow::Pending => return Flow::Pending,
        }
    }
    match failed {
        Some(error) => Flow::Failed(error, latest),
        None => Flow::Done(Cow::Owned(combine(outputs)), latest),
    }
}

/// Returns a text as it is, other values as JSON.
fn text(value: Value) -> String {
    match value {
        Value::String(text) => text,
        other => other.to_string(),
    }
}
