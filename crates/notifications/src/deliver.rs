//! The jobs that find out whether there is something to tell, and send it to each browser.

use crate::message::{Cause, Message, Receiver, request};
use crate::section::Notifications;
use crate::server_key::ServerKey;
use crate::store;
use ::store::StoreError;
use capability::Context;
use egress::{Clients, retry_after};
use jobs::{Backoff, Handler, JobContext, JobError, Kind, NewJob, OnPending, Outcome};
use serde::{Deserialize, Serialize};
use std::time::{Duration, SystemTime};
use web::times::now_millis;
use wire::api::ConversationSummary;

/// The job that looks whether an answer is still unread, some time after it has ended.
pub(crate) const LOOK: Kind<Ended> = Kind::new("notifications.look").attempts(5).timeout(Duration::from_secs(60));

/// The job that sends a message to one browser. It is tried for about an hour; what is older than that is seldom news.
pub(crate) const SEND: Kind<Sending> = Kind::new("notifications.send")
    .concurrency(8)
    .attempts(8)
    .backoff(Backoff { base: Duration::from_secs(10), cap: Duration::from_secs(1_200) })
    .timeout(Duration::from_secs(60));

/// The longest pause that a push service may ask for.
const LONGEST_PAUSE: Duration = Duration::from_secs(3_600);

/// An answer that has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ended {
    /// Its conversation.
    pub(crate) conversation_id: String,
    /// Whether it broke off or failed.
    pub(crate) has_failed: bool,
}

/// What is sent to which browser.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Sending {
    /// The browser.
    pub(crate) subscription_id: String,
    /// What it is about; `None` for a test.
    pub(crate) about: Option<Ended>,
}

/// Returns the job that looks at a conversation later. One that waits already begins to wait anew.
pub(crate) fn look_later(owner: &str, ended: &Ended, after: Duration) -> NewJob {
    let job = LOOK.job(ended).owner(owner).key(&*ended.conversation_id);
    job.due(jobs::Due::After(after)).on_pending(OnPending::Replace)
}

/// Returns the handlers of the jobs.
pub(crate) fn handlers(context: &Context) -> [Handler; 2] {
    let (for_look, for_send, clients) = (context.clone(), context.clone(), Clients::default());
    let look = Handler::new(LOOK, move |job, ended| {
        let context = for_look.clone();
        async move { look(&context, &job, ended).await }
    });
    let send = Handler::new(SEND, move |job, sending| {
        let (context, clients) = (for_send.clone(), clients.clone());
        async move { send(&context, &clients, &job, sending).await }
    });
    [look, send]
}

/// Enqueues a message for each browser of the user, if the answer is still unread or waits for them.
async fn look(context: &Context, job: &JobContext, ended: Ended) -> Result<Outcome, JobError> {
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
                let sending = Sending { subscription_id: browser.id, about: Some(ended.clone()) };
                jobs.enqueue_in(db, SEND.job(&sending).owner(&owner).key(key)).await?;
            }
            Ok(())
        })
    });
    Ok(end.await?)
}

/// Returns a conversation with something that its user has not seen.
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

async fn send(context: &Context, clients: &Clients, job: &JobContext, sending: Sending) -> Result<Outcome, JobError> {
    let config = context.current.config();
    let Some(settings) = config.section::<Notifications>() else { return Ok(Outcome::DONE) };
    let Some(browser) = store::find(&context.store, &sending.subscription_id).await? else {
        return Ok(Outcome::DONE);
    };
    let message = match &sending.about {
        None => Message::new(Cause::Test, "Chatwright", None, "test".to_owned(), "/account/notifications".to_owned()),
        // They may have read it since, or the browser may belong to somebody else.
        Some(_) if job.owner() != Some(&browser.owner) => return Ok(Outcome::DONE),
        Some(ended) => match unseen(context, &browser.owner, &ended.conversation_id).await? {
            Some(found) => about(&config, settings, ended, &found),
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
        // The user has taken the permission back, or the browser is gone.
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
fn about(config: &config::Config, settings: &Notifications, ended: &Ended, found: &ConversationSummary) -> Message {
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
