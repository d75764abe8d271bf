//! The routes for programs.

use crate::section::DEFAULT_MAX_NOTES as MAX_NOTES;
use crate::store::{self, Note};
use crate::tools::MAX_TEXT;
use axum::extract::{Query, State};
use axum::{Extension, Json};
use capability::Context;
use chat::Caller;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use web::openapi::{Access, ApiRouter, Created, Tag};
use web::{HttpError, SentJson, valid_json};
use wire::UserError;

/// The most notes in a response.
const MAX_LISTED: u32 = 100;

/// The group in the OpenAPI document.
const NOTES: Tag =
    Tag { name: "notes", description: "The caller's notes. Only for signed-in users.", access: Access::SignedIn };

/// Returns the routes.
pub(crate) fn routes(context: Context) -> ApiRouter {
    ApiRouter::new(&NOTES)
        .get("/api/notes", list, "List notes")
        .post("/api/notes", add, "Add a note")
        .map(|router| router.with_state(context))
}

/// The query of the list.
#[derive(Deserialize, JsonSchema)]
struct NoteQuery {
    /// Only notes that contain this text.
    #[serde(default)]
    text: String,
}

/// The newest notes that match.
#[derive(Serialize, JsonSchema)]
struct NoteItems {
    items: Vec<Note>,
}

/// A new note.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewNote {
    /// The text.
    text: String,
}

/// `GET /api/notes`
async fn list(
    State(context): State<Context>,
    Extension(caller): Extension<Caller>,
    Query(query): Query<NoteQuery>,
) -> Result<Json<NoteItems>, HttpError> {
    let items = store::search(&context.store, &caller.user_id, &query.text, MAX_LISTED).await?;
    Ok(Json(NoteItems { items }))
}

/// `POST /api/notes`
async fn add(
    State(context): State<Context>,
    Extension(caller): Extension<Caller>,
    note: SentJson<NewNote>,
) -> Result<Created<Note>, HttpError> {
    let NewNote { text } = valid_json(note)?;
    if text.is_empty() || text.chars().count() > MAX_TEXT {
        return Err(UserError::invalid("/text", format!("A note has 1 to {MAX_TEXT} characters.")).into());
    }
    let note = Note::new(caller.user_id, text);
    if store::insert(&context.store, note.clone(), MAX_NOTES).await? {
        Ok(Created(note))
    } else {
        Err(UserError::invalid("/text", format!("You have {MAX_NOTES} notes, which is the limit.")).into())
    }
}
