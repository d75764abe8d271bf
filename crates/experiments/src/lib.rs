#![doc = include_str!("../README.md")]

mod account;
mod api;
mod case_form;
mod console;
mod keep;
mod report;
mod run;
mod service;
mod store;
#[cfg(test)]
mod tests;

pub use service::{KeepError, KeptCaseAnswer, answers_of_dataset, keep_results};

use agent::RunRecorder;
use capability::{Capability, Context, Definition, Job};
use chat::AgentRequest;
use config::Config;
use jobs::Jobs;
use run::Recorded;
use service::Service;
use std::sync::Arc;
use std::time::Duration;
use web::admin::Section;
use web::html::{AccountGroup, AccountPage};
use web::openapi::ApiRouter;
use web::times::now_millis;

/// How often experiments whose job is gone are ended, and old ones are deleted.
const UPKEEP_INTERVAL: Duration = Duration::from_secs(60);

/// The capability.
pub const DEFINITION: Definition = Definition {
    tables: Some(store::TABLES),
    start: Some(|host| Ok(Arc::new(Experiments { jobs: host.jobs.clone(), recorded: Recorded::new() }))),
    ..Definition::new("experiments")
};

/// The capability of a running server.
struct Experiments {
    jobs: Jobs,
    recorded: Recorded,
}

impl Capability for Experiments {
    fn recorder(
        &self,
        config: &Config,
        _agent: &config::Agent,
        request: &AgentRequest<'_>,
    ) -> Option<Arc<dyn RunRecorder>> {
        self.recorded.recorder(config, request)
    }

    fn routes(&self, context: &Context) -> Option<ApiRouter> {
        Some(account::routes(context.clone()))
    }

    fn account_link(&self) -> Option<AccountPage> {
        Some(AccountPage {
            group: AccountGroup::Answers,
            path: account::PATH,
            title: account::TITLE,
            about: "What is kept of answers that you rate",
        })
    }

    fn console(&self, context: &Context) -> Option<Section> {
        Some(console::section(Service { context: context.clone(), jobs: self.jobs.clone() }))
    }

    fn jobs(&self, context: &Context) -> Vec<Job> {
        let store = context.store.clone();
        let upkeep = move || {
            let store = store.clone();
            async move {
                let ended = store::end_abandoned(&store, now_millis()).await?;
                let deleted = store::prune(&store).await?;
                if ended + deleted > 0 {
                    tracing::info!(ended, deleted, "experiments without a job were ended, old ones deleted");
                }
                Ok(())
            }
        };
        vec![
            Job::handler(run::handler(context.clone(), self.recorded.clone())),
            Job::recurring("experiments.upkeep", UPKEEP_INTERVAL, upkeep),
        ]
    }
}
