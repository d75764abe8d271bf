//! Forms made from JSON Schemas: the input of a workflow, and what a workflow asks a person to fill
//! in. The browser and the admin console show the same fields and convert what was entered by the
//! same rules. The server then checks the values against the whole schema.

mod problem;
mod read;
#[cfg(test)]
mod tests;
mod values;

pub use problem::{FieldProblem, Problem};

use serde_json::{Number, Value};

/// The most fields of a form. A schema with more properties is one field with JSON.
pub const MAX_FIELDS: usize = 100;

/// The most characters that a field holds.
pub const MAX_ENTRY: usize = 100_000;

/// A form.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Form {
    /// The fields in the order of the schema.
    pub fields: Vec<FormField>,
}

/// A field of a form.
#[derive(Clone, Debug, PartialEq)]
pub struct FormField {
    /// The keys that lead to the value: one, or two for a value in a nested object. Empty if the
    /// field is the whole value.
    pub keys: Vec<String>,
    /// The label; empty if the field is the whole value.
    pub label: String,
    /// The description of the field in the schema; may be empty.
    pub hint: String,
    /// The title of the nested object that the value belongs to; empty for others.
    pub group: String,
    /// Whether the nested object may be left out.
    is_group_optional: bool,
    /// How the value is entered.
    pub control: Control,
    /// Whether a value is required.
    pub required: bool,
    /// The initial text of the field, as [`Form::values`] reads it.
    pub initial: String,
    bounds: Bounds,
}

/// How a value is entered.
#[derive(Clone, Debug, PartialEq)]
pub enum Control {
    /// One line of text.
    Line,
    /// Several lines of text.
    Lines,
    /// A number.
    Number,
    /// A whole number.
    Integer,
    /// Yes or no: `true`, or nothing.
    Boolean,
    /// A date, `YYYY-MM-DD`.
    Date,
    /// One of the options: its index.
    Choice(Vec<FormOption>),
    /// Some of the options: their indexes, one in each line.
    Choices(Vec<FormOption>),
    /// A list of simple values, one in each line.
    List(Item),
    /// Any value, as JSON.
    Json,
}

impl Control {
    /// Returns the type and the input mode of the `input` element. A number is text, since a number field
    /// does not report an entry that is no number.
    pub fn input_type(&self) -> (&'static str, Option<&'static str>) {
        match self {
            Self::Date => ("date", None),
            Self::Number => ("text", Some("decimal")),
            Self::Integer => ("text", Some("numeric")),
            _ => ("text", None),
        }
    }
}

/// An option.
#[derive(Clone, Debug, PartialEq)]
pub struct FormOption {
    /// The value.
    pub value: Value,
    /// The text that the user sees.
    pub label: String,
}

/// The type of a list's items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item {
    /// Texts.
    Text,
    /// Numbers.
    Number,
    /// Whole numbers.
    Integer,
}

/// The bounds of a value: of a number, of the characters of a text, or of the items of a list.
#[derive(Clone, Debug, Default, PartialEq)]
struct Bounds {
    least: Option<Number>,
    most: Option<Number>,
}

impl FormField {
    /// Returns the place of the value as a JSON pointer.
    pub fn pointer(&self) -> String {
        let mut pointer = String::new();
        for key in &self.keys {
            pointer.push('/');
            pointer.push_str(&key.replace('~', "~0").replace('/', "~1"));
        }
        pointer
    }
}

impl Form {
    /// Returns the field that an error at this place is about: the one of the value, or of the value
    /// that contains it.
    pub fn field_at(&self, pointer: &str) -> Option<usize> {
        self.fields.iter().position(|field| {
            let rest = pointer.strip_prefix(&field.pointer());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    }
}

/// Turns an id into a label: `legal_name` and `legalName` become `Legal name`.
pub fn label_from_id(id: &str) -> String {
    let mut words = String::with_capacity(id.len() + 4);
    for letter in id.chars() {
        match letter {
            '_' | '-' | '.' => words.push(' '),
            letter if letter.is_ascii_uppercase() && words.ends_with(|last: char| last.is_ascii_lowercase()) => {
                words.push(' ');
                words.push(letter.to_ascii_lowercase());
            }
            letter if words.is_empty() => words.push(letter.to_ascii_uppercase()),
            letter => words.push(letter),
        }
    }
    words
}
