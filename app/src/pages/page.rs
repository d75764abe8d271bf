//! A page of the config.

use super::MissingPage;
use super::account::AccountMenu;
use super::announcer::Announcer;
use super::bar::Bar;
use super::layout::Layout;
use super::notices::Notices;
use super::regions::{Parts, RegionNames, Regions};
use super::rust_page::RustPages;
use crate::actions::{Actions, BlockEvents};
use crate::address::Address;
use crate::agent_chat::FRAMES;
use crate::api::{ApiError, Loaded, load_page};
use crate::chat_context::ChatContext;
use crate::page_state::{PageState, words};
use crate::prelude::*;
use crate::scope::{EXPRESSIONS, expressions, speaks};
use crate::texts::{Text, fill, said, t};
use crate::title::DocumentTitle;
use serde_json::Value;
use wire::error::ErrorCode;
use wire::page::Page;

/// The definition of the page around, by context.
#[derive(Clone, Copy)]
pub struct CurrentPage(pub StoredValue<Page>);

/// Loads the page of the address and shows it.
#[component]
pub fn PageRoute(
    /// The page's id; without one, the config's first page.
    id: Signal<Option<String>>,
    /// Only its chat, in a frame on another site's page: the first, or the one with this agent.
    embedded: Option<Option<String>>,
) -> AnyView {
    let load = |id| async move {
        let page = load_page(id).await?;
        if speaks(&page) {
            // Without it the page shows all that needs no expression.
            let _ = EXPRESSIONS.load().await;
        }
        Ok(page)
    };
    Loaded::new(move || (0, id.get()), load, false).view(move |page| match page {
        Ok(page) => {
            if speaks(&page) {
                EXPRESSIONS.request();
            }
            match embedded.clone() {
                Some(agent) => FRAMES.view(move |code| (code.embedded)(page.clone(), agent.as_deref())),
                None => view! { <PageView page /> }.into_any(),
            }
        }
        Err(error) if error.code() == ErrorCode::NotFound => view! { <MissingPage /> }.into_any(),
        Err(error) => view! { <FailedPage error /> }.into_any(),
    })
}

/// A page: its regions, with the state that its blocks share.
#[component]
fn PageView(page: Page) -> AnyView {
    let title = page.title.clone().unwrap_or_else(|| words(&page.id));
    let (blocks, events) = (page.blocks.clone(), page.events.clone());
    let in_rust = expect_context::<RustPages>().content(&page.id);
    provide_page(page);
    let parts = match in_rust {
        Some(content) => content(),
        None => Parts::of(Layout::new(blocks)),
    };
    let events = BlockEvents::of_config(events);
    // Once the page has come to life: there are no effects on the server.
    Effect::new(move |_| events.emit("onInit", Value::Null));
    view! { <PageFrame title parts /> }.into_any()
}

/// What stands around the regions of a page: the bar above, messages over it.
#[component]
pub fn PageFrame(
    /// The page's title.
    title: String,
    /// What stands in the regions.
    parts: Parts,
) -> AnyView {
    let names = RegionNames::of(&parts);
    let fills_page = use_context::<ChatContext>().map(|chat| chat.fills_page);
    let is_whole = move || fills_page.is_some_and(|fills_page| fills_page.get());
    view! {
        <DocumentTitle text=tab_title(title.clone()) />
        <div class="cw-page" class:cw-page-chat=is_whole>
            <a class="cw-skip" href="#cw-main">
                {t(Text::SkipToContent)}
            </a>
            <Bar title names=names.clone() />
            <Regions parts names />
            <Announcer />
            <Notices />
        </div>
    }
    .into_any()
}

/// The title of the browser's tab: that of the conversation that is open, and the page's.
fn tab_title(page: String) -> Signal<String> {
    let conversation = use_context::<ChatContext>().map(|chat| chat.title);
    Signal::derive(move || match conversation.and_then(|title| title.get()) {
        Some(title) => fill(Text::TitleOnPage, &[&title, &page]),
        None => page.clone(),
    })
}

/// Gives the components below what they share on a page: its state, its actions, the selected conversation. Inputs that the page
/// does not name make themselves known. Needs an [`Address`] in the context.
pub fn provide_page(page: Page) {
    let address = expect_context::<Address>();
    let url_query = untrack(|| address.parameters());
    let evaluate = |value: &Value| {
        let expressions = untrack(|| expressions(value));
        let scope = operators::Scope { url_query: Some(&url_query), expressions, ..operators::Scope::default() };
        operators::evaluate(value, &scope).unwrap_or_default()
    };
    provide_context(PageState::new(&page, evaluate));
    provide_context(ChatContext::new(address));
    provide_context(Actions::new(page.id.clone()));
    provide_context(CurrentPage(StoredValue::new(page)));
}

/// A page that could not be loaded.
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
            <p>{said(&error.0)}</p>
            <p>
                <a class="cw-button" href="" rel="external">
                    {t(Text::TryAgain)}
                </a>
            </p>
        </main>
    }
    .into_any()
}
