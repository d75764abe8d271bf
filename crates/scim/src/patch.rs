//! Changes of resources (RFC 7644, 3.5.2), as Okta and Entra ID send them.

use crate::error::ScimError;
use crate::filter::element_matches;
use crate::user::{EMAIL_PARTS, IGNORED, MAX_EMAILS, NAME_PARTS, SCHEMA, STORED, canonical, too_many_emails};
use scim_v2::filter::{AttrExp, AttrPath, CompValue, CompareOp, PatchPath, PatchValuePath, ValFilter};
use serde_json::{Map, Value};

/// The most operations of a request.
const MAX_OPERATIONS: usize = 1_000;
/// The longest path in bytes.
const MAX_PATH: usize = 2_000;

/// The kind of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Add,
    Replace,
    Remove,
}

/// An operation on one attribute.
#[derive(Clone, Debug)]
pub(crate) struct Operation {
    pub(crate) operator: Operator,
    pub(crate) path: PatchPath,
    pub(crate) value: Value,
}

impl Operation {
    /// Returns the attribute that it changes.
    pub(crate) fn attribute(&self) -> &AttrPath {
        match &self.path {
            PatchPath::Attr(path) => path,
            PatchPath::Value(path) => &path.attr,
        }
    }
}

/// Reads the operations of a request. One without a path becomes one for each attribute of its value, whose names may
/// be paths.
///
/// # Errors
/// 400.
pub(crate) fn operations(body: &Map<String, Value>) -> Result<Vec<Operation>, ScimError> {
    let list =
        body.iter().find(|(key, _)| key.eq_ignore_ascii_case("Operations")).and_then(|(_, list)| list.as_array());
    let list = list.ok_or_else(|| ScimError::bad("invalidSyntax", "The body needs a list `Operations`."))?;
    let mut operations = Vec::new();
    for sent in list {
        let operator = match sent["op"].as_str().unwrap_or_default().to_ascii_lowercase().as_str() {
            "add" => Operator::Add,
            "replace" => Operator::Replace,
            "remove" => Operator::Remove,
            _ => return Err(ScimError::bad("invalidSyntax", "`op` must be `add`, `replace` or `remove`.")),
        };
        match (&sent["path"], &sent["value"]) {
            (Value::String(path), value) => {
                operations.push(Operation { operator, path: parse_path(path)?, value: value.clone() });
            }
            (Value::Null, _) if operator == Operator::Remove => {
                return Err(ScimError::bad("noTarget", "`remove` needs a `path`."));
            }
            (Value::Null, Value::Object(values)) => {
                // One more than allowed is enough, because the check below refuses it.
                for (path, value) in values.iter().take(MAX_OPERATIONS + 1) {
                    operations.push(Operation { operator, path: parse_path(path)?, value: value.clone() });
                }
            }
            _ => {
                return Err(ScimError::bad(
                    "invalidSyntax",
                    "An operation without a `path` needs an object as `value`.",
                ));
            }
        }
        if operations.len() > MAX_OPERATIONS {
            return Err(ScimError::bad("tooMany", format!("A request changes at most {MAX_OPERATIONS} attributes.")));
        }
    }
    Ok(operations)
}

/// Parses a path, whose size and depth are bounded.
pub(crate) fn parse_path(path: &str) -> Result<PatchPath, ScimError> {
    let invalid = || ScimError::bad("invalidPath", "The path of an operation cannot be read.");
    if path.len() > MAX_PATH { Err(invalid()) } else { path.parse().map_err(|_| invalid()) }
}

/// Changes a user's document (`user::document`).
///
/// # Errors
/// 400.
pub(crate) fn apply(document: &mut Map<String, Value>, operation: &Operation) -> Result<(), ScimError> {
    let path = operation.attribute();
    let is_extension = path.uri.as_deref().is_some_and(|uri| !uri.eq_ignore_ascii_case(SCHEMA));
    let Some(name) = canonical(&STORED, &path.name).filter(|_| !is_extension) else {
        let is_known = is_extension || canonical(&IGNORED, &path.name).is_some();
        let detail = || format!("Users have no attribute `{}`.", path.name);
        return if is_known { Ok(()) } else { Err(ScimError::bad("invalidPath", detail())) };
    };
    match (name, &operation.path) {
        ("name", PatchPath::Attr(path)) => change_name(document, path.sub_attr.as_deref(), operation),
        ("emails", PatchPath::Attr(path)) if path.sub_attr.is_none() => change_emails(document, operation),
        ("emails", PatchPath::Value(path)) => change_elements(document, path, operation),
        (_, PatchPath::Attr(path)) if path.sub_attr.is_none() && name != "emails" => {
            match operation.operator {
                Operator::Add | Operator::Replace => document.insert(name.to_owned(), operation.value.clone()),
                Operator::Remove => document.remove(name),
            };
            Ok(())
        }
        _ => Err(ScimError::bad("invalidPath", format!("`{name}` cannot be changed in this way."))),
    }
}

fn change_name(document: &mut Map<String, Value>, part: Option<&str>, operation: &Operation) -> Result<(), ScimError> {
    let mut name = document.remove("name").and_then(object).unwrap_or_default();
    match (part, operation.operator) {
        (None, Operator::Remove) => name.clear(),
        // Parts that are not named stay (RFC 7644, 3.5.2.3).
        (None, Operator::Add | Operator::Replace) => {
            let parts = operation.value.as_object().ok_or_else(|| ScimError::value("`name` must be an object."))?;
            for (part, value) in parts {
                name.extend(canonical(&NAME_PARTS, part).map(|part| (part.to_owned(), value.clone())));
            }
        }
        (Some(part), operator) => {
            let part = canonical(&NAME_PARTS, part)
                .ok_or_else(|| ScimError::bad("invalidPath", format!("`name` has no part `{part}`.")))?;
            match operator {
                Operator::Add | Operator::Replace => name.insert(part.to_owned(), operation.value.clone()),
                Operator::Remove => name.remove(part),
            };
        }
    }
    document.insert("name".to_owned(), name.into());
    Ok(())
}

/// Changes the whole list.
fn change_emails(document: &mut Map<String, Value>, operation: &Operation) -> Result<(), ScimError> {
    let before = document.remove("emails").map(list).unwrap_or_default();
    let sent = list(operation.value.clone());
    let emails = match operation.operator {
        Operator::Remove => Vec::new(),
        Operator::Replace => sent,
        Operator::Add => {
            let mut emails = before;
            for email in sent {
                let is_new =
                    !emails.iter().any(|known| known["value"] == email["value"] && known["type"] == email["type"]);
                if is_new {
                    emails.push(email);
                }
                // Bounded here as well, because each one is compared with all before it.
                if emails.len() > MAX_EMAILS {
                    return Err(too_many_emails());
                }
            }
            emails
        }
    };
    set_emails(document, emails, operation)
}

/// Stores the list. If the operation has marked an address as primary, the others no longer are. The length of the list is
/// checked after each operation, so that a request with many operations does not become slow.
fn set_emails(
    document: &mut Map<String, Value>,
    mut emails: Vec<Value>,
    operation: &Operation,
) -> Result<(), ScimError> {
    if emails.len() > MAX_EMAILS {
        return Err(too_many_emails());
    }
    let is_primary = |email: &Value| {
        email["primary"] == true || email["primary"].as_str().is_some_and(|text| text.eq_ignore_ascii_case("true"))
    };
    if operation.operator == Operator::Add && emails.iter().filter(|email| is_primary(email)).count() > 1 {
        let last = emails.iter().rposition(is_primary);
        for (i, email) in emails.iter_mut().enumerate() {
            if let (true, Some(email)) = (Some(i) != last, email.as_object_mut()) {
                email.remove("primary");
            }
        }
    }
    document.insert("emails".to_owned(), emails.into());
    Ok(())
}

/// Changes the elements of `emails` that a filter selects.
fn change_elements(
    document: &mut Map<String, Value>,
    path: &PatchValuePath,
    operation: &Operation,
) -> Result<(), ScimError> {
    let part = match &path.sub_attr {
        Some(part) => Some(
            canonical(&EMAIL_PARTS, part)
                .ok_or_else(|| ScimError::bad("invalidPath", format!("`emails` have no part `{part}`.")))?,
        ),
        None => None,
    };
    let mut emails = document.remove("emails").map(list).unwrap_or_default();
    let is_selected = |email: &Value| email.as_object().is_some_and(|email| element_matches(&path.filter, email));
    if operation.operator == Operator::Remove && part.is_none() {
        emails.retain(|email| !is_selected(email));
        return set_emails(document, emails, operation);
    }
    // Entra ID replaces the address of a type that the user does not have yet.
    if !emails.iter().any(is_selected) && operation.operator != Operator::Remove {
        let new = required(&path.filter).ok_or_else(|| ScimError::bad("noTarget", "No element matches the path."))?;
        emails.push(new.into());
    }
    for email in emails.iter_mut().filter(|email| is_selected(email)).filter_map(Value::as_object_mut) {
        match (part, operation.operator) {
            (Some(part), Operator::Remove) => drop(email.remove(part)),
            (Some(part), _) => drop(email.insert(part.to_owned(), operation.value.clone())),
            (None, _) => {
                let parts = operation.value.as_object();
                let parts = parts.ok_or_else(|| ScimError::value("Each of `emails` must be an object."))?;
                for (name, value) in parts {
                    email.extend(canonical(&EMAIL_PARTS, name).map(|name| (name.to_owned(), value.clone())));
                }
            }
        }
    }
    set_emails(document, emails, operation)
}

/// Returns the parts that an element must have to match a filter, if the filter asks for nothing else.
fn required(filter: &ValFilter) -> Option<Map<String, Value>> {
    match filter {
        ValFilter::And(parts) => parts.iter().try_fold(Map::new(), |mut all, part| {
            all.extend(required(part)?);
            Some(all)
        }),
        ValFilter::Attr(AttrExp::Comparison(path, CompareOp::Eq, value)) => {
            let name = canonical(&EMAIL_PARTS, &path.name)?;
            let value = match value {
                CompValue::Str(text) => text.clone().into(),
                CompValue::True => true.into(),
                CompValue::False => false.into(),
                CompValue::Null | CompValue::Number(_) => return None,
            };
            Some(Map::from_iter([(name.to_owned(), value)]))
        }
        _ => None,
    }
}

fn object(value: Value) -> Option<Map<String, Value>> {
    if let Value::Object(object) = value { Some(object) } else { None }
}

/// Returns the elements of a list; another value is its only element.
fn list(value: Value) -> Vec<Value> {
    match value {
        Value::Array(items) => items,
        Value::Null => Vec::new(),
        one => vec![one],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn document() -> Value {
        json!({
            "userName": "ada", "active": true, "name": { "givenName": "Ada" },
            "emails": [{ "value": "ada@work.test", "type": "work", "primary": true }],
        })
    }

    fn patched(operations_sent: Value) -> Result<Value, ScimError> {
        let body =
            json!({ "schemas": ["urn:ietf:params:scim:api:messages:2.0:PatchOp"], "Operations": operations_sent });
        let Value::Object(mut document) = document() else { unreachable!() };
        for operation in operations(body.as_object().unwrap())? {
            apply(&mut document, &operation)?;
        }
        Ok(document.into())
    }

    #[test]
    fn documents_are_changed_as_clients_ask() {
        let check = |sent: Value, changed: Value| {
            let mut expected = document();
            for (name, value) in changed.as_object().unwrap() {
                expected[name] = value.clone();
            }
            assert_eq!(patched(json!([sent])).unwrap(), expected, "{sent}");
        };
        let work = |value: &str| json!({ "value": value, "type": "work", "primary": true });
        // Okta
        check(json!({ "op": "replace", "value": { "active": false } }), json!({ "active": false }));
        check(json!({ "op": "replace", "value": { "id": "1", "displayName": "A" } }), json!({ "displayName": "A" }));
        // Entra ID
        check(json!({ "op": "Replace", "path": "active", "value": "False" }), json!({ "active": "False" }));
        check(
            json!({ "op": "Add", "path": "emails[type eq \"work\"].value", "value": "new@work.test" }),
            json!({ "emails": [work("new@work.test")] }),
        );
        check(
            json!({ "op": "Add", "path": "emails[type eq \"home\"].value", "value": "x" }),
            json!({ "emails": [work("ada@work.test"), { "type": "home", "value": "x" }] }),
        );
        let flat = json!({ "op": "Add", "value": {
            "name.familyName": "L", "displayName": "Ada L", "title": "Countess",
            "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department": "X",
        } });
        check(flat, json!({ "name": { "givenName": "Ada", "familyName": "L" }, "displayName": "Ada L" }));
        check(
            json!({ "op": "replace", "path": "name.givenName", "value": "A" }),
            json!({ "name": { "givenName": "A" } }),
        );
        let extension = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:manager";
        check(json!({ "op": "add", "path": extension, "value": "x" }), json!({}));
        check(json!({ "op": "add", "path": "phoneNumbers[type eq \"mobile\"].value", "value": "1" }), json!({}));
        // RFC 7644
        check(
            json!({ "op": "add", "path": "urn:ietf:params:scim:schemas:core:2.0:User:displayName", "value": "A" }),
            json!({ "displayName": "A" }),
        );
        check(json!({ "op": "remove", "path": "emails[type eq \"work\"]" }), json!({ "emails": [] }));
        check(json!({ "op": "remove", "path": "emails" }), json!({ "emails": [] }));
        check(
            json!({ "op": "replace", "path": "emails", "value": [{ "value": "x" }] }),
            json!({ "emails": [{ "value": "x" }] }),
        );
        check(
            json!({ "op": "add", "path": "emails", "value": [{ "value": "x", "primary": true }] }),
            json!({ "emails": [{ "value": "ada@work.test", "type": "work" }, { "value": "x", "primary": true }] }),
        );
        check(
            json!({ "op": "remove", "path": "emails[type eq \"work\"].primary" }),
            json!({ "emails": [{ "value": "ada@work.test", "type": "work" }] }),
        );
        check(json!({ "op": "remove", "path": "name" }), json!({ "name": {} }));
        check(
            json!({ "op": "replace", "path": "name", "value": { "familyName": "L" } }),
            json!({ "name": { "givenName": "Ada", "familyName": "L" } }),
        );
    }

    #[test]
    fn changes_that_cannot_be_made_are_refused() {
        let check = |sent: Value, expected: &str| {
            let error = patched(json!([sent])).unwrap_err();
            assert_eq!(error.kind, Some(expected), "{sent} {}", error.detail);
        };
        check(json!({ "op": "move", "path": "active" }), "invalidSyntax");
        check(json!({ "op": "replace", "value": "x" }), "invalidSyntax");
        check(json!({ "op": "remove" }), "noTarget");
        check(json!({ "op": "remove", "path": "shoeSize" }), "invalidPath");
        check(json!({ "op": "add", "path": "emails[", "value": "x" }), "invalidPath");
        check(json!({ "op": "add", "path": "emails.value", "value": "x" }), "invalidPath");
        check(json!({ "op": "add", "path": "name.shoe", "value": "x" }), "invalidPath");
        check(json!({ "op": "add", "path": "name", "value": "x" }), "invalidValue");
        check(json!({ "op": "replace", "path": "emails[type pr and value co \"q\"].value", "value": "x" }), "noTarget");
        check(json!({ "op": "add", "path": "a".repeat(2_001), "value": "x" }), "invalidPath");
        let emails: Vec<_> = (0..21).map(|number| json!({ "value": number.to_string() })).collect();
        for op in ["add", "replace"] {
            check(json!({ "op": op, "path": "emails", "value": emails }), "invalidValue");
        }
        let one_by_one: Vec<_> =
            emails.iter().map(|email| json!({ "op": "add", "path": "emails", "value": email })).collect();
        assert_eq!(patched(one_by_one.into()).unwrap_err().kind, Some("invalidValue"));
        let many: Vec<_> = (0..1_001).map(|_| json!({ "op": "add", "path": "active", "value": true })).collect();
        assert_eq!(patched(many.into()).unwrap_err().kind, Some("tooMany"));
        let values: Map<_, _> = (0..1_001).map(|number| (format!("a{number}"), Value::Null)).collect();
        check(json!({ "op": "add", "value": values }), "tooMany");
        assert_eq!(operations(&Map::new()).unwrap_err().kind, Some("invalidSyntax"));
    }
}
