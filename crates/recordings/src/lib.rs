#![doc = include_str!("../README.md")]

mod capability;
pub mod format;
mod record;
pub mod replay;
pub mod report;
mod section;
mod store;
mod wrap;

pub use self::capability::DEFINITION;
pub use self::store::{MAX_LISTED, Summary, TABLES, find, list, purge};
