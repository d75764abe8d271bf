#![doc = include_str!("../README.md")]

mod diagnostic;
mod files;
mod include;
mod mask;
mod overlay;
mod parse;
mod reader;
mod report;
mod scalar;
mod source;
pub mod suggest;
mod tree;
mod yaml;

pub use diagnostic::{Diagnostic, Excerpt, Severity, render, render_short};
pub use files::ConfigFiles;
pub use overlay::{Overlay, load_with_overlay};
pub use parse::load;
pub use reader::SourceReader;
pub use report::{Location, Report, ShownText, Span};
pub use source::{ConfigSource, SourceText};
pub use tree::{MapEntry, Node, NodeKind, PathStep};
pub use yaml::{FileOf, YamlTree, YamlValue, to_yaml, write_yaml};

/// The largest file in bytes.
const MAX_FILE_BYTES: usize = 1 << 20;
/// The size of all files in bytes, each counted as often as it is included.
const MAX_TOTAL_BYTES: usize = 10 << 20;
/// The deepest nesting of lists, mappings and includes.
const MAX_DEPTH: usize = 64;
/// The number of values in the whole tree, with aliases and includes expanded.
const MAX_VALUES: usize = 500_000;
