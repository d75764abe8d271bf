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
    pub fn trimmed<'f>(&'f self, name: &'f str) -> &'f str {
        self.first(name).trim()
    }

    /// Returns the first value of a field, without spaces around it, if it is not empty.
    pub fn filled<'f>(&'f self, name: &'f str) -> Option<&'f str> {
        Some(self.trimmed(name)).filter(|value| !value.is_empty())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_have_no_one_or_several_values() {
        let sent = SentFields::parse(b"name=+Ada+&empty=+&tool=a&tool=%C3%A4&on=&lines=a%0D%0A%0D%0A+b+");
        let check = |name: &str, first: &str, trimmed: &str, filled: Option<&str>, is_checked: bool| {
            assert_eq!((sent.first(name), sent.trimmed(name)), (first, trimmed), "{name}");
            assert_eq!((sent.filled(name), sent.is_checked(name)), (filled, is_checked), "{name}");
        };
        check("name", " Ada ", "Ada", Some("Ada"), true);
        check("empty", " ", "", None, true);
        check("tool", "a", "a", Some("a"), true);
        check("on", "", "", None, true);
        check("missing", "", "", None, false);
        assert_eq!(sent.all("tool").collect::<Vec<_>>(), ["a", "ä"]);
        assert_eq!(sent.lines("lines"), ["a", "b"]);
    }
}
