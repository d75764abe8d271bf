//! Items that wait for people beside their conversations: questions of workflows, calls of agents without a
//! conversation, and triggers that were paused.

use crate::Paces;
use crate::deliver::{PushJob, SEND};
use crate::email::EmailNotifications;
use crate::email::deliver::next_digest;
use crate::message::{Cause, Message};
use crate::section::Notifications;
use crate::store;
use ::store::StoreError;
use ::store::sql::Db;
use capability::{Context, TellOfWaiting, Waiting, WaitingItem, WaitingKind};
use chat::Caller;
use config::{AuthMode, OWNER_ROLES};
use jobs::{Due, Handler, JobContext, JobError, Jobs, Kind, NewJob, Outcome};
use serde::{Deserialize, Serialize};
use std::pin::Pin;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;
use web::admin::is_admin;

/// The job that looks whether something still waits, and tells the people for whom it does. The name of its kind is
/// stored in databases.
pub(crate) const TELL: Kind<WaitingRef> =
    Kind::new("notifications.waiting").attempts(5).timeout(Duration::from_secs(60));

/// The most users with notifications whose roles are looked at for something that waits for roles.
pub(crate) const MAX_LOOKED_AT: u32 = 500;
/// The most users who are notified of an item.
pub(crate) const MAX_TOLD: usize = 100;

/// Names something that waits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WaitingRef {
    /// The kind.
    pub(crate) kind: WaitingKind,
    /// The id.
    pub(crate) id: String,
}

impl WaitingRef {
    /// Returns a text that no conversation and nothing else that waits has.
    pub(crate) fn key(&self) -> String {
        let kind = match self.kind {
            WaitingKind::Task => "task",
            WaitingKind::AgentRun => "run",
            WaitingKind::PausedTrigger => "trigger",
        };
        format!("{kind}:{}", self.id)
    }
}

/// Enqueues the job for something that begins to wait, in the transaction that stores it.
pub(crate) struct Teller {
    pub(crate) jobs: Jobs,
    pub(crate) pace: Arc<RwLock<Paces>>,
}

impl TellOfWaiting for Teller {
    fn begins<'a>(
        &'a self,
        db: &'a mut Db,
        kind: WaitingKind,
        id: &'a str,
    ) -> Pin<Box<dyn Future<Output = Result<(), StoreError>> + Send + 'a>> {
        let pace = *self.pace.read().unwrap_or_else(PoisonError::into_inner);
        Box::pin(async move {
            let Some(after) = pace.browsers else { return Ok(()) };
            match self.jobs.enqueue_in(db, tell_later(kind, id, after)).await {
                // The queue is full. A missing notification must not fail the item that waits.
                Err(StoreError::Invalid(cause)) => {
                    tracing::warn!(cause, "people are not told of something that waits for them");
                    Ok(())
                }
                enqueued => enqueued.map(drop),
            }
        })
    }
}

/// Returns the job that tells people of something that begins to wait.
pub(crate) fn tell_later(kind: WaitingKind, id: &str, after: Duration) -> NewJob {
    let about = WaitingRef { kind, id: id.to_owned() };
    TELL.job(&about).key(about.key()).due(Due::After(after))
}

/// Returns the handler of the job.
pub(crate) fn handler(context: &Context, waiting: &Waiting) -> Handler {
    let (context, waiting) = (context.clone(), waiting.clone());
    Handler::new(TELL, move |job, about| {
        let (context, waiting) = (context.clone(), waiting.clone());
        async move { tell(&context, &waiting, &job, about).await }
    })
}

/// Enqueues a message for each browser of the people for whom something still waits, and their e-mails.
async fn tell(context: &Context, waiting: &Waiting, job: &JobContext, about: WaitingRef) -> Result<Outcome, JobError> {
    let config = context.current.config();
    let Some(settings) = config.section::<Notifications>() else { return Ok(Outcome::DONE) };
    let Some(item) = waiting.find(context, about.kind, &about.id).await? else { return Ok(Outcome::DONE) };
    let pace = settings.email.as_ref().map(EmailNotifications::pace);
    let mut messages = Vec::new();
    for owner in people(context, &item).await? {
        for browser in store::list(&context.store, &owner).await? {
            let key = format!("{}:{}", browser.id, about.key());
            let sending = PushJob { subscription_id: browser.id, about: None, waiting: Some(about.clone()) };
            messages.push(SEND.job(&sending).owner(&owner).key(key));
        }
        if let Some(pace) = pace {
            messages.extend(next_digest(&context.store, &owner, pace).await?);
        }
    }
    let jobs = job.jobs().clone();
    let end = job.finish(Outcome::DONE, move |db| {
        Box::pin(async move {
            for message in messages {
                jobs.enqueue_in(db, message).await?;
            }
            Ok(())
        })
    });
    Ok(end.await?)
}

/// Returns the ids of the users for whom something waits: those that it names, and those who have notifications and one
/// of its roles. At most [`MAX_TOLD`].
async fn people(context: &Context, item: &WaitingItem) -> Result<Vec<String>, StoreError> {
    let with_notifications =
        if item.roles.is_empty() { Vec::new() } else { store::owners(&context.store, MAX_LOOKED_AT).await? };
    let mut people: Vec<String> = Vec::new();
    for id in item.users.iter().chain(&with_notifications) {
        if people.len() == MAX_TOLD {
            break;
        }
        if !people.contains(id) && person(context, id).await?.is_some_and(|person| item.is_for(&person)) {
            people.push(id.clone());
        }
    }
    Ok(people)
}

/// Returns a user with the roles that this server knows while they are away: those of their account and its groups.
/// `None` for one who is disabled.
pub(crate) async fn person(context: &Context, id: &str) -> Result<Option<Caller>, StoreError> {
    let person = Caller::signed_in(id);
    if matches!(context.current.config().auth.mode, AuthMode::Local) {
        return Ok(Some(person.with_roles(OWNER_ROLES.map(str::to_owned).to_vec())));
    }
    Ok(match context.store.user_by_id(id).await? {
        Some((user, _)) if user.disabled_at.is_some() => None,
        Some((user, _)) => Some(person.with_name(Some(user.name)).with_roles(user.roles)),
        None => Some(person),
    })
}

/// Returns the message for a user about something; `None` if it does not wait for them any more.
pub(crate) async fn message(
    context: &Context,
    waiting: &Waiting,
    settings: &Notifications,
    owner: &str,
    about: &WaitingRef,
) -> Result<Option<Message>, StoreError> {
    let Some(item) = waiting.find(context, about.kind, &about.id).await? else { return Ok(None) };
    let Some(person) = person(context, owner).await?.filter(|person| item.is_for(person)) else { return Ok(None) };
    let cause = match item.kind {
        WaitingKind::Task => Cause::Task,
        WaitingKind::AgentRun => Cause::Waiting,
        WaitingKind::PausedTrigger => Cause::PausedTrigger,
    };
    let title = settings.show_titles.then_some(item.title.as_str());
    Ok(Some(Message::new(cause, &item.subject, title, about.key(), path(context, &person, &item))))
}

/// Returns the page on which a user finds something that waits for them: a page with the block `WorkflowTasks`, a page
/// of the console for administrators, or the first page.
pub(crate) fn path(context: &Context, person: &Caller, item: &WaitingItem) -> String {
    let in_console = is_admin(person).then(|| item.console_path.clone());
    let found = match item.kind {
        WaitingKind::Task | WaitingKind::AgentRun => {
            context.current.tasks_page(person).map(|page| format!("/{page}")).or(in_console)
        }
        WaitingKind::PausedTrigger => in_console,
    };
    found.unwrap_or_else(|| "/".to_owned())
}
