//! The page in the chat around an app: the host of the app, which answers it and asks the user.

use super::ShownApp;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use sha2::{Digest, Sha256};
use std::sync::LazyLock;
use web::html::escaped;
use web::query_encoded;
use wire::locale::{Locale, Text, fill_placeholders};

const SCRIPT: &str = concat!(include_str!("context.js"), include_str!("host.js"));
const STYLE: &str = include_str!("host.css");

/// The page runs its own script only, and can be shown by this site only.
static POLICY: LazyLock<String> = LazyLock::new(|| {
    format!(
        "default-src 'none'; script-src 'self' '{}'; style-src 'self' '{}'; connect-src 'self'; frame-src 'self'; base-uri 'none'; \
         form-action 'none'; frame-ancestors 'self'",
        hash(SCRIPT),
        hash(STYLE)
    )
});

fn hash(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text)))
}

/// Where an app is shown, and what it may do there.
pub(super) struct AppPlace<'a> {
    /// The conversation.
    pub(super) conversation_id: &'a str,
    /// The call.
    pub(super) call_id: &'a str,
    /// The language of the site.
    pub(super) locale: Option<&'a Locale>,
    /// Whether the app may read resources of its server.
    pub(super) reads_resources: bool,
}

impl AppPlace<'_> {
    fn text(&self, text: Text) -> &str {
        let own = self.locale.and_then(|locale| locale.texts().find(|(number, _)| *number == text.number()));
        own.map_or(text.english(), |(_, words)| words)
    }

    /// Returns the address of this app below a path.
    fn below(&self, path: &str) -> String {
        // In a path, a plus sign is no space.
        let segment = |id: &str| query_encoded(id).replace('+', "%20");
        format!("{path}/{}/{}", segment(self.conversation_id), segment(self.call_id))
    }
}

/// Returns the page. The app itself is loaded by its frame.
pub(super) fn host_page(place: &AppPlace<'_>, app: &ShownApp) -> Response {
    let text = |text: Text| place.text(text);
    let title = fill_placeholders(text(Text::AppOf), &[app.server.as_str()]);
    let data = json!({
        "frame": format!("{}/frame", place.below("/mcp-apps")),
        "calls": place.below("/api/tool-apps"),
        "readsResources": place.reads_resources,
        "version": env!("CARGO_PKG_VERSION"),
        "language": place.locale.and_then(|locale| locale.language.as_deref()),
        "heading": title,
        "callId": place.call_id,
        "tool": app.tool,
        "title": app.title,
        "input": app.input,
        "result": app.result,
        "texts": {
            "askCall": text(Text::AppAsksCall),
            "askLink": text(Text::AppAsksLink),
            "approve": text(Text::Approve),
            "open": text(Text::QuestionOpenPage),
            "enlarge": text(Text::Enlarge),
            "close": text(Text::CloseEscape),
            "failed": text(Text::AppFailed),
            "unsafe": text(Text::AppUnsafe),
        },
    });
    // In a script, the data must not look like the end of it.
    let data = data.to_string().replace('<', "\\u003c");
    let language = place.locale.and_then(|locale| locale.language.as_deref()).unwrap_or("en");
    let direction = if place.locale.is_some_and(|locale| locale.is_rtl) { "rtl" } else { "ltr" };
    let [language, title, deny] = [language, &title, text(Text::Deny)].map(escaped);
    let [offers, insert] = [text(Text::AppOffers), text(Text::PromptInsert)].map(escaped);
    let page = format!(
        "<!doctype html><html lang=\"{language}\" dir=\"{direction}\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><meta name=\"color-scheme\" content=\"light dark\">\
         <script src=\"/assets/theme.js\"></script><link rel=\"stylesheet\" href=\"/pkg/chatwright.css\"><style>{STYLE}</style>\
         <title>{title}</title></head><body>\
         <div id=\"head\" hidden><span dir=\"auto\">{title}</span><button type=\"button\" class=\"cw-button\"></button></div>\
         <section id=\"question\" role=\"alert\" hidden><p dir=\"auto\"></p><pre dir=\"ltr\" tabindex=\"0\"></pre>\
         <button type=\"button\" class=\"cw-button cw-primary\"></button><button type=\"button\" class=\"cw-button\">{deny}</button></section>\
         <iframe title=\"{title}\" sandbox=\"allow-scripts\" referrerpolicy=\"no-referrer\"></iframe>\
         <div id=\"offer\" hidden><details><summary>{offers}</summary><pre dir=\"auto\" tabindex=\"0\"></pre></details>\
         <button type=\"button\" class=\"cw-button\">{insert}</button></div>\
         <script type=\"application/json\" id=\"app\">{data}</script><script type=\"module\">{SCRIPT}</script></body></html>"
    );
    respond(StatusCode::OK, &POLICY, page)
}

/// Returns what the frame shows instead of an app.
pub(super) fn message_page(message: &str) -> Response {
    let policy = "sandbox; default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'";
    let message = escaped(message);
    let page = format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"color-scheme\" content=\"light dark\">\
         <title>{message}</title><style>body{{font:0.9375rem/1.5 system-ui,sans-serif}}</style></head>\
         <body><p dir=\"auto\">{message}</p></body></html>"
    );
    respond(StatusCode::SERVICE_UNAVAILABLE, policy, page)
}

fn respond(status: StatusCode, policy: &str, page: String) -> Response {
    let mut headers = HeaderMap::new();
    let Ok(policy) = HeaderValue::from_str(policy) else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    (status, headers, Html(page)).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::to_bytes;
    use serde_json::Value;

    #[tokio::test]
    async fn what_a_server_says_stays_data_in_the_page() {
        let locale = Locale::shipped("he").unwrap();
        let place = AppPlace { conversation_id: "c", call_id: "a/b?", locale: Some(&locale), reads_resources: false };
        let hostile = "</script><script>alert(1)</script><!--\"";
        let app = ShownApp {
            server: hostile.to_owned(),
            prefix: String::new(),
            tool: "t".to_owned(),
            title: hostile.to_owned(),
            input: serde_json::Map::from_iter([("a".to_owned(), hostile.into())]),
            result: json!({ "content": [{ "type": "text", "text": hostile }] }),
        };
        let response = host_page(&place, &app);
        let policy = response.headers()[header::CONTENT_SECURITY_POLICY].to_str().unwrap().to_owned();
        assert!(policy.contains(&hash(SCRIPT)) && !policy.contains("unsafe"), "{policy}");
        let page = String::from_utf8(to_bytes(response.into_body(), 1 << 20).await.unwrap().to_vec()).unwrap();
        assert_eq!(page.matches("<script").count(), 3, "{page}");
        assert!(page.contains("<html lang=\"he\" dir=\"rtl\">"));
        let data = page.split("id=\"app\">").nth(1).unwrap().split("</script>").next().unwrap();
        let data: Value = serde_json::from_str(data).unwrap();
        assert_eq!((&data["input"]["a"], &data["calls"]), (&json!(hostile), &json!("/api/tool-apps/c/a%2Fb%3F")));
    }
}
