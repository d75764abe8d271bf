//! The block `NumberInput`.

use super::control::parse_number;
use super::line_input::{Kind, line_input};
use leptos::prelude::*;
use wire::page::Input;

/// A number.
#[component]
pub fn NumberInput(
    /// The block's id and the key of its value.
    id: String,
    /// Its properties.
    input: Input,
) -> impl IntoView {
    line_input(id, input, Kind { native: "number", keyboard: Some("decimal"), step: Some("any"), parse: parse_number })
}
