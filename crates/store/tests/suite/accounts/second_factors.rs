//! The first steps of a session with a password: the password that was checked, codes of authenticator apps, and recovery
//! codes.

use super::entry;
use crate::support::on_each_database;
use store::{
    AddUserOutcome, AuditFilter, ChangeUserOutcome, NewSecondFactor, NewSession, NewUser, SecondFactorChange,
    SecondFactorProof, SessionLifetime, SignInProof, Store, UserChange, UserFilter, UserSort,
};

const LIFE: SessionLifetime = SessionLifetime { idle: 100_000, max_age: 1_000_000 };

async fn add_ada(store: &Store) {
    let user = NewUser {
        id: "ada".to_owned(),
        name: "ada".to_owned(),
        name_key: "ada".to_owned(),
        password: "hash".to_owned(),
        must_change_password: false,
        roles: Vec::new(),
        now: 1,
    };
    assert_eq!(store.add_user(user, false, None).await.unwrap(), AddUserOutcome::Done);
}

fn app(secret: &str, step: i64) -> NewSecondFactor {
    NewSecondFactor { secret: secret.to_owned(), step, recovery_codes: vec!["r1".to_owned(), "r2".to_owned()] }
}

fn code(secret: &str, step: i64) -> SecondFactorProof {
    SecondFactorProof::Code { secret: secret.to_owned(), step }
}

fn recovery(code: &str) -> SecondFactorProof {
    SecondFactorProof::RecoveryCode(code.to_owned())
}

async fn begin(store: &Store, token: u8, proof: SecondFactorProof) -> bool {
    begin_with(store, token, "hash", proof).await
}

async fn begin_with(store: &Store, token: u8, password: &str, proof: SecondFactorProof) -> bool {
    let session = NewSession {
        id: format!("s{token}"),
        user_id: "ada".to_owned(),
        token_hash: [token; 32],
        agent: String::new(),
        now: 1,
        proof: SignInProof::Password(password.to_owned(), proof),
    };
    store.begin_session(session, None, LIFE, vec![entry("account:sign_in")]).await.unwrap()
}

async fn change(store: &Store, password: &str, change: SecondFactorChange) -> bool {
    let entry = Some(entry("account:set_up_second_factor"));
    store.change_second_factor(("ada", password), change, 5, entry).await.unwrap()
}

fn set(new: NewSecondFactor, replaced: Option<&str>) -> SecondFactorChange {
    SecondFactorChange::Set { new, replaced: replaced.map(str::to_owned), session_id: "s1".to_owned() }
}

/// Returns the encrypted secret of the app, and the recovery codes.
async fn stored(store: &Store) -> Option<(String, Vec<String>)> {
    store.second_factor("ada").await.unwrap().map(|found| (found.secret, found.recovery_codes))
}

async fn session_count(store: &Store) -> i64 {
    let filter = UserFilter { id: Some("ada".to_owned()), ..UserFilter::default() };
    store.users(filter, UserSort::Name, 1, None).await.unwrap()[0].0.sessions
}

/// A sign-in checks the password before its session begins; in between, the password can change.
#[tokio::test]
async fn session_begins_only_with_the_password_that_was_checked() {
    on_each_database(async |store| {
        add_ada(store).await;
        let begin = async |token: u8, hash: &str| begin_with(store, token, hash, SecondFactorProof::None).await;
        assert!(begin(1, "hash").await);
        let reset = UserChange::Password("reset".to_owned());
        store.change_user("ada", reset, 2, entry("admin:reset_password")).await.unwrap();
        assert!(!begin(2, "hash").await, "an administrator has reset it");
        assert!(!begin(2, "reset").await, "the user has not replaced it");
        assert!(store.set_password("ada", None, ("reset", "own"), 3, None).await.unwrap());
        assert!(!begin(2, "reset").await, "the user has changed it");
        assert_eq!(session_count(store).await, 0);
        assert!(begin(3, "own").await);
        let filter = AuditFilter { tool: Some("account:sign_in".to_owned()), ..AuditFilter::default() };
        assert_eq!(store.audit_list(filter, 10, None).await.unwrap().len(), 2, "refused ones have no entry");
    })
    .await;
}

#[tokio::test]
async fn session_begins_once_with_each_code() {
    on_each_database(async |store| {
        add_ada(store).await;
        assert!(begin(store, 1, SecondFactorProof::None).await && begin(store, 2, SecondFactorProof::None).await);
        assert!(!change(store, "other", set(app("a", 10), None)).await, "the password was changed");
        assert!(change(store, "hash", set(app("a", 10), None)).await);
        assert_eq!(session_count(store).await, 1, "the others have ended");
        assert!(!change(store, "hash", set(app("b", 10), None)).await, "another one was set up meanwhile");
        assert!(!begin(store, 3, SecondFactorProof::None).await, "the password was checked before it was set up");
        assert!(!begin(store, 3, code("a", 10)).await, "this code has confirmed the app");
        let both = futures::join!(begin(store, 3, code("a", 11)), begin(store, 4, code("a", 11)));
        assert!(both.0 != both.1, "of two sign-ins with one code, one succeeds");
        assert!(!begin(store, 5, code("a", 9)).await && !begin(store, 5, code("b", 12)).await);
        assert!(begin(store, 5, code("a", 12)).await);
        assert!(begin(store, 6, recovery("r1")).await && !begin(store, 7, recovery("r1")).await);
        assert_eq!(stored(store).await, Some(("a".to_owned(), vec!["r2".to_owned()])));
        assert!(!begin(store, 7, SecondFactorProof::SetUp(app("c", 1))).await, "there is one already");
        assert!(begin(store, 7, SecondFactorProof::NotAsked).await);
    })
    .await;
}

#[tokio::test]
async fn app_codes_are_locked_after_a_hundred_wrong_ones() {
    on_each_database(async |store| {
        let count = async || store.count_app_code("ada").await.unwrap();
        add_ada(store).await;
        assert!(begin(store, 1, SecondFactorProof::SetUp(app("a", 10))).await);
        for (token, proof) in [(2, recovery("r1")), (3, code("a", 11))] {
            for number in 0..100 {
                assert!(count().await, "{number}");
            }
            assert!(!count().await);
            // The count begins anew with what is accepted.
            assert!(begin(store, token, proof).await);
        }
        assert!(count().await);
    })
    .await;
}

#[tokio::test]
async fn app_is_set_up_with_the_session_that_begins() {
    on_each_database(async |store| {
        add_ada(store).await;
        assert!(begin(store, 1, SecondFactorProof::SetUp(app("a", 10))).await);
        assert_eq!(stored(store).await.map(|(secret, _)| secret).as_deref(), Some("a"));
        assert!(!begin(store, 2, code("a", 10)).await && begin(store, 2, code("a", 11)).await);
    })
    .await;
}

#[tokio::test]
async fn app_is_changed_and_removed_with_a_code() {
    on_each_database(async |store| {
        add_ada(store).await;
        assert!(!change(store, "hash", SecondFactorChange::Remove(SecondFactorProof::None)).await, "there is none");
        assert!(change(store, "hash", set(app("a", 10), None)).await);
        assert!(!change(store, "hash", SecondFactorChange::Remove(SecondFactorProof::None)).await);
        assert!(!change(store, "hash", SecondFactorChange::Remove(code("a", 10))).await);
        let codes = vec!["r3".to_owned()];
        assert!(change(store, "hash", SecondFactorChange::RecoveryCodes(codes.clone(), code("a", 11))).await);
        assert_eq!(stored(store).await, Some(("a".to_owned(), codes)));
        assert!(change(store, "hash", SecondFactorChange::Show(code("a", 12))).await);
        assert!(!change(store, "hash", set(app("b", 20), Some("other"))).await);
        assert!(change(store, "hash", set(app("b", 20), Some("a"))).await);
        assert!(!begin(store, 1, code("a", 30)).await && !begin(store, 1, recovery("r3")).await);
        assert!(change(store, "hash", SecondFactorChange::Remove(recovery("r2"))).await);
        assert_eq!(stored(store).await, None);
        assert!(begin(store, 1, SecondFactorProof::None).await);
    })
    .await;
}

#[tokio::test]
async fn administrator_resets_the_app_and_a_deleted_user_leaves_none() {
    on_each_database(async |store| {
        add_ada(store).await;
        let row = async || {
            let filter = UserFilter { id: Some("ada".to_owned()), ..UserFilter::default() };
            store.users(filter, UserSort::Name, 1, None).await.unwrap().remove(0).0
        };
        assert!(!row().await.has_second_factor);
        assert!(begin(store, 1, SecondFactorProof::SetUp(app("a", 10))).await);
        assert!(row().await.has_second_factor);
        let entry = || entry("admin:reset_second_factor");
        let done = store.change_user("ada", UserChange::ResetSecondFactor, 2, entry()).await.unwrap();
        assert_eq!((done, row().await.has_second_factor, row().await.sessions), (ChangeUserOutcome::Done, false, 0));
        assert!(begin(store, 1, SecondFactorProof::SetUp(app("a", 10))).await);
        store.change_user("ada", UserChange::Delete, 3, entry()).await.unwrap();
        assert!(store.delete_user("ada").await.unwrap());
        assert_eq!(stored(store).await, None);
    })
    .await;
}
