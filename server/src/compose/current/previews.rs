//! Configs that administrators try: only their own requests use them, and only on this server.

use super::CurrentConfig;
use super::snapshot::Snapshot;
use anyhow::{anyhow, bail};
use capability::{DraftConfigs, Written};
use chat::Caller;
use config::Config;
use futures::future::BoxFuture;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use web::times::now_millis;

/// The most previews at the same time: each is a whole config.
const MAX_PREVIEWS: usize = 4;

/// The previews by the ids of their users.
#[derive(Default)]
pub(super) struct Previews(Mutex<HashMap<String, Preview>>);

struct Preview {
    snapshot: Arc<Snapshot>,
    /// A Unix time in milliseconds.
    until: i64,
}

impl Previews {
    /// Returns the config that the caller tries.
    pub(super) fn get(&self, caller: &Caller) -> Option<Arc<Snapshot>> {
        let mut previews = self.0.lock();
        if previews.is_empty() || !caller.is_authenticated {
            return None;
        }
        remove_ended(&mut previews);
        previews.get(&caller.user_id).map(|preview| preview.snapshot.clone())
    }

    /// Ends all previews.
    pub(super) fn clear(&self) {
        self.0.lock().clear();
    }

    fn start(&self, user_id: &str, preview: Preview) -> anyhow::Result<()> {
        let mut previews = self.0.lock();
        remove_ended(&mut previews);
        if previews.len() >= MAX_PREVIEWS && !previews.contains_key(user_id) {
            bail!("{MAX_PREVIEWS} administrators try changes right now; wait until one of them has ended");
        }
        previews.insert(user_id.to_owned(), preview);
        Ok(())
    }
}

fn remove_ended(previews: &mut HashMap<String, Preview>) {
    let now = now_millis();
    previews.retain(|_, preview| preview.until > now);
}

impl CurrentConfig {
    /// Builds the running objects of a config that is not in use.
    async fn build_draft(&self, config: Config) -> anyhow::Result<Snapshot> {
        let places = config.folder.as_deref().into_iter().chain(self.auth_state.folder.as_deref());
        if let Some(problem) = workspace::shell_place_problem(&config, places) {
            return Err(anyhow!(problem));
        }
        let _alone = self.build_lock.lock().await;
        let before = self.snapshot.load_full();
        self.build(Arc::new(config), Written::Changed, &before).await
    }
}

impl DraftConfigs for CurrentConfig {
    fn try_config(&self, config: Config) -> BoxFuture<'_, anyhow::Result<()>> {
        Box::pin(async move { self.build_draft(config).await.map(drop) })
    }

    fn start_preview<'a>(&'a self, user_id: &'a str, config: Config, until: i64) -> BoxFuture<'a, anyhow::Result<()>> {
        Box::pin(async move {
            let snapshot = Arc::new(self.build_draft(config).await?);
            self.previews.start(user_id, Preview { snapshot, until })
        })
    }

    fn preview(&self, user_id: &str) -> Option<i64> {
        let mut previews = self.previews.0.lock();
        remove_ended(&mut previews);
        previews.get(user_id).map(|preview| preview.until)
    }

    fn end_preview(&self, user_id: &str) {
        self.previews.0.lock().remove(user_id);
    }
}
