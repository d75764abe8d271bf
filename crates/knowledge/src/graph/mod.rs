//! The entities and relations of a library: a model reads the chunks of each document in a job, and the server
//! keeps what it can find in them.

mod answer;
mod job;
mod name;
mod sweep;
#[cfg(test)]
mod tests;

#[cfg(feature = "fuzz")]
pub use answer::fuzz_extraction;

pub(crate) use job::{enqueue, handler};
pub(crate) use name::name_key;
pub(crate) use sweep::{enqueue_library, sweep};
