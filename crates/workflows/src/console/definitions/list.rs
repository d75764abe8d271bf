//! The list of definitions.

use super::{DefinitionItem, DefinitionSource, NEW_PATH, all, page_path};
use ::store::Store;
use capability::Context;
use leptos::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;
use web::admin::filters::{Choice, field, non_empty, select_field};
use web::admin::list::{Cell, Column, List, ListPage, ListView, PageRequest};
use web::admin::{UserNames, user_view};
use web::html::{link, text};
use wire::UserError;

pub(in crate::console) struct DefinitionList;

type DefinitionColumn = Column<DefinitionItem>;

/// The query of the list.
#[derive(Default, Deserialize, JsonSchema)]
pub(in crate::console) struct DefinitionQuery {
    /// Part of the id or the title.
    text: Option<String>,
    /// `all`, `config` or `stored`.
    #[serde(default)]
    source: SourceQuery,
}

/// The source of the listed definitions.
#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum SourceQuery {
    /// Anywhere.
    #[default]
    All,
    /// In the config.
    Config,
    /// In the database.
    Stored,
}

impl Choice for SourceQuery {
    const ALL: &'static [(Self, &'static str, &'static str)] =
        &[(Self::All, "all", "All"), (Self::Config, "config", "Config"), (Self::Stored, "stored", "Stored")];
}

/// Returns where a definition is, in words.
fn source(item: &DefinitionItem) -> String {
    match (&item.place, item.source) {
        (Some(place), _) => format!("Config, {place}"),
        (None, DefinitionSource::Config) => "Config".to_owned(),
        (None, DefinitionSource::Stored) => "Stored".to_owned(),
    }
}

impl List for DefinitionList {
    type State = Context;
    type Query = DefinitionQuery;
    type Row = DefinitionItem;

    const PATH: &'static str = "/admin/workflow-definitions";
    const SUMMARY: &'static str = "List the definitions of workflows";
    const TITLE: &'static str = "Workflow definitions";
    const EMPTY: &'static str = "No definitions match.";
    const NONE_YET: &'static str = "There are no workflows yet. Add the first one with “New definition”, or to the section “workflows” of the config.";
    const COLUMNS: &'static [DefinitionColumn] = &[
        DefinitionColumn::new("Workflow", "id", |item| Cell::text(&item.id))
            .shown_as(|item| link(page_path(&item.id), &item.id)),
        DefinitionColumn::new("Title", "title", |item| Cell::text(&item.title)),
        DefinitionColumn::new("Source", "source", |item| Cell::text(source(item))),
        DefinitionColumn::new("State", "state", |item| Cell::text(item.state.name())),
        DefinitionColumn::new("Version", "version", |item| item.version.map_or_else(|| Cell::text(""), Cell::count))
            .aligned_right(),
        DefinitionColumn::new("Saved by", "savedBy", |item| Cell::optional(item.saved_by.as_deref())).shown_as(
            |item| match &item.saved_by {
                Some(author) => user_view(author, item.saved_by_name.as_deref()),
                None => text(""),
            },
        ),
        DefinitionColumn::new("Saved (UTC)", "saved", |item| Cell::time(item.saved_at)),
    ];

    fn store(context: &Context) -> &Store {
        &context.store
    }

    async fn fetch(
        context: &Context,
        query: &DefinitionQuery,
        page: &PageRequest,
    ) -> Result<ListPage<DefinitionItem>, UserError> {
        let mut items = all(context).await?;
        match query.source {
            SourceQuery::All => {}
            SourceQuery::Config => items.retain(|item| item.source == DefinitionSource::Config),
            SourceQuery::Stored => items.retain(|item| item.source == DefinitionSource::Stored),
        }
        if let Some(text) = non_empty(query.text.as_deref()).map(|text| text.to_lowercase()) {
            items.retain(|item| [&item.id, &item.title].iter().any(|word| word.to_lowercase().contains(&text)));
        }
        let page = page.page_in(items)?;
        let names =
            UserNames::load(&context.store, page.items.iter().filter_map(|item| item.saved_by.as_deref())).await?;
        Ok(page.map(|item| {
            let saved_by_name = item.saved_by.as_ref().and_then(|author| names.get(author)).map(str::to_owned);
            DefinitionItem { saved_by_name, ..item }
        }))
    }

    fn filters(_: &Context, query: &DefinitionQuery) -> Option<AnyView> {
        Some(
            view! {
                {field("text", "Id or title", "search", query.text.as_deref())}
                {select_field("source", "Source", query.source)}
            }
            .into_any(),
        )
    }

    async fn content(_: &Context, _: &DefinitionQuery, list: ListView) -> Result<AnyView, UserError> {
        Ok(view! {
            <p class="cw-account-note">
                "Workflows of the config are changed in its files. Stored ones are edited here or over the API, and keep their versions."
            </p>
            <div class="cw-admin-acts"><a class="cw-button" href=NEW_PATH>"New definition"</a></div>
            {list.into_any()}
        }
        .into_any())
    }
}
