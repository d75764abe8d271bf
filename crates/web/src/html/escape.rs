//! Escapes texts in HTML that is not made by a view.

/// Escapes a text for a document, or for an attribute in double quotes.
pub fn escaped(text: &str) -> String {
    text_area_content(text).replace('"', "&quot;")
}

/// Returns the text of a `textarea` as its `inner_html`: Leptos does not escape the children of this
/// element, so a text with `</textarea>` would become markup.
pub fn text_area_content(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}
