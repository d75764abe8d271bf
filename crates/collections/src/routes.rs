//! The routes for programs and pages.

use crate::access::RecordAccess;
use crate::failure::DataError;
use crate::input::{Computation, Deletion, FacetQuery, Insertion, Query, Update};
use crate::records::{Data, Deleted, Facets, Found, Groups, Inserted, RecordItem, Records, Updated};
use crate::section::{Collection, Collections, Sharing};
use auth::password::KeyScope;
use axum::extract::{Path, State};
use axum::response::NoContent;
use axum::{Extension, Json};
use capability::{Context, CurrentConfig};
use chat::{Caller, Viewer};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use std::sync::Arc;
use web::openapi::{self, ApiRouter, Created, Tag};
use web::{HttpError, SentJson, valid_json};
use wire::UserError;

/// The group in the OpenAPI document.
const COLLECTIONS: Tag = Tag {
    name: "collections",
    description: "Collections of records that the config declares, for the roles that it names; without any, each user reads their own records. Scope `endpoints`.",
    access: openapi::Access::Users { scope: Some(KeyScope::Endpoints) },
};

/// The state of the handlers.
#[derive(Clone)]
struct RouteState {
    data: Data,
    current: Arc<dyn CurrentConfig>,
}

/// Returns the routes.
pub(crate) fn routes(data: Data, context: &Context) -> ApiRouter {
    let state = RouteState { data, current: context.current.clone() };
    ApiRouter::new(&COLLECTIONS)
        .get("/api/collections", list, "List the collections that the caller may read")
        .get("/api/collections/{collection}", show, "Get a collection with its schema")
        .post("/api/collections/{collection}/query", query, "Find records")
        .post("/api/collections/{collection}/aggregate", aggregate, "Count, add up and average records")
        .post("/api/collections/{collection}/facets", facets, "Count the values of fields")
        .post("/api/collections/{collection}/records", insert, "Add records")
        .patch("/api/collections/{collection}/records", update, "Set fields of records")
        .post("/api/collections/{collection}/delete", delete, "Delete records")
        .get("/api/collections/{collection}/records/{id}", record, "Get a record")
        .delete("/api/collections/{collection}/records/{id}", delete_one, "Delete a record")
        .map(|router| router.with_state(state))
}

impl RouteState {
    /// Does something with the records of a collection, as the caller sees them.
    async fn with_records<T>(
        &self,
        caller: &Caller,
        id: &str,
        run: impl AsyncFnOnce(Records<'_>) -> Result<T, DataError>,
    ) -> Result<T, HttpError> {
        let config = self.current.config();
        let all = config.section::<Collections>().map_or(&[][..], |all| &all.0);
        let found = all.iter().find(|collection| collection.id.0 == id).ok_or_else(UserError::not_found)?;
        let records = self.data.records(found, &Viewer::from(caller)).map_err(UserError::from)?;
        Ok(run(records).await.map_err(UserError::from)?)
    }
}

/// A collection.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct CollectionItem {
    /// Its id.
    id: String,
    /// The description of the records.
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    /// The visibility of the records.
    records: Sharing,
    /// The access of the caller.
    access: RecordAccess,
}

impl CollectionItem {
    /// `None` if the viewer may not read it.
    fn new(collection: &Collection, viewer: &Viewer) -> Option<Self> {
        Some(Self {
            access: collection.access(viewer)?,
            id: collection.id.0.clone(),
            description: collection.description.clone(),
            records: collection.records,
        })
    }
}

/// The collections.
#[derive(Serialize, JsonSchema)]
struct CollectionItems {
    items: Vec<CollectionItem>,
}

/// A collection with its schema.
#[derive(Serialize, JsonSchema)]
struct CollectionDetails {
    #[serde(flatten)]
    item: CollectionItem,
    /// The JSON Schema of a record.
    schema: Map<String, Value>,
}

async fn list(State(state): State<RouteState>, Extension(caller): Extension<Caller>) -> Json<CollectionItems> {
    let (config, viewer) = (state.current.config(), Viewer::from(&caller));
    let all = config.section::<Collections>().map_or(&[][..], |all| &all.0);
    Json(CollectionItems { items: all.iter().filter_map(|all| CollectionItem::new(all, &viewer)).collect() })
}

async fn show(
    State(state): State<RouteState>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Json<CollectionDetails>, HttpError> {
    let (config, viewer) = (state.current.config(), Viewer::from(&caller));
    let all = config.section::<Collections>().map_or(&[][..], |all| &all.0);
    let found = all.iter().find(|collection| collection.id.0 == id);
    let details = found.and_then(|found| {
        Some(CollectionDetails { item: CollectionItem::new(found, &viewer)?, schema: found.schema.clone() })
    });
    Ok(Json(details.ok_or_else(UserError::not_found)?))
}

async fn query(
    State(state): State<RouteState>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    body: SentJson<Query>,
) -> Result<Json<Found>, HttpError> {
    let query = valid_json(body)?;
    state.with_records(&caller, &id, async |records| records.query(query).await).await.map(Json)
}

async fn aggregate(
    State(state): State<RouteState>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    body: SentJson<Computation>,
) -> Result<Json<Groups>, HttpError> {
    let computation = valid_json(body)?;
    state.with_records(&caller, &id, async |records| records.aggregate(&computation).await).await.map(Json)
}

async fn facets(
    State(state): State<RouteState>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    body: SentJson<FacetQuery>,
) -> Result<Json<Facets>, HttpError> {
    let query = valid_json(body)?;
    state.with_records(&caller, &id, async |records| records.facets(&query).await).await.map(Json)
}

async fn insert(
    State(state): State<RouteState>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    body: SentJson<Insertion>,
) -> Result<Created<Inserted>, HttpError> {
    let insertion = valid_json(body)?;
    state.with_records(&caller, &id, async |records| records.insert(insertion).await).await.map(Created)
}

async fn update(
    State(state): State<RouteState>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    body: SentJson<Update>,
) -> Result<Json<Updated>, HttpError> {
    let update = valid_json(body)?;
    state.with_records(&caller, &id, async |records| records.update(update).await).await.map(Json)
}

async fn delete(
    State(state): State<RouteState>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    body: SentJson<Deletion>,
) -> Result<Json<Deleted>, HttpError> {
    let deletion = valid_json(body)?;
    state.with_records(&caller, &id, async |records| records.delete(deletion).await).await.map(Json)
}

async fn record(
    State(state): State<RouteState>,
    Extension(caller): Extension<Caller>,
    Path((collection, id)): Path<(String, String)>,
) -> Result<Json<RecordItem>, HttpError> {
    state.with_records(&caller, &collection, async |records| records.record(id).await).await.map(Json)
}

async fn delete_one(
    State(state): State<RouteState>,
    Extension(caller): Extension<Caller>,
    Path((collection, id)): Path<(String, String)>,
) -> Result<NoContent, HttpError> {
    let deletion = Deletion { conditions: Vec::new(), ids: Some(vec![id]) };
    let run = async |records: Records<'_>| records.delete(deletion).await;
    match state.with_records(&caller, &collection, run).await?.deleted {
        0 => Err(UserError::not_found().into()),
        _ => Ok(NoContent),
    }
}
