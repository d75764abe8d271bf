//! Keys with several forms.

use crate::Text;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};

/// One value, or several.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum OneOrMany<T> {
    /// One.
    One(T),
    /// Several.
    Many(Vec<T>),
}

impl<T: Into<String>> From<OneOrMany<T>> for Vec<String> {
    fn from(entry: OneOrMany<T>) -> Self {
        match entry {
            OneOrMany::One(one) => vec![one.into()],
            OneOrMany::Many(many) => many.into_iter().map(Into::into).collect(),
        }
    }
}

/// Glob patterns, of which one must match: one text, or several.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(from = "OneOrMany<Text>")]
pub struct Patterns(pub Vec<String>);

impl From<OneOrMany<Text>> for Patterns {
    fn from(form: OneOrMany<Text>) -> Self {
        Self(form.into())
    }
}

/// Reads a value in the form `F`, in which it is written:
/// `#[serde(deserialize_with = "settings::from_form::<F, _, _>")]` with `#[schemars(with = "F")]`.
///
/// # Errors
/// The value does not have this form.
pub fn from_form<'de, F, T, D>(deserializer: D) -> Result<T, D::Error>
where
    F: Deserialize<'de> + Into<T>,
    D: Deserializer<'de>,
{
    F::deserialize(deserializer).map(Into::into)
}
