//! The problem of an entry.

use crate::locale::{Text, fill_placeholders};

/// The problem of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldProblem {
    /// The index of the field.
    pub field: usize,
    /// The problem.
    pub problem: Problem,
}

/// The problem of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// A value is required.
    Missing,
    /// One of the options is required.
    NotChosen,
    /// It is not a number.
    NotNumber,
    /// It is not a whole number.
    NotInteger,
    /// It is not a date.
    NotDate,
    /// It is not JSON.
    NotJson,
    /// The number is less than the bound.
    TooSmall(String),
    /// The number is greater than the bound.
    TooLarge(String),
    /// The text has fewer characters than the bound.
    TooShort(String),
    /// The text has more characters than the bound.
    TooLong(String),
    /// There are fewer values than the bound.
    TooFew(String),
    /// There are more values than the bound.
    TooMany(String),
}

impl Problem {
    /// Returns the text about the problem, and the values of its placeholders.
    pub fn text(&self) -> (Text, &str) {
        match self {
            Self::Missing => (Text::IsNeeded, ""),
            Self::NotChosen => (Text::ChooseOne, ""),
            Self::NotNumber => (Text::EntryNotNumber, ""),
            Self::NotInteger => (Text::EntryNotInteger, ""),
            Self::NotDate => (Text::EntryNotDate, ""),
            Self::NotJson => (Text::EntryNotJson, ""),
            Self::TooSmall(bound) => (Text::NumberAtLeast, bound),
            Self::TooLarge(bound) => (Text::NumberAtMost, bound),
            Self::TooShort(bound) => (Text::WriteAtLeast, bound),
            Self::TooLong(bound) => (Text::WriteAtMost, bound),
            Self::TooFew(bound) => (Text::EntryTooFew, bound),
            Self::TooMany(bound) => (Text::EntryTooMany, bound),
        }
    }

    /// Returns the text about the problem in English.
    pub fn english(&self) -> String {
        let (text, bound) = self.text();
        fill_placeholders(text.english(), &[bound])
    }
}
