//! The block `Alert`, and what looks like it.

use crate::actions::Status;
use crate::icons::{Icon, Shape};
use crate::prelude::*;
use crate::properties::Properties;

/// A message in the page.
#[component]
pub fn Alert(
    /// `title`, `content` and `status`.
    #[prop(into)]
    properties: Properties,
) -> AnyView {
    let status = move || Status::read(properties.text("status").as_deref());
    let line = move |key: &'static str, class: &'static str| {
        let there = Memo::new(move |_| properties.text(key).is_some_and(|text| !text.is_empty()));
        (move || {
            let line = || view! { <p class=class dir="auto">{move || properties.text(key).unwrap_or_default()}</p> };
            there.get().then(|| line().into_any())
        })
        .into_any()
    };
    view! {
        // A status and not an alert: it is part of the page, and read out when it changes.
        <div class="cw-alert" role="status" data-status=move || Some(status().name().to_owned())>
            {move || status_icon(status())}
            <div class="cw-alert-text">
                {line("title", "cw-alert-title")}
                {line("content", "cw-alert-content")}
            </div>
        </div>
    }
    .into_any()
}

/// The icon of a kind of message.
pub(crate) fn status_icon(status: Status) -> AnyView {
    let of = match status {
        Status::Info => Shape::Info,
        Status::Success => Shape::Check,
        Status::Warning | Status::Error => Shape::Warning,
    };
    view! { <Icon of /> }.into_any()
}
