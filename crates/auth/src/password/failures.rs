//! Failed sign-ins in the audit log. Attackers can cause any number of them, so not each has an
//! entry: the first one at an account has, and all others within a quarter of an hour share one.
//! All unknown names count as one account, and so do all accounts beyond a limit. At a provider, each
//! reason counts as one account.

use super::credential_rules::name_key;
use super::tally::AuditTally;
use crate::account_log::AccountAction;
use parking_lot::Mutex;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::time::{Duration, Instant, SystemTime};
use store::{AuditEntry, Store};
use tokio_util::sync::CancellationToken;

/// Attempts within this window share an entry.
pub(super) const WINDOW: Duration = Duration::from_secs(15 * 60);
/// The limit on accounts with entries of their own in a window.
const MAX_ACCOUNTS: usize = 100;
/// The interval for writing the entries of windows that are over.
const FLUSH_INTERVAL: Duration = Duration::from_secs(60);

/// Counts failed attempts that have no entry yet.
#[derive(Default)]
pub struct FailedAttempts {
    counts: Mutex<HashMap<(AccountAction, AttemptedAccount), FailureCount>>,
    /// Attempts that are counted without looking up an account.
    pub(super) tally: AuditTally,
}

/// The account of a failed attempt.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum AttemptedAccount {
    /// A user's account, by id.
    Known(String),
    /// A name without an account.
    Unknown,
    /// Somebody at a provider, by the id of the provider and the reason.
    AtProvider(String, String),
    /// Any account beyond the limit.
    Other,
}

struct FailureCount {
    began: Instant,
    /// The wall-clock time of `began`.
    since: SystemTime,
    /// The number of attempts after the first one, which has its own entry.
    without_row: u32,
}

impl FailedAttempts {
    /// Counts a failed attempt at the account of a user, or with a name that nobody has. Returns
    /// the entry to write now.
    pub fn count(&self, action: AccountAction, user: Result<&str, &str>, address: Option<&str>) -> Option<AuditEntry> {
        self.count_at(action, user, address, Instant::now())
    }

    fn count_at(
        &self,
        action: AccountAction,
        user: Result<&str, &str>,
        address: Option<&str>,
        now: Instant,
    ) -> Option<AuditEntry> {
        let mut about = Map::new();
        if let Err(name) = user {
            about.insert("name".to_owned(), mask_name(name).into());
        }
        let account = user.map_or(AttemptedAccount::Unknown, |id| AttemptedAccount::Known(id.to_owned()));
        self.count_account(action, (account, about), address, now)
    }

    /// Counts a refused sign-in at a provider: of a user of this server, or of somebody else. Returns the entry
    /// to write now.
    pub(super) fn count_at_provider(
        &self,
        user_id: Option<&str>,
        (provider, reason): (&str, &str),
        address: Option<&str>,
    ) -> Option<AuditEntry> {
        let account = match user_id {
            Some(id) => AttemptedAccount::Known(id.to_owned()),
            None => AttemptedAccount::AtProvider(provider.to_owned(), reason.to_owned()),
        };
        let about = about_provider(provider, reason);
        self.count_account(AccountAction::SignIn, (account, about), address, Instant::now())
    }

    fn count_account(
        &self,
        action: AccountAction,
        (account, more): (AttemptedAccount, Map<String, Value>),
        address: Option<&str>,
        now: Instant,
    ) -> Option<AuditEntry> {
        let mut counts = self.counts.lock();
        let is_full = counts.len() >= MAX_ACCOUNTS && !counts.contains_key(&(action, account.clone()));
        let account = if is_full && account != AttemptedAccount::Unknown { AttemptedAccount::Other } else { account };
        if let Some(count) = counts.get_mut(&(action, account.clone())) {
            count.without_row = count.without_row.saturating_add(1);
            return None;
        }
        let mut about = Map::from_iter([("attempts".to_owned(), json!(1))]);
        about.extend(more);
        let user_id = user_id(&account).to_owned();
        counts.insert((action, account), FailureCount { began: now, since: SystemTime::now(), without_row: 0 });
        Some(action.refused_entry(&user_id, address, about))
    }

    /// Removes the windows that are over, or all of them, and returns their entries.
    fn drain_rows(&self, now: Instant, all: bool) -> Vec<AuditEntry> {
        let mut rows = Vec::new();
        self.counts.lock().retain(|(action, account), count| {
            let stays = !all && now.duration_since(count.began) < WINDOW;
            if !stays && count.without_row > 0 {
                let since = jiff::Timestamp::try_from(count.since).map_or(Value::Null, |at| at.to_string().into());
                let mut about = Map::from_iter([("attempts".to_owned(), json!(count.without_row))]);
                if let AttemptedAccount::AtProvider(provider, reason) = account {
                    about.extend(about_provider(provider, reason));
                }
                about.insert("since".to_owned(), since);
                rows.push(action.refused_entry(user_id(account), None, about));
            }
            stays
        });
        rows.extend(self.tally.drain_rows(now, all));
        rows
    }

    /// Writes all pending entries when the server shuts down.
    pub async fn flush(&self, store: &Store) {
        append_rows(store, self.drain_rows(Instant::now(), true)).await;
    }

    /// Writes the entries of windows that are over until the server shuts down.
    pub async fn flush_periodically(&self, store: &Store, stop: CancellationToken) {
        while stop.run_until_cancelled(tokio::time::sleep(FLUSH_INTERVAL)).await.is_some() {
            append_rows(store, self.drain_rows(Instant::now(), false)).await;
        }
    }
}

/// Writes entries; a failure is only logged.
pub(super) async fn append_rows(store: &Store, rows: Vec<AuditEntry>) {
    if let Err(error) = store.append_audit(rows).await {
        tracing::error!(%error, "cannot record failed sign-ins in the audit log");
    }
}

/// Returns the user id for the entry; empty if it is not about a single user.
fn user_id(account: &AttemptedAccount) -> &str {
    match account {
        AttemptedAccount::Known(id) => id,
        AttemptedAccount::Unknown | AttemptedAccount::AtProvider(..) | AttemptedAccount::Other => "",
    }
}

fn about_provider(provider: &str, reason: &str) -> Map<String, Value> {
    Map::from_iter([("provider".to_owned(), provider.into()), ("reason".to_owned(), reason.into())])
}

/// Masks a name that nobody has: it may be a password that was typed into the wrong field.
pub(super) fn mask_name(name: &str) -> String {
    let name = name_key(name);
    let first = name.chars().next().filter(|first| first.is_alphanumeric());
    format!("{}… ({} characters)", first.map(String::from).unwrap_or_default(), name.chars().count())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ACTION: AccountAction = AccountAction::SignIn;

    fn about(entry: &AuditEntry) -> String {
        let mut arguments = entry.arguments.clone();
        arguments.as_object_mut().unwrap().remove("since");
        format!("{}: {arguments}", entry.user_id)
    }

    #[test]
    fn failed_attempts_get_one_entry_at_once_and_one_per_window() {
        let (failures, now) = (FailedAttempts::default(), Instant::now());
        let later = |minutes: u64| now + Duration::from_secs(minutes * 60);
        let first = failures.count_at(ACTION, Ok("ada"), Some("203.0.113.0/24"), now).unwrap();
        assert_eq!(about(&first), r#"ada: {"attempts":1,"address":"203.0.113.0/24"}"#);
        assert_eq!((first.tool.as_str(), first.outcome.name()), ("account:sign_in", "refused"));
        for _ in 0..500 {
            assert_eq!(failures.count_at(ACTION, Ok("ada"), None, later(1)), None);
        }
        let unknown = failures.count_at(ACTION, Err("Hunter2 is my password"), None, later(1)).unwrap();
        assert_eq!(about(&unknown), r#": {"attempts":1,"name":"h… (22 characters)"}"#);
        assert_eq!(failures.count_at(ACTION, Err("other"), None, later(2)), None);
        assert_eq!(failures.drain_rows(later(14), false), []);
        let rows = failures.drain_rows(later(15), false);
        assert_eq!(rows.iter().map(about).collect::<Vec<_>>(), [r#"ada: {"attempts":500}"#]);
        let rows = failures.drain_rows(later(15), true);
        assert_eq!(rows.iter().map(about).collect::<Vec<_>>(), [r#": {"attempts":1}"#]);
        assert!(failures.count_at(ACTION, Ok("ada"), None, later(16)).is_some(), "it begins anew");
    }

    #[test]
    fn each_reason_at_a_provider_has_entries_of_its_own() {
        let failures = FailedAttempts::default();
        let count = |reason: &str| failures.count_at_provider(None, ("company", reason), None);
        let unknown = failures.count(ACTION, Err("nobody"), None);
        assert!(unknown.is_some());
        assert_eq!(
            about(&count("no account").unwrap()),
            r#": {"attempts":1,"provider":"company","reason":"no account"}"#
        );
        assert!(count("invalid nonce").is_some() && count("no account").is_none());
        let rows = failures.drain_rows(Instant::now(), true);
        assert_eq!(
            rows.iter().map(about).collect::<Vec<_>>(),
            [r#": {"attempts":1,"provider":"company","reason":"no account"}"#]
        );
    }

    #[test]
    fn number_of_entries_is_limited_for_many_accounts_and_names() {
        let (failures, now) = (FailedAttempts::default(), Instant::now());
        let mut rows = 0;
        for number in 0..5_000 {
            rows += usize::from(failures.count_at(ACTION, Err(&format!("n{number}")), None, now).is_some());
            rows += usize::from(failures.count_at(ACTION, Ok(&format!("u{number}")), None, now).is_some());
        }
        assert!((100..=102).contains(&rows), "{rows}");
        assert!(failures.drain_rows(now, true).len() <= 2);
    }
}
