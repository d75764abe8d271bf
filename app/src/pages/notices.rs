//! The messages that actions show for a moment.

use crate::actions::{Actions, Notice, Status};
use crate::blocks::alert::status_icon;
use crate::erase::{Erase, handler};
use crate::icons::{Icon, Shape};
use leptos::prelude::*;

/// At the lower edge, over everything; read out as they come.
#[component]
pub fn Notices() -> impl IntoView {
    let actions = expect_context::<Actions>();
    let notice = move |notice: Notice| {
        let Notice { number, text, status } = notice;
        let dismiss = move |_| actions.dismiss(number);
        view! {
            <li class="cw-toast" data-status=status.name()>
                {status_icon(status)}
                <p dir="auto">
                    {(status == Status::Error).then(|| view! { <span class="cw-visually-hidden">"Error: "</span> })}
                    {text}
                </p>
                <button type="button" class="cw-icon-button" aria-label="Dismiss" on:click=handler(dismiss)>
                    <Icon of=Shape::Close />
                </button>
            </li>
        }
        .erase()
    };
    view! {
        <ul class="cw-toasts" role="status">
            <For each=move || actions.notices() key=|notice| notice.number children=notice />
        </ul>
    }
    .erase()
}
