//! Queries about users of the directory, which only this protocol asks.

use std::collections::HashMap;
use store::sql::{self, QueryBuilder, Row, Sql};
use store::{ScimUser, Store, StoreError};

/// A condition on users of a directory.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum UserFilter {
    /// All of them hold.
    All(Vec<Self>),
    /// At least one holds.
    Any(Vec<Self>),
    /// It does not hold.
    Not(Box<Self>),
    /// The user may sign in, or may not.
    Active(bool),
    /// A text has a property; a user without it has not.
    Text(UserField, TextTest, String),
}

/// A text of a user of a directory. Names are compared in their normalized form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UserField {
    /// The id of the account.
    Id,
    /// The name in the directory.
    UserName,
    /// The id in the directory.
    ExternalId,
    /// The name for display.
    DisplayName,
}

/// A property of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextTest {
    /// It is this text.
    Is,
    /// It begins with this text.
    Begins,
    /// It ends with this text.
    Ends,
    /// It contains this text.
    Contains,
    /// It is not empty.
    Present,
}

const POSITION: Sql = Sql::pair("instr(", "strpos(");

const UNMANAGED: Sql = Sql::pair(
    "SELECT value AS id FROM json_each($1) WHERE value NOT IN (SELECT user_id FROM scim_users) LIMIT 1",
    "SELECT id FROM unnest($1) AS id WHERE id NOT IN (SELECT user_id FROM scim_users) LIMIT 1",
);

const GROUPS: Sql = Sql::pair(
    "SELECT m.user_id, g.id, g.name FROM user_group_members m JOIN user_groups g ON g.id = m.group_id
     WHERE g.provisioned = 1 AND m.user_id IN (SELECT value FROM json_each($1)) ORDER BY g.name_key",
    "SELECT m.user_id, g.id, g.name FROM user_group_members m JOIN user_groups g ON g.id = m.group_id
     WHERE g.provisioned = 1 AND m.user_id = ANY($1) ORDER BY g.name_key",
);

/// Returns users that match, at most `limit` after the first `offset`, and the number of all.
pub(crate) async fn users(
    store: &Store,
    filter: &UserFilter,
    offset: u32,
    limit: u32,
) -> Result<(Vec<ScimUser>, i64), StoreError> {
    store.scim_users(|query| push(query, filter), offset, limit).await
}

/// Returns whether the directory does not manage one of the users with these ids.
pub(crate) async fn has_unmanaged(store: &Store, ids: Vec<String>) -> Result<bool, StoreError> {
    let find = sql::query_scalar::<String>(UNMANAGED).bind(ids);
    store.read(move |db| Box::pin(async move { Ok(find.fetch_optional(db).await?.is_some()) })).await
}

/// Returns the id and the name of each group of the directory that users are in, by user.
pub(crate) async fn groups_of(
    store: &Store,
    ids: Vec<String>,
) -> Result<HashMap<String, Vec<(String, String)>>, StoreError> {
    let list = sql::query(GROUPS).bind(ids);
    let rows: Vec<Row> = store.read(move |db| Box::pin(async move { Ok(list.fetch_all(db).await?) })).await?;
    let mut groups: HashMap<_, Vec<_>> = HashMap::new();
    for row in &rows {
        groups.entry(row.try_get("user_id")?).or_default().push((row.try_get("id")?, row.try_get("name")?));
    }
    Ok(groups)
}

/// Appends a condition. The depth of the filter is bounded by who has parsed it.
fn push(query: &mut QueryBuilder, filter: &UserFilter) {
    match filter {
        UserFilter::All(parts) => push_joined(query, parts, (" AND ", "true")),
        UserFilter::Any(parts) => push_joined(query, parts, (" OR ", "false")),
        UserFilter::Not(inner) => {
            query.push("NOT (");
            push(query, inner);
            query.push(")");
        }
        UserFilter::Active(active) => {
            query.push(if *active { "u.disabled_at IS NULL" } else { "u.disabled_at IS NOT NULL" });
        }
        UserFilter::Text(field, test, text) => {
            let column = match field {
                UserField::Id => "s.user_id",
                UserField::UserName => "s.user_name_key",
                UserField::ExternalId => "coalesce(s.external_id, '')",
                UserField::DisplayName => "coalesce(s.display_name, '')",
            };
            push_test(query, column, *test, text);
        }
    }
}

fn push_joined(query: &mut QueryBuilder, parts: &[UserFilter], (joint, empty): (&'static str, &'static str)) {
    query.push("(");
    for (i, part) in parts.iter().enumerate() {
        if i > 0 {
            query.push(joint);
        }
        push(query, part);
    }
    if parts.is_empty() {
        query.push(empty);
    }
    query.push(")");
}

fn push_test(query: &mut QueryBuilder, column: &'static str, test: TextTest, text: &str) {
    let length = i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
    match test {
        TextTest::Is => {
            query.push(column).push(" = ").push_bind(text);
        }
        TextTest::Present => {
            query.push(column).push(" <> ''");
        }
        TextTest::Contains => {
            query.push(POSITION).push(column).push(", ").push_bind(text).push(") > 0");
        }
        TextTest::Begins => {
            query.push("substr(").push(column).push(", 1, CAST(").push_bind(length).push(" AS INTEGER)) = ");
            query.push_bind(text);
        }
        TextTest::Ends => {
            query.push("(length(").push(column).push(") >= ").push_bind(length).push(" AND substr(").push(column);
            query.push(", CAST(length(").push(column).push(") - ").push_bind(length).push(" + 1 AS INTEGER)) = ");
            query.push_bind(text).push(")");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::TextTest::{Begins, Contains, Ends, Is, Present};
    use super::UserField::{DisplayName, ExternalId, Id, UserName};
    use super::*;
    use serde_json::{Map, json};
    use store::{GroupOutcome, NewGroup, NewUser, ScimProfile, ScimUserOutcome};

    fn entry() -> store::AuditEntry {
        auth::audit_row("service:scim", "admin:add_user", "", json!({}))
    }

    async fn add(store: &Store, name: &str, external_id: Option<&str>, active: bool) {
        let new = NewUser {
            id: format!("id-{name}"),
            name: name.to_owned(),
            name_key: name.to_owned(),
            password: String::new(),
            must_change_password: false,
            roles: Vec::new(),
            now: 1,
        };
        let profile = ScimProfile {
            user_name: format!("{name}@Example.com"),
            user_name_key: format!("{name}@example.com"),
            external_id: external_id.map(str::to_owned),
            display_name: (name != "eve").then(|| format!("{name} n\u{e4}me")),
            attributes: Map::new(),
        };
        let added = store.add_scim_user(new, profile, active, entry()).await.unwrap();
        assert_eq!(added, ScimUserOutcome::Done);
    }

    async fn check_all(store: &Store) {
        for (name, id, active) in [("ada", Some("x1"), true), ("bob", Some("x_2"), false), ("eve", None, true)] {
            add(store, name, id, active).await;
        }
        let text = |field, test, text: &str| UserFilter::Text(field, test, text.to_owned());
        let check = async |filter: UserFilter, expected: &str| {
            let (found, count) = users(store, &filter, 0, 10).await.unwrap();
            assert_eq!(found.len() as i64, count);
            let names: Vec<_> = found.into_iter().map(|user| user.name).collect();
            assert_eq!(names.join(" "), expected, "{filter:?}");
        };
        check(UserFilter::All(Vec::new()), "ada bob eve").await;
        check(UserFilter::Any(Vec::new()), "").await;
        check(text(UserName, Is, "bob@example.com"), "bob").await;
        check(text(UserName, Begins, "a"), "ada").await;
        check(text(UserName, Begins, ""), "ada bob eve").await;
        check(text(UserName, Ends, "@example.com"), "ada bob eve").await;
        check(text(UserName, Ends, "b@example.com"), "bob").await;
        check(text(UserName, Ends, &"long".repeat(20)), "").await;
        check(text(UserName, Contains, "%"), "").await;
        check(text(ExternalId, Is, "x_2"), "bob").await;
        check(text(ExternalId, Contains, "_"), "bob").await;
        check(text(ExternalId, Present, ""), "ada bob").await;
        check(text(DisplayName, Ends, "n\u{e4}me"), "ada bob").await;
        check(text(Id, Is, "id-eve"), "eve").await;
        check(UserFilter::Active(true), "ada eve").await;
        let not = UserFilter::Not(Box::new(text(DisplayName, Contains, "n\u{e4}")));
        check(not.clone(), "eve").await;
        check(UserFilter::All(vec![UserFilter::Active(true), not.clone()]), "eve").await;
        check(UserFilter::Any(vec![UserFilter::Active(false), not]), "bob eve").await;
        let (page, count) = users(store, &UserFilter::All(Vec::new()), 1, 1).await.unwrap();
        assert_eq!((page[0].name.as_str(), count), ("bob", 3));

        let ids = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>();
        assert!(!has_unmanaged(store, ids(&["id-ada", "id-bob"])).await.unwrap());
        assert!(has_unmanaged(store, ids(&["id-ada", "id-nobody"])).await.unwrap());
        for (name, provisioned) in [("Local", false), ("Support", true)] {
            let group = NewGroup {
                id: format!("g-{name}"),
                name: name.to_owned(),
                name_key: name.to_lowercase(),
                description: String::new(),
                roles: Vec::new(),
                provisioned,
                external_id: None,
                members: ids(&["id-ada"]),
                now: 1,
            };
            assert_eq!(store.add_group(group, entry()).await.unwrap(), GroupOutcome::Done);
        }
        let groups = groups_of(store, ids(&["id-ada", "id-bob"])).await.unwrap();
        let expected = HashMap::from([("id-ada".to_owned(), vec![("g-Support".to_owned(), "Support".to_owned())])]);
        assert_eq!(groups, expected);
    }

    #[tokio::test]
    async fn users_of_a_directory_are_found_on_each_database() {
        check_all(&Store::open("sqlite::memory:").await.unwrap()).await;
        if let Some(url) = test_postgres::new_database().await {
            let store = Store::open(&url).await.unwrap();
            check_all(&store).await;
            store.close().await;
        }
    }
}
