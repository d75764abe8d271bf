//! Loads a page of the config.

use super::transport::codec::Json;
use super::transport::error::ApiError;
use crate::prelude::*;
use wire::page::Page;

/// Returns the definition of a page; without an id, of the first page that the caller may open.
#[server(prefix = "/ui", endpoint = "page", input = Json, output = Json)]
pub async fn load_page(
    /// The page's id, from the address.
    id: Option<String>,
) -> Result<Page, ApiError> {
    let (context, caller) = crate::context::authorize()?;
    Ok(Page::clone(&*context.pages.page(&caller, id.as_deref())?))
}
