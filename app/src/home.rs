//! The home page: the pages and agents that the user may use, and the newest conversations. Plain
//! HTML without the app, which works without scripts.

use crate::markdown::plain_passage;
use crate::pages::account::{AccountLink, AccountMenu};
use crate::pages::bar::Logo;
use crate::prelude::*;
use crate::texts::{Text, Texts, error_text, fill, t};
use crate::ui::dates::utc_date;
use crate::ui::emblem::emblem;
use crate::ui::hidden_characters::{TextKind, visible_nodes};
use crate::ui::image_origins::ImageOrigins;
use crate::ui::node::{Node, element};
use leptos::prelude::{Owner, RenderHtml, provide_context};
use wire::UserError;
use wire::api::ConversationSummary;
use wire::organize::SearchHit;
use wire::page::PageLink;

/// The most pages that are listed; a search finds the others.
const MAX_PAGES: usize = 60;

/// The most characters of a search.
pub const MAX_QUERY: usize = 200;

/// The content of the home page.
pub struct HomeContent {
    /// The heading. `None`: the UI's own.
    pub title: Option<String>,
    /// The text below the heading.
    pub description: Option<String>,
    /// The pages that the user may open.
    pub pages: Vec<PageLink>,
    /// The words of the search. Empty for none.
    pub query: String,
    /// The newest conversations, or those that the search has found. `None` if the user can have none.
    pub conversations: Option<Result<HomeConversations, UserError>>,
}

/// The conversations of the home page.
pub enum HomeConversations {
    /// The newest ones.
    Newest(Vec<ConversationSummary>),
    /// The results of the search.
    Found(Vec<SearchHit>),
}

/// The language, the sites of pictures and the account of a request.
pub struct HomeContext {
    /// The UI texts, if they are not the English ones.
    pub texts: Option<Texts>,
    /// The sites whose pictures may be shown.
    pub pictures: ImageOrigins,
    /// The user's account.
    pub account: Option<AccountLink>,
}

/// Renders the document of the home page.
pub fn home_page(content: HomeContent, context: HomeContext) -> String {
    Owner::new().with(|| {
        let (lang, dir) = context.texts.as_ref().map_or((None, None), |texts| (texts.language(), texts.direction()));
        let (lang, dir) = (lang.unwrap_or("en"), dir.unwrap_or("ltr"));
        if let Some(texts) = context.texts {
            provide_context(texts);
        }
        if let Some(account) = context.account {
            provide_context(account);
        }
        provide_context(context.pictures);
        let title = content.title.clone().unwrap_or_else(|| t(Text::HomeTitle).to_owned());
        let document = view! {
            <!DOCTYPE html>
            <html lang=lang dir=dir>
                <head>
                    <meta charset="utf-8" />
                    <meta name="viewport" content="width=device-width, initial-scale=1" />
                    <meta name="color-scheme" content="light dark" />
                    <meta name="referrer" content="same-origin" />
                    <script src="/assets/theme.js"></script>
                    <link rel="stylesheet" href="/pkg/chatwright.css" />
                    <link rel="stylesheet" href="/pkg/documents.css" />
                    <link rel="icon" href="/assets/favicon.svg" type="image/svg+xml" />
                    <title>{title.clone()}</title>
                </head>
                <body>{body(title, content)}</body>
            </html>
        };
        document.to_html()
    })
}

fn body(title: String, content: HomeContent) -> AnyView {
    let HomeContent { title: _, description, pages, query, conversations } = content;
    let words: Vec<String> = query.to_lowercase().split_whitespace().map(str::to_owned).collect();
    let pages: Vec<_> = pages.into_iter().filter(|page| matches(page, &words)).collect();
    let found_some = match &conversations {
        Some(Ok(HomeConversations::Found(found))) => !found.is_empty(),
        other => other.is_some(),
    };
    let nothing = (!query.is_empty() && pages.is_empty() && !found_some)
        .then(|| view! { <p class="cw-home-empty">{fill(Text::HomeNoMatch, &[&query])}</p> });
    let (agents, others): (Vec<_>, Vec<_>) = pages.into_iter().partition(|page| page.is_chat);
    let description = description.map(|text| view! { <p class="cw-home-about" dir="auto">{text}</p> });
    view! {
        <a class="cw-skip" href="#cw-main">
            {t(Text::SkipToContent)}
        </a>
        <header class="cw-bar cw-home-bar">
            <a class="cw-home" href="/" aria-label=t(Text::StartPage) aria-current="page">
                <Logo />
            </a>
            <AccountMenu />
        </header>
        <main id="cw-main" class="cw-home-page" tabindex="-1">
            <header class="cw-home-head">
                <h1 dir="auto">{title}</h1>
                {description}
            </header>
            {search_form(&query)}
            <div role="status">{nothing}</div>
            {page_list("cw-home-agents", Text::HomeAgents, agents)}
            {page_list("cw-home-others", Text::HomePages, others)}
            {conversations.and_then(|conversations| conversation_section(&query, conversations))}
        </main>
    }
    .into_any()
}

/// Whether all words are in the title or in the description.
fn matches(page: &PageLink, words: &[String]) -> bool {
    let text = format!("{} {}", page.title, page.description.as_deref().unwrap_or_default()).to_lowercase();
    words.iter().all(|word| text.contains(word.as_str()))
}

fn search_form(query: &str) -> AnyView {
    let all = (!query.is_empty()).then(|| {
        view! {
            <a class="cw-button" href="/">
                {t(Text::ShowAll)}
            </a>
        }
    });
    view! {
        <form class="cw-home-search" role="search" action="/">
            <input
                class="cw-control"
                type="search"
                name="q"
                value=query.to_owned()
                aria-label=t(Text::HomeSearch)
                placeholder=t(Text::HomeSearch)
                dir="auto"
                maxlength=MAX_QUERY.to_string()
                autocomplete="off"
            />
            <button class="cw-button cw-primary">{t(Text::Search)}</button>
            {all}
        </form>
    }
    .into_any()
}

/// A heading with a list of pages; nothing if there are none.
fn page_list(id: &'static str, title: Text, pages: Vec<PageLink>) -> Option<AnyView> {
    if pages.is_empty() {
        return None;
    }
    let more = pages.len().saturating_sub(MAX_PAGES);
    let more = (more > 0).then(|| view! { <p class="cw-home-empty">{fill(Text::AndMore, &[&more.to_string()])}</p> });
    let items = pages.into_iter().take(MAX_PAGES).map(page_item).collect_view();
    Some(
        view! {
            <section aria-labelledby=id>
                <h2 id=id>{t(title)}</h2>
                <ul class="cw-home-pages">{items}</ul>
                {more}
            </section>
        }
        .into_any(),
    )
}

fn page_item(page: PageLink) -> AnyView {
    let picture = page.picture.as_deref().map(|picture| emblem(picture, "cw-home-picture")).unwrap_or_default();
    // Without a picture, the first letter is shown.
    let picture = if picture.is_empty() { vec![letter(&page.title)] } else { picture };
    let about = page.description.map(|about| view! { <span class="cw-home-page-about" dir="auto">{about}</span> });
    view! {
        <li>
            <a class="cw-home-link" href=format!("/{}", page.id)>
                {picture}
                <span class="cw-home-words">
                    <strong dir="auto">{page.title}</strong>
                    {about}
                </span>
            </a>
        </li>
    }
    .into_any()
}

/// Returns the first letter of a title, for a page without a picture.
fn letter(title: &str) -> Node {
    let first: String = title.chars().take(1).flat_map(char::to_uppercase).collect();
    element("span").attr("class", "cw-home-picture").attr("aria-hidden", "true").text(first)
}

fn conversation_section(query: &str, conversations: Result<HomeConversations, UserError>) -> Option<AnyView> {
    let (title, content) = match conversations {
        Err(error) => {
            (Text::HomeRecent, view! { <p class="cw-home-empty" role="alert">{error_text(&error)}</p> }.into_any())
        }
        Ok(HomeConversations::Newest(newest)) if newest.is_empty() => {
            (Text::HomeRecent, view! { <p class="cw-home-empty">{t(Text::HomeNoConversations)}</p> }.into_any())
        }
        Ok(HomeConversations::Newest(newest)) => {
            let items = newest.into_iter().map(|one| conversation_item(one, Vec::new())).collect_view();
            (Text::HomeRecent, view! { <ul class="cw-home-conversations">{items}</ul> }.into_any())
        }
        Ok(HomeConversations::Found(found)) if found.is_empty() && !query.is_empty() => return None,
        Ok(HomeConversations::Found(found)) => {
            let item = |hit: SearchHit| conversation_item(hit.conversation, plain_passage(&hit.passage));
            let items = found.into_iter().map(item).collect_view();
            (Text::Conversations, view! { <ul class="cw-home-conversations">{items}</ul> }.into_any())
        }
    };
    Some(
        view! {
            <section aria-labelledby="cw-home-conversations">
                <h2 id="cw-home-conversations">{t(title)}</h2>
                {content}
            </section>
        }
        .into_any(),
    )
}

/// A conversation as a link, with the words around what was found: every second piece is a match.
fn conversation_item(conversation: ConversationSummary, passage: Vec<String>) -> AnyView {
    let href = format!("/{}?conversation={}", conversation.page_id, conversation.id);
    let pieces = passage.iter().enumerate().filter(|(_, piece)| !piece.is_empty());
    let nodes: Vec<Node> = pieces
        .flat_map(|(at, piece)| match at % 2 {
            0 => visible_nodes(piece, TextKind::Prose),
            _ => vec![element("mark").children(visible_nodes(piece, TextKind::Prose))],
        })
        .collect();
    let passage = (!nodes.is_empty()).then(|| view! { <span class="cw-home-page-about" dir="auto">{nodes}</span> });
    view! {
        <li>
            <a class="cw-home-link" href=href>
                <span class="cw-home-words">
                    <strong dir="auto">{visible_nodes(&conversation.title, TextKind::Prose)}</strong>
                    {passage}
                </span>
                <span class="cw-home-when">{utc_date(conversation.updated_at)}</span>
            </a>
        </li>
    }
    .into_any()
}
