//! The projection of a long history: what a model reads of it. The history itself only grows. When
//! a trigger is reached, old tool results are cleared, then whole older turns are replaced by a
//! summary, and then the results that are left are shortened. All are events, so that whoever stores
//! the history can store the projection with it and hand it to the next run: between two changes the
//! model reads the same bytes again.

mod compact;
mod complete;
mod delegated;
mod earlier;
pub(crate) mod fit;
pub(crate) mod large_result;
mod notes;
mod page;
mod plan;
mod projection;
mod read_result;
mod settings;
mod shorten;
pub(crate) mod size;
mod summary;
mod too_long;

pub use earlier::{EarlierHistory, EarlierMessages};
pub use projection::{Compaction, ContextInput, ContextSummary, PageContext, Projection, TurnBoundary};
pub use read_result::READ_RESULT_TOOL;
pub(crate) use settings::{ContextBudget, ModelRoom};
pub use settings::{ContextSettings, ContextTriggers, SummarySettings};
pub use size::{ContextParts, ContextSize, MeasuredSize};
