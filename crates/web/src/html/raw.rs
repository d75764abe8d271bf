//! Texts in HTML that is not made by a view.

use super::forms::text_area_content;

/// Escapes a text for a document, or for an attribute in double quotes.
pub fn escaped(text: &str) -> String {
    text_area_content(text).replace('"', "&quot;")
}
