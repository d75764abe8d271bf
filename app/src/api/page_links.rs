//! Lists the pages that the user may open.

use super::transport::codec::Json;
use super::transport::error::ApiError;
use crate::prelude::*;
use wire::page::PageLink;

/// Returns the pages that the caller may open, in the order of the config.
#[server(prefix = "/ui", endpoint = "pages", input = Json, output = Json)]
pub async fn page_links() -> Result<Vec<PageLink>, ApiError> {
    let (context, caller) = crate::context::authorize()?;
    Ok(context.pages.links(&caller))
}
