//! A group as SCIM describes it (RFC 7643, 4.2): how it is read, changed and written.

use crate::error::ScimError;
use crate::patch::{Operation, Operator};
use crate::reply::meta;
use crate::user::{canonical, text};
use auth::groups::{group_name_key, group_name_problem};
use scim_v2::filter::{AttrExp, CompValue, CompareOp, PatchPath, ValFilter};
use serde_json::{Map, Value, json};
use store::{Group, GroupChange, GroupMember, MemberChange};

/// The schema of groups.
pub(crate) const SCHEMA: &str = "urn:ietf:params:scim:schemas:core:2.0:Group";

/// The attributes that are stored.
const STORED: [&str; 3] = ["displayName", "externalId", "members"];
/// Attributes that clients send though they cannot be changed.
const IGNORED: [&str; 3] = ["schemas", "id", "meta"];

/// The properties of a group in a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SentGroup {
    /// The name, and its normalized form.
    pub(crate) name: (String, String),
    pub(crate) external_id: Option<String>,
    /// The ids of the members, if it names any.
    pub(crate) members: Option<Vec<String>>,
}

/// Reads a group.
///
/// # Errors
/// 400 `invalidValue`.
pub(crate) fn read(sent: &Map<String, Value>) -> Result<SentGroup, ScimError> {
    let (mut found_name, mut external_id, mut found_members) = (None, None, None);
    for (key, value) in sent {
        match canonical(&STORED, key) {
            Some("displayName") => found_name = Some(name(value)?),
            Some("externalId") => external_id = text("externalId", value)?,
            Some("members") => found_members = Some(members(value)?),
            _ => {}
        }
    }
    let name = found_name.ok_or_else(|| ScimError::value("A group needs a `displayName`."))?;
    Ok(SentGroup { name, external_id, members: found_members })
}

fn name(value: &Value) -> Result<(String, String), ScimError> {
    let name = text("displayName", value)?.unwrap_or_default();
    match group_name_problem(&name) {
        Some(problem) => Err(ScimError::value(problem)),
        None => Ok((name.clone(), group_name_key(&name))),
    }
}

/// Reads the ids of members.
fn members(value: &Value) -> Result<Vec<String>, ScimError> {
    let items = match value {
        Value::Null => return Ok(Vec::new()),
        Value::Array(items) => items.as_slice(),
        one => std::slice::from_ref(one),
    };
    let id = |item: &Value| {
        if item["type"].as_str().is_some_and(|kind| kind.eq_ignore_ascii_case("group")) {
            return Err(ScimError::value("A group cannot be a member of another group here."));
        }
        let id = item["value"].as_str().filter(|id| (1..=255).contains(&id.len()));
        id.map(str::to_owned).ok_or_else(|| ScimError::value("Each of `members` needs a `value`: the id of a user."))
    };
    items.iter().map(id).collect()
}

/// Adds an operation to a change of a group.
///
/// # Errors
/// 400.
pub(crate) fn apply(change: &mut GroupChange, operation: &Operation) -> Result<(), ScimError> {
    let path = operation.attribute();
    let Some(attribute) = canonical(&STORED, &path.name) else {
        let is_known = canonical(&IGNORED, &path.name).is_some();
        let detail = || format!("Groups have no attribute `{}`.", path.name);
        return if is_known { Ok(()) } else { Err(ScimError::bad("invalidPath", detail())) };
    };
    match (attribute, &operation.path, operation.operator) {
        ("displayName", PatchPath::Attr(_), Operator::Add | Operator::Replace) => {
            change.name = Some(name(&operation.value)?);
        }
        ("externalId", PatchPath::Attr(_), Operator::Add | Operator::Replace) => {
            change.external_id = Some(text("externalId", &operation.value)?.unwrap_or_default());
        }
        ("externalId", PatchPath::Attr(_), Operator::Remove) => change.external_id = Some(String::new()),
        ("members", PatchPath::Attr(_), operator) => {
            let ids = members(&operation.value)?;
            change.members.push(match operator {
                Operator::Add => MemberChange::Add(ids),
                Operator::Replace => MemberChange::Replace(ids),
                // Okta and Entra ID name those to remove in the value.
                Operator::Remove if operation.value.is_null() => MemberChange::Replace(Vec::new()),
                Operator::Remove => MemberChange::Remove(ids),
            });
        }
        ("members", PatchPath::Value(path), Operator::Remove) if path.sub_attr.is_none() => {
            let ids = named(&path.filter)
                .ok_or_else(|| ScimError::bad("invalidPath", "Members are removed by `members[value eq \"…\"]`."))?;
            change.members.push(MemberChange::Remove(ids));
        }
        _ => return Err(ScimError::bad("invalidPath", format!("`{attribute}` cannot be changed in this way."))),
    }
    Ok(())
}

/// Returns the ids that a filter names, joined by `or`.
fn named(filter: &ValFilter) -> Option<Vec<String>> {
    match filter {
        ValFilter::Or(parts) => parts.iter().map(named).collect::<Option<Vec<_>>>().map(|ids| ids.concat()),
        ValFilter::Attr(AttrExp::Comparison(path, CompareOp::Eq, CompValue::Str(id)))
            if path.name.eq_ignore_ascii_case("value") =>
        {
            Some(vec![id.clone()])
        }
        _ => None,
    }
}

/// Writes a group, with its members if they are wanted.
pub(crate) fn resource(group: &Group, members: Option<&[GroupMember]>, base: &str) -> Value {
    let location = format!("{base}/Groups/{}", group.id);
    let mut resource = json!({
        "schemas": [SCHEMA],
        "id": group.id,
        "displayName": group.name,
        "meta": meta("Group", &location, (group.created_at, group.updated_at)),
    });
    if let Some(id) = &group.external_id {
        resource["externalId"] = id.clone().into();
    }
    if let Some(members) = members {
        let member = |member: &GroupMember| {
            let location = format!("{base}/Users/{}", member.id);
            json!({ "value": member.id, "$ref": location, "display": member.name, "type": "User" })
        };
        resource["members"] = members.iter().map(member).collect();
    }
    resource
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::patch::operations;

    fn changed(sent: Value) -> Result<GroupChange, ScimError> {
        let body = json!({ "Operations": sent });
        let mut change = GroupChange::default();
        for operation in operations(body.as_object().unwrap())? {
            apply(&mut change, &operation)?;
        }
        Ok(change)
    }

    #[test]
    fn members_are_changed_as_clients_ask() {
        let ids = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>();
        let check = |sent: Value, members: Vec<MemberChange>| {
            let expected = GroupChange { members, ..GroupChange::default() };
            assert_eq!(changed(json!([sent])).unwrap(), expected, "{sent}");
        };
        let two = json!([{ "value": "1", "display": "ada" }, { "value": "2" }]);
        // Okta
        check(json!({ "op": "add", "path": "members", "value": two }), vec![MemberChange::Add(ids(&["1", "2"]))]);
        check(json!({ "op": "remove", "path": "members[value eq \"1\"]" }), vec![MemberChange::Remove(ids(&["1"]))]);
        check(
            json!({ "op": "replace", "path": "members", "value": two }),
            vec![MemberChange::Replace(ids(&["1", "2"]))],
        );
        // Entra ID
        check(
            json!({ "op": "Add", "path": "members", "value": [{ "$ref": null, "value": "1" }] }),
            vec![MemberChange::Add(ids(&["1"]))],
        );
        check(
            json!({ "op": "Remove", "path": "members", "value": [{ "value": "1" }] }),
            vec![MemberChange::Remove(ids(&["1"]))],
        );
        check(json!({ "op": "Remove", "path": "members" }), vec![MemberChange::Replace(Vec::new())]);
        check(
            json!({ "op": "remove", "path": "members[value eq \"1\" or value eq \"2\"]" }),
            vec![MemberChange::Remove(ids(&["1", "2"]))],
        );
        check(json!({ "op": "add", "value": { "members": [{ "value": "1" }] } }), vec![MemberChange::Add(ids(&["1"]))]);
        check(json!({ "op": "replace", "value": { "id": "x" } }), Vec::new());
        let named = changed(json!([{ "op": "Replace", "path": "displayName", "value": "Support" }])).unwrap();
        assert_eq!(named.name, Some(("Support".to_owned(), "support".to_owned())));
    }

    #[test]
    fn changes_of_groups_that_cannot_be_made_are_refused() {
        let check = |sent: Value, expected: &str| {
            let error = changed(json!([sent])).unwrap_err();
            assert_eq!(error.kind, Some(expected), "{sent} {}", error.detail);
        };
        check(json!({ "op": "add", "path": "members", "value": [{ "value": "1", "type": "Group" }] }), "invalidValue");
        check(json!({ "op": "add", "path": "members", "value": ["1"] }), "invalidValue");
        check(json!({ "op": "add", "path": "members", "value": [{}] }), "invalidValue");
        check(json!({ "op": "remove", "path": "members[display eq \"x\"]" }), "invalidPath");
        check(json!({ "op": "replace", "path": "members[value eq \"1\"].value", "value": "2" }), "invalidPath");
        check(json!({ "op": "remove", "path": "displayName" }), "invalidPath");
        check(json!({ "op": "replace", "path": "displayName", "value": "" }), "invalidValue");
        check(json!({ "op": "replace", "path": "roles", "value": ["admin"] }), "invalidPath");
    }

    #[test]
    fn groups_are_read() {
        let check = |sent: Value, expected: Result<(&str, Option<&[&str]>), &str>| {
            let found = read(sent.as_object().unwrap());
            let found = found.as_ref().map(|group| (group.name.0.as_str(), group.members.clone()));
            let owned = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>();
            let expected = expected.map(|(name, members)| (name, members.map(owned)));
            assert_eq!(found.map_err(|error| error.detail.as_str()), expected, "{sent}");
        };
        check(json!({ "displayName": "A" }), Ok(("A", None)));
        check(json!({ "displayname": " A ", "members": [] }), Ok(("A", Some(&[]))));
        check(json!({ "displayName": "A", "members": [{ "value": "1" }] }), Ok(("A", Some(&["1"]))));
        check(json!({}), Err("A group needs a `displayName`."));
        check(json!({ "displayName": null }), Err("The name of a group has 1 to 200 characters."));
    }
}
