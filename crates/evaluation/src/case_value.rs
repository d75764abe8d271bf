//! A value of a scorer that is written in the evaluation, or taken from each case.

use serde::de::{DeserializeOwned, Error};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// The key that refers to a value of the case.
const CASE: &str = "_case";

/// A value, or `{ _case: expected.article }`.
#[derive(Clone, Debug)]
pub(crate) enum CaseValue<T> {
    Fixed(T),
    /// The path to the value in the case.
    OfCase(String),
}

/// A text or a list of texts.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Texts(#[serde(deserialize_with = "texts")] pub(crate) Vec<String>);

/// Reads a text, or a list of texts.
pub(crate) fn texts<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected a text or a list of texts")]
    enum Texts {
        One(String),
        Many(Vec<String>),
    }
    Ok(match Texts::deserialize(deserializer)? {
        Texts::One(text) => vec![text],
        Texts::Many(texts) => texts,
    })
}

impl<T: DeserializeOwned + Clone> CaseValue<T> {
    /// Returns the value for a case; `None` if the case has none.
    ///
    /// # Errors
    /// The case has a value of another type.
    pub(crate) fn resolve(&self, case: &Value) -> Result<Option<T>, String> {
        let path = match self {
            Self::Fixed(value) => return Ok(Some(value.clone())),
            Self::OfCase(path) => path,
        };
        match at_path(case, path) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => T::deserialize(value)
                .map(Some)
                .map_err(|error| format!("`{path}` of the case cannot be used here: {error}")),
        }
    }
}

impl<T> CaseValue<T> {
    /// Returns whether there is a value for a case.
    pub(crate) fn has_value(&self, case: &Value) -> bool {
        self.path().is_none_or(|path| has_value(case, path))
    }

    /// Returns the path, if the value is taken from each case.
    pub(crate) fn path(&self) -> Option<&str> {
        match self {
            Self::Fixed(_) => None,
            Self::OfCase(path) => Some(path),
        }
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for CaseValue<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        match value.as_object().filter(|fields| fields.len() == 1).and_then(|fields| fields.get(CASE)) {
            Some(Value::String(path)) => Ok(Self::OfCase(path.clone())),
            Some(_) => Err(D::Error::custom("`_case` needs a path, such as `expected.article`")),
            None => T::deserialize(value).map(Self::Fixed).map_err(D::Error::custom),
        }
    }
}

impl<T: Serialize> Serialize for CaseValue<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Fixed(value) => value.serialize(serializer),
            Self::OfCase(path) => {
                let mut map = serializer.serialize_map(Some(1))?;
                map.serialize_entry(CASE, path)?;
                map.end()
            }
        }
    }
}

/// Returns the value at a path of keys and indexes that are separated by dots.
pub(crate) fn at_path<'v>(value: &'v Value, path: &str) -> Option<&'v Value> {
    path.split('.').try_fold(value, |value, key| match value {
        Value::Object(fields) => fields.get(key),
        Value::Array(items) => items.get(key.parse::<usize>().ok()?),
        _ => None,
    })
}

/// Returns whether a case has a value at a path.
pub(crate) fn has_value(case: &Value, path: &str) -> bool {
    at_path(case, path).is_some_and(|value| !value.is_null())
}
