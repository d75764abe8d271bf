//! Requests of a page. Each becomes an endpoint of its own, which the page calls.

use super::Notes;
use super::operators::{self, Renamed};
use crate::tree::{Tree, Value};
use std::collections::HashMap;

/// The requests of a page by id.
pub(super) type Requests = HashMap<String, Request>;

/// A request that has become an endpoint.
pub(super) struct Request {
    /// The id of the endpoint.
    pub(super) endpoint: String,
    /// The payload that the page sends.
    pub(super) payload: Option<Tree>,
    /// The property that has another name in its result.
    pub(super) shape: Option<Renamed>,
}

/// Takes the requests out of a page. Returns them with the endpoints that replace them.
pub(super) fn take(page: &mut Tree, notes: &mut Notes<'_>) -> (Requests, Vec<Tree>) {
    let (mut requests, mut endpoints) = (Requests::new(), Vec::new());
    let page_id = page.text_of("id").unwrap_or("page").to_owned();
    let access = page.get("auth").cloned();
    let Some(list) = page.remove("requests") else { return (requests, endpoints) };
    let Value::List(items) = list.value.value else { return (requests, endpoints) };
    for mut step in items {
        let at = step.at;
        let Some(id) = step.text_of("id").map(str::to_owned).filter(|id| !requests.contains_key(id)) else {
            notes.left_out(at, "a request without an id of its own", "give it an `id` that no other request has");
            continue;
        };
        let mut payload = step.remove("payload").map(|entry| entry.value);
        if let Some(payload) = &mut payload {
            operators::convert(payload, &operators::Place::Page(&requests), notes);
        }
        let shape = step.text_of("type").and_then(operators::shape_of);
        let endpoint = format!("{page_id}/{id}");
        let step_id = id.replace(['.', '/'], "_");
        step.set("id", Tree::text_at(at, step_id.clone()));
        let result = Tree::map_at(at, vec![("_step", Tree::text_at(at, step_id))]);
        let answer = Tree::map_at(at, vec![(":return", result)]);
        let mut converted = vec![("id", Tree::text_at(at, endpoint.clone())), ("type", Tree::text_at(at, "Api"))];
        converted.extend(access.clone().map(|access| ("auth", access)));
        converted.push(("routine", Tree::list_at(at, vec![step, answer])));
        let mut converted = Tree::map_at(at, converted);
        converted.comment = vec![format!("the request `{id}` of the page `{page_id}`")];
        endpoints.push(converted);
        requests.insert(id, Request { endpoint, payload, shape });
    }
    (requests, endpoints)
}
