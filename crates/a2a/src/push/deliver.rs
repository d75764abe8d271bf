//! The job that tells a client what has become of its task.

use super::store::PushRow;
use super::{Secrets, open, settings, store};
use crate::error::RpcError;
use crate::request::CallContext;
use crate::section::A2a;
use crate::task::{self, Snapshot};
use ::jobs::{Backoff, Handler, JobContext, JobError, Jobs, Kind, NewJob, Outcome};
use ::store::{Store, StoreError};
use a2a_types::{AuthenticationInfo, StreamResponse, TaskState, TaskStatusUpdateEvent};
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method};
use capability::Context;
use chat::Caller;
use egress::{Clients, EgressRequest, retry_after};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::time::{Duration, SystemTime};
use url::Url;

/// How often a notification is tried, within about an hour.
const ATTEMPTS: u32 = 8;
/// The timeout of a request.
const TIMEOUT: Duration = Duration::from_secs(10);
/// The largest notification in bytes with the whole task. A larger one has the state only.
const MAX_BODY: usize = 1 << 20;
/// The largest response that is read.
const MAX_ANSWER: usize = 64 << 10;
/// The longest pause that a client may ask for.
const LONGEST_PAUSE: Duration = Duration::from_secs(3_600);
/// The header with the client's token.
const TOKEN: HeaderName = HeaderName::from_static("x-a2a-notification-token");

/// The job that tells one client.
const SEND: Kind<Sending> = Kind::new("a2a.push")
    .concurrency(8)
    .attempts(ATTEMPTS)
    .backoff(Backoff { base: Duration::from_secs(5), cap: Duration::from_secs(1_200) })
    .timeout(Duration::from_secs(60));

/// The data of a job: a task, and the configuration by which its state is sent.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Sending {
    task_id: String,
    id: String,
}

/// Finds what clients are to be told; a cheap handle.
#[derive(Clone)]
pub(crate) struct Deliveries {
    pub(crate) store: Store,
    pub(crate) jobs: Jobs,
}

impl Deliveries {
    /// Enqueues a job for each client that is to be told something, in a conversation or, if it is empty, in all. A
    /// notification whose server was killed is found again by the latter.
    pub(crate) async fn enqueue(&self, conversation_id: &str) -> Result<(), StoreError> {
        for (task_id, id, owner) in store::due(&self.store, conversation_id).await? {
            self.jobs.enqueue(sending_job(task_id, id, &owner)).await?;
        }
        Ok(())
    }

    /// Stores an address, with a job that sends it the current state of the task. It replaces an address with the same id.
    /// Returns false if the task has too many addresses.
    ///
    /// The job is also enqueued while the agent works on the task, and normally does nothing then. It is needed if the run ends
    /// before this is committed: the end of the run does not find the address.
    pub(crate) async fn keep(&self, row: PushRow, now: i64) -> Result<bool, StoreError> {
        let jobs = self.jobs.clone();
        let keep = self.store.write(move |db| {
            Box::pin(async move {
                let send = sending_job(row.task_id.clone(), row.id.clone(), &row.owner);
                let is_kept = store::keep(db, row, now).await?;
                if is_kept {
                    jobs.enqueue_in(db, send).await?;
                }
                Ok(is_kept)
            })
        });
        keep.await
    }
}

/// Returns the job that sends the state of a task to an address. There is at most one for each address.
fn sending_job(task_id: String, id: String, owner: &str) -> NewJob {
    let key = format!("{task_id} {id}");
    SEND.job(&Sending { task_id, id }).owner(owner).key(key)
}

/// Returns the handler of the jobs.
pub(crate) fn handler(context: &Context) -> Handler {
    let (context, clients) = (context.clone(), Clients::default());
    Handler::new(SEND, move |job, sending| {
        let (context, clients) = (context.clone(), clients.clone());
        async move { send(&context, &clients, &job, sending).await }
    })
}

/// Why a client was not told.
enum Failure {
    /// It does not want it, or never can take it.
    Refused(String),
    /// It may take it later, after this pause if it has named one.
    Later(Option<Duration>, String),
}

async fn send(context: &Context, clients: &Clients, job: &JobContext, sending: Sending) -> Result<Outcome, JobError> {
    let Some(row) = store::open(&context.store, &sending.task_id, &sending.id).await? else { return Ok(Outcome::DONE) };
    let config = context.current.config();
    let is_offered = config.section::<A2a>().is_some_and(|section| section.offers(&row.agent_id));
    let Some(settings) = settings(&config).ok().filter(|_| is_offered) else { return Ok(Outcome::DONE) };
    let asked = CallContext {
        context: context.clone(),
        caller: Caller::signed_in(&row.owner),
        agent_id: row.agent_id.clone(),
        page_id: String::new(),
        origin: row.origin.clone(),
    };
    let snapshot = match task::load(&asked, &row.task_id).await {
        Ok(snapshot) => snapshot,
        // Deleted.
        Err(error) if error == RpcError::task_not_found() => {
            return end(job, store::sent(&row, row.sent_at, false)).await;
        }
        Err(error) => return Err(JobError::retry(error.message)),
    };
    let (state, reached_at) = (&snapshot.row.state, snapshot.row.updated_at);
    if *state == TaskState::Working || reached_at <= row.sent_at {
        return Ok(Outcome::DONE);
    }
    let sent = match open(&settings.environment_keys(), &row) {
        Some(secrets) => {
            let client = clients.get(settings.allow_private).map_err(JobError::fail)?;
            post(client, &row.url, secrets, notification(&asked, &snapshot)).await
        }
        None => Err(Failure::Refused("its token cannot be decrypted with the keys of this server".to_owned())),
    };
    let is_told = match sent {
        Ok(()) => true,
        Err(Failure::Later(pause, cause)) if job.attempt() < ATTEMPTS => {
            return Err(match pause {
                Some(pause) => JobError::retry_after(pause.min(LONGEST_PAUSE), cause),
                None => JobError::retry(cause),
            });
        }
        Err(Failure::Refused(cause) | Failure::Later(_, cause)) => {
            tracing::warn!(task = row.task_id, cause, "a client is not told any more what becomes of its task");
            false
        }
    };
    end(job, store::sent(&row, reached_at, is_told && !state.is_terminal())).await
}

async fn end(job: &JobContext, record: ::store::sql::Query) -> Result<Outcome, JobError> {
    let end = job.finish(Outcome::DONE, move |db| Box::pin(async move { Ok(record.execute(db).await.map(drop)?) }));
    Ok(end.await?)
}

/// Returns the notification: the task, or its state if it is too large.
fn notification(asked: &CallContext, snapshot: &Snapshot) -> Vec<u8> {
    let whole = json!(StreamResponse::Task(snapshot.task(asked, Some(0), true))).to_string();
    if whole.len() <= MAX_BODY {
        return whole.into_bytes();
    }
    let state = TaskStatusUpdateEvent {
        task_id: snapshot.row.id.clone(),
        context_id: snapshot.row.conversation_id.clone(),
        status: snapshot.status(),
        metadata: None,
    };
    json!(StreamResponse::StatusUpdate(state)).to_string().into_bytes()
}

/// Sends a notification.
async fn post(client: &egress::Egress, url: &str, secrets: Secrets, body: Vec<u8>) -> Result<(), Failure> {
    let url = Url::parse(url).map_err(|_| Failure::Refused("its address cannot be read".to_owned()))?;
    let mut headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static(crate::rest::MEDIA_TYPE))]);
    let mut add = |name: HeaderName, text: &str| {
        headers.extend(HeaderValue::from_str(text).map(|mut value| {
            value.set_sensitive(true);
            (name, value)
        }));
    };
    if let Some(token) = &secrets.token {
        add(TOKEN, token);
    }
    if let Some(AuthenticationInfo { scheme, credentials: Some(credentials) }) = &secrets.authentication {
        add(AUTHORIZATION, &format!("{scheme} {credentials}"));
    }
    let request =
        EgressRequest { method: Method::POST, url, headers, body: Some(body), timeout: TIMEOUT, max_bytes: MAX_ANSWER };
    let answer = client.send(request).await.map_err(|error| Failure::Later(None, error.to_string()))?;
    let cause = format!("the client answered with status {}", answer.status);
    match answer.status {
        200..300 => Ok(()),
        408 | 425 | 429 | 500.. => Err(Failure::Later(retry_after(&answer.headers, SystemTime::now()), cause)),
        _ => Err(Failure::Refused(cause)),
    }
}
