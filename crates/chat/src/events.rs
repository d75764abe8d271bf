//! The hand-over of an answer's events to pages: `onToolCall`, `onMessageComplete` and the like may
//! save or send something, so each is granted to one page, as a call of a page's tool is.
//!
//! Every page that follows an answer sees the same events, and gives each the same key. Before it
//! acts on one, it claims the key here; the first claim wins. The database decides, so this holds
//! over tabs, browsers, devices and servers alike, and nothing needs to be agreed upon between
//! pages. What was claimed is not granted again, also when the page that had it went before it
//! acted: as with calls, once at most is the safer of the two. A claim that got no answer is made
//! again with the same id and is the same claim.

use crate::{Caller, Inner, errors, send};
use std::time::Duration;
use store::ClaimEvents;
use wire::UserError;
use wire::events::{GrantedEvents, MAX_CLAIMED};

/// How long after the end of an answer its events are granted.
const GRANTED_FOR: Duration = Duration::from_secs(10 * 60);

impl Inner {
    /// See [`crate::Chat::claim_events`].
    pub(crate) async fn claim_events(
        &self,
        caller: &Caller,
        conversation_id: String,
        message_id: String,
        keys: Vec<String>,
        by: String,
    ) -> Result<GrantedEvents, UserError> {
        send::check_id("/conversation_id", &conversation_id)?;
        send::check_id("/message_id", &message_id)?;
        send::check_id("/by", &by)?;
        if keys.len() > MAX_CLAIMED {
            return Err(UserError::invalid("/keys", format!("At most {MAX_CLAIMED} events are claimed at once.")));
        }
        for (at, key) in keys.iter().enumerate() {
            send::check_id(&format!("/keys/{at}"), key)?;
        }
        // As the ends of runs are entered.
        let now = crate::now();
        let ended_after = now - GRANTED_FOR.as_millis() as i64;
        let claim = ClaimEvents { conversation_id, message_id, keys, by, ended_after, now };
        let keys = self.store.claim_events(&caller.user_id, claim).await.map_err(errors::of_store)?;
        Ok(GrantedEvents { keys })
    }
}
