//! What a server knows of the others on its database, and what they tell each other: hints by LISTEN and NOTIFY. Everything that counts is
//! in the tables; who misses a hint finds it there.

use crate::StoreError;
use crate::sql::{self, Db};
use sqlx::postgres::{PgConnectOptions, PgListener, PgNotification, PgPoolOptions};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::broadcast;
use tokio::task::JoinHandle;

/// Hints that wait for a slow listener; one that is slower misses some and looks by itself.
const WAITING: usize = 256;

/// Bytes of a notification; the server takes 8,000.
const PAYLOAD: usize = 7_000;

/// How long is waited until the connection is tried again.
const AGAIN: Duration = Duration::from_secs(2);

const NOTIFY: &str = "SELECT pg_notify($1, $2)";

/// Something that another server wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum News {
    /// These runs have new events, or have ended.
    Runs(Arc<[String]>),
    /// These runs are to end.
    Stop(Arc<[String]>),
    /// An administrator has made, changed or deleted agents.
    Agents,
    /// Some news was missed.
    Missed,
}

/// Hears what other servers write.
pub struct Listener(broadcast::Receiver<News>);

impl Listener {
    /// The next news. Pending for ever when the store was closed.
    pub async fn next(&mut self) -> News {
        match self.0.recv().await {
            Ok(news) => news,
            Err(broadcast::error::RecvError::Lagged(_)) => News::Missed,
            Err(broadcast::error::RecvError::Closed) => std::future::pending().await,
        }
    }
}

/// This server among others.
pub(crate) struct Shared {
    id: String,
    channel: String,
    others: AtomicBool,
    news: broadcast::Sender<News>,
    listening: JoinHandle<()>,
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.listening.abort();
    }
}

impl Shared {
    /// Begins to listen. `turn` is the number of the schema's lock.
    pub(super) fn start(id: String, turn: i64, options: PgConnectOptions) -> Self {
        let channel = format!("chatwright_{:x}", turn.cast_unsigned());
        let news = broadcast::Sender::new(WAITING);
        let listening = tokio::spawn(listen(options, channel.clone(), news.clone()));
        Self { id, channel, others: AtomicBool::new(false), news, listening }
    }

    /// Listens no longer.
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

    /// Tells the others with the commit of the transaction; nobody when there are none.
    pub(crate) async fn tell_runs(&self, db: &mut Db, ids: &[&str]) -> Result<(), StoreError> {
        if self.has_others() { self.tell(db, 'r', ids).await } else { Ok(()) }
    }

    /// The same: these runs are to end.
    pub(crate) async fn tell_stop(&self, db: &mut Db, ids: &[&str]) -> Result<(), StoreError> {
        self.tell(db, 's', ids).await
    }

    /// The same: an administrator has changed agents.
    pub(crate) async fn tell_agents(&self, db: &mut Db) -> Result<(), StoreError> {
        if self.has_others() { self.tell(db, 'a', &["changed"]).await } else { Ok(()) }
    }

    async fn tell(&self, db: &mut Db, kind: char, ids: &[&str]) -> Result<(), StoreError> {
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

async fn listen(options: PgConnectOptions, channel: String, news: broadcast::Sender<News>) {
    loop {
        if let Err(error) = listen_once(&options, &channel, &news).await {
            tracing::warn!(%error, "the news of other servers is not heard; looking for it instead");
        }
        tokio::time::sleep(AGAIN).await;
    }
}

async fn listen_once(
    options: &PgConnectOptions,
    channel: &str,
    news: &broadcast::Sender<News>,
) -> Result<(), sqlx::Error> {
    let pool = PgPoolOptions::new().max_connections(1).connect_lazy_with(options.clone());
    let mut listener = PgListener::connect_with(&pool).await?;
    listener.listen(channel).await?;
    loop {
        // None: the connection was lost and opened again.
        let heard = listener.try_recv().await?.and_then(|heard| understood(&heard)).unwrap_or(News::Missed);
        // Nobody may be listening.
        let _ = news.send(heard);
    }
}

fn understood(heard: &PgNotification) -> Option<News> {
    let (kind, ids) = heard.payload().split_once(' ')?;
    let ids = ids.split(' ').map(str::to_owned).collect();
    match kind {
        "r" => Some(News::Runs(ids)),
        "s" => Some(News::Stop(ids)),
        "a" => Some(News::Agents),
        _ => None,
    }
}
