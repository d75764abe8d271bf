//! The errors of schedules.

use std::fmt;

/// The part of a schedule that an error is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchedulePart {
    /// The cron expression.
    Expression,
    /// The time zone.
    TimeZone,
}

/// The error of a schedule that cannot be read, for its author.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduleError {
    /// The part that is wrong.
    pub part: SchedulePart,
    /// The problem.
    pub message: String,
    /// The suggestion.
    pub help: Option<String>,
}

impl ScheduleError {
    pub(crate) fn expression(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { part: SchedulePart::Expression, message: message.into(), help: Some(help.into()) }
    }

    pub(crate) fn zone(message: impl Into<String>, help: Option<String>) -> Self {
        Self { part: SchedulePart::TimeZone, message: message.into(), help }
    }
}

impl fmt::Display for ScheduleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.help {
            Some(help) => write!(f, " ({help})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for ScheduleError {}
