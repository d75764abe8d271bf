//! The conversation's messages, in a container that follows its end while the reader is there.

use super::earlier::Earlier;
use super::message::Message;
use super::message_menu::MessageMenu;
use super::message_state::MessageState;
use super::notice::Trouble;
use super::scroll::{Follow, follow_end};
use super::session::{Phase, Session};
use super::suggestions::Suggestions;
use super::thinking::Thinking;
use crate::icons::{Icon, Shape};
use crate::prelude::*;
use crate::texts::{Text, t};
use leptos::ev::KeyboardEvent;
use leptos::html;
use wire::Role;

/// The log.
#[component]
pub(super) fn Log() -> AnyView {
    let session = expect_context::<Session>();
    let scroller = NodeRef::<html::Div>::new();
    let content = NodeRef::<html::Div>::new();
    let follow = Follow::new(scroller);
    follow_end(follow, scroller, content);
    let newest_user = Memo::new(move |_| {
        session
            .messages
            .with(|all| all.iter().rfind(|message| message.role == Role::User).map(|message| message.id.clone()))
    });
    // Whoever sends something wants to see the answer.
    let mut before = newest_user.get_untracked();
    Effect::new(move |_| {
        let newest = newest_user.get();
        if before != newest && session.phase.get_untracked() == Phase::Sending {
            follow.to_end();
        }
        before = newest;
    });
    let mut wished = None;
    Effect::new(move |_| {
        let count = session.to_end.get();
        if wished.replace(count).is_some_and(|before| before != count) {
            follow.to_end();
        }
    });
    // After what draws, and in the same frame: to follow when the log has grown would take the browser a second frame for each.
    Effect::new(move |_| {
        if session.frames.get() > 0 {
            follow.keep();
        }
    });
    let earlier = Earlier::new(session, scroller);
    let message = |message: MessageState| view! { <Message message /> };
    let stop = move |event: KeyboardEvent| {
        // What has been opened in the log closes first, by itself.
        let is_open = || document().query_selector(".cw-log :popover-open").ok().flatten().is_some();
        if event.key() == "Escape" && untrack(|| session.is_busy()) && !is_open() {
            // What is around may close with it otherwise.
            event.prevent_default();
            session.stop();
        }
    };
    view! {
        <div class="cw-log-frame">
            <div
                class="cw-log"
                data-cold=follow.is_cold()
                node_ref=scroller
                role="log"
                aria-live="polite"
                aria-label=t(Text::Conversation)
                aria-busy=move || Some(session.is_answering().to_string())
                tabindex="0"
                on:scroll=move |_| {
                    follow.scrolled();
                    earlier.scrolled();
                }
                on:keydown=stop
            >
                <div class="cw-log-content" node_ref=content>
                    {earlier.button()}
                    <For each=move || earlier.shown() key=|message| message.id.clone() children=message />
                    <Thinking />
                    <Suggestions />
                    <Trouble />
                    <p class="cw-visually-hidden" aria-live="polite">
                        {move || session.announcement.get()}
                    </p>
                </div>
            </div>
            <button
                type="button"
                class="cw-jump"
                class:cw-hidden=move || follow.is_at_end()
                aria-label=t(Text::JumpToNewest)
                title=t(Text::JumpToNewest)
                on:click=move |_| follow.to_end()
            >
                <Icon of=Shape::Down />
            </button>
            <MessageMenu />
        </div>
    }
    .into_any()
}
