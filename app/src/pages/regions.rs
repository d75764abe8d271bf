//! The regions of a page.

use super::agent_changes::AgentChanges;
use super::drawer::{CONTENT_DRAWER, CONVERSATIONS_DRAWER, DrawerHead, close_drawers};
use super::layout::{PageLayout, Region};
use crate::blocks::Blocks;
use crate::blocks::columns::{WHOLE, share_class};
use crate::chat_context::ChatContext;
use crate::prelude::*;
use crate::texts::{Text, t};
use leptos::ev;

/// The names of the regions beside the main one. Without a chat, the content is the main region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegionNames {
    /// The name of the list of conversations.
    pub conversations: Option<String>,
    /// The name of the content beside a chat.
    pub content: Option<String>,
}

/// The contents of the regions of a page.
#[derive(Default)]
pub struct PageRegions {
    /// Lists of conversations.
    pub conversations: Option<RegionView>,
    /// Everything else, such as forms and texts.
    pub content: Option<RegionView>,
    /// Chats.
    pub chat: Option<RegionView>,
    /// Chats that are shown in drawers over the page.
    pub drawers: Option<RegionView>,
    /// The name of the content where it is a drawer.
    pub content_title: Option<String>,
}

/// The content of one region.
pub struct RegionView {
    /// The view.
    pub view: AnyView,
    /// The region's share of the width in ten thousandths; `None` for the default width.
    pub share: Option<u16>,
}

impl RegionView {
    /// Creates the content of a region with the default width.
    pub fn new(view: impl IntoAny) -> Self {
        Self { view: view.into_any(), share: None }
    }
}

impl PageRegions {
    /// Renders the blocks of a page of the config.
    pub(crate) fn from_layout(layout: PageLayout) -> Self {
        let content_title = layout.content_title().map(str::to_owned);
        let part = |region: Region| {
            let Region { blocks, share, .. } = region;
            (!blocks.is_empty()).then(|| RegionView { view: view! { <Blocks blocks /> }.into_any(), share })
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
    /// Returns the names of the regions that the page has.
    pub fn for_regions(regions: &PageRegions) -> Self {
        let beside = regions.chat.is_some() && regions.content.is_some();
        Self {
            conversations: regions.conversations.is_some().then(|| t(Text::Conversations).to_owned()),
            content: beside.then(|| regions.content_title.clone().unwrap_or_else(|| t(Text::Form).to_owned())),
        }
    }
}

/// Shows conversations, content and chat: as columns that scroll independently; on a narrow screen
/// as the chat with the others in drawers.
#[component]
pub fn Regions(
    /// The contents of the regions.
    regions: PageRegions,
    /// The names of the regions.
    names: RegionNames,
) -> AnyView {
    // Drawers are closed when the columns replace them, which they would otherwise cover. While a
    // chat fills the page there are no columns.
    let fills_page = use_context::<ChatContext>().map(|chat| chat.fills_page);
    Effect::new(move |_| {
        let resized = window_event_listener(ev::resize, move |_| {
            let wide = window().match_media("(min-width: 50rem)").ok().flatten();
            let has_columns = fills_page.is_none_or(|fills_page| !fills_page.get_untracked());
            if has_columns && wide.is_some_and(|query| query.matches()) {
                close_drawers();
            }
        });
        on_cleanup(move || resized.remove());
    });
    let PageRegions { conversations, content, chat, drawers, .. } = regions;
    let main_class = region_class("cw-main", main_share(conversations.as_ref(), &[&content, &chat]));
    let content = content.map(|content| match names.content {
        Some(name) => {
            view! {
                <section id=CONTENT_DRAWER class=region_class("cw-region cw-region-content", content.share) popover="auto" tabindex="-1" aria-label=name>
                    <DrawerHead drawer=CONTENT_DRAWER name=name.clone() />
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
            <section class=region_class("cw-region cw-region-chat", chat.share) aria-label=t(Text::Chat)>
                {chat.view}
            </section>
        }
        .into_any()
    });
    let conversations = conversations.zip(names.conversations).map(|(conversations, name)| {
        view! {
            <nav id=CONVERSATIONS_DRAWER class=region_class("cw-region cw-region-conversations", conversations.share) popover="auto" aria-label=name>
                <DrawerHead drawer=CONVERSATIONS_DRAWER name=name.clone() />
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

/// Returns the main region's share of the width beside the list of conversations: the sum of the
/// shares of its parts, and no more than the list leaves, since a column may hold two parts.
fn main_share(list: Option<&RegionView>, parts: &[&Option<RegionView>]) -> Option<u16> {
    let shares = parts.iter().filter_map(|part| part.as_ref()?.share);
    let left = list.and_then(|list| list.share).map_or(u16::MAX, |list| WHOLE.saturating_sub(list).max(1));
    Some(shares.reduce(u16::saturating_add)?.min(left))
}

/// Returns the classes of a region, including those of its share of the width.
fn region_class(classes: &str, share: Option<u16>) -> String {
    share.map_or_else(|| classes.to_owned(), |share| share_class(classes, share))
}

#[cfg(all(test, feature = "ssr"))]
mod tests {
    use super::*;

    #[test]
    fn main_region_takes_the_shares_of_its_parts() {
        let check = |list: Option<u16>, content: Option<u16>, chat: Option<u16>, expected: Option<u16>| {
            let part = |share| Some(RegionView { share, ..RegionView::new(()) });
            let main = main_share(part(list).as_ref(), &[&part(content), &part(chat)]);
            assert_eq!(main, expected, "{list:?} {content:?} {chat:?}");
        };
        check(None, None, None, None);
        check(Some(2000), None, None, None);
        check(Some(2000), Some(3000), Some(5000), Some(8000));
        check(Some(2000), None, Some(8000), Some(8000));
        check(None, Some(5000), Some(5000), Some(10_000));
        // The last column holds content and chat.
        check(Some(2000), Some(8000), Some(4000), Some(8000));
    }
}
