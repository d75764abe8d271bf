//! Table `folders`: folders of conversations. Deleting a folder keeps its conversations.

use crate::sql;
use crate::{Store, StoreError};
use wire::organize::Folder;

/// The maximum number of folders of one owner.
pub const MAX_FOLDERS: u32 = 100;

const LIST: &str = "SELECT id, name FROM folders WHERE owner = $1 ORDER BY lower(name), created_at, id LIMIT $2";

/// Inserts nothing if the owner has the maximum number.
const INSERT: &str = "
    INSERT INTO folders (id, owner, name, created_at)
    SELECT $2, $1, $3, $4 WHERE (SELECT count(*) FROM folders WHERE owner = $1) < $5";

const RENAME: &str = "UPDATE folders SET name = $3 WHERE owner = $1 AND id = $2";

const DELETE: &str = "DELETE FROM folders WHERE owner = $1 AND id = $2";

impl Store {
    /// Returns the owner's folders, by name.
    ///
    /// # Errors
    /// The database failed.
    pub async fn folders(&self, owner: &str) -> Result<Vec<Folder>, StoreError> {
        let owner = owner.to_owned();
        self.read(move |db| {
            Box::pin(async move {
                let rows = sql::query(LIST).bind(owner).bind(MAX_FOLDERS).fetch_all(db).await?;
                rows.iter().map(|row| Ok(Folder { id: row.try_get("id")?, name: row.try_get("name")? })).collect()
            })
        })
        .await
    }

    /// Creates a folder with a new id at `now` (Unix time, milliseconds). Returns false when the
    /// owner has [`MAX_FOLDERS`].
    ///
    /// # Errors
    /// The database failed, or the id is in use.
    pub async fn add_folder(&self, owner: &str, folder: Folder, now: i64) -> Result<bool, StoreError> {
        let owner = owner.to_owned();
        self.write(move |db| {
            Box::pin(async move {
                let insert = sql::query(INSERT).bind(owner).bind(folder.id).bind(folder.name).bind(now);
                Ok(insert.bind(MAX_FOLDERS).execute(db).await?.rows_affected() > 0)
            })
        })
        .await
    }

    /// Renames a folder. Returns false when it is unknown or belongs to another user.
    ///
    /// # Errors
    /// The database failed.
    pub async fn rename_folder(&self, owner: &str, id: &str, name: &str) -> Result<bool, StoreError> {
        let (owner, id, name) = (owner.to_owned(), id.to_owned(), name.to_owned());
        self.write(move |db| {
            Box::pin(async move {
                let done = sql::query(RENAME).bind(owner).bind(id).bind(name).execute(db).await?;
                Ok(done.rows_affected() > 0)
            })
        })
        .await
    }

    /// Deletes a folder; its conversations are in no folder then. Returns false when it is unknown
    /// or belongs to another user.
    ///
    /// # Errors
    /// The database failed.
    pub async fn delete_folder(&self, owner: &str, id: &str) -> Result<bool, StoreError> {
        let (owner, id) = (owner.to_owned(), id.to_owned());
        self.write(move |db| {
            Box::pin(async move {
                let done = sql::query(DELETE).bind(owner).bind(id).execute(db).await?;
                Ok(done.rows_affected() > 0)
            })
        })
        .await
    }
}
