//! Agents of steps whose calls wait for decisions. Each call is a question to people; a call on which nobody has
//! decided in time is denied. When no call is left, the step continues from where the agent was.

use super::drive::Drive;
use super::emitted::task_waiting;
use super::outcome::CallError;
use crate::plan::{Record, StepState};
use crate::store::{self, Assignee, FinishedStep, NewTask, Used};
use crate::triggered::is_trigger_user;
use ::store::sql::Db;
use ::store::{ADMIN, StoreError, append_event};
use capability::{Waiting, WaitingKind};
use jobs::JobError;
use serde_json::Value;
use web::times::now_millis;
use workflow_definition::{Ask, StepKind};

/// An agent that waits for decisions, with the questions about its calls.
#[derive(Clone, Debug)]
pub(super) struct SuspendedStep {
    path: String,
    state: String,
    tasks: Vec<NewTask>,
    /// When the first question lapses; `None` if none does.
    due_at: Option<i64>,
}

impl SuspendedStep {
    /// Returns the record of the step.
    pub(super) fn record(&self, attempt: u32) -> Record {
        Record {
            state: StepState::Waiting,
            output: Value::Null,
            error: None,
            attempt,
            next_at: self.due_at,
            ended_at: 0,
        }
    }

    /// Stores the state and the questions.
    pub(super) async fn store(
        self,
        db: &mut Db,
        (run_id, owner): (&str, &str),
        chain: &[String],
        waiting: &Waiting,
        now: i64,
    ) -> Result<(), StoreError> {
        store::suspend(db, run_id, &self.path, &self.state).await?;
        for task in self.tasks {
            let (id, event) = (task.id.clone(), task_waiting(run_id, chain, &task, now));
            store::insert_task(db, (run_id, owner), task, now).await?;
            append_event(db, event).await?;
            waiting.begins(db, WaitingKind::Task, &id).await?;
        }
        Ok(())
    }
}

/// Returns the end of the wait of an agent, which continues now.
pub(crate) fn going_on(path: String, now: i64) -> FinishedStep {
    FinishedStep {
        path,
        from: StepState::Waiting,
        state: StepState::Retrying,
        output: None,
        error: None,
        next_at: Some(now),
        used: Used::default(),
    }
}

impl Drive {
    /// Returns what is stored of a call that waits for decisions; `None` for another one, or if its state is too large.
    pub(super) fn suspended_step(
        &self,
        path: &str,
        result: &Result<Value, CallError>,
        now: i64,
    ) -> Option<SuspendedStep> {
        let Err(CallError::Asks(asks)) = result else { return None };
        if asks.state.len() > self.bytes.state {
            return None;
        }
        let step = path.rsplit('/').next().and_then(|id| self.workflow.step(id));
        let agent = match step.map(|step| &step.kind) {
            Some(StepKind::Agent(asked)) => asked.agent_id.0.as_str(),
            _ => "",
        };
        let assignees: Vec<_> = if !asks.approvers.is_empty() {
            asks.approvers.iter().map(|role| Assignee::Role(role.clone())).collect()
        } else if is_trigger_user(&self.run.owner) {
            // A trigger has no person.
            vec![Assignee::Role(ADMIN.to_owned())]
        } else {
            vec![Assignee::User(self.run.owner.clone())]
        };
        let task = |question: &wire::invoke::RunQuestion| NewTask {
            id: crate::new_id(),
            path: path.to_owned(),
            call_id: Some(question.call_id.clone()),
            workflow_id: self.run.workflow_id.clone(),
            ask: Ask::Approve,
            title: format!("{agent}: {}", question.tool_name),
            details: question.input.clone(),
            choices: Vec::new(),
            form: None,
            assignees: assignees.clone(),
            due_at: question.expires_at,
            reminders: None,
        };
        Some(SuspendedStep {
            path: path.to_owned(),
            state: asks.state.clone(),
            tasks: asks.questions.iter().map(task).collect(),
            // A state without questions would wait for ever.
            due_at: if asks.questions.is_empty() {
                Some(now)
            } else {
                asks.questions.iter().filter_map(|question| question.expires_at).min()
            },
        })
    }

    /// Denies the calls of an agent whose questions have lapsed. The agent continues if none is left, otherwise it
    /// waits for the others until the next of them lapses.
    pub(super) async fn lapse_agent(&mut self, path: String) -> Result<(), JobError> {
        let (now, run_id, at) = (now_millis(), self.run.id.clone(), path.clone());
        let write = self.job.write(move |db| {
            Box::pin(async move {
                let Some(state) = store::suspended_state(db, &run_id, &at).await? else {
                    // Without a state it begins again, if it still waits.
                    let finished = going_on(at, now);
                    let is_waiting = store::finish_step(db, &run_id, &finished, now).await?;
                    return Ok(is_waiting.then_some(finished));
                };
                store::lapse_due_tasks(db, &run_id, &at, now).await?;
                let open = store::open_calls(db, &run_id, &at).await?;
                let left: Vec<String> = open.iter().map(|(call_id, _)| call_id.clone()).collect();
                let lapsed = chat::lapse_suspended(&state, &left).map_err(|error| StoreError::Failed(error.message))?;
                store::set_suspended(db, &run_id, &at, &lapsed.state).await?;
                let finished = if lapsed.is_open {
                    FinishedStep {
                        state: StepState::Waiting,
                        next_at: open.iter().filter_map(|(_, due_at)| *due_at).min(),
                        ..going_on(at, now)
                    }
                } else {
                    going_on(at, now)
                };
                if !store::finish_step(db, &run_id, &finished, now).await? {
                    return Err(StoreError::Fenced);
                }
                if !lapsed.is_open {
                    store::uncount_attempt(db, &run_id, &finished.path).await?;
                }
                Ok(Some(finished))
            })
        });
        let Some(FinishedStep { state, next_at, .. }) = write.await? else {
            // Somebody has decided on the last call at the same moment.
            return self.read_again(&path).await;
        };
        let before = self.records.get(&path).map_or(0, |record| record.attempt);
        let attempt = if state == StepState::Waiting { before } else { before.saturating_sub(1) };
        self.set_record(path, Record { state, output: Value::Null, error: None, attempt, next_at, ended_at: 0 });
        Ok(())
    }
}
