//! The table `push_subscriptions`. Every function takes the owner, except those for sending.

use ::store::sql::{self, Row};
use ::store::{CapabilityTables, Migration, Store, StoreError, Table};

/// The tables.
pub(crate) const TABLES: CapabilityTables = CapabilityTables {
    capability: "notifications",
    migrations: &[
        Migration {
            name: "push_subscriptions",
            sqlite: include_str!("../migrations/sqlite/0001_push_subscriptions.sql"),
            postgres: include_str!("../migrations/postgres/0001_push_subscriptions.sql"),
        },
        Migration {
            name: "notification_emails",
            sqlite: include_str!("../migrations/sqlite/0002_notification_emails.sql"),
            postgres: include_str!("../migrations/postgres/0002_notification_emails.sql"),
        },
    ],
    tables: &[
        Table { name: "push_subscriptions", key: "id", owner: Some("owner") },
        Table { name: "notification_emails", key: "owner", owner: Some("owner") },
    ],
    user_deletion: &[],
    sqlite_baseline: None,
};

/// A browser that gets the notifications of a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Subscription {
    pub(crate) id: String,
    pub(crate) owner: String,
    /// The address at the push service.
    pub(crate) endpoint: String,
    /// The browser's public key, in Base64.
    pub(crate) p256dh: String,
    /// Its secret, in Base64.
    pub(crate) auth: String,
    /// The browser and its system.
    pub(crate) browser: String,
    /// Unix time in milliseconds.
    pub(crate) created_at: i64,
    /// The time of the last message.
    pub(crate) sent_at: Option<i64>,
}

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT id, owner, endpoint, p256dh, auth, browser, created_at, sent_at FROM push_subscriptions ",
            $rest
        )
    };
}

const LIST: &str = select!("WHERE owner = $1 ORDER BY created_at DESC, id DESC");
const FIND: &str = select!("WHERE id = $1");
const HAS: &str = "SELECT 1 FROM push_subscriptions WHERE owner = $1 LIMIT 1";

const OWNERS: &str = "
    SELECT owner FROM push_subscriptions UNION SELECT owner FROM notification_emails WHERE confirmed_at IS NOT NULL
    ORDER BY owner LIMIT $1";

/// A browser has one subscription for a site: the last user who subscribes gets the notifications.
const FORGET: &str = "DELETE FROM push_subscriptions WHERE endpoint = $1";

const INSERT: &str = "
    INSERT INTO push_subscriptions (id, owner, endpoint, p256dh, auth, browser, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7)";

/// Keeps the newest ones of a user.
const TRIM: &str = "
    DELETE FROM push_subscriptions WHERE owner = $1 AND id NOT IN (
        SELECT id FROM push_subscriptions WHERE owner = $1 ORDER BY created_at DESC, id DESC LIMIT $2)";

const DELETE: &str = "DELETE FROM push_subscriptions WHERE owner = $1 AND id = $2";
const MARK_SENT: &str = "UPDATE push_subscriptions SET sent_at = $2 WHERE id = $1";

/// Returns the browsers of a user, the newest first.
///
/// # Errors
/// The database failed.
pub(crate) async fn list(store: &Store, owner: &str) -> Result<Vec<Subscription>, StoreError> {
    let list = sql::query(LIST).bind(owner.to_owned());
    store.rows(list, read).await
}

/// Returns whether a user has a browser that gets notifications.
///
/// # Errors
/// The database failed.
pub(crate) async fn has_any(store: &Store, owner: &str) -> Result<bool, StoreError> {
    let find = sql::query(HAS).bind(owner.to_owned());
    store.read(move |db| Box::pin(async move { Ok(find.fetch_optional(db).await?.is_some()) })).await
}

/// Returns the users who get notifications, by id, at most `most`.
///
/// # Errors
/// The database failed.
pub(crate) async fn owners(store: &Store, most: u32) -> Result<Vec<String>, StoreError> {
    let list = sql::query_scalar::<String>(OWNERS).bind(most);
    store.read(move |db| Box::pin(async move { Ok(list.fetch_all(db).await?) })).await
}

/// Returns a browser of any user, for sending.
///
/// # Errors
/// The database failed.
pub(crate) async fn find(store: &Store, id: &str) -> Result<Option<Subscription>, StoreError> {
    let find = sql::query(FIND).bind(id.to_owned());
    store.optional_row(find, read).await
}

/// Adds a browser, and removes the oldest ones of its user above `most`.
///
/// # Errors
/// The database failed.
pub(crate) async fn add(store: &Store, new: Subscription, most: u32) -> Result<(), StoreError> {
    let write = store.write(move |db| {
        Box::pin(async move {
            sql::query(FORGET).bind(new.endpoint.clone()).execute(&mut *db).await?;
            let insert = sql::query(INSERT).bind(new.id).bind(new.owner.clone()).bind(new.endpoint).bind(new.p256dh);
            insert.bind(new.auth).bind(new.browser).bind(new.created_at).execute(&mut *db).await?;
            sql::query(TRIM).bind(new.owner).bind(most).execute(db).await?;
            Ok(())
        })
    });
    write.await
}

/// Removes a browser of a user. Returns false if they have no such one.
///
/// # Errors
/// The database failed.
pub(crate) async fn delete(store: &Store, owner: &str, id: &str) -> Result<bool, StoreError> {
    let delete = sql::query(DELETE).bind(owner.to_owned()).bind(id.to_owned());
    store.write(move |db| Box::pin(async move { Ok(delete.execute(db).await?.rows_affected() > 0) })).await
}

/// Stores the time of a message to a browser.
///
/// # Errors
/// The database failed.
pub(crate) async fn mark_sent(store: &Store, id: &str, at: i64) -> Result<(), StoreError> {
    let mark = sql::query(MARK_SENT).bind(id.to_owned()).bind(at);
    store.write(move |db| Box::pin(async move { Ok(mark.execute(db).await.map(drop)?) })).await
}

fn read(row: &Row) -> Result<Subscription, StoreError> {
    Ok(Subscription {
        id: row.try_get("id")?,
        owner: row.try_get("owner")?,
        endpoint: row.try_get("endpoint")?,
        p256dh: row.try_get("p256dh")?,
        auth: row.try_get("auth")?,
        browser: row.try_get("browser")?,
        created_at: row.try_get("created_at")?,
        sent_at: row.try_get("sent_at")?,
    })
}
