//! A list as a page.

use super::List;
use crate::admin::pager::pager;
use crate::admin::paging::ListPage;
use crate::html::Heading::{Number, Text};
use crate::html::table_of;
use axum::extract::Query;
use axum::http::Uri;
use leptos::prelude::*;
use url::form_urlencoded::{self, Serializer};

/// The parts of a list on its page, in their order.
pub struct ListView {
    /// The form with the filters, if the list has some.
    pub form: AnyView,
    /// The links above the table: to the CSV file.
    pub links: AnyView,
    /// The table.
    pub table: AnyView,
    /// The links to the first and the next page.
    pub pager: AnyView,
}

impl ListView {
    /// Renders a page of a list. `raw` is the query of the URL.
    pub(super) fn new<L: List>(state: &L::State, query: &L::Query, raw: Option<&str>, page: ListPage<L::Row>) -> Self {
        let file = format!("{}.csv?{}", L::PATH, raw.unwrap_or_default());
        let form = L::filters(state, query).map(|filters| {
            view! {
                <form class="cw-admin-filter" method="get" role="search" aria-label=L::TITLE>
                    {filters}
                    <button class="cw-button">"Show"</button>
                </form>
            }
        });
        Self {
            form: form.into_any(),
            links: view! { <a href=file>"Download as CSV"</a> }.into_any(),
            table: table::<L>(page.items, || empty_text::<L>(state, query, raw.unwrap_or_default())),
            pager: pager(L::PATH, raw, page.next).into_any(),
        }
    }

    /// Renders all parts.
    pub fn into_any(self) -> AnyView {
        let Self { form, links, table, pager } = self;
        view! {
            {form}
            <p class="cw-admin-links">{links}</p>
            {table}
            {pager}
        }
        .into_any()
    }
}

/// Returns the text of a page without rows. `raw` is the query of the URL.
fn empty_text<L: List>(state: &L::State, query: &L::Query, raw: &str) -> &'static str {
    let parameters = || form_urlencoded::parse(raw.as_bytes());
    if parameters().any(|(name, _)| name == "after") {
        return L::EMPTY;
    }
    // Without filters, the fields are those of a query with nothing but the order.
    let order = Serializer::new(String::new()).extend_pairs(parameters().filter(|(name, _)| name == "sort")).finish();
    let plain = format!("/?{order}").parse::<Uri>().ok().and_then(|uri| Query::<L::Query>::try_from_uri(&uri).ok());
    let fields = |query: &L::Query| L::filters(state, query).map(|fields| fields.to_html());
    if plain.is_some_and(|Query(plain)| fields(&plain) == fields(query)) { L::NONE_YET } else { L::EMPTY }
}

/// Renders the rows, or the text that `empty` returns.
fn table<L: List>(rows: Vec<L::Row>, empty: impl FnOnce() -> &'static str) -> AnyView {
    let shown: Vec<_> = L::COLUMNS.iter().filter_map(|column| Some((column, column.title?))).collect();
    let columns: Vec<_> =
        shown.iter().map(|(column, title)| if column.is_number { Number(title) } else { Text(title) }).collect();
    let cells = |row: &L::Row| shown.iter().map(|(column, _)| column.view(row)).collect();
    let none = if rows.is_empty() { empty() } else { "" };
    table_of(&columns, rows.iter().map(cells), none)
}
