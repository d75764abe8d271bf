#![doc = include_str!("../README.md")]

mod agreement;
mod baseline;
mod case;
mod case_value;
mod dataset;
mod definition;
mod document;
mod export;
#[cfg(feature = "fuzz")]
mod fuzz;
mod hashes;
mod import;
mod names;
mod report;
mod run;
mod scorer;
mod statistics;
mod subject;

pub use agreement::{Agreement, Disagreement, PersonVerdict};
pub use baseline::{Baseline, Change, Checked, Difference, Gate, check_writable};
pub use case::{Case, Rated};
pub use dataset::{Selection, read_text};
pub use definition::{Comparison, Evaluation, Required};
#[cfg(feature = "fuzz")]
pub use fuzz::fuzz_dataset;

pub use export::{Exported, export_inspect_ai, export_promptfoo};
pub use import::{Imported, inspect_ai, promptfoo};
pub use report::{ConfigReport, Estimates, PairReport, Report, junit, markdown};
pub use run::file::ResultsText;
pub use run::results::{CaseResult, ComparisonResult, Finished, RatedScore, ResultSink, Results};
pub use run::{Candidate, Progress, RunError, RunSettings, run};
pub use scorer::Score;
pub use scorer::judge::Winner;
pub use statistics::Estimate;
pub use subject::{JudgeRequest, Judgement, Subject, Transcript, check_outcome};
