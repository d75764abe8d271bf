//! Which attributes of a resource a client wants (RFC 7644, 3.9).

use crate::error::ScimError;
use serde_json::{Map, Value};

/// Attributes that are always returned.
const ALWAYS: [&str; 2] = ["schemas", "id"];
/// The most names of a list.
const MAX_NAMES: usize = 50;

/// The attributes that a client wants.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Projection {
    /// Only these; `None` for all.
    only: Option<Vec<AttributeName>>,
    /// Without these.
    without: Vec<AttributeName>,
}

/// An attribute, or a part of one, in lower case.
#[derive(Clone, Debug, PartialEq, Eq)]
struct AttributeName {
    name: String,
    part: Option<String>,
}

impl Projection {
    /// Reads the parameters `attributes` and `excludedAttributes`.
    pub(crate) fn new(attributes: Option<&str>, excluded: Option<&str>) -> Result<Self, ScimError> {
        let only = names(attributes.unwrap_or_default())?;
        Ok(Self { only: (!only.is_empty()).then_some(only), without: names(excluded.unwrap_or_default())? })
    }

    /// Returns whether a whole attribute is left out, so that it need not be read.
    pub(crate) fn omits(&self, attribute: &str) -> bool {
        let is_it = |known: &AttributeName| known.name.eq_ignore_ascii_case(attribute);
        let is_excluded = self.without.iter().any(|known| is_it(known) && known.part.is_none());
        is_excluded || self.only.as_ref().is_some_and(|only| !only.iter().any(is_it))
    }

    /// Removes the attributes that the client does not want.
    pub(crate) fn apply(&self, resource: Value) -> Value {
        let Value::Object(mut resource) = resource else { return resource };
        resource.retain(|name, value| {
            if ALWAYS.contains(&name.as_str()) {
                return true;
            }
            if self.omits(name) {
                return false;
            }
            let parts = |names: &[AttributeName]| {
                let of = names.iter().filter(|known| known.name.eq_ignore_ascii_case(name));
                of.map(|known| known.part.clone()).collect::<Vec<_>>()
            };
            let only = self.only.as_deref().map(parts).unwrap_or_default();
            if !only.is_empty() && only.iter().all(Option::is_some) {
                let is_wanted = |part: &str| only.iter().flatten().any(|known| known.eq_ignore_ascii_case(part));
                each_object(value, &mut |object| object.retain(|part, _| is_wanted(part)));
            }
            let without: Vec<_> = parts(&self.without).into_iter().flatten().collect();
            let is_kept = |part: &str| !without.iter().any(|known| known.eq_ignore_ascii_case(part));
            each_object(value, &mut |object| object.retain(|part, _| is_kept(part)));
            true
        });
        resource.into()
    }
}

/// Calls a function with an object, or with each one of a list.
fn each_object(value: &mut Value, change: &mut dyn FnMut(&mut Map<String, Value>)) {
    match value {
        Value::Object(object) => change(object),
        Value::Array(items) => items.iter_mut().filter_map(Value::as_object_mut).for_each(change),
        _ => {}
    }
}

fn names(list: &str) -> Result<Vec<AttributeName>, ScimError> {
    let names: Vec<_> = list.split(',').map(str::trim).filter(|name| !name.is_empty()).map(attribute_name).collect();
    if names.len() > MAX_NAMES {
        Err(ScimError::value(format!("At most {MAX_NAMES} attributes can be named.")))
    } else {
        Ok(names)
    }
}

fn attribute_name(text: &str) -> AttributeName {
    // `urn:ietf:params:scim:schemas:core:2.0:User:name.givenName`
    let text = text.rsplit(':').next().unwrap_or(text).to_ascii_lowercase();
    match text.split_once('.') {
        Some((name, part)) => AttributeName { name: name.to_owned(), part: Some(part.to_owned()) },
        None => AttributeName { name: text, part: None },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_wanted_attributes_are_returned() {
        let check = |attributes: Option<&str>, excluded: Option<&str>, expected: Value| {
            let resource = json!({
                "schemas": [], "id": "1", "userName": "ada", "name": { "givenName": "Ada", "familyName": "L" },
                "emails": [{ "value": "a", "type": "work" }],
            });
            let projection = Projection::new(attributes, excluded).unwrap();
            assert_eq!(projection.apply(resource), expected, "{attributes:?} {excluded:?}");
        };
        let rest = json!({ "schemas": [], "id": "1" });
        let with = |more: Value| {
            let mut all = rest.clone();
            all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            all
        };
        check(Some("userName"), None, with(json!({ "userName": "ada" })));
        check(
            Some("USERNAME, name.givenName"),
            None,
            with(json!({ "userName": "ada", "name": { "givenName": "Ada" } })),
        );
        check(Some("urn:ietf:params:scim:schemas:core:2.0:User:userName"), None, with(json!({ "userName": "ada" })));
        check(Some("emails.value"), None, with(json!({ "emails": [{ "value": "a" }] })));
        check(Some("nothing"), None, rest.clone());
        let excluded = json!({ "userName": "ada", "name": { "familyName": "L" } });
        check(None, Some("emails,name.givenName,id"), with(excluded));
        check(Some(""), Some("emails,name"), with(json!({ "userName": "ada" })));
        assert!(Projection::new(Some(&"a,".repeat(51)), None).is_err());
        assert!(Projection::new(None, Some("Members")).unwrap().omits("members"));
        assert!(!Projection::new(None, Some("members.display")).unwrap().omits("members"));
    }
}
