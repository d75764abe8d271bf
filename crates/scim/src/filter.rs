//! Filters of lists (RFC 7644, 3.4.2.2), as far as this server finds by them.

use crate::error::ScimError;
use crate::queries::{TextTest, UserField, UserFilter};
use auth::groups::group_name_key;
use auth::password::credential_rules::name_key;
use scim_v2::filter::{AttrExp, AttrPath, CompValue, CompareOp, Filter, ValFilter};
use std::collections::{BTreeMap, BTreeSet};
use store::Group;

/// The longest filter in bytes.
const MAX_FILTER: usize = 16 << 10;
/// The most members that a filter of groups may name.
const MAX_MEMBERS: usize = 20;

/// Parses a filter, whose size and depth are bounded.
///
/// # Errors
/// 400 `invalidFilter`.
pub(crate) fn parse(text: &str) -> Result<Filter, ScimError> {
    if text.len() > MAX_FILTER {
        return Err(ScimError::bad("tooMany", format!("A filter has at most {MAX_FILTER} bytes.")));
    }
    text.parse().map_err(|_| ScimError::bad("invalidFilter", "The filter cannot be read."))
}

/// Returns the condition of a filter of users.
pub(crate) fn of_users(filter: &Filter) -> Result<UserFilter, ScimError> {
    Ok(match filter {
        Filter::And(parts) => UserFilter::All(parts.iter().map(of_users).collect::<Result<_, _>>()?),
        Filter::Or(parts) => UserFilter::Any(parts.iter().map(of_users).collect::<Result<_, _>>()?),
        Filter::Not(inner) => UserFilter::Not(Box::new(of_users(inner)?)),
        Filter::ValuePath(path) => return Err(unsupported(&path.attr)),
        Filter::Attr(AttrExp::Present(path)) => match user_field(path) {
            Some(UserAttribute::Active) => UserFilter::All(Vec::new()),
            Some(UserAttribute::Text(field)) => UserFilter::Text(field, TextTest::Present, String::new()),
            None => return Err(unsupported(path)),
        },
        Filter::Attr(AttrExp::Comparison(path, operator, value)) => {
            let (test, is_negated) = test(operator).ok_or_else(|| unsupported(path))?;
            let condition = match (user_field(path), test) {
                (Some(UserAttribute::Active), TextTest::Is) => UserFilter::Active(boolean(value)?),
                (Some(UserAttribute::Text(field)), test) => {
                    let value = text(value)?;
                    let is_name = matches!(field, UserField::UserName | UserField::DisplayName);
                    UserFilter::Text(field, test, if is_name { name_key(value) } else { value.to_owned() })
                }
                _ => return Err(unsupported(path)),
            };
            if is_negated { UserFilter::Not(Box::new(condition)) } else { condition }
        }
    })
}

enum UserAttribute {
    Active,
    Text(UserField),
}

fn user_field(path: &AttrPath) -> Option<UserAttribute> {
    if path.sub_attr.is_some() {
        return None;
    }
    Some(match path.name.to_ascii_lowercase().as_str() {
        "active" => UserAttribute::Active,
        "id" => UserAttribute::Text(UserField::Id),
        "username" => UserAttribute::Text(UserField::UserName),
        "externalid" => UserAttribute::Text(UserField::ExternalId),
        "displayname" => UserAttribute::Text(UserField::DisplayName),
        _ => return None,
    })
}

/// A condition on groups.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum GroupFilter {
    All(Vec<Self>),
    Any(Vec<Self>),
    Not(Box<Self>),
    Text(GroupField, TextTest, String),
    /// This user is a member.
    Member(String),
}

/// A text of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GroupField {
    Id,
    DisplayName,
    ExternalId,
}

/// Returns the condition of a filter of groups.
pub(crate) fn of_groups(filter: &Filter) -> Result<GroupFilter, ScimError> {
    Ok(match filter {
        Filter::And(parts) => GroupFilter::All(parts.iter().map(of_groups).collect::<Result<_, _>>()?),
        Filter::Or(parts) => GroupFilter::Any(parts.iter().map(of_groups).collect::<Result<_, _>>()?),
        Filter::Not(inner) => GroupFilter::Not(Box::new(of_groups(inner)?)),
        // `members[value eq "…"]`
        Filter::ValuePath(path) => match (path.attr.name.to_ascii_lowercase().as_str(), &*path.filter) {
            ("members", ValFilter::Attr(AttrExp::Comparison(part, CompareOp::Eq, value)))
                if part.name.eq_ignore_ascii_case("value") =>
            {
                GroupFilter::Member(text(value)?.to_owned())
            }
            _ => return Err(unsupported(&path.attr)),
        },
        Filter::Attr(AttrExp::Present(path)) => {
            let field = group_field(path).ok_or_else(|| unsupported(path))?;
            GroupFilter::Text(field, TextTest::Present, String::new())
        }
        Filter::Attr(AttrExp::Comparison(path, operator, value)) => {
            let (test, is_negated) = test(operator).ok_or_else(|| unsupported(path))?;
            let value = text(value)?;
            let condition = match group_field(path) {
                Some(field) => GroupFilter::Text(field, test, comparable(field, value)),
                None if is_members_value(path) && test == TextTest::Is => GroupFilter::Member(value.to_owned()),
                None => return Err(unsupported(path)),
            };
            if is_negated { GroupFilter::Not(Box::new(condition)) } else { condition }
        }
    })
}

fn is_members_value(path: &AttrPath) -> bool {
    let part = path.sub_attr.as_deref().unwrap_or("value");
    path.name.eq_ignore_ascii_case("members") && part.eq_ignore_ascii_case("value")
}

fn group_field(path: &AttrPath) -> Option<GroupField> {
    if path.sub_attr.is_some() {
        return None;
    }
    match path.name.to_ascii_lowercase().as_str() {
        "id" => Some(GroupField::Id),
        "displayname" => Some(GroupField::DisplayName),
        "externalid" => Some(GroupField::ExternalId),
        _ => None,
    }
}

/// Names are compared without regard to upper and lower case.
fn comparable(field: GroupField, text: &str) -> String {
    if field == GroupField::DisplayName { group_name_key(text) } else { text.to_owned() }
}

impl GroupFilter {
    /// Returns the users whose groups must be known.
    ///
    /// # Errors
    /// 400 for too many.
    pub(crate) fn members(&self) -> Result<BTreeSet<String>, ScimError> {
        let mut members = BTreeSet::new();
        self.add_members(&mut members);
        if members.len() > MAX_MEMBERS {
            Err(ScimError::bad("tooMany", format!("A filter names at most {MAX_MEMBERS} members.")))
        } else {
            Ok(members)
        }
    }

    fn add_members(&self, members: &mut BTreeSet<String>) {
        match self {
            Self::All(parts) | Self::Any(parts) => parts.iter().for_each(|part| part.add_members(members)),
            Self::Not(inner) => inner.add_members(members),
            Self::Text(..) => {}
            Self::Member(id) => {
                members.insert(id.clone());
            }
        }
    }

    /// Returns whether a group matches. `groups_of` has the ids of the groups of each user that the filter names.
    pub(crate) fn matches(&self, group: &Group, groups_of: &BTreeMap<String, BTreeSet<String>>) -> bool {
        match self {
            Self::All(parts) => parts.iter().all(|part| part.matches(group, groups_of)),
            Self::Any(parts) => parts.iter().any(|part| part.matches(group, groups_of)),
            Self::Not(inner) => !inner.matches(group, groups_of),
            Self::Member(id) => groups_of.get(id).is_some_and(|groups| groups.contains(&group.id)),
            Self::Text(field, test, wanted) => {
                let text = match field {
                    GroupField::Id => &group.id,
                    GroupField::DisplayName => &group.name,
                    GroupField::ExternalId => group.external_id.as_deref().unwrap_or_default(),
                };
                holds(*test, &comparable(*field, text), wanted)
            }
        }
    }
}

fn holds(test: TextTest, text: &str, wanted: &str) -> bool {
    match test {
        TextTest::Is => text == wanted,
        TextTest::Begins => text.starts_with(wanted),
        TextTest::Ends => text.ends_with(wanted),
        TextTest::Contains => text.contains(wanted),
        TextTest::Present => !text.is_empty(),
    }
}

/// Returns the condition of an operator on a text, and whether it is negated. Texts have no order here.
fn test(operator: &CompareOp) -> Option<(TextTest, bool)> {
    Some(match operator {
        CompareOp::Eq => (TextTest::Is, false),
        CompareOp::Ne => (TextTest::Is, true),
        CompareOp::Co => (TextTest::Contains, false),
        CompareOp::Sw => (TextTest::Begins, false),
        CompareOp::Ew => (TextTest::Ends, false),
        CompareOp::Gt | CompareOp::Lt | CompareOp::Ge | CompareOp::Le => return None,
    })
}

fn text(value: &CompValue) -> Result<&str, ScimError> {
    match value {
        CompValue::Str(text) => Ok(text),
        _ => Err(ScimError::bad("invalidFilter", "The filter compares a text with another value.")),
    }
}

fn boolean(value: &CompValue) -> Result<bool, ScimError> {
    match value {
        CompValue::True => Ok(true),
        CompValue::False => Ok(false),
        // As Entra ID writes it.
        CompValue::Str(text) if text.eq_ignore_ascii_case("true") => Ok(true),
        CompValue::Str(text) if text.eq_ignore_ascii_case("false") => Ok(false),
        _ => Err(ScimError::bad("invalidFilter", "`active` is `true` or `false`.")),
    }
}

fn unsupported(path: &AttrPath) -> ScimError {
    let part = path.sub_attr.as_ref().map(|part| format!(".{part}")).unwrap_or_default();
    let detail = format!("This server does not filter by `{}{part}` in this way.", path.name);
    ScimError::bad("invalidFilter", detail)
}

/// Returns whether an element of a list matches the filter in a path, such as that of `emails[type eq "work"]`.
pub(crate) fn element_matches(filter: &ValFilter, element: &serde_json::Map<String, serde_json::Value>) -> bool {
    let field = |path: &AttrPath| {
        let found = element.iter().find(|(name, _)| name.eq_ignore_ascii_case(&path.name));
        found.map(|(_, value)| value)
    };
    match filter {
        ValFilter::And(parts) => parts.iter().all(|part| element_matches(part, element)),
        ValFilter::Or(parts) => parts.iter().any(|part| element_matches(part, element)),
        ValFilter::Not(inner) => !element_matches(inner, element),
        ValFilter::Attr(AttrExp::Present(path)) => field(path).is_some_and(|value| !value.is_null()),
        ValFilter::Attr(AttrExp::Comparison(path, operator, wanted)) => {
            let Some((test, is_negated)) = test(operator) else { return false };
            let is_so = match (field(path), wanted) {
                (Some(serde_json::Value::String(text)), CompValue::Str(wanted)) => {
                    holds(test, &text.to_lowercase(), &wanted.to_lowercase())
                }
                (Some(serde_json::Value::Bool(value)), wanted) => boolean(wanted).is_ok_and(|wanted| wanted == *value),
                _ => false,
            };
            is_so != is_negated
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn users(text: &str) -> String {
        match parse(text).and_then(|filter| of_users(&filter)) {
            Ok(filter) => format!("{filter:?}"),
            Err(error) => format!("{}: {}", error.kind.unwrap_or_default(), error.detail),
        }
    }

    #[test]
    fn filters_of_users_become_conditions() {
        let check = |text: &str, expected: &str| assert_eq!(users(text), expected, "{text}");
        check(r#"userName eq "Ada@Example.com""#, r#"Text(UserName, Is, "ada@example.com")"#);
        check(r#"USERNAME Eq "ada""#, r#"Text(UserName, Is, "ada")"#);
        check(r#"urn:ietf:params:scim:schemas:core:2.0:User:userName sw "A""#, r#"Text(UserName, Begins, "a")"#);
        check(r#"externalId eq "X-1""#, r#"Text(ExternalId, Is, "X-1")"#);
        check("active eq true", "Active(true)");
        check(r#"active eq "False""#, "Active(false)");
        check("active ne false", "Not(Active(false))");
        check("displayName pr", r#"Text(DisplayName, Present, "")"#);
        check(
            r#"id eq "1" and (active eq true or not (userName co "b"))"#,
            r#"All([Text(Id, Is, "1"), Any([Active(true), Not(Text(UserName, Contains, "b"))])])"#,
        );
        check("userName eq", "invalidFilter: The filter cannot be read.");
        check("userName eq 1", "invalidFilter: The filter compares a text with another value.");
        check("active co true", "invalidFilter: This server does not filter by `active` in this way.");
        check(r#"emails.value eq "a""#, "invalidFilter: This server does not filter by `emails.value` in this way.");
        check(r#"emails[type eq "work"]"#, "invalidFilter: This server does not filter by `emails` in this way.");
        check(r#"userName gt "a""#, "invalidFilter: This server does not filter by `userName` in this way.");
        check(&"(".repeat(20_000), "tooMany: A filter has at most 16384 bytes.");
    }

    #[test]
    fn groups_are_matched() {
        let group = Group {
            id: "g1".to_owned(),
            name: "Support EU".to_owned(),
            description: String::new(),
            roles: Vec::new(),
            provisioned: true,
            external_id: Some("X1".to_owned()),
            members: 1,
            created_at: 0,
            updated_at: 0,
        };
        let groups_of = BTreeMap::from([("u1".to_owned(), BTreeSet::from(["g1".to_owned()]))]);
        let check = |text: &str, expected: Option<bool>| {
            let found = parse(text).and_then(|filter| of_groups(&filter)).ok();
            assert_eq!(found.map(|filter| filter.matches(&group, &groups_of)), expected, "{text}");
        };
        check(r#"displayName eq "support eu""#, Some(true));
        check(r#"displayName sw "Supp" and displayName ew "EU""#, Some(true));
        check(r#"displayName co "xx""#, Some(false));
        check(r#"externalId eq "x1""#, Some(false));
        check(r#"id eq "g1" and members.value eq "u1""#, Some(true));
        check(r#"id eq "g1" and members eq "u1""#, Some(true));
        check(r#"members[value eq "u1"]"#, Some(true));
        check(r#"members[value eq "u2"]"#, Some(false));
        check(r#"not (members[value eq "u2"])"#, Some(true));
        check(r#"members.value co "u""#, None);
        check(r#"members[type eq "User"]"#, None);
        check(r#"meta.created gt "2026-01-01T00:00:00Z""#, None);
    }

    #[test]
    fn filters_of_groups_name_few_members() {
        let names =
            |count: usize| (0..count).map(|i| format!(r#"members.value eq "{i}""#)).collect::<Vec<_>>().join(" or ");
        let members = |count| of_groups(&parse(&names(count)).unwrap()).unwrap().members();
        assert_eq!(members(20).unwrap().len(), 20);
        assert_eq!(members(21).unwrap_err().kind, Some("tooMany"));
    }
}
