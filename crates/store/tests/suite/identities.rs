//! Identities of users at OpenID Connect providers.

use crate::support::on_each_database;
use serde_json::json;
use store::{
    AddUserOutcome, AuditEntry, AuditOutcome, EndedAtProvider, LinkOutcome, MAX_IDENTITIES, NewSession, NewUser,
    ProviderClaims, ProviderSession, SessionLifetime, SignInWays, Store, UnlinkOutcome, UserFilter, UserSort,
};

const LIFE: SessionLifetime = SessionLifetime { idle: 100_000, max_age: 1_000_000 };
const ISSUER: &str = "https://id.test";

fn user(name: &str, password: &str, roles: &[&str]) -> NewUser {
    NewUser {
        id: format!("id-{name}"),
        name: name.to_owned(),
        name_key: name.to_owned(),
        password: password.to_owned(),
        roles: roles.iter().map(|role| (*role).to_owned()).collect(),
        now: 1,
    }
}

fn claims(issuer: &str, subject: &str, roles: &[&str], managed: &[&str]) -> ProviderClaims {
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    ProviderClaims {
        issuer: issuer.to_owned(),
        subject: subject.to_owned(),
        label: format!("{subject}@id.test"),
        roles: texts(roles),
        managed_roles: texts(managed),
    }
}

fn entry(tool: &str) -> AuditEntry {
    AuditEntry {
        at: 1,
        user_id: "id-ada".to_owned(),
        agent_id: String::new(),
        conversation_id: String::new(),
        message_id: String::new(),
        run_id: String::new(),
        call_id: tool.to_owned(),
        tool: tool.to_owned(),
        arguments: json!({}),
        gates: Vec::new(),
        outcome: AuditOutcome::Ok,
        duration_ms: None,
    }
}

/// Adds `ada`, who has no password and signs in as `s1`.
async fn add_ada(store: &Store, roles: &[&str]) {
    let claims = claims(ISSUER, "s1", roles, &[]);
    let added = store.add_user_with_identity(user("ada", "", roles), "i1", claims, entry("sign_up")).await.unwrap();
    assert_eq!(added, AddUserOutcome::Done);
}

async fn roles(store: &Store) -> Vec<String> {
    store.user_by_id("id-ada").await.unwrap().unwrap().0.roles
}

async fn begin(store: &Store, token: u8, identity_id: &str, sid: Option<&str>, expires_at: i64) -> bool {
    let provider =
        ProviderSession { identity_id: identity_id.to_owned(), session_id: sid.map(str::to_owned), expires_at };
    let session = NewSession {
        id: format!("s{token}"),
        user_id: "id-ada".to_owned(),
        token_hash: [token; 32],
        agent: String::new(),
        now: 1,
        provider: Some(provider),
    };
    store.begin_session(session, None, LIFE, None).await.unwrap()
}

async fn is_valid(store: &Store, token: u8, now: i64) -> bool {
    store.session([token; 32], now, LIFE).await.unwrap().is_some()
}

#[tokio::test]
async fn identity_has_one_user() {
    on_each_database(async |store| {
        add_ada(store, &["staff"]).await;
        let again = claims(ISSUER, "s1", &[], &[]);
        let again = store.add_user_with_identity(user("eve", "", &[]), "i2", again, entry("x")).await.unwrap();
        assert_eq!(again, AddUserOutcome::IdentityTaken);
        assert!(store.user_by_id("id-eve").await.unwrap().is_none());
        let name = claims(ISSUER, "s2", &[], &[]);
        let name = store.add_user_with_identity(user("ada", "", &[]), "i2", name, entry("x")).await.unwrap();
        assert_eq!(name, AddUserOutcome::NameTaken);
        let found = async |issuer: &str, subject: &str| {
            store.user_by_identity(issuer, subject).await.unwrap().map(|(user, id)| (user.name, id))
        };
        assert_eq!(found(ISSUER, "s1").await, Some(("ada".to_owned(), "i1".to_owned())));
        assert_eq!(found("https://other.test", "s1").await, None, "a subject counts for its issuer only");
        assert_eq!(found(ISSUER, "S1").await, None);

        store.add_user(user("bob", "hash", &[]), false, None).await.unwrap();
        let link = async |user: &str, id: &str, subject: &str| {
            store.link_identity(user, id, claims(ISSUER, subject, &[], &[]), 2, None).await.unwrap()
        };
        assert_eq!(link("id-bob", "i3", "s1").await, LinkOutcome::OtherUser);
        assert_eq!(link("id-ada", "i3", "s1").await, LinkOutcome::Done);
        assert_eq!(link("nobody", "i3", "s3").await, LinkOutcome::Unknown);
        for number in 0..MAX_IDENTITIES {
            assert_eq!(link("id-bob", &format!("b{number}"), &format!("b{number}")).await, LinkOutcome::Done);
        }
        assert_eq!(link("id-bob", "more", "more").await, LinkOutcome::TooMany);
        let listed = store.users(UserFilter::default(), UserSort::Name, 10, None).await.unwrap();
        let listed: Vec<_> =
            listed.into_iter().map(|(user, _)| (user.name, user.has_password, user.issuers.len())).collect();
        assert_eq!(listed, [("ada".to_owned(), false, 1), ("bob".to_owned(), true, MAX_IDENTITIES)]);
    })
    .await;
}

#[tokio::test]
async fn sign_in_changes_the_roles_of_groups_only() {
    on_each_database(async |store| {
        add_ada(store, &["staff"]).await;
        let sign_in = async |issuer: &str, subject: &str, given: &[&str], managed: &[&str]| {
            assert!(store.update_identity(claims(issuer, subject, given, managed), 2).await.unwrap());
            roles(store).await
        };
        let managed = ["staff", "admin"];
        assert_eq!(sign_in(ISSUER, "s1", &["admin", "staff"], &managed).await, ["admin", "staff"]);
        assert_eq!(sign_in(ISSUER, "s1", &["staff"], &managed).await, ["staff"]);
        let linked = claims("https://two.test", "t", &["partner", "staff"], &["partner"]);
        store.link_identity("id-ada", "i2", linked, 2, None).await.unwrap();
        assert_eq!(roles(store).await, ["staff", "partner"]);
        assert_eq!(sign_in(ISSUER, "s1", &[], &managed).await, ["partner", "staff"], "another provider gives it");
        let ways = SignInWays { passwords: false, issuers: vec![ISSUER.to_owned()] };
        assert_eq!(store.unlink_identity("id-ada", "i2", ways, None).await.unwrap(), UnlinkOutcome::Done);
        assert!(roles(store).await.is_empty());
        assert!(!store.update_identity(claims(ISSUER, "unknown", &["admin"], &[]), 2).await.unwrap());
    })
    .await;
}

#[tokio::test]
async fn last_way_to_sign_in_is_kept() {
    on_each_database(async |store| {
        add_ada(store, &[]).await;
        let unlink = async |id: &str, passwords: bool, issuers: &[&str]| {
            let issuers = issuers.iter().map(|issuer| (*issuer).to_owned()).collect();
            store.unlink_identity("id-ada", id, SignInWays { passwords, issuers }, None).await.unwrap()
        };
        assert_eq!(unlink("i1", true, &[ISSUER]).await, UnlinkOutcome::LastWay, "there is no password");
        store.link_identity("id-ada", "i2", claims("https://two.test", "t", &[], &[]), 2, None).await.unwrap();
        assert_eq!(unlink("i1", true, &[ISSUER]).await, UnlinkOutcome::LastWay, "the other issuer is not in use");
        assert_eq!(unlink("other", true, &[ISSUER]).await, UnlinkOutcome::Unknown);
        begin(store, 1, "i1", None, 1_000).await;
        begin(store, 2, "i2", None, 1_000).await;
        assert_eq!(unlink("i1", false, &[ISSUER, "https://two.test"]).await, UnlinkOutcome::Done);
        assert!(!is_valid(store, 1, 2).await && is_valid(store, 2, 2).await);
        assert!(store.user_by_identity(ISSUER, "s1").await.unwrap().is_none());
    })
    .await;
}

#[tokio::test]
async fn sessions_end_with_those_of_the_provider() {
    on_each_database(async |store| {
        add_ada(store, &[]).await;
        for (token, sid) in [(1, Some("a")), (2, Some("b")), (3, None)] {
            assert!(begin(store, token, "i1", sid, 500).await);
        }
        assert_eq!(store.session_issuer("id-ada", "s1").await.unwrap().as_deref(), Some(ISSUER));
        assert_eq!(store.session_issuer("id-bob", "s1").await.unwrap(), None);
        let end =
            async |issuer: &str, ended: EndedAtProvider| store.end_provider_sessions(issuer, ended).await.unwrap();
        assert_eq!(end("https://two.test", EndedAtProvider::Session("a".to_owned())).await, 0);
        assert_eq!(end(ISSUER, EndedAtProvider::Session("a".to_owned())).await, 1);
        assert!(!is_valid(store, 1, 2).await && is_valid(store, 2, 2).await);
        assert_eq!(end("https://two.test", EndedAtProvider::Subject("s1".to_owned())).await, 0);
        assert_eq!(store.sessions("id-ada", 2, LIFE).await.unwrap().len(), 2);
        assert!(is_valid(store, 2, 499).await && !is_valid(store, 2, 500).await, "they must sign in again");
        assert!(store.sessions("id-ada", 500, LIFE).await.unwrap().is_empty());
        assert_eq!(end(ISSUER, EndedAtProvider::Subject("s1".to_owned())).await, 2);
        store.set_disabled("id-ada", Some(1)).await.unwrap();
        assert!(!begin(store, 4, "i1", None, 500).await, "a disabled user cannot come in");
    })
    .await;
}
