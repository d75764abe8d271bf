//! Table `user_group_members`: who is in which group.

use crate::accounts::groups::GroupOutcome;
use crate::sql::{self, Db, Row};
use crate::{AuditEntry, Store, StoreError};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::collections::HashSet;

/// The maximum number of members of a group.
pub const MAX_GROUP_MEMBERS: usize = 10_000;

/// A change of the members of a group. Users are named by id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MemberChange {
    /// Adds these.
    Add(Vec<String>),
    /// Removes these.
    Remove(Vec<String>),
    /// Removes all others, and adds these.
    Replace(Vec<String>),
}

/// A member of a group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct GroupMember {
    /// The user's id.
    pub id: String,
    /// The user's name.
    pub name: String,
    /// Whether a directory manages the user.
    pub provisioned: bool,
}

/// A user who is being deleted cannot become a member.
const IS_USER: &str = "SELECT EXISTS (SELECT 1 FROM users WHERE id = $1 AND deleted_at IS NULL)";

const ADD_MEMBER: &str =
    "INSERT INTO user_group_members (group_id, user_id) VALUES ($1, $2) ON CONFLICT (group_id, user_id) DO NOTHING";

const REMOVE_MEMBER: &str = "DELETE FROM user_group_members WHERE group_id = $1 AND user_id = $2";

const ADD_MEMBERSHIP: &str = "
    INSERT INTO user_group_members (group_id, user_id) SELECT id, $2 FROM user_groups WHERE id = $1
    ON CONFLICT (group_id, user_id) DO NOTHING";

const MEMBERS: &str = "
    SELECT u.id, u.name, EXISTS (SELECT 1 FROM scim_users WHERE user_id = u.id) AS provisioned
    FROM user_group_members m JOIN users u ON u.id = m.user_id
    WHERE m.group_id = $1 AND u.deleted_at IS NULL AND u.name_key > $2 ORDER BY u.name_key LIMIT $3";

impl Store {
    /// Returns members of a group whose normalized names follow `after`, by name.
    ///
    /// # Errors
    /// The database failed.
    pub async fn group_members(&self, id: &str, after: &str, limit: u32) -> Result<Vec<GroupMember>, StoreError> {
        let list = sql::query(MEMBERS).bind(id.to_owned()).bind(after.to_owned()).bind(limit);
        let member = |row: &Row| {
            Ok(GroupMember {
                id: row.try_get("id")?,
                name: row.try_get("name")?,
                provisioned: row.try_get("provisioned")?,
            })
        };
        self.rows(list, member).await
    }
}

/// Makes a user a member of groups; those that do not exist are left out, and so are those that are full.
pub(crate) async fn add_memberships(db: &mut Db, user_id: &str, groups: &[String]) -> Result<(), StoreError> {
    for id in groups {
        if count_members(db, id).await? < MAX_GROUP_MEMBERS as i64 {
            sql::query(ADD_MEMBERSHIP).bind(id).bind(user_id).execute(&mut *db).await?;
        }
    }
    Ok(())
}

/// Returns why members of a group cannot be changed, if that is so. The number of members is computed as if those
/// that are added were new.
pub(super) async fn check_members(
    db: &mut Db,
    id: &str,
    changes: &[MemberChange],
) -> Result<Option<GroupOutcome>, StoreError> {
    let mut count = usize::try_from(count_members(db, id).await?).unwrap_or(usize::MAX);
    for change in changes {
        let added = match change {
            MemberChange::Add(added) => {
                count = count.saturating_add(added.len());
                added
            }
            MemberChange::Replace(all) => {
                count = all.len();
                all
            }
            MemberChange::Remove(_) => continue,
        };
        if count > MAX_GROUP_MEMBERS {
            return Ok(Some(GroupOutcome::TooManyMembers));
        }
        for user_id in added {
            if !sql::query_scalar::<bool>(IS_USER).bind(user_id).fetch_one(&mut *db).await? {
                return Ok(Some(GroupOutcome::UnknownMember(user_id.clone())));
            }
        }
    }
    Ok(None)
}

/// The users who became members, and those who no longer are.
#[derive(Default)]
pub(super) struct MemberDifference {
    added: Vec<String>,
    removed: Vec<String>,
}

impl MemberDifference {
    /// Returns whether nobody came or left.
    pub(super) fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty()
    }

    /// Adds it to what the audit log says about the change.
    pub(super) fn describe(self, entry: &mut AuditEntry) {
        let Value::Object(about) = &mut entry.arguments else { return };
        for (key, ids) in [("added", self.added), ("removed", self.removed)] {
            if !ids.is_empty() {
                about.insert(key.to_owned(), ids.into());
            }
        }
    }
}

pub(super) async fn change_members(
    db: &mut Db,
    id: &str,
    change: MemberChange,
    difference: &mut MemberDifference,
) -> Result<(), StoreError> {
    let (added, removed) = match change {
        MemberChange::Add(added) => (added, Vec::new()),
        MemberChange::Remove(removed) => (Vec::new(), removed),
        MemberChange::Replace(all) => {
            let list = sql::query_scalar("SELECT user_id FROM user_group_members WHERE group_id = $1").bind(id);
            let (before, kept): (Vec<String>, HashSet<_>) = (list.fetch_all(&mut *db).await?, all.iter().collect());
            let removed = before.into_iter().filter(|user_id| !kept.contains(user_id)).collect();
            (all, removed)
        }
    };
    for user_id in removed {
        let remove = sql::query(REMOVE_MEMBER).bind(id).bind(&user_id).execute(&mut *db).await?;
        if remove.rows_affected() > 0 {
            difference.removed.push(user_id);
        }
    }
    for user_id in added {
        if sql::query(ADD_MEMBER).bind(id).bind(&user_id).execute(&mut *db).await?.rows_affected() > 0 {
            difference.added.push(user_id);
        }
    }
    Ok(())
}

async fn count_members(db: &mut Db, id: &str) -> Result<i64, StoreError> {
    let count = sql::query_scalar("SELECT count(*) FROM user_group_members WHERE group_id = $1").bind(id);
    Ok(count.fetch_one(db).await?)
}
