//! Table `user_identities`: the identities of users at OpenID Connect providers. An identity is an
//! issuer and a subject; e-mail addresses and names can pass to other people.

use crate::accounts::users::{User, decode_list, encode_list, insert_user, user};
use crate::sql::{self, Db, Row};
use crate::{AddUserOutcome, AuditEntry, NewUser, Store, StoreError, audit};

/// The maximum number of identities of a user.
pub const MAX_IDENTITIES: usize = 10;

/// An identity of a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Its id.
    pub id: String,
    /// The user whose identity it is.
    pub user_id: String,
    /// The issuer, as in `iss` of its tokens.
    pub issuer: String,
    /// The name at the provider, for display.
    pub label: String,
    /// The roles that the last sign-in has given.
    pub roles: Vec<String>,
    /// Unix time, milliseconds.
    pub created_at: i64,
    /// When it was last used to sign in; Unix time, milliseconds.
    pub used_at: i64,
}

/// What a provider says about a user who signs in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderClaims {
    /// The issuer.
    pub issuer: String,
    /// The issuer's id of the user.
    pub subject: String,
    /// The name at the provider, for display.
    pub label: String,
    /// The roles that follow from the user's groups.
    pub roles: Vec<String>,
    /// The roles that follow from groups at this provider only: the user loses those that are not in
    /// `roles`, whoever gave them.
    pub managed_roles: Vec<String>,
}

/// The outcome of linking an identity to a user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkOutcome {
    /// The identity is linked to the user.
    Done,
    /// It is an identity of another user.
    OtherUser,
    /// The user has [`MAX_IDENTITIES`].
    TooMany,
    /// There is no such user, or they are disabled.
    Unknown,
}

/// The outcome of unlinking an identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnlinkOutcome {
    /// The identity was removed, and the sessions that were begun with it have ended.
    Done,
    /// The user has no such identity.
    Unknown,
    /// The user could not sign in any more.
    LastWay,
}

/// The ways in which users can sign in with the config in use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignInWays {
    /// Whether with a password.
    pub passwords: bool,
    /// With an identity of which issuers.
    pub issuers: Vec<String>,
}

/// Which sessions a provider ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EndedAtProvider {
    /// Those that were begun with this session of the provider.
    Session(String),
    /// All of this subject.
    Subject(String),
}

const FIND: &str = "
    SELECT id, user_id, issuer, label, roles, created_at, used_at FROM user_identities
    WHERE issuer = $1 AND subject = $2";

const LIST: &str = "
    SELECT id, user_id, issuer, label, roles, created_at, used_at FROM user_identities
    WHERE user_id = $1 ORDER BY created_at, id";

const INSERT: &str = "
    INSERT INTO user_identities (id, user_id, issuer, subject, label, roles, created_at, used_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $7)";

const UPDATE: &str = "UPDATE user_identities SET label = $2, roles = $3, used_at = $4 WHERE id = $1";

const USER: &str = "SELECT id, name, roles, disabled_at, password FROM users WHERE id = $1";

const SET_ROLES: &str = "UPDATE users SET roles = $2 WHERE id = $1";

const END_BY_SESSION: &str = "
    DELETE FROM sessions WHERE provider_session = $2
    AND identity_id IN (SELECT id FROM user_identities WHERE issuer = $1)";

const END_BY_SUBJECT: &str = "
    DELETE FROM sessions
    WHERE identity_id IN (SELECT id FROM user_identities WHERE issuer = $1 AND subject = $2)";

impl Store {
    /// Returns the user with an identity, and its id.
    ///
    /// # Errors
    /// The database failed.
    pub async fn user_by_identity(&self, issuer: &str, subject: &str) -> Result<Option<(User, String)>, StoreError> {
        let (issuer, subject) = (issuer.to_owned(), subject.to_owned());
        self.read(move |db| {
            Box::pin(async move {
                let Some(identity) = find(db, &issuer, &subject).await? else { return Ok(None) };
                let row = sql::query(USER).bind(identity.user_id).fetch_optional(db).await?;
                row.map(|row| Ok((user(&row)?, identity.id))).transpose()
            })
        })
        .await
    }

    /// Returns a user's identities, oldest first.
    ///
    /// # Errors
    /// The database failed.
    pub async fn identities(&self, user_id: &str) -> Result<Vec<Identity>, StoreError> {
        let user_id = user_id.to_owned();
        self.read(move |db| Box::pin(async move { list(db, &user_id).await })).await
    }

    /// Adds a user who signs in with an identity, and writes `entry` to the audit log in the same
    /// transaction. [`AddUserOutcome::IdentityTaken`] if a user has the identity.
    ///
    /// # Errors
    /// The database failed.
    pub async fn add_user_with_identity(
        &self,
        user: NewUser,
        identity_id: &str,
        claims: ProviderClaims,
        entry: AuditEntry,
    ) -> Result<AddUserOutcome, StoreError> {
        let identity_id = identity_id.to_owned();
        self.write(move |db| {
            Box::pin(async move {
                // Without a race: the writer's transaction is the only one that writes.
                if find(db, &claims.issuer, &claims.subject).await?.is_some() {
                    return Ok(AddUserOutcome::IdentityTaken);
                }
                let (user_id, now) = (user.id.clone(), user.now);
                let added = insert_user(db, user, false).await?;
                if added == AddUserOutcome::Done {
                    insert(db, identity_id, &user_id, &claims, now).await?;
                    audit::append_audit(db, vec![entry]).await?;
                }
                Ok(added)
            })
        })
        .await
    }

    /// Links an identity to a user, gives them its roles, and writes `entry` to the audit log in the
    /// same transaction. An identity of the user stays as it is.
    ///
    /// # Errors
    /// The database failed.
    pub async fn link_identity(
        &self,
        user_id: &str,
        identity_id: &str,
        claims: ProviderClaims,
        now: i64,
        entry: Option<AuditEntry>,
    ) -> Result<LinkOutcome, StoreError> {
        let (user_id, identity_id) = (user_id.to_owned(), identity_id.to_owned());
        self.write(move |db| {
            Box::pin(async move {
                if let Some(known) = find(db, &claims.issuer, &claims.subject).await? {
                    return Ok(if known.user_id == user_id { LinkOutcome::Done } else { LinkOutcome::OtherUser });
                }
                let row = sql::query(USER).bind(user_id.clone()).fetch_optional(&mut *db).await?;
                if row.map(|row| user(&row)).transpose()?.is_none_or(|user| user.disabled_at.is_some()) {
                    return Ok(LinkOutcome::Unknown);
                }
                if list(db, &user_id).await?.len() >= MAX_IDENTITIES {
                    return Ok(LinkOutcome::TooMany);
                }
                insert(db, identity_id, &user_id, &claims, now).await?;
                change_roles(db, &user_id, &claims.managed_roles, &claims.roles).await?;
                audit::append_audit(db, entry.into_iter().collect()).await?;
                Ok(LinkOutcome::Done)
            })
        })
        .await
    }

    /// Records a sign-in with an identity: its user gets the roles that the provider gives now, and
    /// loses those that it gave before or that are managed there. Returns false if there is no such identity.
    ///
    /// # Errors
    /// The database failed.
    pub async fn update_identity(&self, claims: ProviderClaims, now: i64) -> Result<bool, StoreError> {
        self.write(move |db| {
            Box::pin(async move {
                let Some(known) = find(db, &claims.issuer, &claims.subject).await? else { return Ok(false) };
                let update = sql::query(UPDATE).bind(known.id).bind(claims.label).bind(encode_list(&claims.roles));
                update.bind(now).execute(&mut *db).await?;
                let lost = [known.roles, claims.managed_roles].concat();
                change_roles(db, &known.user_id, &lost, &claims.roles).await?;
                Ok(true)
            })
        })
        .await
    }

    /// Removes an identity of a user with its roles, and writes `entry` to the audit log in the same
    /// transaction, unless the user could no longer sign in.
    ///
    /// # Errors
    /// The database failed.
    pub async fn unlink_identity(
        &self,
        user_id: &str,
        id: &str,
        ways: SignInWays,
        entry: Option<AuditEntry>,
    ) -> Result<UnlinkOutcome, StoreError> {
        let (user_id, id) = (user_id.to_owned(), id.to_owned());
        self.write(move |db| {
            Box::pin(async move {
                let all = list(db, &user_id).await?;
                let Some(removed) = all.iter().find(|known| known.id == id) else { return Ok(UnlinkOutcome::Unknown) };
                let password: String = sql::query_scalar("SELECT password FROM users WHERE id = $1")
                    .bind(user_id.clone())
                    .fetch_one(&mut *db)
                    .await?;
                let has_other = all.iter().any(|known| known.id != id && ways.issuers.contains(&known.issuer));
                let has_password = ways.passwords && !password.is_empty();
                if !has_other && !has_password {
                    return Ok(UnlinkOutcome::LastWay);
                }
                // Ends the sessions that were begun with it as well.
                sql::query("DELETE FROM user_identities WHERE id = $1").bind(id).execute(&mut *db).await?;
                change_roles(db, &user_id, &removed.roles, &[]).await?;
                audit::append_audit(db, entry.into_iter().collect()).await?;
                Ok(UnlinkOutcome::Done)
            })
        })
        .await
    }

    /// Ends sessions that a provider has ended. Returns how many.
    ///
    /// # Errors
    /// The database failed.
    pub async fn end_provider_sessions(&self, issuer: &str, ended: EndedAtProvider) -> Result<u64, StoreError> {
        let (statement, id) = match ended {
            EndedAtProvider::Session(session) => (END_BY_SESSION, session),
            EndedAtProvider::Subject(subject) => (END_BY_SUBJECT, subject),
        };
        let end = sql::query(statement).bind(issuer.to_owned()).bind(id);
        self.write(move |db| Box::pin(async move { Ok(end.execute(db).await?.rows_affected()) })).await
    }
}

async fn insert(db: &mut Db, id: String, user_id: &str, claims: &ProviderClaims, now: i64) -> Result<(), StoreError> {
    let insert = sql::query(INSERT).bind(id).bind(user_id.to_owned()).bind(claims.issuer.clone());
    let insert = insert.bind(claims.subject.clone()).bind(claims.label.clone()).bind(encode_list(&claims.roles));
    insert.bind(now).execute(db).await?;
    Ok(())
}

async fn find(db: &mut Db, issuer: &str, subject: &str) -> Result<Option<Identity>, StoreError> {
    let row = sql::query(FIND).bind(issuer.to_owned()).bind(subject.to_owned()).fetch_optional(db).await?;
    row.as_ref().map(identity).transpose()
}

async fn list(db: &mut Db, user_id: &str) -> Result<Vec<Identity>, StoreError> {
    sql::query(LIST).bind(user_id.to_owned()).fetch_all(db).await?.iter().map(identity).collect()
}

/// Takes roles from a user and gives them others. Roles that their identities give stay.
async fn change_roles(db: &mut Db, user_id: &str, lost: &[String], given: &[String]) -> Result<(), StoreError> {
    let Some(row) = sql::query(USER).bind(user_id.to_owned()).fetch_optional(&mut *db).await? else { return Ok(()) };
    let before = user(&row)?.roles;
    let by_identities = list(db, user_id).await?.into_iter().flat_map(|identity| identity.roles);
    let kept = before.iter().filter(|role| !lost.contains(role)).cloned();
    let mut roles: Vec<String> = Vec::new();
    for role in kept.chain(given.iter().cloned()).chain(by_identities) {
        if !roles.contains(&role) {
            roles.push(role);
        }
    }
    if roles != before {
        sql::query(SET_ROLES).bind(user_id.to_owned()).bind(encode_list(&roles)).execute(db).await?;
    }
    Ok(())
}

fn identity(row: &Row) -> Result<Identity, StoreError> {
    Ok(Identity {
        id: row.try_get("id")?,
        user_id: row.try_get("user_id")?,
        issuer: row.try_get("issuer")?,
        label: row.try_get("label")?,
        roles: decode_list(row.try_get("roles")?)?,
        created_at: row.try_get("created_at")?,
        used_at: row.try_get("used_at")?,
    })
}
