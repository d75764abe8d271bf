//! Bodies and queries of requests.

use crate::error::ScimError;
use crate::reply::MEDIA_TYPE;
use axum::extract::{FromRequest, Query, Request};
use axum::http::header::CONTENT_TYPE;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use web::openapi::{Description, RouteInput};
use web::{SentQuery, read_body};

use crate::attributes::Projection;

/// The largest body in bytes.
const MAX_BODY: usize = 1 << 20;

/// The body of a request: a JSON object.
pub(crate) struct Body(pub(crate) Map<String, Value>);

impl<S: Sync> FromRequest<S> for Body {
    type Rejection = ScimError;

    async fn from_request(request: Request, _: &S) -> Result<Self, ScimError> {
        let kind = request.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or(MEDIA_TYPE);
        let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        if kind != MEDIA_TYPE && kind != "application/json" {
            return Err(ScimError::media_type());
        }
        let bytes = read_body(request.into_body(), MAX_BODY).await?;
        match serde_json::from_slice(&bytes) {
            Ok(Value::Object(body)) => Ok(Self(body)),
            _ => Err(ScimError::bad("invalidSyntax", "The body must be a JSON object.")),
        }
    }
}

impl RouteInput for Body {
    fn describe(description: &mut Description<'_>) {
        description.body(MEDIA_TYPE, &json!({ "type": "object" }), true);
    }
}

/// The query of a list.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ListQuery {
    /// A filter, such as `userName eq "ada@example.com"`.
    filter: Option<String>,
    /// The first one to return, from 1 on.
    start_index: Option<i64>,
    /// The most to return.
    count: Option<i64>,
    /// Only these attributes, separated by commas.
    attributes: Option<String>,
    /// Without these attributes, separated by commas.
    excluded_attributes: Option<String>,
}

/// The query of one resource.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OneQuery {
    /// Only these attributes, separated by commas.
    attributes: Option<String>,
    /// Without these attributes, separated by commas.
    excluded_attributes: Option<String>,
}

/// The part of a list that a client wants.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) filter: Option<String>,
    /// How many to leave out before the first.
    pub(crate) offset: u32,
    pub(crate) limit: u32,
    pub(crate) projection: Projection,
}

impl Page {
    /// Returns the number of the first resource, from 1 on.
    pub(crate) fn start(&self) -> usize {
        self.offset as usize + 1
    }
}

fn values<T>(query: SentQuery<T>) -> Result<T, ScimError> {
    query.map(|Query(query)| query).map_err(|_| ScimError::value("A query parameter is not valid."))
}

/// Reads the query of a list: numbers that are too small are the smallest possible ones (RFC 7644, 3.4.2.4).
pub(crate) fn page(query: SentQuery<ListQuery>, most: u32) -> Result<Page, ScimError> {
    let query = values(query)?;
    let number = |number: i64| u32::try_from(number.max(0)).unwrap_or(u32::MAX);
    Ok(Page {
        offset: number(query.start_index.unwrap_or(1).saturating_sub(1)),
        limit: query.count.map_or(most, number).min(most),
        projection: Projection::new(query.attributes.as_deref(), query.excluded_attributes.as_deref())?,
        filter: query.filter.filter(|filter| !filter.trim().is_empty()),
    })
}

/// Reads the query of one resource.
pub(crate) fn projection(query: SentQuery<OneQuery>) -> Result<Projection, ScimError> {
    let query = values(query)?;
    Projection::new(query.attributes.as_deref(), query.excluded_attributes.as_deref())
}
