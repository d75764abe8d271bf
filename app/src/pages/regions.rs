//! The regions of a page.

use super::drawer::{CONTENT, CONVERSATIONS, DrawerHead, close_drawers};
use super::layout::Layout;
use crate::blocks::Blocks;
use leptos::ev;
use leptos::prelude::*;

/// The names of the regions that the page has beside its main one. Without a chat the content is the main one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegionNames {
    /// Of the conversations.
    pub conversations: Option<String>,
    /// Of the content beside a chat.
    pub content: Option<String>,
}

impl RegionNames {
    /// The names of a layout's regions.
    pub fn of(layout: &Layout) -> Self {
        let beside = !layout.chat.is_empty() && !layout.content.is_empty();
        Self {
            conversations: (!layout.conversations.is_empty()).then(|| "Conversations".to_owned()),
            content: beside.then(|| layout.content_title().unwrap_or("Form").to_owned()),
        }
    }
}

/// Conversations, content and chat: columns that scroll by themselves; on a narrow screen the chat, with the others as drawers.
#[component]
pub fn Regions(
    /// What stands in them.
    layout: Layout,
    /// What they are called.
    names: RegionNames,
) -> impl IntoView {
    // An open drawer would stay on top of the columns that replace it.
    Effect::new(|_| {
        let resized = window_event_listener(ev::resize, |_| {
            let wide = window().match_media("(min-width: 800px)").ok().flatten();
            if wide.is_some_and(|query| query.matches()) {
                close_drawers();
            }
        });
        on_cleanup(move || resized.remove());
    });
    let Layout { conversations, content, chat } = layout;
    let chat_only = content.is_empty();
    view! {
        <div class="cw-regions">
            {names
                .conversations
                .map(|name| {
                    view! {
                        <nav id=CONVERSATIONS class="cw-region cw-region-conversations" popover="auto" aria-label=name>
                            <DrawerHead drawer=CONVERSATIONS name=name.clone() />
                            <Blocks blocks=conversations />
                        </nav>
                    }
                })}
            <main id="cw-main" class="cw-main" tabindex="-1">
                {match names.content {
                    Some(name) => {
                        view! {
                            <section id=CONTENT class="cw-region cw-region-content" popover="auto" aria-label=name>
                                <DrawerHead drawer=CONTENT name=name.clone() />
                                <div class="cw-content">
                                    <Blocks blocks=content />
                                </div>
                            </section>
                        }
                            .into_any()
                    }
                    None if chat_only => ().into_any(),
                    None => {
                        view! {
                            <div class="cw-region cw-region-document">
                                <div class="cw-content">
                                    <Blocks blocks=content />
                                </div>
                            </div>
                        }
                            .into_any()
                    }
                }}
                {(!chat.is_empty())
                    .then(|| {
                        view! {
                            <section class="cw-region cw-region-chat" aria-label="Chat">
                                <Blocks blocks=chat />
                            </section>
                        }
                    })}
            </main>
        </div>
    }
    .into_any()
}
