//! The table `project_members`.

use super::projects::find_in;
use super::{blocks, role};
use crate::project::Role;
use ::store::sql::{self, Db};
use ::store::{AuditEntry, Store, StoreError, append_audit, color_folder, insert_folder};
use capability::{Libraries, Membership};
use wire::organize::Folder;

/// The most projects that a user is in, so that others cannot fill their list without end.
const MAX_MEMBERSHIPS: i64 = 300;

/// A user of a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) user_id: String,
    pub(crate) role: Role,
    /// Unix time in milliseconds.
    pub(crate) joined_at: i64,
}

/// A new user of a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AddMember {
    pub(crate) project_id: String,
    pub(crate) owner: String,
    pub(crate) user_id: String,
    pub(crate) role: Role,
    /// The id of the user's folder.
    pub(crate) folder_id: String,
    /// The most users of the project.
    pub(crate) most: u32,
    pub(crate) now: i64,
}

/// The outcome of adding a user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AddOutcome {
    Added,
    /// They are in the project already.
    Known,
    /// The project has as many users as it may have.
    Full,
    /// They are in as many projects as they may be.
    TooMany,
    /// The user who adds them does not own the project.
    Unknown,
}

/// The outcome of removing a user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RemoveOutcome {
    Removed,
    /// There is no such project or user, or the caller may not remove them.
    Unknown,
    /// They own the project.
    IsOwner,
}

const LIST: &str = "
    SELECT m.user_id, m.role, m.joined_at FROM project_members m
    WHERE m.project_id = $2
        AND EXISTS (SELECT 1 FROM project_members own WHERE own.project_id = $2 AND own.user_id = $1)
    ORDER BY m.joined_at, m.user_id";

const MEMBERSHIPS_OF_USER: &str = "
    SELECT p.id, p.owner, p.name, m.role FROM project_members m JOIN projects p ON p.id = m.project_id
    WHERE m.user_id = $1";

const COUNT: &str = "SELECT count(*) FROM project_members WHERE project_id = $1";

const MEMBERSHIPS: &str = "SELECT count(*) FROM project_members WHERE user_id = $1";

const INSERT: &str = "
    INSERT INTO project_members (project_id, user_id, role, folder_id, joined_at) VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (project_id, user_id) DO NOTHING";

const CHANGE: &str = "UPDATE project_members SET role = $3 WHERE project_id = $1 AND user_id = $2 AND role <> 'owner'";

const DELETE: &str = "DELETE FROM project_members WHERE project_id = $1 AND user_id = $2";

const SET_FOLDER: &str = "UPDATE project_members SET folder_id = $3 WHERE project_id = $1 AND user_id = $2";

/// Returns the users of a project of a user, in the order in which they joined. Empty for another
/// project.
///
/// # Errors
/// The database failed, or a row is damaged.
pub(crate) async fn members(store: &Store, user_id: &str, project_id: &str) -> Result<Vec<Member>, StoreError> {
    let list = sql::query(LIST).bind(user_id).bind(project_id);
    let member = |row: &sql::Row| {
        Ok(Member { user_id: row.try_get("user_id")?, role: role(row)?, joined_at: row.try_get("joined_at")? })
    };
    store.rows(list, member).await
}

/// Returns what a user may do with the files of all projects that they are in.
///
/// # Errors
/// The database failed, or a row is damaged.
pub(crate) async fn memberships(db: &mut Db, user_id: &str) -> Result<Vec<Membership>, StoreError> {
    let rows = sql::query(MEMBERSHIPS_OF_USER).bind(user_id).fetch_all(db).await?;
    let membership = |row: &sql::Row| {
        Ok(Membership {
            project_id: row.try_get("id")?,
            name: row.try_get("name")?,
            owner: row.try_get("owner")?,
            may_write: role(row)? >= Role::Editor,
        })
    };
    rows.iter().map(membership).collect()
}

/// Adds a user to a project, with a folder of their own if they have room for it, and with its row
/// in the audit log.
///
/// # Errors
/// The database failed.
pub(crate) async fn add_member(store: &Store, add: AddMember, audit: AuditEntry) -> Result<AddOutcome, StoreError> {
    let write = store.write(move |db| {
        Box::pin(async move {
            let outcome = insert(db, &add).await?;
            if outcome == AddOutcome::Added {
                append_audit(db, vec![audit]).await?;
            }
            Ok(outcome)
        })
    });
    write.await
}

async fn insert(db: &mut Db, add: &AddMember) -> Result<AddOutcome, StoreError> {
    let project = find_in(db, &add.owner, &add.project_id).await?;
    let Some(project) = project.filter(|project| project.role == Role::Owner) else { return Ok(AddOutcome::Unknown) };
    if find_in(db, &add.user_id, &add.project_id).await?.is_some() {
        return Ok(AddOutcome::Known);
    }
    let count: i64 = sql::query_scalar(COUNT).bind(&add.project_id).fetch_one(&mut *db).await?;
    if count >= i64::from(add.most) {
        return Ok(AddOutcome::Full);
    }
    let memberships: i64 = sql::query_scalar(MEMBERSHIPS).bind(&add.user_id).fetch_one(&mut *db).await?;
    if memberships >= MAX_MEMBERSHIPS {
        return Ok(AddOutcome::TooMany);
    }
    let settings = &project.settings;
    let color = Some(settings.color.name().to_owned());
    let folder = Folder { color, ..Folder::new(add.folder_id.as_str(), settings.name.as_str()) };
    let folder_id = insert_folder(db, &add.user_id, &folder, add.now).await?.then_some(add.folder_id.as_str());
    let insert = sql::query(INSERT).bind(&add.project_id).bind(&add.user_id).bind(add.role.name()).bind(folder_id);
    match insert.bind(add.now).execute(db).await?.rows_affected() {
        0 => Ok(AddOutcome::Known),
        _ => Ok(AddOutcome::Added),
    }
}

/// Gives a user of a project of its owner another role, with its row in the audit log. Returns
/// false if there is no such user, or they own it.
///
/// # Errors
/// The database failed.
pub(crate) async fn change_role(
    store: &Store,
    owner: &str,
    (project_id, user_id): (&str, &str),
    role: Role,
    audit: AuditEntry,
) -> Result<bool, StoreError> {
    let (owner, project_id, user_id) = (owner.to_owned(), project_id.to_owned(), user_id.to_owned());
    let write = store.write(move |db| {
        Box::pin(async move {
            let project = find_in(db, &owner, &project_id).await?;
            if project.is_none_or(|project| project.role != Role::Owner) {
                return Ok(false);
            }
            let change = sql::query(CHANGE).bind(project_id).bind(user_id).bind(role.name());
            let is_changed = change.execute(&mut *db).await?.rows_affected() > 0;
            if is_changed {
                append_audit(db, vec![audit]).await?;
            }
            Ok(is_changed)
        })
    });
    write.await
}

/// Removes a user from a project: its owner removes others, and everybody else themselves. The
/// folder stays with its conversations, which no longer have the instructions, and the files that the user has added stay
/// in the project.
///
/// # Errors
/// The database failed.
pub(crate) async fn remove_member(
    store: &Store,
    libraries: &Libraries,
    by: &str,
    (project_id, user_id): (&str, &str),
    audit: AuditEntry,
) -> Result<RemoveOutcome, StoreError> {
    let (by, project_id, user_id) = (by.to_owned(), project_id.to_owned(), user_id.to_owned());
    let libraries = libraries.clone();
    let write = store.write(move |db| {
        Box::pin(async move {
            let Some(own) = find_in(db, &by, &project_id).await? else { return Ok(RemoveOutcome::Unknown) };
            if by != user_id && own.role != Role::Owner {
                return Ok(RemoveOutcome::Unknown);
            }
            let Some(removed) = find_in(db, &user_id, &project_id).await? else { return Ok(RemoveOutcome::Unknown) };
            if removed.role == Role::Owner {
                return Ok(RemoveOutcome::IsOwner);
            }
            sql::query(DELETE).bind(&project_id).bind(&user_id).execute(&mut *db).await?;
            if let Some(folder_id) = removed.folder_id {
                color_folder(db, &user_id, &folder_id, None).await?;
            }
            blocks::delete(db, &project_id, &user_id).await?;
            libraries.forget_member(db, &project_id, &user_id).await?;
            append_audit(db, vec![audit]).await?;
            Ok(RemoveOutcome::Removed)
        })
    });
    write.await
}

/// Returns the folder of a user for a project of theirs, which is created with this id if they have
/// none. `None` if they have no room for it, or are not in the project.
///
/// # Errors
/// The database failed.
pub(crate) async fn ensure_folder(
    store: &Store,
    user_id: &str,
    project_id: &str,
    new_id: String,
    now: i64,
) -> Result<Option<String>, StoreError> {
    let (user_id, project_id) = (user_id.to_owned(), project_id.to_owned());
    let write = store.write(move |db| {
        Box::pin(async move {
            let Some(project) = find_in(db, &user_id, &project_id).await? else { return Ok(None) };
            if project.folder_id.is_some() {
                return Ok(project.folder_id);
            }
            let color = Some(project.settings.color.name().to_owned());
            let folder = Folder { color, ..Folder::new(new_id.as_str(), project.settings.name) };
            if !insert_folder(db, &user_id, &folder, now).await? {
                return Ok(None);
            }
            sql::query(SET_FOLDER).bind(project_id).bind(user_id).bind(&new_id).execute(db).await?;
            Ok(Some(new_id))
        })
    });
    write.await
}
