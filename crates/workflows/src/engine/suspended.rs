//! Agents of steps whose calls wait for decisions. Each call is a question to people; when all are decided, or nobody
//! has answered in time, the step goes on from where the agent was.

use super::drive::Drive;
use super::emitted::task_waiting;
use super::outcome::CallError;
use crate::definition::{Ask, StepKind};
use crate::plan::{Record, StepState};
use crate::store::{self, Assignee, FinishedStep, NewTask, Used};
use crate::triggered::is_trigger_user;
use ::store::sql::Db;
use ::store::{ADMIN, StoreError, append_event};
use jobs::JobError;
use serde_json::Value;
use web::times::now_millis;

/// An agent that waits for decisions, with the questions about its calls.
#[derive(Clone, Debug)]
pub(super) struct SuspendedStep {
    path: String,
    state: String,
    tasks: Vec<NewTask>,
    /// When the first question lapses.
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
        now: i64,
    ) -> Result<(), StoreError> {
        store::suspend(db, run_id, &self.path, &self.state).await?;
        for task in self.tasks {
            let event = task_waiting(run_id, chain, &task, now);
            store::insert_task(db, (run_id, owner), task, now).await?;
            append_event(db, event).await?;
        }
        Ok(())
    }
}

/// Returns the end of the wait of an agent, which goes on now.
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
        let assignees: Vec<_> = match asks.approvers.is_empty() {
            false => asks.approvers.iter().map(|role| Assignee::Role(role.clone())).collect(),
            // A trigger has no person.
            true if is_trigger_user(&self.run.owner) => vec![Assignee::Role(ADMIN.to_owned())],
            true => vec![Assignee::User(self.run.owner.clone())],
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
            due_at: match asks.questions.is_empty() {
                true => Some(now),
                false => asks.questions.iter().filter_map(|question| question.expires_at).min(),
            },
        })
    }

    /// Denies the calls of an agent on which nobody has decided before the first of the questions lapsed, also those whose
    /// questions would lapse later. The agent goes on.
    pub(super) async fn lapse_agent(&mut self, path: String) -> Result<(), JobError> {
        let (now, run_id, finished) = (now_millis(), self.run.id.clone(), going_on(path.clone(), now_millis()));
        let write = self.job.write(move |db| {
            Box::pin(async move {
                let Some(state) = store::suspended_state(db, &run_id, &finished.path).await? else { return Ok(()) };
                let state = chat::lapse_suspended(&state).map_err(|error| StoreError::Failed(error.message))?;
                store::set_suspended(db, &run_id, &finished.path, &state).await?;
                store::lapse_task(db, &run_id, &finished.path).await?;
                store::finish_step(db, &run_id, &finished, now).await?;
                store::uncount_attempt(db, &run_id, &finished.path).await
            })
        });
        write.await?;
        let attempt = self.records.get(&path).map_or(0, |record| record.attempt.saturating_sub(1));
        let record = Record {
            state: StepState::Retrying,
            output: Value::Null,
            error: None,
            attempt,
            next_at: Some(now),
            ended_at: 0,
        };
        self.set_record(path, record);
        Ok(())
    }
}
