//! The embed page: composes the element with which another site shows a chat, says whether the config allows that site, and shows the
//! chat as it would look there.

mod site;
mod snippet;

use crate::state::ConsoleState;
use axum::Router;
use axum::extract::{Extension, Query, RawQuery, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use config::Config;
use leptos::prelude::*;
use site::{config_lines, origin_of};
use snippet::{EmbedSettings, EmbeddableChat, element, script};
use web::Origin;
use web::admin::filters::{field, options_field, select_field};
use web::admin::{ADMINISTRATION, Admin, page, page_with_frames};
use web::html::{account_part, error_message};
use web::openapi::ApiRouter;
use wire::page::{Block, BlockType};

const PATH: &str = "/admin/embed";
const TITLE: &str = "Embed a chat";

/// The server in the snippet if it does not know under which address browsers reach it.
const UNKNOWN_SERVER: &str = "https://chat.example.com";

/// The policy of the preview: the script of the element and the frame of the chat, shown by pages of this server only.
const PREVIEW_POLICY: &str = "default-src 'none'; script-src 'self'; frame-src 'self'; form-action 'none'; base-uri 'none'; \
                              frame-ancestors 'self'";

pub(crate) fn routes() -> ApiRouter<ConsoleState> {
    let pages = Router::new().route(PATH, get(show)).route("/admin/embed/preview", get(preview));
    ApiRouter::new(&ADMINISTRATION).with_pages(pages)
}

/// `GET /admin/embed`
async fn show(
    admin: Admin,
    State(state): State<ConsoleState>,
    origin: Option<Extension<Origin>>,
    RawQuery(raw): RawQuery,
    Query(settings): Query<EmbedSettings>,
) -> Response {
    let config = state.host.config();
    let chats = embeddable_chats(&config);
    let Some(chat) = chosen_chat(&chats, &settings) else {
        let text = "No page of the config has a chat. Pages that are written in Rust cannot be embedded.";
        return page(&admin, PATH, StatusCode::OK, TITLE, view! { <p class="cw-account-note">{text}</p> });
    };
    let server = origin.map_or_else(|| UNKNOWN_SERVER.to_owned(), |Extension(Origin(own))| own);
    let problems = settings.problems().into_iter().map(|problem| error_message(Some(problem))).collect_view();
    // Not before a chat is chosen: it is loaded like that of a user.
    let shown = (!settings.chat.is_empty()).then(|| preview_frame(raw.as_deref().unwrap_or_default()));
    let content = view! {
        <p class="cw-account-note">"Another site shows a chat of this server with a script and an element. Choose how, and copy them into its page."</p>
        {form(&settings, &chats, chat)}
        {problems}
        <section class="cw-account-part" aria-labelledby="snippet">
            <h2 id="snippet">"For the site's page"</h2>
            {code(format!("{}\n{}", script(&server), element(&settings.attributes(chat))), "Snippet")}
            <p class="cw-account-note">"If the site has a content security policy, it must allow "<code>{server.clone()}</code>" in "<code>"script-src"</code>
                " and in "<code>"frame-src"</code>"."</p>
        </section>
        {account_part("site", "The site", site_view(&config, &settings.site))}
        {shown}
    };
    page_with_frames(&admin, PATH, StatusCode::OK, TITLE, content)
}

/// `GET /admin/embed/preview`: a page with the element only.
async fn preview(_: Admin, State(state): State<ConsoleState>, Query(settings): Query<EmbedSettings>) -> Response {
    let chats = embeddable_chats(&state.host.config());
    let Some(chat) = chosen_chat(&chats, &settings) else { return StatusCode::NOT_FOUND.into_response() };
    let document = format!(
        "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\" />\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\" />\
         <meta name=\"color-scheme\" content=\"light dark\" /><title>Preview</title>{}</head><body>{}</body></html>",
        script(""),
        element(&settings.attributes(chat)),
    );
    let mut response = Html(document).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(PREVIEW_POLICY));
    headers.insert(header::X_FRAME_OPTIONS, HeaderValue::from_static("SAMEORIGIN"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// Returns the chats of the config's pages, in their order.
fn embeddable_chats(config: &Config) -> Vec<EmbeddableChat> {
    let mut chats = Vec::new();
    for page in &config.pages {
        let page = &page.definition;
        add_agents(&page.blocks, &mut |agent: &str| {
            let title = format!("{} ({agent})", page.title.as_ref().unwrap_or(&page.id));
            let chat = EmbeddableChat { page: page.id.clone(), agent: agent.to_owned(), title };
            if !chats.contains(&chat) {
                chats.push(chat);
            }
        });
    }
    chats
}

/// Calls a function with the agent of each chat among these blocks.
fn add_agents(blocks: &[Block], add: &mut impl FnMut(&str)) {
    for block in blocks {
        let agent = block.properties.get("agentId").and_then(|id| id.as_str());
        if let Some(agent) = agent.filter(|_| block.kind == BlockType::AgentChat) {
            add(agent);
        }
        add_agents(&block.blocks, add);
    }
}

/// Returns the chosen chat, or the first one.
fn chosen_chat<'a>(chats: &'a [EmbeddableChat], settings: &EmbedSettings) -> Option<&'a EmbeddableChat> {
    chats.iter().find(|chat| chat.value() == settings.chat).or(chats.first())
}

fn form(settings: &EmbedSettings, chats: &[EmbeddableChat], chosen: &EmbeddableChat) -> AnyView {
    let option = |chat: &EmbeddableChat| {
        view! { <option value=chat.value() selected={chat == chosen}>{chat.title.clone()}</option> }
    };
    let options = chats.iter().map(option).collect_view();
    view! {
        <form class="cw-admin-filter" method="get" aria-label=TITLE>
            {options_field("chat", "Chat", options)}
            {field("site", "Address of the site", "text", Some(&settings.site))}
            {select_field("display", "Shown as", settings.display)}
            {field("label", "Label", "text", Some(&settings.label))}
            {select_field("theme", "Theme", settings.theme)}
            {select_field("density", "Density", settings.density)}
            {field("accent", "Accent (colour)", "text", Some(&settings.accent))}
            {field("background", "Background (colour)", "text", Some(&settings.background))}
            {field("text", "Text (colour)", "text", Some(&settings.text))}
            {field("radius", "Radius of corners", "text", Some(&settings.radius))}
            {field("font", "Fonts", "text", Some(&settings.font))}
            <button class="cw-button">"Show"</button>
        </form>
    }
    .into_any()
}

/// Says whether the config allows the site, and which lines allow it.
fn site_view(config: &Config, site: &str) -> AnyView {
    let known = config.embed.as_ref().map_or(&[][..], |embed| embed.origins.as_slice());
    if site.trim().is_empty() {
        let text = match known {
            [] => "The config allows no site yet. Enter the address of the site to see what to add.".to_owned(),
            _ => format!("The config allows: {}.", known.join(", ")),
        };
        return view! { <p class="cw-account-note">{text}</p> }.into_any();
    }
    let Some(origin) = origin_of(site) else {
        let text = "This is not the address of a site. Write it as in a browser, such as https://www.example.com.";
        return error_message(Some(text.to_owned())).into_any();
    };
    if known.contains(&origin) {
        return view! { <p class="cw-account-done">"The config allows "<code>{origin}</code>"."</p> }.into_any();
    }
    view! {
        <p class="cw-account-problem">"The config does not allow "<code>{origin.clone()}</code>" yet. It must say:"</p>
        {code(config_lines(known, &origin), "Lines for the config")}
    }
    .into_any()
}

fn preview_frame(query: &str) -> AnyView {
    let source = format!("/admin/embed/preview?{query}");
    view! {
        <section class="cw-account-part" aria-labelledby="preview">
            <h2 id="preview">"Preview"</h2>
            <p class="cw-account-note">"It is a real chat, in which you are the user."</p>
            <iframe class="cw-admin-preview" title="Preview of the chat" src=source></iframe>
        </section>
    }
    .into_any()
}

fn code(text: String, label: &'static str) -> AnyView {
    view! { <pre class="cw-admin-pre" tabindex="0" aria-label=label>{text}</pre> }.into_any()
}
