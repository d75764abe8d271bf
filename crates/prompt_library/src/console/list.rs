//! The list of shared prompts.

use crate::form::PromptForm;
use crate::prompt::Origin;
use crate::service;
use crate::views::PromptItem;
use ::store::Store;
use capability::Context;
use leptos::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use web::admin::MenuGroup;
use web::admin::filters::{field, non_empty};
use web::admin::list::{Cell, Column, List, ListPage, ListView, PageRequest};
use web::html::{error_message, link};
use wire::UserError;

/// The list of shared prompts.
pub(super) struct SharedPromptList;

/// A shared prompt in the list.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SharedPromptItem {
    /// The id.
    id: String,
    /// The name.
    name: String,
    /// Its purpose; may be empty.
    description: String,
    /// `shared`, or `config` for one of the config, which is changed there.
    origin: Origin,
    /// The roles that see it; empty for everybody.
    roles: Vec<String>,
    /// When it was last changed; Unix time in milliseconds, 0 for one of the config.
    updated_at: i64,
}

impl From<PromptItem> for SharedPromptItem {
    fn from(item: PromptItem) -> Self {
        let PromptItem { id, name, description, origin, roles, updated_at, .. } = item;
        Self { id, name, description, origin, roles, updated_at }
    }
}

/// The query of the list.
#[derive(Default, Deserialize, JsonSchema)]
pub(super) struct SharedPromptQuery {
    /// Part of the name or the description.
    text: Option<String>,
}

type PromptColumn = Column<SharedPromptItem>;

impl List for SharedPromptList {
    type State = Context;
    type Query = SharedPromptQuery;
    type Row = SharedPromptItem;

    const PATH: &'static str = "/admin/prompts";
    const GROUP: MenuGroup = MenuGroup::Agents;
    const TITLE: &'static str = "Prompts";
    const SUMMARY: &'static str = "List the prompts that are shared with users";
    const EMPTY: &'static str = "No prompts match.";
    const NONE_YET: &'static str =
        "No prompts are shared yet. Share the first one below, or add it to the section “prompts” of the config.";
    const COLUMNS: &'static [PromptColumn] = &[
        PromptColumn::in_file("id", |item| Cell::text(&item.id)),
        PromptColumn::new("Prompt", "name", |item| Cell::text(&item.name)).shown_as(|item| match item.origin {
            Origin::Config => item.name.clone().into_any(),
            Origin::Own | Origin::Shared => link(format!("{}/{}", Self::PATH, item.id), &item.name),
        }),
        PromptColumn::new("For", "description", |item| Cell::text(&item.description)),
        PromptColumn::new("Source", "origin", |item| Cell::text(origin(item.origin))),
        PromptColumn::new("Seen by", "roles", |item| Cell::text(seen_by(&item.roles))),
        PromptColumn::new("Changed (UTC)", "changed", |item| {
            Cell::time((item.updated_at > 0).then_some(item.updated_at))
        }),
    ];

    fn store(context: &Context) -> &Store {
        &context.store
    }

    async fn fetch(
        context: &Context,
        query: &SharedPromptQuery,
        page: &PageRequest,
    ) -> Result<ListPage<SharedPromptItem>, UserError> {
        let mut items = service::shared(context, &service::settings(context).unwrap_or_default()).await?;
        if let Some(text) = non_empty(query.text.as_deref()).map(|text| text.to_lowercase()) {
            items.retain(|item| [&item.name, &item.description].iter().any(|of| of.to_lowercase().contains(&text)));
        }
        page.page_in(items.into_iter().map(SharedPromptItem::from).collect())
    }

    fn filters(_: &Context, query: &SharedPromptQuery) -> Option<AnyView> {
        Some(field("text", "Name or description", "search", query.text.as_deref()).into_any())
    }

    async fn content(context: &Context, _: &SharedPromptQuery, list: ListView) -> Result<AnyView, UserError> {
        let is_off = service::settings(context).is_none();
        let form = PromptForm { roles: Some(String::new()), ..PromptForm::default() };
        Ok(view! {
            {is_off.then(|| view! {
                <p class="cw-account-note">"Users see no prompts, because the config has no section “prompts”."</p>
            })}
            {list.into_any()}
            {new_prompt(form, None)}
        }
        .into_any())
    }
}

fn origin(origin: Origin) -> &'static str {
    match origin {
        Origin::Config => "config",
        Origin::Own | Origin::Shared => "administrators",
    }
}

fn seen_by(roles: &[String]) -> String {
    if roles.is_empty() { "everybody".to_owned() } else { roles.join(", ") }
}

/// Renders the form of a new prompt, and why the last attempt was refused.
pub(super) fn new_prompt(form: PromptForm, refused: Option<String>) -> impl IntoView {
    view! {
        <section class="cw-account-part" aria-labelledby="new">
            <h2 id="new">"Share a prompt"</h2>
            <p class="cw-account-note">"Users find it in the composer after “/”, among the prompts of their own."</p>
            {error_message(refused)}
            {form.view(SharedPromptList::PATH.to_owned(), "Share")}
        </section>
    }
}
