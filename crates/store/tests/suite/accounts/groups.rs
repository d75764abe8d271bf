//! Groups of users, and the roles that they give.

use super::{entry, new_user};
use crate::admin::step;
use crate::support::on_each_database;
use std::sync::Arc;
use store::{
    AuditFilter, ChangeUserOutcome, GroupChange, GroupOutcome, MAX_GROUP_MEMBERS, MemberChange, NewApiKey, NewGroup,
    NewInvitation, NewSession, SecondFactorProof, SessionLifetime, SignInProof, SignInWays, StepRecord, Store,
    UsageFilter, UserChange, UserFilter, UserSort,
};

const DAY: i64 = 86_400_000;
const LIFE: SessionLifetime = SessionLifetime { idle: 100_000, max_age: 1_000_000 };

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn ways() -> Arc<SignInWays> {
    Arc::new(SignInWays { passwords: true, issuers: Vec::new() })
}

fn group(name: &str, roles: &[&str], members: &[&str]) -> NewGroup {
    NewGroup {
        id: format!("g-{name}"),
        name: name.to_owned(),
        name_key: name.to_lowercase(),
        description: String::new(),
        roles: texts(roles),
        provisioned: false,
        external_id: None,
        members: texts(members),
        now: 1,
    }
}

/// Adds users with a session and a key each, of the hash of their number.
async fn add_users(store: &Store, names: &[&str]) {
    for (number, name) in (1..).zip(names) {
        store.add_user(new_user(name, &["staff"]), false, None).await.unwrap();
        let (user_id, hash) = (format!("id-{name}"), [number; 32]);
        let proof = SignInProof::Password("hash".to_owned(), SecondFactorProof::None);
        let (id, agent) = (format!("s{number}"), String::new());
        let session = NewSession { id, user_id: user_id.clone(), token_hash: hash, agent, now: 1, proof };
        assert!(store.begin_session(session, None, LIFE, Vec::new()).await.unwrap());
        let (id, name, scopes) = (format!("k{number}"), "job".to_owned(), Vec::new());
        let key = NewApiKey { id, user_id, name, key_hash: hash, scopes, now: 1, expires_at: 100 };
        assert!(store.add_api_key(key, None).await.unwrap());
    }
}

/// Returns the roles of a user by session, by key, by id and by name, which must be the same.
async fn roles(store: &Store, number: u8, name: &str) -> String {
    let by_session = store.session([number; 32], 2, LIFE, &ways()).await.unwrap().unwrap().0.roles;
    let by_key = store.api_key([number; 32], 2).await.unwrap().unwrap().0.roles;
    let by_id = store.user_by_id(&format!("id-{name}")).await.unwrap().unwrap().0.roles;
    let by_name = store.user_by_name(name).await.unwrap().unwrap().0.roles;
    assert_eq!([&by_session, &by_key, &by_id], [&by_name; 3]);
    by_session.join(" ")
}

#[tokio::test]
async fn members_have_the_roles_of_their_groups_as_long_as_they_are_members() {
    on_each_database(async |store| {
        add_users(store, &["ada", "bob"]).await;
        let add = async |group| assert_eq!(store.add_group(group, entry("add")).await.unwrap(), GroupOutcome::Done);
        add(group("Support", &["support", "staff"], &["id-ada"])).await;
        add(group("Admins", &["admin"], &[])).await;
        let change = async |id: &str, change| {
            assert_eq!(store.change_group(id, change, 2, entry("change")).await.unwrap(), GroupOutcome::Done);
        };
        let members = |change| GroupChange { members: vec![change], ..GroupChange::default() };
        let both = async || [roles(store, 1, "ada").await, roles(store, 2, "bob").await];
        assert_eq!(both().await, ["staff support", "staff"]);
        change("g-Admins", members(MemberChange::Add(texts(&["id-ada", "id-ada", "id-bob"])))).await;
        let [ada, bob] = both().await;
        assert!(ada == "staff admin support" || ada == "staff support admin", "{ada}");
        assert_eq!(bob, "staff admin");
        change("g-Admins", members(MemberChange::Remove(texts(&["id-ada", "id-nobody"])))).await;
        assert_eq!(both().await, ["staff support", "staff admin"]);
        change("g-Support", members(MemberChange::Replace(texts(&["id-bob"])))).await;
        change("g-Admins", members(MemberChange::Replace(Vec::new()))).await;
        assert_eq!(both().await, ["staff", "staff support"]);
        change("g-Support", GroupChange { roles: Some(texts(&["editor"])), ..GroupChange::default() }).await;
        assert_eq!(both().await, ["staff", "staff editor"]);

        let with_role = async |role: &str| {
            let filter = UserFilter { role: Some(role.to_owned()), ..UserFilter::default() };
            let found = store.users(filter, UserSort::Name, 10, None).await.unwrap();
            found.into_iter().map(|(user, _)| (user.name, user.roles, user.groups)).collect::<Vec<_>>()
        };
        let [(name, own, groups)] = &with_role("editor").await[..] else { panic!("one user has the role") };
        assert_eq!((name.as_str(), own.join(" ").as_str()), ("bob", "staff"));
        assert_eq!((groups[0].name.as_str(), groups[0].roles.join(" ").as_str()), ("Support", "editor"));
        assert!(store.delete_group("g-Support", entry("delete")).await.unwrap());
        assert!(!store.delete_group("g-Support", entry("delete")).await.unwrap());
        assert_eq!(both().await, ["staff", "staff"]);
        let rows = store.audit_list(AuditFilter::default(), 50, None).await.unwrap();
        assert_eq!(rows.iter().filter(|row| row.tool == "change").count(), 5);
    })
    .await;
}

#[tokio::test]
async fn groups_that_cannot_be_stored_are_refused() {
    on_each_database(async |store| {
        add_users(store, &["ada", "eve"]).await;
        let add = async |group| store.add_group(group, entry("add")).await.unwrap();
        assert_eq!(add(group("Support", &[], &["id-ada", "id-eve"])).await, GroupOutcome::Done);
        assert_eq!(add(group("SUPPORT", &[], &[])).await, GroupOutcome::NameTaken);
        assert_eq!(add(group("Other", &[], &["x"])).await, GroupOutcome::UnknownMember("x".to_owned()));
        let many: Vec<_> = (0..=MAX_GROUP_MEMBERS).map(|number| number.to_string()).collect();
        let large = NewGroup { members: many.clone(), ..group("Other", &[], &[]) };
        assert_eq!(add(large).await, GroupOutcome::TooManyMembers);
        assert_eq!(add(group("Other", &[], &[])).await, GroupOutcome::Done);
        let change = async |id: &str, change| store.change_group(id, change, 2, entry("change")).await.unwrap();
        let name = |name: &str| GroupChange {
            name: Some((name.to_owned(), name.to_lowercase())),
            members: vec![MemberChange::Replace(Vec::new())],
            ..GroupChange::default()
        };
        assert_eq!(change("g-Other", name("support")).await, GroupOutcome::NameTaken);
        assert_eq!(change("g-none", name("None")).await, GroupOutcome::Unknown);
        let unknown = vec![MemberChange::Replace(Vec::new()), MemberChange::Add(texts(&["id-ada", "x"]))];
        let unknown = change("g-Support", GroupChange { members: unknown, ..GroupChange::default() }).await;
        assert_eq!(unknown, GroupOutcome::UnknownMember("x".to_owned()));
        let members = store.group_members("g-Support", "", 10).await.unwrap();
        assert_eq!(members.iter().map(|member| member.name.as_str()).collect::<Vec<_>>(), ["ada", "eve"]);
        assert_eq!(store.group_members("g-Support", "ada", 10).await.unwrap().len(), 1);

        // Memberships go with the user.
        store.add_user(new_user("boss", &["admin"]), false, None).await.unwrap();
        let delete = store.change_user("id-eve", UserChange::Delete, 3, entry("delete")).await.unwrap();
        assert_eq!(delete, ChangeUserOutcome::Done);
        assert_eq!(store.group_members("g-Support", "", 10).await.unwrap().len(), 1, "nobody sees them any more");
        let again = vec![MemberChange::Add(texts(&["id-eve"]))];
        let again = change("g-Other", GroupChange { members: again, ..GroupChange::default() }).await;
        assert_eq!(again, GroupOutcome::UnknownMember("id-eve".to_owned()));
        assert!(store.delete_user("id-eve").await.unwrap());
        assert_eq!(store.group("g-Support").await.unwrap().unwrap().members, 1);
        assert_eq!(store.user_groups("id-ada").await.unwrap().len(), 1);
    })
    .await;
}

#[tokio::test]
async fn invitation_of_an_administrator_by_group_gives_groups() {
    on_each_database(async |store| {
        add_users(store, &["ada"]).await;
        for new in [group("Admins", &["admin"], &["id-ada"]), group("Support", &["support"], &[])] {
            assert_eq!(store.add_group(new, entry("add")).await.unwrap(), GroupOutcome::Done);
        }
        let invitation = |number: u8| NewInvitation {
            id: format!("i{number}"),
            token_hash: [number; 32],
            label: "eve".to_owned(),
            roles: Vec::new(),
            groups: texts(&["g-Support", "g-deleted"]),
            created_by: "id-ada".to_owned(),
            now: 1,
            expires_at: 100,
        };
        let both = vec![(invitation(1), entry("invite")), (invitation(2), entry("invite"))];
        assert!(store.add_invitations(both).await.unwrap());
        let eve = new_user("eve", &[]);
        store.accept_invitation([1; 32], eve, &ways(), entry("accept")).await.unwrap();
        assert_eq!(store.user_by_id("id-eve").await.unwrap().unwrap().0.roles, ["support"]);
        assert!(store.invitation([2; 32], 2, &ways()).await.unwrap().is_some());
        assert!(store.delete_group("g-Admins", entry("delete")).await.unwrap());
        assert!(store.invitation([2; 32], 2, &ways()).await.unwrap().is_none(), "its creator may no longer invite");
    })
    .await;
}

#[tokio::test]
async fn usage_is_summed_by_group_and_model() {
    on_each_database(async |store| {
        add_users(store, &["ada", "bob", "cleo"]).await;
        for group in
            [group("Support", &[], &["id-ada", "id-bob"]), group("Sales", &[], &["id-bob"]), group("None", &[], &[])]
        {
            assert_eq!(store.add_group(group, entry("add")).await.unwrap(), GroupOutcome::Done);
        }
        let used = |owner: &str, model: &str, cost: f64| {
            let step = step(owner, "c", DAY, cost);
            StepRecord { model: model.to_owned(), ..step }
        };
        store
            .append_steps(vec![
                used("id-ada", "large", 1.0),
                used("id-bob", "small", 0.5),
                used("id-cleo", "large", 4.0),
            ])
            .await
            .unwrap();
        store.begin_invocation("id-bob", "i", "agent", DAY).await.unwrap();
        let day = UsageFilter::days(1, 1);
        let groups = async |filter: &UsageFilter| {
            let groups = store.usage_by_group(filter).await.unwrap();
            groups.into_iter().map(|used| (used.name, used.totals.cost_usd, used.totals.messages)).collect::<Vec<_>>()
        };
        // Bob is in both.
        assert_eq!(groups(&day).await, [("Support".to_owned(), 1.5, 1), ("Sales".to_owned(), 0.5, 1)]);
        let of_group = |id: &str| UsageFilter { group_id: Some(id.to_owned()), ..day.clone() };
        let cost = async |filter: UsageFilter| store.total_usage(&filter).await.unwrap().cost_usd;
        assert_eq!(cost(of_group("g-Support")).await, 1.5);
        assert_eq!(cost(of_group("unknown")).await, 0.0);
        let models = store.usage_by_model(&of_group("g-Support")).await.unwrap();
        let models: Vec<_> = models.iter().map(|used| (used.model.as_str(), used.cost_usd)).collect();
        assert_eq!(models, [("large", 1.0), ("small", 0.5)]);
        assert!(store.ratings_by_day(&of_group("g-Support")).await.unwrap().is_empty());

        let of_model = UsageFilter { model: Some("large".to_owned()), ..day.clone() };
        let total = store.total_usage(&of_model).await.unwrap();
        // Messages belong to no model.
        assert_eq!((total.cost_usd, total.steps, total.users, total.messages), (5.0, 2, 2, 0));
        assert_eq!(groups(&of_model).await, [("Support".to_owned(), 1.0, 0)]);
        assert_eq!(store.usage_by_day(&of_model).await.unwrap().len(), 1);
        let users = store.usage_by_user(&of_model).await.unwrap();
        assert_eq!(users.iter().map(|used| used.user_id.as_str()).collect::<Vec<_>>(), ["id-cleo", "id-ada"]);
        assert_eq!(store.usage_by_model(&of_model).await.unwrap().len(), 1);
    })
    .await;
}
