//! The jobs that find answers that need a notification, and send it to each browser.

use crate::message::{Cause, Message, Receiver, request};
use crate::section::Notifications;
use crate::server_key::ServerKey;
use crate::store;
use crate::waiting::{self, WaitingRef};
use ::store::StoreError;
use capability::{Context, Waiting};
use egress::{Clients, retry_after};
use jobs::{Backoff, Handler, JobContext, JobError, Kind, NewJob, OnPending, Outcome};
use serde::{Deserialize, Serialize};
use std::time::{Duration, SystemTime};
use web::times::now_millis;
use wire::api::ConversationSummary;

/// The job that checks whether an answer is still unread, some time after it has ended. The name of
/// its kind is stored in databases.
pub(crate) const CHECK_UNREAD: Kind<EndedAnswer> =
    Kind::new("notifications.look").attempts(5).timeout(Duration::from_secs(60));

/// The job that sends a message to one browser. It is tried for about an hour; older messages are
/// of no use.
pub(crate) const SEND: Kind<PushJob> = Kind::new("notifications.send")
    .concurrency(8)
    .attempts(8)
    .backoff(Backoff { base: Duration::from_secs(10), cap: Duration::from_secs(1_200) })
    .timeout(Duration::from_secs(60));

/// The longest pause that a push service may ask for.
const LONGEST_PAUSE: Duration = Duration::from_secs(3_600);

/// An answer that has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct EndedAnswer {
    /// Its conversation.
    pub(crate) conversation_id: String,
    /// Whether it broke off or failed.
    pub(crate) has_failed: bool,
}

/// A message to one browser.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PushJob {
    /// The browser.
    pub(crate) subscription_id: String,
    /// The answer that it is about.
    pub(crate) about: Option<EndedAnswer>,
    /// The item that waits for the user, if it is about that. Without both, it is a test.
    #[serde(default)]
    pub(crate) waiting: Option<WaitingRef>,
}

/// Returns the job that checks a conversation later. A job that waits already begins to wait anew.
pub(crate) fn check_later(owner: &str, ended: &EndedAnswer, after: Duration) -> NewJob {
    let job = CHECK_UNREAD.job(ended).owner(owner).key(&*ended.conversation_id);
    job.due(jobs::Due::After(after)).on_pending(OnPending::Replace)
}

/// Returns the handlers of the jobs.
pub(crate) fn handlers(context: &Context, waiting: &Waiting) -> [Handler; 2] {
    let (for_check, for_send, clients) = (context.clone(), context.clone(), Clients::default());
    let waiting = waiting.clone();
    let check = Handler::new(CHECK_UNREAD, move |job, ended| {
        let context = for_check.clone();
        async move { check_unread(&context, &job, ended).await }
    });
    let send = Handler::new(SEND, move |job, sending| {
        let (context, waiting, clients) = (for_send.clone(), waiting.clone(), clients.clone());
        async move { send((&context, &waiting), &clients, &job, sending).await }
    });
    [check, send]
}

/// Enqueues a message for each browser of the user, if the answer is still unread or waits for
/// them.
async fn check_unread(context: &Context, job: &JobContext, ended: EndedAnswer) -> Result<Outcome, JobError> {
    let Some(owner) = job.owner() else { return Ok(Outcome::DONE) };
    if unseen(context, owner, &ended.conversation_id).await?.is_none() {
        return Ok(Outcome::DONE);
    }
    let browsers = store::list(&context.store, owner).await?;
    let (jobs, owner) = (job.jobs().clone(), owner.to_owned());
    let end = job.finish(Outcome::DONE, move |db| {
        Box::pin(async move {
            for browser in browsers {
                let key = format!("{}:{}", browser.id, ended.conversation_id);
                let sending = PushJob { subscription_id: browser.id, about: Some(ended.clone()), waiting: None };
                jobs.enqueue_in(db, SEND.job(&sending).owner(&owner).key(key)).await?;
            }
            Ok(())
        })
    });
    Ok(end.await?)
}

/// Returns the conversation if its user has not seen its newest answer.
async fn unseen(
    context: &Context,
    owner: &str,
    conversation_id: &str,
) -> Result<Option<ConversationSummary>, StoreError> {
    let found = context.store.conversation(owner, conversation_id).await?.map(|found| found.summary);
    Ok(found.filter(is_unseen))
}

/// Returns whether a conversation has something that its user has not seen.
pub(crate) fn is_unseen(found: &ConversationSummary) -> bool {
    !found.running && (found.unread || found.waiting)
}

async fn send(
    (context, waiting): (&Context, &Waiting),
    clients: &Clients,
    job: &JobContext,
    sending: PushJob,
) -> Result<Outcome, JobError> {
    let config = context.current.config();
    let Some(settings) = config.section::<Notifications>() else { return Ok(Outcome::DONE) };
    let Some(browser) = store::find(&context.store, &sending.subscription_id).await? else {
        return Ok(Outcome::DONE);
    };
    let message = match (&sending.about, &sending.waiting) {
        (None, None) => {
            Message::new(Cause::Test, "Chatwright", None, "test".to_owned(), "/account/notifications".to_owned())
        }
        // They may have read it since, or the browser may belong to another user.
        _ if job.owner() != Some(&browser.owner) => return Ok(Outcome::DONE),
        (_, Some(about)) => match waiting::message(context, waiting, settings, &browser.owner, about).await? {
            Some(message) => message,
            None => return Ok(Outcome::DONE),
        },
        (Some(ended), None) => match unseen(context, &browser.owner, &ended.conversation_id).await? {
            Some(found) => answer_message(&config, settings, ended, &found),
            None => return Ok(Outcome::DONE),
        },
    };
    let receiver = Receiver::stored(settings, &browser).map_err(|(_, problem)| JobError::fail(problem))?;
    let key = ServerKey::load(&context.store).await?;
    let request = request(&receiver, &message, &key, &settings.contact.0, now_millis() / 1_000);
    let client = clients.get(settings.allow_private).map_err(JobError::fail)?;
    let answer = client.send(request.map_err(JobError::fail)?).await.map_err(JobError::retry)?;
    match answer.status {
        200..300 => store::mark_sent(&context.store, &browser.id, now_millis()).await?,
        // The user has revoked the permission, or the browser is gone.
        404 | 410 => {
            store::delete(&context.store, &browser.owner, &browser.id).await?;
        }
        status @ (408 | 425 | 429 | 500..) => {
            let cause = format!("The push service answered {status}.");
            return Err(match retry_after(&answer.headers, SystemTime::now()) {
                Some(pause) => JobError::retry_after(pause.min(LONGEST_PAUSE), cause),
                None => JobError::retry(cause),
            });
        }
        status => return Err(JobError::fail(format!("The push service answered {status}."))),
    }
    Ok(Outcome::DONE)
}

/// Returns the message about an answer.
fn answer_message(
    config: &config::Config,
    settings: &Notifications,
    ended: &EndedAnswer,
    found: &ConversationSummary,
) -> Message {
    let cause = match (found.waiting, ended.has_failed) {
        (true, _) => Cause::Waiting,
        (false, true) => Cause::Failed,
        (false, false) => Cause::Answered,
    };
    let sender = agent_title(config, &found.agent_id);
    let title = settings.show_titles.then_some(found.title.as_str());
    let url = format!("/{}?conversation={}", found.page_id, found.id);
    Message::new(cause, sender, title, found.id.clone(), url)
}

/// Returns the name of an agent for users.
pub(crate) fn agent_title<'a>(config: &'a config::Config, agent_id: &'a str) -> &'a str {
    let title = config.agents.get(agent_id).and_then(|agent| agent.title.as_deref());
    title.unwrap_or(agent_id)
}
