//! A list of the console: a page with a table, filters and a pager, the same list as a CSV file,
//! and as JSON for programs. A list declares its columns, its query and its filters; the routes follow.

mod column;
mod file;
mod page;
mod routes;
#[cfg(test)]
mod tests;

pub use super::paging::{ListPage, PAGE_SIZE, PageRequest};
pub use column::{Cell, Column};
pub use page::ListView;
pub use routes::{After, api_routes, file, pages, routes, show, view};

use super::MenuGroup;
use leptos::prelude::AnyView;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::future::Future;
use store::Store;
use wire::UserError;

/// The maximum number of rows of a CSV file, unless a list has another one. The API pages through
/// the same lists without a limit.
const MAX_FILE_ROWS: usize = 10_000;

/// A list of the console.
pub trait List: 'static {
    /// The state of its routes.
    type State: Clone + Send + Sync + 'static;
    /// The filters and the order, from the query of the URL.
    type Query: DeserializeOwned + JsonSchema + Send + Sync + 'static;
    /// A row, which is also the item of the JSON list.
    type Row: Serialize + JsonSchema + Send + 'static;

    /// The path of the page, `/admin/NAME`. The file is at `/admin/NAME.csv`, and the API at
    /// `/api/admin/NAME`. Exports are recorded in the audit log as `admin:export_NAME`.
    const PATH: &'static str;
    /// The group of its entry in the menu, if a [`Section`](super::Section) is made of it.
    const GROUP: MenuGroup = MenuGroup::System;
    /// The path of the menu entry that is the current one on the page.
    const TAB: &'static str = Self::PATH;
    /// The summary of the API's route in the OpenAPI document.
    const SUMMARY: &'static str;
    /// The title of the page.
    const TITLE: &'static str;
    /// The text that the page shows if no rows match the filters.
    const EMPTY: &'static str;
    /// The text that the page shows if there are no rows at all: what will be there, and how the first one gets there.
    const NONE_YET: &'static str;
    /// The columns, in the order of the table.
    const COLUMNS: &'static [Column<Self::Row>];
    /// The names of the file's columns in their order, if it is not that of [`Self::COLUMNS`].
    const FILE_ORDER: &'static [&'static str] = &[];
    /// The number of rows that are read at once for the file.
    const FILE_PAGE: u32 = PAGE_SIZE;
    /// The maximum number of rows of the file.
    const MAX_FILE_ROWS: usize = MAX_FILE_ROWS;

    /// Returns the database, in which exports are recorded.
    fn store(state: &Self::State) -> &Store;

    /// Reads a page of the list.
    fn fetch(
        state: &Self::State,
        query: &Self::Query,
        page: &PageRequest,
    ) -> impl Future<Output = Result<ListPage<Self::Row>, UserError>> + Send;

    /// Renders the fields of the form that filters and sorts the list. Without them there is no form.
    fn filters(_state: &Self::State, _query: &Self::Query) -> Option<AnyView> {
        None
    }

    /// Renders the content of the page around the list. Without an own one, it is only the list.
    fn content(
        _state: &Self::State,
        _query: &Self::Query,
        list: ListView,
    ) -> impl Future<Output = Result<AnyView, UserError>> + Send {
        std::future::ready(Ok(list.into_any()))
    }
}

/// Returns the name of a list in its paths.
fn name<L: List>() -> &'static str {
    L::PATH.rsplit('/').next().unwrap_or_default()
}

/// Returns the action of an export, without `admin:` before it.
pub(super) fn export_action<L: List>() -> String {
    format!("export_{}", name::<L>().replace('-', "_"))
}
