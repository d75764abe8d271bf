//! Tables `channel_links` and `channel_codes`: which person acts as which user.

use super::json;
use ::store::sql::{self, Db, Row};
use ::store::{AuditEntry, Store, StoreError, append_audit};
use auth::audit_row;
use serde_json::json as object;

/// The most links of a user.
pub(crate) const MAX_LINKS: i64 = 20;

/// A person who acts as a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    pub(crate) id: String,
    pub(crate) channel_id: String,
    pub(crate) person_name: String,
    pub(crate) owner: String,
    pub(crate) mode: String,
    pub(crate) user_name: Option<String>,
    pub(crate) roles: Vec<String>,
    /// When the user last opened the page with their links.
    pub(crate) confirmed_at: i64,
    pub(crate) created_at: i64,
}

/// A code with which a user links a person.
#[derive(Clone, Debug)]
pub(crate) struct NewCode {
    pub(crate) hash: String,
    pub(crate) channel_id: String,
    pub(crate) owner: String,
    pub(crate) mode: &'static str,
    pub(crate) user_name: Option<String>,
    pub(crate) roles: Vec<String>,
    pub(crate) expires_at: i64,
}

/// A link that is made without a code.
#[derive(Clone, Debug)]
pub(crate) struct NewLink {
    pub(crate) channel_id: String,
    pub(crate) person_id: String,
    pub(crate) person_name: String,
    pub(crate) owner: String,
    pub(crate) mode: &'static str,
    pub(crate) user_name: Option<String>,
}

/// The outcome of a code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LinkOutcome {
    /// The person acts as the user with this name from now on.
    Done(String),
    /// The person is linked to the user with this name already, which stays so.
    Already(String),
    /// The code is unknown, used or expired.
    Unknown,
    /// The user has too many links.
    Full,
}

impl Link {
    /// Returns the name of the account.
    pub(crate) fn account_name(&self) -> &str {
        self.user_name.as_deref().unwrap_or(&self.owner)
    }
}

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT id, channel_id, person_name, owner, mode, user_name, roles, confirmed_at, created_at
             FROM channel_links ",
            $rest
        )
    };
}

const OF_PERSON: &str = select!("WHERE channel_id = $1 AND person_id = $2");

const BY_ID: &str = select!("WHERE id = $1");

const OF_USER: &str = select!("WHERE owner = $1 ORDER BY created_at DESC, id DESC");

const DELETE_CODES: &str = "DELETE FROM channel_codes WHERE expires_at <= $1 OR (owner = $2 AND channel_id = $3)";

const ADD_CODE: &str = "
    INSERT INTO channel_codes (code_hash, channel_id, owner, mode, user_name, roles, expires_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7)
    ON CONFLICT (owner, channel_id) DO UPDATE SET code_hash = excluded.code_hash, mode = excluded.mode,
        user_name = excluded.user_name, roles = excluded.roles, expires_at = excluded.expires_at";

const CODE: &str = "
    SELECT owner, mode, user_name, roles FROM channel_codes
    WHERE code_hash = $1 AND channel_id = $2 AND expires_at > $3";

const DELETE_CODE: &str = "DELETE FROM channel_codes WHERE code_hash = $1";

const COUNT: &str = "SELECT count(*) FROM channel_links WHERE owner = $1";

const LINK: &str = "
    INSERT INTO channel_links
        (id, channel_id, person_id, person_name, owner, mode, user_name, roles, confirmed_at, created_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9)";

const CONFIRM: &str =
    "UPDATE channel_links SET user_name = $3, roles = $4, confirmed_at = $5 WHERE owner = $1 AND mode = $2";

const DELETE: &str = "DELETE FROM channel_links WHERE owner = $1 AND id = $2 RETURNING channel_id, person_id";

fn read(row: &Row) -> Result<Link, StoreError> {
    Ok(Link {
        id: row.try_get("id")?,
        channel_id: row.try_get("channel_id")?,
        person_name: row.try_get("person_name")?,
        owner: row.try_get("owner")?,
        mode: row.try_get("mode")?,
        user_name: row.try_get("user_name")?,
        roles: json(&row.try_get::<String>("roles")?)?,
        confirmed_at: row.try_get("confirmed_at")?,
        created_at: row.try_get("created_at")?,
    })
}

/// Returns the link of a person.
pub(crate) async fn link_of_person(
    store: &Store,
    channel_id: &str,
    person_id: &str,
) -> Result<Option<Link>, StoreError> {
    let find = sql::query(OF_PERSON).bind(channel_id.to_owned()).bind(person_id.to_owned());
    store.optional_row(find, read).await
}

/// Returns a link.
pub(crate) async fn link_by_id(store: &Store, id: &str) -> Result<Option<Link>, StoreError> {
    let find = sql::query(BY_ID).bind(id.to_owned());
    store.optional_row(find, read).await
}

/// Returns a user's links, newest first.
pub(crate) async fn links_of_user(store: &Store, owner: &str) -> Result<Vec<Link>, StoreError> {
    let list = sql::query(OF_USER).bind(owner.to_owned());
    store.rows(list, read).await
}

/// Stores a code, instead of the one that the user has for the channel.
pub(crate) async fn add_code(store: &Store, code: NewCode, now: i64) -> Result<(), StoreError> {
    let delete = sql::query(DELETE_CODES).bind(now).bind(code.owner.clone()).bind(code.channel_id.clone());
    let roles = serde_json::to_string(&code.roles).unwrap_or_default();
    let add = sql::query(ADD_CODE).bind(code.hash).bind(code.channel_id).bind(code.owner).bind(code.mode);
    let add = add.bind(code.user_name).bind(roles).bind(code.expires_at);
    store
        .write(move |db| {
            Box::pin(async move {
                delete.execute(&mut *db).await?;
                Ok(add.execute(db).await.map(drop)?)
            })
        })
        .await
}

/// Returns the name of the account whose code this is; `None` if it is unknown, used or expired.
pub(crate) async fn account_of_code(
    store: &Store,
    hash: String,
    channel_id: &str,
    now: i64,
) -> Result<Option<String>, StoreError> {
    let find = sql::query(CODE).bind(hash).bind(channel_id.to_owned()).bind(now);
    store.optional_row(find, account_name).await
}

fn account_name(code: &Row) -> Result<String, StoreError> {
    match code.try_get::<Option<String>>("user_name")? {
        Some(name) => Ok(name),
        None => Ok(code.try_get("owner")?),
    }
}

/// Deletes a code that others have read.
pub(crate) async fn delete_code(store: &Store, hash: String) -> Result<(), StoreError> {
    let delete = sql::query(DELETE_CODE).bind(hash);
    store.write(move |db| Box::pin(async move { Ok(delete.execute(db).await.map(drop)?) })).await
}

/// Links a person to the account whose code it is. Only that uses the code up.
pub(crate) async fn use_code(
    store: &Store,
    hash: String,
    channel_id: String,
    (person_id, person_name): (String, String),
    now: i64,
) -> Result<LinkOutcome, StoreError> {
    store.write(move |db| Box::pin(link(db, hash, channel_id, (person_id, person_name), now))).await
}

async fn link(
    db: &mut Db,
    hash: String,
    channel_id: String,
    (person_id, person_name): (String, String),
    now: i64,
) -> Result<LinkOutcome, StoreError> {
    let known = sql::query(OF_PERSON).bind(channel_id.clone()).bind(person_id.clone()).fetch_optional(&mut *db).await?;
    if let Some(known) = known {
        return Ok(LinkOutcome::Already(read(&known)?.account_name().to_owned()));
    }
    let find = sql::query(CODE).bind(hash.clone()).bind(channel_id.clone()).bind(now);
    let Some(code) = find.fetch_optional(&mut *db).await? else { return Ok(LinkOutcome::Unknown) };
    let owner: String = code.try_get("owner")?;
    if sql::query_scalar::<i64>(COUNT).bind(owner.clone()).fetch_one(&mut *db).await? >= MAX_LINKS {
        return Ok(LinkOutcome::Full);
    }
    if sql::query(DELETE_CODE).bind(hash).execute(&mut *db).await?.rows_affected() == 0 {
        return Ok(LinkOutcome::Unknown);
    }
    let audit = audit("link", &owner, &channel_id, &person_id);
    let add = sql::query(LINK).bind(crate::ids::new_id()).bind(channel_id).bind(person_id).bind(person_name);
    let add = add.bind(owner).bind(code.try_get::<String>("mode")?).bind(code.try_get::<Option<String>>("user_name")?);
    add.bind(code.try_get::<String>("roles")?).bind(now).execute(&mut *db).await?;
    append_audit(db, vec![audit]).await?;
    Ok(LinkOutcome::Done(account_name(&code)?))
}

/// Links a person without a code. Returns the link, also if they were linked in the meantime; `None` if the user has too
/// many links.
pub(crate) async fn add_link(store: &Store, new: NewLink, now: i64) -> Result<Option<Link>, StoreError> {
    store.write(move |db| Box::pin(link_directly(db, new, now))).await
}

async fn link_directly(db: &mut Db, new: NewLink, now: i64) -> Result<Option<Link>, StoreError> {
    let find = || sql::query(OF_PERSON).bind(new.channel_id.clone()).bind(new.person_id.clone());
    if let Some(known) = find().fetch_optional(&mut *db).await? {
        return read(&known).map(Some);
    }
    if sql::query_scalar::<i64>(COUNT).bind(new.owner.clone()).fetch_one(&mut *db).await? >= MAX_LINKS {
        return Ok(None);
    }
    let add = sql::query(LINK).bind(crate::ids::new_id()).bind(new.channel_id.clone()).bind(new.person_id.clone());
    let add = add.bind(new.person_name.clone()).bind(new.owner.clone()).bind(new.mode).bind(new.user_name.clone());
    add.bind("[]").bind(now).execute(&mut *db).await?;
    append_audit(&mut *db, vec![audit("link", &new.owner, &new.channel_id, &new.person_id)]).await?;
    find().fetch_optional(db).await?.as_ref().map(read).transpose()
}

/// Returns the audit row of a link that is made or removed.
fn audit(action: &str, owner: &str, channel_id: &str, person_id: &str) -> AuditEntry {
    audit_row(owner, &format!("messenger:{action}"), "", object!({ "channelId": channel_id, "personId": person_id }))
}

/// Records the name and the roles that a user has now.
pub(crate) async fn confirm(
    store: &Store,
    owner: &str,
    mode: &'static str,
    user_name: Option<String>,
    roles: &[String],
    now: i64,
) -> Result<(), StoreError> {
    let roles = serde_json::to_string(roles).unwrap_or_default();
    let confirm = sql::query(CONFIRM).bind(owner.to_owned()).bind(mode).bind(user_name).bind(roles).bind(now);
    store.write(move |db| Box::pin(async move { Ok(confirm.execute(db).await.map(drop)?) })).await
}

/// Deletes a link of a user. Returns false if they have none with this id.
pub(crate) async fn delete_link(store: &Store, owner: &str, id: &str) -> Result<bool, StoreError> {
    let (owner, id) = (owner.to_owned(), id.to_owned());
    store
        .write(move |db| {
            Box::pin(async move {
                let delete = sql::query(DELETE).bind(owner.clone()).bind(id);
                let Some(row) = delete.fetch_optional(&mut *db).await? else { return Ok(false) };
                let (channel_id, person_id) =
                    (row.try_get::<String>("channel_id")?, row.try_get::<String>("person_id")?);
                append_audit(db, vec![audit("unlink", &owner, &channel_id, &person_id)]).await?;
                Ok(true)
            })
        })
        .await
}
