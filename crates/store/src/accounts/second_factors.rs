//! Table `second_factors`: the authenticator apps of users who sign in with a password, and their unused recovery codes.

use crate::accounts::users::{decode_list, encode_list, has_password};
use crate::sql::{self, Db, Row};
use crate::{AuditEntry, Store, StoreError, audit};

/// The second factor of a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecondFactor {
    /// The secret of the app, encrypted.
    pub secret: String,
    /// The time step of the last accepted code.
    pub last_step: i64,
    /// The hashes of the recovery codes that are left.
    pub recovery_codes: Vec<String>,
    /// Unix time, milliseconds.
    pub created_at: i64,
}

/// The most wrong codes of an app in a row. After them only recovery codes are accepted, until one is, or until an
/// administrator resets the second factor. NIST SP 800-63B allows at most this many.
const MAX_WRONG_CODES: u32 = 100;

/// A new second factor.
#[derive(Clone, PartialEq, Eq)]
pub struct NewSecondFactor {
    /// The secret of the app, encrypted.
    pub secret: String,
    /// The time step of the code that has confirmed it, which is thereby used.
    pub step: i64,
    /// The hashes of the recovery codes.
    pub recovery_codes: Vec<String>,
}

/// The proof that a user has given besides the password.
#[derive(Clone, PartialEq, Eq)]
pub enum SecondFactorProof {
    /// Nothing, as the config asks nobody.
    NotAsked,
    /// Nothing, as the user has no second factor.
    None,
    /// A code of the app.
    Code {
        /// The encrypted secret with which the code was checked.
        secret: String,
        /// The time step of the code. Each is accepted once, and none before it afterwards.
        step: i64,
    },
    /// A recovery code, by its hash. It is used up.
    RecoveryCode(String),
    /// A code that confirms a new app, which is stored. The user has no other one.
    SetUp(NewSecondFactor),
}

/// A change by a user of their own second factor.
#[derive(Clone, PartialEq, Eq)]
pub enum SecondFactorChange {
    /// Adds an app, or puts it in the place of the one with this encrypted secret. Ends all sessions but the one with
    /// this id: they may be of somebody who only knows the password.
    Set {
        /// The new app.
        new: NewSecondFactor,
        /// The encrypted secret of the app that it replaces.
        replaced: Option<String>,
        /// The session that stays.
        session_id: String,
    },
    /// Only uses up the proof, before another step.
    Show(SecondFactorProof),
    /// Replaces the recovery codes by those with these hashes, after this proof.
    RecoveryCodes(Vec<String>, SecondFactorProof),
    /// Removes the app and the recovery codes, after this proof.
    Remove(SecondFactorProof),
}

const FIND: &str = "SELECT secret, last_step, recovery_codes, created_at FROM second_factors WHERE user_id = $1";

const INSERT: &str = "
    INSERT INTO second_factors (user_id, secret, last_step, recovery_codes, created_at)
    VALUES ($1, $2, $3, $4, $5) ON CONFLICT (user_id) DO NOTHING";

const REPLACE: &str = "
    UPDATE second_factors SET secret = $2, last_step = $3, recovery_codes = $4, created_at = $5, wrong_codes = 0
    WHERE user_id = $1 AND secret = $6";

const USE_STEP: &str = "
    UPDATE second_factors SET last_step = $3, wrong_codes = 0 WHERE user_id = $1 AND secret = $2 AND last_step < $3";

const COUNT_CODE: &str = "
    UPDATE second_factors SET wrong_codes = wrong_codes + 1 WHERE user_id = $1 AND wrong_codes < $2";

const SET_CODES: &str = "UPDATE second_factors SET recovery_codes = $2, wrong_codes = 0 WHERE user_id = $1";

const EXISTS: &str = "SELECT EXISTS (SELECT 1 FROM second_factors WHERE user_id = $1)";

const END_OTHER_SESSIONS: &str = "DELETE FROM sessions WHERE user_id = $1 AND id <> $2";

impl Store {
    /// Returns the second factor of a user.
    ///
    /// # Errors
    /// The database failed.
    pub async fn second_factor(&self, user_id: &str) -> Result<Option<SecondFactor>, StoreError> {
        let find = sql::query(FIND).bind(user_id.to_owned());
        let factor = |row: &Row| {
            Ok(SecondFactor {
                secret: row.try_get("secret")?,
                last_step: row.try_get("last_step")?,
                recovery_codes: decode_list(row.try_get("recovery_codes")?)?,
                created_at: row.try_get("created_at")?,
            })
        };
        self.optional_row(find, factor).await
    }

    /// Counts a code of a user's app as wrong before it is checked; an accepted code resets the count. Returns false if
    /// the limit is reached, so that no code of the app is checked any more.
    ///
    /// # Errors
    /// The database failed.
    pub async fn count_app_code(&self, user_id: &str) -> Result<bool, StoreError> {
        let count = sql::query(COUNT_CODE).bind(user_id.to_owned()).bind(MAX_WRONG_CODES);
        Ok(self.execute(count).await? > 0)
    }

    /// Changes the second factor of a user whose password has the hash `password`, and writes `entry` to the audit log,
    /// in one transaction. Returns false, and changes nothing, if the password has changed, the proof does not count any
    /// more, or another app was set up meanwhile.
    ///
    /// # Errors
    /// The database failed.
    pub async fn change_second_factor(
        &self,
        (user_id, password): (&str, &str),
        change: SecondFactorChange,
        now: i64,
        entry: Option<AuditEntry>,
    ) -> Result<bool, StoreError> {
        let (user_id, password) = (user_id.to_owned(), password.to_owned());
        self.write(move |db| {
            Box::pin(async move {
                let is_done = has_password(db, &user_id, password).await? && apply(db, &user_id, change, now).await?;
                audit::append_audit(db, entry.into_iter().filter(|_| is_done).collect()).await?;
                Ok(is_done)
            })
        })
        .await
    }
}

async fn apply(db: &mut Db, user_id: &str, change: SecondFactorChange, now: i64) -> Result<bool, StoreError> {
    match change {
        SecondFactorChange::Set { new, replaced, session_id } => {
            let is_set = set(db, user_id, new, replaced, now).await?;
            if is_set {
                let end = sql::query(END_OTHER_SESSIONS).bind(user_id.to_owned()).bind(session_id);
                end.execute(db).await?;
            }
            Ok(is_set)
        }
        SecondFactorChange::Show(proof) => accept(db, user_id, proof, now).await,
        SecondFactorChange::RecoveryCodes(codes, proof) => {
            let is_proved = has_one(db, user_id).await? && accept(db, user_id, proof, now).await?;
            if is_proved {
                let set = sql::query(SET_CODES).bind(user_id.to_owned()).bind(encode_list(&codes));
                set.execute(db).await?;
            }
            Ok(is_proved)
        }
        SecondFactorChange::Remove(proof) => Ok(accept(db, user_id, proof, now).await? && remove(db, user_id).await?),
    }
}

/// Stores a new app, in the place of the one with the encrypted secret `replaced`.
async fn set(
    db: &mut Db,
    user_id: &str,
    new: NewSecondFactor,
    replaced: Option<String>,
    now: i64,
) -> Result<bool, StoreError> {
    let query = sql::query(if replaced.is_some() { REPLACE } else { INSERT }).bind(user_id.to_owned()).bind(new.secret);
    let query = query.bind(new.step).bind(encode_list(&new.recovery_codes)).bind(now);
    let query = replaced.into_iter().fold(query, |query, secret| query.bind(secret));
    Ok(query.execute(db).await?.rows_affected() > 0)
}

async fn has_one(db: &mut Db, user_id: &str) -> Result<bool, StoreError> {
    Ok(sql::query_scalar(EXISTS).bind(user_id.to_owned()).fetch_one(db).await?)
}

/// Accepts what the user has shown, and uses it up. Returns false if it does not count any more. The transaction of the
/// writer is the only one that writes, so that nothing is accepted twice.
pub(crate) async fn accept(db: &mut Db, user_id: &str, proof: SecondFactorProof, now: i64) -> Result<bool, StoreError> {
    match proof {
        SecondFactorProof::NotAsked => Ok(true),
        SecondFactorProof::None => Ok(!has_one(db, user_id).await?),
        SecondFactorProof::Code { secret, step } => {
            let using = sql::query(USE_STEP).bind(user_id.to_owned()).bind(secret).bind(step);
            Ok(using.execute(db).await?.rows_affected() > 0)
        }
        SecondFactorProof::RecoveryCode(hash) => {
            let found = sql::query(FIND).bind(user_id.to_owned()).fetch_optional(&mut *db).await?;
            let Some(row) = found else { return Ok(false) };
            let mut codes = decode_list(row.try_get("recovery_codes")?)?;
            let Some(at) = codes.iter().position(|known| *known == hash) else { return Ok(false) };
            codes.remove(at);
            sql::query(SET_CODES).bind(user_id.to_owned()).bind(encode_list(&codes)).execute(db).await?;
            Ok(true)
        }
        SecondFactorProof::SetUp(new) => set(db, user_id, new, None, now).await,
    }
}

/// Removes the second factor of a user. Returns false if there is none.
pub(crate) async fn remove(db: &mut Db, user_id: &str) -> Result<bool, StoreError> {
    let delete = sql::query("DELETE FROM second_factors WHERE user_id = $1").bind(user_id.to_owned());
    Ok(delete.execute(db).await?.rows_affected() > 0)
}
