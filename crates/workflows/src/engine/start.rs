//! Starts the steps that are ready. Their records are stored before anything is called.

use super::drive::Drive;
use super::{Remaining, match_soon, wake};
use crate::definition::{HumanStep, RunLimits, Step, StepKind, WaitStep};
use crate::input;
use crate::plan::{Record, Start, StepError, StepState};
use crate::store::{self, Assignee, NewReminders, NewRun, NewTask, NewWait, RunCaller, StartedStep};
use jobs::{Due, JobError};
use serde_json::{Value, json};
use web::times::now_millis;

/// The most calls that a run makes at once.
const MAX_CALLS: usize = 16;
/// The most runs above a run.
const MAX_ANCESTORS: usize = 8;

/// What a started step brings to the transaction that stores it.
#[derive(Clone, Debug)]
enum Beside {
    Nothing,
    /// A question.
    Task(Box<NewTask>),
    /// A child's run.
    Child(Box<NewRun>),
    /// A wait for an event.
    Wait(Box<NewWait>),
}

/// A step with everything that is stored when it starts.
#[derive(Clone, Debug)]
struct Prepared {
    start: Start,
    step: Step,
    started: StartedStep,
    beside: Beside,
    /// Why it fails at once.
    error: Option<StepError>,
}

impl Prepared {
    /// Whether it gets a share of what is left of the limits.
    fn has_share(&self) -> bool {
        self.step.is_call() || matches!(self.beside, Beside::Child(_))
    }
}

/// What became of steps that are ready.
pub(super) enum Started {
    /// Some were started.
    Some,
    /// None: others may use all that is left, or all places are taken.
    Nothing,
    /// This limit is reached.
    Limit(String),
    /// The run was asked to stop.
    Stopped,
}

impl Drive {
    /// Starts steps.
    pub(super) async fn start(&mut self, starts: Vec<Start>) -> Result<Started, JobError> {
        let (now, mut prepared) = (now_millis(), Vec::new());
        let mut places = MAX_CALLS.saturating_sub(self.calls.len());
        let mut affordable = self.affordable().await?;
        for start in starts {
            let Some(step) = self.workflow.step(&start.step_id).cloned() else { continue };
            let is_call = step.is_call();
            if is_call || matches!(step.kind, StepKind::Workflow(_)) {
                if affordable == 0 || is_call && places == 0 {
                    continue;
                }
                affordable -= 1;
                places -= usize::from(is_call);
            }
            prepared.push(self.prepare(start, step, now).await);
        }
        if prepared.is_empty() {
            return Ok(Started::Nothing);
        }
        // What the steps of a round have in common: none of them is counted yet.
        let room = self.run.limits.max_steps().saturating_sub(self.run.steps);
        if room == 0 {
            return Ok(Started::Limit(format!("limits.steps: {}", self.run.limits.max_steps())));
        }
        prepared.truncate(room as usize);
        let shares = prepared.iter().filter(|prepared| prepared.has_share()).count();
        let of_calls = self.used_by_calls();
        let (chain, owner, jobs) = (self.chain.clone(), self.run.owner.clone(), self.job.jobs().clone());
        let (stored, is_limited) = (prepared.clone(), self.is_limited());
        let write = self.job.write(move |db| {
            Box::pin(async move {
                let run_id = chain[0].clone();
                let mut remaining = Remaining::default();
                if is_limited {
                    let reserved = of_calls.plus(&Remaining::of_children(&store::open_children(db, &run_id).await?));
                    remaining = match Remaining::of(&store::used(db, &chain).await?) {
                        Ok(remaining) => remaining.without(&reserved).share(shares),
                        Err(limit) => return Ok(Err(Started::Limit(limit))),
                    };
                }
                let Some(first) = store::count_steps(db, &run_id, stored.len()).await? else {
                    return Ok(Err(Started::Stopped));
                };
                let mut too_many = Vec::new();
                for (number, Prepared { started, beside, .. }) in (first..).zip(&stored) {
                    let mut started = started.clone();
                    if let Beside::Child(child) = beside {
                        let mut child = (**child).clone();
                        child.limits = child.limits.stricter(&remaining.run_limits());
                        match store::insert_run(db, &child).await? {
                            true => wake(&jobs, db, &child.id, &owner, Due::Now).await?,
                            false => {
                                started.child_id = None;
                                too_many.push(started.path.clone());
                            }
                        }
                    }
                    store::start_step(db, (&run_id, &owner), &started, number, now).await?;
                    match beside {
                        Beside::Task(task) => {
                            store::insert_task(db, (&run_id, &owner), (**task).clone(), now).await?;
                        }
                        Beside::Wait(wait) => {
                            store::insert_wait(db, (&run_id, &owner), wait).await?;
                            // The event may have happened already.
                            match_soon(&jobs, db, &wait.event).await?;
                        }
                        Beside::Nothing | Beside::Child(_) => {}
                    }
                }
                Ok(Ok((remaining, too_many)))
            })
        });
        let (remaining, too_many) = match write.await? {
            Ok(stored) => stored,
            Err(none) => return Ok(none),
        };
        self.run.steps = self.run.steps.saturating_add(u32::try_from(prepared.len()).unwrap_or(u32::MAX));
        for Prepared { start, step, started, error, .. } in prepared {
            let StartedStep { path, state, attempt, next_at, .. } = started;
            let record = Record { state, output: Value::Null, error: None, attempt, next_at, ended_at: 0 };
            self.set_record(path.clone(), record);
            let refused = too_many.contains(&path).then(|| {
                let message = format!("there are {} runs that have not ended", store::MAX_OPEN_RUNS);
                StepError::new("limit", message, &path)
            });
            match error.or(refused) {
                Some(error) => self.fail_started(path, state, error).await?,
                None if step.is_call() => self.begin_call(&step, start, remaining),
                None => {}
            }
        }
        Ok(Started::Some)
    }

    /// Returns whether the run, or one above it, has limits on what its steps use. Those of a run do not change;
    /// those of the runs above are not known here.
    fn is_limited(&self) -> bool {
        self.chain.len() > 1 || self.run.limits.limits_use()
    }

    /// Returns what the calls that run may use.
    fn used_by_calls(&self) -> Remaining {
        self.reserved.values().fold(Remaining::default(), |sum, one| sum.plus(one))
    }

    /// Returns how many calls and children can start now beside those that run. While others run that may
    /// use all that is left, none can; they give back what they do not use.
    async fn affordable(&self) -> Result<usize, JobError> {
        if !self.is_limited() {
            return Ok(usize::MAX);
        }
        let chain = self.chain.clone();
        let read = self.job.store().read(move |db| {
            Box::pin(async move {
                // The children first: what one uses in between then counts twice, not never.
                let children = store::open_children(db, &chain[0]).await?;
                Ok((children, store::used(db, &chain).await?))
            })
        });
        let (children, used) = read.await?;
        // Nothing is given back of a limit that is reached: the next step ends the run.
        let Ok(left) = Remaining::of(&used) else { return Ok(usize::from(self.calls.is_empty())) };
        let reserved = self.used_by_calls().plus(&Remaining::of_children(&children));
        let most = left.without(&reserved).max_calls();
        // A single one always starts.
        Ok(if self.calls.is_empty() && children.is_empty() { most.max(1) } else { most })
    }

    async fn prepare(&self, start: Start, step: Step, now: i64) -> Prepared {
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
        let (mut beside, mut error) = (Beside::Nothing, None);
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
            StepKind::Workflow(child) => match self.child(&child.workflow_id.0, &start, now).await {
                Ok(run) => {
                    started.child_id = Some(run.id.clone());
                    beside = Beside::Child(Box::new(run));
                }
                Err(problem) => error = Some(problem),
            },
            // The planner starts no others.
            _ => {}
        }
        Prepared { start, step, started, beside, error }
    }

    fn task(&self, human: &HumanStep, start: &Start, due_at: Option<i64>) -> NewTask {
        let roles = human.roles.iter().map(|role| Assignee::Role(role.0.clone()));
        let users = human.users.iter().map(|user| Assignee::User(user.0.clone()));
        NewTask {
            id: crate::new_id(),
            path: start.path.clone(),
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
        input::check(&workflow, &start.input).await.map_err(|error| refuse("invalid", error.message))?;
        let mut caller = self.run.caller.clone();
        if let Some(run_as) = &workflow.run_as {
            caller = RunCaller { roles: run_as.roles.iter().map(|role| role.0.clone()).collect(), ..caller };
        }
        Ok(NewRun {
            id: crate::new_id(),
            owner: self.run.owner.clone(),
            limits: workflow.limits.stricter(&self.time_left(now)),
            workflow,
            parent: Some((self.run.id.clone(), start.path.clone())),
            ancestors: self.chain.clone(),
            caller,
            input: start.input.clone(),
            now,
        })
    }

    /// Returns the time that is left of this run, as the limit of a child.
    fn time_left(&self, now: i64) -> RunLimits {
        let deadline = self.run.created_at.saturating_add(self.run.limits.timeout_ms());
        // Rounded up, so that this run ends first, with its own limit as the cause.
        let seconds = (deadline - now).max(0) / 1_000 + 1;
        RunLimits { timeout_seconds: u32::try_from(seconds).ok(), ..RunLimits::default() }
    }

    /// Stores that a step has failed before it did anything.
    async fn fail_started(&mut self, path: String, from: StepState, error: StepError) -> Result<(), JobError> {
        let (now, run_id) = (now_millis(), self.run.id.clone());
        let failed = store::FinishedStep::ended(path.clone(), from, Err(error.clone()));
        let write = self
            .job
            .write(move |db| Box::pin(async move { store::finish_step(db, &run_id, &failed, now).await.map(drop) }));
        write.await?;
        let attempt = self.records.get(&path).map_or(1, |record| record.attempt);
        let record = Record {
            state: StepState::Failed,
            output: Value::Null,
            error: Some(error),
            attempt,
            next_at: None,
            ended_at: now,
        };
        self.set_record(path, record);
        Ok(())
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
