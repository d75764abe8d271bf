//! Watches a run on another server by reading the journal. Database notifications announce news; a
//! missed one is compensated by polling.

use crate::errors::Result;
use crate::stream::live::{DONE, RunIdentity};
use crate::stream::page_size::PageSize;
use crate::stream::watch::{self, EventCursor};
use crate::upkeep::recover;
use crate::{Frames, Inner};
use bytes::Bytes;
use futures::StreamExt;
use std::time::Duration;
use store::{Conversation, Listener, OpenRun, ReplicaEvent, Store};
use wire::{UiMessage, UserError};

/// How often a watcher polls without a notification.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// Returns the run of another server that is active in a conversation, if any.
pub(crate) fn active_run(store: &Store, owner: &str, conversation: &Conversation) -> Option<RunIdentity> {
    let run = conversation.active_run.as_ref().filter(|_| store.is_shared())?;
    Some(RunIdentity {
        run_id: run.id.clone(),
        conversation_id: conversation.summary.id.clone(),
        owner: owner.to_owned(),
        message_id: run.message_id.clone(),
        epoch: run.epoch,
    })
}

impl Inner {
    /// Streams such a run after a cursor, or from the start.
    pub(crate) async fn watch_remote(&self, run: RunIdentity, after: Option<&str>) -> Result<Frames> {
        let Some(cursor) = after else { return self.whole_remote(run).await };
        Ok(match EventCursor::parse(cursor).and_then(|cursor| cursor.within(run.epoch)) {
            Some(seq) => tail(self.store.clone(), run, seq),
            None => watch::gap(),
        })
    }

    /// Streams from the start, including the message's earlier parts.
    pub(crate) async fn whole_remote(&self, run: RunIdentity) -> Result<Frames> {
        let messages = self.store.messages(&run.owner, &run.conversation_id).await?;
        let message = messages.into_iter().find(|stored| stored.id == run.message_id);
        let message = message.ok_or_else(UserError::not_found)?.message;
        // Read after the message: while the run is active, the stored message is the one from its
        // start.
        let progress = self.store.run_progress(&run.owner, &run.run_id).await?;
        if progress.is_none_or(|progress| progress.is_over) {
            return Ok(watch::stream_ended(&message));
        }
        if message.parts.is_empty() {
            return Ok(tail(self.store.clone(), run, 0));
        }
        let earlier = watch::earlier(&message);
        // Event 1 is the run's own `start`.
        Ok(futures::stream::once(async { earlier }).chain(tail(self.store.clone(), run, 1)).boxed())
    }

    /// Returns the message of such a run, as far as it is journaled.
    pub(crate) async fn written_remote(&self, run: &RunIdentity, agent_id: &str) -> Result<UiMessage> {
        let open = OpenRun {
            owner: run.owner.clone(),
            conversation_id: run.conversation_id.clone(),
            agent_id: agent_id.to_owned(),
            run_id: run.run_id.clone(),
            epoch: run.epoch,
            message_id: run.message_id.clone(),
            lease_until: 0,
        };
        Ok(recover::rebuild(&self.store, &open).await?)
    }
}

fn tail(store: Store, run: RunIdentity, mut after: u64) -> Frames {
    async_stream::stream! {
        // Subscribes before the first read, so that nothing is missed in between.
        let mut news = store.listen();
        let mut page = PageSize::first();
        loop {
            // Read before the events: if the run is over by then, the events are complete.
            let progress = store.run_progress(&run.owner, &run.run_id).await;
            let rows = store.events(&run.owner, &run.run_id, after, page.rows()).await;
            let (Ok(progress), Ok(rows)) = (progress, rows) else {
                // The watcher reconnects at its cursor.
                tracing::warn!(run = run.run_id, "the journal of another server's run could not be read");
                return;
            };
            page.measure(&rows);
            let (frames, reached) = watch::join(&rows, after, u64::MAX);
            if reached > after {
                after = reached;
                yield frames;
                continue;
            }
            match progress {
                Some(progress) if !progress.is_over => wait(news.as_mut(), &run.run_id).await,
                // Everything was sent.
                Some(progress) if progress.last_seq == Some(after) => break,
                // The run was interrupted or deleted; the message has its outcome.
                _ => {
                    yield watch::gap_frame();
                    break;
                }
            }
        }
        yield Bytes::from_static(DONE);
    }
    .boxed()
}

/// Waits until there may be new events.
async fn wait(news: Option<&mut Listener>, run_id: &str) {
    let Some(news) = news else { return tokio::time::sleep(POLL_INTERVAL).await };
    let heard = async {
        loop {
            match news.next().await {
                ReplicaEvent::Runs(ids) if !ids.iter().any(|id| id == run_id) => {}
                ReplicaEvent::Stop(_) | ReplicaEvent::Config | ReplicaEvent::Jobs => {}
                ReplicaEvent::Runs(_) | ReplicaEvent::Missed => return,
            }
        }
    };
    // A timeout is fine: the caller polls in any case.
    let _ = tokio::time::timeout(POLL_INTERVAL, heard).await;
}
