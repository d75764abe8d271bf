//! The table `notification_emails`.

use ::store::sql::{self, Db, Row};
use ::store::{Store, StoreError};

/// How often a user may ask for a confirmation on a day.
pub(crate) const MAX_ASKED: i64 = 5;

/// A day in milliseconds.
const DAY: i64 = 24 * 60 * 60 * 1_000;

/// The notifications of a user by e-mail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EmailSettings {
    /// `None`: switched off.
    pub(crate) address: Option<String>,
    /// Part of the links in e-mails.
    pub(crate) token: String,
    /// When the user has confirmed the address; Unix time in milliseconds.
    pub(crate) confirmed_at: Option<i64>,
    /// When an e-mail about answers was last sent.
    pub(crate) sent_at: Option<i64>,
}

impl EmailSettings {
    /// Returns the confirmed address, and the time from which on answers are news.
    pub(crate) fn confirmed(&self) -> Option<(&str, i64)> {
        let confirmed_at = self.confirmed_at?;
        Some((self.address.as_deref()?, self.sent_at.map_or(confirmed_at, |sent_at| sent_at.max(confirmed_at))))
    }
}

const FIND: &str = "SELECT address, token, confirmed_at, sent_at FROM notification_emails WHERE owner = $1";

/// One statement, so that no two requests count as one. Changes nothing if too many were asked for on the day.
const ASK: &str = "
    INSERT INTO notification_emails AS known (owner, address, token, asked_day, asked) VALUES ($1, $2, $3, $4, 1)
    ON CONFLICT (owner) DO UPDATE SET address = $2, token = $3, confirmed_at = NULL, asked_day = $4,
        asked = CASE WHEN known.asked_day = $4 THEN known.asked + 1 ELSE 1 END
    WHERE known.asked_day <> $4 OR known.asked < $5";

const CONFIRM: &str = "
    UPDATE notification_emails SET confirmed_at = $3
    WHERE owner = $1 AND token = $2 AND address IS NOT NULL AND confirmed_at IS NULL";

const SWITCH_OFF: &str = "UPDATE notification_emails SET address = NULL, confirmed_at = NULL WHERE owner = $1";
const SWITCH_OFF_BY_LINK: &str = "
    UPDATE notification_emails SET address = NULL, confirmed_at = NULL WHERE token = $1 AND address IS NOT NULL";
const MARK_SENT: &str = "UPDATE notification_emails SET sent_at = $3 WHERE owner = $1 AND token = $2";

/// Returns the settings of a user, if they ever had an address.
///
/// # Errors
/// The database failed.
pub(crate) async fn find(store: &Store, owner: &str) -> Result<Option<EmailSettings>, StoreError> {
    let find = sql::query(FIND).bind(owner.to_owned());
    store.optional_row(find, read).await
}

/// Stores a new address, which has to be confirmed. Returns false if the user has asked [`MAX_ASKED`] times today.
///
/// # Errors
/// The database failed.
pub(crate) async fn ask(db: &mut Db, owner: &str, address: &str, token: &str, now: i64) -> Result<bool, StoreError> {
    let ask = sql::query(ASK).bind(owner.to_owned()).bind(address.to_owned()).bind(token.to_owned());
    let ask = ask.bind(now.div_euclid(DAY)).bind(MAX_ASKED);
    Ok(ask.execute(db).await?.rows_affected() > 0)
}

/// Confirms the address of a user. Returns false if the token is that of another address, or it is confirmed already.
///
/// # Errors
/// The database failed.
pub(crate) async fn confirm(store: &Store, owner: &str, token: &str, now: i64) -> Result<bool, StoreError> {
    let confirm = sql::query(CONFIRM).bind(owner.to_owned()).bind(token.to_owned()).bind(now);
    store.write(move |db| Box::pin(async move { Ok(confirm.execute(db).await?.rows_affected() > 0) })).await
}

/// Forgets the address of a user.
///
/// # Errors
/// The database failed.
pub(crate) async fn switch_off(store: &Store, owner: &str) -> Result<(), StoreError> {
    let switch = sql::query(SWITCH_OFF).bind(owner.to_owned());
    store.write(move |db| Box::pin(async move { Ok(switch.execute(db).await.map(drop)?) })).await
}

/// Forgets the address that an e-mail with this token was sent to. Returns false if it was forgotten before.
///
/// # Errors
/// The database failed.
pub(crate) async fn switch_off_by_link(store: &Store, token: &str) -> Result<bool, StoreError> {
    let switch = sql::query(SWITCH_OFF_BY_LINK).bind(token.to_owned());
    store.write(move |db| Box::pin(async move { Ok(switch.execute(db).await?.rows_affected() > 0) })).await
}

/// Stores until when a user knows everything, unless they have another address by now.
///
/// # Errors
/// The database failed.
pub(crate) async fn mark_sent(db: &mut Db, owner: &str, token: &str, at: i64) -> Result<(), StoreError> {
    let mark = sql::query(MARK_SENT).bind(owner.to_owned()).bind(token.to_owned()).bind(at);
    Ok(mark.execute(db).await.map(drop)?)
}

fn read(row: &Row) -> Result<EmailSettings, StoreError> {
    Ok(EmailSettings {
        address: row.try_get("address")?,
        token: row.try_get("token")?,
        confirmed_at: row.try_get("confirmed_at")?,
        sent_at: row.try_get("sent_at")?,
    })
}
