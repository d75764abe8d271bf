//! Who a token says that its bearer is.

use crate::auth::user;
use chat::Caller;
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
