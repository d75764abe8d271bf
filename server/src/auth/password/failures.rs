//! Sign-ins with a wrong name or password, as the audit log shows them. Strangers make them, so each does not have a row:
//! the first one at an account has, and the others within a quarter of an hour have one together. All unknown names
//! count as one account, and so do all accounts beyond a number.

use super::tally::Tally;
use super::words::key;
use crate::auth::account_log::AccountAction;
use parking_lot::Mutex;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::time::{Duration, Instant, SystemTime};
use store::{AuditEntry, Store};
use tokio_util::sync::CancellationToken;

/// Attempts within this time have a row together.
pub(super) const WINDOW: Duration = Duration::from_secs(15 * 60);
/// Accounts with rows of their own in that time.
const MAX_ACCOUNTS: usize = 100;
/// How often it is looked whether the time of some is over.
const LOOK: Duration = Duration::from_secs(60);

/// Counts attempts that have no row yet.
#[derive(Default)]
pub(crate) struct Failures {
    counts: Mutex<HashMap<(AccountAction, Account), Count>>,
    /// What is counted without a look at an account.
    pub(super) tally: Tally,
}

/// What was tried.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Account {
    /// A user's, by id.
    Known(String),
    /// One that there is not.
    Unknown,
    /// One of many.
    Other,
}

struct Count {
    began: Instant,
    /// The same by the clock.
    since: SystemTime,
    /// Without the first one, which has its row.
    more: u32,
}

impl Failures {
    /// Counts an attempt at the account of this user, or with this name, which nobody has; gives the row to be entered now.
    pub(crate) fn count(
        &self,
        action: AccountAction,
        user: Result<&str, &str>,
        address: Option<&str>,
    ) -> Option<AuditEntry> {
        self.count_at(action, user, address, Instant::now())
    }

    fn count_at(
        &self,
        action: AccountAction,
        user: Result<&str, &str>,
        address: Option<&str>,
        now: Instant,
    ) -> Option<AuditEntry> {
        let mut counts = self.counts.lock();
        let account = user.map_or(Account::Unknown, |id| Account::Known(id.to_owned()));
        let is_full = counts.len() >= MAX_ACCOUNTS && !counts.contains_key(&(action, account.clone()));
        let account = if is_full && account != Account::Unknown { Account::Other } else { account };
        if let Some(count) = counts.get_mut(&(action, account.clone())) {
            count.more = count.more.saturating_add(1);
            return None;
        }
        let mut about = Map::from_iter([("attempts".to_owned(), json!(1))]);
        if let Err(name) = user {
            about.insert("name".to_owned(), masked(name).into());
        }
        let user_id = user_id(&account).to_owned();
        counts.insert((action, account), Count { began: now, since: SystemTime::now(), more: 0 });
        Some(action.refused(&user_id, address, about))
    }

    /// The rows of attempts whose time is over, and of all if the server ends.
    fn take(&self, now: Instant, all: bool) -> Vec<AuditEntry> {
        let mut rows = Vec::new();
        self.counts.lock().retain(|(action, account), count| {
            let stays = !all && now.duration_since(count.began) < WINDOW;
            if !stays && count.more > 0 {
                let since = jiff::Timestamp::try_from(count.since).map_or(Value::Null, |at| at.to_string().into());
                let about = [("attempts".to_owned(), json!(count.more)), ("since".to_owned(), since)];
                rows.push(action.refused(user_id(account), None, about.into_iter().collect()));
            }
            stays
        });
        rows.extend(self.tally.take(now, all));
        rows
    }

    /// Enters what is still to be entered, when the server ends.
    pub(crate) async fn flush(&self, store: &Store) {
        enter(store, self.take(Instant::now(), true)).await;
    }

    /// Enters what is over, for as long as the server runs.
    pub(crate) async fn follow(&self, store: &Store, stop: CancellationToken) {
        while stop.run_until_cancelled(tokio::time::sleep(LOOK)).await.is_some() {
            enter(store, self.take(Instant::now(), false)).await;
        }
    }
}

/// Enters rows about attempts; the answer to an attempt does not depend on it.
pub(super) async fn enter(store: &Store, rows: Vec<AuditEntry>) {
    if let Err(error) = store.append_audit(rows).await {
        tracing::error!(%error, "failed sign-ins could not be entered in the audit log");
    }
}

/// In the log, rows that are not about one user name none.
fn user_id(account: &Account) -> &str {
    match account {
        Account::Known(id) => id,
        Account::Unknown | Account::Other => "",
    }
}

/// A name that nobody has: it may be a password that was typed into the wrong field.
pub(super) fn masked(name: &str) -> String {
    let name = key(name);
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
    fn attempts_have_one_row_at_once_and_one_together() {
        let (failures, now) = (Failures::default(), Instant::now());
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
        assert_eq!(failures.take(later(14), false), []);
        let rows = failures.take(later(15), false);
        assert_eq!(rows.iter().map(about).collect::<Vec<_>>(), [r#"ada: {"attempts":500}"#]);
        let rows = failures.take(later(15), true);
        assert_eq!(rows.iter().map(about).collect::<Vec<_>>(), [r#": {"attempts":1}"#]);
        assert!(failures.count_at(ACTION, Ok("ada"), None, later(16)).is_some(), "it begins anew");
    }

    #[test]
    fn rows_do_not_grow_with_accounts_or_names() {
        let (failures, now) = (Failures::default(), Instant::now());
        let mut rows = 0;
        for number in 0..5_000 {
            rows += usize::from(failures.count_at(ACTION, Err(&format!("n{number}")), None, now).is_some());
            rows += usize::from(failures.count_at(ACTION, Ok(&format!("u{number}")), None, now).is_some());
        }
        assert!((100..=102).contains(&rows), "{rows}");
        assert!(failures.take(now, true).len() <= 2);
    }
}
