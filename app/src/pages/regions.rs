//! The regions of a page.

use super::agent_changes::AgentChanges;
use super::drawer::{CONTENT, CONVERSATIONS, DrawerHead, close_drawers};
use super::layout::Layout;
use crate::blocks::Blocks;
use crate::erase::Erase;
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
    let main_class = class("cw-main", content.share.zip(chat.share).map(|(content, chat)| content + chat));
    let no_content = content.is_empty();
    let has_chat = !chat.is_empty();
    view! {
        <div class="cw-regions">
            {names
                .conversations
                .map(|name| {
                    view! {
                        <nav id=CONVERSATIONS class=class("cw-region cw-region-conversations", conversations.share) popover="auto" aria-label=name>
                            <DrawerHead drawer=CONVERSATIONS name=name.clone() />
                            <Blocks blocks=conversations.blocks />
                        </nav>
                    }
                })}
            <main id="cw-main" class=main_class tabindex="-1">
                {match names.content {
                    Some(name) => {
                        view! {
                            <section id=CONTENT class=class("cw-region cw-region-content", content.share) popover="auto" tabindex="-1" aria-label=name>
                                <DrawerHead drawer=CONTENT name=name.clone() />
                                <div class="cw-content">
                                    <Blocks blocks=content.blocks />
                                </div>
                                <AgentChanges />
                            </section>
                        }
                            .erase()
                    }
                    None if no_content => ().erase(),
                    None => {
                        view! {
                            <div class="cw-region cw-region-document">
                                <div class="cw-content">
                                    <Blocks blocks=content.blocks />
                                </div>
                            </div>
                        }
                            .erase()
                    }
                }}
                {has_chat
                    .then(|| {
                        view! {
                            <section class=class("cw-region cw-region-chat", chat.share) aria-label="Chat">
                                <Blocks blocks=chat.blocks />
                            </section>
                        }
                    })}
            </main>
        </div>
    }
    .erase()
}

/// The classes of a region; its share of the width is a class too, because a content security policy forbids inline styles.
fn class(classes: &str, share: Option<u8>) -> String {
    match share {
        Some(share) => format!("{classes} cw-share-{}", share.min(12)),
        None => classes.to_owned(),
    }
}
