//! Checks whether a text contains a quote.

/// A text in the form in which quotes are compared: without regard to white space, case and the form of
/// quotation marks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PlainText(String);

impl PlainText {
    /// Brings a text into this form.
    pub(crate) fn new(text: &str) -> Self {
        let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
        Self(words.join(" ").replace(['“', '”', '„'], "\"").replace(['’', '‘'], "'"))
    }

    /// Returns whether the text contains a quote. An empty quote is in no text.
    pub(crate) fn contains(&self, quote: &Self) -> bool {
        !quote.0.is_empty() && self.0.contains(&quote.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_stand_in_the_text() {
        let text = PlainText::new("The “pump” runs\nat  night.");
        let check =
            |quote: &str, expected: bool| assert_eq!(text.contains(&PlainText::new(quote)), expected, "{quote}");
        check("pump\" runs at night", true);
        check("RUNS AT", true);
        check("runs by night", false);
        check(" ", false);
    }
}
