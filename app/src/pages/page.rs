//! Loads and renders a page of the config.

use super::account::AccountMenu;
use super::announcer::Announcer;
use super::bar::Bar;
use super::current_page::CurrentPage;
use super::layout::PageLayout;
use super::missing::MissingPage;
use super::notices::Notices;
use super::regions::{PageRegions, RegionNames, Regions};
use super::rust_page::RustParts;
#[cfg(not(feature = "ssr"))]
use crate::actions::MessageStatus;
use crate::actions::{Actions, BlockEvents};
use crate::address::Address;
use crate::agent_chat::chunk_tables::FRAMES;
use crate::api::{ApiError, ServerData, load_page};
use crate::chat_context::ChatContext;
#[cfg(not(feature = "ssr"))]
use crate::chunks::LoadFailure;
use crate::page_state::{PageState, label_from_id};
use crate::palette::{PaletteState, palette};
use crate::prelude::*;
use crate::scope::{load_operators, request_operators, scope_for};
use crate::texts::{Text, error_text, fill, t};
use crate::title::DocumentTitle;
use serde_json::Value;
#[cfg(not(feature = "ssr"))]
use std::sync::Arc;
use wire::error::ErrorCode;
use wire::page::Page;

/// Loads the page of the current address and shows it.
#[component]
pub fn PageRoute(
    /// The page's id; without one, the config's first page.
    id: Signal<Option<String>>,
    /// Shows only a chat, for embedding in another site: the one with this agent, or the first one.
    embedded: Option<Option<String>>,
) -> AnyView {
    let load = |id| async move {
        let page = load_page(id).await?;
        load_operators(&page).await;
        Ok(page)
    };
    ServerData::new(move || (0, id.get()), load, false).view(move |page| match page {
        Ok(page) => {
            request_operators(&page);
            match embedded.clone() {
                Some(agent) => FRAMES.view(move |code| (code.embedded)(page.clone(), agent.as_deref())),
                None => view! { <PageView page /> }.into_any(),
            }
        }
        Err(error) if error.code() == ErrorCode::NotFound => view! { <MissingPage /> }.into_any(),
        Err(error) => view! { <FailedPage error /> }.into_any(),
    })
}

/// Renders a page: its regions, with the state that its blocks share.
#[component]
fn PageView(page: Page) -> AnyView {
    let title = page.title.clone().unwrap_or_else(|| label_from_id(&page.id));
    let (blocks, events) = (page.blocks.clone(), page.events.clone());
    let in_rust = expect_context::<RustParts>().content(&page.id);
    provide_page(page);
    let regions = match in_rust {
        Some(content) => content(),
        None => PageRegions::from_layout(PageLayout::new(blocks)),
    };
    let events = BlockEvents::from_config(events);
    // Runs after hydration only, since effects do not run on the server.
    Effect::new(move |_| events.emit("onInit", Value::Null));
    view! { <PageFrame title regions /> }.into_any()
}

/// The frame of a page: the bar, the regions, and the messages above them.
#[component]
pub fn PageFrame(
    /// The page's title.
    title: String,
    /// The contents of the regions.
    regions: PageRegions,
) -> AnyView {
    let dialogs = palette(PaletteState::provide());
    let names = RegionNames::for_regions(&regions);
    let fills_page = use_context::<ChatContext>().map(|chat| chat.fills_page);
    let is_whole = move || fills_page.is_some_and(|fills_page| fills_page.get());
    view! {
        <DocumentTitle text=tab_title(title.clone()) />
        <div class="cw-page" class:cw-page-chat=is_whole>
            <a class="cw-skip" href="#cw-main">
                {t(Text::SkipToContent)}
            </a>
            <Bar title names=names.clone() />
            <Regions regions names />
            <Announcer />
            <Notices />
            {dialogs}
        </div>
    }
    .into_any()
}

/// Returns the title of the browser tab: how much waits for the user, if anything, the title of the
/// open conversation, if any, and that of the page.
fn tab_title(page: String) -> Signal<String> {
    let chat = use_context::<ChatContext>();
    Signal::derive(move || {
        let title = match chat.and_then(|chat| chat.title.get()) {
            Some(title) => fill(Text::TitleOnPage, &[&title, &page]),
            None => page.clone(),
        };
        match chat.map_or(0, |chat| chat.waiting()) {
            0 => title,
            count => ["(", &count.to_string(), ") ", &title].concat(),
        }
    })
}

/// Provides the contexts of a page: its state, its actions and the selected conversation. Inputs
/// that the page does not name declare their keys themselves. Needs an [`Address`] in the context.
pub fn provide_page(page: Page) {
    let address = expect_context::<Address>();
    let url_query = untrack(|| address.parameters());
    let evaluate = |value: &Value| {
        let scope = operators::Scope { url_query: Some(&url_query), ..untrack(|| scope_for(value)) };
        operators::evaluate(value, &scope).unwrap_or_default()
    };
    provide_context(PageState::new(&page, evaluate));
    provide_context(ChatContext::new(address));
    let actions = Actions::new(page.id.clone());
    provide_context(actions);
    #[cfg(not(feature = "ssr"))]
    provide_context(LoadFailure(Arc::new(move || {
        actions.notify(t(Text::PartMissingReload).to_owned(), MessageStatus::Error, None);
    })));
    provide_context(CurrentPage(StoredValue::new(page)));
}

/// The page that is shown when the requested one could not be loaded.
#[component]
fn FailedPage(error: ApiError) -> AnyView {
    #[cfg(feature = "ssr")]
    if let Some(response) = use_context::<leptos_axum::ResponseOptions>()
        && let Ok(status) = http::StatusCode::from_u16(error.code().status())
    {
        response.set_status(status);
    }
    view! {
        <DocumentTitle text=t(Text::NotAvailable).to_owned() />
        <header class="cw-account-corner">
            <AccountMenu />
        </header>
        <main class="cw-message-page">
            <h1>{t(Text::PageNotAvailable)}</h1>
            <p>{error_text(&error.0)}</p>
            <p>
                <a class="cw-button" href="" rel="external">
                    {t(Text::TryAgain)}
                </a>
            </p>
        </main>
    }
    .into_any()
}
