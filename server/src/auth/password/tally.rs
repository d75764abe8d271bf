//! What happens too often for a row each in the audit log: attempts that are answered with 429
//! before anything is looked at, and what users do with their own accounts more often than they
//! need to. Each has one row together for a quarter of an hour; the first refused attempt has a
//! row at once.

use super::failures::{WINDOW, enter, masked};
use super::{Accounts, Desk};
use crate::auth::account_log::AccountAction;
use parking_lot::Mutex;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::time::{Instant, SystemTime};
use store::{AuditEntry, AuditOutcome, Store};

/// Subjects with rows of their own in a window; all others are one.
const MAX_SUBJECTS: usize = 100;
/// Characters of a name that are kept; nobody has a longer one.
const MAX_NAME: usize = 64;

/// Who is counted.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Subject {
    /// A user, by id.
    User(String),
    /// A name in the form in which names are compared; somebody may have it or not.
    Name(String),
    /// Where requests come from, as the audit log records it.
    Client(Option<String>),
    /// One of many.
    Other,
}

/// Which attempts: for what, with which outcome, by whom.
type Key = (AccountAction, AuditOutcome, Subject);

/// Counts what has no row yet.
#[derive(Default)]
pub(super) struct Tally(Mutex<HashMap<Key, Count>>);

struct Count {
    began: Instant,
    /// The same by the clock.
    since: SystemTime,
    /// Those that have no row.
    more: u32,
    /// The user whose row it is; empty where that is not known.
    user_id: String,
    /// What the rows say besides how many.
    about: Map<String, Value>,
}

impl Tally {
    /// Counts one of these; returns the subject that it was counted for if it is the first one in
    /// this window.
    fn count(&self, (action, outcome, subject): Key, now: Instant) -> Option<Subject> {
        let mut counts = self.0.lock();
        let is_full = counts.len() >= MAX_SUBJECTS && !counts.contains_key(&(action, outcome, subject.clone()));
        let subject = if is_full { Subject::Other } else { subject };
        if let Some(count) = counts.get_mut(&(action, outcome, subject.clone())) {
            count.more = count.more.saturating_add(1);
            return None;
        }
        let (user_id, about) = match &subject {
            Subject::User(id) => (id.clone(), Map::new()),
            _ => (String::new(), Map::new()),
        };
        let count = Count { began: now, since: SystemTime::now(), more: 0, user_id, about };
        counts.insert((action, outcome, subject.clone()), count);
        Some(subject)
    }

    /// Says whose rows these are, and what they say besides how many.
    fn describe(&self, key: &Key, user_id: &str, about: &Map<String, Value>) {
        if let Some(count) = self.0.lock().get_mut(key) {
            (count.user_id, count.about) = (user_id.to_owned(), about.clone());
        }
    }

    /// Counts what a user did with their own account and what gets no row of its own.
    fn count_done(&self, action: AccountAction, user_id: &str, now: Instant) {
        let key = (action, AuditOutcome::Ok, Subject::User(user_id.to_owned()));
        if let Some(subject) = self.count(key, now)
            && let Some(count) = self.0.lock().get_mut(&(action, AuditOutcome::Ok, subject))
        {
            count.more = 1;
        }
    }

    /// Takes the rows of windows that are over, and of all if the server ends.
    pub(super) fn take(&self, now: Instant, all: bool) -> Vec<AuditEntry> {
        let mut rows = Vec::new();
        self.0.lock().retain(|(action, outcome, _), count| {
            let stays = !all && now.duration_since(count.began) < WINDOW;
            if !stays && count.more > 0 {
                rows.push(count.row(*action, *outcome));
            }
            stays
        });
        rows
    }
}

impl Count {
    fn row(&self, action: AccountAction, outcome: AuditOutcome) -> AuditEntry {
        let since = jiff::Timestamp::try_from(self.since).map_or(Value::Null, |at| at.to_string().into());
        let mut about = self.about.clone();
        about.insert("since".to_owned(), since);
        match outcome {
            AuditOutcome::Ok => {
                about.insert("times".to_owned(), json!(self.more));
                action.done(&self.user_id, None, about)
            }
            _ => {
                about.insert("attempts".to_owned(), json!(self.more));
                action.refused(&self.user_id, None, about)
            }
        }
    }
}

impl Desk {
    /// Records an attempt that is answered with 429, because of this limit. A row, if it gets one,
    /// is written in the background: nobody waits for it, and it costs a flood of attempts nothing.
    pub(crate) fn record_limited(
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
            let user_id = whose(&store, &subject, &mut about).await;
            failures.tally.describe(&key(subject), &user_id, &about);
            about.insert("attempts".to_owned(), json!(1));
            enter(&store, vec![action.refused(&user_id, address.as_deref(), about)]).await;
        });
    }

    /// The row for what a user did with their own account; none, and the user's rows are counted
    /// together, where they have had as many as anybody needs in a day.
    pub(crate) fn own_row(&self, action: AccountAction, row: AuditEntry) -> Option<AuditEntry> {
        if self.budgets.has_row(&row.user_id) {
            return Some(row);
        }
        self.failures.tally.count_done(action, &row.user_id, Instant::now());
        None
    }
}

impl Accounts {
    /// As [`Desk::record_limited`].
    pub(crate) fn record_limited(
        &self,
        action: AccountAction,
        limited: (&'static str, Subject),
        address: Option<&str>,
    ) {
        self.desk.record_limited(&self.store, action, limited, address);
    }
}

impl Subject {
    /// A name that somebody typed, in the form in which names are compared.
    pub(crate) fn name(key: &str) -> Self {
        Self::Name(key.chars().take(MAX_NAME).collect())
    }
}

/// The id of the user that a subject is; empty where it is none. A name that nobody has may be a
/// password, so only its first letter is noted.
async fn whose(store: &Store, subject: &Subject, about: &mut Map<String, Value>) -> String {
    let name = match subject {
        Subject::User(id) => return id.clone(),
        Subject::Name(name) => name,
        Subject::Client(_) | Subject::Other => return String::new(),
    };
    match store.user_by_name(name).await {
        Ok(Some((user, _))) => user.id,
        Ok(None) | Err(_) => {
            about.insert("name".to_owned(), masked(name).into());
            String::new()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    const ACTION: AccountAction = AccountAction::SignIn;

    fn refused(name: &str) -> Key {
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
    fn refused_attempts_have_one_row_at_once_and_one_together() {
        let (tally, now) = (Tally::default(), Instant::now());
        assert_eq!(tally.count(refused("ada"), now), Some(Subject::Name("ada".to_owned())));
        tally.describe(&refused("ada"), "u1", &Map::from_iter([("limit".to_owned(), json!("name"))]));
        for _ in 0..500 {
            assert_eq!(tally.count(refused("ada"), now), None);
        }
        assert_eq!(tally.take(now + WINDOW - Duration::from_secs(1), false), []);
        let rows = tally.take(now + WINDOW, false);
        assert_eq!(shown(&rows), [r#"u1 refused: {"limit":"name","attempts":500}"#]);
        assert!(tally.count(refused("ada"), now + WINDOW).is_some(), "it begins anew");
        assert_eq!(tally.take(now + WINDOW, true), [], "the first one has its row already");
    }

    #[test]
    fn rows_do_not_grow_with_names_or_clients() {
        let (tally, now) = (Tally::default(), Instant::now());
        let mut rows = 0;
        for number in 0..5_000 {
            rows += usize::from(tally.count(refused(&format!("n{number}")), now).is_some());
            let client = Subject::Client(Some(format!("10.0.{}.0/24", number % 250)));
            rows += usize::from(tally.count((ACTION, AuditOutcome::Refused, client), now).is_some());
        }
        assert_eq!(rows, MAX_SUBJECTS + 1);
        assert!(tally.take(now, true).len() <= MAX_SUBJECTS + 1);
    }

    #[test]
    fn what_a_user_does_beyond_their_budget_has_one_row_together() {
        let (desk, now) = (Desk::default(), Instant::now());
        let row = || ACTION.done("u1", Some("203.0.113.0/24"), Map::new());
        let own = (0..500).filter(|_| desk.own_row(ACTION, row()).is_some()).count();
        assert!((200..=201).contains(&own), "{own}");
        assert!(desk.own_row(ACTION, ACTION.done("u2", None, Map::new())).is_some(), "others have theirs");
        let rows = desk.failures.tally.take(now + WINDOW * 2, false);
        assert_eq!(shown(&rows), [format!(r#"u1 ok: {{"times":{}}}"#, 500 - own)]);
    }
}
