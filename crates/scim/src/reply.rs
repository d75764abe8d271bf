//! Responses with resources, and the addresses in them.

use crate::attributes::Projection;
use axum::http::StatusCode;
use axum::http::header::{CONTENT_TYPE, LOCATION};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use web::openapi::{Description, RouteOutput};

/// The media type of requests and responses.
pub(crate) const MEDIA_TYPE: &str = "application/scim+json";
const LIST: &str = "urn:ietf:params:scim:api:messages:2.0:ListResponse";

/// 200 with a resource or a list.
#[derive(Debug)]
pub(crate) struct Found(pub(crate) Value);

impl IntoResponse for Found {
    fn into_response(self) -> Response {
        ([(CONTENT_TYPE, MEDIA_TYPE)], self.0.to_string()).into_response()
    }
}

impl RouteOutput for Found {
    fn describe(description: &mut Description<'_>) {
        description.response(200, MEDIA_TYPE, &json!({ "type": "object" }));
    }
}

/// 201 with a new resource.
#[derive(Debug)]
pub(crate) struct Made(pub(crate) Value);

impl IntoResponse for Made {
    fn into_response(self) -> Response {
        let location = self.0["meta"]["location"].as_str().unwrap_or_default().to_owned();
        let headers = [(CONTENT_TYPE, MEDIA_TYPE.to_owned()), (LOCATION, location)];
        (StatusCode::CREATED, headers, self.0.to_string()).into_response()
    }
}

impl RouteOutput for Made {
    fn describe(description: &mut Description<'_>) {
        description.response(201, MEDIA_TYPE, &json!({ "type": "object" }));
    }
}

/// Returns a page of a list, of which `total` match, from the first `start` on.
pub(crate) fn list(resources: Vec<Value>, start: usize, total: usize, projection: &Projection) -> Found {
    let resources: Vec<_> = resources.into_iter().map(|resource| projection.apply(resource)).collect();
    Found(json!({
        "schemas": [LIST],
        "totalResults": total,
        "startIndex": start,
        "itemsPerPage": resources.len(),
        "Resources": resources,
    }))
}

/// Returns the metadata of a resource.
pub(crate) fn meta(kind: &str, location: &str, (created, changed): (i64, i64)) -> Value {
    json!({
        "resourceType": kind,
        "created": time(created),
        "lastModified": time(changed),
        "location": location,
    })
}

/// Formats a Unix time in milliseconds.
fn time(millis: i64) -> String {
    jiff::Timestamp::from_millisecond(millis).map(|time| format!("{time:.3}")).unwrap_or_default()
}
