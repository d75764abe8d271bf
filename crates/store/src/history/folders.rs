//! Table `folders`: folders of conversations, which may be in each other. Deleting a folder keeps its conversations, and
//! its folders move to the one around it.

use super::folder_tree::{MoveFolderOutcome, Parents, check_move};
use crate::sql::{self, Db, Row};
use crate::{Store, StoreError};
use wire::organize::Folder;

/// The maximum number of folders of one owner.
pub const MAX_FOLDERS: u32 = 100;

const LIST: &str = "
    SELECT f.id, f.name, f.color, f.parent_id, count(c.id) AS conversations, max(c.updated_at) AS used_at
    FROM folders f
    LEFT JOIN conversations c ON c.folder_id = f.id AND c.archived = 0 AND c.deleted_at IS NULL
    WHERE f.owner = $1
    GROUP BY f.id ORDER BY f.position, lower(f.name), f.created_at, f.id LIMIT $2";

/// Inserts nothing if the owner has the maximum number.
const INSERT: &str = "
    INSERT INTO folders (id, owner, name, created_at)
    SELECT $2, $1, $3, $4 WHERE (SELECT count(*) FROM folders WHERE owner = $1) < $5";

const RENAME: &str = "UPDATE folders SET name = $3 WHERE owner = $1 AND id = $2";

const RENAME_FROM: &str = "UPDATE folders SET name = $4 WHERE owner = $1 AND id = $2 AND name = $3";

const COLOR: &str = "UPDATE folders SET color = $3 WHERE owner = $1 AND id = $2";

const FORGET_ORDER: &str = "UPDATE folders SET position = 0 WHERE owner = $1 AND position <> 0";

const PLACE: &str = "UPDATE folders SET position = $3 WHERE owner = $1 AND id = $2";

const PARENTS: &str = "SELECT id, parent_id FROM folders WHERE owner = $1";

const SET_PARENT: &str = "UPDATE folders SET parent_id = $3 WHERE owner = $1 AND id = $2";

/// Moves the folders of one that is deleted to the folder around it.
const LIFT: &str = "
    UPDATE folders SET parent_id = (SELECT f.parent_id FROM folders f WHERE f.owner = $1 AND f.id = $2)
    WHERE owner = $1 AND parent_id = $2";

const DELETE: &str = "DELETE FROM folders WHERE owner = $1 AND id = $2";

impl Store {
    /// Returns the owner's folders: in their order, and those that are not in it before them, by name.
    ///
    /// # Errors
    /// The database failed.
    pub async fn folders(&self, owner: &str) -> Result<Vec<Folder>, StoreError> {
        self.rows(sql::query(LIST).bind(owner).bind(MAX_FOLDERS), read).await
    }

    /// Creates a folder with a new id at `now` (Unix time, milliseconds). Returns false when the
    /// owner has [`MAX_FOLDERS`].
    ///
    /// # Errors
    /// The database failed, or the id is in use.
    pub async fn add_folder(&self, owner: &str, folder: Folder, now: i64) -> Result<bool, StoreError> {
        let owner = owner.to_owned();
        self.write(move |db| Box::pin(async move { insert_folder(db, &owner, &folder, now).await })).await
    }

    /// Renames a folder. Returns false when it is unknown or belongs to another user.
    ///
    /// # Errors
    /// The database failed.
    pub async fn rename_folder(&self, owner: &str, id: &str, name: &str) -> Result<bool, StoreError> {
        Ok(self.execute(sql::query(RENAME).bind(owner).bind(id).bind(name)).await? > 0)
    }

    /// Sets the order of the owner's folders, which replaces an earlier one; without ids they are sorted by name.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] for a folder that is unknown or belongs to another user; nothing is changed then.
    pub async fn order_folders(&self, owner: &str, ids: Vec<String>) -> Result<(), StoreError> {
        let owner = owner.to_owned();
        self.write(move |db| {
            Box::pin(async move {
                sql::query(FORGET_ORDER).bind(&owner).execute(&mut *db).await?;
                for (position, id) in (1_i64..).zip(ids) {
                    let place = sql::query(PLACE).bind(&owner).bind(id).bind(position);
                    if place.execute(&mut *db).await?.rows_affected() == 0 {
                        return Err(StoreError::NotFound);
                    }
                }
                Ok(())
            })
        })
        .await
    }

    /// Moves a folder, with what is in it, into another one of the owner, or out of any folder.
    ///
    /// # Errors
    /// The database failed.
    pub async fn move_folder(
        &self,
        owner: &str,
        id: &str,
        parent: Option<&str>,
    ) -> Result<MoveFolderOutcome, StoreError> {
        let (owner, id, parent) = (owner.to_owned(), id.to_owned(), parent.map(str::to_owned));
        self.write(move |db| {
            Box::pin(async move {
                let outcome = check_move(&parents(db, &owner).await?, &id, parent.as_deref());
                if outcome == MoveFolderOutcome::Moved {
                    sql::query(SET_PARENT).bind(&owner).bind(&id).bind(parent).execute(db).await?;
                }
                Ok(outcome)
            })
        })
        .await
    }

    /// Creates a folder at the top, with a new id at `now` (Unix time, milliseconds), and moves another one into it. Does
    /// neither if one of them is impossible.
    ///
    /// # Errors
    /// The database failed, or the id is in use.
    pub async fn move_to_new_folder(
        &self,
        owner: &str,
        id: &str,
        new: Folder,
        now: i64,
    ) -> Result<MoveFolderOutcome, StoreError> {
        let (owner, id) = (owner.to_owned(), id.to_owned());
        self.write(move |db| {
            Box::pin(async move {
                let mut known = parents(db, &owner).await?;
                known.insert(new.id.clone(), None);
                let outcome = check_move(&known, &id, Some(&new.id));
                if outcome != MoveFolderOutcome::Moved {
                    return Ok(outcome);
                }
                if !insert_folder(db, &owner, &new, now).await? {
                    return Ok(MoveFolderOutcome::TooMany);
                }
                sql::query(SET_PARENT).bind(&owner).bind(&id).bind(&new.id).execute(db).await?;
                Ok(outcome)
            })
        })
        .await
    }

    /// Deletes a folder; its conversations are in no folder then, and its folders in the one around it. Returns false
    /// when it is unknown or belongs to another user.
    ///
    /// # Errors
    /// The database failed.
    pub async fn delete_folder(&self, owner: &str, id: &str) -> Result<bool, StoreError> {
        let (owner, id) = (owner.to_owned(), id.to_owned());
        self.write(move |db| {
            Box::pin(async move {
                sql::query(LIFT).bind(&owner).bind(&id).execute(&mut *db).await?;
                Ok(sql::query(DELETE).bind(&owner).bind(&id).execute(db).await?.rows_affected() > 0)
            })
        })
        .await
    }
}

/// Does the same as [`Store::add_folder`] within another write.
///
/// # Errors
/// The database failed, or the id is in use.
pub async fn insert_folder(db: &mut Db, owner: &str, folder: &Folder, now: i64) -> Result<bool, StoreError> {
    let insert = sql::query(INSERT).bind(owner).bind(&folder.id).bind(&folder.name).bind(now).bind(MAX_FOLDERS);
    let is_added = insert.execute(&mut *db).await?.rows_affected() > 0;
    if is_added && let Some(color) = &folder.color {
        color_folder(db, owner, &folder.id, Some(color)).await?;
    }
    Ok(is_added)
}

/// Sets the name of a folder's colour, or removes it, within another write. Has no effect on a folder of another user.
///
/// # Errors
/// The database failed.
pub async fn color_folder(db: &mut Db, owner: &str, id: &str, color: Option<&str>) -> Result<(), StoreError> {
    sql::query(COLOR).bind(owner).bind(id).bind(color).execute(db).await?;
    Ok(())
}

/// Renames a folder that has this name, within another write. Has no effect on one that its owner has named otherwise.
///
/// # Errors
/// The database failed.
pub async fn rename_folder_from(
    db: &mut Db,
    owner: &str,
    id: &str,
    (from, to): (&str, &str),
) -> Result<(), StoreError> {
    sql::query(RENAME_FROM).bind(owner).bind(id).bind(from).bind(to).execute(db).await?;
    Ok(())
}

async fn parents(db: &mut Db, owner: &str) -> Result<Parents, StoreError> {
    let rows = sql::query(PARENTS).bind(owner).fetch_all(db).await?;
    rows.iter().map(|row| Ok((row.try_get("id")?, row.try_get("parent_id")?))).collect()
}

fn read(row: &Row) -> Result<Folder, StoreError> {
    let count: i64 = row.try_get("conversations")?;
    Ok(Folder {
        color: row.try_get("color")?,
        parent_id: row.try_get("parent_id")?,
        used_at: row.try_get("used_at")?,
        count: u32::try_from(count).unwrap_or(u32::MAX),
        ..Folder::new(row.try_get::<String>("id")?, row.try_get::<String>("name")?)
    })
}
