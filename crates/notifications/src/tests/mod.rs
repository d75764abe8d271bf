//! The messages about mistakes in the config, the checks of subscriptions, the storage on each kind
//! of database, and that a browser can decrypt its messages.

mod kill;
mod waiting;

use crate::DEFINITION;
use crate::email::pace::Pace;
use crate::email::store as emails;
use crate::message::{Cause, Message, Receiver, request};
use crate::section::Notifications;
use crate::server_key::ServerKey;
use crate::store::{self, Subscription, TABLES};
use ::store::Store;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use capability::language;
use insta::assert_snapshot;
use serde_json::json;
use test_store::on_each_database;
use web_push_native::p256::SecretKey;
use web_push_native::p256::elliptic_curve::sec1::ToEncodedPoint;
use web_push_native::{Auth, decrypt};

/// Reads a config with this section; returns its problems.
fn check(section: &str) -> String {
    match language(&[DEFINITION]).read_text(&format!("notifications: {section}\n")) {
        Ok((_, warnings)) => config::render_short(&warnings),
        Err(problems) => config::render_short(&problems),
    }
}

#[test]
fn mistakes_are_named_with_their_position() {
    assert_snapshot!(check("{ contact: mailto:ops@example.com }"), @"");
    assert_snapshot!(check("{ contact: \"https://example.com/contact\", afterSeconds: 60, showTitles: true, perUser: 3 }"), @"");
    assert_snapshot!(check("{}"), @r"
    chatwright.yaml:1:16: error: `contact` is missing here
       = help: `contact`: The address at which push services reach the operator when something is wrong: `mailto:ops@example.com` or that of a page. They require it.
    ");
    assert_snapshot!(check("{ contact: ops@example.com }"), @r"
    chatwright.yaml:1:27: error: this is neither a `mailto:` nor an `https:` address
       = help: for example `mailto:ops@example.com`
    ");
    assert_snapshot!(check("{ contact: mailto:ops@example.com, afterSecond: 5 }"), @r"
    chatwright.yaml:1:51: error: there is no key `afterSecond` here
       = help: did you mean `afterSeconds`?
    ");
}

/// Reads a whole config with this value of `email`; returns its problems.
fn check_email(auth: &str, email: &str) -> String {
    let connections = "connections:\n  - { id: mail, type: Smtp, properties: { host: localhost, from: a@b.test } }\n  - { id: demo, type: Demo }\n";
    let text = format!("{auth}{connections}notifications:\n  contact: mailto:ops@example.com\n  email: {email}\n");
    match language(&[DEFINITION, mail::DEFINITION]).read_text(&text) {
        Ok((_, warnings)) => config::render_short(&warnings),
        Err(problems) => config::render_short(&problems),
    }
}

#[test]
fn e_mail_needs_a_mail_server_and_the_address_of_this_server() {
    let auth = "auth: { mode: password, publicUrls: [\"https://chat.example.com\"] }\n";
    let check = |auth: &str, email: &str, expected: Option<&str>| {
        let problems = check_email(auth, email);
        match expected {
            Some(expected) => assert!(problems.contains(expected), "{email}: {problems}"),
            None => assert!(!problems.contains("error"), "{email}: {problems}"),
        }
    };
    check(auth, "{ connectionId: mail, afterMinutes: 0, everyMinutes: 5, showTitles: false }", None);
    check(auth, "{ connectionId: demo }", Some("7:26: error: `demo` is a connection of the type Demo"));
    check(auth, "{ connectionId: mail, everyMinutes: 1 }", Some("7:46: error: "));
    check(auth, "{ connectionId: mail, every: 60 }", Some("7:32: error: there is no key `every` here"));
    check("", "{ connectionId: mail }", Some("6:10: error: the links in e-mails need the address of this server"));
}

fn day(number: i64) -> i64 {
    number * 24 * 60 * 60 * 1_000
}

#[tokio::test]
async fn an_address_is_used_once_it_is_confirmed_with_its_newest_token() {
    on_each_database(&[TABLES], async |store| {
        let ask = async |owner: &'static str, address: &'static str, token: String, now: i64| {
            let write =
                store.write(move |db| Box::pin(async move { emails::ask(db, owner, address, &token, now).await }));
            write.await.unwrap()
        };
        assert_eq!(emails::find(store, "ada").await.unwrap(), None);
        assert!(ask("ada", "old@a.test", "t1".to_owned(), day(5)).await);
        assert!(ask("ada", "ada@a.test", "t2".to_owned(), day(5) + 1).await);
        assert!(ask("bob", "bob@a.test", "t3".to_owned(), day(5)).await);
        for (owner, token) in [("ada", "t1"), ("ada", "t3"), ("bob", "t2"), ("eve", "t2")] {
            assert!(!emails::confirm(store, owner, token, 7).await.unwrap(), "{owner} {token}");
        }
        assert_eq!(emails::find(store, "ada").await.unwrap().unwrap().confirmed(), None);
        assert!(emails::confirm(store, "ada", "t2", 7).await.unwrap());
        assert_eq!(emails::find(store, "ada").await.unwrap().unwrap().confirmed(), Some(("ada@a.test", 7)));
        let mark = store.write(|db| Box::pin(async move { emails::mark_sent(db, "ada", "t2", 9).await }));
        mark.await.unwrap();
        assert_eq!(emails::find(store, "ada").await.unwrap().unwrap().confirmed(), Some(("ada@a.test", 9)));

        // The link switches them off, once; the address is deleted.
        assert!(emails::switch_off_by_link(store, "t2").await.unwrap());
        assert!(!emails::switch_off_by_link(store, "t2").await.unwrap());
        assert_eq!(emails::find(store, "ada").await.unwrap().unwrap().address, None);
        assert!(!emails::confirm(store, "ada", "t2", 8).await.unwrap());

        // Switching off and on again does not begin a new day.
        for at in 2..emails::MAX_ASKED {
            assert!(ask("ada", "new@a.test", format!("n{at}"), day(5) + at).await);
            emails::switch_off(store, "ada").await.unwrap();
        }
        assert!(!ask("ada", "new@a.test", "late".to_owned(), day(6) - 1).await);
        assert!(ask("ada", "new@a.test", "next".to_owned(), day(6)).await);
    })
    .await;
}

#[test]
fn e_mails_keep_their_distance() {
    let pace = Pace { after_minutes: 10, every_minutes: 60 };
    let minutes = |sent: Option<i64>| pace.pause(1_000 * 60_000, sent.map(|at| at * 60_000)) / 60_000;
    assert_eq!((minutes(None), minutes(Some(1_000)), minutes(Some(970)), minutes(Some(0))), (10, 60, 30, 10));
}

fn settings(more: serde_json::Value) -> Notifications {
    let mut section = json!({ "contact": "mailto:ops@example.com" });
    section.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    serde_json::from_value(section).unwrap()
}

/// The keys of a browser.
fn browser_keys() -> (SecretKey, String, String) {
    let secret = SecretKey::from_slice(&[7; 32]).unwrap();
    let public = secret.public_key().to_encoded_point(false);
    (secret, URL_SAFE_NO_PAD.encode(public.as_bytes()), URL_SAFE_NO_PAD.encode([3; 16]))
}

#[test]
fn only_addresses_and_keys_of_push_services_are_accepted() {
    let (_, p256dh, auth) = browser_keys();
    let check = |allow_private: bool, endpoint: &str, p256dh: &str, auth: &str, expected: Option<&str>| {
        let settings = settings(json!({ "allowPrivate": allow_private }));
        let read = Receiver::read(&settings, endpoint, p256dh, auth);
        assert_eq!(read.err().map(|(field, _)| field), expected, "{endpoint} {p256dh} {auth}");
    };
    let padded = format!("{auth}==");
    check(false, "https://push.test/send/1", &p256dh, &auth, None);
    check(false, "https://push.test/send/1", &p256dh, &padded, None);
    check(true, "http://127.0.0.1:9/send", &p256dh, &auth, None);
    for endpoint in ["http://push.test/send", "ftp://push.test", "https://u:p@push.test/", "data:,x", "push", ""] {
        check(false, endpoint, &p256dh, &auth, Some("endpoint"));
    }
    check(false, &format!("https://push.test/{}", "a".repeat(2_048)), &p256dh, &auth, Some("endpoint"));
    let zero = URL_SAFE_NO_PAD.encode([0; 65]);
    for key in ["", "not base64!", &p256dh[..20], &zero] {
        check(false, "https://push.test/", key, &auth, Some("keys.p256dh"));
    }
    for secret in ["", "AAAA", "not base64!"] {
        check(false, "https://push.test/", &p256dh, secret, Some("keys.auth"));
    }
}

#[tokio::test]
async fn a_browser_can_read_what_it_is_sent() {
    on_each_database(&[TABLES], async |store| {
        let (secret, p256dh, auth) = browser_keys();
        let receiver = Receiver::read(&settings(json!({})), "https://push.test/send/1", &p256dh, &auth).ok().unwrap();
        // All servers of a database have the same key.
        let key = ServerKey::load(store).await.unwrap();
        assert_eq!(ServerKey::load(store).await.unwrap().public(), key.public());
        let message = Message::new(Cause::Waiting, "Helper", Some("Refund"), "c1".to_owned(), "/p?conversation=c1".to_owned());
        let sent = request(&receiver, &message, &key, "mailto:ops@example.com", 1_000).unwrap();
        let header = |name: &str| sent.headers[name].to_str().unwrap().to_owned();
        assert_eq!((header("urgency"), header("ttl"), header("content-encoding")), ("high".into(), "86400".into(), "aes128gcm".into()));
        assert!(header("authorization").ends_with(&format!(", k={}", key.public())));
        let read = decrypt(sent.body.unwrap(), &secret, &Auth::from([3; 16])).unwrap();
let expected = r#"{"title":"Helper: Refund","body":"A decision is needed to go on.","tag":"c1","url":"/p?conversation=c1"}"#;
        assert_eq!(String::from_utf8(read).unwrap(), expected);
    })
    .await;
}

fn browser(id: &str, owner: &str, endpoint: &str, created_at: i64) -> Subscription {
    Subscription {
        id: id.to_owned(),
        owner: owner.to_owned(),
        endpoint: endpoint.to_owned(),
        p256dh: "key".to_owned(),
        auth: "auth".to_owned(),
        browser: "Firefox on Linux".to_owned(),
        created_at,
        sent_at: None,
    }
}

async fn ids(store: &Store, owner: &str) -> Vec<String> {
    store::list(store, owner).await.unwrap().into_iter().map(|browser| browser.id).collect()
}

#[tokio::test]
async fn a_browser_belongs_to_the_last_user_who_subscribes() {
    on_each_database(&[TABLES], async |store| {
        for (at, id) in ["a1", "a2", "a3"].into_iter().enumerate() {
            store::add(store, browser(id, "ada", &format!("https://push.test/{id}"), at as i64), 2).await.unwrap();
        }
        assert_eq!(ids(store, "ada").await, ["a3", "a2"], "the oldest is removed");
        store::add(store, browser("b1", "bob", "https://push.test/a3", 9), 2).await.unwrap();
        assert_eq!((ids(store, "ada").await, ids(store, "bob").await), (vec!["a2".to_owned()], vec!["b1".to_owned()]));
        assert!(store::has_any(store, "bob").await.unwrap());

        assert!(!store::delete(store, "ada", "b1").await.unwrap(), "it is not hers");
        store::mark_sent(store, "b1", 50).await.unwrap();
        assert_eq!(store::find(store, "b1").await.unwrap().unwrap().sent_at, Some(50));
        assert!(store::delete(store, "bob", "b1").await.unwrap());
        assert!(!store::has_any(store, "bob").await.unwrap());
        assert_eq!(store::find(store, "b1").await.unwrap(), None);
    })
    .await;
}
