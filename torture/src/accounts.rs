//! What the database says of accounts, and whether each change to one is there as a whole: its
//! effect and its row in the audit log, or neither.

use anyhow::Result;
use serde_json::Value;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Row as _};
use std::path::Path;

/// The tables of accounts, and the rows of the audit log about them.
#[derive(Default)]
pub(crate) struct StoredAccounts {
    pub(crate) users: Vec<User>,
    /// Ids of API keys.
    pub(crate) keys: Vec<String>,
    /// Ids of sessions.
    pub(crate) sessions: Vec<String>,
    /// Rows about what was done, in order.
    pub(crate) rows: Vec<Entry>,
}

/// A user.
pub(crate) struct User {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) roles: Value,
    /// Whether the password is another one than at first.
    pub(crate) has_new_password: bool,
}

/// A row of the audit log with the outcome `ok`.
pub(crate) struct Entry {
    pub(crate) user: String,
    pub(crate) tool: String,
    pub(crate) about: Value,
}

impl StoredAccounts {
    /// Reads a file that no server has open.
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
        let rows = "SELECT user_id, tool, arguments FROM audit WHERE outcome = 'ok' ORDER BY no";
        for row in sqlx::query(rows).fetch_all(&mut db).await? {
            let about: String = row.try_get(2)?;
            let (user, tool) = (row.try_get(0)?, row.try_get(1)?);
            stored.rows.push(Entry { user, tool, about: serde_json::from_str(&about)? });
        }
        Ok(stored)
    }

    /// Changes of which a half is there.
    pub(crate) fn halves(&self) -> Vec<String> {
        let mut wrong = Vec::new();
        self.users_and_rows(&mut wrong);
        self.keys_and_rows(&mut wrong);
        for user in &self.users {
            self.password_and_row(user, &mut wrong);
            self.roles_and_row(user, &mut wrong);
        }
        for ended in self.of("account:end_session") {
            let id = text(&ended.about, "sessionId");
            if self.sessions.iter().any(|session| session == id) {
                wrong.push(format!("the session {id} is entered as ended and is there"));
            }
        }
        wrong
    }

    /// The rows of a call.
    fn of<'a>(&'a self, tool: &'a str) -> impl Iterator<Item = &'a Entry> {
        self.rows.iter().filter(move |row| row.tool == tool)
    }

    fn users_and_rows(&self, wrong: &mut Vec<String>) {
        let added: Vec<_> = self.of("account:first_account").chain(self.of("account:sign_up")).collect();
        for user in &self.users {
            let rows = added.iter().filter(|row| row.user == user.id).count();
            if rows != 1 {
                wrong.push(format!("the account {} has {rows} rows of its creation", user.name));
            }
        }
        for row in added.iter().filter(|row| self.users.iter().all(|user| user.id != row.user)) {
            wrong.push(format!("the account {} is entered and is not there", row.user));
        }
    }

    fn keys_and_rows(&self, wrong: &mut Vec<String>) {
        let is_deleted = |id: &str| self.of("account:delete_key").any(|row| text(&row.about, "keyId") == id);
        for key in &self.keys {
            let rows = self.of("account:add_key").filter(|row| text(&row.about, "keyId") == key).count();
            if rows != 1 || is_deleted(key) {
                wrong
                    .push(format!("the key {key} is there with {rows} rows of its creation, or is entered as deleted"));
            }
        }
        for row in self.of("account:add_key") {
            let id = text(&row.about, "keyId");
            if !self.keys.iter().any(|key| key == id) && !is_deleted(id) {
                wrong.push(format!("the key {id} is entered, is not there, and nobody deleted it"));
            }
        }
    }

    fn password_and_row(&self, user: &User, wrong: &mut Vec<String>) {
        let is_entered = self.of("account:change_password").any(|row| row.user == user.id);
        if is_entered != user.has_new_password {
            let (entered, changed) = (is_entered, user.has_new_password);
            wrong.push(format!("the new password of {}: entered {entered}, changed {changed}", user.name));
        }
    }

    fn roles_and_row(&self, user: &User, wrong: &mut Vec<String>) {
        let changes = self.of("admin:set_roles").filter(|row| text(&row.about, "userId") == user.id);
        let first = self.rows.iter().find(|row| row.user == user.id && !row.about["roles"].is_null());
        let last = changes.last().map(|row| &row.about["after"]["roles"]).or(first.map(|row| &row.about["roles"]));
        if last.is_some_and(|roles| *roles != user.roles) {
            wrong.push(format!("the roles of {} are {} and {last:?} by the audit log", user.name, user.roles));
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

    fn row(user: &str, tool: &str, about: Value) -> Entry {
        Entry { user: user.to_owned(), tool: tool.to_owned(), about }
    }

    fn whole() -> StoredAccounts {
        let user = |id: &str, roles| User { id: id.to_owned(), name: id.to_owned(), roles, has_new_password: true };
        StoredAccounts {
            users: vec![user("u", json!(["editor"]))],
            keys: vec!["k2".to_owned()],
            sessions: vec!["s2".to_owned()],
            rows: vec![
                row("u", "account:sign_up", json!({ "roles": [] })),
                row("a", "admin:set_roles", json!({ "userId": "u", "after": { "roles": ["editor"] } })),
                row("u", "account:add_key", json!({ "keyId": "k1" })),
                row("u", "account:add_key", json!({ "keyId": "k2" })),
                row("u", "account:delete_key", json!({ "keyId": "k1" })),
                row("u", "account:change_password", json!({})),
                row("u", "account:end_session", json!({ "sessionId": "s1" })),
            ],
        }
    }

    #[test]
    fn every_half_is_found() {
        assert_eq!(whole().halves(), [] as [String; 0]);
        let check = |spoil: fn(&mut StoredAccounts), expected: &str| {
            let mut stored = whole();
            spoil(&mut stored);
            let wrong = stored.halves();
            assert!(wrong.iter().any(|wrong| wrong.contains(expected)), "{expected}: {wrong:?}");
        };
        check(|stored| drop(stored.rows.remove(0)), "the account u has 0 rows");
        check(|stored| stored.users.clear(), "the account u is entered and is not there");
        check(|stored| drop(stored.rows.remove(1)), "the roles of u");
        check(|stored| stored.users[0].roles = json!([]), "the roles of u");
        check(|stored| stored.keys.clear(), "the key k2 is entered");
        check(|stored| drop(stored.rows.remove(3)), "the key k2 is there with 0 rows");
        check(|stored| stored.keys.push("k1".to_owned()), "the key k1 is there");
        check(|stored| stored.users[0].has_new_password = false, "the new password of u");
        check(|stored| drop(stored.rows.remove(5)), "the new password of u");
        check(|stored| stored.sessions.push("s1".to_owned()), "the session s1");
    }
}
