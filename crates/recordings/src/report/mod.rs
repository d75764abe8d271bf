//! Compares two recordings of a run step by step, and reports the differences.

mod compare;
mod dataset;
mod imported;
mod json;
mod junit;
mod messages;
mod steps;
mod terminal;
mod words;

pub use compare::{Comparison, Finding, Kind, StepPair, compare, mark_unstable};
pub use dataset::{DatasetReport, RecordedCase};
pub use imported::imported_turn;
pub use json::JsonReport;
pub use junit::junit;
pub use steps::{Call, Step, Totals};
pub(crate) use steps::{outcome_text, steps};
pub use terminal::{Style, terminal};
pub(crate) use words::{Piece, pieces};
