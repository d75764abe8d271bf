//! The operations of the forms of the page.

use super::deliver::{CONFIRM, Confirmation};
use super::{EmailNotifications, store};
use crate::service::Service;
use chat::Caller;
use mail::is_address;
use schemars::JsonSchema;
use serde::Serialize;
use web::admin::from_store_error;
use web::signed_in;
use web::times::now_millis;
use wire::{ErrorCode, UserError};

/// The longest address in bytes (RFC 5321).
const MAX_ADDRESS: usize = 254;

/// The notifications of the caller by e-mail.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EmailStatus {
    /// The address; absent while they are switched off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) address: Option<String>,
    /// Whether the caller has confirmed the address. Nothing is sent to it before.
    pub(crate) is_confirmed: bool,
}

impl Service {
    /// Returns the settings for e-mail.
    ///
    /// # Errors
    /// 404 without the key `email` of the section `notifications`.
    fn email_settings(&self) -> Result<EmailNotifications, UserError> {
        self.settings()?.email.ok_or_else(UserError::not_found)
    }

    /// Returns the notifications of the caller by e-mail; `None` if the config has none.
    ///
    /// # Errors
    /// 401 for visitors, 404 if there are no notifications here.
    pub(crate) async fn email(&self, caller: &Caller) -> Result<Option<EmailStatus>, UserError> {
        let owner = signed_in(caller)?;
        if self.settings()?.email.is_none() {
            return Ok(None);
        }
        let stored = store::find(&self.context.store, owner).await.map_err(from_store_error)?;
        let (address, is_confirmed) = match stored {
            Some(stored) => (stored.address, stored.confirmed_at.is_some()),
            None => (None, false),
        };
        Ok(Some(EmailStatus { address, is_confirmed }))
    }

    /// Stores an address of the caller, and asks them there to confirm it.
    ///
    /// # Errors
    /// 401 for visitors, 404 if there is no e-mail here, 422 if this is no address, 429 if they have asked too often.
    pub(crate) async fn ask_for_email(&self, caller: &Caller, address: &str) -> Result<(), UserError> {
        let owner = signed_in(caller)?.to_owned();
        self.email_settings()?;
        let address = address.trim().to_owned();
        if address.len() > MAX_ADDRESS || !is_address(&address) {
            return Err(UserError::invalid("address", "This is not an e-mail address."));
        }
        // Random, and long enough that nobody guesses it.
        let token = format!("{}{}", uuid::Uuid::new_v4().simple(), uuid::Uuid::new_v4().simple());
        let confirmation = Confirmation { token: token.clone() };
        let job = CONFIRM.job(&confirmation).owner(&owner).key(&owner);
        let jobs = self.jobs.clone();
        let asked = self.context.store.write(move |db| {
            Box::pin(async move {
                let is_allowed = store::ask(db, &owner, &address, &token, now_millis()).await?;
                if is_allowed {
                    jobs.enqueue_in(db, job).await?;
                }
                Ok(is_allowed)
            })
        });
        if asked.await.map_err(from_store_error)? {
            Ok(())
        } else {
            Err(UserError::new(
                ErrorCode::RateLimited,
                "You have entered an address too often today. Try again tomorrow.",
            ))
        }
    }

    /// Confirms the address of the caller with the token of the link that was sent to it. Returns false if the link is
    /// not the newest one, or was used before.
    ///
    /// # Errors
    /// 401 for visitors, 404 if there is no e-mail here.
    pub(crate) async fn confirm_email(&self, caller: &Caller, token: &str) -> Result<bool, UserError> {
        let owner = signed_in(caller)?;
        self.email_settings()?;
        store::confirm(&self.context.store, owner, token, now_millis()).await.map_err(from_store_error)
    }

    /// Forgets the address of the caller. It works also where the config has no e-mail any more.
    ///
    /// # Errors
    /// 401 for visitors.
    pub(crate) async fn switch_off_email(&self, caller: &Caller) -> Result<(), UserError> {
        let owner = signed_in(caller)?;
        store::switch_off(&self.context.store, owner).await.map_err(from_store_error)
    }
}
