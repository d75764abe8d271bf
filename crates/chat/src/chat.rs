//! The facade: what users can do, one method each. Those of a subject of their own are with it:
//! `history`, `files`, `outside` and `upkeep`.

use crate::lifecycle::Inner;
use crate::record::telemetry::in_trace;
use crate::stream::{remote, watch};
use crate::{Caller, ConversationUsage, Frames, SendResponse, errors};
use std::sync::Arc;
use wire::api::{ConversationList, ConversationView, SendRequest, StandingApprovals};
use wire::change::{ChangeResult, MessageChange};
use wire::invoke::{Invocation, InvocationList, InvokeRequest};
use wire::organize::ListFilter;
use wire::page_events::GrantedEvents;
use wire::{EndReason, UserError};

/// The facade of this crate; a cheap handle.
#[derive(Clone)]
pub struct Chat {
    pub(crate) inner: Arc<Inner>,
}

impl Chat {
    /// Accepts a submission and starts the run that answers it. The stream contains what is new: a
    /// whole new message, or only the continuation of an existing one.
    ///
    /// # Errors
    /// 404 for an agent or a conversation that the caller may not access, 409 while a run is
    /// active, 413 and 422 for an invalid submission, 503 when full, short of memory or draining.
    pub async fn send(&self, caller: &Caller, request: SendRequest) -> Result<SendResponse, UserError> {
        let place = self.inner.submissions.clone().try_acquire_owned().map_err(|_| errors::server_full(2))?;
        // In a task of its own, so that a caller who disconnects leaves no half-started run.
        let (inner, caller) = (self.inner.clone(), caller.clone());
        let task = async move {
            let sent = inner.send_to_end(&caller, request).await;
            drop(place);
            sent
        };
        let task = self.inner.tasks.spawn(in_trace(task));
        task.await.unwrap_or_else(|_| Err(errors::internal()))
    }

    /// Returns the stream of the conversation's active run; `None` if there is none. Without a
    /// cursor it contains the whole message, including the parts that earlier runs wrote. A cursor
    /// is the `id` of an event; one that cannot be resumed yields `data-gap`.
    ///
    /// # Errors
    /// 404 for a conversation that the caller does not own.
    pub async fn watch(
        &self,
        caller: &Caller,
        conversation_id: &str,
        after: Option<&str>,
    ) -> Result<Option<Frames>, UserError> {
        let store = self.inner.store.clone();
        let Some(run) = self.inner.registry.get(&caller.user_id, conversation_id) else {
            let known = store.conversation(&caller.user_id, conversation_id).await.map_err(errors::store_error)?;
            let known = known.ok_or_else(UserError::not_found)?;
            let Some(run) = remote::active_run(&store, &caller.user_id, &known) else { return Ok(None) };
            return self.inner.watch_remote(run, after).await.map(Some);
        };
        Ok(Some(match after {
            None => watch::stream_whole(store, run),
            Some(cursor) => watch::stream_after(store, run, watch::EventCursor::parse(cursor)),
        }))
    }

    /// Stops the active run, if there is one. What was written stays.
    ///
    /// # Errors
    /// 404 for a conversation that the caller does not own.
    pub async fn stop(&self, caller: &Caller, conversation_id: &str) -> Result<(), UserError> {
        if let Some(run) = self.inner.registry.get(&caller.user_id, conversation_id) {
            run.stop(EndReason::StoppedByUser);
            return Ok(());
        }
        let store = &self.inner.store;
        let known = store.conversation(&caller.user_id, conversation_id).await.map_err(errors::store_error)?;
        if remote::active_run(store, &caller.user_id, &known.ok_or_else(UserError::not_found)?).is_some() {
            let stop = store.request_stop(&caller.user_id, Some(conversation_id), EndReason::StoppedByUser);
            stop.await.map_err(errors::store_error)?;
        }
        Ok(())
    }

    /// Lists the caller's conversations: pinned ones first, each group newest first, at most
    /// `limit` (1 to 100). `cursor` is the `next` of an earlier page.
    ///
    /// # Errors
    /// 400 for an invalid cursor.
    pub async fn conversations(
        &self,
        caller: &Caller,
        filter: ListFilter,
        limit: u32,
        cursor: Option<&str>,
    ) -> Result<ConversationList, UserError> {
        self.inner.conversations(caller, filter, limit, cursor).await
    }

    /// Returns a conversation, including a message that is still being generated, as far as it
    /// exists.
    ///
    /// # Errors
    /// 404 for a conversation that the caller does not own.
    pub async fn conversation(&self, caller: &Caller, id: &str) -> Result<ConversationView, UserError> {
        self.inner.conversation(caller, id).await
    }

    /// Returns the usage of a conversation: the totals, including inactive branches, and the last
    /// 500 model requests.
    ///
    /// # Errors
    /// 404 for a conversation that the caller does not own.
    pub async fn usage(&self, caller: &Caller, id: &str) -> Result<ConversationUsage, UserError> {
        self.inner.usage(caller, id).await
    }

    /// Returns the caller's standing approvals, newest first.
    ///
    /// # Errors
    /// 503 if the store fails.
    pub async fn standing_approvals(&self, caller: &Caller) -> Result<StandingApprovals, UserError> {
        self.inner.standing_approvals(caller).await
    }

    /// Revokes a standing approval: from the next call on, the user is asked again.
    ///
    /// # Errors
    /// 404 for one that the caller does not own.
    pub async fn revoke(&self, caller: &Caller, id: &str) -> Result<(), UserError> {
        self.inner.revoke(caller, id).await
    }

    /// Changes a conversation without a run: switches branches, deletes, rates or copies.
    ///
    /// # Errors
    /// 404 for a conversation or a message that the caller does not own, 409 while a run is active
    /// that the change affects, 422 for feedback that is too long.
    pub async fn revise(&self, caller: &Caller, id: &str, change: MessageChange) -> Result<ChangeResult, UserError> {
        self.inner.revise(caller, id, change).await
    }

    /// Claims events of an answer for one page of the caller, by keys that are derived from the
    /// answer. Returns the keys that no other page has claimed. `by` is a random id; a claim can be
    /// repeated with the same id. Nothing is granted later than 10 minutes after the end of the
    /// answer.
    ///
    /// # Errors
    /// 404 for a conversation that the caller does not own, 422 for too many keys or invalid ids.
    pub async fn claim_events(
        &self,
        caller: &Caller,
        conversation_id: String,
        message_id: String,
        keys: Vec<String>,
        by: String,
    ) -> Result<GrantedEvents, UserError> {
        self.inner.claim_events(caller, conversation_id, message_id, keys, by).await
    }

    /// Invokes an agent once, without its tools, and stores the answer. A caller who disconnects
    /// finds it in the list.
    ///
    /// # Errors
    /// 404 for an agent that the caller may not use, 413 and 422 for an invalid request, 503 when
    /// full, short of memory or draining. A failure of the model is reported in the invocation.
    pub async fn invoke(&self, caller: &Caller, request: InvokeRequest) -> Result<Invocation, UserError> {
        if self.inner.tasks.is_closed() {
            return Err(errors::draining());
        }
        let (inner, caller) = (self.inner.clone(), caller.clone());
        let task = self.inner.tasks.spawn(in_trace(async move { inner.invoke(&caller, request).await }));
        task.await.unwrap_or_else(|_| Err(errors::internal()))
    }

    /// Returns the caller's invocations, newest first, at most `limit` (1 to 100).
    ///
    /// # Errors
    /// 503 if the store fails.
    pub async fn invocations(&self, caller: &Caller, limit: u32) -> Result<InvocationList, UserError> {
        let items = self.inner.store.invocations(&caller.user_id, limit.max(1)).await.map_err(errors::store_error)?;
        Ok(InvocationList { items })
    }

    /// Returns one invocation.
    ///
    /// # Errors
    /// 404 for one that the caller does not own.
    pub async fn invocation(&self, caller: &Caller, id: &str) -> Result<Invocation, UserError> {
        let found = self.inner.store.invocation(&caller.user_id, id).await.map_err(errors::store_error)?;
        found.ok_or_else(UserError::not_found)
    }
}
