//! Users whom a directory manages over SCIM, and who sign in at a provider.

use super::browser::Browser;
use super::entry;
use super::provider::RealProvider;
use crate::process::Server;
use reqwest::Method;
use reqwest::header::AUTHORIZATION;
use serde_json::{Value, json};

const TOKEN: &str = "a token of the tests, which has more than 32 characters";

async fn send(server: &Server, method: Method, path: &str, body: Value) -> (u16, Value) {
    let request = server.request(method, &format!("/scim/v2{path}")).header(AUTHORIZATION, format!("Bearer {TOKEN}"));
    let answer = request.json(&body).send().await.unwrap();
    (answer.status().as_u16(), answer.json().await.unwrap_or_default())
}

#[tokio::test(flavor = "multi_thread")]
async fn users_of_a_directory_are_linked_by_their_id_there() {
    let people = json!({ "1": { "preferred_username": "ada" }, "2": { "preferred_username": "bob" }, "3": { "preferred_username": "eve" } });
    let provider = RealProvider::start("one", "RS256", &people);
    let folder = tempfile::tempdir().unwrap();
    let write = |more: &str| {
        let entry = entry("one", &provider.issuer, more);
        let config = format!(
            "api: [{{ id: me, routine: [{{ ':return': {{ _user: true }} }}] }}]\npages: [{{ id: p }}]\n\
             auth: {{ mode: openidConnect, auditAddresses: none, openidConnect: [{entry}], \
             scim: {{ tokens: [{{ _secret: SCIM_TOKEN }}], provider: one }} }}\n"
        );
        std::fs::write(folder.path().join("chatwright.yaml"), config).unwrap();
    };
    write(", signUp: true");
    let secrets = [("OPENID_SECRET", "secret of the tests"), ("SCIM_TOKEN", TOKEN)];
    let server = Server::start_with_env(&secrets, &["--config", folder.path().to_str().unwrap()]);

    // The directory creates the user, who has another name there, and is linked at the first sign-in.
    let (made, ada) =
        send(&server, Method::POST, "/Users", json!({ "userName": "a.lovelace", "externalId": "1" })).await;
    assert_eq!(made, 201, "{ada}");
    let browser = Browser::new();
    assert_eq!(browser.sign_in(&server, "one", "1").await.status, 200);
    let me = browser.me(&server).await;
    assert_eq!((&me["id"], &me["name"]), (&ada["id"], &json!("a.lovelace")));

    // Groups count in the session at once.
    let members = json!([{ "value": ada["id"] }]);
    let group = json!({ "displayName": "Support", "members": members });
    assert_eq!(send(&server, Method::POST, "/Groups", group).await.0, 201);

    // A user who has signed in before is the same person, and keeps their name.
    let bob = Browser::new();
    assert_eq!(bob.sign_in(&server, "one", "2").await.status, 200);
    let (made, adopted) =
        send(&server, Method::POST, "/Users", json!({ "userName": "robert", "externalId": "2" })).await;
    let me = bob.me(&server).await;
    assert_eq!((made, &adopted["id"], &me["name"]), (201, &me["id"], &json!("bob")));

    // A user whom the directory has disabled is signed out, and gets no new account.
    let off = json!({ "Operations": [{ "op": "replace", "path": "active", "value": false }] });
    let path = format!("/Users/{}", ada["id"].as_str().unwrap());
    assert_eq!(send(&server, Method::PATCH, &path, off).await.1["active"], false);
    assert_eq!(browser.me(&server).await["error"]["code"], "unauthenticated");
    assert_eq!(Browser::new().sign_in(&server, "one", "1").await.status, 403);
    let disabled = json!({ "userName": "eve", "externalId": "3", "active": false });
    assert_eq!(send(&server, Method::POST, "/Users", disabled).await.1["active"], false);
    assert_eq!(Browser::new().sign_in(&server, "one", "3").await.status, 403);
    assert_eq!(send(&server, Method::GET, "/Users?count=0", Value::Null).await.1["totalResults"], 3);
}
