//! The messages of the conversation, in a container that stays scrolled to the end while the user
//! is there.

use super::citations::CitationHandlers;
use super::scroll::{ScrollFollower, follow_end};
use super::thinking::Thinking;
use super::window::MessageWindow;
use crate::agent_chat::chunk_tables::{BELOW, SESSION};
use crate::agent_chat::message::menu::MessageMenu;
use crate::agent_chat::message::notice::Trouble;
use crate::agent_chat::message::state::MessageState;
use crate::agent_chat::message::view::Message;
use crate::agent_chat::session::{Phase, Session, SessionAction};
use crate::prelude::*;
use crate::texts::{Text, t};
use crate::ui::icons::{Icon, Shape};
use leptos::ev::KeyboardEvent;
use leptos::html;
use wire::Role;

/// The log.
#[component]
pub(in crate::agent_chat) fn Log() -> AnyView {
    let session = expect_context::<Session>();
    let scroller = NodeRef::<html::Div>::new();
    let content = NodeRef::<html::Div>::new();
    let follow = ScrollFollower::new(scroller);
    follow_end(follow, scroller, content);
    let newest_user = Memo::new(move |_| {
        session
            .messages
            .with(|all| all.iter().rfind(|message| message.role == Role::User).map(|message| message.id.clone()))
    });
    // After sending, the user wants to see the answer.
    let mut before = newest_user.get_untracked();
    Effect::new(move |_| {
        let newest = newest_user.get();
        if before != newest && session.phase.get_untracked() == Phase::Sending {
            follow.scroll_to_end();
        }
        before = newest;
    });
    let mut wished = None;
    Effect::new(move |_| {
        let count = session.scroll_requests.get();
        if wished.replace(count).is_some_and(|before| before != count) {
            follow.scroll_to_end();
        }
    });
    // Runs after drawing, in the same frame. Scrolling after a resize event would cost the browser
    // a second frame each time.
    Effect::new(move |_| {
        if session.frame_count.get() > 0 {
            follow.stay_at_end();
        }
    });
    let earlier = MessageWindow::new(session, scroller);
    let message = |message: MessageState| view! { <Message message /> };
    let stop = move |event: KeyboardEvent| {
        // A popover that is open in the log closes first, by itself.
        let is_open =
            || document().query_selector(".cw-log :popover-open, .cw-cited-card:popover-open").ok().flatten().is_some();
        if event.key() == "Escape" && untrack(|| session.is_busy()) && !is_open() {
            // Otherwise Escape could close a surrounding element, such as a drawer.
            event.prevent_default();
            session.dispatch(SessionAction::Stop);
        }
    };
    let citations = CitationHandlers::new(session);
    let has_below = Memo::new(move |_| session.has_below_answer());
    let below = move || has_below.get().then(|| BELOW.view(move |code| (code.below)(session)));
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
                <div
                    class="cw-log-content"
                    node_ref=content
                    on:mouseover=move |event| citations.pointed(&event)
                    on:mouseout=move |event| citations.left(&event)
                    on:focusin=move |event| citations.focused(&event)
                    on:focusout=move |event| citations.left(&event)
                    on:click=move |event| {
                        citations.clicked(&event);
                        // The chunk was requested when the pointer or the focus came into the chat.
                        if let Some(code) = untrack(|| SESSION.get_loaded()) {
                            (code.link_clicked)(session, &event);
                        }
                    }
                >
                    {earlier.button()}
                    <For each=move || earlier.visible_messages() key=|message| message.id.clone() children=message />
                    <Thinking />
                    {below}
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
                on:click=move |_| follow.scroll_to_end()
            >
                <Icon of=Shape::DOWN />
            </button>
            <MessageMenu />
        </div>
    }
    .into_any()
}
