//! The verdicts of people on answers in experiments.

use super::Service;
use crate::store::{self, Given, NewVerdict};
use ::store::append_audit;
use serde_json::json;
use web::admin::{Admin, from_store_error};
use web::times::now_millis;
use wire::{ErrorCode, UserError};

impl Service {
    /// Stores the administrator's verdict on an answer, in place of their earlier one, or withdraws it.
    ///
    /// # Errors
    /// 404 if there is no such answer, 409 if the result has another answer than they have read.
    pub(crate) async fn give_verdict(&self, admin: &Admin, id: &str, new: NewVerdict) -> Result<(), UserError> {
        let about = json!({
            "experimentId": id, "config": new.config, "case": new.case, "repeat": new.repeat, "liked": new.liked,
        });
        let audit = admin.audit_entry("give_verdict", "", about);
        let (id, by) = (id.to_owned(), (admin.caller.user_id.clone(), now_millis()));
        let write = self.context.store.write(move |db| {
            Box::pin(async move {
                let given = store::give_verdict(&mut *db, &id, by, new).await?;
                if given == Given::Stored {
                    append_audit(db, vec![audit]).await?;
                }
                Ok(given)
            })
        });
        match write.await.map_err(from_store_error)? {
            Given::Stored => Ok(()),
            Given::Gone => Err(UserError::not_found()),
            Given::Replaced => {
                let message = "The case was evaluated again since, and has another answer. Read that one.";
                Err(UserError::new(ErrorCode::Conflict, message))
            }
        }
    }
}
