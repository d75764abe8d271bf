//! Runs experiments: a job for each, which goes on where it was when its server was killed.

mod observe;
mod sink;
mod subject;

pub(crate) use observe::Recorded;

use crate::report::summary_of_run;
use crate::store::{self, CaseRow, Ending, Experiment, State};
use capability::Context;
use chat::Caller;
use config::Config;
use evaluation::{Candidate, Case, Evaluation, Finished, Progress, Results, RunError, RunSettings};
use jobs::{Backoff, Handler, JobContext, JobError, Kind, Outcome, StopReason};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use sink::DatabaseSink;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use subject::ServerSubject;
use web::times::now_millis;

/// How many cases of an experiment are evaluated at the same time: users of the server have their answers meanwhile, and
/// the administrator has a limit of concurrent answers.
const PARALLEL: usize = 2;

/// The job that runs an experiment. Interrupted ones are taken up again, so there are many attempts.
pub(crate) const RUN: Kind<RunExperiment> = Kind::new("experiments.run")
    .concurrency(2)
    .attempts(20)
    .backoff(Backoff { base: Duration::from_secs(2), cap: Duration::from_secs(60) })
    .timeout(Duration::from_secs(24 * 3600));

/// Which experiment is run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RunExperiment {
    pub(crate) experiment_id: String,
}

/// Returns the handler of the jobs.
pub(crate) fn handler(context: Context, recorded: Recorded) -> Handler {
    Handler::new(RUN, move |job, RunExperiment { experiment_id }| {
        let run = Run { context: context.clone(), recorded: recorded.clone(), job };
        async move { run.run(&experiment_id).await }
    })
}

/// An attempt to run an experiment to its end.
struct Run {
    context: Context,
    recorded: Recorded,
    job: JobContext,
}

/// The input of the evaluation.
struct Prepared {
    evaluation: Evaluation,
    cases: Vec<Case>,
    /// The owners of the cases by their ids.
    owners: HashMap<String, String>,
}

impl Run {
    async fn run(&self, id: &str) -> Result<Outcome, JobError> {
        let Some(experiment) = store::experiment(&self.context.store, id).await? else { return Ok(Outcome::DONE) };
        if experiment.state.is_over() {
            return Ok(Outcome::DONE);
        }
        let prepared = match self.prepare(&experiment).await? {
            Ok(prepared) => prepared,
            Err(cause) => return self.end(id, Ending::incomplete(State::Failed, cause)).await,
        };
        let total = prepared.cases.len() * experiment.configs.len() * experiment.settings.repeat as usize;
        let (begun, fingerprint) = (id.to_owned(), fingerprint(&self.context.current.config()));
        let begin = self
            .job
            .write(move |db| Box::pin(async move { store::begin(db, &begun, total as i64, fingerprint).await }));
        if !begin.await? {
            return Ok(Outcome::DONE);
        }
        let evaluated = self.job.stop().run_until_cancelled(self.evaluate(&experiment, &prepared)).await;
        match evaluated {
            Some(Ok(finished)) => {
                let summary = summary_of_run(&experiment.configs, finished).await;
                let summary = summary.map_err(|busy| JobError::retry(busy.to_string()))?;
                self.end(id, Ending { state: State::Done, cause: None, summary }).await
            }
            Some(Err(RunError::Cost(cause))) => self.end(id, Ending::incomplete(State::Stopped, cause)).await,
            Some(Err(RunError::Results(cause))) => Err(JobError::retry(cause)),
            None => self.interrupted(id).await,
        }
    }

    /// Ends the experiment together with its job.
    async fn end(&self, id: &str, ending: Ending) -> Result<Outcome, JobError> {
        let id = id.to_owned();
        let end = self.job.finish(Outcome::DONE, move |db| {
            Box::pin(async move { store::end(db, &id, ending, now_millis()).await.map(drop) })
        });
        Ok(end.await?)
    }

    /// The job was stopped: by an administrator, or with the server, after which it goes on.
    async fn interrupted(&self, id: &str) -> Result<Outcome, JobError> {
        if self.job.why_stopped() == Some(StopReason::Cancelled) {
            let id = id.to_owned();
            let end = self.context.store.write(move |db| {
                let ending = Ending::incomplete(State::Stopped, "It was stopped by an administrator.");
                Box::pin(async move { store::end(db, &id, ending, now_millis()).await })
            });
            end.await?;
        }
        Err(JobError::retry("it was stopped"))
    }

    /// Reads the dataset. An error of the inner result is one of the experiment, which does not go away.
    async fn prepare(&self, experiment: &Experiment) -> Result<Result<Prepared, String>, JobError> {
        let (Some(dataset), Some(version)) = (&experiment.dataset_id, experiment.dataset_version) else {
            return Ok(Err("It has no dataset.".to_owned()));
        };
        let rows = store::cases_of_version(&self.context.store, dataset, version).await?;
        Ok(prepared(experiment, rows).and_then(|prepared| {
            self.check_agents(experiment, &prepared)?;
            Ok(prepared)
        }))
    }

    /// Checks that the agents and endpoints are there.
    fn check_agents(&self, experiment: &Experiment, prepared: &Prepared) -> Result<(), String> {
        let usable = self.context.current.usable_agents(&caller(experiment));
        let required = prepared.evaluation.required(&prepared.cases);
        let agents = experiment.settings.agents.iter().map(String::as_str).chain(required.agents);
        for agent in agents {
            if !usable.iter().any(|usable| usable == agent) {
                return Err(format!("There is no agent `{agent}`, or it may not be used."));
            }
        }
        let config = self.context.current.config();
        match required.endpoints.into_iter().find(|endpoint| !config.endpoints.contains_key(*endpoint)) {
            Some(endpoint) => Err(format!("There is no endpoint `{endpoint}`, which is to score.")),
            None => Ok(()),
        }
    }

    async fn evaluate(&self, experiment: &Experiment, prepared: &Prepared) -> Result<Finished, RunError> {
        let estimate_usd = Arc::new(Mutex::new(None));
        let sink = DatabaseSink {
            job: self.job.clone(),
            experiment_id: experiment.id.clone(),
            owners: prepared.owners.clone(),
            recorded: self.recorded.clone(),
            estimate_usd: estimate_usd.clone(),
        };
        let kept = store::results(&self.context.store, &experiment.id).await;
        let kept = kept.map_err(|error| RunError::Results(error.to_string()))?;
        let results = Results::continued(Box::new(sink), kept.results, kept.comparisons);
        let results = results.with_spent(experiment.spent_usd);
        let candidate = |agent: &String| Candidate {
            name: agent.clone(),
            agent_id: Some(agent.clone()),
            subject: Arc::new(ServerSubject {
                context: self.context.clone(),
                caller: caller(experiment),
                recorded: self.recorded.clone(),
            }),
        };
        let candidates: Vec<_> = experiment.settings.agents.iter().map(candidate).collect();
        let settings = RunSettings {
            repeat: experiment.settings.repeat,
            parallel: PARALLEL,
            max_cost_usd: experiment.settings.max_cost_usd,
        };
        let progress = |progress: Progress| {
            if let Progress::Estimate(cost) = progress {
                *estimate_usd.lock() = Some(cost);
            }
        };
        let run = evaluation::run(&prepared.evaluation, &prepared.cases, &candidates, results, settings, &progress);
        run.await
    }
}

/// Returns the administrator who started an experiment, with the roles of then.
fn caller(experiment: &Experiment) -> Caller {
    Caller::signed_in(experiment.created_by.clone()).with_roles(experiment.settings.roles.clone())
}

/// Returns the hash of a config, as recordings have it.
pub(crate) fn fingerprint(config: &Config) -> String {
    format!("{:016x}", config.fingerprint)
}

/// Reads the evaluation of an experiment and its cases.
fn prepared(experiment: &Experiment, rows: Vec<CaseRow>) -> Result<Prepared, String> {
    let agent = experiment.settings.agents.first().map(String::as_str).unwrap_or_default();
    let evaluation = read_scorers(&experiment.name, agent, &experiment.settings.scorers)?;
    let (mut cases, mut owners) = (Vec::new(), HashMap::new());
    for row in rows {
        let case = Case::from_value(row.content);
        let case = case.map_err(|(path, message)| format!("The case {}: {path}: {message}", row.case_id))?;
        if experiment.settings.split.is_none() || case.split == experiment.settings.split {
            owners.insert(case.id.clone(), row.owner);
            cases.push(case);
        }
    }
    if cases.is_empty() {
        return Err("No case is selected.".to_owned());
    }
    evaluation.check_scored(&cases, 1)?;
    Ok(Prepared { evaluation, cases, owners })
}

/// Reads scorers.
///
/// # Errors
/// The problems of the scorers, for the administrator.
pub(crate) fn read_scorers(name: &str, agent_id: &str, scorers: &str) -> Result<Evaluation, String> {
    Evaluation::with_scorers(name, agent_id, scorers).map_err(|problems| config::render_short(&problems))
}
