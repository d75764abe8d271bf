//! The facade: sending a message, following the answer and stopping it. The other methods of
//! [`Chat`] are with their subjects in `history`, `files`, `outside` and `upkeep`. Each of them
//! calls the method of the same name of [`Inner`], whose error it converts for the caller.

use crate::Inner;
use crate::errors::Result;
use crate::record::telemetry::in_trace;
use crate::stream::live::RunIdentity;
use crate::stream::{remote, watch};
use crate::submit::SentSubmission;
use crate::{Caller, Frames, Frontend, SendResponse, errors};
use std::sync::Arc;
use store::{AuditEntry, RunsToStop};
use wire::api::SendRequest;
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
        self.submit(caller, SentSubmission { request, frontend: None, after: None, audit: Vec::new() }).await
    }

    /// Like [`Chat::send`], with entries for the audit log, which are written in the transaction that stores the submission.
    ///
    /// # Errors
    /// Those of [`Chat::send`].
    pub async fn send_audited(
        &self,
        caller: &Caller,
        request: SendRequest,
        audit: Vec<AuditEntry>,
    ) -> Result<SendResponse, UserError> {
        self.submit(caller, SentSubmission { request, frontend: None, after: None, audit }).await
    }

    /// Like [`Chat::send`], for a message that is sent without the user: it is accepted only while the conversation ends
    /// with this answer, and the answer has ended well. So it does not pass over a question that waits for the user.
    ///
    /// # Errors
    /// Those of [`Chat::send`], and 409 if the conversation has gone on since.
    pub async fn send_after(
        &self,
        caller: &Caller,
        request: SendRequest,
        answer_id: &str,
    ) -> Result<SendResponse, UserError> {
        let after = Some(answer_id.to_owned());
        self.submit(caller, SentSubmission { request, frontend: None, after, audit: Vec::new() }).await
    }

    /// Like [`Chat::send`], for a frontend that is not a page of the config and brings its own tools.
    ///
    /// # Errors
    /// Those of [`Chat::send`], and 422 for a tool that cannot be offered or a result that nothing waits for.
    pub async fn send_from(
        &self,
        caller: &Caller,
        request: SendRequest,
        frontend: Frontend,
    ) -> Result<SendResponse, UserError> {
        self.submit(caller, SentSubmission { request, frontend: Some(frontend), after: None, audit: Vec::new() }).await
    }

    async fn submit(&self, caller: &Caller, submission: SentSubmission) -> Result<SendResponse, UserError> {
        let place = self.inner.submissions.clone().try_acquire_owned().map_err(|_| errors::server_full(2))?;
        // In a task of its own, so that a caller who disconnects leaves no half-started run.
        let (inner, caller) = (self.inner.clone(), caller.clone());
        let task = async move {
            let sent = inner.send_to_end(&caller, submission).await;
            drop(place);
            sent
        };
        let task = self.inner.tasks.spawn(in_trace(task));
        Ok(task.await.map_err(|_| errors::internal())??)
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
        Ok(self.inner.watch(caller, conversation_id, after, None).await?)
    }

    /// Returns the whole stream of a message, as [`Chat::watch`] does; `None` if this message is not being written,
    /// even if another one of the conversation is.
    ///
    /// # Errors
    /// As [`Chat::watch`].
    pub async fn watch_message(
        &self,
        caller: &Caller,
        conversation_id: &str,
        message_id: &str,
    ) -> Result<Option<Frames>, UserError> {
        Ok(self.inner.watch(caller, conversation_id, None, Some(message_id)).await?)
    }

    /// Stops the active run, if there is one. The text so far stays.
    ///
    /// # Errors
    /// 404 for a conversation that the caller does not own.
    pub async fn stop(&self, caller: &Caller, conversation_id: &str) -> Result<(), UserError> {
        Ok(self.inner.stop(caller, conversation_id, None).await?)
    }

    /// Stops a run if it is active: another one that has begun meanwhile goes on. The text so far stays.
    ///
    /// # Errors
    /// As [`Chat::stop`].
    pub async fn stop_if_active(&self, caller: &Caller, conversation_id: &str, run_id: &str) -> Result<(), UserError> {
        Ok(self.inner.stop(caller, conversation_id, Some(run_id)).await?)
    }
}

impl Inner {
    /// See [`Chat::watch`] and [`Chat::watch_message`].
    async fn watch(
        &self,
        caller: &Caller,
        conversation_id: &str,
        after: Option<&str>,
        message_id: Option<&str>,
    ) -> Result<Option<Frames>> {
        let store = self.store.clone();
        let is_meant = |run: &RunIdentity| message_id.is_none_or(|id| run.message_id == id);
        let Some(run) = self.registry.get(&caller.user_id, conversation_id) else {
            let known = store.conversation(&caller.user_id, conversation_id).await?;
            let known = known.ok_or_else(UserError::not_found)?;
            let run = remote::active_run(&store, &caller.user_id, &known);
            let Some(run) = run.filter(is_meant) else { return Ok(None) };
            return self.watch_remote(run, after).await.map(Some);
        };
        if !is_meant(&run.identity) {
            return Ok(None);
        }
        Ok(Some(match after {
            None => watch::stream_whole(store, run),
            Some(cursor) => watch::stream_after(store, run, watch::EventCursor::parse(cursor)),
        }))
    }

    /// See [`Chat::stop`] and [`Chat::stop_if_active`].
    async fn stop(&self, caller: &Caller, conversation_id: &str, run_id: Option<&str>) -> Result<()> {
        let is_meant = |run: &RunIdentity| run_id.is_none_or(|id| run.run_id == id);
        if let Some(run) = self.registry.get(&caller.user_id, conversation_id) {
            if is_meant(&run.identity) {
                run.stop(EndReason::StoppedByUser);
            }
            return Ok(());
        }
        let known = self.store.conversation(&caller.user_id, conversation_id).await?;
        let known = known.ok_or_else(UserError::not_found)?;
        if let Some(run) = remote::active_run(&self.store, &caller.user_id, &known).filter(is_meant) {
            let runs = RunsToStop::One { conversation_id, run_id: &run.run_id };
            self.store.request_stop(&caller.user_id, runs, EndReason::StoppedByUser).await?;
        }
        Ok(())
    }
}
