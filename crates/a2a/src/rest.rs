//! The binding HTTP+JSON of A2A: a path for each method, below the one of JSON-RPC.

use crate::error::{Refusal, RestError, RpcError};
use crate::methods::{self, Answered};
use crate::request::{CallContext, RequestInfo, open};
use crate::response::Envelope;
use crate::rpc::{Method, json_name};
use crate::section::A2a;
use axum::body::Body;
use axum::extract::{FromRequest, Path, Request, State};
use axum::http::header::{CONTENT_TYPE, HeaderValue};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use capability::Context;
use serde_json::{Map, Value, json};
use std::convert::Infallible;
use std::time::Duration;
use url::form_urlencoded;
use web::EventStream;
use web::openapi::{Description, RouteInput, RouteOutput};

/// The media type of the binding.
pub(crate) const MEDIA_TYPE: &str = "application/a2a+json";

/// The parameters of a request, as an object.
pub(crate) struct RestBody(Bytes);

impl FromRequest<Context> for RestBody {
    type Rejection = Refusal;

    async fn from_request(mut request: Request, context: &Context) -> Result<Self, Refusal> {
        let headers = request.headers_mut();
        let is_ours = |kind: &HeaderValue| kind.as_bytes().to_ascii_lowercase().starts_with(MEDIA_TYPE.as_bytes());
        if headers.get(CONTENT_TYPE).is_some_and(is_ours) {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        let config = context.current.config();
        let most = A2a::of(&config)?.body_bytes;
        Ok(Self(web::read_json_body(request, most, config.limits.body_bytes).await?))
    }
}

impl RouteInput for RestBody {
    fn describe(description: &mut Description<'_>) {
        description.body(MEDIA_TYPE, &json!({ "type": "object" }), true);
    }
}

impl RestBody {
    /// Reads the method of this name with the body as its parameters.
    async fn read(self, name: &'static str, known: Map<String, Value>) -> Result<Method, RpcError> {
        let length = self.0.len();
        let read = move || {
            let value = serde_json::from_slice(&self.0).map_err(|_| RpcError::not_json())?;
            let Value::Object(mut params) = value else {
                return Err(RpcError::invalid("body", "The body must be an object."));
            };
            // The values of the path win over those of the body.
            params.extend(known);
            Method::read(name, params.into())
        };
        web::offloaded(length, read).await?
    }
}

/// The most bytes of a body that is not used.
const UNUSED_BYTES: usize = 64 * 1024;

/// A body that is read and not used: the SDKs send one with every method. If a body is not read to its end, the
/// connection is closed, and the client's next request fails.
pub(crate) struct UnusedBody;

impl<S: Sync> FromRequest<S> for UnusedBody {
    type Rejection = Infallible;

    async fn from_request(request: Request, _: &S) -> Result<Self, Infallible> {
        // Of a larger one, the connection may be closed.
        let _ = web::read_body(request.into_body(), UNUSED_BYTES).await;
        Ok(Self)
    }
}

impl RouteInput for UnusedBody {}

/// A response: an object, or a stream of events.
pub(crate) enum RestResponse {
    Object(Value),
    Stream(EventStream),
}

impl IntoResponse for RestResponse {
    fn into_response(self) -> Response {
        match self {
            Self::Object(object) => {
                ([(CONTENT_TYPE, HeaderValue::from_static(MEDIA_TYPE))], Body::from(object.to_string())).into_response()
            }
            Self::Stream(stream) => stream.into_response(),
        }
    }
}

impl RouteOutput for RestResponse {
    fn describe(description: &mut Description<'_>) {
        description.response(200, MEDIA_TYPE, &json!({ "type": "object" }));
    }
}

/// A response that is a stream if it succeeds.
pub(crate) struct StreamedResponse(RestResponse);

impl IntoResponse for StreamedResponse {
    fn into_response(self) -> Response {
        self.0.into_response()
    }
}

impl RouteOutput for StreamedResponse {
    fn describe(description: &mut Description<'_>) {
        EventStream::describe(description);
    }
}

/// The request as the middleware has found it, or why it is refused. Errors have the form of this binding.
type Facts = Result<RequestInfo, Refusal>;

/// `POST /a2a/{agent}/message:send`
pub(crate) async fn send(
    State(context): State<Context>,
    facts: Facts,
    Path(agent_id): Path<String>,
    body: Result<RestBody, Refusal>,
) -> Result<RestResponse, RestError> {
    let asked = open(context, facts?, agent_id)?;
    run(asked, body?.read("SendMessage", Map::new()).await?).await
}

/// `POST /a2a/{agent}/message:stream`
pub(crate) async fn stream(
    State(context): State<Context>,
    facts: Facts,
    Path(agent_id): Path<String>,
    body: Result<RestBody, Refusal>,
) -> Result<StreamedResponse, RestError> {
    let asked = open(context, facts?, agent_id)?;
    run(asked, body?.read("SendStreamingMessage", Map::new()).await?).await.map(StreamedResponse)
}

/// `GET /a2a/{agent}/tasks`
pub(crate) async fn list(
    State(context): State<Context>,
    facts: Facts,
    Path(agent_id): Path<String>,
) -> Result<RestResponse, RestError> {
    let (asked, query) = open_with_query(context, facts?, agent_id)?;
    run(asked, Method::read("ListTasks", params(Some(&query), &[]).into())?).await
}

/// `GET /a2a/{agent}/tasks/{task}`, and with `:subscribe` behind the id the events of the task.
pub(crate) async fn show(
    State(context): State<Context>,
    facts: Facts,
    Path((agent_id, task)): Path<(String, String)>,
) -> Result<RestResponse, RestError> {
    let (asked, query) = open_with_query(context, facts?, agent_id)?;
    let (name, id) = match task.strip_suffix(":subscribe") {
        Some(id) => ("SubscribeToTask", id),
        None => ("GetTask", task.as_str()),
    };
    run(asked, Method::read(name, params(Some(&query), &[("id", id)]).into())?).await
}

/// `POST /a2a/{agent}/tasks/{task}:cancel` and `:subscribe`. They need no body.
pub(crate) async fn act(
    State(context): State<Context>,
    facts: Facts,
    Path((agent_id, task)): Path<(String, String)>,
    _body: UnusedBody,
) -> Result<RestResponse, RestError> {
    let asked = open(context, facts?, agent_id)?;
    let (name, id) = match task.rsplit_once(':') {
        Some((id, "cancel")) => ("CancelTask", id),
        Some((id, "subscribe")) => ("SubscribeToTask", id),
        _ => return Err(RpcError::unknown_method(&task).into()),
    };
    run(asked, Method::read(name, params(None, &[("id", id)]).into())?).await
}

/// `POST /a2a/{agent}/tasks/{task}/pushNotificationConfigs`
pub(crate) async fn create_push(
    State(context): State<Context>,
    facts: Facts,
    Path((agent_id, task)): Path<(String, String)>,
    body: Result<RestBody, Refusal>,
) -> Result<RestResponse, RestError> {
    let asked = open(context, facts?, agent_id)?;
    let known = params(None, &[("taskId", &task)]);
    run(asked, body?.read("CreateTaskPushNotificationConfig", known).await?).await
}

/// `GET /a2a/{agent}/tasks/{task}/pushNotificationConfigs`
pub(crate) async fn list_push(
    State(context): State<Context>,
    facts: Facts,
    Path((agent_id, task)): Path<(String, String)>,
) -> Result<RestResponse, RestError> {
    let (asked, query) = open_with_query(context, facts?, agent_id)?;
    let params = params(Some(&query), &[("taskId", &task)]);
    run(asked, Method::read("ListTaskPushNotificationConfigs", params.into())?).await
}

/// `GET /a2a/{agent}/tasks/{task}/pushNotificationConfigs/{id}`
pub(crate) async fn show_push(
    State(context): State<Context>,
    facts: Facts,
    Path((agent_id, task, id)): Path<(String, String, String)>,
) -> Result<RestResponse, RestError> {
    let asked = open(context, facts?, agent_id)?;
    let params = params(None, &[("taskId", &task), ("id", &id)]);
    run(asked, Method::read("GetTaskPushNotificationConfig", params.into())?).await
}

/// `DELETE /a2a/{agent}/tasks/{task}/pushNotificationConfigs/{id}`
pub(crate) async fn delete_push(
    State(context): State<Context>,
    facts: Facts,
    Path((agent_id, task, id)): Path<(String, String, String)>,
) -> Result<RestResponse, RestError> {
    let asked = open(context, facts?, agent_id)?;
    let params = params(None, &[("taskId", &task), ("id", &id)]);
    run(asked, Method::read("DeleteTaskPushNotificationConfig", params.into())?).await
}

/// `GET /a2a/{agent}/extendedAgentCard`
pub(crate) async fn extended_card(
    State(context): State<Context>,
    facts: Facts,
    Path(agent_id): Path<String>,
) -> Result<RestResponse, RestError> {
    run(open(context, facts?, agent_id)?, Method::ExtendedCard).await
}

/// As `open`, with the text of the query.
fn open_with_query(
    context: Context,
    facts: RequestInfo,
    agent_id: String,
) -> Result<((CallContext, Duration), String), RestError> {
    let query = facts.query.clone();
    Ok((open(context, facts, agent_id)?, query))
}

/// Runs a method. `open` has found out who asks which agent, and how often a silent stream shows that it is alive.
pub(crate) async fn run(
    (asked, heartbeat): (CallContext, Duration),
    method: Method,
) -> Result<RestResponse, RestError> {
    Ok(match methods::answer(asked, Envelope::Plain, method).await? {
        Answered::Object(object) => RestResponse::Object(object),
        Answered::Stream(frames) => RestResponse::Stream(EventStream::new(frames, heartbeat)),
    })
}

/// Returns the parameters of a query, with those of the path. A number is one where the method expects one.
pub(crate) fn params(query: Option<&str>, path: &[(&str, &str)]) -> Map<String, Value> {
    let pairs = form_urlencoded::parse(query.unwrap_or_default().as_bytes());
    let read = |(name, value): (std::borrow::Cow<'_, str>, std::borrow::Cow<'_, str>)| {
        let name = json_name(&name);
        let value = match name.as_str() {
            "pageSize" | "historyLength" => value.parse::<i64>().map_or_else(|_| json!(value), Value::from),
            "includeArtifacts" => match value.to_ascii_lowercase().as_str() {
                "true" => true.into(),
                "false" => false.into(),
                _ => json!(value),
            },
            _ => json!(value),
        };
        (name, value)
    };
    let path = path.iter().map(|(name, value)| ((*name).to_owned(), json!(value)));
    pairs.map(read).chain(path).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_read_as_parameters() {
        let check =
            |query: &str, expected: Value| assert_eq!(json!(params(Some(query), &[("id", "t")])), expected, "{query}");
        check("", json!({ "id": "t" }));
        check("id=other&historyLength=2", json!({ "id": "t", "historyLength": 2 }));
        check("history_length=2", json!({ "id": "t", "historyLength": 2 }));
        check("pageSize=x&includeArtifacts=True", json!({ "id": "t", "pageSize": "x", "includeArtifacts": true }));
        check(
            "contextId=1&status=TASK_STATE_WORKING",
            json!({ "id": "t", "contextId": "1", "status": "TASK_STATE_WORKING" }),
        );
        let listed = Method::read("ListTasks", params(Some("pageSize=x"), &[]).into());
        assert!(listed.is_err(), "{listed:?}");
    }
}
