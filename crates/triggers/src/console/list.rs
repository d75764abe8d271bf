//! The list of triggers.

use super::{TriggerItem, items};
use crate::engine::Triggers;
use ::store::Store;
use leptos::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;
use web::admin::MenuGroup;
use web::admin::filters::{Choice, select_field};
use web::admin::list::{Cell, Column, List, ListPage, PageRequest};
use web::html::link;
use web::times::minute;
use wire::UserError;

/// The list of triggers.
pub(super) struct TriggerList;

type TriggerColumn = Column<TriggerItem>;

/// The query of the list.
#[derive(Default, Deserialize, JsonSchema)]
pub(super) struct TriggerQuery {
    /// The state of the triggers: `all`, `active` or `paused`.
    #[serde(default)]
    state: TriggerState,
}

/// The filter of the list by state.
#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum TriggerState {
    /// All.
    #[default]
    All,
    /// Triggers that are not paused.
    Active,
    /// Triggers that are paused.
    Paused,
}

impl Choice for TriggerState {
    const ALL: &'static [(Self, &'static str, &'static str)] =
        &[(Self::All, "all", "All"), (Self::Active, "active", "Active"), (Self::Paused, "paused", "Paused")];
}

impl List for TriggerList {
    type State = Triggers;
    type Query = TriggerQuery;
    type Row = TriggerItem;

    const PATH: &'static str = "/admin/triggers";
    const GROUP: MenuGroup = MenuGroup::Work;
    const TITLE: &'static str = "Triggers";
    const SUMMARY: &'static str = "List the triggers of all workflows";
    const EMPTY: &'static str = "No triggers match.";
    const NONE_YET: &'static str = "There are no triggers yet. Workflows have them in “triggers”.";
    const COLUMNS: &'static [TriggerColumn] = &[
        TriggerColumn::new("Trigger", "id", |item| Cell::text(&item.id)).shown_as(|item| link(path(item), &item.id)),
        TriggerColumn::new("Workflow", "workflow", |item| Cell::text(&item.workflow_id))
            .shown_as(|item| item.workflow_title.clone().into_any()),
        TriggerColumn::new("Waits for", "waitsFor", |item| Cell::text(&item.waits_for)),
        TriggerColumn::new("Next (UTC)", "next", |item| Cell::time(item.next_times.first().copied())),
        TriggerColumn::new("State", "state", |item| Cell::text(state_text(item))),
        TriggerColumn::new("Failures in a row", "failures", |item| Cell::count(item.failures)).aligned_right(),
    ];

    fn store(triggers: &Triggers) -> &Store {
        &triggers.store
    }

    async fn fetch(
        triggers: &Triggers,
        query: &TriggerQuery,
        page: &PageRequest,
    ) -> Result<ListPage<TriggerItem>, UserError> {
        let mut items = items(triggers).await?;
        items.retain(|item| match query.state {
            TriggerState::All => true,
            TriggerState::Active => item.paused_at.is_none(),
            TriggerState::Paused => item.paused_at.is_some(),
        });
        page.page_in(items)
    }

    fn filters(_: &Triggers, query: &TriggerQuery) -> Option<AnyView> {
        Some(select_field("state", "State", query.state).into_any())
    }
}

/// Returns the path of a trigger's page. Ids need no encoding.
pub(super) fn path(item: &TriggerItem) -> String {
    format!("/admin/triggers/{}/{}", item.workflow_id, item.id)
}

/// Returns whether a trigger is paused, and since when.
pub(super) fn state_text(item: &TriggerItem) -> String {
    match (item.paused_at, &item.paused_by) {
        (None, _) => "active".to_owned(),
        (Some(at), Some(_)) => format!("paused since {}", minute(at)),
        (Some(at), None) => format!("paused after failures since {}", minute(at)),
    }
}
