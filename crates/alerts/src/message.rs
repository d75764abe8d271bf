//! The texts of alert messages.

use crate::section::Alert;
use crate::state::{MessageKind, State};

/// The text of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MessageText {
    /// The text in one line, such as the subject of an e-mail.
    pub(crate) title: String,
    /// The text in a sentence.
    pub(crate) text: String,
}

/// Writes a message. `user` is the name or id of the user whom the alert is about, `before` the
/// state before the value, `state` the one after it.
pub(crate) fn write(
    alert: &Alert,
    message: MessageKind,
    user: Option<&str>,
    before: &State,
    state: &State,
) -> MessageText {
    let what = match user {
        Some(user) => format!("{} of {user}", alert.title()),
        None => alert.title(),
    };
    let (value, limit) = (alert.when.format(state.value), alert.when.format(alert.when.limit()));
    let (title, text) = match message {
        MessageKind::Firing => (format!("{what}: {value}"), format!("{what}: {value}. The limit is {limit}.")),
        MessageKind::Still => {
            let since = duration(state.checked_at - state.since);
            (
                format!("{what}: still {value}"),
                format!("{what}: {value}. It has been above the limit of {limit} for {since}."),
            )
        }
        MessageKind::Resolved => {
            let since = duration(state.checked_at - before.since);
            let text = format!("{what}: {value}. It was above the limit of {limit} for {since}.");
            (format!("{what}: back within its limit"), text)
        }
    };
    MessageText { title, text }
}

/// Writes the message of a test.
pub(crate) fn write_test(alert: &Alert) -> MessageText {
    let limit = alert.when.format(alert.when.limit());
    let text = format!("This is a test, sent by an administrator. {}: the limit is {limit}.", alert.title());
    MessageText { title: format!("{}: test", alert.title()), text }
}

/// Formats milliseconds in the two largest units.
fn duration(ms: i64) -> String {
    let minutes = ms / 60_000;
    let (days, hours, minutes) = (minutes / 1_440, minutes / 60 % 24, minutes % 60);
    let parts: Vec<_> = [(days, "d"), (hours, "h"), (minutes, "min")]
        .into_iter()
        .skip_while(|(number, _)| *number == 0)
        .take(2)
        .filter(|(number, _)| *number > 0)
        .map(|(number, unit)| format!("{number} {unit}"))
        .collect();
    if parts.is_empty() { "less than a minute".to_owned() } else { parts.join(" ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_the_two_largest_units() {
        let check = |minutes: i64, expected: &str| assert_eq!(duration(minutes * 60_000), expected);
        check(0, "less than a minute");
        check(59, "59 min");
        check(60, "1 h");
        check(135, "2 h 15 min");
        check(1_440 * 3 + 61, "3 d 1 h");
        check(1_440 + 1, "1 d");
    }
}
