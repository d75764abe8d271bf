//! Table `secrets`: secrets that all servers of a database share.

use crate::sql;
use crate::{Store, StoreError};

const KEEP: &str = "INSERT INTO secrets (name, bytes) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING";

const FIND: &str = "SELECT bytes FROM secrets WHERE name = $1";

impl Store {
    /// Returns the secret with this name, if it exists.
    ///
    /// # Errors
    /// The database failed.
    pub async fn find_secret(&self, name: &'static str) -> Result<Option<Vec<u8>>, StoreError> {
        self.read(move |db| Box::pin(async move { Ok(sql::query_scalar(FIND).bind(name).fetch_optional(db).await?) }))
            .await
    }

    /// Returns the secret with this name. If it does not exist, stores `new`: when several servers
    /// do so at once, all get the same value.
    ///
    /// # Errors
    /// The database failed.
    pub async fn get_or_create_secret(&self, name: &'static str, new: Vec<u8>) -> Result<Vec<u8>, StoreError> {
        if let Some(known) = self.find_secret(name).await? {
            return Ok(known);
        }
        self.write(move |db| {
            Box::pin(async move {
                sql::query(KEEP).bind(name).bind(new).execute(db).await?;
                Ok(sql::query_scalar(FIND).bind(name).fetch_one(db).await?)
            })
        })
        .await
    }
}
