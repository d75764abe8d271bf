//! The loads at several servers: turns, open streams, searches, lists and workflows.

use crate::load;
use crate::scale::fleet::Fleet;
use anyhow::{Context, Result, ensure};
use reqwest::{Client, RequestBuilder};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// The deltas of a turn, sent at once.
pub(crate) const TURN: &str = "bench-40x0";
/// A stream at the speed of a real model, for ten seconds.
pub(crate) const STREAM: &str = "bench-100x100";
pub(crate) const STREAM_SECONDS: f64 = 10.0;
/// The turns of a conversation.
const TURNS_PER_CONVERSATION: usize = 4;
/// A word of the scripted provider's text.
const WORD: &str = "answer";
/// A user may have a thousand runs that have not ended.
const RUNS_PER_USER: usize = 200;

/// The requests of a load, and their times.
#[derive(Clone, Debug, Default)]
pub(crate) struct Done {
    pub(crate) count: usize,
    pub(crate) seconds: f64,
    /// In milliseconds, sorted: until the first text, and until the end.
    pub(crate) firsts: Vec<f64>,
    pub(crate) ends: Vec<f64>,
}

impl Done {
    pub(crate) fn per_second(&self) -> f64 {
        self.count as f64 / self.seconds
    }
}

/// Returns a percentile of sorted figures.
pub(crate) fn percentile(sorted: &[f64], percent: usize) -> f64 {
    sorted.get((sorted.len() * percent / 100).min(sorted.len().max(1) - 1)).copied().unwrap_or_default()
}

/// The users of a load, who take the servers in turn.
#[derive(Clone)]
pub(crate) struct Users {
    origins: Arc<[String]>,
    http: Client,
    /// Tells the users and conversations of this load from those of others.
    name: String,
    next: Arc<AtomicUsize>,
}

impl Users {
    pub(crate) fn new(fleet: &Fleet, name: &str) -> Result<Self> {
        let http = Client::builder().pool_max_idle_per_host(1_000).build()?;
        Ok(Self { origins: fleet.origins(), http, name: name.to_owned(), next: Arc::default() })
    }

    fn origin(&self, user: usize) -> &str {
        &self.origins[user % self.origins.len()]
    }

    fn request(&self, request: RequestBuilder, user: usize) -> RequestBuilder {
        request.header("x-forwarded-user", format!("{}-{user}", self.name))
    }

    fn get(&self, user: usize, path: &str) -> RequestBuilder {
        self.request(self.http.get(format!("{}{path}", self.origin(user))), user)
    }

    fn post(&self, user: usize, path: &str) -> RequestBuilder {
        self.request(self.http.post(format!("{}{path}", self.origin(user))), user)
    }

    /// Lets a number of users act at least once, and repeatedly for some time, each with one request at a time.
    async fn repeat<F>(&self, users: usize, time: Duration, work: impl Fn(Self, usize, usize) -> F) -> Result<Done>
    where
        F: Future<Output = Result<(Duration, Duration)>> + Send,
    {
        let begun = Instant::now();
        let each = (0..users).map(|user| {
            let work = &work;
            async move {
                let mut done = vec![work(self.clone(), user, 0).await?];
                while begun.elapsed() < time {
                    done.push(work(self.clone(), user, done.len()).await?);
                }
                anyhow::Ok(done)
            }
        });
        let all = futures::future::try_join_all(each).await?.concat();
        let seconds = begun.elapsed().as_secs_f64();
        let sorted = |times: Vec<Duration>| {
            let mut times: Vec<_> = times.into_iter().map(|time| time.as_secs_f64() * 1e3).collect();
            times.sort_by(f64::total_cmp);
            times
        };
        let (firsts, ends): (Vec<_>, Vec<_>) = all.into_iter().unzip();
        Ok(Done { count: ends.len(), seconds, firsts: sorted(firsts), ends: sorted(ends) })
    }

    /// Turns as fast as they are answered, in conversations of a few turns.
    pub(crate) async fn turns(&self, users: usize, time: Duration) -> Result<Done> {
        self.repeat(users, time, |all, user, number| async move {
            let conversation = format!("{}-{user}-{}", all.name, number / TURNS_PER_CONVERSATION);
            all.turn(user, TURN, &conversation).await
        })
        .await
    }

    /// Opens a number of streams at once, once each.
    pub(crate) async fn streams(&self, count: usize) -> Result<Done> {
        self.repeat(count, Duration::ZERO, |all, user, _| async move {
            all.turn(user, STREAM, &format!("{}-{user}", all.name)).await
        })
        .await
    }

    async fn turn(&self, user: usize, agent: &str, conversation: &str) -> Result<(Duration, Duration)> {
        let begun = Instant::now();
        let request = self.post(user, &format!("/api/agent/bench/{agent}"));
        let reply = load::read_reply(request, conversation, "hello").await?;
        ensure!(reply.finished, "a stream is incomplete");
        Ok((reply.first, begun.elapsed()))
    }

    /// Searches for a word that is in all conversations of these users.
    pub(crate) async fn searches(&self, users: usize, time: Duration) -> Result<Done> {
        self.gets(users, time, &format!("/api/search?q={WORD}&limit=20")).await
    }

    /// Lists the newest conversations of these users.
    pub(crate) async fn lists(&self, users: usize, time: Duration) -> Result<Done> {
        self.gets(users, time, "/api/conversations?limit=30").await
    }

    async fn gets(&self, users: usize, time: Duration, path: &str) -> Result<Done> {
        self.repeat(users, time, |all, user, _| {
            let request = all.get(user, path);
            async move {
                let begun = Instant::now();
                request.send().await?.error_for_status()?.bytes().await?;
                Ok((begun.elapsed(), begun.elapsed()))
            }
        })
        .await
    }

    /// Starts runs of a workflow of one step, which are jobs, and waits until all have ended.
    pub(crate) async fn jobs(&self, users: usize, time: Duration) -> Result<Done> {
        let ids: Arc<std::sync::Mutex<Vec<(usize, String)>>> = Arc::default();
        let begun = Instant::now();
        let mut done = self
            .repeat(users, time, |all, _, _| {
                let ids = ids.clone();
                async move {
                    let user = all.next.fetch_add(1, Relaxed) / RUNS_PER_USER;
                    let request = all.post(user, "/api/workflows/one/runs").json(&json!({ "input": {} }));
                    let begun = Instant::now();
                    let run: Value = request.send().await?.error_for_status()?.json().await?;
                    let id = run["id"].as_str().context("a run has an id")?.to_owned();
                    ids.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push((user, id));
                    Ok((begun.elapsed(), begun.elapsed()))
                }
            })
            .await?;
        let ids = std::mem::take(&mut *ids.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
        // The last ones end last: few looks, which would take time from the runs.
        for (user, id) in ids.iter().rev() {
            self.wait_for_run(*user, id, begun).await?;
        }
        done.seconds = begun.elapsed().as_secs_f64();
        Ok(done)
    }

    async fn wait_for_run(&self, user: usize, id: &str, begun: Instant) -> Result<()> {
        loop {
            let request = self.get(user, &format!("/api/workflows/runs/{id}"));
            let run: Value = request.send().await?.error_for_status()?.json().await?;
            if run["endedAt"].is_i64() {
                ensure!(run["state"] == "done", "a run has failed: {}", run["error"]);
                return Ok(());
            }
            ensure!(begun.elapsed() < Duration::from_secs(600), "a run does not end");
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }
}
