use super::*;
use axum::Json;
use axum::extract::{Extension, Path, Query};
use axum::response::NoContent;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

const NOTES: Tag =
    Tag { name: "notes", description: "The caller's notes.", access: Access::Users { scope: Some(KeyScope::Agents) } };
const ABOUT: About = About { title: "Test", version: "1", description: "A test.", session_cookie: "s" };

/// A note.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Note {
    /// The text,
    /// see [`crate::openapi::Tag`].
    text: String,
    #[serde(default)]
    tags: Vec<String>,
}

#[derive(Deserialize, JsonSchema)]
struct NoteQuery {
    /// Items per page.
    limit: Option<u32>,
    q: String,
}

async fn list(Extension(()): Extension<()>, Query(query): Query<NoteQuery>) -> Json<Vec<Note>> {
    let tags = query.limit.map(|limit| limit.to_string()).into_iter().collect();
    Json(vec![Note { text: query.q, tags }])
}

async fn add(Json(note): Json<Note>) -> Created<Note> {
    Created(note)
}

async fn delete(Path(_): Path<String>) -> NoContent {
    NoContent
}

fn routes() -> ApiRouter<()> {
    ApiRouter::new(&NOTES).get("/notes", list, "List notes").post("/notes", add, "Add a note").delete(
        "/notes/{id}",
        delete,
        "Delete a note",
    )
}

#[test]
fn entries_are_derived_from_the_handlers() {
    let mut operations = Vec::new();
    let _ = routes().mount(&mut operations);
    let json = Document::new(ABOUT, operations).json();
    let document: Value = serde_json::from_slice(&json).unwrap();
    let check = |pointer: &str, expected: Value| assert_eq!(document.pointer(pointer), Some(&expected), "{pointer}");
    check("/tags", json!([{ "name": "notes", "description": "The caller's notes." }]));
    check("/paths/~1notes/get/operationId", json!("get_notes"));
    check("/paths/~1notes/get/security", json!([{}, { "bearer": [] }, { "key": [] }, { "session": [] }]));
    let limit = json!({ "type": "integer", "format": "uint32", "minimum": 0 });
    check(
        "/paths/~1notes/get/parameters",
        json!([
            { "name": "limit", "in": "query", "description": "Items per page.", "schema": limit },
            { "name": "q", "in": "query", "required": true, "schema": { "type": "string" } },
        ]),
    );
    let note = json!({ "$ref": "#/components/schemas/Note" });
    check(
        "/paths/~1notes/get/responses/200/content/application~1json/schema",
        json!({ "type": "array", "items": note }),
    );
    check(
        "/paths/~1notes/get/responses/default/content/application~1json/schema/$ref",
        json!("#/components/schemas/Error"),
    );
    check("/paths/~1notes/post/responses/201/content/application~1json/schema", note);
    // Tags may be left out of a request, but not of a response.
    check(
        "/paths/~1notes/post/requestBody/content/application~1json/schema",
        json!({ "$ref": "#/components/schemas/NoteInput" }),
    );
    check("/components/schemas/NoteInput/required", json!(["text"]));
    check("/components/schemas/Note/required", json!(["text", "tags"]));
    check("/components/schemas/Note/properties/text/description", json!("The text, see `Tag`."));
    check("/paths/~1notes~1{id}/delete/responses/204", json!({ "description": "Success." }));
    let id = json!({ "name": "id", "in": "path", "required": true, "schema": { "type": "string" } });
    check("/paths/~1notes~1{id}/delete/parameters", json!([id]));
}
