//! A schedule, and its ticks around an instant.

use crate::{ScheduleError, expression, zone};
use croner::Cron;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use std::fmt;

/// The most ticks that [`Schedule::next_times`] returns.
pub const MAX_LISTED: usize = 50;

/// An instant before all that matters, from which a matching date is searched.
const START: Timestamp = Timestamp::constant(946_684_800, 0);

/// Times that are repeated by a cron expression in a time zone. A tick is one of these times.
#[derive(Clone)]
pub struct Schedule {
    cron: Cron,
    zone: TimeZone,
}

impl Schedule {
    /// Reads a cron expression of five fields and the name of a time zone.
    ///
    /// # Errors
    /// One of them cannot be read, or no date matches the expression.
    pub fn parse(expression: &str, time_zone: &str) -> Result<Self, ScheduleError> {
        let schedule = Self { cron: expression::parse(expression)?, zone: zone::parse(time_zone)? };
        match schedule.next_after(START) {
            Some(_) => Ok(schedule),
            None => {
                let help = "the day, the month and the day of the week never come together";
                Err(ScheduleError::expression(format!("no date matches `{}`", expression.trim()), help))
            }
        }
    }

    /// Returns the first tick after an instant. `None` in the far future, where dates end.
    pub fn next_after(&self, after: Timestamp) -> Option<Timestamp> {
        let next = self.cron.find_next_occurrence(&self.local(after)?, false).ok()?.timestamp();
        (next > after).then_some(next)
    }

    /// Returns the first ticks after an instant, at most `count` and [`MAX_LISTED`].
    pub fn next_times(&self, after: Timestamp, count: usize) -> Vec<Timestamp> {
        let ticks = std::iter::successors(self.next_after(after), |tick| self.next_after(*tick));
        ticks.take(count.min(MAX_LISTED)).collect()
    }

    /// Returns the last tick at an instant or before it.
    pub(crate) fn last_until(&self, until: Timestamp) -> Option<Timestamp> {
        self.previous(until, true)
    }

    /// Returns the last tick before an instant.
    pub(crate) fn last_before(&self, before: Timestamp) -> Option<Timestamp> {
        self.previous(before, false)
    }

    fn previous(&self, from: Timestamp, inclusive: bool) -> Option<Timestamp> {
        let previous = self.cron.find_previous_occurrence(&self.local(from)?, inclusive).ok()?.timestamp();
        (previous < from || inclusive && previous == from).then_some(previous)
    }

    /// Returns the local time of an instant, in whole seconds as all ticks.
    fn local(&self, at: Timestamp) -> Option<Zoned> {
        Some(Timestamp::from_second(at.as_second()).ok()?.to_zoned(self.zone.clone()))
    }
}

/// Formats the expression and the time zone.
impl fmt::Debug for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Schedule")
            .field(&self.cron.pattern.to_string())
            .field(&self.zone.iana_name().unwrap_or_default())
            .finish()
    }
}
