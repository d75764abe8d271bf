//! Adapts messages of a server before rmcp parses them: their memory is bounded, and information is
//! preserved that rmcp would drop.
//!
//! - A result with very many content blocks is joined, because each block takes many times its size
//!   on the wire.
//! - An error without the id of its request gets the id (a server that has forgotten its session
//!   does not know the id). rmcp would drop the error, and the request would wait for its timeout.
//! - A question to the user names the call whose answer it came with, because the protocol does not say
//!   which call asks.
//! - `execution.taskSupport` of a tool moves to its `_meta`, and that a server runs calls as tasks to its
//!   `experimental` capabilities, because rmcp's types have no fields for them.
//! - A result that describes a task is wrapped: rmcp would read it as a task of a later version of the protocol, and drop
//!   fields.

mod tasks;

pub(crate) use tasks::{TASK, TASK_CALLS, TASK_SUPPORT};

use rmcp::model::RequestId;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::BTreeMap;
use tools::json_memory::is_too_large;

/// The key in an error's `data` that marks an error that came without the id of its request.
pub(crate) const UNCORRELATED: &str = "chatwright/uncorrelated";
/// The key in a question's `_meta` for the id of the call in whose stream it came. Only this client sets it.
pub(crate) const ANSWERED_CALL: &str = "chatwright/answeredCall";
/// The method of a question to the user.
const ELICIT: &str = "elicitation/create";
/// JSON-RPC's error code for an internal error of the server.
const INTERNAL_ERROR: i64 = -32603;
/// The maximum number of content blocks of a result; of more, consecutive texts are joined.
const MAX_PARTS: usize = 256;
/// The size in bytes up to which a message needs no check.
const SMALL: usize = 16 << 10;

/// Returns the message for rmcp. `asked` is the request that it answers, if the transport knows it.
pub(crate) fn fit<'a>(text: &'a str, asked: Option<&RequestId>) -> Cow<'a, str> {
    let mut text = Cow::Borrowed(text);
    if text.len() > SMALL {
        if let Some(joined) = join_parts(&text) {
            text = Cow::Owned(joined);
        }
        if is_too_large(text.as_bytes()) {
            return Cow::Owned(error_response(id_of(&text), asked, "the answer has too many values"));
        }
    }
    if let Some(changed) = tasks::fit(&text) {
        text = Cow::Owned(changed);
    }
    if is_question(&text)
        && let Some(changed) = name_call(&text, asked)
    {
        text = Cow::Owned(changed);
    }
    if let Some(asked) = asked
        && let Some(changed) = correlate(&text, asked)
    {
        text = Cow::Owned(changed);
    }
    text
}

/// Returns an error to replace an answer that cannot be read.
pub(crate) fn error_response(id: Option<Value>, asked: Option<&RequestId>, why: &str) -> String {
    let id = asked.and_then(|asked| serde_json::to_value(asked).ok()).or(id);
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": INTERNAL_ERROR, "message": why } }).to_string()
}

/// The fields of a message that tell its kind.
#[derive(Deserialize)]
struct MessageHead<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
}

fn id_of(text: &str) -> Option<Value> {
    let head: MessageHead<'_> = serde_json::from_str(text).ok()?;
    serde_json::from_str(head.id?.get()).ok()
}

/// Returns an error without its request's id with this id; `None` for other messages.
fn correlate(text: &str, asked: &RequestId) -> Option<String> {
    let head: MessageHead<'_> = serde_json::from_str(text).ok()?;
    if head.method.is_some() {
        return None;
    }
    let mut error: Value = serde_json::from_str(head.error?.get()).ok()?;
    let id: Option<RequestId> = head.id.and_then(|id| serde_json::from_str(id.get()).ok());
    if id.is_some_and(|id| id.to_string() == asked.to_string()) {
        return None;
    }
    // Some servers leave out fields that JSON-RPC requires.
    if !error.is_object() {
        error = json!({ "message": error });
    }
    if !error["code"].is_i64() {
        error["code"] = INTERNAL_ERROR.into();
    }
    if !error["message"].is_string() {
        error["message"] = "the server gave no reason".into();
    }
    error["data"] = json!({ UNCORRELATED: true });
    Some(json!({ "jsonrpc": "2.0", "id": asked, "error": error }).to_string())
}

/// Returns whether a message is a question to the user. The method is decoded first: JSON may escape any character.
fn is_question(text: &str) -> bool {
    let head: Option<MessageHead<'_>> = serde_json::from_str(text).ok();
    let method = head.and_then(|head| head.method);
    method.is_some_and(|method| serde_json::from_str::<Cow<'_, str>>(method.get()).is_ok_and(|name| name == ELICIT))
}

/// Returns a question with the id of the call that it belongs to, or without what the server has put there.
fn name_call(text: &str, asked: Option<&RequestId>) -> Option<String> {
    let mut message: Value = serde_json::from_str(text).ok()?;
    let params = message.get_mut("params")?.as_object_mut()?;
    let meta = params.entry("_meta").or_insert_with(|| json!({}));
    if !meta.is_object() {
        *meta = json!({});
    }
    let meta = meta.as_object_mut()?;
    meta.remove(ANSWERED_CALL);
    if let Some(asked) = asked {
        meta.insert(ANSWERED_CALL.to_owned(), serde_json::to_value(asked).ok()?);
    }
    Some(message.to_string())
}

/// The fields of a content block that are needed for joining.
#[derive(Deserialize)]
struct BlockFields<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    text: Option<Cow<'a, str>>,
}

/// Returns a result of more than [`MAX_PARTS`] content blocks with consecutive texts joined; `None`
/// for other messages.
fn join_parts(text: &str) -> Option<String> {
    let mut message: BTreeMap<&str, &RawValue> = serde_json::from_str(text).ok()?;
    let mut result: BTreeMap<&str, &RawValue> = serde_json::from_str(message.get("result")?.get()).ok()?;
    let parts: Vec<&RawValue> = serde_json::from_str(result.get("content")?.get()).ok()?;
    if parts.len() <= MAX_PARTS {
        return None;
    }
    let joined = join_texts(&parts)?;
    result.insert("content", &joined);
    let result = serde_json::value::to_raw_value(&result).ok()?;
    message.insert("result", &result);
    serde_json::to_string(&message).ok()
}

fn join_texts(parts: &[&RawValue]) -> Option<Box<RawValue>> {
    let mut written = Vec::<Cow<'_, RawValue>>::new();
    let mut open: Option<String> = None;
    let words = |text: String| serde_json::value::to_raw_value(&json!({ "type": "text", "text": text })).ok();
    for (at, part) in parts.iter().enumerate() {
        let read: Option<BlockFields<'_>> = serde_json::from_str(part.get()).ok();
        if let Some(BlockFields { kind, text: Some(text) }) = read.filter(|part| part.kind == "text") {
            debug_assert_eq!(kind, "text");
            match &mut open {
                Some(open) => {
                    open.push('\n');
                    open.push_str(&text);
                }
                None => open = Some(text.into_owned()),
            }
            continue;
        }
        if let Some(open) = open.take() {
            written.push(Cow::Owned(words(open)?));
        }
        // One block is reserved for the note.
        if written.len() + 1 >= MAX_PARTS {
            open = Some(format!("[left out: {} more parts, of {} in all]", parts.len() - at, parts.len()));
            break;
        }
        written.push(Cow::Borrowed(part));
    }
    if let Some(open) = open {
        written.push(Cow::Owned(words(open)?));
    }
    serde_json::value::to_raw_value(&written).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(message: &Value, asked: Option<i64>, expected: &Value) {
        let text = message.to_string();
        let fitted = fit(&text, asked.map(RequestId::Number).as_ref()).into_owned();
        assert_eq!(serde_json::from_str::<Value>(&fitted).unwrap(), *expected, "{text:.200}");
    }

    #[test]
    fn error_without_the_id_of_its_request_gets_it() {
        let error_with_id =
            |id: Value| json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32000, "message": "no session" } });
        let data = json!({ UNCORRELATED: true });
        let corrected =
            json!({ "jsonrpc": "2.0", "id": 7, "error": { "code": -32000, "message": "no session", "data": data } });
        check(&error_with_id(Value::Null), Some(7), &corrected);
        check(&error_with_id(json!("server-error")), Some(7), &corrected);
        check(&error_with_id(json!(3)), Some(7), &corrected);
        let without = json!({ "jsonrpc": "2.0", "error": { "code": -32000, "message": "no session" } });
        check(&without, Some(7), &corrected);
        for kept in [
            error_with_id(json!(7)),
            error_with_id(json!("7")),
            json!({ "jsonrpc": "2.0", "id": 3, "result": { "error": "x" } }),
        ] {
            check(&kept, Some(7), &kept);
        }
        check(&without, None, &without);
        let odd = json!({ "jsonrpc": "2.0", "id": 1, "error": "gone" });
        let error =
            json!({ "code": INTERNAL_ERROR, "message": "the server gave no reason", "data": { UNCORRELATED: true } });
        let corrected = json!({ "jsonrpc": "2.0", "id": 7, "error": error });
        check(&json!({ "error": {} }), Some(7), &corrected);
        let corrected = {
            let mut with = corrected;
            with["error"]["message"] = "gone".into();
            with
        };
        check(&odd, Some(7), &corrected);
    }

    #[test]
    fn questions_name_the_call_that_they_came_with() {
        let question = |meta: Value| json!({ "jsonrpc": "2.0", "id": 1, "method": ELICIT, "params": { "message": "Who?", "_meta": meta } });
        let named = question(json!({ "a": 1, ANSWERED_CALL: 7 }));
        check(&question(json!({ "a": 1 })), Some(7), &named);
        check(&question(json!({ "a": 1, ANSWERED_CALL: 9 })), Some(7), &named);
        check(&question(json!({ "a": 1, ANSWERED_CALL: 9 })), None, &question(json!({ "a": 1 })));
        check(&question(json!("none")), None, &question(json!({})));
        let text = question(json!({ ANSWERED_CALL: 9 })).to_string().replace("elicitation/", r"\u0065licitation\/");
        let fitted: Value = serde_json::from_str(&fit(&text, None)).unwrap();
        assert_eq!(fitted, question(json!({})));
        let other = json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": { "data": ELICIT } });
        check(&other, Some(7), &other);
    }

    #[test]
    fn results_with_many_blocks_are_joined() {
        let answer =
            |content: Value| json!({ "jsonrpc": "2.0", "id": 1, "result": { "content": content, "isError": false } });
        let text = |text: &str| json!({ "type": "text", "text": text });
        let image = json!({ "type": "image", "data": "aGk=", "mimeType": "image/png" });
        let long = "\u{20ac}\"\n".repeat(100);
        let many = vec![text(&long); 1000];
        check(&answer(json!(many)), None, &answer(json!([text(&vec![long.as_str(); 1000].join("\n"))])));
        let few = vec![text(&"x".repeat(1000)); 256];
        check(&answer(json!(few)), None, &answer(json!(few)));
        let mut mixed = vec![text("a"); 200];
        mixed.push(image.clone());
        mixed.extend(vec![text("b"); 2000]);
        let (a, b) = (vec!["a"; 200].join("\n"), vec!["b"; 2000].join("\n"));
        check(&answer(json!(mixed)), None, &answer(json!([text(&a), image, text(&b)])));
        let mut kept = vec![image.clone(); 255];
        kept.push(text("[left out: 745 more parts, of 1000 in all]"));
        check(&answer(json!(vec![image; 1000])), None, &answer(json!(kept)));
    }

    #[test]
    fn answer_with_too_many_values_becomes_an_error() {
        let answer =
            |data: Value| json!({ "jsonrpc": "2.0", "id": 4, "result": { "structuredContent": data, "content": [] } });
        let error = json!({ "code": INTERNAL_ERROR, "message": "the answer has too many values" });
        let refused = json!({ "jsonrpc": "2.0", "id": 4, "error": error });
        check(&answer(json!(vec![json!({}); 120_000])), None, &refused);
        check(&answer(json!(vec![json!([]); 120_000])), Some(4), &refused);
        // Commas and braces within a text do not count.
        let texts = answer(json!(",{[\\\"".repeat(120_000)));
        check(&texts, Some(4), &texts);
    }
}
