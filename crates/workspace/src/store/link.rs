//! Makes uploaded contents files of a workspace, in one transaction.

use super::Conversation;
use crate::path::WorkspacePath;
use crate::section::WorkspaceLimits;
use crate::tree::check_new;
use ::store::sql::{self, Db};
use ::store::{AuditEntry, Store, StoreError, append_audit};
use std::collections::BTreeMap;
use web::times::now_millis;

/// A change of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    pub(crate) path: WorkspacePath,
    /// The version that the change is based on: the one that is replaced, or `None` if there was no file.
    pub(crate) base: Option<i64>,
    /// The new version; `None` deletes the file with all its versions.
    pub(crate) new: Option<NewVersion>,
}

/// A content that is stored already, and that nothing refers to yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NewVersion {
    pub(crate) file_id: String,
    pub(crate) size: u64,
}

/// The outcome of changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LinkOutcome {
    /// All are stored; the numbers of the new versions, in the order of the changes.
    Linked(Vec<Option<i64>>),
    /// None is stored, for this reason.
    Refused(String),
    /// The conversation does not exist.
    Gone,
}

const EXISTS: &str = "SELECT EXISTS (SELECT 1 FROM conversations WHERE owner = $1 AND id = $2 AND deleted_at IS NULL)";

const KNOWN: &str = "
    SELECT version, path, file_id, size, is_current, is_presented FROM workspace_versions
    WHERE conversation_id = $1 ORDER BY version";

const OF_USER: &str = "
    SELECT count(*) FROM workspace_versions v JOIN conversations c ON c.id = v.conversation_id
    WHERE c.owner = $1 AND v.is_current = 1";

const NEXT: &str = "
    INSERT INTO workspaces (conversation_id, last_version) VALUES ($1, $2)
    ON CONFLICT (conversation_id) DO UPDATE SET last_version = workspaces.last_version + $2
    RETURNING last_version";

const USE: &str = "INSERT INTO file_uses (file_id, conversation_id, is_attached) VALUES ($1, $2, 0)";

const REPLACE: &str = "UPDATE workspace_versions SET is_current = 0 WHERE conversation_id = $1 AND path = $2";

const INSERT: &str = "
    INSERT INTO workspace_versions (conversation_id, version, path, file_id, size, is_current, created_at)
    VALUES ($1, $2, $3, $4, $5, 1, $6)";

const DELETE: &str = "DELETE FROM workspace_versions WHERE conversation_id = $1 AND version = $2";

/// A trigger deletes the content when nothing uses it. A link to the version continues using it.
const RELEASE: &str = "
    DELETE FROM file_uses WHERE conversation_id = $1 AND file_id = $2
        AND NOT EXISTS (SELECT 1 FROM artifact_shares WHERE file_id = $2)";

const PRESENT: &str = "
    UPDATE workspace_versions SET is_presented = 1
    WHERE conversation_id = $2 AND version = $3
        AND EXISTS (SELECT 1 FROM conversations WHERE owner = $1 AND id = $2 AND deleted_at IS NULL)";

/// A version that the transaction keeps or drops.
struct Known {
    version: i64,
    path: String,
    file_id: String,
    size: u64,
    is_current: bool,
    is_presented: bool,
}

/// Stores changes, all or none, with the rows of the audit log about them.
pub(crate) async fn link(
    store: &Store,
    of: &Conversation,
    limits: WorkspaceLimits,
    changes: Vec<Link>,
    audit: Vec<AuditEntry>,
) -> Result<LinkOutcome, StoreError> {
    let of = of.clone();
    let write = store.write(move |db| {
        Box::pin(async move {
            let outcome = apply(db, &of, &limits, &changes).await?;
            if matches!(outcome, LinkOutcome::Linked(_)) && !audit.is_empty() {
                append_audit(db, audit).await?;
            }
            Ok(outcome)
        })
    });
    write.await
}

async fn apply(
    db: &mut Db,
    of: &Conversation,
    limits: &WorkspaceLimits,
    changes: &[Link],
) -> Result<LinkOutcome, StoreError> {
    if !sql::query_scalar::<bool>(EXISTS).bind(&of.owner).bind(&of.id).fetch_one(&mut *db).await? {
        return Ok(LinkOutcome::Gone);
    }
    let known = known(db, of).await?;
    let files_of_user = sql::query_scalar::<i64>(OF_USER).bind(&of.owner).fetch_one(&mut *db).await?;
    let dropped = match dropped(&known, limits, changes, files_of_user.cast_unsigned()) {
        Ok(dropped) => dropped,
        Err(reason) => return Ok(LinkOutcome::Refused(reason)),
    };
    for version in dropped {
        sql::query(DELETE).bind(&of.id).bind(version.version).execute(&mut *db).await?;
        sql::query(RELEASE).bind(&of.id).bind(&version.file_id).execute(&mut *db).await?;
    }
    let count = changes.iter().filter(|change| change.new.is_some()).count() as i64;
    let last = sql::query_scalar::<i64>(NEXT).bind(&of.id).bind(count).fetch_one(&mut *db).await?;
    let (mut next, mut numbers) = (last - count, Vec::new());
    for change in changes {
        let Some(new) = &change.new else {
            numbers.push(None);
            continue;
        };
        next += 1;
        sql::query(USE).bind(&new.file_id).bind(&of.id).execute(&mut *db).await?;
        sql::query(REPLACE).bind(&of.id).bind(change.path.as_str()).execute(&mut *db).await?;
        let insert = sql::query(INSERT).bind(&of.id).bind(next).bind(change.path.as_str()).bind(&new.file_id);
        insert.bind(new.size.cast_signed()).bind(now_millis()).execute(&mut *db).await?;
        numbers.push(Some(next));
    }
    Ok(LinkOutcome::Linked(numbers))
}

async fn known(db: &mut Db, of: &Conversation) -> Result<Vec<Known>, StoreError> {
    let rows = sql::query(KNOWN).bind(&of.id).fetch_all(&mut *db).await?;
    let known = rows.iter().map(|row| {
        Ok(Known {
            version: row.try_get("version")?,
            path: row.try_get("path")?,
            file_id: row.try_get("file_id")?,
            size: row.try_get::<i64>("size")?.cast_unsigned(),
            is_current: row.try_get::<i64>("is_current")? != 0,
            is_presented: row.try_get::<i64>("is_presented")? != 0,
        })
    });
    known.collect()
}

/// Checks changes, and returns the versions that are deleted with them: those of deleted files, and old ones
/// for which there is no room.
///
/// # Errors
/// Why the changes are refused.
fn dropped<'k>(
    known: &'k [Known],
    limits: &WorkspaceLimits,
    changes: &[Link],
    files_of_user: u64,
) -> Result<Vec<&'k Known>, String> {
    let mut current: BTreeMap<&str, (i64, u64)> = known
        .iter()
        .filter(|known| known.is_current)
        .map(|known| (known.path.as_str(), (known.version, known.size)))
        .collect();
    let before = current.len() as u64;
    for change in changes {
        let path = change.path.as_str();
        if current.get(path).map(|(version, _)| *version) != change.base {
            return Err(format!("`{path}` has been changed in the meantime: read it again"));
        }
        match &change.new {
            None => drop(current.remove(path)),
            Some(new) => {
                check_new(&change.path, current.keys().copied()).map_err(|reason| format!("`{path}`: {reason}"))?;
                current.insert(path, (i64::MAX, new.size));
            }
        }
    }
    let count = current.len() as u64;
    if count > limits.files && count > before {
        return Err(format!("this conversation may have {} files: delete some first", limits.files));
    }
    if (files_of_user + count).saturating_sub(before) > limits.user_files && count > before {
        return Err(format!("the user may have {} files in all conversations: delete some first", limits.user_files));
    }
    let sum: u64 = current.values().map(|(_, size)| size).sum();
    let (gone, mut old): (Vec<_>, Vec<_>) = known.iter().partition(|known| !current.contains_key(known.path.as_str()));
    old.retain(|known| current.get(known.path.as_str()).is_none_or(|(version, _)| *version != known.version));
    let old = without_room(old, limits, sum)?;
    Ok(gone.into_iter().chain(old).collect())
}

/// Returns the old versions that are dropped: those beyond the number that is kept of each file, and then the
/// oldest until everything fits.
fn without_room<'k>(old: Vec<&'k Known>, limits: &WorkspaceLimits, current: u64) -> Result<Vec<&'k Known>, String> {
    if current > limits.bytes {
        return Err(format!(
            "the files of this conversation would have {current} bytes, and may have {}: delete some first",
            limits.bytes
        ));
    }
    let (mut dropped, mut kept, mut counts) = (Vec::new(), Vec::new(), BTreeMap::<&str, u64>::new());
    for known in old.into_iter().rev() {
        let count = counts.entry(known.path.as_str()).or_default();
        *count += 1;
        // The current version counts, too.
        if *count < limits.versions || known.is_presented { kept.push(known) } else { dropped.push(known) }
    }
    let mut sum = current + kept.iter().map(|known| known.size).sum::<u64>();
    // The oldest are at the end. Those that the user was shown go last.
    for is_presented in [false, true] {
        for known in kept.iter().rev().filter(|known| known.is_presented == is_presented) {
            if sum > limits.bytes {
                sum -= known.size;
                dropped.push(known);
            }
        }
    }
    Ok(dropped)
}

/// Notes that a version was shown to the user as a result.
pub(crate) async fn mark_presented(store: &Store, of: &Conversation, version: i64) -> Result<(), StoreError> {
    let mark = sql::query(PRESENT).bind(of.owner.clone()).bind(of.id.clone()).bind(version);
    store.write(move |db| Box::pin(async move { Ok(mark.execute(db).await.map(drop)?) })).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use insta::assert_snapshot;

    const LIMITS: WorkspaceLimits =
        WorkspaceLimits { file_bytes: 100, bytes: 100, files: 3, user_files: 5, user_bytes: 1_000, versions: 3 };

    /// Checks changes `PATH BASE SIZE` of a workspace with versions `VERSION PATH SIZE FLAGS`.
    fn check(known: &[(i64, &str, u64, &str)], changes: &[(&str, Option<i64>, Option<u64>)], of_user: u64) -> String {
        let known: Vec<_> = known
            .iter()
            .map(|(version, path, size, flags)| Known {
                version: *version,
                path: format!("/workspace/{path}"),
                file_id: String::new(),
                size: *size,
                is_current: flags.contains('c'),
                is_presented: flags.contains('p'),
            })
            .collect();
        let changes: Vec<_> = changes
            .iter()
            .map(|(path, base, size)| Link {
                path: WorkspacePath::parse_file(path).unwrap(),
                base: *base,
                new: size.map(|size| NewVersion { file_id: String::new(), size }),
            })
            .collect();
        match dropped(&known, &LIMITS, &changes, of_user) {
            Ok(dropped) => format!("{:?}", dropped.iter().map(|known| known.version).collect::<Vec<_>>()),
            Err(reason) => reason,
        }
    }

    #[test]
    fn limits_hold_and_old_versions_make_room() {
        let known = [(1, "a", 10, ""), (2, "a", 10, ""), (3, "a", 10, "c"), (4, "b", 10, "c")];
        assert_snapshot!(check(&known, &[("a", Some(3), Some(10))], 2), @"[1]");
        assert_snapshot!(check(&known, &[("a", Some(3), None)], 2), @"[1, 2, 3]");
        assert_snapshot!(check(&known, &[("a", Some(3), Some(71))], 2), @"[1, 2]");
        assert_snapshot!(check(&known, &[("a", Some(3), Some(95))], 2), @"the files of this conversation would have 105 bytes, and may have 100: delete some first");
        assert_snapshot!(check(&known, &[("a", Some(2), Some(1))], 2), @"`/workspace/a` has been changed in the meantime: read it again");
        assert_snapshot!(check(&known, &[("c", None, Some(1)), ("d", None, Some(1))], 2), @"this conversation may have 3 files: delete some first");
        assert_snapshot!(check(&known, &[("c", None, Some(1)), ("b", Some(4), None)], 2), @"[4]");
        assert_snapshot!(check(&known, &[("c", None, Some(1))], 5), @"the user may have 5 files in all conversations: delete some first");
        assert_snapshot!(check(&known, &[("b/c", None, Some(1))], 2), @"`/workspace/b/c`: `/workspace/b` is a file, not a folder");
        assert_snapshot!(check(&known, &[("b", Some(4), None), ("b/c", None, Some(1))], 2), @"[4]");
        let shown = [(1, "a", 10, "p"), (2, "a", 10, ""), (3, "a", 10, ""), (4, "a", 10, "c")];
        assert_snapshot!(check(&shown, &[("a", Some(4), Some(10))], 2), @"[2]");
    }
}
