//! Users whom a directory manages.

use super::{entry, new_user};
use crate::support::on_each_database;
use serde_json::{Map, json};
use store::{
    ChangeUserOutcome, LinkOutcome, NewUser, ProviderClaims, ScimProfile, ScimUserChange, ScimUserOutcome, Store,
    UserChange,
};

fn profile(name: &str, external_id: Option<&str>) -> ScimProfile {
    ScimProfile {
        user_name: format!("{name}@Example.com"),
        user_name_key: format!("{}@example.com", name.to_lowercase()),
        external_id: external_id.map(str::to_owned),
        display_name: (name != "eve").then(|| format!("{name} Näme")),
        attributes: Map::from_iter([("emails".to_owned(), json!([{ "value": name }]))]),
    }
}

fn without_password(name: &str) -> NewUser {
    NewUser { password: String::new(), ..new_user(name, &[]) }
}

async fn add(store: &Store, name: &str, external_id: Option<&str>, active: bool) -> ScimUserOutcome {
    let (user, profile) = (without_password(name), profile(name, external_id));
    store.add_scim_user(user, profile, active, entry("admin:add_user")).await.unwrap()
}

#[tokio::test]
async fn names_and_ids_of_a_directory_are_unique() {
    on_each_database(async |store| {
        store.add_user(new_user("local", &["admin"]), false, None).await.unwrap();
        assert_eq!(add(store, "ada", Some("x1"), true).await, ScimUserOutcome::Done);
        assert_eq!(add(store, "ADA", None, true).await, ScimUserOutcome::UserNameTaken);
        assert_eq!(add(store, "bob", Some("x1"), true).await, ScimUserOutcome::ExternalIdTaken);
        assert_eq!(add(store, "local", None, true).await, ScimUserOutcome::NameTaken, "an account here stays its own");
        assert_eq!(add(store, "bob", None, false).await, ScimUserOutcome::Done);
        assert_eq!(add(store, "eve", None, true).await, ScimUserOutcome::Done, "several users have no id");
        let bob = store.scim_user("id-bob").await.unwrap().unwrap();
        assert_eq!((bob.active, &bob.profile), (false, &profile("bob", None)));
        assert!(store.scim_user("id-local").await.unwrap().is_none());
        assert_eq!(store.user_by_external_id("x1").await.unwrap().unwrap().name, "ada");
        assert!(store.user_by_external_id("").await.unwrap().is_none());

        let change = async |id: &str, profile: ScimProfile, name: Option<&str>, active: Option<bool>| {
            let name = name.map(|name| (name.to_owned(), name.to_owned()));
            let change = ScimUserChange { profile, name, active, now: 5 };
            store.change_scim_user(id, change, vec![entry("admin:change_user")]).await.unwrap()
        };
        assert_eq!(change("id-bob", profile("ada", None), None, None).await, ScimUserOutcome::UserNameTaken);
        let taken = change("id-bob", profile("bob", Some("x2")), Some("local"), Some(true)).await;
        assert_eq!(taken, ScimUserOutcome::NameTaken);
        assert!(!store.scim_user("id-bob").await.unwrap().unwrap().active, "all or nothing");
        let done = change("id-bob", profile("robert", Some("x2")), Some("robert"), Some(true)).await;
        assert_eq!(done, ScimUserOutcome::Done);
        let bob = store.scim_user("id-bob").await.unwrap().unwrap();
        assert_eq!((bob.active, bob.name.as_str(), bob.profile), (true, "robert", profile("robert", Some("x2"))));
        assert_eq!(change("id-local", profile("local", None), None, None).await, ScimUserOutcome::Unknown);
    })
    .await;
}

#[tokio::test]
async fn directory_manages_and_releases_a_user_who_exists() {
    on_each_database(async |store| {
        store.add_user(new_user("ada", &["admin"]), false, None).await.unwrap();
        let provision = async |id: &str| store.provision_user(id, profile("ada", None), 2, entry("a")).await.unwrap();
        assert_eq!(provision("id-nobody").await, ScimUserOutcome::NameTaken);
        assert_eq!(provision("id-ada").await, ScimUserOutcome::Done);
        assert_eq!(provision("id-ada").await, ScimUserOutcome::NameTaken);
        let off = ScimUserChange { profile: profile("ada", None), name: None, active: Some(false), now: 5 };
        let refused = store.change_scim_user("id-ada", off, Vec::new()).await.unwrap();
        assert_eq!(refused, ScimUserOutcome::LastAdmin);
        assert!(store.release_user("id-ada", entry("b")).await.unwrap());
        assert!(!store.release_user("id-ada", entry("b")).await.unwrap());
        assert!(store.scim_user("id-ada").await.unwrap().is_none());

        // The name is free as soon as the deletion begins, and a user without a password can be linked.
        assert_eq!(add(store, "bob", Some("x"), true).await, ScimUserOutcome::Done);
        let claims = ProviderClaims {
            issuer: "https://id.test".to_owned(),
            subject: "bob".to_owned(),
            label: String::new(),
            roles: Vec::new(),
        };
        let link = async |id: &str, identity: &str, subject: &str| {
            let claims = ProviderClaims { subject: subject.to_owned(), ..claims.clone() };
            store.link_identity(id, identity, claims, 2, true, None).await.unwrap()
        };
        store.add_user(without_password("guest"), false, None).await.unwrap();
        assert_eq!(link("id-guest", "i1", "guest").await, LinkOutcome::NotTheFirst);
        assert_eq!(link("id-bob", "i2", "bob").await, LinkOutcome::Done);
        assert_eq!(link("id-bob", "i3", "bob2").await, LinkOutcome::NotTheFirst);
        let deleted = store.change_user("id-bob", UserChange::Delete, 3, entry("c")).await.unwrap();
        assert_eq!(deleted, ChangeUserOutcome::Done);
        assert!(store.user_by_external_id("x").await.unwrap().is_none());
        let other = NewUser { id: "id-bob2".to_owned(), name_key: "bob2".to_owned(), ..without_password("bob2") };
        let again = store.add_scim_user(other, profile("bob", Some("x")), true, entry("d")).await.unwrap();
        assert_eq!(again, ScimUserOutcome::Done);
    })
    .await;
}
