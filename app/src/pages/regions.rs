//! The regions of a page.

use super::agent_changes::AgentChanges;
use super::drawer::{CONTENT, CONVERSATIONS, DrawerHead, close_drawers};
use super::layout::{Layout, Region};
use crate::blocks::Blocks;
use crate::chat_context::ChatContext;
use crate::prelude::*;
use crate::texts::{Text, t};
use leptos::ev;

/// The names of the regions that the page has beside its main one. Without a chat the content is the main one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegionNames {
    /// Of the conversations.
    pub conversations: Option<String>,
    /// Of the content beside a chat.
    pub content: Option<String>,
}

/// What stands in the regions of a page.
#[derive(Default)]
pub struct Parts {
    /// Lists of conversations.
    pub conversations: Option<Part>,
    /// Everything else: forms, texts.
    pub content: Option<Part>,
    /// Chats.
    pub chat: Option<Part>,
    /// Chats in drawers: they stand over the page.
    pub drawers: Option<Part>,
    /// What the content is called where it is a drawer.
    pub content_title: Option<String>,
}

/// What stands in one region.
pub struct Part {
    /// The view.
    pub view: AnyView,
    /// Its part of the width in twelfths, if it should not have the usual one.
    pub share: Option<u8>,
}

impl Part {
    /// A view with the usual width.
    pub fn new(view: impl IntoAny) -> Self {
        Self { view: view.into_any(), share: None }
    }
}

impl Parts {
    /// The blocks of a page of the config.
    pub(crate) fn of(layout: Layout) -> Self {
        let content_title = layout.content_title().map(str::to_owned);
        let part = |region: Region| {
            let Region { blocks, share } = region;
            (!blocks.is_empty()).then(|| Part { view: view! { <Blocks blocks /> }.into_any(), share })
        };
        Self {
            conversations: part(layout.conversations),
            content: part(layout.content),
            chat: part(layout.chat),
            drawers: part(layout.drawers),
            content_title,
        }
    }
}

impl RegionNames {
    /// The names of the regions.
    pub fn of(parts: &Parts) -> Self {
        let beside = parts.chat.is_some() && parts.content.is_some();
        Self {
            conversations: parts.conversations.is_some().then(|| t(Text::Conversations).to_owned()),
            content: beside.then(|| parts.content_title.clone().unwrap_or_else(|| t(Text::Form).to_owned())),
        }
    }
}

/// Conversations, content and chat: columns that scroll by themselves; on a narrow screen the chat, with the others as drawers.
#[component]
pub fn Regions(
    /// What stands in them.
    parts: Parts,
    /// What they are called.
    names: RegionNames,
) -> AnyView {
    // An open drawer would stay on top of the columns that replace it; beside a chat that takes the page there are none.
    let fills_page = use_context::<ChatContext>().map(|chat| chat.fills_page);
    Effect::new(move |_| {
        let resized = window_event_listener(ev::resize, move |_| {
            let wide = window().match_media("(min-width: 800px)").ok().flatten();
            let has_columns = fills_page.is_none_or(|fills_page| !fills_page.get_untracked());
            if has_columns && wide.is_some_and(|query| query.matches()) {
                close_drawers();
            }
        });
        on_cleanup(move || resized.remove());
    });
    let Parts { conversations, content, chat, drawers, .. } = parts;
    let main_class = class("cw-main", main_share(&[&content, &chat]));
    let content = content.map(|content| match names.content {
        Some(name) => {
            view! {
                <section id=CONTENT class=class("cw-region cw-region-content", content.share) popover="auto" tabindex="-1" aria-label=name>
                    <DrawerHead drawer=CONTENT name=name.clone() />
                    <div class="cw-content">{content.view}</div>
                    <AgentChanges />
                </section>
            }
            .into_any()
        }
        None => {
            view! {
                <div class="cw-region cw-region-document">
                    <div class="cw-content">{content.view}</div>
                </div>
            }
            .into_any()
        }
    });
    let chat = chat.map(|chat| {
        view! {
            <section class=class("cw-region cw-region-chat", chat.share) aria-label=t(Text::Chat)>
                {chat.view}
            </section>
        }
        .into_any()
    });
    let conversations = conversations.zip(names.conversations).map(|(conversations, name)| {
        view! {
            <nav id=CONVERSATIONS class=class("cw-region cw-region-conversations", conversations.share) popover="auto" aria-label=name>
                <DrawerHead drawer=CONVERSATIONS name=name.clone() />
                {conversations.view}
            </nav>
        }
        .into_any()
    });
    view! {
        <div class="cw-regions">
            {conversations}
            <main id="cw-main" class=main_class tabindex="-1">
                {content}
                {chat}
            </main>
            {drawers.map(|drawers| drawers.view)}
        </div>
    }
    .into_any()
}

/// The part of the width that the main region has beside the list of conversations: that of what stands in it.
fn main_share(parts: &[&Option<Part>]) -> Option<u8> {
    let shares = parts.iter().filter_map(|part| part.as_ref()?.share);
    shares.reduce(u8::saturating_add)
}

/// The classes of a region; its share of the width is a class too, because a content security policy forbids inline styles.
fn class(classes: &str, share: Option<u8>) -> String {
    match share {
        Some(share) => format!("{classes} cw-share-{}", share.min(12)),
        None => classes.to_owned(),
    }
}
