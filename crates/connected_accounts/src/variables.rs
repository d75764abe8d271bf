//! The values that users enter for variables of remote agents.

use crate::accounts::Accounts;
use crate::{audit, store};
use ::capability::UserValues;
use ::store::StoreError;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use serde_json::json;
use settings::user_auth::UserVariables;
use web::times::now_millis;

/// The longest value in bytes.
const MAX_VALUE: usize = 4 << 10;

/// A value, as it is stored encrypted.
#[derive(Serialize, Deserialize)]
struct EnteredValue {
    /// The address to which it may be sent.
    url: String,
    value: String,
}

/// Why a value cannot be stored.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EntryProblem {
    /// The message is for the user.
    #[error("{0}")]
    Invalid(&'static str),
    /// The server cannot encrypt it.
    #[error("{0}")]
    Keys(String),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Accounts {
    /// Returns the values of a user that may be sent to the address.
    ///
    /// # Errors
    /// The database failed.
    pub(crate) async fn entered(&self, wanted: &UserVariables, owner: &str) -> Result<UserValues, StoreError> {
        let rows = store::variables(self.store(), owner, &wanted.connection).await?;
        let keys = self.keys();
        let opened = rows.into_iter().filter_map(|(name, sealed)| {
            let context = ["variable", owner, &wanted.connection, &name];
            let entered: EnteredValue = keys.open(&context, &sealed)?;
            (entered.url == wanted.url.as_str()).then(|| (name, SecretString::from(entered.value)))
        });
        Ok(opened.collect())
    }

    /// Stores a user's value of a variable; an empty value deletes it.
    ///
    /// # Errors
    /// See [`EntryProblem`].
    pub(crate) async fn enter(
        &self,
        wanted: &UserVariables,
        owner: &str,
        (key, value): (&str, &str),
    ) -> Result<(), EntryProblem> {
        if !wanted.variables.iter().any(|variable| variable.key == key) {
            return Err(EntryProblem::Invalid("There is no such entry."));
        }
        let value = value.trim();
        if value.len() > MAX_VALUE {
            return Err(EntryProblem::Invalid("This is too long. At most 4 KB are possible."));
        }
        if !value.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic()) {
            return Err(EntryProblem::Invalid("Only letters without accents, digits, signs and spaces can be sent."));
        }
        let place = (owner, wanted.connection.as_str(), key);
        let about = json!({ "connection": wanted.connection, "variable": key });
        if value.is_empty() {
            let audit = audit(owner, "delete_variable", about);
            store::delete_variable(self.store(), place, audit).await?;
            return Ok(());
        }
        let entered = EnteredValue { url: wanted.url.to_string(), value: value.to_owned() };
        let context = ["variable", owner, &wanted.connection, key];
        let sealed = self.keys().seal(&context, &entered).map_err(EntryProblem::Keys)?;
        let audit = audit(owner, "enter_variable", about);
        store::save_variable(self.store(), place, sealed, now_millis(), audit).await?;
        Ok(())
    }
}
