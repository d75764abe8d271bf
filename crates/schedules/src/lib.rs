#![doc = include_str!("../README.md")]

mod due;
mod error;
mod expression;
mod schedule;
mod zone;

pub use due::{DueTicks, GRACE, MAX_CAUGHT_UP, MissedTicks};
pub use error::{ScheduleError, SchedulePart};
pub use expression::MAX_EXPRESSION;
pub use schedule::{MAX_LISTED, Schedule};
