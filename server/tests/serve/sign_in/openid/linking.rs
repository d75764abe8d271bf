//! Company accounts of users who have an account already.

use super::browser::{Browser, Page};
use super::provider::RealProvider;
use super::{auth, entry, serve};
use crate::process::Server;
use crate::sign_in::accounts::PASSWORD;
use serde_json::{Value, json};
use sqlx::{Connection, SqliteConnection};
use store::{AuditFilter, Store};
use url::Url;

/// Creates the first account in a browser.
async fn first_account(server: &Server, name: &str) -> Browser {
    let browser = Browser::new();
    let token = server.first_account_token().await;
    let fields = [("token", token.as_str()), ("name", name), ("password", PASSWORD)];
    browser.open(&server.url("/auth/first-admin"), Some(&fields)).await;
    browser
}

/// Links a company account on the account page.
async fn link(browser: &Browser, server: &Server, id: &str, account: &str) -> Page {
    let page = browser.send(&server.url(&format!("/auth/openid-connect/{id}/link")), Some(&[])).await;
    let link = page.text.split("href=\"http").nth(1).unwrap_or_else(|| panic!("{page:?}"));
    let link = format!("http{}", link.split('"').next().unwrap().replace("&amp;", "&"));
    let question = browser.open(&Url::parse(&link).unwrap(), None).await;
    browser.answer(question, account).await
}

/// Unlinks the only or first company account of the account page.
async fn unlink(browser: &Browser, server: &Server) -> Page {
    let page = browser.open(&server.url("/auth/account"), None).await;
    let path = page.text.split("action=\"/auth/identities/").nth(1).unwrap_or_else(|| panic!("{page:?}"));
    let path = format!("/auth/identities/{}", path.split('"').next().unwrap());
    browser.open(&server.url(&path), Some(&[])).await
}

#[tokio::test(flavor = "multi_thread")]
async fn accounts_are_linked_by_signed_in_users_only() {
    let people = json!({ "1": { "preferred_username": "ada" }, "2": { "preferred_username": "bob" } });
    let one = RealProvider::start("one", "RS256", &people);
    let two = RealProvider::start("two", "ES256", &people);
    let providers = [entry("one", &one.issuer, ", signUp: true"), entry("two", &two.issuer, ", signUp: true")];
    let (server, _folder) = serve(&auth("password", &providers));
    let early = Browser::new().sign_in(&server, "one", "1").await;
    assert!(early.status == 403 && early.text.contains("no administrator yet"), "{early:?}");
    let ada = first_account(&server, "ada").await;
    let id = ada.me(&server).await["id"].clone();

    // The name at a provider and a subject of another issuer are not the same user.
    let other = Browser::new();
    assert_eq!(other.sign_in(&server, "two", "1").await.status, 200);
    let other_user = other.me(&server).await;
    assert!(other_user["id"] != id && other_user["name"].as_str().unwrap().starts_with("ada-"), "{other_user}");

    let linked = link(&ada, &server, "one", "1").await;
    assert!(linked.url.as_str().ends_with("/auth/account?done=linked"), "{linked:?}");
    let again = Browser::new();
    assert_eq!(again.sign_in(&server, "one", "1").await.status, 200);
    let me = again.me(&server).await;
    assert_eq!((&me["id"], &me["roles"]), (&id, &json!(["admin"])));
    let taken = link(&ada, &server, "two", "1").await;
    assert!(taken.status == 409 && taken.text.contains("linked to another user"), "{taken:?}");

    // The last way to sign in stays; unlinking ends the sessions that were begun with it.
    let kept = unlink(&other, &server).await;
    assert!(kept.text.contains("This is your only way to sign in"), "{kept:?}");
    // An administrator unlinks it all the same; other users do not find it.
    let user_page = format!("/admin/users/{}", other_user["id"].as_str().unwrap());
    let page = ada.open(&server.url(&user_page), None).await;
    let identity = page.text.split("name=\"identity\" value=\"").nth(1).unwrap_or_else(|| panic!("{page:?}"));
    let identity = identity.split('"').next().unwrap();
    let path = format!("/auth/identities/{identity}/unlink");
    assert_eq!(ada.send(&server.url(&path), Some(&[])).await.status, 404);
    assert_ne!(other.me(&server).await["error"]["code"], "unauthenticated");
    let page = ada.open(&server.url(&format!("{user_page}/unlink")), Some(&[("identity", identity)])).await;
    assert!(page.text.contains("Done."), "{page:?}");
    assert_eq!(other.me(&server).await["error"]["code"], "unauthenticated");
    let unlinked = unlink(&ada, &server).await;
    assert!(unlinked.text.contains("was unlinked"), "{unlinked:?}");
    assert_eq!(again.me(&server).await["error"]["code"], "unauthenticated");
    assert_eq!(ada.me(&server).await["id"], id);

    // A sign-in that was begun to link an account links nothing once the user has signed out.
    let page = ada.send(&server.url("/auth/openid-connect/one/link"), Some(&[])).await;
    let href = page.text.split("href=\"http").nth(1).unwrap().split('"').next().unwrap().replace("&amp;", "&");
    ada.open(&server.url("/auth/sign-out"), Some(&[])).await;
    let question = ada.open(&Url::parse(&format!("http{href}")).unwrap(), None).await;
    let late = ada.answer(question, "1").await;
    assert!(late.status == 400 && late.text.contains("Start again"), "{late:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn linking_in_an_old_session_needs_the_password() {
    let provider = RealProvider::start("one", "RS256", &json!({ "1": { "preferred_username": "ada" } }));
    let (server, _folder) = serve(&auth("password", &[entry("one", &provider.issuer, "")]));
    let ada = first_account(&server, "ada").await;
    let mut database = SqliteConnection::connect(&server.database).await.unwrap();
    let age = "UPDATE sessions SET created_at = created_at - 660000";
    sqlx::query(age).execute(&mut database).await.unwrap();
    let send =
        async |fields: &[(&str, &str)]| ada.send(&server.url("/auth/openid-connect/one/link"), Some(fields)).await;
    for fields in [&[][..], &[("password", "another password")]] {
        let page = send(fields).await;
        assert!(page.status == 422 && page.text.contains("The current password is wrong."), "{page:?}");
        assert!(page.text.contains("Your password") && !page.text.contains("Continue to"), "{page:?}");
    }
    let page = send(&[("password", PASSWORD)]).await;
    assert!(page.status == 200 && page.text.contains("Continue to The one"), "{page:?}");

    // The password alone signs in nobody who has an authenticator app.
    let app = "INSERT INTO second_factors (user_id, secret, last_step, recovery_codes, created_at)
        SELECT id, 'sealed', 0, '[]', 0 FROM users";
    sqlx::query(app).execute(&mut database).await.unwrap();
    let account = send(&[("password", PASSWORD)]).await.location.unwrap();
    assert!(account.as_str().ends_with("/auth/account?done=sign-in-again"), "{account}");
    let page = ada.open(&account, None).await;
    assert!(page.text.contains("Sign out and sign in again before you link a company account."), "{page:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn roles_of_groups_and_of_administrators_are_independent() {
    let people = |groups: &[&str]| json!({ "1": { "preferred_username": "ada", "groups": groups } });
    let provider = RealProvider::start("one", "RS256", &people(&[]));
    let more = ", scopes: [profile, groups], groups: { roles: { admins: admin, desk: support } }";
    let (server, _folder) = serve(&auth("password", &[entry("one", &provider.issuer, more)]));
    let ada = first_account(&server, "ada").await;
    link(&ada, &server, "one", "1").await;
    let check = async |groups: &[&str], expected: &[&str]| {
        provider.set_accounts(&people(groups)).await;
        let browser = Browser::new();
        assert_eq!(browser.sign_in(&server, "one", "1").await.status, 200);
        assert_eq!(browser.me(&server).await["roles"], json!(expected), "{groups:?}");
        // A session with the password has nothing of it.
        assert_eq!(ada.me(&server).await["roles"], json!(["admin"]), "{groups:?}");
        browser
    };
    check(&[], &["admin"]).await;
    let before = check(&["desk"], &["admin", "support"]).await;
    check(&["admins"], &["admin"]).await;
    check(&[], &["admin"]).await;
    assert_eq!(before.me(&server).await["roles"], json!(["admin"]), "groups count in all sessions of the identity");
    let store = Store::open_existing(&server.database).await.unwrap();
    let rows = store.audit_list(AuditFilter::default(), 100, None).await.unwrap();
    let changes = rows.iter().filter(|row| row.tool == "account:change_group_roles");
    let mut after: Vec<Value> = changes.map(|row| serde_json::from_str(&row.arguments).unwrap()).collect();
    after.sort_by_key(|about| about["after"].to_string());
    let after: Vec<_> = after.iter().map(|about| &about["after"]["roles"]).collect();
    assert_eq!(after, [&json!(["admin"]), &json!(["support"]), &json!([])]);
}

#[tokio::test(flavor = "multi_thread")]
async fn verified_address_links_an_account_where_the_config_says_so() {
    let person = |verified: bool| json!({ "email": "Ada@example.com", "email_verified": verified });
    let provider = RealProvider::start("one", "RS256", &json!({ "1": person(true), "2": person(false) }));
    let more = ", linkVerifiedEmail: true, scopes: [email]";
    let (server, _folder) = serve(&auth("password", &[entry("one", &provider.issuer, more)]));
    let id = first_account(&server, "ada@example.com").await.me(&server).await["id"].clone();
    let check = async |account: &str, status: u16| {
        let browser = Browser::new();
        assert_eq!(browser.sign_in(&server, "one", account).await.status, status, "{account}");
        browser.me(&server).await["id"].clone()
    };
    check("2", 403).await;
    assert_eq!(check("1", 200).await, id);
    assert_eq!(check("1", 200).await, id);
    provider.set_accounts(&json!({ "3": person(true) })).await;
    // Another subject with the same address does not get the account, which has an identity now.
    check("3", 403).await;
}
