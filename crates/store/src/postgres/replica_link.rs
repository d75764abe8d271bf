//! This server's link to the other servers of its database: they notify each other with LISTEN and NOTIFY.
//! Notifications are hints: all state is in the tables, where a server that misses a notification finds it.

use crate::StoreError;
use crate::sql::{self, Db};
use sqlx::postgres::{PgConnectOptions, PgListener, PgNotification, PgPoolOptions};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::broadcast;
use tokio::task::JoinHandle;

/// The number of events that are buffered for a slow listener; a slower one loses some and must query the tables.
const WAITING: usize = 256;

/// The maximum size of a notification in bytes; the server accepts 8,000.
const PAYLOAD: usize = 7_000;

/// The pause before reconnecting.
const AGAIN: Duration = Duration::from_secs(2);

const NOTIFY: &str = "SELECT pg_notify($1, $2)";

/// A change by another server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReplicaEvent {
    /// These runs have new events, or have ended.
    Runs(Arc<[String]>),
    /// These runs must stop.
    Stop(Arc<[String]>),
    /// Stored data that is part of the config has changed, such as the agents that administrators create.
    Config,
    /// Jobs were enqueued or changed.
    Jobs,
    /// Some events were lost.
    Missed,
}

/// Receives changes by other servers.
pub struct Listener(broadcast::Receiver<ReplicaEvent>);

impl Listener {
    /// Waits for the next event; for ever after the store was closed.
    pub async fn next(&mut self) -> ReplicaEvent {
        match self.0.recv().await {
            Ok(news) => news,
            Err(broadcast::error::RecvError::Lagged(_)) => ReplicaEvent::Missed,
            Err(broadcast::error::RecvError::Closed) => std::future::pending().await,
        }
    }
}

/// This server's id, its listening task, and whether there are other servers.
pub(crate) struct ReplicaLink {
    id: String,
    channel: String,
    others: AtomicBool,
    news: broadcast::Sender<ReplicaEvent>,
    listening: JoinHandle<()>,
}

impl Drop for ReplicaLink {
    fn drop(&mut self) {
        self.listening.abort();
    }
}

impl ReplicaLink {
    /// Starts to listen. `turn` is the key of the schema's advisory lock.
    pub(super) fn start(id: String, turn: i64, options: PgConnectOptions) -> Self {
        let channel = format!("chatwright_{:x}", turn.cast_unsigned());
        let news = broadcast::Sender::new(WAITING);
        let listening = tokio::spawn(listen(options, channel.clone(), news.clone()));
        Self { id, channel, others: AtomicBool::new(false), news, listening }
    }

    /// Stops listening.
    pub(crate) fn close(&self) {
        self.listening.abort();
    }

    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    pub(crate) fn has_others(&self) -> bool {
        self.others.load(Ordering::Relaxed)
    }

    pub(crate) fn set_others(&self, others: bool) {
        self.others.store(others, Ordering::Relaxed);
    }

    pub(crate) fn listener(&self) -> Listener {
        Listener(self.news.subscribe())
    }

    /// Notifies the other servers, if there are any, when the transaction commits.
    pub(crate) async fn notify_runs(&self, db: &mut Db, ids: &[&str]) -> Result<(), StoreError> {
        if self.has_others() { self.notify(db, 'r', ids).await } else { Ok(()) }
    }

    /// Notifies them that these runs must stop.
    pub(crate) async fn notify_stop(&self, db: &mut Db, ids: &[&str]) -> Result<(), StoreError> {
        self.notify(db, 's', ids).await
    }

    /// Notifies them, if there are any, that stored data that is part of the config has changed.
    pub(crate) async fn notify_config(&self, db: &mut Db) -> Result<(), StoreError> {
        if self.has_others() { self.notify(db, 'a', &["changed"]).await } else { Ok(()) }
    }

    /// Notifies them, if there are any, that jobs were enqueued or changed.
    pub(crate) async fn notify_jobs(&self, db: &mut Db) -> Result<(), StoreError> {
        if self.has_others() { self.notify(db, 'j', &["changed"]).await } else { Ok(()) }
    }

    async fn notify(&self, db: &mut Db, kind: char, ids: &[&str]) -> Result<(), StoreError> {
        let mut payloads: Vec<String> = Vec::new();
        for id in ids {
            match payloads.last_mut() {
                Some(last) if last.len() + id.len() < PAYLOAD => {
                    last.push(' ');
                    last.push_str(id);
                }
                _ => payloads.push(format!("{kind} {id}")),
            }
        }
        for payload in payloads {
            sql::query(NOTIFY).bind(&self.channel).bind(payload).execute(db).await?;
        }
        Ok(())
    }
}

async fn listen(options: PgConnectOptions, channel: String, news: broadcast::Sender<ReplicaEvent>) {
    loop {
        if let Err(error) = listen_once(&options, &channel, &news).await {
            tracing::warn!(%error, "cannot listen for notifications of other servers; polling instead");
        }
        tokio::time::sleep(AGAIN).await;
    }
}

async fn listen_once(
    options: &PgConnectOptions,
    channel: &str,
    news: &broadcast::Sender<ReplicaEvent>,
) -> Result<(), sqlx::Error> {
    let pool = PgPoolOptions::new().max_connections(1).connect_lazy_with(options.clone());
    let mut listener = PgListener::connect_with(&pool).await?;
    listener.listen(channel).await?;
    loop {
        // None: the connection was lost and reopened.
        let heard =
            listener.try_recv().await?.and_then(|heard| parse_notification(&heard)).unwrap_or(ReplicaEvent::Missed);
        // There may be no listener.
        let _ = news.send(heard);
    }
}

fn parse_notification(heard: &PgNotification) -> Option<ReplicaEvent> {
    let (kind, ids) = heard.payload().split_once(' ')?;
    let ids = ids.split(' ').map(str::to_owned).collect();
    match kind {
        "r" => Some(ReplicaEvent::Runs(ids)),
        "s" => Some(ReplicaEvent::Stop(ids)),
        "a" => Some(ReplicaEvent::Config),
        "j" => Some(ReplicaEvent::Jobs),
        _ => None,
    }
}
