//! The tables of workspaces. Each function takes whose conversation it is.

mod link;
mod share;

pub(crate) use self::link::{Link, LinkOutcome, NewVersion, link, mark_presented};
pub(crate) use self::share::{NewShare, ShareOutcome, SharedRow, share, shared, shares, unshare};

use crate::path::{UPLOADS, WorkspacePath, folded};
use crate::tree::{FileEntry, Origin, Tree};
use ::store::sql::{self, Row};
use ::store::{CapabilityTables, Migration, Store, StoreError, Table};
use std::collections::HashSet;

/// The tables. Their rows are deleted with their conversation.
pub(crate) const TABLES: CapabilityTables = CapabilityTables {
    capability: "workspace",
    migrations: &[
        Migration {
            name: "workspace",
            sqlite: include_str!("../../migrations/sqlite/0001_workspace.sql"),
            postgres: include_str!("../../migrations/postgres/0001_workspace.sql"),
        },
        Migration {
            name: "artifact_shares",
            sqlite: include_str!("../../migrations/sqlite/0002_artifact_shares.sql"),
            postgres: include_str!("../../migrations/postgres/0002_artifact_shares.sql"),
        },
    ],
    tables: &[
        Table { name: "workspaces", key: "conversation_id", owner: None },
        Table { name: "workspace_versions", key: "conversation_id, version", owner: None },
        Table { name: "artifact_shares", key: "id", owner: None },
    ],
    user_deletion: &[],
    sqlite_baseline: None,
};

/// The most attached files of a conversation that are in its tree.
const MAX_ATTACHED: i64 = 500;

const AGENT: &str = "SELECT agent_id FROM conversations WHERE owner = $1 AND id = $2 AND deleted_at IS NULL";

const CURRENT: &str = "
    SELECT v.path, v.version, v.file_id, v.size, f.media_type, v.created_at
    FROM conversations c
        JOIN workspace_versions v ON v.conversation_id = c.id AND v.is_current = 1
        JOIN files f ON f.id = v.file_id
    WHERE c.owner = $1 AND c.id = $2 AND c.deleted_at IS NULL
    ORDER BY v.path";

const ATTACHED: &str = "
    SELECT f.id AS file_id, f.name, f.media_type, f.size, f.created_at
    FROM conversations c
        JOIN file_uses u ON u.conversation_id = c.id
        JOIN files f ON f.id = u.file_id AND f.owner = c.owner
    WHERE c.owner = $1 AND c.id = $2 AND c.deleted_at IS NULL
        AND NOT EXISTS (SELECT 1 FROM workspace_versions v WHERE v.file_id = f.id)
        AND NOT EXISTS (SELECT 1 FROM artifact_shares s WHERE s.file_id = f.id)
    ORDER BY f.created_at, f.id LIMIT $3";

const VERSIONS: &str = "
    SELECT v.path, v.version, v.file_id, v.size, f.media_type, v.created_at
    FROM conversations c
        JOIN workspace_versions v ON v.conversation_id = c.id
        JOIN files f ON f.id = v.file_id
    WHERE c.owner = $1 AND c.id = $2 AND c.deleted_at IS NULL AND ($3 = '' OR v.path = $3) AND ($4 = 0 OR v.version = $4)
    ORDER BY v.version DESC LIMIT 200";

/// A conversation and its owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Conversation {
    pub(crate) owner: String,
    pub(crate) id: String,
}

/// A version of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Version {
    pub(crate) path: WorkspacePath,
    pub(crate) version: i64,
    pub(crate) entry: FileEntry,
}

/// Returns the agent of a conversation; `None` if the user has no such conversation.
pub(crate) async fn agent_of(store: &Store, of: &Conversation) -> Result<Option<String>, StoreError> {
    let find = sql::query_scalar::<String>(AGENT).bind(of.owner.clone()).bind(of.id.clone());
    store.read(move |db| Box::pin(async move { Ok(find.fetch_optional(db).await?) })).await
}

/// Returns the files of a conversation, with those that are attached to its messages in `/uploads`.
pub(crate) async fn tree(store: &Store, of: &Conversation) -> Result<Tree, StoreError> {
    let current = sql::query(CURRENT).bind(of.owner.clone()).bind(of.id.clone());
    let mut tree = Tree::default();
    for row in store.read(move |db| Box::pin(async move { Ok(current.fetch_all(db).await?) })).await? {
        let Version { path, entry, .. } = version(&row)?;
        tree.insert(path, entry);
    }
    let attached = sql::query(ATTACHED).bind(of.owner.clone()).bind(of.id.clone()).bind(MAX_ATTACHED);
    let attached = store.read(move |db| Box::pin(async move { Ok(attached.fetch_all(db).await?) })).await?;
    let mut taken: HashSet<String> = tree.paths().map(folded).collect();
    for row in &attached {
        add_attached(&mut tree, &mut taken, row)?;
    }
    Ok(tree)
}

/// Adds an attached file under its name, and the text of a document beside it.
fn add_attached(tree: &mut Tree, taken: &mut HashSet<String>, row: &Row) -> Result<(), StoreError> {
    let name: String = row.try_get("name")?;
    let entry = FileEntry {
        file_id: row.try_get("file_id")?,
        origin: Origin::Attached,
        size: row.try_get::<i64>("size")?.cast_unsigned(),
        media_type: row.try_get("media_type")?,
        changed_at: row.try_get("created_at")?,
    };
    let Some(path) = free_name(taken, &name) else { return Ok(()) };
    if has_text(path.name())
        && let Some(beside) = free_name(taken, &format!("{}.txt", path.name()))
    {
        let text = FileEntry { origin: Origin::TextOf, size: 0, media_type: "text/plain".to_owned(), ..entry.clone() };
        tree.insert(beside, text);
    }
    tree.insert(path, entry);
    Ok(())
}

/// Returns whether converters read the text of files with this name that is no text itself.
fn has_text(name: &str) -> bool {
    let extension = name.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase()).unwrap_or_default();
    ["pdf", "docx", "doc", "pptx", "ppt", "xlsx", "xlsb", "xls", "ods", "epub"].contains(&extension.as_str())
}

/// Returns the path for an attached file: its name, with a number if it is taken, and without the characters
/// that paths do not have.
fn free_name(taken: &mut HashSet<String>, name: &str) -> Option<WorkspacePath> {
    let plain: String =
        name.chars().map(|char| if WorkspacePath::parse(&format!("a{char}b")).is_ok() { char } else { '_' }).collect();
    let plain = plain.replace('/', "_");
    let plain = plain.trim().trim_end_matches(['.', ' ']);
    let (stem, extension) =
        plain.rsplit_once('.').map_or((plain, String::new()), |(stem, end)| (stem, format!(".{end}")));
    let stem = &stem[..stem.floor_char_boundary(80)];
    // After the cut, the extension may end with a space or a dot, which is not allowed at the end of a name.
    let extension = extension[..extension.floor_char_boundary(20)].trim_end_matches(['.', ' ']);
    let stem = if stem.is_empty() && extension.is_empty() { "file" } else { stem };
    (1..=1_000).find_map(|number| {
        let number = if number == 1 { String::new() } else { format!(" ({number})") };
        let path = WorkspacePath::parse_file(&format!("{UPLOADS}/{stem}{number}{extension}")).ok()?;
        taken.insert(folded(path.as_str())).then_some(path)
    })
}

/// Returns the versions of a file that are kept, the newest first.
pub(crate) async fn versions(
    store: &Store,
    of: &Conversation,
    path: &WorkspacePath,
) -> Result<Vec<Version>, StoreError> {
    find_versions(store, of, path.as_str(), 0).await
}

/// Returns a version by its number.
pub(crate) async fn version_of(store: &Store, of: &Conversation, number: i64) -> Result<Option<Version>, StoreError> {
    if number < 1 {
        return Ok(None);
    }
    Ok(find_versions(store, of, "", number).await?.pop())
}

async fn find_versions(store: &Store, of: &Conversation, path: &str, number: i64) -> Result<Vec<Version>, StoreError> {
    let find = sql::query(VERSIONS).bind(of.owner.clone()).bind(of.id.clone()).bind(path.to_owned()).bind(number);
    store.rows(find, version).await
}

fn version(row: &Row) -> Result<Version, StoreError> {
    let path: String = row.try_get("path")?;
    let damaged = |error| StoreError::Failed(format!("a path of a workspace is damaged: {error}"));
    let version: i64 = row.try_get("version")?;
    let entry = FileEntry {
        file_id: row.try_get("file_id")?,
        origin: Origin::Stored(version),
        size: row.try_get::<i64>("size")?.cast_unsigned(),
        media_type: row.try_get("media_type")?,
        changed_at: row.try_get("created_at")?,
    };
    Ok(Version { path: WorkspacePath::parse_file(&path).map_err(damaged)?, version, entry })
}
