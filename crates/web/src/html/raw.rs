//! Escapes texts in HTML that is not rendered by a view.

use super::forms::text_area_content;

/// Escapes a text for the content of an element, or for an attribute in double quotes.
pub fn escaped(text: &str) -> String {
    text_area_content(text).replace('"', "&quot;")
}
