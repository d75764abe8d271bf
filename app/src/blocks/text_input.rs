//! The block `TextInput`.

use super::control::parse_text;
use super::line_input::{Kind, line_input};
use leptos::prelude::*;
use wire::page::Input;

/// One line of text.
#[component]
pub fn TextInput(
    /// The block's id and the key of its value.
    id: String,
    /// Its properties.
    input: Input,
) -> impl IntoView {
    line_input(id, input, Kind { native: "text", keyboard: None, step: None, parse: parse_text })
}
