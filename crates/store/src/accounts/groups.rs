//! Table `user_groups`: groups of the users of this server. A member has the roles of a group in addition to those that
//! administrators gave them.

use crate::accounts::group_members::{MemberChange, MemberDifference, change_members, check_members};
use crate::accounts::users::{decode_list, encode_list};
use crate::sql::{self, Db, Query, Row};
use crate::{AuditEntry, Store, StoreError, audit};
use schemars::JsonSchema;
use serde::Serialize;

/// The maximum number of groups.
pub const MAX_GROUPS: u32 = 1_000;

/// A group of users.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Group {
    /// Its id.
    pub id: String,
    /// The name.
    pub name: String,
    /// The purpose of the group; may be empty.
    pub description: String,
    /// The roles of its members.
    pub roles: Vec<String>,
    /// Whether a directory sets its name and its members.
    pub provisioned: bool,
    /// The id in the directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub external_id: Option<String>,
    /// The number of its members.
    pub members: i64,
    /// Unix time, milliseconds.
    pub created_at: i64,
    /// Unix time, milliseconds.
    pub updated_at: i64,
}

/// A new group.
#[derive(Clone, Debug)]
pub struct NewGroup {
    /// A new, unique id.
    pub id: String,
    /// The name.
    pub name: String,
    /// The name in normalized form, which is unique.
    pub name_key: String,
    /// The purpose of the group.
    pub description: String,
    /// The roles of its members.
    pub roles: Vec<String>,
    /// Whether a directory sets its name and its members.
    pub provisioned: bool,
    /// The id in the directory.
    pub external_id: Option<String>,
    /// The users in it, by id.
    pub members: Vec<String>,
    /// Unix time, milliseconds.
    pub now: i64,
}

/// A change of a group. Fields that are `None` or empty stay unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupChange {
    /// The name, and its normalized form.
    pub name: Option<(String, String)>,
    /// The purpose of the group.
    pub description: Option<String>,
    /// The roles of its members.
    pub roles: Option<Vec<String>>,
    /// Whether a directory sets its name and its members.
    pub provisioned: Option<bool>,
    /// The id in the directory; empty for none.
    pub external_id: Option<String>,
    /// Changes of the members, in this order.
    pub members: Vec<MemberChange>,
}

/// The outcome of adding or changing a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GroupOutcome {
    /// It was added or changed.
    Done,
    /// There is no such group.
    Unknown,
    /// Another group has this name.
    NameTaken,
    /// There are [`MAX_GROUPS`] groups.
    TooMany,
    /// It would have more than [`crate::MAX_GROUP_MEMBERS`] members.
    TooManyMembers,
    /// There is no user with this id.
    UnknownMember(String),
}

/// The columns of groups, from the table and further conditions.
macro_rules! select_groups {
    ($rest:literal) => {
        concat!(
            "SELECT g.id, g.name, g.description, g.roles, g.provisioned = 1 AS provisioned, g.external_id, g.created_at,
                g.updated_at, (SELECT count(*) FROM user_group_members WHERE group_id = g.id) AS members
            FROM user_groups g ",
            $rest
        )
    };
}

const ALL: &str = select_groups!("ORDER BY g.name_key");
const ONE: &str = select_groups!("WHERE g.id = $1");
const OF_USER: &str =
    select_groups!("WHERE g.id IN (SELECT group_id FROM user_group_members WHERE user_id = $1) ORDER BY g.name_key");

const INSERT: &str = "
    INSERT INTO user_groups (id, name, name_key, description, roles, provisioned, external_id, created_at, updated_at)
    SELECT $1, $2, $3, $4, $5, $6, $7, $8, $8 WHERE (SELECT count(*) FROM user_groups) < $9";

const NAME_TAKEN: &str = "SELECT EXISTS (SELECT 1 FROM user_groups WHERE name_key = $1 AND id <> $2)";

impl Store {
    /// Returns all groups, by name.
    ///
    /// # Errors
    /// The database failed.
    pub async fn groups(&self) -> Result<Vec<Group>, StoreError> {
        self.select_groups(sql::query(ALL)).await
    }

    /// Returns the groups of a user, by name.
    ///
    /// # Errors
    /// The database failed.
    pub async fn user_groups(&self, user_id: &str) -> Result<Vec<Group>, StoreError> {
        self.select_groups(sql::query(OF_USER).bind(user_id.to_owned())).await
    }

    /// Returns a group.
    ///
    /// # Errors
    /// The database failed.
    pub async fn group(&self, id: &str) -> Result<Option<Group>, StoreError> {
        Ok(self.select_groups(sql::query(ONE).bind(id.to_owned())).await?.pop())
    }

    /// Adds a group, and writes `entry` with the members to the audit log in the same transaction.
    ///
    /// # Errors
    /// The database failed.
    pub async fn add_group(&self, new: NewGroup, entry: AuditEntry) -> Result<GroupOutcome, StoreError> {
        self.write(move |db| {
            Box::pin(async move {
                if is_name_taken(db, &new.name_key, &new.id).await? {
                    return Ok(GroupOutcome::NameTaken);
                }
                let change = MemberChange::Add(new.members);
                if let Some(refused) = check_members(db, "", std::slice::from_ref(&change)).await? {
                    return Ok(refused);
                }
                let insert = sql::query(INSERT).bind(&new.id).bind(new.name).bind(new.name_key).bind(new.description);
                let insert = insert.bind(encode_list(&new.roles)).bind(new.provisioned).bind(new.external_id);
                if insert.bind(new.now).bind(MAX_GROUPS).execute(&mut *db).await?.rows_affected() == 0 {
                    return Ok(GroupOutcome::TooMany);
                }
                let (mut difference, mut entry) = (MemberDifference::default(), entry);
                change_members(db, &new.id, change, &mut difference).await?;
                difference.describe(&mut entry);
                audit::append_audit(db, vec![entry]).await?;
                Ok(GroupOutcome::Done)
            })
        })
        .await
    }

    /// Changes a group, and writes `entry` with the members who came and left to the audit log in the same transaction;
    /// not if nothing changes.
    ///
    /// # Errors
    /// The database failed.
    pub async fn change_group(
        &self,
        id: &str,
        change: GroupChange,
        now: i64,
        entry: AuditEntry,
    ) -> Result<GroupOutcome, StoreError> {
        let id = id.to_owned();
        self.write(move |db| {
            Box::pin(async move {
                let touch = sql::query("UPDATE user_groups SET updated_at = $2 WHERE id = $1").bind(&id).bind(now);
                if touch.execute(&mut *db).await?.rows_affected() == 0 {
                    return Ok(GroupOutcome::Unknown);
                }
                if let Some((_, key)) = &change.name
                    && is_name_taken(db, key, &id).await?
                {
                    return Ok(GroupOutcome::NameTaken);
                }
                if let Some(refused) = check_members(db, &id, &change.members).await? {
                    return Ok(refused);
                }
                let updates = updates(&id, &change);
                let (mut difference, mut entry, has_updates) =
                    (MemberDifference::default(), entry, !updates.is_empty());
                for update in updates {
                    update.execute(&mut *db).await?;
                }
                for members in change.members {
                    change_members(db, &id, members, &mut difference).await?;
                }
                if has_updates || !difference.is_empty() {
                    difference.describe(&mut entry);
                    audit::append_audit(db, vec![entry]).await?;
                }
                Ok(GroupOutcome::Done)
            })
        })
        .await
    }

    /// Deletes a group, and writes `entry` to the audit log in the same transaction. Returns false if there is none.
    ///
    /// # Errors
    /// The database failed.
    pub async fn delete_group(&self, id: &str, entry: AuditEntry) -> Result<bool, StoreError> {
        let delete = sql::query("DELETE FROM user_groups WHERE id = $1").bind(id.to_owned());
        self.execute_audited(delete, Some(entry)).await
    }

    async fn select_groups(&self, query: Query) -> Result<Vec<Group>, StoreError> {
        self.rows(query, group).await
    }
}

fn updates(id: &str, change: &GroupChange) -> Vec<Query> {
    let set = |sql: &'static str| sql::query(sql).bind(id);
    let mut updates = Vec::new();
    if let Some((name, key)) = &change.name {
        updates.push(set("UPDATE user_groups SET name = $2, name_key = $3 WHERE id = $1").bind(name).bind(key));
    }
    if let Some(description) = &change.description {
        updates.push(set("UPDATE user_groups SET description = $2 WHERE id = $1").bind(description));
    }
    if let Some(roles) = &change.roles {
        updates.push(set("UPDATE user_groups SET roles = $2 WHERE id = $1").bind(encode_list(roles)));
    }
    if let Some(provisioned) = change.provisioned {
        updates.push(set("UPDATE user_groups SET provisioned = $2 WHERE id = $1").bind(provisioned));
    }
    if let Some(external_id) = &change.external_id {
        let external_id = (!external_id.is_empty()).then(|| external_id.clone());
        updates.push(set("UPDATE user_groups SET external_id = $2 WHERE id = $1").bind(external_id));
    }
    updates
}

async fn is_name_taken(db: &mut Db, key: &str, id: &str) -> Result<bool, StoreError> {
    Ok(sql::query_scalar(NAME_TAKEN).bind(key).bind(id).fetch_one(db).await?)
}

fn group(row: &Row) -> Result<Group, StoreError> {
    Ok(Group {
        id: row.try_get("id")?,
        name: row.try_get("name")?,
        description: row.try_get("description")?,
        roles: decode_list(row.try_get("roles")?)?,
        provisioned: row.try_get("provisioned")?,
        external_id: row.try_get("external_id")?,
        members: row.try_get("members")?,
        created_at: row.try_get("created_at")?,
        updated_at: row.try_get("updated_at")?,
    })
}
