#![doc = include_str!("../README.md")]

mod analyzer;
mod expansion;
mod fusion;
mod index;
mod language;
mod latent;
mod search;
mod similar;
mod vectors;

pub use analyzer::Analyzer;
pub use expansion::Expansion;
pub use fusion::{RRF_K, fuse};
pub use index::{ChunkText, Index, Mask, Slot};
pub use language::Language;
pub use latent::{Latent, LatentOptions, latent_weight};
pub use search::{Hit, Query};
pub use similar::Shingles;
pub use vectors::{INT8_FROM, Vectors};
