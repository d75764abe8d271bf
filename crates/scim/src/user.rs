//! A user as SCIM describes them (RFC 7643, 4.1): what is stored of it, and how it is written.

use crate::error::ScimError;
use crate::reply::meta;
use auth::password::credential_rules::name_key;
use serde_json::{Map, Value, json};
use store::{ScimProfile, ScimUser};

/// The schema of users.
pub(crate) const SCHEMA: &str = "urn:ietf:params:scim:schemas:core:2.0:User";

/// The attributes that are stored. Others are ignored, since they have no use here.
pub(crate) const STORED: [&str; 6] = ["userName", "externalId", "active", "displayName", "name", "emails"];
/// The parts of `name`.
pub(crate) const NAME_PARTS: [&str; 6] =
    ["formatted", "familyName", "givenName", "middleName", "honorificPrefix", "honorificSuffix"];
/// The parts of an e-mail address.
pub(crate) const EMAIL_PARTS: [&str; 4] = ["value", "display", "type", "primary"];
/// The other attributes of RFC 7643, which clients send by default.
pub(crate) const IGNORED: [&str; 19] = [
    "schemas",
    "id",
    "meta",
    "groups",
    "nickName",
    "profileUrl",
    "title",
    "userType",
    "preferredLanguage",
    "locale",
    "timezone",
    "password",
    "phoneNumbers",
    "ims",
    "photos",
    "addresses",
    "entitlements",
    "roles",
    "x509Certificates",
];

/// The longest text in characters.
const MAX_TEXT: usize = 255;
/// The most e-mail addresses.
pub(crate) const MAX_EMAILS: usize = 20;

/// The properties of a user in a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SentUser {
    pub(crate) profile: ScimProfile,
    /// Whether the user may sign in, if it says so.
    pub(crate) active: Option<bool>,
}

/// Returns the name of an attribute as SCIM writes it; names are compared without regard to case.
pub(crate) fn canonical(known: &[&'static str], name: &str) -> Option<&'static str> {
    known.iter().find(|known| known.eq_ignore_ascii_case(name)).copied()
}

/// Reads a user.
///
/// # Errors
/// 400 `invalidValue`.
pub(crate) fn read(sent: &Map<String, Value>) -> Result<SentUser, ScimError> {
    let mut attributes = Map::new();
    let (mut user_name, mut external_id, mut active) = (None, None, None);
    for (key, value) in sent {
        match canonical(&STORED, key) {
            Some("userName") => user_name = text("userName", value)?,
            Some("externalId") => external_id = text("externalId", value)?,
            Some("active") => active = boolean("active", value)?,
            Some("displayName") => {
                let name = text("displayName", value)?;
                attributes.extend(name.map(|name| ("displayName".to_owned(), name.into())));
            }
            Some("name") => {
                let name = name(value)?;
                attributes.extend((!name.is_empty()).then(|| ("name".to_owned(), name.into())));
            }
            Some("emails") => {
                let emails = emails(value)?;
                attributes.extend((!emails.is_empty()).then(|| ("emails".to_owned(), emails.into())));
            }
            _ => {}
        }
    }
    let user_name = user_name.ok_or_else(|| ScimError::value("A user needs a `userName`."))?;
    let display_name = attributes.get("displayName").and_then(Value::as_str).map(name_key);
    let user_name_key = name_key(&user_name);
    Ok(SentUser { profile: ScimProfile { user_name, user_name_key, external_id, display_name, attributes }, active })
}

/// Reads a text; an empty one is none.
pub(crate) fn text(name: &str, value: &Value) -> Result<Option<String>, ScimError> {
    let invalid = || ScimError::value(format!("`{name}` must be a text of up to {MAX_TEXT} characters."));
    match value {
        Value::Null => Ok(None),
        Value::String(text) => {
            let text = text.trim();
            if text.chars().count() > MAX_TEXT || text.chars().any(char::is_control) {
                Err(invalid())
            } else {
                Ok((!text.is_empty()).then(|| text.to_owned()))
            }
        }
        _ => Err(invalid()),
    }
}

/// Reads a truth value, which some clients send as a text.
fn boolean(name: &str, value: &Value) -> Result<Option<bool>, ScimError> {
    match value {
        Value::Null => Ok(None),
        Value::Bool(value) => Ok(Some(*value)),
        Value::String(text) if text.eq_ignore_ascii_case("true") => Ok(Some(true)),
        Value::String(text) if text.eq_ignore_ascii_case("false") => Ok(Some(false)),
        _ => Err(ScimError::value(format!("`{name}` must be `true` or `false`."))),
    }
}

fn name(value: &Value) -> Result<Map<String, Value>, ScimError> {
    let mut name = Map::new();
    match value {
        Value::Null => {}
        Value::Object(parts) => {
            for (key, value) in parts {
                if let Some(part) = canonical(&NAME_PARTS, key)
                    && let Some(text) = text(part, value)?
                {
                    name.insert(part.to_owned(), text.into());
                }
            }
        }
        _ => return Err(ScimError::value("`name` must be an object.")),
    }
    Ok(name)
}

fn emails(value: &Value) -> Result<Vec<Value>, ScimError> {
    let items = match value {
        Value::Null => return Ok(Vec::new()),
        Value::Array(items) => items.as_slice(),
        one @ Value::Object(_) => std::slice::from_ref(one),
        _ => return Err(ScimError::value("`emails` must be a list.")),
    };
    if items.len() > MAX_EMAILS {
        return Err(too_many_emails());
    }
    let (mut emails, mut has_primary) = (Vec::new(), false);
    for item in items {
        let parts = item.as_object().ok_or_else(|| ScimError::value("Each of `emails` must be an object."))?;
        let mut email = Map::new();
        for (key, value) in parts {
            match canonical(&EMAIL_PARTS, key) {
                Some("primary") => {
                    let primary = boolean("primary", value)?.unwrap_or_default();
                    if primary && has_primary {
                        return Err(ScimError::value("Only one of `emails` can be the primary one."));
                    }
                    has_primary |= primary;
                    email.insert("primary".to_owned(), primary.into());
                }
                Some(part) => {
                    email.extend(text(part, value)?.map(|text| (part.to_owned(), text.into())));
                }
                None => {}
            }
        }
        if email.contains_key("value") {
            emails.push(email.into());
        }
    }
    Ok(emails)
}

/// Returns the error for more e-mail addresses than are stored.
pub(crate) fn too_many_emails() -> ScimError {
    ScimError::value(format!("A user has at most {MAX_EMAILS} `emails`."))
}

/// Returns the properties of a user that a directory may change, in the form in which they are sent.
pub(crate) fn document(user: &ScimUser) -> Map<String, Value> {
    let mut document = user.profile.attributes.clone();
    document.insert("userName".to_owned(), user.profile.user_name.clone().into());
    document.insert("active".to_owned(), user.active.into());
    if let Some(id) = &user.profile.external_id {
        document.insert("externalId".to_owned(), id.clone().into());
    }
    document
}

/// Writes a user with the ids and names of their groups.
pub(crate) fn resource(user: &ScimUser, groups: &[(String, String)], base: &str) -> Value {
    let mut resource =
        Map::from_iter([("schemas".to_owned(), json!([SCHEMA])), ("id".to_owned(), user.id.clone().into())]);
    resource.extend(document(user));
    if !groups.is_empty() {
        let group = |(id, name): &(String, String)| json!({ "value": id, "$ref": format!("{base}/Groups/{id}"), "display": name, "type": "direct" });
        resource.insert("groups".to_owned(), groups.iter().map(group).collect());
    }
    let location = format!("{base}/Users/{}", user.id);
    resource.insert("meta".to_owned(), meta("User", &location, (user.created_at, user.updated_at)));
    resource.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_are_read_as_clients_send_them() {
        let check = |sent: Value, expected: &str| {
            let found = match read(sent.as_object().unwrap()) {
                Ok(SentUser { profile, active }) => format!(
                    "{} {:?} {active:?} {:?} {}",
                    profile.user_name,
                    profile.external_id,
                    profile.display_name,
                    Value::from(profile.attributes)
                ),
                Err(error) => error.detail,
            };
            assert_eq!(found, expected, "{sent}");
        };
        check(json!({ "userName": "Ada" }), "Ada None None None {}");
        check(json!({ "USERNAME": " Ada ", "externalId": "", "active": "False" }), "Ada None Some(false) None {}");
        let okta = json!({
            "schemas": [SCHEMA], "userName": "ada@example.com", "externalId": "00u1", "active": true, "groups": [],
            "name": { "givenName": "Ada", "familyName": "L", "nick": "x" }, "password": "secret", "locale": "en-US",
            "displayName": "Ada L", "emails": [{ "primary": true, "value": "ada@example.com", "type": "work" }],
        });
        check(
            okta,
            r#"ada@example.com Some("00u1") Some(true) Some("ada l") {"name":{"givenName":"Ada","familyName":"L"},"displayName":"Ada L","emails":[{"primary":true,"value":"ada@example.com","type":"work"}]}"#,
        );
        check(
            json!({ "userName": "a", "emails": { "Value": "x", "primary": "True" } }),
            r#"a None None None {"emails":[{"value":"x","primary":true}]}"#,
        );
        check(json!({ "userName": "a", "emails": [{ "type": "work" }], "name": null }), "a None None None {}");
        check(json!({}), "A user needs a `userName`.");
        check(json!({ "userName": " " }), "A user needs a `userName`.");
        check(json!({ "userName": 7 }), "`userName` must be a text of up to 255 characters.");
        check(json!({ "userName": "a\u{7}" }), "`userName` must be a text of up to 255 characters.");
        check(json!({ "userName": "a".repeat(256) }), "`userName` must be a text of up to 255 characters.");
        check(json!({ "userName": "a", "active": 1 }), "`active` must be `true` or `false`.");
        check(json!({ "userName": "a", "name": "x" }), "`name` must be an object.");
        check(json!({ "userName": "a", "emails": ["x"] }), "Each of `emails` must be an object.");
        let two = json!([{ "value": "x", "primary": true }, { "value": "y", "primary": true }]);
        check(json!({ "userName": "a", "emails": two }), "Only one of `emails` can be the primary one.");
    }
}
