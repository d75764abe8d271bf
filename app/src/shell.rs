//! The document around the app.

use crate::App;
use crate::context::{Frame, Reader};
use crate::pages::{RustPage, account};
use crate::pictures::Pictures;
use crate::texts::{Text, Texts, t};
#[cfg(feature = "ssr")]
use crate::uploads::Uploads;
use leptos::prelude::*;
use leptos_meta::MetaTags;

/// The whole document. `theme.js` runs before the first paint, so that a chosen theme does not flash; `early.js` keeps what is sent
/// before the page has come to life. Both are files and not inline scripts, so that a content security policy may forbid those.
/// `pages` are those whose content is written in Rust.
pub fn shell(options: LeptosOptions, pages: &'static [RustPage]) -> impl IntoView {
    let (lang, dir, locale) = spoken();
    view! {
        <!DOCTYPE html>
        <html lang=lang dir=dir>
            <head>
                <meta charset="utf-8" />
                {locale}
                {reader()}
                {pictures()}
                {account::meta()}
                <meta name="viewport" content="width=device-width, initial-scale=1, interactive-widget=resizes-content" />
                <meta name="color-scheme" content="light dark" />
                // Other sites learn nothing. This one must: without `Sec-Fetch-Site`, a form that signs out is known by its `Origin`, which
                // browsers leave out where no referrer may be sent.
                <meta name="referrer" content="same-origin" />
                <script src="/assets/theme.js"></script>
                <script src="/assets/early.js"></script>
                <link rel="stylesheet" href="/pkg/chatwright.css" />
                <link rel="icon" href="/assets/favicon.svg" type="image/svg+xml" />
                <script src="/assets/stopped.js" type="module"></script>
                <script src="/assets/changes.js" type="module"></script>
                <HydrationScripts options />
                // What loads the chunks: the script imports it, and it should not come after it.
                <link rel="modulepreload" href="/pkg/chatwright-chunks.js" />
                <MetaTags />
            </head>
            <body>
                <App pages />
                {changed()}
                {stopped()}
            </body>
        </html>
    }
}

/// The whole document of a chat in a frame on another site's page. Its script comes before the app's: it adds to all requests who asks.
pub fn embedded_shell(options: LeptosOptions, pages: &'static [RustPage], frame: Frame) -> impl IntoView {
    let (lang, dir, locale) = spoken();
    view! {
        <!DOCTYPE html>
        <html lang=lang dir=dir>
            <head>
                <meta charset="utf-8" />
                {locale}
                {reader()}
                {pictures()}
                <meta name="viewport" content="width=device-width, initial-scale=1, interactive-widget=resizes-content" />
                <meta name="color-scheme" content="light dark" />
                <meta name="referrer" content="no-referrer" />
                <script src="/assets/embed-frame.js" data-visitor=frame.visitor></script>
                <script src="/assets/early.js"></script>
                <link rel="stylesheet" href="/pkg/chatwright.css" />
                <script src="/assets/stopped.js" type="module"></script>
                <HydrationScripts options />
                <link rel="modulepreload" href="/pkg/chatwright-chunks.js" />
                <MetaTags />
            </head>
            <body>
                <App pages />
                {stopped()}
            </body>
        </html>
    }
}

/// Whose pictures are shown: see [`crate::pictures`].
fn pictures() -> Option<impl IntoView> {
    let pictures = use_context::<Pictures>().filter(|pictures| !pictures.0.is_empty());
    pictures.map(|pictures| view! { <meta name="pictures" content=pictures.written() /> })
}

/// What a page says whose code has stopped, in words that are there before (F38): a panic ends all of the browser's half. `stopped.js` shows it.
fn stopped() -> impl IntoView {
    view! {
        <template id="cw-stopped">
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

/// What an open page says when the config has changed it; `changes.js` shows it.
fn changed() -> impl IntoView {
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

/// For whom the page is: see [`Reader`].
fn reader() -> Option<impl IntoView> {
    use_context::<Reader>().map(|Reader(mark)| view! { <meta name="reader" content=mark /> })
}

/// The language of the document, and its words for the browser's half, unless they are English.
fn spoken() -> (&'static str, Option<&'static str>, Option<impl IntoView>) {
    let texts = use_context::<Texts>();
    let words = texts.as_ref().map(|texts| view! { <meta name="locale" content=texts.written() /> });
    let language = texts.as_ref().and_then(Texts::language).unwrap_or("en");
    (language, texts.as_ref().and_then(Texts::direction), words)
}

/// Forbids what the page does not need: no script but ours, and of other hosts nothing but pictures of those that the config names, and its
/// storages for files. The one inline script, which loads the WASM, and the style with a chat's size carry the response's nonce. Images may
/// be data and blobs for files that are attached; what a model writes never becomes an image of another host, see [`crate::markdown`].
#[cfg(feature = "ssr")]
pub(crate) fn protect() {
    let (Some(nonce), Some(response)) = (use_nonce(), use_context::<leptos_axum::ResponseOptions>()) else {
        return;
    };
    let ancestors =
        use_context::<Frame>().map_or_else(|| "'none'".to_owned(), |frame| format!("'self' {}", frame.host));
    let with = |own: &[&'static str], sites: &[String]| {
        own.iter().copied().chain(sites.iter().map(String::as_str)).collect::<Vec<_>>().join(" ")
    };
    let pictures = with(&["'self'", "data:", "blob:"], &use_context::<Pictures>().unwrap_or_default().0);
    let reached = with(&["'self'"], &use_context::<Uploads>().unwrap_or_default().0);
    let policy = format!(
        "default-src 'self'; script-src 'self' 'nonce-{nonce}' 'wasm-unsafe-eval'; style-src 'self' 'nonce-{nonce}'; \
         connect-src {reached}; img-src {pictures}; media-src 'self' data:; object-src 'none'; base-uri 'none'; \
         form-action 'self'; frame-ancestors {ancestors}"
    );
    if let Ok(policy) = http::HeaderValue::from_str(&policy) {
        response.insert_header(http::header::CONTENT_SECURITY_POLICY, policy);
    }
}
