//! The HTML document around the app.

use crate::App;
use crate::context::{EmbedContext, GuideLinks, HasHome, ReaderId};
use crate::pages::{RustParts, account};
use crate::texts::{Text, Texts, t};
use crate::ui::image_origins::ImageOrigins;
#[cfg(feature = "ssr")]
use crate::upload_origins::UploadOrigins;
use leptos::prelude::*;
use leptos_meta::MetaTags;

/// Renders the whole document. `theme.js` runs before the first paint, so that a chosen theme does
/// not flash; `early.js` keeps messages that are sent before hydration. Both are files and not
/// inline scripts, so that the content security policy can forbid inline scripts. `parts` is what the
/// program adds to the UI.
pub fn shell(options: LeptosOptions, parts: RustParts) -> impl IntoView {
    let (lang, dir, locale) = document_language();
    // `Address` leaves links to the home page to the browser.
    let home = use_context::<HasHome>().map(|_| "");
    view! {
        <!DOCTYPE html>
        <html lang=lang dir=dir data-home=home>
            <head>
                <meta charset="utf-8" />
                {locale}
                {reader_meta()}
                {image_origins_meta()}
                {account::meta()}
                <meta name="viewport" content="width=device-width, initial-scale=1, interactive-widget=resizes-content" />
                <meta name="color-scheme" content="light dark" />
                // Other sites get no referrer. This one needs it: without `Sec-Fetch-Site`, the
                // sign-out form is verified by its `Origin` header, which browsers omit where no
                // referrer may be sent.
                <meta name="referrer" content="same-origin" />
                <script src="/assets/theme.js"></script>
                <script src="/assets/early.js"></script>
                <link rel="stylesheet" href="/pkg/chatwright.css" />
                <link rel="icon" href="/assets/favicon.svg" type="image/svg+xml" />
                <link rel="manifest" href="/assets/manifest.webmanifest" crossorigin="use-credentials" />
                <script src="/assets/stopped.js" type="module"></script>
                <script src="/assets/changes.js" type="module"></script>
                <HydrationScripts options />
                // The loader of the chunks. The app's script imports it, and it should be fetched
                // at the same time.
                <link rel="modulepreload" href="/pkg/chatwright-chunks.js" />
                <MetaTags />
            </head>
            <body>
                <App pages=parts.pages blocks=parts.blocks />
                {guide()}
                {script_notice()}
                {changed_template()}
                {stopped_template()}
            </body>
        </html>
    }
}

/// Renders the whole document of a chat in a frame on another site's page. Its script runs before
/// the app's: it adds the user's identity to all requests.
pub fn embedded_shell(options: LeptosOptions, parts: RustParts, frame: EmbedContext) -> impl IntoView {
    let (lang, dir, locale) = document_language();
    view! {
        <!DOCTYPE html>
        <html lang=lang dir=dir>
            <head>
                <meta charset="utf-8" />
                {locale}
                {reader_meta()}
                {image_origins_meta()}
                <meta name="viewport" content="width=device-width, initial-scale=1, interactive-widget=resizes-content" />
                <meta name="color-scheme" content="light dark" />
                <meta name="referrer" content="no-referrer" />
                <script src="/assets/embed-frame.js" data-visitor=frame.visitor_token></script>
                <script src="/assets/early.js"></script>
                <link rel="stylesheet" href="/pkg/chatwright.css" />
                <script src="/assets/stopped.js" type="module"></script>
                <HydrationScripts options />
                <link rel="modulepreload" href="/pkg/chatwright-chunks.js" />
                <MetaTags />
            </head>
            <body>
                <App pages=parts.pages blocks=parts.blocks />
                {script_notice()}
                {stopped_template()}
            </body>
        </html>
    }
}

/// Returns the allowed image origins for the browser; see [`ImageOrigins`].
fn image_origins_meta() -> Option<impl IntoView> {
    let pictures = use_context::<ImageOrigins>().filter(|pictures| !pictures.0.is_empty());
    pictures.map(|pictures| view! { <meta name="pictures" content=pictures.joined() /> })
}

/// The style of the links of a guide: in the middle of the bar, and on a narrow screen below the page. It is part of
/// the documents that have them, so that other pages do not load it.
const GUIDE_STYLE: &str = ".cw-guide{position:fixed;z-index:4;inset:0 9rem auto auto;display:flex;gap:1.25rem;align-items:center;\
    justify-content:center;block-size:3.25rem;pointer-events:none;font-size:.875rem}\
    .cw-guide a{padding-block:.375rem;pointer-events:auto;color:var(--cw-muted);white-space:nowrap}\
    .cw-guide [aria-current]{color:var(--cw-text)}\
    @media (max-width:49.99rem){.cw-page{padding-block-end:2.5rem}.cw-guide{inset:auto 0 0;block-size:2.5rem}}";

/// Renders the links of a guide, and the steps of its tour if they were asked for. They are outside of the app and
/// load pages anew, so the browser needs no code for them.
fn guide() -> Option<impl IntoView> {
    let GuideLinks { links, current, card } = use_context::<GuideLinks>()?;
    let link = |(href, title): (String, String)| {
        let mark = (current.as_ref() == Some(&href)).then_some("page");
        view! { <a href=href rel="external" aria-current=mark>{title}</a> }
    };
    let links: Vec<_> = links.into_iter().map(link).collect();
    let card = card.map(|card| {
        view! {
            <template id="cw-tour" data-tour=card></template>
            <script type="module" src="/assets/lazy/tour.js"></script>
        }
    });
    Some(view! {
        <style nonce=use_nonce()>{GUIDE_STYLE}</style>
        <nav class="cw-guide" aria-label=t(Text::HomePages)>
            {links}
        </nav>
        {card}
    })
}

/// Renders the message that `stopped.js` shows after a panic, which stops all of the app's code in
/// the browser. The texts are part of the document, because that code cannot provide them any more.
fn stopped_template() -> impl IntoView {
    // For `installed.js`, whose page without a server is in English without it.
    let offline = use_context::<Texts>().map(|_| t(Text::Offline));
    view! {
        <template id="cw-stopped" data-offline=offline>
            <section class="cw-changed cw-stopped" role="alert">
                <strong>{t(Text::StoppedTitle)}</strong>
                <span data-when="once">{t(Text::StoppedAbout)}</span>
                <span data-when="again">{t(Text::StoppedAgain)}</span>
                <p class="cw-stopped-ways">
                    <a class="cw-button" data-to="again" href="">
                        {t(Text::StoppedReload)}
                    </a>
                    <a class="cw-button" data-to="read" data-when="again" href="">
                        {t(Text::StoppedRead)}
                    </a>
                    <a class="cw-button" data-to="new" data-when="again" href="">
                        {t(Text::NewConversation)}
                    </a>
                </p>
            </section>
        </template>
    }
}

/// Renders what a browser without scripts shows: the page looks complete, but nothing in it works.
fn script_notice() -> impl IntoView {
    view! { <noscript><p class="cw-changed">{t(Text::NeedsScript)}</p></noscript> }
}

/// Renders the message that `changes.js` shows when the config has changed an open page.
fn changed_template() -> impl IntoView {
    view! {
        <template id="cw-changed">
            <section class="cw-changed">
                <span>{t(Text::PageChanged)}</span>
                <button type="button" class="cw-button" data-do="reload">
                    {t(Text::Reload)}
                </button>
                <button type="button" class="cw-link" data-do="dismiss">
                    {t(Text::Dismiss)}
                </button>
            </section>
        </template>
    }
}

/// Returns the id of the user for the browser; see [`ReaderId`].
fn reader_meta() -> Option<impl IntoView> {
    use_context::<ReaderId>().map(|ReaderId(mark)| view! { <meta name="reader" content=mark /> })
}

/// Returns the language and the direction of the document, and its texts for the browser unless
/// they are English.
fn document_language() -> (&'static str, Option<&'static str>, Option<impl IntoView>) {
    let texts = use_context::<Texts>();
    let words = texts.as_ref().map(|texts| view! { <meta name="locale" content=texts.to_meta_content() /> });
    let language = texts.as_ref().and_then(Texts::language).unwrap_or("en");
    (language, texts.as_ref().and_then(Texts::direction), words)
}

/// Sets the content security policy of the page, and lets it use the microphone. The policy allows only our own scripts, and from other
/// hosts only images of the configured origins and uploads to the configured storages. The one
/// inline script, which loads the WASM, and the style with a chat's size carry the response's
/// nonce. Images may be `data:` and `blob:` URLs for attached files; text of a model never becomes
/// an image of another host, see [`crate::markdown`].
#[cfg(feature = "ssr")]
pub(crate) fn set_content_security_policy() {
    let (Some(nonce), Some(response)) = (use_nonce(), use_context::<leptos_axum::ResponseOptions>()) else {
        return;
    };
    let ancestors =
        use_context::<EmbedContext>().map_or_else(|| "'none'".to_owned(), |frame| format!("'self' {}", frame.origin));
    let with = |own: &[&'static str], sites: &[String]| {
        own.iter().copied().chain(sites.iter().map(String::as_str)).collect::<Vec<_>>().join(" ")
    };
    let pictures = with(&["'self'", "data:", "blob:"], &use_context::<ImageOrigins>().unwrap_or_default().0);
    let reached = with(&["'self'"], &use_context::<UploadOrigins>().unwrap_or_default().0);
    let policy = format!(
        "default-src 'self'; script-src 'self' 'nonce-{nonce}' 'wasm-unsafe-eval'; style-src 'self' 'nonce-{nonce}'; \
         connect-src {reached}; img-src {pictures}; media-src 'self' data:; object-src 'none'; base-uri 'none'; \
         form-action 'self'; frame-ancestors {ancestors}"
    );
    if let Ok(policy) = http::HeaderValue::from_str(&policy) {
        response.insert_header(http::header::CONTENT_SECURITY_POLICY, policy);
    }
    // A page may contain a chat with dictation. Every other response of the server refuses the microphone.
    let permissions = http::HeaderValue::from_static("microphone=(self)");
    response.insert_header(http::HeaderName::from_static("permissions-policy"), permissions);
}
