//! The fields that forms send.

use url::form_urlencoded;

// It contains secrets as they were sent, so it does not implement `Debug`.
/// The fields of a submitted form. A field may occur several times.
pub struct SentFields(Vec<(String, String)>);

impl SentFields {
    /// Parses a form.
    pub fn parse(form: &[u8]) -> Self {
        Self(form_urlencoded::parse(form).into_owned().collect())
    }

    /// Returns all values of a field.
    pub fn all<'f>(&'f self, name: &'f str) -> impl Iterator<Item = &'f str> {
        self.0.iter().filter(move |(of, _)| of == name).map(|(_, value)| value.as_str())
    }

    /// Returns the first value of a field as it was sent; empty if there is none.
    pub fn first<'f>(&'f self, name: &'f str) -> &'f str {
        self.all(name).next().unwrap_or_default()
    }

    /// Returns the first value of a field, without spaces around it; empty if there is none.
    pub fn one<'f>(&'f self, name: &'f str) -> &'f str {
        self.first(name).trim()
    }

    /// Returns the first value of a field, without spaces around it, if it is not empty.
    pub fn filled<'f>(&'f self, name: &'f str) -> Option<&'f str> {
        Some(self.one(name)).filter(|value| !value.is_empty())
    }

    /// Returns whether a field was sent, as a checked checkbox is.
    pub fn is_checked(&self, name: &str) -> bool {
        self.all(name).next().is_some()
    }

    /// Returns the lines of all values of a field that are not empty.
    pub fn lines(&self, name: &str) -> Vec<String> {
        let lines = self.all(name).flat_map(str::lines).map(str::trim).filter(|line| !line.is_empty());
        lines.map(str::to_owned).collect()
    }
}
