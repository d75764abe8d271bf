#![doc = include_str!("../README.md")]

mod agent_runs;
mod deliver;
mod email;
mod message;
mod page;
mod routes;
mod section;
mod server_key;
mod service;
mod store;
#[cfg(test)]
mod tests;
mod waiting;

use ::store::StoreError;
use agent_runs::WaitingRuns;
use capability::{Capability, Context, Definition, Host, Job, WaitingKind};
use chat::LifecycleEvent;
use config::{Config, SectionType};
use deliver::EndedAnswer;
use email::EmailNotifications;
use email::pace::Pace;
use section::Notifications;
use service::Service;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;
use waiting::{Teller, tell_later};
use web::html::{AccountGroup, AccountPage};
use web::openapi::ApiRouter;
use wire::api::Outcome;

/// The capability.
pub const DEFINITION: Definition = Definition {
    sections: &[SectionType::of::<Notifications>()],
    tables: Some(store::TABLES),
    start: Some(|host| {
        let pace = Arc::<RwLock<Paces>>::default();
        host.waiting.provide(Arc::new(WaitingRuns));
        host.waiting.tell_with(Arc::new(Teller { jobs: host.jobs.clone(), pace: pace.clone() }));
        Ok(Arc::new(NotificationCapability { host: host.clone(), pace }))
    }),
    ..Definition::new("notifications")
};

/// When users are notified with the config in use.
#[derive(Clone, Copy, Debug, Default)]
struct Paces {
    /// How long an answer stays unread before browsers are told; `None` if there are no notifications.
    browsers: Option<Duration>,
    /// `None` if there is no e-mail.
    email: Option<Pace>,
}

/// The capability of a running server.
struct NotificationCapability {
    host: Host,
    pace: Arc<RwLock<Paces>>,
}

impl NotificationCapability {
    fn service(&self, context: &Context) -> Service {
        Service { context: context.clone(), jobs: self.host.jobs.clone() }
    }

    fn paces(&self) -> Paces {
        *self.pace.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Enqueues the job that tells people of a run that waits.
    fn tell_of_run(&self, run_id: &str) {
        let Some(after) = self.paces().browsers else { return };
        let (jobs, job) = (self.host.jobs.clone(), tell_later(WaitingKind::AgentRun, run_id, after));
        tokio::spawn(async move {
            if let Err(error) = jobs.enqueue(job).await {
                tracing::error!(%error, "people are not told of a run that waits for them");
            }
        });
    }
}

/// Enqueues the jobs that tell a user of an answer.
async fn enqueue(
    host: &Host,
    owner: &str,
    ended: &EndedAnswer,
    after: Duration,
    email: Option<Pace>,
) -> Result<(), StoreError> {
    if store::has_any(&host.store, owner).await? {
        host.jobs.enqueue(deliver::check_later(owner, ended, after)).await?;
    }
    if let Some(pace) = email
        && let Some(job) = email::deliver::next_digest(&host.store, owner, pace).await?
    {
        host.jobs.enqueue(job).await?;
    }
    Ok(())
}

impl Capability for NotificationCapability {
    fn routes(&self, context: &Context) -> Option<ApiRouter> {
        Some(routes::routes(self.service(context)))
    }

    fn sender_routes(&self, context: &Context) -> Option<ApiRouter> {
        Some(email::page::public_routes(self.service(context)))
    }

    fn account_link(&self) -> Option<AccountPage> {
        self.paces().browsers.map(|_| AccountPage {
            group: AccountGroup::Connections,
            path: page::PATH,
            title: page::TITLE,
            about: "How you hear of answers and decisions",
        })
    }

    /// Checks the conversation some time after an answer, and a run some time after it has begun to wait. If the server
    /// is killed right after that, there is no notification.
    fn observe(&self, event: &LifecycleEvent) {
        if let LifecycleEvent::AgentRunWaiting { run_id } = event {
            return self.tell_of_run(run_id);
        }
        let LifecycleEvent::RunEnded { conversation_id, user_id, outcome, .. } = event else { return };
        let Paces { browsers, email } = self.paces();
        let Some(after) = browsers.filter(|_| *outcome != Outcome::Stopped) else { return };
        let has_failed = matches!(outcome, Outcome::Failed | Outcome::Interrupted | Outcome::Limit);
        let ended = EndedAnswer { conversation_id: conversation_id.clone(), has_failed };
        let (host, owner) = (self.host.clone(), user_id.clone());
        tokio::spawn(async move {
            if let Err(error) = enqueue(&host, &owner, &ended, after, email).await {
                tracing::error!(%error, "a user cannot be notified of an answer");
            }
        });
    }

    fn config_changed(&self, config: &Arc<Config>) {
        let paces = config.section::<Notifications>().map_or_else(Paces::default, |settings| Paces {
            browsers: Some(Duration::from_secs(settings.after_seconds.into())),
            email: settings.email.as_ref().map(EmailNotifications::pace),
        });
        *self.pace.write().unwrap_or_else(PoisonError::into_inner) = paces;
    }

    fn jobs(&self, context: &Context) -> Vec<Job> {
        let waiting = &self.host.waiting;
        let of_answers = deliver::handlers(context, waiting).into_iter().chain([waiting::handler(context, waiting)]);
        of_answers.chain(email::deliver::handlers(context, waiting)).map(Job::handler).collect()
    }
}
