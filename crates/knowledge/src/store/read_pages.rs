//! The table `knowledge_read_pages`: what a model has read from pages that are pictures, until the version is
//! ready.

use ::store::sql::{self, Db};
use ::store::{Store, StoreError};

/// The text of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReadPage {
    /// Its number, counted from 1.
    pub(crate) page: u32,
    pub(crate) text: String,
}

const INSERT: &str = "
    INSERT INTO knowledge_read_pages (version_id, page, content) VALUES ($1, $2, $3)
    ON CONFLICT (version_id, page) DO NOTHING";
const READ: &str = "
    SELECT page, content AS text FROM knowledge_read_pages WHERE version_id = $1 ORDER BY page LIMIT $2";
const CLEAR: &str = "DELETE FROM knowledge_read_pages WHERE version_id = $1";

/// Stores pages of a version.
pub(crate) async fn insert_read_pages(db: &mut Db, version_id: &str, pages: Vec<ReadPage>) -> Result<(), StoreError> {
    for ReadPage { page, text } in pages {
        sql::query(INSERT).bind(version_id).bind(page).bind(text).execute(&mut *db).await?;
    }
    Ok(())
}

/// Returns the pages of a version that were read, in their order, at most `most`.
pub(crate) async fn pages_of_version(store: &Store, version_id: &str, most: u32) -> Result<Vec<ReadPage>, StoreError> {
    let find = sql::query(READ).bind(version_id).bind(most);
    let read = |row: &sql::Row| -> Result<ReadPage, StoreError> {
        let page: i64 = row.try_get("page")?;
        Ok(ReadPage { page: u32::try_from(page).unwrap_or(u32::MAX), text: row.try_get("text")? })
    };
    store.rows(find, read).await
}

/// Deletes the pages of a version, whose text is among its parts now.
pub(super) async fn clear_read_pages(db: &mut Db, version_id: &str) -> Result<(), StoreError> {
    sql::query(CLEAR).bind(version_id).execute(db).await?;
    Ok(())
}
