//! The routes for programs and pages.

mod changes;
mod documents;
mod graph;
mod libraries;
mod questions;
mod search;
mod upload;

use crate::service::Knowledge;
use auth::password::KeyScope;
use web::openapi::{Access, ApiRouter, Tag};

/// The group in the OpenAPI document.
const LIBRARIES: Tag = Tag {
    name: "libraries",
    description: "Libraries of documents, and searches in them. A library belongs to the user who created it; roles may read it or add documents. Scope `endpoints`.",
    access: Access::Users { scope: Some(KeyScope::Endpoints) },
};

/// The group of the search of several libraries: its path is that of the search of conversations.
const SEARCH: Tag = Tag {
    name: "document search",
    description: "Searches in several libraries of documents. Scope `conversations`.",
    access: Access::Users { scope: Some(KeyScope::Conversations) },
};

/// Returns the routes.
pub(crate) fn routes(knowledge: Knowledge) -> ApiRouter {
    let search = ApiRouter::new(&SEARCH).post("/api/search", search::search_several, "Search several libraries");
    ApiRouter::new(&LIBRARIES)
        .get("/api/libraries", libraries::list, "List the libraries that the caller may read")
        .post("/api/libraries", libraries::create, "Create a library")
        .get("/api/libraries/{id}", libraries::show, "Get a library")
        .patch("/api/libraries/{id}", libraries::change, "Change the name, the description or the roles of a library")
        .get("/api/libraries/{id}/changes", changes::changes, "Wait for changes in a library")
        .get("/api/libraries/roles", libraries::roles, "List the roles that can read or change libraries")
        .delete("/api/libraries/{id}", libraries::delete, "Delete a library with all documents")
        .get("/api/libraries/{id}/documents", documents::list, "List the documents of a library")
        .post("/api/libraries/{id}/search", search::search_one, "Search a library")
        .get("/api/libraries/{id}/questions", questions::list, "List the questions that were asked of a library")
        .get("/api/libraries/{id}/graph", graph::status, "Get the progress of the extraction of entities")
        .get("/api/libraries/{id}/graph/entities", graph::entities, "List the entities of a library")
        .get("/api/libraries/{id}/graph/explore", graph::explore, "Follow relations from an entity")
        .post("/api/libraries/{id}/graph/redo", graph::redo, "Extract the entities of a library again")
        .get("/api/documents/{id}", documents::show, "Get a document")
        .delete("/api/documents/{id}", documents::delete, "Delete a document")
        .get("/api/documents/{id}/text", documents::text, "Get the text of a document")
        .get("/api/documents/{id}/chunks", documents::chunks, "Get the chunks of a document")
        .get("/api/documents/{id}/file", documents::file, "Download the file of a document")
        .post("/api/documents/{id}/retry", documents::retry, "Retry a document that could not be read")
        .post("/api/documents/{id}/cancel", documents::cancel, "Cancel the reading of a document")
        .merge(search)
        .map(|router| router.with_state(knowledge))
}

/// Returns the route with larger bodies than others, which limits their size itself.
pub(crate) fn upload_routes(knowledge: Knowledge) -> ApiRouter {
    ApiRouter::new(&LIBRARIES)
        .post("/api/libraries/{id}/documents", upload::upload, "Add documents to a library")
        .map(|router| router.with_state(knowledge))
}
