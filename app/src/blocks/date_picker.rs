//! The block `DatePicker`.

use super::control::parse_text;
use super::line_input::{Kind, line_input};
use leptos::prelude::*;
use wire::page::Input;

/// A day, `YYYY-MM-DD`.
#[component]
pub fn DatePicker(
    /// The block's id and the key of its value.
    id: String,
    /// Its properties.
    input: Input,
) -> impl IntoView {
    line_input(id, input, Kind { native: "date", keyboard: None, step: None, parse: parse_text })
}
