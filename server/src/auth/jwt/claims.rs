//! Who a token says that its bearer is.

use crate::auth::user;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chat::{Caller, Vouched};
use config::ClaimNames;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// The user; none when there is no id, or none that a user may have.
pub(super) fn user(claims: &Map<String, Value>, names: &ClaimNames) -> Option<Caller> {
    let id = match claim(claims, &names.user_id)? {
        Value::String(id) => Cow::Borrowed(id.as_str()),
        Value::Number(id) => Cow::Owned(id.to_string()),
        _ => return None,
    };
    let name = claim(claims, &names.name).and_then(Value::as_str);
    let roles = claim(claims, &names.roles).map(roles).unwrap_or_default();
    user::is_id(&id).then(|| user::signed_in(&id, name, roles.into_iter()))
}

/// Whether the claims of RFC 7519 that were checked are of their types: `iss` is one text, `aud` one text or a list of
/// texts, times are numbers. The library also takes a list of issuers with ours among them, which another reader of the
/// token may understand differently.
pub(super) fn are_well_formed(claims: &Map<String, Value>) -> bool {
    claims.iter().all(|(name, value)| match name.as_str() {
        "iss" => value.is_string(),
        "aud" => value.is_string() || value.as_array().is_some_and(|all| all.iter().all(Value::is_string)),
        "exp" | "nbf" | "iat" => value.is_number(),
        "sub" => value.is_string() || value.is_number(),
        _ => true,
    })
}

/// What a site vouches for; none when it cannot be understood, because what narrows a token must not be passed over.
pub(super) fn vouched(claims: &Map<String, Value>) -> Option<Vouched> {
    let text = |name: &str| match claims.get(name) {
        None | Some(Value::Null) => Some(None),
        Some(Value::String(text)) => Some(Some(text.clone())),
        Some(_) => None,
    };
    let inputs = match claims.get("inputs") {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(inputs)) => inputs.clone(),
        Some(_) => return None,
    };
    Some(Vouched { inputs, page_id: text("page")?, agent_id: text("agent")? })
}

/// For whom a token says that it is, whether or not that is true.
pub(super) fn audiences(token: &str) -> Vec<String> {
    let claims = token.split('.').nth(1).and_then(|claims| URL_SAFE_NO_PAD.decode(claims).ok());
    let claims = claims.and_then(|claims| serde_json::from_slice::<Value>(&claims).ok()).unwrap_or_default();
    match claims.get("aud") {
        Some(Value::String(one)) => vec![one.clone()],
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}

/// The claim with this name, or the one inside others that the name's parts lead to.
fn claim<'a>(claims: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    if let Some(found) = claims.get(name) {
        return Some(found);
    }
    let mut parts = name.split('.');
    let first = claims.get(parts.next()?)?;
    parts.try_fold(first, |value, part| value.get(part))
}

/// A list of texts, or one text with spaces or commas between.
fn roles(value: &Value) -> Vec<&str> {
    match value {
        Value::Array(roles) => roles.iter().filter_map(Value::as_str).collect(),
        Value::String(roles) => roles.split([' ', ',']).collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn types_of_claims() {
        let check = |claims: Value, expected: bool| {
            assert_eq!(are_well_formed(claims.as_object().unwrap()), expected, "{claims}");
        };
        check(json!({}), true);
        check(json!({ "iss": "host", "aud": "chat", "sub": "ada", "exp": 1, "nbf": 1.5, "iat": 1 }), true);
        check(json!({ "aud": ["chat", "other"], "sub": 7 }), true);
        for (name, values) in [
            ("iss", json!([["host"], ["host", "evil"], 1, { "host": 1 }, null, true])),
            ("aud", json!([["chat", 1], [["chat"]], 1, { "chat": 1 }, null])),
            ("sub", json!([["ada"], { "id": "ada" }, true, null])),
            ("exp", json!(["1", [1], null])),
            ("nbf", json!(["1", [1], null])),
            ("iat", json!(["1", [1], null])),
        ] {
            for value in values.as_array().unwrap() {
                check(json!({ name: value }), false);
            }
        }
    }

    #[test]
    fn claims_are_mapped() {
        let names = |user_id: &str, name: &str, roles: &str| ClaimNames {
            user_id: user_id.to_owned(),
            name: name.to_owned(),
            roles: roles.to_owned(),
        };
        let check = |claims: Value, names: ClaimNames, expected: Option<(&str, Option<&str>, &[&str])>| {
            let seen = user(claims.as_object().unwrap(), &names);
            let seen = seen.as_ref().map(|user| {
                let roles: Vec<_> = user.roles.iter().map(String::as_str).collect();
                (user.user_id.as_str(), user.name.as_deref(), roles)
            });
            assert_eq!(seen, expected.map(|(id, name, roles)| (id, name, roles.to_vec())), "{claims}");
        };
        let usual = || names("sub", "name", "roles");
        check(json!({ "sub": "ada" }), usual(), Some(("ada", None, &[])));
        check(
            json!({ "sub": 7, "name": " Ada ", "roles": ["editor", 7, ""] }),
            usual(),
            Some(("7", Some("Ada"), &["editor"])),
        );
        check(json!({ "sub": "ada", "roles": "editor, admin" }), usual(), Some(("ada", None, &["editor", "admin"])));
        check(
            json!({ "sub": "x", "user": { "mail": "a@b" }, "https://a.test/roles": ["r"] }),
            names("user.mail", "name", "https://a.test/roles"),
            Some(("a@b", None, &["r"])),
        );
        check(
            json!({ "sub": "x", "realm_access": { "roles": ["r"] } }),
            names("sub", "name", "realm_access.roles"),
            Some(("x", None, &["r"])),
        );
        check(json!({ "sub": "local" }), usual(), None);
        check(json!({ "sub": { "id": 1 } }), usual(), None);
        check(json!({}), usual(), None);
    }
}
