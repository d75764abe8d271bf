//! Table `secrets`: what all servers of a database know and nobody else.

use crate::sql;
use crate::{Store, StoreError};

const KEEP: &str = "INSERT INTO secrets (name, bytes) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING";

const FIND: &str = "SELECT bytes FROM secrets WHERE name = $1";

impl Store {
    /// The secret with this name. The first call keeps `new`, however many servers make it at once; all get the same.
    ///
    /// # Errors
    /// The database failed.
    pub async fn secret(&self, name: &'static str, new: Vec<u8>) -> Result<Vec<u8>, StoreError> {
        let find = move || sql::query_scalar::<Vec<u8>>(FIND).bind(name);
        if let Some(known) = self.read(move |db| Box::pin(async move { Ok(find().fetch_optional(db).await?) })).await? {
            return Ok(known);
        }
        self.write(move |db| {
            Box::pin(async move {
                sql::query(KEEP).bind(name).bind(new).execute(db).await?;
                Ok(find().fetch_one(db).await?)
            })
        })
        .await
    }
}
