//! Reads accounts and stored workflows from the database and checks that each change is stored completely: its effect
//! and its row in the audit log, or neither.

use anyhow::Result;
use serde_json::Value;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Row as _};
use std::path::Path;

/// The account tables, and the audit rows about them.
#[derive(Default)]
pub(crate) struct StoredAccounts {
    pub(crate) users: Vec<User>,
    /// Ids of API keys.
    pub(crate) keys: Vec<String>,
    /// Ids of sessions.
    pub(crate) sessions: Vec<String>,
    /// Ids of users with an authenticator app.
    pub(crate) apps: Vec<String>,
    /// Stored definitions of workflows.
    pub(crate) workflows: Vec<StoredWorkflow>,
    /// Rows of successful changes in order.
    pub(crate) rows: Vec<AuditRow>,
}

/// A user.
pub(crate) struct User {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) roles: Value,
    /// Whether the password was changed since the account was created.
    pub(crate) has_new_password: bool,
}

/// A stored definition of a workflow.
pub(crate) struct StoredWorkflow {
    pub(crate) id: String,
    /// The current version.
    pub(crate) version: i64,
    /// How many versions are stored.
    pub(crate) versions: i64,
    pub(crate) is_deleted: bool,
}

/// A row of the audit log with the outcome `ok`.
pub(crate) struct AuditRow {
    pub(crate) user: String,
    pub(crate) tool: String,
    pub(crate) about: Value,
}

impl StoredAccounts {
    /// Reads a database file that no server has open.
    pub(crate) async fn read(file: &Path) -> Result<Self> {
        let mut db = SqliteConnectOptions::new().filename(file).connect().await?;
        let mut stored = Self::default();
        let users = "SELECT id, name, roles, password_changed_at <> created_at FROM users";
        for row in sqlx::query(users).fetch_all(&mut db).await? {
            let (roles, has_new_password): (String, i64) = (row.try_get(2)?, row.try_get(3)?);
            let roles = serde_json::from_str(&roles)?;
            let (id, name) = (row.try_get(0)?, row.try_get(1)?);
            stored.users.push(User { id, name, roles, has_new_password: has_new_password == 1 });
        }
        stored.keys = sqlx::query_scalar("SELECT id FROM api_keys").fetch_all(&mut db).await?;
        stored.sessions = sqlx::query_scalar("SELECT id FROM sessions").fetch_all(&mut db).await?;
        stored.apps = sqlx::query_scalar("SELECT user_id FROM second_factors").fetch_all(&mut db).await?;
        let workflows = "SELECT id, version, deleted_at IS NOT NULL,
            (SELECT count(*) FROM stored_workflow_versions WHERE workflow_id = id) FROM stored_workflows";
        for row in sqlx::query(workflows).fetch_all(&mut db).await? {
            let (id, version, versions) = (row.try_get(0)?, row.try_get(1)?, row.try_get(3)?);
            stored.workflows.push(StoredWorkflow { id, version, versions, is_deleted: row.try_get(2)? });
        }
        let rows = "SELECT user_id, tool, arguments FROM audit WHERE outcome = 'ok' ORDER BY no";
        for row in sqlx::query(rows).fetch_all(&mut db).await? {
            let about: String = row.try_get(2)?;
            let (user, tool) = (row.try_get(0)?, row.try_get(1)?);
            stored.rows.push(AuditRow { user, tool, about: serde_json::from_str(&about)? });
        }
        Ok(stored)
    }

    /// Returns a line for each change of which only the effect or only the audit row is stored.
    pub(crate) fn incomplete_changes(&self) -> Vec<String> {
        let mut wrong = Vec::new();
        self.check_users(&mut wrong);
        self.check_keys(&mut wrong);
        for user in &self.users {
            self.check_password(user, &mut wrong);
            self.check_roles(user, &mut wrong);
            let is_entered = self.rows_of("account:set_up_second_factor").any(|row| row.user == user.id);
            if is_entered != self.apps.contains(&user.id) {
                wrong.push(format!("the app of {}: audited {is_entered}, stored {}", user.name, !is_entered));
            }
        }
        for ended in self.rows_of("account:end_session") {
            let id = text(&ended.about, "sessionId");
            if self.sessions.iter().any(|session| session == id) {
                wrong.push(format!("the session {id} is audited as ended but still stored"));
            }
        }
        self.check_workflows(&mut wrong);
        wrong
    }

    fn check_workflows(&self, wrong: &mut Vec<String>) {
        for StoredWorkflow { id, version, versions, is_deleted } in &self.workflows {
            let rows = |tool| self.rows_of(tool).filter(|row| text(&row.about, "workflowId") == id).count();
            let saved = rows("admin:add_workflow") + rows("admin:change_workflow");
            if [*version, *versions].map(usize::try_from) != [Ok(saved); 2] {
                wrong.push(format!(
                    "the workflow {id} has the version {version}, {versions} versions and {saved} audit rows"
                ));
            }
            let deleted = rows("admin:delete_workflow");
            if deleted != usize::from(*is_deleted) {
                wrong.push(format!("the workflow {id}: audited as deleted {deleted} times, deleted {is_deleted}"));
            }
        }
        for row in self.rows_of("admin:add_workflow") {
            let id = text(&row.about, "workflowId");
            if self.workflows.iter().all(|workflow| workflow.id != id) {
                wrong.push(format!("the workflow {id} is audited but not stored"));
            }
        }
    }

    /// Returns the rows with this tool.
    fn rows_of<'a>(&'a self, tool: &'a str) -> impl Iterator<Item = &'a AuditRow> {
        self.rows.iter().filter(move |row| row.tool == tool)
    }

    fn check_users(&self, wrong: &mut Vec<String>) {
        let added: Vec<_> = self.rows_of("account:first_account").chain(self.rows_of("account:sign_up")).collect();
        for user in &self.users {
            let rows = added.iter().filter(|row| row.user == user.id).count();
            if rows != 1 {
                wrong.push(format!("the account {} has {rows} audit rows of its creation", user.name));
            }
        }
        for row in added.iter().filter(|row| self.users.iter().all(|user| user.id != row.user)) {
            wrong.push(format!("the account {} is audited but not stored", row.user));
        }
    }

    fn check_keys(&self, wrong: &mut Vec<String>) {
        let is_deleted = |id: &str| self.rows_of("account:delete_key").any(|row| text(&row.about, "keyId") == id);
        for key in &self.keys {
            let rows = self.rows_of("account:add_key").filter(|row| text(&row.about, "keyId") == key).count();
            if rows != 1 || is_deleted(key) {
                wrong.push(format!(
                    "the key {key} is stored with {rows} audit rows of its creation, or audited as deleted"
                ));
            }
        }
        for row in self.rows_of("account:add_key") {
            let id = text(&row.about, "keyId");
            if !self.keys.iter().any(|key| key == id) && !is_deleted(id) {
                wrong.push(format!("the key {id} is audited as created and not as deleted, but not stored"));
            }
        }
    }

    fn check_password(&self, user: &User, wrong: &mut Vec<String>) {
        let is_entered = self.rows_of("account:change_password").any(|row| row.user == user.id);
        if is_entered != user.has_new_password {
            let (entered, changed) = (is_entered, user.has_new_password);
            wrong.push(format!("the new password of {}: audited {entered}, changed {changed}", user.name));
        }
    }

    fn check_roles(&self, user: &User, wrong: &mut Vec<String>) {
        let changes = self.rows_of("admin:set_roles").filter(|row| text(&row.about, "userId") == user.id);
        let first = self.rows.iter().find(|row| row.user == user.id && !row.about["roles"].is_null());
        let last = changes.last().map(|row| &row.about["after"]["roles"]).or(first.map(|row| &row.about["roles"]));
        if last.is_some_and(|roles| *roles != user.roles) {
            wrong.push(format!("the roles of {} are {}, but {last:?} in the audit log", user.name, user.roles));
        }
    }
}

fn text<'a>(about: &'a Value, key: &str) -> &'a str {
    about[key].as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn row(user: &str, tool: &str, about: Value) -> AuditRow {
        AuditRow { user: user.to_owned(), tool: tool.to_owned(), about }
    }

    fn consistent_accounts() -> StoredAccounts {
        let user = |id: &str, roles| User { id: id.to_owned(), name: id.to_owned(), roles, has_new_password: true };
        StoredAccounts {
            users: vec![user("u", json!(["editor"]))],
            keys: vec!["k2".to_owned()],
            sessions: vec!["s2".to_owned()],
            apps: vec!["u".to_owned()],
            workflows: vec![StoredWorkflow { id: "w".to_owned(), version: 2, versions: 2, is_deleted: true }],
            rows: vec![
                row("u", "account:sign_up", json!({ "roles": [] })),
                row("a", "admin:set_roles", json!({ "userId": "u", "after": { "roles": ["editor"] } })),
                row("u", "account:add_key", json!({ "keyId": "k1" })),
                row("u", "account:add_key", json!({ "keyId": "k2" })),
                row("u", "account:delete_key", json!({ "keyId": "k1" })),
                row("u", "account:change_password", json!({})),
                row("u", "account:set_up_second_factor", json!({})),
                row("u", "account:end_session", json!({ "sessionId": "s1" })),
                row("a", "admin:add_workflow", json!({ "workflowId": "w" })),
                row("a", "admin:change_workflow", json!({ "workflowId": "w" })),
                row("a", "admin:delete_workflow", json!({ "workflowId": "w" })),
            ],
        }
    }

    #[test]
    fn incomplete_changes_are_found() {
        assert_eq!(consistent_accounts().incomplete_changes(), [] as [String; 0]);
        let check = |spoil: fn(&mut StoredAccounts), expected: &str| {
            let mut stored = consistent_accounts();
            spoil(&mut stored);
            let wrong = stored.incomplete_changes();
            assert!(wrong.iter().any(|wrong| wrong.contains(expected)), "{expected}: {wrong:?}");
        };
        check(|stored| drop(stored.rows.remove(0)), "the account u has 0 audit rows");
        check(|stored| stored.users.clear(), "the account u is audited but not stored");
        check(|stored| drop(stored.rows.remove(1)), "the roles of u");
        check(|stored| stored.apps.clear(), "the app of u: audited true, stored false");
        check(
            |stored| stored.rows.retain(|row| row.tool != "account:set_up_second_factor"),
            "audited false, stored true",
        );
        check(|stored| stored.users[0].roles = json!([]), "the roles of u");
        check(|stored| stored.keys.clear(), "the key k2 is audited as created");
        check(|stored| drop(stored.rows.remove(3)), "the key k2 is stored with 0 audit rows");
        check(|stored| stored.keys.push("k1".to_owned()), "the key k1 is stored");
        check(|stored| stored.users[0].has_new_password = false, "the new password of u");
        check(|stored| drop(stored.rows.remove(5)), "the new password of u");
        check(|stored| stored.sessions.push("s1".to_owned()), "the session s1");
        check(|stored| drop(stored.rows.remove(8)), "the workflow w has the version 2, 2 versions and 1 audit rows");
        check(|stored| stored.workflows[0].versions = 1, "the workflow w has the version 2, 1 versions");
        check(|stored| stored.workflows[0].is_deleted = false, "the workflow w: audited as deleted 1 times");
        check(|stored| stored.workflows.clear(), "the workflow w is audited but not stored");
    }
}
