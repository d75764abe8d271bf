//! The table `projects`.

use super::{DAMAGED, role};
use crate::project::{Color, ProjectSettings, Role};
use ::store::sql::{self, Db, Row};
use ::store::{AuditEntry, Store, StoreError, append_audit, color_folder, insert_folder, rename_folder_from};
use capability::Libraries;
use wire::organize::Folder;

/// A project as one of its users sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoredProject {
    pub(crate) id: String,
    pub(crate) owner: String,
    pub(crate) settings: ProjectSettings,
    /// The user who has changed the instructions last.
    pub(crate) written_by: String,
    /// Counts from 1.
    pub(crate) version: i64,
    /// Unix time in milliseconds.
    pub(crate) updated_at: i64,
    /// The role of the user.
    pub(crate) role: Role,
    /// The user's folder.
    pub(crate) folder_id: Option<String>,
}

/// A project in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ListedProject {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) color: Color,
    pub(crate) role: Role,
    pub(crate) folder_id: Option<String>,
    /// The number of its users.
    pub(crate) members: u32,
    /// The number of the user's conversations in it, including the archive.
    pub(crate) conversations: u32,
    /// The time at which one of these was last used, or else at which the user joined; Unix time in
    /// milliseconds.
    pub(crate) used_at: i64,
    /// The position of the folder among the user's folders; 0 if the user has not placed it.
    pub(crate) position: i64,
}

/// The folder that becomes a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ProjectFolder {
    /// A new one with this id.
    New(String),
    /// One that the owner has.
    Known(String),
}

/// A new project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CreateProject {
    pub(crate) id: String,
    pub(crate) owner: String,
    pub(crate) settings: ProjectSettings,
    pub(crate) folder: ProjectFolder,
    /// The most projects of the owner.
    pub(crate) most: u32,
    pub(crate) now: i64,
}

/// The outcome of creating a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CreateOutcome {
    Created,
    /// The owner has as many projects as they may have.
    Full,
    /// The owner has as many folders as they may have.
    TooManyFolders,
    /// The owner has no such folder, or it is a project already.
    UnknownFolder,
}

/// A change of a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SaveProject {
    pub(crate) id: String,
    /// The user who changes it.
    pub(crate) user_id: String,
    pub(crate) settings: ProjectSettings,
    /// The version that was changed.
    pub(crate) after: i64,
    pub(crate) now: i64,
}

/// The outcome of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SaveOutcome {
    /// There is a new version.
    Saved,
    /// It was already like this.
    Unchanged,
    /// The user has no such project.
    Unknown,
    /// The user may not change it.
    Forbidden,
    /// It was changed in the meantime.
    Changed,
}

/// The conversations are counted by folder: `|| ''` keeps SQLite, which has no statistics, from looking through all
/// conversations of the user for each project.
const LIST: &str = "
    SELECT p.id, p.name, p.color, m.role, m.folder_id, m.joined_at,
        coalesce((SELECT f.position FROM folders f WHERE f.id = m.folder_id), 0) AS position,
        (SELECT count(*) FROM project_members u WHERE u.project_id = p.id) AS members,
        (SELECT count(*) FROM conversations c
            WHERE c.folder_id = m.folder_id AND c.owner || '' = m.user_id AND c.deleted_at IS NULL) AS conversations,
        (SELECT max(c.updated_at) FROM conversations c
            WHERE c.folder_id = m.folder_id AND c.owner || '' = m.user_id AND c.deleted_at IS NULL) AS used_at
    FROM project_members m JOIN projects p ON p.id = m.project_id
    WHERE m.user_id = $1 ORDER BY lower(p.name), p.id";

const FIND: &str = "
    SELECT p.id, p.owner, p.name, p.color, p.instructions, p.written_by, p.libraries, p.agent_id, p.model_id, p.version,
        p.updated_at, m.role, m.folder_id
    FROM project_members m JOIN projects p ON p.id = m.project_id WHERE m.user_id = $1 AND p.id = $2";

const FIND_BY_FOLDER: &str = "SELECT project_id FROM project_members WHERE user_id = $1 AND folder_id = $2";

const COUNT: &str = "SELECT count(*) FROM projects WHERE owner = $1";

const HAS_FOLDER: &str = "SELECT id FROM folders WHERE owner = $1 AND id = $2";

const INSERT: &str = "
    INSERT INTO projects (id, owner, name, color, instructions, written_by, libraries, agent_id, model_id, version,
        created_at, updated_at)
    VALUES ($1, $2, $3, $4, $5, $2, $6, $7, $8, 1, $9, $9)";

const INSERT_OWNER: &str = "
    INSERT INTO project_members (project_id, user_id, role, folder_id, joined_at) VALUES ($1, $2, 'owner', $3, $4)";

const UPDATE: &str = "
    UPDATE projects SET name = $3, color = $4, instructions = $5, written_by = $6, libraries = $7, agent_id = $8,
        model_id = $9, version = version + 1, updated_at = $10
    WHERE id = $1 AND version = $2";

const FOLDERS: &str = "SELECT user_id, folder_id FROM project_members WHERE project_id = $1 AND folder_id IS NOT NULL";

const DELETE: &str = "DELETE FROM projects WHERE id = $1 AND owner = $2";

/// Returns the projects of a user by their names.
///
/// # Errors
/// The database failed, or a row is damaged.
pub(crate) async fn list(store: &Store, user_id: &str) -> Result<Vec<ListedProject>, StoreError> {
    let list = sql::query(LIST).bind(user_id);
    store.rows(list, read_listed).await
}

/// Returns a project of a user.
///
/// # Errors
/// As [`list`].
pub(crate) async fn find(store: &Store, user_id: &str, id: &str) -> Result<Option<StoredProject>, StoreError> {
    let (user_id, id) = (user_id.to_owned(), id.to_owned());
    store.read(move |db| Box::pin(async move { find_in(db, &user_id, &id).await })).await
}

/// Does the same as [`find`] within another read or write.
///
/// # Errors
/// As [`list`].
pub(crate) async fn find_in(db: &mut Db, user_id: &str, id: &str) -> Result<Option<StoredProject>, StoreError> {
    sql::query(FIND).bind(user_id).bind(id).fetch_optional(db).await?.as_ref().map(read).transpose()
}

/// Returns the project of a user's folder.
///
/// # Errors
/// The database failed.
pub(crate) async fn project_of_folder(
    store: &Store,
    user_id: &str,
    folder_id: &str,
) -> Result<Option<String>, StoreError> {
    let find = sql::query_scalar::<String>(FIND_BY_FOLDER).bind(user_id).bind(folder_id);
    store.read(move |db| Box::pin(async move { Ok(find.fetch_optional(db).await?) })).await
}

/// Creates a project with its folder and its row in the audit log.
///
/// # Errors
/// The database failed.
pub(crate) async fn create(
    store: &Store,
    create: CreateProject,
    audit: AuditEntry,
) -> Result<CreateOutcome, StoreError> {
    let write = store.write(move |db| {
        Box::pin(async move {
            let outcome = insert(db, &create).await?;
            if outcome == CreateOutcome::Created {
                append_audit(db, vec![audit]).await?;
            }
            Ok(outcome)
        })
    });
    write.await
}

async fn insert(db: &mut Db, create: &CreateProject) -> Result<CreateOutcome, StoreError> {
    let CreateProject { id, owner, settings, folder, most, now } = create;
    let count: i64 = sql::query_scalar(COUNT).bind(owner).fetch_one(&mut *db).await?;
    if count >= i64::from(*most) {
        return Ok(CreateOutcome::Full);
    }
    let color = settings.color.name();
    let folder_id = match folder {
        ProjectFolder::New(folder_id) => {
            let new =
                Folder { color: Some(color.to_owned()), ..Folder::new(folder_id.as_str(), settings.name.as_str()) };
            if !insert_folder(db, owner, &new, *now).await? {
                return Ok(CreateOutcome::TooManyFolders);
            }
            folder_id
        }
        ProjectFolder::Known(folder_id) => {
            let has =
                sql::query_scalar::<String>(HAS_FOLDER).bind(owner).bind(folder_id).fetch_optional(&mut *db).await?;
            let used = sql::query_scalar::<String>(FIND_BY_FOLDER)
                .bind(owner)
                .bind(folder_id)
                .fetch_optional(&mut *db)
                .await?;
            if has.is_none() || used.is_some() {
                return Ok(CreateOutcome::UnknownFolder);
            }
            color_folder(db, owner, folder_id, Some(color)).await?;
            folder_id
        }
    };
    let insert = sql::query(INSERT).bind(id).bind(owner).bind(&settings.name).bind(color);
    let insert = insert.bind(&settings.instructions).bind(encoded(&settings.libraries)?).bind(&settings.agent_id);
    insert.bind(&settings.model_id).bind(*now).execute(&mut *db).await?;
    sql::query(INSERT_OWNER).bind(id).bind(owner).bind(folder_id).bind(*now).execute(db).await?;
    Ok(CreateOutcome::Created)
}

/// Stores a change of a user who may change the project, with its row in the audit log. The folders
/// of all its users get the colour, and the name if they have that of the project.
///
/// # Errors
/// The database failed, or a row is damaged.
pub(crate) async fn save(store: &Store, save: SaveProject, audit: AuditEntry) -> Result<SaveOutcome, StoreError> {
    let write = store.write(move |db| {
        Box::pin(async move {
            let outcome = update(db, &save).await?;
            if outcome == SaveOutcome::Saved {
                append_audit(db, vec![audit]).await?;
            }
            Ok(outcome)
        })
    });
    write.await
}

async fn update(db: &mut Db, save: &SaveProject) -> Result<SaveOutcome, StoreError> {
    let SaveProject { id, user_id, settings, after, now } = save;
    let Some(found) = find_in(db, user_id, id).await? else { return Ok(SaveOutcome::Unknown) };
    if found.role < Role::Editor {
        return Ok(SaveOutcome::Forbidden);
    }
    if found.version != *after {
        return Ok(SaveOutcome::Changed);
    }
    if found.settings == *settings {
        return Ok(SaveOutcome::Unchanged);
    }
    let is_same_text = found.settings.instructions == settings.instructions;
    let written_by = if is_same_text { &found.written_by } else { user_id };
    let update = sql::query(UPDATE).bind(id).bind(*after).bind(&settings.name).bind(settings.color.name());
    let update = update.bind(&settings.instructions).bind(written_by).bind(encoded(&settings.libraries)?);
    let update = update.bind(&settings.agent_id).bind(&settings.model_id).bind(*now);
    if update.execute(&mut *db).await?.rows_affected() == 0 {
        return Ok(SaveOutcome::Changed);
    }
    for (owner, folder_id) in folders(db, id).await? {
        color_folder(db, &owner, &folder_id, Some(settings.color.name())).await?;
        rename_folder_from(db, &owner, &folder_id, (&found.settings.name, &settings.name)).await?;
    }
    Ok(SaveOutcome::Saved)
}

/// Deletes a project of its owner with its files and its row in the audit log. The folders stay with their
/// conversations, which no longer have the instructions. Returns false if the user owns no such
/// project.
///
/// # Errors
/// The database failed.
pub(crate) async fn delete(
    store: &Store,
    libraries: &Libraries,
    owner: &str,
    id: &str,
    audit: AuditEntry,
) -> Result<bool, StoreError> {
    let (libraries, owner, id) = (libraries.clone(), owner.to_owned(), id.to_owned());
    let write = store.write(move |db| {
        Box::pin(async move {
            let folders = folders(db, &id).await?;
            if sql::query(DELETE).bind(&id).bind(&owner).execute(&mut *db).await?.rows_affected() == 0 {
                return Ok(false);
            }
            libraries.forget_project(db, &id).await?;
            for (user_id, folder_id) in folders {
                color_folder(db, &user_id, &folder_id, None).await?;
            }
            append_audit(db, vec![audit]).await?;
            Ok(true)
        })
    });
    write.await
}

async fn folders(db: &mut Db, id: &str) -> Result<Vec<(String, String)>, StoreError> {
    let rows = sql::query(FOLDERS).bind(id).fetch_all(db).await?;
    rows.iter().map(|row| Ok((row.try_get("user_id")?, row.try_get("folder_id")?))).collect()
}

fn encoded(libraries: &[String]) -> Result<String, StoreError> {
    serde_json::to_string(libraries).map_err(|error| StoreError::Failed(error.to_string()))
}

fn read_listed(row: &Row) -> Result<ListedProject, StoreError> {
    let count = |name: &str| Ok::<_, StoreError>(u32::try_from(row.try_get::<i64>(name)?).unwrap_or(u32::MAX));
    Ok(ListedProject {
        id: row.try_get("id")?,
        name: row.try_get("name")?,
        color: Color::from_name(row.try_get("color")?).ok_or(DAMAGED)?,
        role: role(row)?,
        folder_id: row.try_get("folder_id")?,
        members: count("members")?,
        conversations: count("conversations")?,
        used_at: row.try_get::<Option<i64>>("used_at")?.unwrap_or(row.try_get("joined_at")?),
        position: row.try_get("position")?,
    })
}

fn read(row: &Row) -> Result<StoredProject, StoreError> {
    let libraries: String = row.try_get("libraries")?;
    Ok(StoredProject {
        id: row.try_get("id")?,
        owner: row.try_get("owner")?,
        settings: ProjectSettings {
            name: row.try_get("name")?,
            color: Color::from_name(row.try_get("color")?).ok_or(DAMAGED)?,
            instructions: row.try_get("instructions")?,
            libraries: serde_json::from_str(&libraries).map_err(|_| DAMAGED)?,
            agent_id: row.try_get("agent_id")?,
            model_id: row.try_get("model_id")?,
        },
        written_by: row.try_get("written_by")?,
        version: row.try_get("version")?,
        updated_at: row.try_get("updated_at")?,
        role: role(row)?,
        folder_id: row.try_get("folder_id")?,
    })
}

/// Explains the list of a user's projects; for a test of its plan.
#[cfg(test)]
pub(crate) fn explain_list(user_id: &str) -> sql::Query {
    let mut query = sql::QueryBuilder::new("EXPLAIN QUERY PLAN ");
    query.push(LIST);
    query.build().bind(user_id)
}
