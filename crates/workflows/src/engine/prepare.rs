//! Prepares steps that are ready: questions, waits, and the runs of children.

use super::drive::Drive;
use crate::plan::{Record, Start, StepError, StepState};
use crate::store::{
    self, Assignee, NewReminders, NewRun, NewTask, NewWait, RepeatedSteps, ResumedStep, RunCaller, RunState,
    StartedStep,
};
use crate::{input, repeat};
use jobs::JobError;
use serde_json::{Value, json};
use workflow_definition::{HumanStep, RunLimits, Step, StepKind, WaitStep, Workflow};

/// The most runs above a run.
const MAX_ANCESTORS: usize = 8;

/// The rows that a started step adds to the transaction that stores it.
#[derive(Clone, Debug)]
pub(super) enum Beside {
    Nothing,
    /// A question.
    Task(Box<NewTask>),
    /// A child's run.
    Child(Box<NewRun>),
    /// The run of a child that continues after its end.
    ChildAgain(Box<ResumedChild>),
    /// A wait for an event.
    Wait(Box<NewWait>),
}

/// The run of a child that continues after its end.
#[derive(Clone, Debug)]
pub(super) struct ResumedChild {
    pub(super) run_id: String,
    pub(super) limits: RunLimits,
    pub(super) steps: RepeatedSteps,
}

/// The run that a child's step has started in an earlier attempt.
enum EarlierChild {
    /// It has failed or was stopped, and continues.
    GoesOn(ResumedChild),
    /// It has an output.
    Done(Value),
    /// It has not ended, although it was asked to stop.
    Open,
    /// This run's rights have changed, and it may not start it any more.
    Refused(StepError),
}

/// A step with everything that is stored when it starts.
#[derive(Clone, Debug)]
pub(super) struct Prepared {
    pub(super) start: Start,
    pub(super) step: Step,
    pub(super) started: StartedStep,
    pub(super) beside: Beside,
    /// How it ends at once.
    pub(super) ended: Option<Result<Value, StepError>>,
    /// Whether it counts towards the steps of the run: not again after it was refused.
    pub(super) is_counted: bool,
    /// The state from which an agent continues that has waited for decisions.
    pub(super) resumed: Option<ResumedStep>,
}

impl Prepared {
    /// Whether it gets a share of what is left of the limits.
    pub(super) fn has_share(&self) -> bool {
        self.step.is_call() || matches!(self.beside, Beside::Child(_) | Beside::ChildAgain(_))
    }
}

impl Drive {
    /// Prepares the start of a step; `None` if it has to wait, because the run that its last attempt started has
    /// not ended yet.
    pub(super) async fn prepare(&self, start: Start, step: Step, now: i64) -> Result<Option<Prepared>, JobError> {
        let mut started = StartedStep {
            path: start.path.clone(),
            step_id: start.step_id.clone(),
            kind: step.type_name(),
            state: StepState::Waiting,
            attempt: start.attempt,
            input: start.input.clone(),
            child_id: None,
            next_at: None,
        };
        let (mut beside, mut ended) = (Beside::Nothing, None);
        match &step.kind {
            _ if step.is_call() => started.state = StepState::Running,
            StepKind::Wait(wait) => {
                started.next_at = start.input["until"].as_i64();
                if let Some(wait) = new_wait(wait, &start) {
                    // The condition contains what it reads, which is not for people.
                    started.input = json!({ "event": wait.event, "until": started.next_at });
                    beside = Beside::Wait(Box::new(wait));
                }
            }
            StepKind::Human(human) => {
                started.next_at = human.due_seconds.map(|seconds| now + i64::from(seconds) * 1_000);
                beside = Beside::Task(Box::new(self.task(human, &start, started.next_at)));
            }
            StepKind::Workflow(child) => match self.earlier_child(&start.path, now).await? {
                Some(EarlierChild::Open) => return Ok(None),
                Some(EarlierChild::Done(output)) => ended = Some(Ok(output)),
                Some(EarlierChild::Refused(problem)) => ended = Some(Err(problem)),
                Some(EarlierChild::GoesOn(run)) => {
                    started.child_id = Some(run.run_id.clone());
                    beside = Beside::ChildAgain(Box::new(run));
                }
                None => match self.child(&child.workflow_id.0, &start, now).await {
                    Ok(run) => {
                        started.child_id = Some(run.id.clone());
                        beside = Beside::Child(Box::new(run));
                    }
                    Err(problem) => ended = Some(Err(problem)),
                },
            },
            // The planner starts no others.
            _ => {}
        }
        let resumed = match step.kind {
            StepKind::Agent(_) if self.records.contains_key(&start.path) => {
                store::resumed_step(self.job.store(), &self.run.id, &start.path).await?
            }
            _ => None,
        };
        let is_counted = resumed.is_none() && !self.records.get(&start.path).is_some_and(Record::is_refused);
        Ok(Some(Prepared { start, step, started, beside, ended, is_counted, resumed }))
    }

    /// Returns the run that the last attempt of a child's step has started. It continues where it failed, so that
    /// its steps that are done do not run again.
    async fn earlier_child(&self, path: &str, now: i64) -> Result<Option<EarlierChild>, JobError> {
        if !self.records.contains_key(path) {
            return Ok(None);
        }
        let store = self.job.store();
        let Some(id) = store::child_of(store, &self.run.id, path).await? else { return Ok(None) };
        let Some(run) = store::run(store, &id).await? else { return Ok(None) };
        match run.state {
            RunState::Running | RunState::Waiting => return Ok(Some(EarlierChild::Open)),
            RunState::Done => return Ok(Some(EarlierChild::Done(run.output))),
            RunState::Failed | RunState::Stopped => {}
        }
        let Some(workflow) = store::definition(store, &run.workflow_id, &run.version).await? else { return Ok(None) };
        if let Err(refused) = self.check_roles(&workflow, path) {
            return Ok(Some(EarlierChild::Refused(refused)));
        }
        let found = repeat::repeated_steps(store, &run, self.host.operators(), (None, false)).await?;
        let limits = workflow.limits.stricter(&self.time_left(now));
        Ok(found.ok().map(|found| EarlierChild::GoesOn(ResumedChild { run_id: run.id, limits, steps: found.steps })))
    }

    fn task(&self, human: &HumanStep, start: &Start, due_at: Option<i64>) -> NewTask {
        let roles = human.roles.iter().map(|role| Assignee::Role(role.0.clone()));
        let users = human.users.iter().map(|user| Assignee::User(user.0.clone()));
        NewTask {
            id: crate::new_id(),
            path: start.path.clone(),
            call_id: None,
            workflow_id: self.run.workflow_id.clone(),
            ask: human.ask,
            title: start.input["title"].as_str().unwrap_or_default().to_owned(),
            details: start.input["details"].clone(),
            choices: human.choices.iter().map(|choice| choice.0.clone()).collect(),
            form: human.form.clone().map(Value::Object),
            assignees: roles.chain(users).collect(),
            due_at,
            reminders: human.remind_seconds.map(|seconds| NewReminders {
                interval_ms: i64::from(seconds) * 1_000,
                most: human.reminders.unwrap_or(1),
            }),
        }
    }

    async fn child(&self, id: &str, start: &Start, now: i64) -> Result<NewRun, StepError> {
        let refuse = |kind: &str, message: String| StepError::new(kind, message, &start.path);
        let workflow = self.host.workflow(id);
        let workflow = workflow.ok_or_else(|| refuse("invalid", format!("there is no workflow `{id}` any more")))?;
        if self.run.ancestors.len() >= MAX_ANCESTORS {
            return Err(refuse("limit", format!("workflows run each other more than {MAX_ANCESTORS} levels deep")));
        }
        self.check_roles(&workflow, &start.path)?;
        input::check(&workflow, &start.input).await.map_err(|error| refuse("invalid", error.message))?;
        let mut caller = self.run.caller.clone();
        if let Some(roles) = workflow.own_roles() {
            caller = RunCaller { roles, ..caller };
        }
        Ok(NewRun {
            id: crate::new_id(),
            owner: self.run.owner.clone(),
            limits: workflow.limits.stricter(&self.time_left(now)),
            workflow,
            parent: Some((self.run.id.clone(), start.path.clone())),
            ancestors: self.chain.clone(),
            key_base: self.run.key_base_below(&start.path),
            rerun_of: None,
            causes: self.run.chain(),
            caller,
            input: start.input.clone(),
            now,
        })
    }

    /// Checks that this run's rights allow to start a child: otherwise whoever may write a workflow could run any other
    /// one with the rights that it has.
    fn check_roles(&self, child: &Workflow, path: &str) -> Result<(), StepError> {
        if child.is_for(&self.run.caller.roles) {
            Ok(())
        } else {
            let roles: Vec<_> = child.roles.iter().map(|role| role.0.as_str()).collect();
            let (id, roles) = (&child.id.0, roles.join(", "));
            let message = format!("only users with one of these roles may start the workflow `{id}`: {roles}");
            Err(StepError::new("invalid", message, path))
        }
    }

    /// Returns the time that is left of this run, as the limit of a child.
    fn time_left(&self, now: i64) -> RunLimits {
        // Rounded up, so that this run ends first, with its own limit as the cause.
        let seconds = (self.run.deadline() - now).max(0) / 1_000 + 1;
        RunLimits { timeout_seconds: u32::try_from(seconds).ok(), ..RunLimits::default() }
    }
}

fn new_wait(wait: &WaitStep, start: &Start) -> Option<NewWait> {
    let senders = wait.senders.as_ref().map(|roles| roles.iter().map(|role| role.0.clone()).collect());
    Some(NewWait {
        path: start.path.clone(),
        event: wait.event.as_ref()?.0.clone(),
        senders: senders.unwrap_or_else(|| vec![::store::ADMIN.to_owned()]),
        condition: start.input.get("where").filter(|condition| !condition.is_null()).cloned(),
        since: start.input["since"].as_i64().unwrap_or_default(),
    })
}
