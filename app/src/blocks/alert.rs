//! The block `Alert`, and the icon that messages share with it.

use crate::actions::MessageStatus;
use crate::prelude::*;
use crate::properties::Properties;
use crate::ui::icons::{Icon, Shape};
use wire::page::AlertProperties;

/// An alert: a message that is part of the page.
#[component]
pub fn Alert(
    /// `title`, `content` and `status`.
    #[prop(into)]
    properties: Properties,
) -> AnyView {
    let own = move || properties.get::<AlertProperties>();
    let status = move || own().status;
    let line = move |text: fn(AlertProperties) -> Option<String>, class: &'static str| {
        let there = Memo::new(move |_| text(own()).is_some_and(|text| !text.is_empty()));
        (move || {
            let line = || view! { <p class=class dir="auto">{move || text(own()).unwrap_or_default()}</p> };
            there.get().then(|| line().into_any())
        })
        .into_any()
    };
    view! {
        // `role="status"` and not `alert`: it is part of the page, and is only read out when it
        // changes.
        <div class="cw-alert" role="status" data-status=move || Some(status().name().to_owned())>
            {move || status_icon(status())}
            <div class="cw-alert-text">
                {line(|own| own.title, "cw-alert-title")}
                {line(|own| own.content, "cw-alert-content")}
            </div>
        </div>
    }
    .into_any()
}

/// Renders the icon of a message's status.
pub(crate) fn status_icon(status: MessageStatus) -> AnyView {
    let of = match status {
        MessageStatus::Info => Shape::INFO,
        MessageStatus::Success => Shape::CHECK,
        MessageStatus::Warning | MessageStatus::Error => Shape::WARNING,
    };
    view! { <Icon of /> }.into_any()
}
