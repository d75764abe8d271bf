//! The HTML document of pages that need no script, and pages with a single form or message.

use super::visible::with_visible_text;
use crate::error::HttpError;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use leptos::prelude::*;
use wire::ErrorCode;

/// Allows no script but the one that sets the theme, and forms to this server only.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; form-action 'self'; \
                      base-uri 'none'; frame-ancestors 'none'";

/// Renders a page. It has its own `Referrer-Policy`, since browsers without `Sec-Fetch-Site` report
/// the source of a form in `Origin`, and omit that as well under `no-referrer`.
pub fn page(status: StatusCode, title: &str, content: impl IntoView + 'static) -> Response {
    document(status, title, view! { <main class="cw-account-page">{content}</main> })
}

/// Renders a page about a user's account: its title, the way back, and the content.
pub fn account_page(
    status: StatusCode,
    title: &str,
    back: (&'static str, &'static str),
    content: impl IntoView + 'static,
) -> Response {
    page(status, title, account_content(title.to_owned(), back, content))
}

/// Renders what [`account_page`] shows, for a page with another heading than its title, or with a script. `back` is an address and its label.
pub fn account_content(
    heading: impl IntoView + 'static,
    (back, label): (&'static str, &'static str),
    content: impl IntoView + 'static,
) -> AnyView {
    view! {
        <div class="cw-account">
            <header class="cw-account-head">
                <h1 dir="auto">{heading}</h1>
                <a class="cw-button" href=back>{label}</a>
            </header>
            {content}
        </div>
    }
    .into_any()
}

/// Renders a part of such a page. It is labelled by its heading, whose id is `id`.
pub fn account_part(id: &'static str, heading: &'static str, content: impl IntoView + 'static) -> AnyView {
    view! {
        <section class="cw-account-part" aria-labelledby=id>
            <h2 id=id>{heading}</h2>
            {content}
        </section>
    }
    .into_any()
}

/// Like [`page`], with a script, which may ask this server and start workers. It is a file of the site.
pub fn page_with_script(
    status: StatusCode,
    title: &str,
    script: &'static str,
    content: impl IntoView + 'static,
) -> Response {
    render(status, title, view! { <main class="cw-account-page">{content}</main> }, Some(script))
}

/// Like [`POLICY`], and a script may ask this server.
const SCRIPT_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; form-action 'self'; \
                             connect-src 'self'; base-uri 'none'; frame-ancestors 'none'";

/// Renders a document with this body.
pub fn document(status: StatusCode, title: &str, content: impl IntoView + 'static) -> Response {
    render(status, title, content, None)
}

/// Like [`POLICY`], and pages of this server may be shown in frames.
const FRAME_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; form-action 'self'; \
                            frame-src 'self'; base-uri 'none'; frame-ancestors 'none'";

/// Renders a document that may show pages of this server in frames.
pub fn document_with_frames(status: StatusCode, title: &str, content: impl IntoView + 'static) -> Response {
    let mut response = document(status, title, content);
    response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(FRAME_POLICY));
    response
}

/// Renders a document whose elements with the attribute `data-live` follow what they show; see
/// `public/assets/live.js`.
pub fn live_document(status: StatusCode, title: &str, content: impl IntoView + 'static) -> Response {
    render(status, title, content, Some("/assets/live.js"))
}

fn render(status: StatusCode, title: &str, content: impl IntoView + 'static, script: Option<&'static str>) -> Response {
    let policy = if script.is_some() { SCRIPT_POLICY } else { POLICY };
    let script = script.map(|script| view! { <script src=script defer></script> });
    let title = format!("{title} · Chatwright");
    let document = view! {
        <!DOCTYPE html>
        <html lang="en">
            <head>
                <meta charset="utf-8" />
                <meta name="viewport" content="width=device-width, initial-scale=1" />
                <meta name="color-scheme" content="light dark" />
                <script src="/assets/theme.js"></script>
                {script}
                <link rel="stylesheet" href="/pkg/chatwright.css" />
                <link rel="stylesheet" href="/pkg/documents.css" />
                <link rel="icon" href="/assets/favicon.svg" type="image/svg+xml" />
                <title>{title}</title>
            </head>
            <body>{content}</body>
        </html>
    };
    let mut response = (status, Html(with_visible_text(document.to_html()))).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// Renders a page with a single form.
pub fn form_page(status: StatusCode, title: &'static str, content: impl IntoView + 'static) -> Response {
    let content = view! {
        <div class="cw-account-sheet">
            <a class="cw-home" href="/" aria-label="Start page">
                <svg class="cw-mark" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
                    <path
                        class="cw-mark-body"
                        d="M5 3h14a3 3 0 0 1 3 3v8a3 3 0 0 1-3 3h-6l-6 5v-5H5a3 3 0 0 1-3-3V6a3 3 0 0 1 3-3z"
                    />
                    <path class="cw-mark-line" d="M7 8.5h10M7 12h6" />
                </svg>
            </a>
            <h1>{title}</h1>
            {content}
        </div>
    };
    page(status, title, content)
}

/// Renders a page with a single message.
pub fn message_page(status: StatusCode, title: &'static str, text: &'static str) -> Response {
    let content = view! {
        <p class="cw-account-note">{text}</p>
        <a class="cw-button" href="/">
            "Go to the start page"
        </a>
    };
    form_page(status, title, content)
}

/// Renders the page for an unknown path.
pub fn not_found_page() -> Response {
    message_page(StatusCode::NOT_FOUND, "Page not found", "Check the address.")
}

/// Renders the error "not found" as a page, since a browser shows the response. Other results stay as they are.
///
/// # Errors
/// Any other error.
pub fn page_if_found(response: Result<Response, HttpError>) -> Result<Response, HttpError> {
    match response {
        Err(HttpError(error)) if error.code == ErrorCode::NotFound => Ok(not_found_page()),
        other => other,
    }
}

/// Renders the page for a client that sends too many requests.
pub fn too_many_requests_page() -> Response {
    message_page(StatusCode::TOO_MANY_REQUESTS, "Too many requests", "Wait for a moment, then go back and try again.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::UserError;

    #[test]
    fn only_the_error_not_found_is_a_page() {
        let check = |error: UserError, expected: Option<StatusCode>| {
            let shown = page_if_found(Err(HttpError(error)));
            assert_eq!(shown.ok().map(|page| page.status()), expected);
        };
        check(UserError::not_found(), Some(StatusCode::NOT_FOUND));
        check(UserError::new(ErrorCode::Unavailable, "The database is not available."), None);
    }
}
