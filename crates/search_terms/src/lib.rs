#![doc = include_str!("../README.md")]

mod passage;
mod terms;

pub use passage::passage;
pub use terms::SearchTerms;
