//! Reads users and site claims from the claims of a verified token.

use crate::user;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chat::{Caller, SiteClaims};
use config::ClaimNames;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// Returns the user; `None` if there is no id, or one that is not allowed.
pub(super) fn user(claims: &Map<String, Value>, names: &ClaimNames) -> Option<Caller> {
    let id = match find_claim(claims, &names.user_id)? {
        Value::String(id) => Cow::Borrowed(id.as_str()),
        // A claim that the config names, of a host that numbers its users.
        Value::Number(id) if id.is_u64() => Cow::Owned(id.to_string()),
        _ => return None,
    };
    let name = find_claim(claims, &names.name).and_then(Value::as_str);
    let roles = find_claim(claims, &names.roles).map(roles).unwrap_or_default();
    user::is_allowed_id(&id).then(|| user::signed_in(&id, name, roles.into_iter()))
}

/// Returns whether the registered claims (RFC 7519) have the right types: `iss` is a string, `aud`
/// a string or a list of strings, `sub` is a string, times are numbers. The library also accepts a list of issuers
/// that contains ours, which another reader of the token could understand differently.
pub(super) fn are_well_formed(claims: &Map<String, Value>) -> bool {
    claims.iter().all(|(name, value)| match name.as_str() {
        "iss" => value.is_string(),
        "aud" => value.is_string() || value.as_array().is_some_and(|all| all.iter().all(Value::is_string)),
        "exp" | "nbf" | "iat" => value.is_number(),
        // A number would be the same user as its digits.
        "sub" => value.is_string(),
        _ => true,
    })
}

/// Returns the claims with which a site limits or extends a token. `None` if one has the wrong
/// type, because a limit must not be ignored.
pub(super) fn site_claims(claims: &Map<String, Value>) -> Option<SiteClaims> {
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
    Some(SiteClaims { inputs, page_id: text("page")?, agent_id: text("agent")? })
}

/// Returns the audiences of a token that is not verified.
pub(super) fn audiences(token: &str) -> Vec<String> {
    let claims = token.split('.').nth(1).and_then(|claims| URL_SAFE_NO_PAD.decode(claims).ok());
    let claims = claims.and_then(|claims| serde_json::from_slice::<Value>(&claims).ok()).unwrap_or_default();
    match claims.get("aud") {
        Some(Value::String(one)) => vec![one.clone()],
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}

/// Returns the claim with this name, or the nested claim at the dotted path.
pub(crate) fn find_claim<'a>(claims: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    if let Some(found) = claims.get(name) {
        return Some(found);
    }
    let mut parts = name.split('.');
    let first = claims.get(parts.next()?)?;
    parts.try_fold(first, |value, part| value.get(part))
}

/// Reads roles from a list of strings, or from a string separated by spaces or commas.
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
    fn claims_of_wrong_types_are_rejected() {
        let check = |claims: Value, expected: bool| {
            assert_eq!(are_well_formed(claims.as_object().unwrap()), expected, "{claims}");
        };
        check(json!({}), true);
        check(json!({ "iss": "host", "aud": "chat", "sub": "ada", "exp": 1, "nbf": 1.5, "iat": 1 }), true);
        check(json!({ "aud": ["chat", "other"], "sub": "7" }), true);
        for (name, values) in [
            ("iss", json!([["host"], ["host", "evil"], 1, { "host": 1 }, null, true])),
            ("aud", json!([["chat", 1], [["chat"]], 1, { "chat": 1 }, null])),
            ("sub", json!([["ada"], { "id": "ada" }, 7, 7.5, true, null])),
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
    fn claims_are_mapped_to_users() {
        let names = |user_id: &str, name: &str, roles: &str| ClaimNames {
            user_id: user_id.to_owned(),
            name: name.to_owned(),
            roles: roles.to_owned(),
        };
        let check = |claims: Value, names: ClaimNames, expected: Option<(&str, Option<&str>, &[&str])>| {
            let seen = user(claims.as_object().unwrap(), &names);
            let seen = seen.as_ref().map(|user| {
                let roles: Vec<_> = user.roles().iter().map(String::as_str).collect();
                (user.user_id.as_str(), user.name.as_deref(), roles)
            });
            assert_eq!(seen, expected.map(|(id, name, roles)| (id, name, roles.to_vec())), "{claims}");
        };
        let usual = || names("sub", "name", "roles");
        check(json!({ "sub": "ada" }), usual(), Some(("ada", None, &[])));
        check(
            json!({ "sub": "x", "uid": 7, "name": " Ada ", "roles": ["editor", 7, ""] }),
            names("uid", "name", "roles"),
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
        check(json!({ "sub": "x", "uid": 7.5 }), names("uid", "name", "roles"), None);
        check(json!({ "sub": "local" }), usual(), None);
        check(json!({ "sub": "ada\u{202e}" }), usual(), None);
        check(json!({ "sub": { "id": 1 } }), usual(), None);
        check(json!({}), usual(), None);
    }
}
