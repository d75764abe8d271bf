#![doc = include_str!("../README.md")]

mod capability;
mod console;
pub mod format;
pub mod import;
mod observe;
mod record;
pub mod replay;
mod replays;
pub mod report;
mod section;
mod store;
pub mod view;
mod wrap;

pub use self::capability::DEFINITION;
pub use self::observe::{Observer, RecordingHandler};
pub use self::replays::{NewReplay, keep_replay};
pub use self::store::{MAX_LISTED, RecordingSummary, TABLES, find, find_of_answer, list, purge};
