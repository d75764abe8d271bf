//! The routes of a list.

use super::{List, ListView, export_action, file as csv_file, name};
use crate::admin::paging::{ListPage, PageRequest};
use crate::admin::{ADMINISTRATION, Admin, PageError, page};
use crate::error::{HttpError, SentQuery, valid_query};
use crate::openapi::ApiRouter;
use axum::extract::{Query, RawQuery, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::get;
use axum::{Json, Router};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use wire::UserError;

/// Returns the routes of a list: its page, its file and its API.
pub fn routes<L: List>() -> ApiRouter<L::State> {
    api_routes::<L>().with_pages(pages::<L>())
}

/// Returns the route of a list's API.
pub fn api_routes<L: List>() -> ApiRouter<L::State> {
    ApiRouter::new(&ADMINISTRATION).get(format!("/api{}", L::PATH), api::<L>, L::SUMMARY)
}

/// Returns the routes of a list's page and file.
pub fn pages<L: List>() -> Router<L::State> {
    Router::new().route(L::PATH, get(show::<L>)).route(&format!("{}.csv", L::PATH), get(file::<L>))
}

/// The query of every list: where the page begins.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct After {
    /// `next` of the previous page.
    pub after: Option<String>,
}

/// `GET /admin/NAME`
pub async fn show<L: List>(
    admin: Admin,
    State(state): State<L::State>,
    Query(query): Query<L::Query>,
    Query(after): Query<After>,
    RawQuery(raw): RawQuery,
) -> Result<Response, PageError> {
    let list = view::<L>(&state, &query, after, raw.as_deref()).await?;
    let content = L::content(&state, &query, list).await?;
    Ok(page(&admin, L::TAB, StatusCode::OK, L::TITLE, content))
}

/// Reads and renders a page of a list. `raw` is the query of the URL.
///
/// # Errors
/// The errors of [`List::fetch`].
pub async fn view<L: List>(
    state: &L::State,
    query: &L::Query,
    After { after }: After,
    raw: Option<&str>,
) -> Result<ListView, UserError> {
    let found = L::fetch(state, query, &PageRequest::after(after)).await?;
    Ok(ListView::new::<L>(state, query, raw, found))
}

/// `GET /admin/NAME.csv`: the whole list, as far as the filters match.
pub async fn file<L: List>(
    admin: Admin,
    State(state): State<L::State>,
    Query(query): Query<L::Query>,
) -> Result<Response, PageError> {
    let columns = csv_file::columns::<L>();
    let mut file = csv_file::begin(&columns);
    let mut request = PageRequest { after: None, size: L::FILE_PAGE };
    admin.record(L::store(&state), &export_action::<L>(), "", Value::Null).await?;
    loop {
        let found = L::fetch(&state, &query, &request).await?;
        found.items.iter().for_each(|row| csv_file::add(&mut file, &columns, row));
        request.after = found.next.filter(|_| file.rows() < L::MAX_FILE_ROWS);
        if request.after.is_none() {
            return Ok(file.into_file(&format!("{}.csv", name::<L>())));
        }
    }
}

/// `GET /api/admin/NAME`
async fn api<L: List>(
    _: Admin,
    State(state): State<L::State>,
    query: SentQuery<L::Query>,
    after: SentQuery<After>,
) -> Result<Json<ListPage<L::Row>>, HttpError> {
    let (query, After { after }) = (valid_query(query)?, valid_query(after)?);
    Ok(Json(L::fetch(&state, &query, &PageRequest::after(after)).await?))
}
