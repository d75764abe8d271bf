//! The state machine of an alert: computes the next state and message from a value.

/// The state of an alert. Times are Unix times in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct State {
    /// Whether the alert is firing: a message was sent that the value is above the limit, and none
    /// yet that it is back.
    pub(crate) is_firing: bool,
    /// The time since which that is so.
    pub(crate) since: i64,
    /// The time since which the value is on the other side of the limit; `None` while it is not.
    pub(crate) turning_at: Option<i64>,
    /// The time of the last message.
    pub(crate) notified_at: Option<i64>,
    /// The last value.
    pub(crate) value: f64,
    /// When it was measured.
    pub(crate) checked_at: i64,
}

/// The kind of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MessageKind {
    /// The value is above the limit.
    Firing,
    /// It still is.
    Still,
    /// It is not any more.
    Resolved,
}

impl MessageKind {
    /// Returns the name that is stored and shown.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Firing => "firing",
            Self::Still => "still",
            Self::Resolved => "resolved",
        }
    }
}

/// The rules by which an alert changes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    /// The limit.
    pub(crate) limit: f64,
    /// The time for which the value must be on the other side of the limit, in milliseconds.
    pub(crate) hold: i64,
    /// The time after which the message is repeated; `None`: never.
    pub(crate) repeat: Option<i64>,
}

impl State {
    /// The state before the first value.
    pub(crate) fn new(now: i64) -> Self {
        Self { is_firing: false, since: now, turning_at: None, notified_at: None, value: 0.0, checked_at: now }
    }

    /// Returns the state after a value, and the message to send.
    pub(crate) fn after(self, value: f64, now: i64, rules: Rules) -> (Self, Option<MessageKind>) {
        let state = Self { value, checked_at: now, ..self };
        if (value > rules.limit) == self.is_firing {
            let is_due = self.is_firing
                && rules.repeat.is_some_and(|pause| now - self.notified_at.unwrap_or(self.since) >= pause);
            let notified_at = if is_due { Some(now) } else { self.notified_at };
            return (Self { turning_at: None, notified_at, ..state }, is_due.then_some(MessageKind::Still));
        }
        let turning_at = self.turning_at.unwrap_or(now);
        if now - turning_at < rules.hold {
            return (Self { turning_at: Some(turning_at), ..state }, None);
        }
        let message = if self.is_firing { MessageKind::Resolved } else { MessageKind::Firing };
        let turned = Self { is_firing: !self.is_firing, since: now, turning_at: None, notified_at: Some(now), ..state };
        (turned, Some(message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MINUTE: i64 = 60_000;

    /// Checks the messages about a value of each minute; `.` is no message.
    fn check(values: &[f64], hold: i64, repeat: Option<i64>, expected: &str) {
        let rules = Rules { limit: 10.0, hold: hold * MINUTE, repeat: repeat.map(|minutes| minutes * MINUTE) };
        let mut state = State::new(0);
        let mut told = String::new();
        for (minute, value) in (0..).zip(values) {
            let (next, message) = state.after(*value, minute * MINUTE, rules);
            state = next;
            told.push(match message {
                None => '.',
                Some(MessageKind::Firing) => 'F',
                Some(MessageKind::Still) => 'S',
                Some(MessageKind::Resolved) => 'R',
            });
        }
        assert_eq!(told, expected, "{values:?}");
    }

    #[test]
    fn messages_are_sent_when_a_value_exceeds_its_limit_and_when_it_is_back() {
        check(&[5.0, 10.0, 10.1, 99.0, 10.0, 11.0], 0, None, "..F.RF");
        check(&[11.0; 7], 0, Some(3), "F..S..S");
        check(&[11.0, 1.0, 11.0, 11.0, 11.0, 1.0, 11.0, 1.0, 1.0, 1.0], 2, None, "....F....R");
        check(&[f64::NAN, 11.0, f64::NAN], 0, None, ".FR");
    }

    proptest! {
        /// For all values, messages alternate, and the value is above the limit exactly when a
        /// message says so.
        #[test]
        fn messages_alternate(values in prop::collection::vec(0.0_f64..20.0, 1..60), hold in 0_i64..4, repeat in prop::option::of(1_i64..5)) {
            let rules = Rules { limit: 10.0, hold: hold * MINUTE, repeat: repeat.map(|minutes| minutes * MINUTE) };
            let (mut state, mut is_told) = (State::new(0), false);
            for (minute, value) in (0..).zip(values) {
                let (next, message) = state.after(value, minute * MINUTE, rules);
                match message {
                    Some(MessageKind::Firing) => prop_assert!(!is_told && value > 10.0),
                    Some(MessageKind::Resolved) => prop_assert!(is_told && value <= 10.0),
                    Some(MessageKind::Still) => prop_assert!(is_told && value > 10.0),
                    None => {}
                }
                is_told = message.map_or(is_told, |message| message != MessageKind::Resolved);
                prop_assert_eq!(next.is_firing, is_told);
                prop_assert!(hold > 0 || next.is_firing == (value > 10.0));
                state = next;
            }
        }
    }
}
