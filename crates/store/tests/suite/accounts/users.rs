//! Users, their sessions and their API keys.

use crate::support::on_each_database;
use std::sync::Arc;
use store::{
    AccessFilter, AccessKind, AccessSort, AddUserOutcome, AuditEntry, AuditFilter, AuditKind, AuditOutcome,
    ExternalUser, MAX_API_KEYS, NewApiKey, NewSession, NewUser, SecondFactorProof, SessionLifetime, SignInProof,
    SignInWays, Store, StoredPassword,
};

const LIFE: SessionLifetime = SessionLifetime { idle: 100_000, max_age: 1_000_000 };

fn ways() -> Arc<SignInWays> {
    Arc::new(SignInWays { passwords: true, issuers: Vec::new() })
}

fn user(name: &str) -> NewUser {
    let name = name.to_owned();
    NewUser {
        id: format!("id-{name}"),
        name_key: name.to_lowercase(),
        name,
        password: "hash".to_owned(),
        must_change_password: false,
        roles: vec!["admin".to_owned()],
        now: 1,
    }
}

async fn add(store: &Store, name: &str) -> String {
    assert_eq!(store.add_user(user(name), false, None).await.unwrap(), AddUserOutcome::Done);
    format!("id-{name}")
}

fn session(id: &str, user_id: &str, token: u8, now: i64) -> NewSession {
    let (id, user_id, proof) =
        (id.to_owned(), user_id.to_owned(), SignInProof::Password("hash".to_owned(), SecondFactorProof::None));
    NewSession { id, user_id, token_hash: [token; 32], agent: "browser".to_owned(), now, proof }
}

async fn begin(store: &Store, user_id: &str, token: u8, now: i64) -> bool {
    let session = session(&format!("s{token}"), user_id, token, now);
    store.begin_session(session, None, LIFE, Vec::new()).await.unwrap()
}

/// Returns whether a session is valid.
async fn counts(store: &Store, token: u8, now: i64) -> bool {
    store.session([token; 32], now, LIFE, &ways()).await.unwrap().is_some()
}

fn key(user_id: &str, number: u8) -> NewApiKey {
    NewApiKey {
        id: format!("k{number}"),
        user_id: user_id.to_owned(),
        name: "job".to_owned(),
        key_hash: [number; 32],
        scopes: vec!["agents".to_owned()],
        now: 1,
        expires_at: 1_000,
    }
}

#[tokio::test]
async fn only_one_first_user_is_added() {
    on_each_database(async |store| {
        assert!(!store.has_users().await.unwrap());
        let both = futures::join!(store.add_user(user("Ada"), true, None), store.add_user(user("Bob"), true, None));
        let mut both = [both.0.unwrap(), both.1.unwrap()];
        both.sort_by_key(|added| *added != AddUserOutcome::Done);
        assert_eq!(both, [AddUserOutcome::Done, AddUserOutcome::NotTheFirst]);
        assert!(store.has_users().await.unwrap());
    })
    .await;
}

#[tokio::test]
async fn name_belongs_to_one_user() {
    on_each_database(async |store| {
        let id = add(store, "Ada").await;
        assert_eq!(
            store.add_user(NewUser { id: "x".to_owned(), ..user("ADA") }, false, None).await.unwrap(),
            AddUserOutcome::NameTaken
        );
        let (found, password) = store.user_by_name("ada").await.unwrap().unwrap();
        assert_eq!((found.id.as_str(), found.name.as_str()), (id.as_str(), "Ada"));
        assert_eq!(password, StoredPassword { hash: "hash".to_owned(), must_change: false });
        assert_eq!(found.roles, ["admin"]);
        assert!(store.user_by_name("%").await.unwrap().is_none());
    })
    .await;
}

#[tokio::test]
async fn sessions_expire_and_can_be_ended() {
    on_each_database(async |store| {
        let (ada, bob) = (add(store, "Ada").await, add(store, "Bob").await);
        assert!(begin(store, &ada, 1, 0).await);
        assert!(counts(store, 1, 99_999).await);
        assert!(counts(store, 1, 199_998).await, "it was used meanwhile");
        assert!(!counts(store, 1, 300_000).await, "it was not used for too long");
        let mut now = 0;
        assert!(begin(store, &ada, 2, now).await);
        while now < 950_000 {
            now += 90_000;
            assert_eq!(counts(store, 2, now).await, now < 1_000_000, "{now}");
        }
        assert!(!counts(store, 2, 1_000_000).await, "it is too old");

        assert!(begin(store, &ada, 3, 0).await);
        assert!(!store.end_session(&bob, "s3", None).await.unwrap());
        assert!(counts(store, 3, 1).await);
        assert!(store.end_session(&ada, "s3", None).await.unwrap());
        assert!(!counts(store, 3, 1).await);
    })
    .await;
}

#[tokio::test]
async fn new_session_replaces_a_given_or_the_oldest_one() {
    on_each_database(async |store| {
        let ada = add(store, "Ada").await;
        begin(store, &ada, 1, 0).await;
        let next = session("next", &ada, 9, 1);
        assert!(store.begin_session(next, Some([1; 32]), LIFE, Vec::new()).await.unwrap());
        assert!(!counts(store, 1, 2).await && counts(store, 9, 2).await);
        for token in 10..80 {
            begin(store, &ada, token, i64::from(token)).await;
        }
        let list = store.sessions(&ada, 90, LIFE, &ways()).await.unwrap();
        assert_eq!((list.len(), list[0].id.as_str()), (50, "s79"));
        assert!(!counts(store, 9, 90).await);
    })
    .await;
}

#[tokio::test]
async fn sessions_and_keys_of_a_disabled_user_are_invalid() {
    on_each_database(async |store| {
        let ada = add(store, "Ada").await;
        begin(store, &ada, 1, 0).await;
        assert!(store.add_api_key(key(&ada, 1), None).await.unwrap());
        assert!(store.set_disabled(&ada, Some(5)).await.unwrap());
        assert!(!counts(store, 1, 6).await);
        assert!(store.api_key([1; 32], 6).await.unwrap().is_none());
        assert!(!begin(store, &ada, 2, 6).await);
        assert!(!store.set_password(&ada, None, ("hash", "new"), 6, None).await.unwrap());
        assert!(store.set_disabled(&ada, None).await.unwrap());
        assert!(counts(store, 1, 7).await);
        assert!(!store.set_disabled("nobody", Some(5)).await.unwrap());
    })
    .await;
}

#[tokio::test]
async fn password_change_ends_all_sessions() {
    on_each_database(async |store| {
        let (ada, bob) = (add(store, "Ada").await, add(store, "Bob").await);
        begin(store, &ada, 1, 0).await;
        begin(store, &bob, 2, 0).await;
        assert!(!store.set_password(&ada, None, ("wrong", "new"), 1, None).await.unwrap());
        assert!(!store.set_password(&ada, Some("ended"), ("hash", "new"), 1, None).await.unwrap());
        assert!(counts(store, 1, 1).await);
        assert!(store.set_password(&ada, None, ("hash", "new"), 1, None).await.unwrap());
        assert!(!counts(store, 1, 1).await && counts(store, 2, 1).await);
        assert_eq!(store.user_by_id(&ada).await.unwrap().unwrap().1.hash, "new");
    })
    .await;
}

#[tokio::test]
async fn api_keys_expire_and_can_be_revoked() {
    on_each_database(async |store| {
        let (ada, bob) = (add(store, "Ada").await, add(store, "Bob").await);
        assert!(store.add_api_key(key(&ada, 1), None).await.unwrap());
        let (user, scopes) = store.api_key([1; 32], 999).await.unwrap().unwrap();
        assert_eq!((user.id.as_str(), scopes), (ada.as_str(), vec!["agents".to_owned()]));
        assert!(store.api_key([1; 32], 1_000).await.unwrap().is_none(), "it has expired");
        assert!(store.api_key([2; 32], 1).await.unwrap().is_none());
        assert_eq!(store.api_keys(&ada).await.unwrap()[0].used_at, Some(999));
        assert_eq!(store.api_keys(&bob).await.unwrap(), []);
        assert!(!store.delete_api_key(&bob, "k1", None).await.unwrap());
        assert!(store.delete_api_key(&ada, "k1", None).await.unwrap());
        assert!(store.api_key([1; 32], 1).await.unwrap().is_none());
        for number in 0..MAX_API_KEYS {
            assert!(store.add_api_key(key(&ada, number as u8), None).await.unwrap());
        }
        assert!(!store.add_api_key(key(&ada, 200), None).await.unwrap());
        assert!(store.add_api_key(key(&bob, 201), None).await.unwrap());
    })
    .await;
}

/// Keys of external users are bound to the authentication mode, expire, and follow changes of the
/// user's name and roles.
#[tokio::test]
async fn api_keys_of_external_users_are_bound_to_the_mode() {
    on_each_database(async |store| {
        let user = |id: &str, roles: &[&str]| ExternalUser {
            mode: "jwt",
            id: id.to_owned(),
            name: None,
            roles: roles.iter().map(|role| (*role).to_owned()).collect(),
        };
        let key = |number: u8, expires_at| NewApiKey { expires_at, ..key("ada", number) };
        assert!(store.add_external_key(user("ada", &["editor"]), key(1, 1_000), None).await.unwrap());
        let known = async |mode, now| store.external_key([1; 32], mode, now).await.unwrap().map(|(user, _)| user);
        assert_eq!(known("jwt", 999).await, Some(user("ada", &["editor"])));
        assert_eq!(known("jwt", 1_000).await, None);
        assert_eq!(known("proxy", 999).await, None);
        store.update_external_user(user("bob", &["admin"])).await.unwrap();
        store.update_external_user(ExternalUser { mode: "proxy", ..user("ada", &["admin"]) }).await.unwrap();
        assert_eq!(known("jwt", 999).await, Some(user("ada", &["editor"])));
        let renamed = ExternalUser { name: Some("Ada".to_owned()), ..user("ada", &[]) };
        store.update_external_user(renamed.clone()).await.unwrap();
        assert_eq!(known("jwt", 999).await, Some(renamed));
        assert_eq!(store.external_keys("ada", "jwt").await.unwrap().len(), 1);
        assert_eq!(store.external_keys("ada", "proxy").await.unwrap(), []);
        assert!(!store.delete_external_key("bob", "jwt", "k1", None).await.unwrap());
        assert!(!store.delete_external_key("ada", "proxy", "k1", None).await.unwrap());
        for n in 1..MAX_API_KEYS {
            assert!(store.add_external_key(user("ada", &[]), key(100 + n as u8, 9_000), None).await.unwrap());
        }
        assert!(!store.add_external_key(user("ada", &[]), key(99, 9_000), None).await.unwrap());
        // The first key has expired by then, and is deleted to make room.
        let later = NewApiKey { now: 2_000, ..key(99, 9_000) };
        assert!(store.add_external_key(user("ada", &[]), later, None).await.unwrap());
        assert!(!store.delete_external_key("ada", "jwt", "k1", None).await.unwrap());
        assert_eq!(known("jwt", 999).await, None);
        assert!(store.delete_external_key("ada", "jwt", "k99", None).await.unwrap());
    })
    .await;
}

fn row(call: &str, user_id: &str, tool: &str) -> AuditEntry {
    AuditEntry {
        at: 1,
        user_id: user_id.to_owned(),
        agent_id: String::new(),
        conversation_id: String::new(),
        message_id: String::new(),
        run_id: String::new(),
        call_id: call.to_owned(),
        tool: tool.to_owned(),
        arguments: serde_json::Value::Null,
        gates: Vec::new(),
        outcome: AuditOutcome::Ok,
        duration_ms: None,
    }
}

/// A change of an account and its audit row are stored together; a change that was not made has no
/// row.
#[tokio::test]
async fn account_changes_are_audited() {
    on_each_database(async |store| {
        let entry = |what: &str| Some(row(what, "id-Ada", &format!("account:{what}")));
        assert_eq!(store.add_user(user("Ada"), true, entry("first_account")).await.unwrap(), AddUserOutcome::Done);
        assert_eq!(store.add_user(user("ADA"), false, entry("x1")).await.unwrap(), AddUserOutcome::NameTaken);
        assert_eq!(store.add_user(user("Bob"), true, entry("x2")).await.unwrap(), AddUserOutcome::NotTheFirst);
        let session = |user_id: &str| session("s", user_id, 1, 1);
        assert!(
            store.begin_session(session("id-Ada"), None, LIFE, entry("sign_in").into_iter().collect()).await.unwrap()
        );
        assert!(!store.begin_session(session("nobody"), None, LIFE, entry("x3").into_iter().collect()).await.unwrap());
        assert!(store.end_session("id-Ada", "s", entry("sign_out")).await.unwrap());
        assert!(!store.end_session("id-Ada", "s", entry("x4")).await.unwrap());
        assert!(store.set_password("id-Ada", None, ("hash", "new"), 2, entry("change_password")).await.unwrap());
        assert!(!store.set_password("id-Ada", None, ("hash", "new"), 2, entry("x5")).await.unwrap());
        assert!(store.add_api_key(key("id-Ada", 1), entry("add_key")).await.unwrap());
        assert!(store.delete_api_key("id-Ada", "k1", entry("delete_key")).await.unwrap());
        assert!(!store.delete_api_key("id-Ada", "k1", entry("x6")).await.unwrap());
        let rows = store.audit_list(AuditFilter::default(), 100, None).await.unwrap();
        let done: Vec<_> = rows.iter().rev().map(|row| row.tool.trim_start_matches("account:")).collect();
        let expected = ["first_account", "sign_in", "sign_out", "change_password", "add_key", "delete_key"];
        assert_eq!(done, expected);
        assert!(store.verify_audit(None).await.unwrap().is_ok());
    })
    .await;
}

#[tokio::test]
async fn audit_log_is_filtered_by_name_and_kind() {
    on_each_database(async |store| {
        let ada = add(store, "Ada").await;
        let elsewhere =
            ExternalUser { mode: "jwt", id: "eve".to_owned(), name: Some("Eve".to_owned()), roles: Vec::new() };
        assert!(store.add_external_key(elsewhere, key("eve", 3), None).await.unwrap());
        let rows = [
            row("1", &ada, "account:sign_in"),
            row("2", &ada, "admin:set_roles"),
            row("3", &ada, "search"),
            row("4", "eve", "search"),
            row("5", "ada", "accountant"),
        ];
        store.append_audit(rows.to_vec()).await.unwrap();
        let check = async |filter: AuditFilter, expected: &str| {
            let rows = store.audit_list(filter.clone(), 100, None).await.unwrap();
            let calls: String = rows.iter().rev().map(|row| row.call_id.as_str()).collect();
            assert_eq!(calls, expected, "{filter:?}");
        };
        let of = |user: &str| AuditFilter { user: Some(user.to_owned()), ..AuditFilter::default() };
        check(of("id-Ada"), "123").await;
        check(of("ADA"), "123").await;
        // A user's id may be another user's name.
        check(of("ada"), "1235").await;
        check(of("Eve"), "4").await;
        check(of("eve"), "4").await;
        check(of("nobody"), "").await;
        let kind = |kind: AuditKind| AuditFilter { kind: Some(kind), ..AuditFilter::default() };
        check(kind(AuditKind::Tools), "345").await;
        check(kind(AuditKind::Accounts), "1").await;
        check(kind(AuditKind::Administration), "2").await;
        check(AuditFilter { kind: Some(AuditKind::Tools), ..of("Ada") }, "3").await;
        let names = store.user_names(["id-Ada", "eve", "ada"].map(str::to_owned).to_vec()).await.unwrap();
        let mut names: Vec<_> = names.iter().map(|(id, name)| format!("{id} {name}")).collect();
        names.sort_unstable();
        assert_eq!(names, ["eve Eve", "id-Ada Ada"]);
        assert!(store.user_names(Vec::new()).await.unwrap().is_empty());
    })
    .await;
}

#[tokio::test]
async fn names_are_listed_in_pages() {
    on_each_database(async |store| {
        for name in ["ada", "Żaneta", "bob", "иван"] {
            add(store, name).await;
        }
        let check = async |all: bool, after: &str, expected: &[&str]| {
            assert_eq!(store.name_keys(all, after, 3).await.unwrap(), expected, "{all} {after}");
        };
        check(true, "", &["ada", "bob", "żaneta"]).await;
        check(true, "żaneta", &["иван"]).await;
        check(true, "иван", &[]).await;
        check(false, "", &["żaneta", "иван"]).await;
    })
    .await;
}

#[tokio::test]
async fn sessions_and_keys_of_all_users_are_listed_and_revoked() {
    on_each_database(async |store| {
        let ada = add(store, "Ada").await;
        assert!(begin(store, &ada, 1, 10).await);
        assert!(store.add_api_key(NewApiKey { now: 20, ..key(&ada, 2) }, None).await.unwrap());
        let elsewhere =
            ExternalUser { mode: "jwt", id: "eve".to_owned(), name: Some("Eve".to_owned()), roles: Vec::new() };
        assert!(store.add_external_key(elsewhere, NewApiKey { now: 30, ..key("eve", 3) }, None).await.unwrap());
        let list = async |filter: AccessFilter, sort: AccessSort| {
            let (mut seen, mut place) = (Vec::new(), None);
            while let Some((access, after)) = store.all_access(filter.clone(), sort, 1, place).await.unwrap().pop() {
                let of = access.user_name.unwrap_or_default();
                seen.push(format!("{} {} {of} {}", access.kind.name(), access.id, access.mode.unwrap_or_default()));
                place = Some(after);
            }
            seen.join(", ")
        };
        let any = AccessFilter::default;
        let all = "outside k3 Eve jwt, key k2 Ada , session s1 Ada ";
        assert_eq!(list(any(), AccessSort::Newest).await, all);
        assert_eq!(list(any(), AccessSort::Oldest).await, "session s1 Ada , key k2 Ada , outside k3 Eve jwt");
        store.external_key([3; 32], "jwt", 40).await.unwrap().expect("it counts");
        assert_eq!(list(any(), AccessSort::Used).await, "outside k3 Eve jwt, session s1 Ada , key k2 Ada ");
        let of = AccessFilter { user_id: Some("eve".to_owned()), ..any() };
        assert_eq!(list(of, AccessSort::Newest).await, "outside k3 Eve jwt");
        let of = AccessFilter { kind: Some(AccessKind::Session), ..any() };
        assert_eq!(list(of, AccessSort::Newest).await, "session s1 Ada ");

        // Revoked credentials are invalid; each revocation has one audit row, and an unknown
        // credential has none.
        let row = |id: &str| AuditEntry {
            at: 7,
            user_id: "boss".to_owned(),
            agent_id: String::new(),
            conversation_id: String::new(),
            message_id: String::new(),
            run_id: String::new(),
            call_id: id.to_owned(),
            tool: "admin:revoke_access".to_owned(),
            arguments: serde_json::json!({}),
            gates: Vec::new(),
            outcome: AuditOutcome::Ok,
            duration_ms: None,
        };
        assert!(!store.revoke_access(AccessKind::Key, "k3", row("1")).await.unwrap(), "it is another kind");
        for (kind, id) in [(AccessKind::Outside, "k3"), (AccessKind::Key, "k2"), (AccessKind::Session, "s1")] {
            assert!(store.revoke_access(kind, id, row(id)).await.unwrap());
            assert!(!store.revoke_access(kind, id, row("again")).await.unwrap());
        }
        assert_eq!(list(any(), AccessSort::Newest).await, "");
        assert!(store.external_key([3; 32], "jwt", 40).await.unwrap().is_none());
        assert!(store.api_key([2; 32], 40).await.unwrap().is_none() && !counts(store, 1, 40).await);
        assert_eq!(store.audit_list(AuditFilter::default(), 9, None).await.unwrap().len(), 3);
    })
    .await;
}
