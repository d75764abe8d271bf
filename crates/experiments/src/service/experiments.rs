//! Experiments: they are started, stopped, continued, and decided about.

use super::{Service, new_id, valid_name};
use crate::run::{RUN, RunExperiment, fingerprint};
use crate::store::{self, Dataset, Decision, Ending, Experiment, KeptResults, Settings, State};
use ::store::StoreError;
use ::store::sql::Db;
use jobs::Jobs;
use serde_json::json;
use web::admin::{Admin, from_store_error};
use web::times::now_millis;
use wire::{ErrorCode, UserError};

/// The longest note about a decision, in characters.
const MAX_NOTE: usize = 2_000;
/// The highest bound of the cost of an experiment from the console, in US dollars.
const MAX_COST: f64 = 10_000.0;

/// The settings of a new experiment, as an administrator enters them.
#[derive(Clone, Debug)]
pub(crate) struct NewExperiment {
    pub(crate) name: String,
    pub(crate) agents: Vec<String>,
    pub(crate) split: Option<String>,
    pub(crate) repeat: u32,
    pub(crate) max_cost_usd: Option<f64>,
}

impl Service {
    /// Starts an experiment with the newest version of a dataset. Returns its id.
    pub(crate) async fn start(&self, admin: &Admin, dataset_id: &str, new: NewExperiment) -> Result<String, UserError> {
        let dataset = self.dataset(dataset_id).await?;
        let settings = self.settings(admin, &dataset, &new)?;
        let experiment = Experiment {
            id: new_id(),
            name: if new.name.trim().is_empty() { new.agents.join(" and ") } else { valid_name(&new.name)? },
            dataset_id: Some(dataset.id.clone()),
            dataset_version: Some(dataset.version),
            configs: new.agents,
            settings,
            fingerprint: fingerprint(&self.context.current.config()),
            state: State::Waiting,
            job_id: None,
            total: 0,
            done: 0,
            estimate_usd: None,
            spent_usd: 0.0,
            summary: Vec::new(),
            cause: None,
            created_by: admin.caller.user_id.clone(),
            created_at: now_millis(),
            ended_at: None,
            decision: None,
        };
        let about = json!({ "experimentId": experiment.id, "datasetId": dataset.id, "agents": experiment.configs,
            "maxCostUsd": experiment.settings.max_cost_usd });
        let (id, audit, jobs) =
            (experiment.id.clone(), admin.audit_entry("start_experiment", "", about), self.jobs.clone());
        self.write(audit, move |db| {
            Box::pin(async move {
                store::insert(db, &experiment).await?;
                enqueue(db, &jobs, &experiment).await
            })
        })
        .await?;
        Ok(id)
    }

    fn settings(&self, admin: &Admin, dataset: &Dataset, new: &NewExperiment) -> Result<Settings, UserError> {
        if !(1..=2).contains(&new.agents.len()) || new.agents.first() == new.agents.get(1) {
            return Err(UserError::invalid("/agents", "Choose one agent, or two different ones."));
        }
        new.agents.iter().try_for_each(|agent| self.check_agent(admin, agent))?;
        if !(1..=20).contains(&new.repeat) {
            return Err(UserError::invalid("/repeat", "A case is evaluated 1 to 20 times."));
        }
        check_cost(new.max_cost_usd)?;
        Ok(Settings {
            agents: new.agents.clone(),
            split: new.split.clone().filter(|split| !split.trim().is_empty()),
            repeat: new.repeat,
            max_cost_usd: new.max_cost_usd,
            scorers: dataset.scorers.clone(),
            roles: admin.caller.roles().to_vec(),
        })
    }

    /// Returns an experiment.
    pub(crate) async fn experiment(&self, id: &str) -> Result<Experiment, UserError> {
        let found = store::experiment(&self.context.store, id).await.map_err(from_store_error)?;
        found.ok_or_else(UserError::not_found)
    }

    /// Returns the results of an experiment.
    pub(crate) async fn results(&self, id: &str) -> Result<KeptResults, UserError> {
        store::results(&self.context.store, id).await.map_err(from_store_error)
    }

    /// Stops an experiment that waits or runs. The results so far stay.
    pub(crate) async fn stop(&self, admin: &Admin, id: &str) -> Result<(), UserError> {
        let experiment = self.experiment(id).await?;
        let audit = admin.audit_entry("stop_experiment", "", json!({ "experimentId": id }));
        let (id, jobs) = (id.to_owned(), self.jobs.clone());
        self.write(audit, move |db| {
            Box::pin(async move {
                let ending = Ending::incomplete(State::Stopped, "It was stopped by an administrator.");
                store::end(db, &id, ending, now_millis()).await?;
                if let Some(job) = experiment.job_id {
                    jobs.cancel_in(db, &job).await?;
                }
                Ok(())
            })
        })
        .await
    }

    /// Goes on with an experiment that is not complete, up to another bound of the cost. Results that were errors are made
    /// again.
    pub(crate) async fn go_on(&self, admin: &Admin, id: &str, max_cost_usd: Option<f64>) -> Result<(), UserError> {
        check_cost(max_cost_usd)?;
        let mut experiment = self.experiment(id).await?;
        if experiment.dataset_id.is_none() {
            return Err(UserError::invalid("/", "Uploaded results cannot be continued here."));
        }
        experiment.settings.max_cost_usd = max_cost_usd;
        let about = json!({ "experimentId": id, "maxCostUsd": max_cost_usd });
        let (audit, jobs) = (admin.audit_entry("continue_experiment", "", about), self.jobs.clone());
        let continued = self
            .write(audit, move |db| {
                Box::pin(async move {
                    if !store::continue_with(db, &experiment.id, &experiment.settings).await? {
                        return Ok(false);
                    }
                    enqueue(db, &jobs, &experiment).await?;
                    Ok(true)
                })
            })
            .await?;
        let message = "The experiment is complete, or still running.";
        continued.then_some(()).ok_or_else(|| UserError::new(ErrorCode::Conflict, message))
    }

    /// Stores the decision about an experiment that has ended. `replaces` is the time of the decision that this one
    /// replaces, which the administrator has seen.
    pub(crate) async fn decide(
        &self,
        admin: &Admin,
        id: &str,
        (is_adopted, note): (bool, String),
        replaces: Option<i64>,
    ) -> Result<(), UserError> {
        if note.chars().count() > MAX_NOTE {
            return Err(UserError::invalid("/note", "The note is longer than 2,000 characters."));
        }
        let decided_by = admin.caller.user_id.clone();
        let decision = Decision { is_adopted, note: note.trim().to_owned(), decided_by, decided_at: now_millis() };
        let name = if is_adopted { "adopted" } else { "rejected" };
        let mut about = json!({ "experimentId": id, "decision": name, "note": decision.note });
        if let Some(replaces) = replaces {
            about["replaces"] = replaces.into();
        }
        let (id, audit) = (id.to_owned(), admin.audit_entry("decide_experiment", "", about));
        let decided =
            self.write(audit, move |db| Box::pin(async move { store::decide(db, &id, &decision, replaces).await }));
        let decided = decided.await?;
        let message = "There is no such experiment, it has not ended yet, or somebody has decided about it. To replace a \
            decision, send its `decidedAt` as `replaces`.";
        decided.then_some(()).ok_or_else(|| UserError::new(ErrorCode::Conflict, message))
    }
}

/// Enqueues the job that runs an experiment, and stores which one it is.
async fn enqueue(db: &mut Db, jobs: &Jobs, experiment: &Experiment) -> Result<(), StoreError> {
    let job = RUN.job(&RunExperiment { experiment_id: experiment.id.clone() });
    let job = job.owner(experiment.created_by.clone()).key(experiment.id.clone());
    let enqueued = jobs.enqueue_in(&mut *db, job).await?;
    store::set_job(db, &experiment.id, enqueued.id()).await
}

fn check_cost(max_cost_usd: Option<f64>) -> Result<(), UserError> {
    if max_cost_usd.is_none_or(|cost| (0.0..=MAX_COST).contains(&cost)) {
        Ok(())
    } else {
        Err(UserError::invalid("/maxCostUsd", "The highest cost is an amount in US dollars from 0 to 10,000."))
    }
}
