//! The page of the admin console: the notes of all users.

use crate::store::{self, Note};
use ::store::Store;
use capability::Context;
use schemars::JsonSchema;
use serde::Deserialize;
use web::admin::from_store_error;
use web::admin::list::{Cell, Column, List, ListPage, PageRequest};
use wire::UserError;

/// The list of notes.
pub(crate) struct NoteList;

/// The list has no filters.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct NoteQuery {}

impl List for NoteList {
    type State = Context;
    type Query = NoteQuery;
    type Row = Note;

    const PATH: &'static str = "/admin/notes";
    const TITLE: &'static str = "Notes";
    const SUMMARY: &'static str = "List the notes of all users";
    const EMPTY: &'static str = "No notes match.";
    const NONE_YET: &'static str = "No agent has taken a note.";
    const COLUMNS: &'static [Column<Note>] = &[
        Column::in_file("id", |note| Cell::text(&note.id)),
        Column::new("User", "owner", |note| Cell::text(&note.owner)),
        Column::new("Note", "text", |note| Cell::text(&note.text)),
        Column::new("Created (UTC)", "created", |note| Cell::time(note.created_at)),
    ];

    fn store(context: &Context) -> &Store {
        &context.store
    }

    async fn fetch(context: &Context, _: &NoteQuery, page: &PageRequest) -> Result<ListPage<Note>, UserError> {
        let found = store::all(&context.store, page.after.as_deref(), page.limit()).await.map_err(from_store_error)?;
        Ok(page.page_by(found, |note| note.id.clone()))
    }
}
