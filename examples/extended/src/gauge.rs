//! The block `Gauge`, which the server and the browser render.

use app::blocks::{BlockParts, RustBlock};
use leptos::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

/// Shows how full something is, with a button that asks for the newest value.
#[derive(Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct Gauge {
    /// The label, which names the measured quantity.
    label: String,
    /// The current value.
    value: f64,
    /// The value of something that is full.
    max: f64,
}

impl Default for Gauge {
    fn default() -> Self {
        Self { label: String::new(), value: 0.0, max: 100.0 }
    }
}

impl RustBlock for Gauge {
    const TYPE: &'static str = "Gauge";
    const EVENTS: &'static [&'static str] = &["onRefresh"];

    fn check(&self) -> Vec<(&'static str, String)> {
        let is_over = self.value > self.max;
        is_over.then(|| ("value", format!("the highest value is {}", self.max))).into_iter().collect()
    }

    fn view(gauge: Signal<Self>, block: BlockParts) -> impl IntoView + 'static {
        view! {
            <p>
                <label>
                    {move || gauge.with(|gauge| format!("{}: {} of {} ", gauge.label, gauge.value, gauge.max))}
                    <meter max=move || gauge.with(|gauge| gauge.max) value=move || gauge.with(|gauge| gauge.value) />
                </label>
                " "
                <button type="button" class="cw-button" on:click=move |_| block.events.emit("onRefresh", Value::Null)>
                    "Refresh"
                </button>
            </p>
        }
    }
}
