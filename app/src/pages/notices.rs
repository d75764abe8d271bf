//! The temporary messages that actions show.

use crate::actions::{Actions, Notice};
use crate::blocks::alert::status_icon;
use crate::prelude::*;
use crate::texts::{Text, t};
use crate::ui::icons::{Icon, Shape};
use leptos::html;

/// Shows the messages below the bar, above everything else. Screen readers get them from the page's
/// announcer, because a live region that was just hidden is not read out. A popover, so that it can
/// be shown above an open drawer, which is a popover too.
#[component]
pub fn Notices() -> AnyView {
    let actions = expect_context::<Actions>();
    let popover = NodeRef::<html::Ul>::new();
    Effect::new(move |_| {
        let some = !actions.notices().is_empty();
        let Some(popover) = popover.get() else { return };
        // Hiding and showing it moves it to the top. Hiding fails if it is hidden already, and in
        // browsers without popovers, which always show it.
        let _ = popover.hide_popover();
        if some {
            let _ = popover.show_popover();
        }
    });
    let notice = move |notice: Notice| notice_view(actions, notice);
    view! {
        <ul class="cw-toasts" aria-label=t(Text::Messages) popover="manual" node_ref=popover>
            <For each=move || actions.notices() key=|notice| notice.number children=notice />
        </ul>
    }
    .into_any()
}

fn notice_view(actions: Actions, notice: Notice) -> AnyView {
    let Notice { number, text, status } = notice;
    let dismiss = move |_| actions.dismiss(number);
    view! {
        <li class="cw-toast" data-status=status.name()>
            {status_icon(status)}
            <p dir="auto">{text}</p>
            <button type="button" class="cw-icon-button" aria-label=t(Text::Dismiss) on:click=dismiss>
                <Icon of=Shape::CLOSE />
            </button>
        </li>
    }
    .into_any()
}
