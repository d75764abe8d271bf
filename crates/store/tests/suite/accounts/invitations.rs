//! Invitations, and passwords that an administrator has set.

use super::entry;
use crate::support::on_each_database;
use std::sync::Arc;
use store::{
    AddUserOutcome, ChangeUserOutcome, MAX_INVITATIONS, NewInvitation, NewUser, ProviderClaims, SignInWays, Store,
    StoredPassword, UserChange,
};

const DAY: i64 = 86_400_000;
const ISSUER: &str = "https://id.test";

/// Sign-in with passwords, and at a provider for sessions of an hour.
fn ways() -> Arc<SignInWays> {
    Arc::new(SignInWays { passwords: true, issuers: vec![(ISSUER.to_owned(), DAY / 24)] })
}

/// The identity of an administrator by the groups at the provider.
fn admin_claims(roles: &[&str]) -> ProviderClaims {
    ProviderClaims {
        issuer: ISSUER.to_owned(),
        subject: "bob".to_owned(),
        label: "bob".to_owned(),
        roles: roles.iter().map(|role| (*role).to_owned()).collect(),
    }
}

fn user(name: &str, roles: &[&str]) -> NewUser {
    NewUser {
        id: format!("id-{name}"),
        name: name.to_owned(),
        name_key: name.to_owned(),
        password: "hash".to_owned(),
        must_change_password: false,
        roles: roles.iter().map(|role| (*role).to_owned()).collect(),
        now: 2,
    }
}

/// Adds an administrator and returns the id.
async fn add_admin(store: &Store, name: &str) -> String {
    assert_eq!(store.add_user(user(name, &["admin"]), false, None).await.unwrap(), AddUserOutcome::Done);
    format!("id-{name}")
}

fn invitation(creator: &str, number: u8) -> NewInvitation {
    NewInvitation {
        id: format!("i{number}"),
        token_hash: [number; 32],
        label: "eve@example.com".to_owned(),
        roles: vec!["editor".to_owned()],
        groups: Vec::new(),
        created_by: creator.to_owned(),
        now: 1,
        expires_at: DAY,
    }
}

async fn invite(store: &Store, creator: &str, number: u8) {
    assert!(store.add_invitation(invitation(creator, number), entry("admin:invite_user")).await.unwrap());
}

async fn accept(store: &Store, number: u8, name: &str) -> AddUserOutcome {
    let accepted = entry("account:accept_invitation");
    store.accept_invitation([number; 32], user(name, &["admin"]), &ways(), accepted).await.unwrap()
}

/// Returns whether an invitation can be accepted.
async fn is_open(store: &Store, number: u8, now: i64) -> bool {
    store.invitation([number; 32], now, &ways()).await.unwrap().is_some()
}

#[tokio::test]
async fn invitation_gives_one_account_with_its_roles() {
    on_each_database(async |store| {
        let ada = add_admin(store, "ada").await;
        invite(store, &ada, 1).await;
        let listed = store.invitations(1, &ways()).await.unwrap();
        assert_eq!((listed.len(), listed[0].creator_name.as_str()), (1, "ada"));
        assert_eq!(store.invitation([1; 32], 1, &ways()).await.unwrap().unwrap(), listed[0]);
        assert_eq!(accept(store, 1, "ada").await, AddUserOutcome::NameTaken);
        let both = futures::join!(accept(store, 1, "eve"), accept(store, 1, "mallory"));
        let mut both = [both.0, both.1];
        both.sort_by_key(|outcome| *outcome != AddUserOutcome::Done);
        assert_eq!(both, [AddUserOutcome::Done, AddUserOutcome::NotInvited]);
        let mut made = Vec::new();
        for name in ["eve", "mallory"] {
            made.extend(store.user_by_name(name).await.unwrap().map(|(user, _)| user.roles));
        }
        assert_eq!(made, [["editor"]], "the roles are those of the invitation");
        assert!(store.invitations(1, &ways()).await.unwrap().is_empty());
    })
    .await;
}

#[tokio::test]
async fn invitation_ends_with_its_time_and_with_the_rights_of_its_creator() {
    on_each_database(async |store| {
        let (ada, bob) = (add_admin(store, "ada").await, add_admin(store, "bob").await);
        for number in 1..=4 {
            invite(store, &bob, number).await;
        }
        assert!(is_open(store, 1, DAY - 1).await && !is_open(store, 1, DAY).await);
        assert!(!is_open(store, 9, 1).await);
        assert!(store.delete_invitation("i1", entry("admin:revoke_invitation")).await.unwrap());
        assert!(!store.delete_invitation("i1", entry("admin:revoke_invitation")).await.unwrap());
        assert_eq!(accept(store, 1, "eve").await, AddUserOutcome::NotInvited);

        let change = async |change| {
            let done = store.change_user(&bob, change, 5, entry("admin:set_roles")).await.unwrap();
            assert_eq!(done, ChangeUserOutcome::Done);
        };
        change(UserChange::Disabled(Some(5))).await;
        assert!(!is_open(store, 2, 1).await);
        change(UserChange::Disabled(None)).await;
        assert!(is_open(store, 2, 1).await);
        change(UserChange::Roles(Vec::new())).await;
        assert_eq!(accept(store, 2, "eve").await, AddUserOutcome::NotInvited);
        // An administrator by the groups at a provider.
        store.link_identity(&bob, "identity", admin_claims(&["admin"]), 5, false, None).await.unwrap();
        assert_eq!(accept(store, 2, "eve").await, AddUserOutcome::Done);
        change(UserChange::Delete).await;
        assert!(store.delete_user(&bob).await.unwrap());
        assert!(store.invitations(1, &ways()).await.unwrap().is_empty(), "they are deleted with the user");
        invite(store, &ada, 3).await;
    })
    .await;
}

/// The server learns at the next sign-in only which groups a user is in now.
#[tokio::test]
async fn groups_make_an_administrator_for_as_long_as_a_session_lasts() {
    on_each_database(async |store| {
        store.add_user(user("bob", &[]), false, None).await.unwrap();
        store.link_identity("id-bob", "identity", admin_claims(&["admin"]), 10, false, None).await.unwrap();
        invite(store, "id-bob", 1).await;
        let check = async |now: i64, ways: SignInWays, expected: bool| {
            let ways = Arc::new(ways);
            let found = store.invitation([1; 32], now, &ways).await.unwrap();
            assert_eq!(found.is_some(), expected, "{now} {ways:?}");
            let listed = store.invitations(now, &ways).await.unwrap();
            assert_eq!(listed.iter().map(|it| it.void).collect::<Vec<_>>(), [!expected], "{now} {ways:?}");
        };
        let at = |issuer: &str, max_age| SignInWays { passwords: true, issuers: vec![(issuer.to_owned(), max_age)] };
        check(1_009, at(ISSUER, 1_000), true).await;
        check(1_010, at(ISSUER, 1_000), false).await;
        check(20, at("https://other.test", 1_000), false).await;
        check(20, SignInWays { passwords: true, issuers: Vec::new() }, false).await;
        // The next sign-in tells it again, or that the user has left the group.
        store.update_identity(admin_claims(&["admin"]), 2_000, None).await.unwrap();
        check(2_010, at(ISSUER, 1_000), true).await;
        store.update_identity(admin_claims(&[]), 3_000, None).await.unwrap();
        check(3_010, at(ISSUER, 1_000), false).await;
    })
    .await;
}

#[tokio::test]
async fn expired_invitations_are_removed() {
    on_each_database(async |store| {
        let ada = add_admin(store, "ada").await;
        invite(store, &ada, 1).await;
        let later = NewInvitation { expires_at: 2 * DAY, ..invitation(&ada, 2) };
        assert!(store.add_invitation(later, entry("admin:invite_user")).await.unwrap());
        assert_eq!(store.delete_expired_invitations(DAY - 1).await.unwrap(), 0);
        assert_eq!(store.delete_expired_invitations(DAY).await.unwrap(), 1);
        // Listed as of the beginning, to see the rows themselves.
        let left = store.invitations(1, &ways()).await.unwrap();
        assert_eq!(left.iter().map(|it| it.id.as_str()).collect::<Vec<_>>(), ["i2"]);
    })
    .await;
}

#[tokio::test]
async fn expired_invitations_make_room() {
    on_each_database(async |store| {
        let ada = add_admin(store, "ada").await;
        let new = |number: u32| {
            let mut token_hash = [0; 32];
            token_hash[..4].copy_from_slice(&number.to_be_bytes());
            let new = NewInvitation { id: format!("i{number}"), token_hash, ..invitation(&ada, 0) };
            (new, entry("admin:invite_user"))
        };
        assert!(!store.add_invitations((0..=MAX_INVITATIONS).map(new).collect()).await.unwrap());
        assert!(store.invitations(1, &ways()).await.unwrap().is_empty(), "all or none");
        // In parts, because a write may take 20 s.
        for from in (0..MAX_INVITATIONS).step_by(400) {
            assert!(store.add_invitations((from..from + 400).map(new).collect()).await.unwrap());
        }
        assert!(!store.add_invitation(invitation(&ada, 1), entry("admin:invite_user")).await.unwrap());
        let later = NewInvitation { now: DAY, expires_at: 2 * DAY, ..invitation(&ada, 1) };
        assert!(store.add_invitation(later, entry("admin:invite_user")).await.unwrap());
        assert_eq!(store.invitations(DAY, &ways()).await.unwrap().len(), 1);
    })
    .await;
}

#[tokio::test]
async fn password_of_an_administrator_must_be_changed_once() {
    on_each_database(async |store| {
        let new = NewUser { must_change_password: true, ..user("eve", &[]) };
        store.add_user(new, false, None).await.unwrap();
        let password = async || store.user_by_name("eve").await.unwrap().unwrap().1;
        let expected = |hash: &str, must_change| StoredPassword { hash: hash.to_owned(), must_change };
        assert_eq!(password().await, expected("hash", true));
        assert!(store.set_password("id-eve", None, ("hash", "own"), 3, None).await.unwrap());
        assert_eq!(password().await, expected("own", false));
        store.change_user("id-eve", UserChange::Password("reset".to_owned()), 4, entry("x")).await.unwrap();
        assert_eq!(password().await, expected("reset", true));
    })
    .await;
}
