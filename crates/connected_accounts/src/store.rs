//! The tables. Every function about accounts takes the user, and returns and changes only what is theirs.

use ::store::sql::{self, Row};
use ::store::{AuditEntry, CapabilityTables, Migration, Store, StoreError, Table, append_audit};
use uuid::Uuid;

/// The tables.
pub(crate) const TABLES: CapabilityTables = CapabilityTables {
    capability: "connected_accounts",
    migrations: &[Migration {
        name: "connected accounts",
        sqlite: include_str!("../migrations/sqlite/0001_connected_accounts.sql"),
        postgres: include_str!("../migrations/postgres/0001_connected_accounts.sql"),
    }],
    tables: &[
        Table { name: "connected_accounts", key: "id", owner: Some("owner") },
        Table { name: "connected_account_clients", key: "id", owner: None },
        Table { name: "connected_account_variables", key: "id", owner: Some("owner") },
    ],
    user_deletion: &[],
    sqlite_baseline: None,
};

/// The most accounts of a user.
const MAX_ACCOUNTS: i64 = 100;

/// An account of a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AccountRow {
    pub(crate) service: String,
    /// The tokens, encrypted; empty if they were refused.
    pub(crate) sealed: String,
    pub(crate) scopes: String,
    /// Scopes that the service has asked for since.
    pub(crate) needed_scopes: String,
    pub(crate) version: i64,
    /// Unix time in milliseconds.
    pub(crate) connected_at: i64,
}

const FIND: &str = "
    SELECT service, sealed, scopes, needed_scopes, version, connected_at FROM connected_accounts
    WHERE owner = $1 AND service = $2";

const LIST: &str = "
    SELECT service, sealed, scopes, needed_scopes, version, connected_at FROM connected_accounts
    WHERE owner = $1 ORDER BY service";

/// A new connection changes the version, so that a refresh of the old tokens does not replace it.
const CONNECT: &str = "
    INSERT INTO connected_accounts
        (id, owner, service, sealed, scopes, needed_scopes, version, connected_at, refreshed_by, refresh_until)
    SELECT $1, $2, $3, $4, $5, '', 1, $6, '', 0
    WHERE (SELECT count(*) FROM connected_accounts WHERE owner = $2 AND service <> $3) < $7
    ON CONFLICT (owner, service) DO UPDATE SET sealed = excluded.sealed, scopes = excluded.scopes, needed_scopes = '',
        version = connected_accounts.version + 1, connected_at = excluded.connected_at, refreshed_by = '',
        refresh_until = 0";

const RESERVE: &str = "
    UPDATE connected_accounts SET refreshed_by = $4, refresh_until = $6
    WHERE owner = $1 AND service = $2 AND version = $3 AND refresh_until <= $5";

const RENEW: &str = "
    UPDATE connected_accounts SET sealed = $5, scopes = $6, version = version + 1, refreshed_by = '', refresh_until = 0
    WHERE owner = $1 AND service = $2 AND version = $3 AND refreshed_by = $4";

const RELEASE: &str = "
    UPDATE connected_accounts SET refreshed_by = '', refresh_until = 0
    WHERE owner = $1 AND service = $2 AND version = $3 AND refreshed_by = $4";

const REPLACE: &str = "
    UPDATE connected_accounts SET sealed = $4, version = version + 1, refreshed_by = '', refresh_until = 0
    WHERE owner = $1 AND service = $2 AND version = $3";

const NEED: &str = "UPDATE connected_accounts SET needed_scopes = $3 WHERE owner = $1 AND service = $2";

const DELETE: &str = "
    DELETE FROM connected_accounts WHERE owner = $1 AND service = $2
    RETURNING service, sealed, scopes, needed_scopes, version, connected_at";

const SAVE_CLIENT: &str = "
    INSERT INTO connected_account_clients (id, sealed, expires_at) VALUES ($1, $2, $3)
    ON CONFLICT (id) DO UPDATE SET sealed = excluded.sealed, expires_at = excluded.expires_at";

const CLIENT: &str = "SELECT sealed FROM connected_account_clients WHERE id = $1 AND expires_at > $2";

const DELETE_CLIENT: &str = "DELETE FROM connected_account_clients WHERE id = $1";

const DELETE_OLD_CLIENTS: &str = "DELETE FROM connected_account_clients WHERE expires_at <= $1";

const VARIABLES: &str = "
    SELECT name, sealed FROM connected_account_variables WHERE owner = $1 AND service = $2 ORDER BY name";

const SAVE_VARIABLE: &str = "
    INSERT INTO connected_account_variables (id, owner, service, name, sealed, updated_at)
    VALUES ($1, $2, $3, $4, $5, $6)
    ON CONFLICT (owner, service, name) DO UPDATE SET sealed = excluded.sealed, updated_at = excluded.updated_at";

const DELETE_VARIABLE: &str = "
    DELETE FROM connected_account_variables WHERE owner = $1 AND service = $2 AND name = $3";

fn read(row: &Row) -> Result<AccountRow, StoreError> {
    Ok(AccountRow {
        service: row.try_get("service")?,
        sealed: row.try_get("sealed")?,
        scopes: row.try_get("scopes")?,
        needed_scopes: row.try_get("needed_scopes")?,
        version: row.try_get("version")?,
        connected_at: row.try_get("connected_at")?,
    })
}

/// Returns an account of a user.
pub(crate) async fn account(store: &Store, owner: &str, service: &str) -> Result<Option<AccountRow>, StoreError> {
    let find = sql::query(FIND).bind(owner.to_owned()).bind(service.to_owned());
    store.optional_row(find, read).await
}

/// Returns all accounts of a user, by name.
pub(crate) async fn accounts(store: &Store, owner: &str) -> Result<Vec<AccountRow>, StoreError> {
    let list = sql::query(LIST).bind(owner.to_owned());
    store.rows(list, read).await
}

/// Tokens to store.
#[derive(Clone, Debug)]
pub(crate) struct NewTokens {
    /// The tokens, encrypted.
    pub(crate) sealed: String,
    pub(crate) scopes: String,
}

/// Stores an account that a user has connected, in place of the one that there was. Returns false if the user has too
/// many.
pub(crate) async fn connect(
    store: &Store,
    account: (&str, &str),
    new: NewTokens,
    now: i64,
    audit: AuditEntry,
) -> Result<bool, StoreError> {
    changed_with(store, inserted(account, new, now), audit).await
}

/// Stores the tokens of a sign-in as [`connect`] does. The sign-in itself is in the audit log.
pub(crate) async fn keep(store: &Store, account: (&str, &str), new: NewTokens, now: i64) -> Result<bool, StoreError> {
    changed(store, inserted(account, new, now)).await
}

fn inserted((owner, service): (&str, &str), new: NewTokens, now: i64) -> sql::Query {
    let insert = sql::query(CONNECT).bind(Uuid::now_v7().to_string()).bind(owner.to_owned()).bind(service.to_owned());
    insert.bind(new.sealed).bind(new.scopes).bind(now).bind(MAX_ACCOUNTS)
}

/// A server that refreshes the tokens of an account which have this version.
#[derive(Clone, Debug)]
pub(crate) struct Refresh {
    pub(crate) owner: String,
    pub(crate) service: String,
    pub(crate) version: i64,
    /// The id of this attempt to refresh.
    pub(crate) by: String,
}

/// Reserves the refresh until a time. Returns false if another one has reserved it, or the tokens are others by now.
pub(crate) async fn reserve(store: &Store, refresh: &Refresh, now: i64, until: i64) -> Result<bool, StoreError> {
    let update = bound(RESERVE, refresh).bind(now).bind(until);
    changed(store, update).await
}

/// Stores refreshed tokens. Returns false if the account was connected again or disconnected meanwhile.
pub(crate) async fn renew(store: &Store, refresh: &Refresh, new: NewTokens) -> Result<bool, StoreError> {
    changed(store, bound(RENEW, refresh).bind(new.sealed).bind(new.scopes)).await
}

/// Gives up a refresh.
pub(crate) async fn release(store: &Store, refresh: &Refresh) -> Result<bool, StoreError> {
    changed(store, bound(RELEASE, refresh)).await
}

/// Replaces the tokens of a version: with those without the refused one, or with none. Returns false if they are others
/// by now.
pub(crate) async fn replace(
    store: &Store,
    (owner, service): (&str, &str),
    version: i64,
    sealed: String,
) -> Result<bool, StoreError> {
    let update = sql::query(REPLACE).bind(owner.to_owned()).bind(service.to_owned()).bind(version).bind(sealed);
    changed(store, update).await
}

/// Notes the scopes that a service has asked for.
pub(crate) async fn need(store: &Store, owner: &str, service: &str, scopes: String) -> Result<bool, StoreError> {
    changed(store, sql::query(NEED).bind(owner.to_owned()).bind(service.to_owned()).bind(scopes)).await
}

/// Deletes an account, and returns it as it was stored last: another request may have renewed its tokens a moment ago.
pub(crate) async fn delete(
    store: &Store,
    owner: &str,
    service: &str,
    audit: AuditEntry,
) -> Result<Option<AccountRow>, StoreError> {
    let delete = sql::query(DELETE).bind(owner.to_owned()).bind(service.to_owned());
    let write = store.write(move |db| {
        Box::pin(async move {
            let Some(row) = delete.fetch_optional(&mut *db).await? else { return Ok(None) };
            append_audit(db, vec![audit]).await?;
            read(&row).map(Some)
        })
    });
    write.await
}

/// Returns the variables of a user for a connection: names, and encrypted values.
pub(crate) async fn variables(store: &Store, owner: &str, service: &str) -> Result<Vec<(String, String)>, StoreError> {
    let list = sql::query(VARIABLES).bind(owner.to_owned()).bind(service.to_owned());
    store.rows(list, |row| Ok((row.try_get("name")?, row.try_get("sealed")?))).await
}

/// Stores a variable, by the user, the connection and the name.
pub(crate) async fn save_variable(
    store: &Store,
    (owner, service, name): (&str, &str, &str),
    sealed: String,
    now: i64,
    audit: AuditEntry,
) -> Result<bool, StoreError> {
    let id = Uuid::now_v7().to_string();
    let save = sql::query(SAVE_VARIABLE).bind(id).bind(owner.to_owned()).bind(service.to_owned());
    changed_with(store, save.bind(name.to_owned()).bind(sealed).bind(now), audit).await
}

/// Deletes a variable of a user. Returns false if there was none.
pub(crate) async fn delete_variable(
    store: &Store,
    (owner, service, name): (&str, &str, &str),
    audit: AuditEntry,
) -> Result<bool, StoreError> {
    let delete = sql::query(DELETE_VARIABLE).bind(owner.to_owned()).bind(service.to_owned()).bind(name.to_owned());
    changed_with(store, delete, audit).await
}

/// Stores a client that was registered.
pub(crate) async fn save_client(store: &Store, id: &str, sealed: String, expires_at: i64) -> Result<bool, StoreError> {
    changed(store, sql::query(SAVE_CLIENT).bind(id.to_owned()).bind(sealed).bind(expires_at)).await
}

/// Returns a client that was registered.
pub(crate) async fn client(store: &Store, id: &str, now: i64) -> Result<Option<String>, StoreError> {
    let find = sql::query_scalar::<String>(CLIENT).bind(id.to_owned()).bind(now);
    store.read(move |db| Box::pin(async move { Ok(find.fetch_optional(db).await?) })).await
}

/// Deletes a client that its authorization server does not know any more.
pub(crate) async fn delete_client(store: &Store, id: &str) -> Result<bool, StoreError> {
    changed(store, sql::query(DELETE_CLIENT).bind(id.to_owned())).await
}

/// Deletes the clients whose time is over.
pub(crate) async fn delete_old_clients(store: &Store, now: i64) -> Result<bool, StoreError> {
    changed(store, sql::query(DELETE_OLD_CLIENTS).bind(now)).await
}

fn bound(text: &'static str, refresh: &Refresh) -> sql::Query {
    let Refresh { owner, service, version, by } = refresh.clone();
    sql::query(text).bind(owner).bind(service).bind(version).bind(by)
}

/// Executes a statement. If it changes something, the row of the audit log is stored with it.
async fn changed_with(store: &Store, update: sql::Query, audit: AuditEntry) -> Result<bool, StoreError> {
    let write = store.write(move |db| {
        Box::pin(async move {
            if update.execute(&mut *db).await?.rows_affected() == 0 {
                return Ok(false);
            }
            append_audit(db, vec![audit]).await?;
            Ok(true)
        })
    });
    write.await
}

async fn changed(store: &Store, update: sql::Query) -> Result<bool, StoreError> {
    store.write(move |db| Box::pin(async move { Ok(update.execute(db).await?.rows_affected() > 0) })).await
}
