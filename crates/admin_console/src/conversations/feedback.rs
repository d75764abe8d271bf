//! Users' feedback on answers.

use super::list::RatingQuery;
use crate::state::ConsoleState;
use leptos::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;
use store::{FeedbackRow, FeedbackSort, Store};
use web::admin::filters::{Choice, select_field};
use web::admin::from_store_error;
use web::admin::list::{self, Cell, Column, List, ListPage, PageRequest};
use web::html::{link, row_button, text};
use web::openapi::ApiRouter;
use wire::UserError;

pub(crate) fn routes() -> ApiRouter<ConsoleState> {
    list::routes::<FeedbackList>()
}

struct FeedbackList;

type FeedbackColumn = Column<FeedbackRow>;

/// The query of the list.
#[derive(Default, Deserialize, JsonSchema)]
struct FeedbackQuery {
    /// `any`, `up` or `down`.
    #[serde(default)]
    judged: RatingQuery,
    /// `newest` or `oldest`.
    #[serde(default)]
    sort: FeedbackSortQuery,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum FeedbackSortQuery {
    #[default]
    Newest,
    Oldest,
}

impl FeedbackSortQuery {
    fn sort(self) -> FeedbackSort {
        match self {
            Self::Newest => FeedbackSort::Newest,
            Self::Oldest => FeedbackSort::Oldest,
        }
    }
}

impl Choice for FeedbackSortQuery {
    const ALL: &'static [(Self, &'static str, &'static str)] =
        &[(Self::Newest, "newest", "Newest first"), (Self::Oldest, "oldest", "Oldest first")];
}

/// Renders the button that keeps an answer as a case, on a page of the capability `experiments`.
pub(super) fn keep_button(conversation_id: &str, message_id: &str, title: &str) -> AnyView {
    let path = format!("/admin/datasets/keep/{conversation_id}/{message_id}");
    row_button(path, "Keep as a case", format!("Keep the answer in {title} as a case"))
}

impl List for FeedbackList {
    type State = ConsoleState;
    type Query = FeedbackQuery;
    type Row = FeedbackRow;

    const PATH: &'static str = "/admin/feedback";
    const SUMMARY: &'static str = "List feedback on answers";
    const TITLE: &'static str = "Feedback";
    const EMPTY: &'static str = "No feedback matches.";
    const NONE_YET: &'static str = "There is no feedback yet. It appears here when users like or dislike an answer.";
    const COLUMNS: &'static [FeedbackColumn] = &[
        FeedbackColumn::in_file("conversation", |row| Cell::text(&row.conversation_id)),
        FeedbackColumn::new("Conversation", "title", |row| Cell::text(&row.title)).shown_as(|row| {
            link(format!("/admin/conversations/{}#m-{}", row.conversation_id, row.message_id), &row.title)
        }),
        FeedbackColumn::in_file("message", |row| Cell::text(&row.message_id)),
        FeedbackColumn::new("Feedback", "feedback", |row| Cell::text(&row.rating))
            .shown_as(|row| text(if row.rating == "up" { "Liked" } else { "Disliked" })),
        FeedbackColumn::new("Reason", "reason", |row| Cell::optional(row.reason.as_deref())),
        FeedbackColumn::new("User", "user", |row| Cell::text(&row.owner))
            .shown_as(|row| text(row.owner_name.as_ref().unwrap_or(&row.owner))),
        FeedbackColumn::in_file("userName", |row| Cell::optional(row.owner_name.as_deref())),
        FeedbackColumn::new("Agent", "agent", |row| Cell::text(&row.agent_id)),
        FeedbackColumn::new("Time (UTC)", "time", |row| Cell::time(row.updated_at)),
        FeedbackColumn::in_table("Test case", |row| keep_button(&row.conversation_id, &row.message_id, &row.title)),
    ];
    const FILE_ORDER: &'static [&'static str] =
        &["conversation", "title", "agent", "message", "user", "userName", "feedback", "reason", "time"];

    fn store(state: &ConsoleState) -> &Store {
        &state.store
    }

    async fn fetch(
        state: &ConsoleState,
        query: &FeedbackQuery,
        page: &PageRequest,
    ) -> Result<ListPage<FeedbackRow>, UserError> {
        let (judged, sort) = (query.judged.filter(), query.sort.sort());
        let found = state.store.all_feedback(judged, sort, page.limit(), page.cursor()?).await;
        Ok(page.page(found.map_err(from_store_error)?))
    }

    fn filters(_: &ConsoleState, query: &FeedbackQuery) -> Option<AnyView> {
        Some(
            view! {
                {select_field("judged", "Feedback", query.judged)}
                {select_field("sort", "Order", query.sort)}
            }
            .into_any(),
        )
    }
}
