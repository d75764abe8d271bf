//! Claims of page events. The handlers of `onToolCall`, `onMessageComplete` and similar events may
//! save or send something, so each event is granted to a single page, as calls of page tools are.
//!
//! Every page that follows an answer sees the same events and gives each the same key. Before a
//! page handles an event, it claims the key here; the first claim wins. The database decides, so
//! this holds across tabs, browsers, devices and servers without coordination between pages. A
//! granted event is not granted again, even if the page closed before it handled the event: at most
//! once is the safer choice, as with tool calls. A claim whose response was lost can be repeated
//! with the same id.

use crate::errors::Result;
use crate::ids;
use crate::{Caller, Chat, Inner};
use std::time::Duration;
use store::ClaimEvents;
use wire::UserError;
use wire::page::events::{GrantedEvents, MAX_CLAIMED};

/// How long after the end of an answer its events can be claimed.
const GRANTED_FOR: Duration = Duration::from_secs(10 * 60);

impl Chat {
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
        Ok(self.inner.claim_events(caller, conversation_id, message_id, keys, by).await?)
    }
}

impl Inner {
    /// See [`Chat::claim_events`].
    pub(crate) async fn claim_events(
        &self,
        caller: &Caller,
        conversation_id: String,
        message_id: String,
        keys: Vec<String>,
        by: String,
    ) -> Result<GrantedEvents> {
        ids::check_id("/conversation_id", &conversation_id)?;
        ids::check_id("/message_id", &message_id)?;
        ids::check_id("/by", &by)?;
        if keys.len() > MAX_CLAIMED {
            return Err(
                UserError::invalid("/keys", format!("At most {MAX_CLAIMED} events are claimed at once.")).into()
            );
        }
        for (at, key) in keys.iter().enumerate() {
            ids::check_id(&format!("/keys/{at}"), key)?;
        }
        // The same clock as for the ends of runs.
        let now = crate::now();
        let ended_after = now - GRANTED_FOR.as_millis() as i64;
        let claim = ClaimEvents { conversation_id, message_id, keys, by, ended_after, now };
        let keys = self.store.claim_events(&caller.user_id, claim).await?;
        Ok(GrantedEvents { keys })
    }
}
