//! The operators, by family. Each file declares its operators in one list, with everything that is
//! said about them, and has their functions below.

mod arrays;
mod callbacks;
mod comparison;
pub(crate) mod dates;
mod day_formats;
mod encoding;
mod identifiers;
pub(crate) mod json;
mod logic;
mod math;
mod numbers;
mod objects;
pub(crate) mod patterns;
mod scope;
mod strings;
mod text;
mod types;

use crate::registry::Definition;

/// All families with their titles, in the order of the documentation.
pub static FAMILIES: &[(&str, &[Definition])] = &[
    ("Values", scope::OPERATORS),
    ("Conditions and logic", logic::OPERATORS),
    ("Comparison", comparison::OPERATORS),
    ("Types", types::OPERATORS),
    ("Lists", arrays::OPERATORS),
    ("Lists with functions", callbacks::OPERATORS),
    ("Mappings", objects::OPERATORS),
    ("Texts", strings::OPERATORS),
    ("Regular expressions", patterns::OPERATORS),
    ("Numbers", numbers::OPERATORS),
    ("Mathematics", math::OPERATORS),
    ("Dates", dates::OPERATORS),
    ("Formatted dates", day_formats::OPERATORS),
    ("JSON", json::OPERATORS),
    ("Encodings", encoding::OPERATORS),
    ("Identifiers and random values", identifiers::OPERATORS),
];
