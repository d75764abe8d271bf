//! Aggregates events that are too frequent for an audit entry each: attempts that are refused with
//! 429 before anything else is checked, and actions of users on their own accounts beyond their
//! budget. Events within a quarter of an hour share an entry; the first refused attempt has its own
//! at once.

use super::failures::{WINDOW, append_rows, mask_name};
use super::{Accounts, SignInState};
use crate::account_log::AccountAction;
use parking_lot::Mutex;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::time::{Instant, SystemTime};
use store::{AuditEntry, AuditOutcome, Store};

/// The limit on subjects with entries of their own in a window; all others share one.
const MAX_SUBJECTS: usize = 100;
/// The limit on a stored name in characters; valid names are not longer.
const MAX_NAME: usize = 64;

/// The subject of an event.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Subject {
    /// A user, by id.
    User(String),
    /// A name in normalized form; it may belong to a user or not.
    Name(String),
    /// The address of a client, as the audit log records it.
    Client(Option<String>),
    /// Any subject beyond the limit.
    Other,
}

/// The action, outcome and subject of an event.
type TallyKey = (AccountAction, AuditOutcome, Subject);

/// Counts events that have no entry yet.
#[derive(Default)]
pub(super) struct AuditTally(Mutex<HashMap<TallyKey, TallyCount>>);

struct TallyCount {
    began: Instant,
    /// The wall-clock time of `began`.
    since: SystemTime,
    /// The number of events without an entry.
    without_row: u32,
    /// The user id for the entry; empty if unknown.
    user_id: String,
    /// Further data for the entry.
    about: Map<String, Value>,
}

impl AuditTally {
    /// Counts an event. If it is the first one in its window, the subject that it was counted for
    /// is returned.
    fn count(&self, (action, outcome, subject): TallyKey, now: Instant) -> Option<Subject> {
        let mut counts = self.0.lock();
        let is_full = counts.len() >= MAX_SUBJECTS && !counts.contains_key(&(action, outcome, subject.clone()));
        let subject = if is_full { Subject::Other } else { subject };
        if let Some(count) = counts.get_mut(&(action, outcome, subject.clone())) {
            count.without_row = count.without_row.saturating_add(1);
            return None;
        }
        let (user_id, about) = match &subject {
            Subject::User(id) => (id.clone(), Map::new()),
            _ => (String::new(), Map::new()),
        };
        let count = TallyCount { began: now, since: SystemTime::now(), without_row: 0, user_id, about };
        counts.insert((action, outcome, subject.clone()), count);
        Some(subject)
    }

    /// Sets the user and the further data of a count.
    fn describe(&self, key: &TallyKey, user_id: &str, about: &Map<String, Value>) {
        if let Some(count) = self.0.lock().get_mut(key) {
            (count.user_id, count.about) = (user_id.to_owned(), about.clone());
        }
    }

    /// Counts a successful action of a user on their own account that gets no entry of its own.
    fn count_success(&self, action: AccountAction, user_id: &str, now: Instant) {
        let key = (action, AuditOutcome::Ok, Subject::User(user_id.to_owned()));
        if let Some(subject) = self.count(key, now)
            && let Some(count) = self.0.lock().get_mut(&(action, AuditOutcome::Ok, subject))
        {
            count.without_row = 1;
        }
    }

    /// Removes the windows that are over, or all of them, and returns their entries.
    pub(super) fn drain_rows(&self, now: Instant, all: bool) -> Vec<AuditEntry> {
        let mut rows = Vec::new();
        self.0.lock().retain(|(action, outcome, _), count| {
            let stays = !all && now.duration_since(count.began) < WINDOW;
            if !stays && count.without_row > 0 {
                rows.push(count.row(*action, *outcome));
            }
            stays
        });
        rows
    }
}

impl TallyCount {
    fn row(&self, action: AccountAction, outcome: AuditOutcome) -> AuditEntry {
        let since = jiff::Timestamp::try_from(self.since).map_or(Value::Null, |at| at.to_string().into());
        let mut about = self.about.clone();
        about.insert("since".to_owned(), since);
        match outcome {
            AuditOutcome::Ok => {
                about.insert("times".to_owned(), json!(self.without_row));
                action.success_entry(&self.user_id, None, about)
            }
            _ => {
                about.insert("attempts".to_owned(), json!(self.without_row));
                action.refused_entry(&self.user_id, None, about)
            }
        }
    }
}

impl SignInState {
    /// Records an attempt that is refused with 429 because of this limit. An entry is written in
    /// the background, so that a flood of attempts costs almost nothing.
    pub fn record_limited(
        &self,
        store: &Store,
        action: AccountAction,
        (limit, subject): (&'static str, Subject),
        address: Option<&str>,
    ) {
        let key = move |subject| (action, AuditOutcome::Refused, subject);
        let Some(subject) = self.failures.tally.count(key(subject), Instant::now()) else { return };
        let mut about = Map::from_iter([("limit".to_owned(), limit.into())]);
        if let Subject::Client(Some(client)) = &subject {
            about.insert("address".to_owned(), client.clone().into());
        }
        let (failures, store, address) = (self.failures.clone(), store.clone(), address.map(str::to_owned));
        tokio::spawn(async move {
            let user_id = resolve_user_id(&store, &subject, &mut about).await;
            failures.tally.describe(&key(subject), &user_id, &about);
            about.insert("attempts".to_owned(), json!(1));
            append_rows(&store, vec![action.refused_entry(&user_id, address.as_deref(), about)]).await;
        });
    }

    /// Returns the entry for an action of a user on their own account if it is within the user's
    /// daily budget. Otherwise the action is only counted.
    pub fn row_within_budget(&self, action: AccountAction, row: AuditEntry) -> Option<AuditEntry> {
        if self.budgets.reserve_row(&row.user_id) {
            return Some(row);
        }
        self.failures.tally.count_success(action, &row.user_id, Instant::now());
        None
    }
}

impl Accounts {
    /// Records a refused attempt, see [`SignInState::record_limited`].
    pub fn record_limited(&self, action: AccountAction, limited: (&'static str, Subject), address: Option<&str>) {
        self.sign_in.record_limited(&self.store, action, limited, address);
    }
}

impl Subject {
    /// Returns the subject for a normalized name.
    pub fn name(key: &str) -> Self {
        Self::Name(key.chars().take(MAX_NAME).collect())
    }
}

/// Returns the user id of a subject, or an empty string. An unknown name may be a password, so only
/// its first letter is recorded.
async fn resolve_user_id(store: &Store, subject: &Subject, about: &mut Map<String, Value>) -> String {
    let name = match subject {
        Subject::User(id) => return id.clone(),
        Subject::Name(name) => name,
        Subject::Client(_) | Subject::Other => return String::new(),
    };
    match store.user_by_name(name).await {
        Ok(Some((user, _))) => user.id,
        Ok(None) | Err(_) => {
            about.insert("name".to_owned(), mask_name(name).into());
            String::new()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    const ACTION: AccountAction = AccountAction::SignIn;

    fn refused(name: &str) -> TallyKey {
        (ACTION, AuditOutcome::Refused, Subject::name(name))
    }

    fn shown(rows: &[AuditEntry]) -> Vec<String> {
        let shown = rows.iter().map(|row| {
            let mut about = row.arguments.clone();
            about.as_object_mut().unwrap().remove("since");
            format!("{} {}: {about}", row.user_id, row.outcome.name())
        });
        shown.collect()
    }

    #[test]
    fn refused_attempts_get_one_entry_at_once_and_one_per_window() {
        let (tally, now) = (AuditTally::default(), Instant::now());
        assert_eq!(tally.count(refused("ada"), now), Some(Subject::Name("ada".to_owned())));
        tally.describe(&refused("ada"), "u1", &Map::from_iter([("limit".to_owned(), json!("name"))]));
        for _ in 0..500 {
            assert_eq!(tally.count(refused("ada"), now), None);
        }
        assert_eq!(tally.drain_rows(now + WINDOW - Duration::from_secs(1), false), []);
        let rows = tally.drain_rows(now + WINDOW, false);
        assert_eq!(shown(&rows), [r#"u1 refused: {"limit":"name","attempts":500}"#]);
        assert!(tally.count(refused("ada"), now + WINDOW).is_some(), "it begins anew");
        assert_eq!(tally.drain_rows(now + WINDOW, true), [], "the first one has its row already");
    }

    #[test]
    fn number_of_entries_is_limited_for_many_names_and_clients() {
        let (tally, now) = (AuditTally::default(), Instant::now());
        let mut rows = 0;
        for number in 0..5_000 {
            rows += usize::from(tally.count(refused(&format!("n{number}")), now).is_some());
            let client = Subject::Client(Some(format!("10.0.{}.0/24", number % 250)));
            rows += usize::from(tally.count((ACTION, AuditOutcome::Refused, client), now).is_some());
        }
        assert_eq!(rows, MAX_SUBJECTS + 1);
        assert!(tally.drain_rows(now, true).len() <= MAX_SUBJECTS + 1);
    }

    #[test]
    fn actions_beyond_the_budget_share_one_entry() {
        let (sign_in, now) = (SignInState::default(), Instant::now());
        let row = || ACTION.success_entry("u1", Some("203.0.113.0/24"), Map::new());
        let own = (0..500).filter(|_| sign_in.row_within_budget(ACTION, row()).is_some()).count();
        assert!((200..=201).contains(&own), "{own}");
        assert!(
            sign_in.row_within_budget(ACTION, ACTION.success_entry("u2", None, Map::new())).is_some(),
            "others have theirs"
        );
        let rows = sign_in.failures.tally.drain_rows(now + WINDOW * 2, false);
        assert_eq!(shown(&rows), [format!(r#"u1 ok: {{"times":{}}}"#, 500 - own)]);
    }
}
