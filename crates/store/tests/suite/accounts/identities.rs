//! Identities of users at OpenID Connect providers.

use super::entry;
use crate::support::on_each_database;
use std::sync::Arc;
use store::{
    AddUserOutcome, ChangeUserOutcome, EndedAtProvider, LinkOutcome, MAX_IDENTITIES, NewApiKey, NewSession, NewUser,
    ProviderClaims, ProviderSession, SecondFactorProof, SessionLifetime, SignInProof, SignInWays, Store, UnlinkOutcome,
    User, UserChange, UserFilter, UserSort,
};

const LIFE: SessionLifetime = SessionLifetime { idle: 100_000, max_age: 1_000_000 };
const ISSUER: &str = "https://id.test";
const TWO: &str = "https://two.test";

fn user(name: &str, password: &str, roles: &[&str]) -> NewUser {
    NewUser {
        id: format!("id-{name}"),
        name: name.to_owned(),
        name_key: name.to_owned(),
        password: password.to_owned(),
        must_change_password: false,
        roles: roles.iter().map(|role| (*role).to_owned()).collect(),
        now: 1,
    }
}

fn claims(issuer: &str, subject: &str, roles: &[&str]) -> ProviderClaims {
    ProviderClaims {
        issuer: issuer.to_owned(),
        subject: subject.to_owned(),
        label: format!("{subject}@id.test"),
        roles: roles.iter().map(|role| (*role).to_owned()).collect(),
    }
}

fn ways(passwords: bool, issuers: &[(&str, i64)]) -> Arc<SignInWays> {
    let issuers = issuers.iter().map(|(issuer, max_age)| ((*issuer).to_owned(), *max_age)).collect();
    Arc::new(SignInWays { passwords, issuers })
}

fn key(user_id: &str) -> NewApiKey {
    NewApiKey {
        id: "k1".to_owned(),
        user_id: user_id.to_owned(),
        name: "key".to_owned(),
        key_hash: [7; 32],
        scopes: Vec::new(),
        now: 1,
        expires_at: 1_000,
    }
}

/// Adds `ada`, who has no password and signs in as `s1`.
async fn add_ada(store: &Store) {
    let claims = claims(ISSUER, "s1", &[]);
    let added = store.add_user_with_identity(user("ada", "", &[]), "i1", claims, entry("sign_up")).await.unwrap();
    assert_eq!(added, AddUserOutcome::Done);
}

async fn begin(store: &Store, token: u8, identity_id: &str, sid: Option<&str>) -> bool {
    let provider = ProviderSession { identity_id: identity_id.to_owned(), session_id: sid.map(str::to_owned) };
    begin_by(store, token, SignInProof::Provider(provider)).await
}

async fn begin_with_password(store: &Store, token: u8) {
    assert!(begin_by(store, token, SignInProof::Password("hash".to_owned(), SecondFactorProof::None)).await);
}

async fn begin_by(store: &Store, token: u8, proof: SignInProof) -> bool {
    let session = NewSession {
        id: format!("s{token}"),
        user_id: "id-ada".to_owned(),
        token_hash: [token; 32],
        agent: String::new(),
        now: 1,
        proof,
    };
    store.begin_session(session, None, LIFE, Vec::new()).await.unwrap()
}

/// Returns the user of a session, with all ways that the tests use.
async fn session(store: &Store, token: u8, now: i64) -> Option<User> {
    let ways = ways(true, &[(ISSUER, 500), (TWO, 500)]);
    store.session([token; 32], now, LIFE, &ways).await.unwrap().map(|(user, _)| user)
}

async fn is_valid(store: &Store, token: u8, now: i64) -> bool {
    session(store, token, now).await.is_some()
}

#[tokio::test]
async fn identity_has_one_user() {
    on_each_database(async |store| {
        add_ada(store).await;
        let again = claims(ISSUER, "s1", &[]);
        let again = store.add_user_with_identity(user("eve", "", &[]), "i2", again, entry("x")).await.unwrap();
        assert_eq!(again, AddUserOutcome::IdentityTaken);
        assert!(store.user_by_id("id-eve").await.unwrap().is_none());
        let name = claims(ISSUER, "s2", &[]);
        let name = store.add_user_with_identity(user("ada", "", &[]), "i2", name, entry("x")).await.unwrap();
        assert_eq!(name, AddUserOutcome::NameTaken);
        let found = async |issuer: &str, subject: &str| {
            store.user_by_identity(issuer, subject).await.unwrap().map(|(user, identity)| (user.name, identity.id))
        };
        assert_eq!(found(ISSUER, "s1").await, Some(("ada".to_owned(), "i1".to_owned())));
        assert_eq!(found("https://other.test", "s1").await, None, "a subject counts for its issuer only");
        assert_eq!(found(ISSUER, "S1").await, None);

        store.add_user(user("bob", "hash", &[]), false, None).await.unwrap();
        let link = async |user: &str, id: &str, subject: &str| {
            store.link_identity(user, id, claims(ISSUER, subject, &[]), 2, false, None).await.unwrap()
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
async fn roles_of_groups_count_in_sessions_of_the_identity_only() {
    on_each_database(async |store| {
        // An administrator with a password links accounts at two providers.
        store.add_user(user("ada", "hash", &["admin", "staff"]), true, None).await.unwrap();
        store.add_api_key(key("id-ada"), None).await.unwrap();
        let link = async |id: &str, issuer: &str, given: &[&str]| {
            let claims = claims(issuer, id, given);
            assert_eq!(store.link_identity("id-ada", id, claims, 2, false, None).await.unwrap(), LinkOutcome::Done);
        };
        link("i1", ISSUER, &[]).await;
        link("i2", TWO, &["partner", "staff"]).await;
        begin(store, 1, "i1", None).await;
        begin(store, 2, "i2", None).await;
        begin_with_password(store, 3).await;
        // Returns the roles in sessions of the two providers, of the password, and those of the key.
        let all = async || {
            let mut all = Vec::new();
            for token in [1, 2, 3] {
                all.push(session(store, token, 3).await.unwrap().roles.join(" "));
            }
            all.push(store.api_key([7; 32], 3).await.unwrap().unwrap().0.roles.join(" "));
            all
        };
        let given = "admin staff";
        assert_eq!(all().await, [given, "admin staff partner", given, given]);
        let sign_in = async |issuer: &str, subject: &str, given: &[&str]| {
            assert!(store.update_identity(claims(issuer, subject, given), 3, Some(entry("x"))).await.unwrap());
        };
        sign_in(ISSUER, "i1", &["support"]).await;
        assert_eq!(all().await, ["admin staff support", "admin staff partner", given, given]);
        sign_in(ISSUER, "i1", &[]).await;
        assert_eq!(all().await, [given, "admin staff partner", given, given], "the other provider's roles stay there");

        // Nothing that a provider says gives or takes a role that an administrator decides about.
        let demote = UserChange::Roles(vec!["staff".to_owned()]);
        let demoted = store.change_user("id-ada", demote.clone(), 4, entry("y")).await.unwrap();
        assert_eq!(demoted, ChangeUserOutcome::LastAdmin);
        store.add_user(user("bob", "hash", &["admin"]), false, None).await.unwrap();
        sign_in(TWO, "i2", &["admin"]).await;
        assert_eq!(store.change_user("id-ada", demote, 4, entry("z")).await.unwrap(), ChangeUserOutcome::Done);
        sign_in(ISSUER, "i1", &[]).await;
        assert_eq!(all().await, ["staff", "staff admin", "staff", "staff"]);
        let of = async |role: &str| {
            let filter = UserFilter { role: Some(role.to_owned()), ..UserFilter::default() };
            let found = store.users(filter, UserSort::Name, 10, None).await.unwrap();
            found.into_iter().map(|(user, _)| (user.name, user.roles, user.group_roles)).collect::<Vec<_>>()
        };
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let ada = ("ada".to_owned(), texts(&["staff"]), texts(&["admin"]));
        let bob = ("bob".to_owned(), texts(&["admin"]), texts(&[]));
        assert_eq!(of("admin").await, [ada, bob]);
        assert!(of("partner").await.is_empty());
        assert_eq!(store.unlink_identity("id-ada", "i2", None, None).await.unwrap(), UnlinkOutcome::Done);
        assert!(session(store, 2, 4).await.is_none());
        assert_eq!(session(store, 1, 4).await.unwrap().roles, ["staff"]);
        assert!(!store.update_identity(claims(ISSUER, "unknown", &["admin"]), 2, None).await.unwrap());
    })
    .await;
}

#[tokio::test]
async fn sessions_need_a_way_that_the_config_has() {
    on_each_database(async |store| {
        store.add_user(user("ada", "hash", &[]), true, None).await.unwrap();
        store.link_identity("id-ada", "i1", claims(ISSUER, "s1", &[]), 1, false, None).await.unwrap();
        begin(store, 1, "i1", None).await;
        begin_with_password(store, 2).await;
        let check = async |passwords: bool, issuers: &[(&str, i64)], now: i64, expected: [bool; 2]| {
            let ways = ways(passwords, issuers);
            for (token, expected) in [1, 2].into_iter().zip(expected) {
                let found = store.session([token; 32], now, LIFE, &ways).await.unwrap();
                assert_eq!(found.is_some(), expected, "{token} {ways:?} {now}");
            }
            let listed = store.sessions("id-ada", now, LIFE, &ways).await.unwrap().len();
            assert_eq!(listed, expected.into_iter().filter(|valid| *valid).count());
        };
        check(true, &[(TWO, 500), (ISSUER, 500)], 2, [true, true]).await;
        check(false, &[(ISSUER, 500)], 2, [true, false]).await;
        check(true, &[(TWO, 500)], 2, [false, true]).await;
        check(false, &[], 2, [false, false]).await;
        // A shorter setting counts at once, also for sessions that have begun.
        check(true, &[(ISSUER, 500)], 500, [true, true]).await;
        check(true, &[(ISSUER, 500)], 501, [false, true]).await;
        check(true, &[(ISSUER, 100)], 101, [false, true]).await;
    })
    .await;
}

#[tokio::test]
async fn verified_address_links_only_an_account_without_identities() {
    on_each_database(async |store| {
        store.add_user(user("ada", "hash", &[]), true, None).await.unwrap();
        store.add_user(user("bob", "", &[]), false, None).await.unwrap();
        let link = async |user: &str, subject: &str| {
            store.link_identity(user, subject, claims(ISSUER, subject, &[]), 1, true, None).await.unwrap()
        };
        assert_eq!(link("id-ada", "s1").await, LinkOutcome::Done);
        assert_eq!(link("id-ada", "s2").await, LinkOutcome::NotTheFirst);
        assert_eq!(link("id-bob", "s3").await, LinkOutcome::NotTheFirst, "there is no password");
        assert!(store.identities("id-bob").await.unwrap().is_empty());
    })
    .await;
}

#[tokio::test]
async fn identities_of_other_users_cannot_be_unlinked() {
    on_each_database(async |store| {
        add_ada(store).await;
        store.add_user(user("bob", "hash", &[]), false, None).await.unwrap();
        for ways in [None, Some(ways(true, &[(ISSUER, 500)]))] {
            let outcome = store.unlink_identity("id-bob", "i1", ways, Some(entry("x"))).await.unwrap();
            assert_eq!(outcome, UnlinkOutcome::Unknown);
        }
        assert_eq!(store.identities("id-ada").await.unwrap().len(), 1);
    })
    .await;
}

#[tokio::test]
async fn last_way_to_sign_in_is_kept() {
    on_each_database(async |store| {
        add_ada(store).await;
        let unlink = async |id: &str, passwords: bool, issuers: &[&str]| {
            let issuers: Vec<_> = issuers.iter().map(|issuer| (*issuer, 500)).collect();
            store.unlink_identity("id-ada", id, Some(ways(passwords, &issuers)), None).await.unwrap()
        };
        assert_eq!(unlink("i1", true, &[ISSUER]).await, UnlinkOutcome::LastWay, "there is no password");
        store.link_identity("id-ada", "i2", claims(TWO, "t", &[]), 2, false, None).await.unwrap();
        assert_eq!(unlink("i1", true, &[ISSUER]).await, UnlinkOutcome::LastWay, "the other issuer is not in use");
        assert_eq!(unlink("other", true, &[ISSUER]).await, UnlinkOutcome::Unknown);
        begin(store, 1, "i1", None).await;
        begin(store, 2, "i2", None).await;
        assert_eq!(unlink("i1", false, &[ISSUER, TWO]).await, UnlinkOutcome::Done);
        assert!(!is_valid(store, 1, 2).await && is_valid(store, 2, 2).await);
        assert!(store.user_by_identity(ISSUER, "s1").await.unwrap().is_none());
    })
    .await;
}

#[tokio::test]
async fn sessions_end_with_those_of_the_provider() {
    on_each_database(async |store| {
        add_ada(store).await;
        for (token, sid) in [(1, Some("a")), (2, Some("b")), (3, None)] {
            assert!(begin(store, token, "i1", sid).await);
        }
        assert_eq!(store.session_issuer("id-ada", "s1").await.unwrap().as_deref(), Some(ISSUER));
        assert_eq!(store.session_issuer("id-bob", "s1").await.unwrap(), None);
        let end =
            async |issuer: &str, ended: EndedAtProvider| store.end_provider_sessions(issuer, ended).await.unwrap();
        let sid =
            |sid: &str, subject: Option<&str>| EndedAtProvider::Session(sid.to_owned(), subject.map(str::to_owned));
        assert_eq!(end(TWO, sid("a", Some("s1"))).await, 0);
        assert_eq!(end(ISSUER, sid("a", None)).await, 1);
        assert!(!is_valid(store, 1, 2).await && is_valid(store, 2, 2).await);
        assert_eq!(end(TWO, EndedAtProvider::Subject("s1".to_owned())).await, 0);
        // A session that the provider had not named ends with the subject, one with another name does not.
        assert_eq!(end(ISSUER, sid("unknown", Some("other"))).await, 0);
        assert_eq!(end(ISSUER, sid("unknown", Some("s1"))).await, 1);
        assert!(is_valid(store, 2, 2).await && !is_valid(store, 3, 2).await);
        assert_eq!(end(ISSUER, EndedAtProvider::Subject("s1".to_owned())).await, 1);
        store.set_disabled("id-ada", Some(1)).await.unwrap();
        assert!(!begin(store, 4, "i1", None).await, "a disabled user cannot come in");
    })
    .await;
}
