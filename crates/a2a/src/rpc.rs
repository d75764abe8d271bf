//! The body of a request: a call of JSON-RPC 2.0, and the parameters of its method. Fields that this version does not
//! know are ignored, as the protocol demands.

use crate::error::RpcError;
use a2a_types::{
    CancelTaskRequest, DeleteTaskPushNotificationConfigRequest, GetTaskPushNotificationConfigRequest, GetTaskRequest,
    ListTaskPushNotificationConfigsRequest, ListTasksRequest, Role, SendMessageRequest, SubscribeToTaskRequest,
    TaskPushNotificationConfig,
};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The most parts of a message.
const MAX_PARTS: usize = 1_000;
/// The longest id of a call in bytes, which the response repeats.
const MAX_ID: usize = 1_024;
/// The most tasks of a page.
pub(crate) const MAX_PAGE: i32 = 100;

/// A call, as the OpenAPI document shows it.
#[derive(JsonSchema)]
#[schemars(rename = "A2aCall")]
#[expect(dead_code, reason = "it is only the schema: `Call::read` names what is wrong")]
pub(crate) struct CallSchema {
    /// `2.0`.
    jsonrpc: String,
    /// The id, which the response repeats.
    id: CallId,
    /// A method of A2A 1.0, for example `SendMessage`.
    method: String,
    /// The parameters of the method.
    params: Option<Map<String, Value>>,
}

/// The id of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "A2aCallId")]
pub(crate) enum CallId {
    Number(i64),
    Text(String),
}

/// A call.
pub(crate) struct Call {
    pub(crate) id: CallId,
    /// The method with its parameters, or why they cannot be used.
    pub(crate) method: Result<Method, RpcError>,
}

/// A method with its parameters.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Method {
    Send(Box<SendMessageRequest>),
    SendStreaming(Box<SendMessageRequest>),
    Get(GetTaskRequest),
    List(ListTasksRequest),
    Cancel(CancelTaskRequest),
    Subscribe(SubscribeToTaskRequest),
    ExtendedCard,
    CreatePush(TaskPushNotificationConfig),
    GetPush(GetTaskPushNotificationConfigRequest),
    ListPush(ListTaskPushNotificationConfigsRequest),
    DeletePush(DeleteTaskPushNotificationConfigRequest),
}

impl Call {
    /// Reads a body.
    ///
    /// # Errors
    /// The error of what is not a call, with its id if it has one.
    pub(crate) fn read(body: &[u8]) -> Result<Self, (Option<CallId>, RpcError)> {
        let value: Value = serde_json::from_slice(body).map_err(|_| (None, RpcError::not_json()))?;
        let Value::Object(mut call) = value else {
            let message = "The request must be one call of JSON-RPC 2.0; batches are not supported.";
            return Err((None, RpcError::invalid_request(message)));
        };
        let is_usual = |id: &CallId| !matches!(id, CallId::Text(text) if text.len() > MAX_ID);
        let id = call.remove("id").and_then(|id| CallId::deserialize(id).ok()).filter(is_usual);
        let refuse = |message: &str| (id.clone(), RpcError::invalid_request(message));
        if call.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
            return Err(refuse("`jsonrpc` must be `2.0`."));
        }
        let Some(Value::String(name)) = call.remove("method") else {
            return Err(refuse("`method` must be the name of a method, for example `SendMessage`."));
        };
        let params = match call.remove("params") {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(params)) => params,
            Some(_) => return Err(refuse("`params` must be an object.")),
        };
        let Some(id) = id else {
            let message = format!("`id` must be a whole number, or a text of at most {MAX_ID} bytes.");
            return Err((None, RpcError::invalid_request(message)));
        };
        Ok(Self { id, method: Method::read(&name, params.into()) })
    }
}

impl Method {
    /// Reads the parameters of the method with this name.
    ///
    /// # Errors
    /// There is no such method, or a parameter cannot be used.
    pub(crate) fn read(name: &str, mut params: Value) -> Result<Self, RpcError> {
        use_json_names(&mut params);
        let method = match name {
            "SendMessage" => Self::Send(typed(params)?),
            "SendStreamingMessage" => Self::SendStreaming(typed(params)?),
            "GetTask" => Self::Get(typed(params)?),
            "ListTasks" => Self::List(typed(params)?),
            "CancelTask" => Self::Cancel(typed(params)?),
            "SubscribeToTask" => Self::Subscribe(typed(params)?),
            "GetExtendedAgentCard" => Self::ExtendedCard,
            "CreateTaskPushNotificationConfig" => Self::CreatePush(typed(params)?),
            "GetTaskPushNotificationConfig" => Self::GetPush(typed(params)?),
            "ListTaskPushNotificationConfigs" => Self::ListPush(typed(params)?),
            "DeleteTaskPushNotificationConfig" => Self::DeletePush(typed(params)?),
            name => return Err(RpcError::unknown_method(name)),
        };
        method.check()?;
        Ok(method)
    }

    fn check(&self) -> Result<(), RpcError> {
        match self {
            Self::Send(send) | Self::SendStreaming(send) => check_message(send),
            Self::Get(get) => check_history_length("historyLength", get.history_length),
            Self::List(list) => {
                if list.page_size.is_some_and(|size| !(1..=MAX_PAGE).contains(&size)) {
                    return Err(RpcError::invalid("pageSize", format!("`pageSize` is between 1 and {MAX_PAGE}.")));
                }
                check_history_length("historyLength", list.history_length)
            }
            Self::Cancel(_)
            | Self::Subscribe(_)
            | Self::ExtendedCard
            | Self::CreatePush(_)
            | Self::GetPush(_)
            | Self::ListPush(_)
            | Self::DeletePush(_) => Ok(()),
        }
    }
}

fn check_message(send: &SendMessageRequest) -> Result<(), RpcError> {
    let message = &send.message;
    if message.role != Role::User {
        return Err(RpcError::invalid("message.role", "The role of a message to an agent is `ROLE_USER`."));
    }
    let ids = [("message.messageId", Some(&message.message_id)), ("message.contextId", message.context_id.as_ref())];
    for (field, id) in ids {
        if id.is_some_and(|id| !wire::is_id(id)) {
            return Err(RpcError::invalid(field, "An id has 1 to 128 letters, digits, `-` or `_`."));
        }
    }
    if message.parts.is_empty() || message.parts.len() > MAX_PARTS {
        return Err(RpcError::invalid("message.parts", format!("A message has 1 to {MAX_PARTS} parts.")));
    }
    let Some(configuration) = &send.configuration else { return Ok(()) };
    check_history_length("configuration.historyLength", configuration.history_length)
}

fn check_history_length(field: &str, length: Option<i32>) -> Result<(), RpcError> {
    match length {
        Some(length) if length < 0 => Err(RpcError::invalid(field, "The length of the history is not negative.")),
        _ => Ok(()),
    }
}

/// Gives fields with a name of the protocol's definition, such as `task_id`, their name in JSON. Readers of ProtoJSON
/// accept both, and clients send them; they would be ignored otherwise, as unknown fields are.
fn use_json_names(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(use_json_names),
        Value::Object(fields) => {
            let names: Vec<_> = fields.keys().filter(|name| name.contains('_')).cloned().collect();
            for name in names {
                let in_json = json_name(&name);
                if !fields.contains_key(&in_json)
                    && let Some(field) = fields.remove(&name)
                {
                    fields.insert(in_json, field);
                }
            }
            for (name, field) in fields {
                // These have objects of the client, not fields of the protocol.
                if name != "data" && name != "metadata" {
                    use_json_names(field);
                }
            }
        }
        _ => {}
    }
}

/// Returns the name in JSON of a field: `taskId` for `task_id`.
pub(crate) fn json_name(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |mut joined, word| {
        let mut letters = word.chars();
        joined.extend(letters.next().map(|letter| letter.to_ascii_uppercase()));
        joined.push_str(letters.as_str());
        joined
    })
}

fn typed<T: DeserializeOwned>(params: Value) -> Result<T, RpcError> {
    serde_path_to_error::deserialize(params).map_err(|error| {
        let field = error.path().to_string();
        let text = error.inner().to_string();
        let reason: String = text.trim_end_matches('.').chars().take(300).collect();
        let field = if field == "." { "params".to_owned() } else { field };
        RpcError::invalid(field, format!("This cannot be read: {reason}."))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use insta::assert_snapshot;
    use serde_json::json;

    /// Returns what a body is read as.
    fn check(body: &str) -> String {
        let id = |id: CallId| serde_json::to_string(&id).unwrap();
        let failed = |error: RpcError| {
            let field = error.data.first().map(|detail| detail["fieldViolations"][0]["field"].clone());
            format!("{} {} {}", error.code, field.unwrap_or_default(), error.message)
        };
        match Call::read(body.as_bytes()) {
            Ok(Call { id: of, method: Ok(method) }) => format!("{}: {method:?}", id(of)),
            Ok(Call { id: of, method: Err(error) }) => format!("{}: {}", id(of), failed(error)),
            Err((of, error)) => format!("{}: {}", of.map_or("-".to_owned(), id), failed(error)),
        }
    }

    /// Returns what a message is read as.
    fn check_message(message: &str, configuration: &str) -> String {
        check(&format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{{"message":{message},"configuration":{configuration}}}}}"#
        ))
    }

    #[test]
    fn calls_are_read_or_refused_with_the_place() {
        let all = [
            check("{"),
            check("[]"),
            check(r#"{"id":1}"#),
            check(r#"{"jsonrpc":"2.0","id":"a"}"#),
            check(r#"{"jsonrpc":"2.0","method":"GetTask"}"#),
            check(r#"{"jsonrpc":"2.0","id":1.5,"method":"GetTask"}"#),
            check(r#"{"jsonrpc":"2.0","id":1,"method":"GetTask","params":[]}"#),
            check(r#"{"jsonrpc":"2.0","id":1,"method":"message/send","params":{}}"#),
            check(r#"{"jsonrpc":"2.0","id":1,"method":"GetTask"}"#),
            check(r#"{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"t","historyLength":-1}}"#),
            check(r#"{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"t","new":1}}"#),
            check(r#"{"jsonrpc":"2.0","id":1,"method":"ListTasks","params":{"pageSize":101}}"#),
            check(r#"{"jsonrpc":"2.0","id":1,"method":"ListTasks","params":{"status":"working"}}"#),
            check(r#"{"jsonrpc":"2.0","id":1,"method":"GetTaskPushNotificationConfig"}"#),
            check(r#"{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"t","history_length":-1}}"#),
            check_message(r#"{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"x"}]}"#, "null"),
            check_message(r#"{"messageId":"a b","role":"ROLE_USER","parts":[{"text":"x"}]}"#, "null"),
            check_message(r#"{"messageId":"m","role":"ROLE_USER","parts":[]}"#, "null"),
            check_message(r#"{"messageId":"m","role":"ROLE_USER","parts":[{"text":"x"},{}]}"#, "null"),
            check_message(r#"{"messageId":"m","role":"ROLE_USER","parts":[{"raw":"?"}]}"#, "null"),
        ];
        assert_snapshot!(all.join("\n"), @r#"
        -: -32700 null Invalid JSON payload: the request is not valid JSON.
        -: -32600 null The request must be one call of JSON-RPC 2.0; batches are not supported.
        1: -32600 null `jsonrpc` must be `2.0`.
        "a": -32600 null `method` must be the name of a method, for example `SendMessage`.
        -: -32600 null `id` must be a whole number, or a text of at most 1024 bytes.
        -: -32600 null `id` must be a whole number, or a text of at most 1024 bytes.
        1: -32600 null `params` must be an object.
        1: -32601 null Method not found: A2A 1.0 has no method `message/send`.
        1: -32602 "params" This cannot be read: missing field `id`.
        1: -32602 "historyLength" The length of the history is not negative.
        1: Get(GetTaskRequest { id: "t", history_length: None, tenant: None })
        1: -32602 "pageSize" `pageSize` is between 1 and 100.
        1: -32602 "status" This cannot be read: unknown variant `working`, expected one of `TASK_STATE_SUBMITTED`, `TASK_STATE_WORKING`, `TASK_STATE_COMPLETED`, `TASK_STATE_FAILED`, `TASK_STATE_CANCELED`, `TASK_STATE_INPUT_REQUIRED`, `TASK_STATE_REJECTED`, `TASK_STATE_AUTH_REQUIRED`, `TASK_STATE_UNSPECIFIED`.
        1: -32602 "params" This cannot be read: missing field `taskId`.
        1: -32602 "historyLength" The length of the history is not negative.
        1: -32602 "message.role" The role of a message to an agent is `ROLE_USER`.
        1: -32602 "message.messageId" An id has 1 to 128 letters, digits, `-` or `_`.
        1: -32602 "message.parts" A message has 1 to 1000 parts.
        1: -32602 "message.parts[1]" This cannot be read: Part must have one of: text, raw, url, data.
        1: -32602 "message.parts[0]" This cannot be read: Invalid symbol 63, offset 0.
        "#);
    }

    #[test]
    fn names_of_the_definition_are_read_as_names_in_json() {
        let check = |mut params: Value, expected: Value| {
            use_json_names(&mut params);
            assert_eq!(params, expected);
        };
        check(json!({ "task_id": "t", "id": "c" }), json!({ "taskId": "t", "id": "c" }));
        check(json!({ "status_timestamp_after": "" }), json!({ "statusTimestampAfter": "" }));
        // The name in JSON counts.
        check(json!({ "task_id": "a", "taskId": "b" }), json!({ "task_id": "a", "taskId": "b" }));
        let client = json!({ "order_id": 1 });
        check(
            json!({ "message": { "message_id": "m", "metadata": client, "parts": [{ "data": client, "media_type": "" }] } }),
            json!({ "message": { "messageId": "m", "metadata": client, "parts": [{ "data": client, "mediaType": "" }] } }),
        );
        check(json!({ "_": 1, "a__b": 2 }), json!({ "": 1, "aB": 2 }));
    }
}
