//! Evaluations for other tools. Values without a counterpart are reported in notes.

mod inspect;
mod promptfoo;

pub use inspect::export_inspect_ai;
pub use promptfoo::export_promptfoo;

/// The most notes.
const MAX_NOTES: usize = 100;

/// An evaluation in the form of another tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exported {
    /// The text of the file.
    pub text: String,
    /// Notes for people on values that were left out or changed.
    pub notes: Vec<String>,
}

impl Exported {
    fn new(text: String, mut notes: Vec<String>) -> Self {
        notes.sort();
        notes.dedup();
        notes.truncate(MAX_NOTES);
        Self { text, notes }
    }
}
