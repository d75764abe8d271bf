//! Loads a page of the config.

use super::ApiError;
use super::codec::Json;
use leptos::prelude::*;
use wire::page::Page;

/// The definition of a page; without an id, of the config's first one.
#[server(prefix = "/ui", endpoint = "page", input = Json, output = Json)]
pub async fn load_page(
    /// The page's id, from the address.
    id: Option<String>,
) -> Result<Page, ApiError> {
    let (context, _caller) = crate::context::authorize()?;
    let page = id.or_else(|| context.pages.first()).and_then(|id| context.pages.page(&id));
    page.map(|page| Page::clone(&page)).ok_or_else(|| wire::UserError::not_found().into())
}
