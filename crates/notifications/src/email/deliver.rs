//! The jobs that send e-mails.

use super::pace::Pace;
use super::text::Entry;
use super::{store, text};
use crate::deliver::is_unseen;
use crate::section::Notifications;
use crate::waiting::{self, path};
use ::store::Store;
use capability::{Context, Waiting};
use jobs::{Backoff, Due, Handler, JobContext, JobError, Kind, NewJob, OnPending, Outcome};
use mail::{Mail, MailError, Smtp};
use serde::{Deserialize, Serialize};
use std::time::Duration;
use web::times::now_millis;
use wire::api::ConversationSummary;
use wire::organize::ListFilter;

/// The most conversations that are looked at for an e-mail: pinned ones, and then the newest ones. As many questions and
/// triggers are, the oldest ones.
const MAX_LOOKED_AT: u32 = 100;

/// The job that asks a user to confirm an address.
pub(crate) const CONFIRM: Kind<Confirmation> = Kind::new("notifications.confirm")
    .attempts(8)
    .backoff(Backoff { base: Duration::from_secs(10), cap: Duration::from_secs(1_200) })
    .timeout(Duration::from_secs(60));

/// The job that tells a user by e-mail of everything that is unread.
pub(crate) const DIGEST: Kind<()> = Kind::new("notifications.digest")
    .attempts(8)
    .backoff(Backoff { base: Duration::from_secs(30), cap: Duration::from_secs(3_600) })
    .timeout(Duration::from_secs(60));

/// The address that is to be confirmed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Confirmation {
    /// Its token.
    pub(crate) token: String,
}

/// Returns the job that tells a user of an answer, if they have a confirmed address. One that waits already stays.
pub(crate) async fn next_digest(
    database: &Store,
    owner: &str,
    pace: Pace,
) -> Result<Option<NewJob>, ::store::StoreError> {
    let Some(settings) = store::find(database, owner).await? else { return Ok(None) };
    if settings.confirmed().is_none() {
        return Ok(None);
    }
    let pause = Duration::from_millis(pace.pause(now_millis(), settings.sent_at).unsigned_abs());
    let job = DIGEST.job(&()).owner(owner).key(owner).due(Due::After(pause)).on_pending(OnPending::Earlier);
    Ok(Some(job))
}

/// Returns the handlers of the jobs.
pub(crate) fn handlers(context: &Context, waiting: &Waiting) -> [Handler; 2] {
    let (for_confirmation, for_digest, waiting) = (context.clone(), context.clone(), waiting.clone());
    let confirm = Handler::new(CONFIRM, move |job, confirmation| {
        let context = for_confirmation.clone();
        async move { send_confirmation(&context, &job, &confirmation).await }
    });
    let digest = Handler::new(DIGEST, move |job, ()| {
        let (context, waiting) = (for_digest.clone(), waiting.clone());
        async move { send_digest(&context, &waiting, &job).await }
    });
    [confirm, digest]
}

async fn send_confirmation(
    context: &Context,
    job: &JobContext,
    confirmation: &Confirmation,
) -> Result<Outcome, JobError> {
    let Some(owner) = job.owner() else { return Ok(Outcome::DONE) };
    let stored = store::find(&context.store, owner).await?;
    // They may have entered another address since, or confirmed this one.
    let stored = stored.filter(|stored| stored.token == confirmation.token && stored.confirmed_at.is_none());
    let Some(address) = stored.and_then(|stored| stored.address) else { return Ok(Outcome::DONE) };
    let config = context.current.config();
    let Some(settings) = config.section::<Notifications>().and_then(|settings| settings.email.as_ref()) else {
        return Ok(Outcome::DONE);
    };
    let mail = text::confirmation(&config, job.id(), &address, &confirmation.token);
    let (Some(smtp), Some(mail)) = (settings.smtp(&config), mail) else { return Ok(Outcome::DONE) };
    send(smtp, &mail).await?;
    Ok(Outcome::DONE)
}

async fn send_digest(context: &Context, waiting: &Waiting, job: &JobContext) -> Result<Outcome, JobError> {
    let Some(owner) = job.owner() else { return Ok(Outcome::DONE) };
    let Some(stored) = store::find(&context.store, owner).await? else { return Ok(Outcome::DONE) };
    let Some((address, since)) = stored.confirmed() else { return Ok(Outcome::DONE) };
    let config = context.current.config();
    let Some(settings) = config.section::<Notifications>().and_then(|settings| settings.email.as_ref()) else {
        return Ok(Outcome::DONE);
    };
    // Events after this time are in the next e-mail.
    let looked_at = now_millis();
    let unseen = unseen_since(&context.store, owner, since).await?;
    let mut entries: Vec<_> = unseen.iter().map(|found| Entry::of_conversation(&config, settings, found)).collect();
    if let Some(person) = waiting::person(context, owner).await? {
        let items = waiting.for_user(context, &person, since, MAX_LOOKED_AT).await?;
        entries.extend(items.iter().map(|item| Entry::of_item(settings, item, path(context, &person, item))));
    }
    if entries.is_empty() {
        return Ok(Outcome::DONE);
    }
    let mail = text::digest(&config, job.id(), (address, stored.token.as_str()), &entries);
    let (Some(smtp), Some(mail)) = (settings.smtp(&config), mail) else { return Ok(Outcome::DONE) };
    send(smtp, &mail).await?;
    let (owner, token) = (owner.to_owned(), stored.token.clone());
    let end = job.finish(Outcome::DONE, move |db| {
        Box::pin(async move { store::mark_sent(db, &owner, &token, looked_at).await })
    });
    Ok(end.await?)
}

/// Returns the conversations of a user with something that they have not seen, newer than what the last e-mail was about.
async fn unseen_since(
    database: &Store,
    owner: &str,
    since: i64,
) -> Result<Vec<ConversationSummary>, ::store::StoreError> {
    let found = database.conversations(owner, ListFilter::default(), MAX_LOOKED_AT, None).await?;
    let found = found.into_iter().map(|found| found.summary);
    Ok(found.filter(|found| is_unseen(found) && found.updated_at > since).collect())
}

async fn send(smtp: &Smtp, mail: &Mail) -> Result<(), JobError> {
    smtp.send(mail).await.map_err(|error| match error {
        MailError::Refused(cause) => JobError::fail(cause),
        MailError::Failed(cause) => JobError::retry(cause),
    })
}
