//! The pages on the server.

use crate::render::{PAGES, SERVED, find};
use crate::section::{Audience, Docs};
use crate::{search, view};
use axum::extract::{Path, Query, Request, State};
use axum::http::{Method, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use axum::routing::get;
use axum::{Extension, Router};
use capability::Context;
use chat::Caller;
use leptos::prelude::*;
use serde::Deserialize;
use web::admin::is_admin;
use web::html::{document, not_found_page};
use web::openapi::{Access, ApiRouter, Tag};
use web::{RequestContext, SIGN_IN_PATH, query_encoded, see_other};

/// The start page.
pub(crate) const PATH: &str = "/docs";

/// The group of the routes; pages have no entries.
const DOCS: Tag = Tag { name: "docs", description: "The documentation.", access: Access::Users { scope: None } };

/// Returns the pages.
pub(crate) fn routes(context: Context) -> ApiRouter {
    let pages = Router::new().route(PATH, get(start)).route("/docs/{page}", get(show));
    ApiRouter::new(&DOCS).with_pages(pages.layer(from_fn_with_state(context, require_audience)))
}

/// Middleware: for those who may not read the documentation, it does not exist; a visitor may sign in first.
async fn require_audience(
    State(context): State<Context>,
    Extension(caller): Extension<Caller>,
    request: Request,
    next: Next,
) -> Response {
    let config = context.current.config();
    let audience = config.section::<Docs>().map(|docs| docs.visible_to).unwrap_or_default();
    let may_read = match audience {
        Audience::Admins => is_admin(&caller),
        Audience::Users => caller.is_authenticated,
        Audience::Everyone => true,
        Audience::Nobody => false,
    };
    if may_read {
        return next.run(request).await;
    }
    let has_sign_in = request.extensions().get::<RequestContext>().is_some_and(|context| context.has_sign_in);
    let may_sign_in = audience != Audience::Nobody && has_sign_in && !caller.is_authenticated;
    if may_sign_in && request.method() == Method::GET {
        let path = request.uri().path_and_query().map_or(PATH, |path| path.as_str());
        return see_other(&format!("{SIGN_IN_PATH}?next={}", query_encoded(path)), None);
    }
    not_found_page()
}

/// The query of the start page.
#[derive(Deserialize)]
struct SearchQuery {
    /// The search text.
    #[serde(default)]
    q: String,
}

/// `GET /docs?q=…`
async fn start(Query(query): Query<SearchQuery>) -> Response {
    let question = query.q.trim().to_owned();
    let page = tokio::task::spawn_blocking(move || {
        let (title, content) = if question.is_empty() {
            ("Documentation", view::overview(&PAGES, SERVED))
        } else {
            ("Search", view::results(&question, search::search(&question), SERVED))
        };
        let form = view::search_form(PATH, &question);
        render(StatusCode::OK, title, None, form, content)
    });
    page.await.unwrap_or_else(|_| not_found_page())
}

/// `GET /docs/{page}`
async fn show(Path(name): Path<String>) -> Response {
    // The first request renders all pages.
    let page = tokio::task::spawn_blocking(move || {
        let Some(page) = find(&name) else { return not_found_page() };
        let article = view! { <article inner_html=page.html.as_str()></article> }.into_any();
        render(StatusCode::OK, &page.title, Some(page.name), view::search_form(PATH, ""), article)
    });
    page.await.unwrap_or_else(|_| not_found_page())
}

fn render(status: StatusCode, title: &str, current: Option<&str>, form: AnyView, content: AnyView) -> Response {
    document(status, title, view::layout(PATH.to_owned(), form, view::menu(&PAGES, current, SERVED), content))
}
