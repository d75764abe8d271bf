//! Whole sign-ins at a real provider.

use super::browser::Browser;
use super::provider::RealProvider;
use super::{auth, entry, serve};
use crate::sign_in::accounts::form_request;
use serde_json::{Value, json};
use store::Store;

const GROUPS: &str = ", scopes: [profile, email, groups], signUp: true, \
                      groups: { roles: { admins: [admin], desk: support } }";

fn accounts(groups: &[&str]) -> Value {
    let email = "ada@example.com";
    json!({
        "ada-1": { "name": "Ada Lovelace", "email": email, "email_verified": true, "groups": groups },
        "bob-1": { "name": "Bob", "preferred_username": "bob" },
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn company_account_signs_in_with_the_roles_of_its_groups() {
    let provider = RealProvider::start("company", "RS256", &accounts(&["admins", "desk", "other"]));
    let (server, _folder) = serve(&auth("openidConnect", &[entry("company", &provider.issuer, GROUPS)]));
    let ada = Browser::new();
    let page = ada.open(&server.url("/p?x=1"), None).await;
    assert!(page.text.contains("Sign in with The company") && !page.text.contains("name=\"password\""), "{page:?}");
    let page = ada.sign_in(&server, "company", "ada-1").await;
    assert_eq!((page.status, page.url.as_str()), (200, server.url("/p?x=1").as_str()), "{page:?}");
    let me = ada.me(&server).await;
    assert_eq!((&me["name"], &me["roles"]), (&json!("ada@example.com"), &json!(["admin", "support"])));
    let id = me["id"].clone();

    // The callback works once, and in the browser that began the sign-in.
    let callback = page.way.iter().find(|url| url.path().ends_with("/callback")).unwrap();
    let (again, elsewhere) = (ada.send(callback, None).await, Browser::new().send(callback, None).await);
    assert_eq!((again.status, again.location.unwrap().path()), (303, "/"));
    assert!(elsewhere.status == 400 && elsewhere.text.contains("Start again"), "{elsewhere:?}");

    // Roles follow the groups at the next sign-in, and the user is the same.
    provider.set_accounts(&accounts(&["desk"])).await;
    let out = ada.open(&server.url("/auth/sign-out"), Some(&[])).await;
    assert!(out.text.contains("Sign out there, too"), "{out:?}");
    assert_eq!(ada.me(&server).await["error"]["code"], "unauthenticated");
    let page = ada.sign_in(&server, "company", "nobody").await;
    assert_eq!(page.status, 200, "signed in at the provider all the time: {page:?}");
    let me = ada.me(&server).await;
    assert_eq!((&me["id"], &me["roles"]), (&id, &json!(["support"])));

    // Signing out at the provider as well.
    ada.open(&server.url("/auth/sign-out"), Some(&[])).await;
    let confirm = ada.open(&server.url("/auth/openid-connect/company/sign-out"), None).await;
    let xsrf = confirm.text.split("name=\"xsrf\" value=\"").nth(1).unwrap_or_else(|| panic!("{confirm:?}"));
    let fields = [("xsrf", xsrf.split('"').next().unwrap()), ("logout", "yes")];
    let confirmed = ada.open(&confirm.url.join("/session/end/confirm").unwrap(), Some(&fields)).await;
    assert_eq!(confirmed.url.path(), "/auth/sign-in", "{confirmed:?}");
    let question = ada.open(&server.url("/auth/openid-connect/company"), None).await;
    assert!(question.url.path().starts_with("/interaction/"), "{question:?}");

    // A user may decline; a disabled user cannot come in.
    let declined = ada.open(&question.url, Some(&[("decline", "1")])).await;
    assert!(declined.status == 403 && declined.text.contains("did not let you in"), "{declined:?}");
    let store = Store::open_existing(&server.database).await.unwrap();
    store.set_disabled(id.as_str().unwrap(), Some(1)).await.unwrap();
    let refused = ada.sign_in(&server, "company", "ada-1").await;
    assert!(refused.status == 403 && refused.text.contains("Your account is disabled"), "{refused:?}");

    // No user has a password here.
    for path in ["/auth/sign-in", "/auth/sign-up", "/auth/first-admin", "/auth/password"] {
        let sent = form_request(&server, path, &[("name", "ada@example.com"), ("password", "")]).send().await.unwrap();
        assert_eq!(sent.status().as_u16(), 404, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sign_up_happens_only_where_the_config_allows_it() {
    let provider = RealProvider::start("company", "ES256", &accounts(&[]));
    let check = async |more: &str, account: &str, status: u16, text: &str| {
        let (server, _folder) = serve(&auth("openidConnect", &[entry("company", &provider.issuer, more)]));
        let page = Browser::new().sign_in(&server, "company", account).await;
        assert!(page.status == status && page.text.contains(text), "{more} {account}: {page:?}");
    };
    check("", "ada-1", 403, "You have no account here yet").await;
    check(", signUp: true", "bob-1", 200, "").await;
    check(", signUp: true, allowedDomains: [example.com]", "ada-1", 200, "").await;
    check(", signUp: true, allowedDomains: [other.test]", "ada-1", 403, "Your e-mail address is not verified").await;
    check(", signUp: true, allowedDomains: [example.com]", "bob-1", 403, "Your e-mail address is not verified").await;
}
