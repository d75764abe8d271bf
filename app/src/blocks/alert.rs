//! The block `Alert`, and what looks like it.

use crate::actions::Status;
use crate::erase::{Erase, Erased, attribute, dynamic, optional, text};
use crate::icons::{Icon, Shape};
use crate::prelude::*;
use crate::properties::Properties;
use crate::reactive::Memo;

/// A message in the page.
#[component]
pub fn Alert(
    /// `title`, `content` and `status`.
    #[prop(into)]
    properties: Properties,
) -> Erased {
    let status = move || Status::read(properties.text("status").as_deref());
    let line = move |key: &'static str, class: &'static str| {
        let there = Memo::new(move |_| properties.text(key).is_some_and(|text| !text.is_empty()));
        optional(move || {
            let line =
                || view! { <p class=class dir="auto">{text(move || properties.text(key).unwrap_or_default())}</p> };
            there.get().then(|| line().erase())
        })
    };
    view! {
        // A status and not an alert: it is part of the page, and read out when it changes.
        <div class="cw-alert" role="status" data-status=attribute(move || Some(status().name().to_owned()))>
            {dynamic(move || status_icon(status()))}
            <div class="cw-alert-text">
                {line("title", "cw-alert-title")}
                {line("content", "cw-alert-content")}
            </div>
        </div>
    }
    .erase()
}

/// The icon of a kind of message.
pub(crate) fn status_icon(status: Status) -> Erased {
    let of = match status {
        Status::Info => Shape::Info,
        Status::Success => Shape::Check,
        Status::Warning | Status::Error => Shape::Warning,
    };
    view! { <Icon of /> }.erase()
}
