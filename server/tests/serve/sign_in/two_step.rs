//! Two-step sign-in over HTTP, with codes as an authenticator app computes them.

use super::accounts::{PASSWORD, config, create_first_account, form_request, me_request, session_cookie, status};
use crate::process::Server;
use reqwest::header::{COOKIE, LOCATION, ORIGIN};
use reqwest::{Method, Response};
use ring::hmac;
use serde_json::{Value, json};
use sqlx::{Connection, SqliteConnection};
use std::time::{SystemTime, UNIX_EPOCH};
use store::Store;
use tempfile::TempDir;

const KEY: &str = "a key of more than thirty-two characters";

/// Starts a server with a key for the secrets of apps; `more` is appended to the settings of `auth`.
fn serve(more: &str) -> (Server, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let config = config(&format!(", openSignUp: true, secondFactorKeys: [{{ _secret: SECOND_FACTOR_KEY }}]{more}"));
    std::fs::write(folder.path().join("chatwright.yaml"), config).unwrap();
    let arguments = ["--config", folder.path().to_str().unwrap()];
    (Server::start_with_env(&[("SECOND_FACTOR_KEY", KEY)], &arguments), folder)
}

fn now_step() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() / 30
}

/// Computes the code of a time step (RFC 4226, 5.3) from a secret in base32.
fn code(secret: &str, step: u64) -> String {
    let signs = secret.bytes().filter(|sign| !sign.is_ascii_whitespace());
    let (mut key, mut bits, mut count) = (Vec::new(), 0_u32, 0);
    for sign in signs {
        let value = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".iter().position(|known| *known == sign).unwrap();
        (bits, count) = (bits << 5 | u32::try_from(value).unwrap(), count + 5);
        if count >= 8 {
            count -= 8;
            key.push(u8::try_from(bits >> count & 0xff).unwrap());
        }
    }
    let key = hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, &key);
    let hash = hmac::sign(&key, &step.to_be_bytes());
    let hash = hash.as_ref();
    let offset = usize::from(hash[19] & 15);
    let number = u32::from_be_bytes(hash[offset..offset + 4].try_into().unwrap()) & 0x7fff_ffff;
    format!("{:06}", number % 1_000_000)
}

/// Returns the encrypted step of a page.
fn token(page: &str) -> String {
    let rest = page.split_once(r#"name="token""#).unwrap_or_else(|| panic!("{page}")).1;
    rest.split_once("value=\"").unwrap().1.split_once('"').unwrap().0.to_owned()
}

/// Returns the text that a page shows to copy: a secret, or recovery codes.
fn pre_text(page: &str) -> &str {
    page.split_once("<pre").unwrap().1.split_once('>').unwrap().1.split_once("</pre>").unwrap().0
}

/// Returns the recovery codes on a page.
fn recovery_codes(page: &str) -> Vec<String> {
    pre_text(page).lines().map(str::to_owned).collect()
}

async fn post(server: &Server, cookie: &str, path: &str, fields: &[(&str, &str)]) -> (u16, String, Option<String>) {
    let answer = form_request(server, path, fields).header(COOKIE, cookie).send().await.unwrap();
    read(answer).await
}

/// Returns the status, the page and the session cookie of an answer.
async fn read(answer: Response) -> (u16, String, Option<String>) {
    let (status, cookie) = (answer.status().as_u16(), session_cookie(&answer));
    (status, answer.text().await.unwrap(), cookie)
}

async fn get(server: &Server, cookie: &str, path: &str) -> (u16, String) {
    let answer = server.request(Method::GET, path).header(COOKIE, cookie).send().await.unwrap();
    (answer.status().as_u16(), answer.text().await.unwrap())
}

async fn enter_password(server: &Server, name: &str) -> (u16, String, Option<String>) {
    read(super::accounts::sign_in(server, name, PASSWORD).await).await
}

/// An authenticator app.
struct App {
    secret: String,
    /// The last step of which a code was used.
    step: u64,
}

impl App {
    /// Reads the secret from a page, as a user types it.
    fn from_page(page: &str) -> Self {
        Self { secret: pre_text(page).to_owned(), step: 0 }
    }

    /// Returns a code that was not used before. Those of the next step are accepted as well, so that the second one needs
    /// no waiting.
    async fn next(&mut self) -> String {
        self.step = (self.step + 1).max(now_step());
        while self.step > now_step() + 1 {
            tokio::time::sleep(std::time::Duration::from_millis(500)).await;
        }
        code(&self.secret, self.step)
    }
}

/// Turns it on for a signed-in user; returns the app and the recovery codes.
async fn turn_on(server: &Server, cookie: &str) -> (App, Vec<String>) {
    let (status, page) = get(server, cookie, "/auth/two-step").await;
    assert_eq!(status, 200);
    let mut app = App::from_page(&page);
    let code = app.next().await;
    let fields = [("token", &*token(&page)), ("password", PASSWORD), ("code", &code)];
    let (status, page, _) = post(server, cookie, "/auth/two-step", &fields).await;
    assert_eq!(status, 200, "{page}");
    (app, recovery_codes(&page))
}

#[tokio::test]
async fn second_step_needs_a_code_that_was_not_used() {
    let (server, _folder) = serve("");
    let ada = create_first_account(&server).await;
    let other = enter_password(&server, "ada").await.2.unwrap();
    let (_, page) = get(&server, &ada, "/auth/two-step").await;
    let token_of_ada = token(&page);
    let mut app = App::from_page(&page);
    let first = app.next().await;
    let wrong = format!("{:06}", (first.parse::<u32>().unwrap() + 1) % 1_000_000);
    for (password, code, text) in
        [("wrong words", &first, "The password is wrong"), (PASSWORD, &wrong, "This code is wrong")]
    {
        let fields = [("token", &*token_of_ada), ("password", password), ("code", code)];
        let (status, page, _) = post(&server, &ada, "/auth/two-step", &fields).await;
        assert!(status == 422 && page.contains(text), "{status} {text}");
    }
    let fields = [("token", &*token_of_ada), ("password", PASSWORD), ("code", &*first)];
    let (status, page, _) = post(&server, &ada, "/auth/two-step", &fields).await;
    let codes = recovery_codes(&page);
    assert_eq!((status, codes.len()), (200, 10));
    let is_signed_in = async |cookie: &str| self::status(me_request(&server).header(COOKIE, cookie)).await == 200;
    assert!(is_signed_in(&ada).await && !is_signed_in(&other).await, "other sessions end");
    let (_, account) = get(&server, &ada, "/auth/account").await;
    assert!(account.contains("10 recovery codes are left") && !account.contains(&codes[0]));
    assert!(account.contains("Keep what I read on this device") && account.contains("/assets/lazy/keep-switch.js"));

    // The password alone signs nobody in.
    let (status, page, cookie) = enter_password(&server, "ada").await;
    assert_eq!((status, cookie), (200, None));
    let step = token(&page);
    let send = async |code: &str| {
        post(&server, "", "/auth/second-step", &[("token", &step), ("code", code), ("next", "/p")]).await
    };
    for used in [&first, &wrong, &String::new(), &"a".repeat(16)] {
        let (status, _, cookie) = send(used).await;
        assert_eq!((status, cookie), (401, None), "{used}");
    }
    let second = app.next().await;
    assert!(is_signed_in(&send(&second).await.2.unwrap()).await);
    assert_eq!(send(&second).await.0, 401, "a code is accepted once");
    let written = codes[0].to_uppercase().replace('-', " ");
    assert!(is_signed_in(&send(&written).await.2.unwrap()).await);
    assert_eq!(send(&codes[0]).await.0, 401, "a recovery code is accepted once");
    assert!(get(&server, &ada, "/auth/account").await.1.contains("9 recovery codes are left"));
    // The stored row contains no secret in plain text.
    let store = Store::open_existing(&server.database).await.unwrap();
    let stored = store.second_factor(&id(&server, &ada).await).await.unwrap().expect("it is stored");
    let (secret, stored) = (app.secret.replace([' ', '\n'], ""), format!("{stored:?}"));
    assert!(!stored.contains(&secret) && !stored.contains(&codes[1]), "{stored}");
}

async fn id(server: &Server, cookie: &str) -> String {
    let user: Value = me_request(server).header(COOKIE, cookie).send().await.unwrap().json().await.unwrap();
    user["id"].as_str().unwrap().to_owned()
}

/// With the password alone, an attacker must not be able to try all codes.
#[tokio::test]
async fn wrong_codes_are_throttled_as_wrong_passwords_are() {
    let (server, _folder) = serve("");
    let ada = create_first_account(&server).await;
    let (mut app, _) = turn_on(&server, &ada).await;
    for attempt in 0..10 {
        // Right passwords in between do not reset the count.
        let (status, page, _) = enter_password(&server, "ada").await;
        assert_eq!(status, 200, "{attempt}");
        let (status, ..) =
            post(&server, "", "/auth/second-step", &[("token", &token(&page)), ("code", "000000")]).await;
        assert_eq!(status, 401, "{attempt}");
    }
    assert_eq!(enter_password(&server, "ada").await.0, 429);
    let fields = [("password", PASSWORD), ("code", &*app.next().await)];
    assert_eq!(post(&server, &ada, "/auth/two-step/remove", &fields).await.0, 429);
    let mut rows = Value::Null;
    for _ in 0..1200 {
        let path = "/api/admin/audit?tool=account:sign_in&outcome=refused";
        rows = serde_json::from_str(&get(&server, &ada, path).await.1).unwrap();
        if rows["items"].as_array().is_some_and(|rows| rows.len() >= 2) {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    panic!("{rows}");
}

/// The count is stored, so that patience does not help.
#[tokio::test]
async fn app_codes_are_locked_after_many_wrong_ones_until_a_recovery_code_is_used() {
    let (server, _folder) = serve("");
    let ada = create_first_account(&server).await;
    let (mut app, codes) = turn_on(&server, &ada).await;
    let mut database = SqliteConnection::connect(&server.database).await.unwrap();
    // Without a last step each code is new, so that the test does not wait for those of later steps.
    sqlx::query("UPDATE second_factors SET wrong_codes = 99, last_step = 0").execute(&mut database).await.unwrap();
    app.step = 0;
    let (_, page, _) = enter_password(&server, "ada").await;
    let step = token(&page);
    let check = async |code: &str, status: u16, text: &str| {
        let (found, page, cookie) = post(&server, "", "/auth/second-step", &[("token", &step), ("code", code)]).await;
        assert_eq!((found, cookie.is_some()), (status, status == 303), "{code}");
        assert!(page.contains(text), "{page}");
    };
    check("000000", 401, "This code is wrong").await;
    check(&app.next().await, 403, "Sign in with a recovery code").await;
    let fields = [("password", PASSWORD), ("code", &*app.next().await)];
    assert_eq!(post(&server, &ada, "/auth/two-step/remove", &fields).await.0, 403);
    check(&codes[0], 303, "").await;
    sqlx::query("UPDATE second_factors SET last_step = 0").execute(&mut database).await.unwrap();
    app.step = 0;
    check(&app.next().await, 303, "").await;
}

#[tokio::test]
async fn step_ends_with_the_password_and_belongs_to_its_user() {
    let (server, _folder) = serve("");
    let ada = create_first_account(&server).await;
    let (mut app, _) = turn_on(&server, &ada).await;
    let (_, page, _) = enter_password(&server, "ada").await;
    let step = token(&page);
    let fields = [("name", "bob"), ("password", PASSWORD)];
    let bob = session_cookie(&form_request(&server, "/auth/sign-up", &fields).send().await.unwrap()).unwrap();
    let (_, page) = get(&server, &bob, "/auth/two-step").await;
    let mut app_of_bob = App::from_page(&page);
    let code = app_of_bob.next().await;
    // A step of a sign-in sets nothing up, that of another user does not, and one of a set-up signs nobody in.
    let check = async |cookie: &str, path: &str, token: &str, code: &str| {
        let fields = [("token", token), ("password", PASSWORD), ("code", code)];
        let (status, _, cookie) = post(&server, cookie, path, &fields).await;
        assert_eq!((status, cookie), (401, None), "{path}");
    };
    check(&ada, "/auth/two-step", &step, &code).await;
    check(&ada, "/auth/two-step", &token(&page), &code).await;
    check("", "/auth/second-step", &token(&page), &code).await;
    check("", "/auth/second-step/set-up", &token(&page), &code).await;
    check("", "/auth/second-step/set-up", &step, &code).await;
    check("", "/auth/second-step", "forged", &code).await;
    let changed = [("current", PASSWORD), ("password", "quite another sentence")];
    assert_eq!(post(&server, &ada, "/auth/password", &changed).await.0, 303);
    check("", "/auth/second-step", &step, &app.next().await).await;
}

#[tokio::test]
async fn required_second_factor_is_set_up_before_the_user_is_signed_in() {
    let (server, _folder) = serve(", secondFactor: required");
    let token_of_server = server.first_account_token().await;
    let fields = [("token", &*token_of_server), ("name", "ada"), ("password", PASSWORD)];
    let (status, page, cookie) = post(&server, "", "/auth/first-admin", &fields).await;
    assert!(status == 200 && cookie.is_none() && page.contains("Set up two-step sign-in"), "{status}");
    let (status, page, cookie) = enter_password(&server, "ada").await;
    assert_eq!((status, cookie), (200, None));
    let mut app = App::from_page(&page);
    let (step, first) = (token(&page), app.next().await);
    let send = async |code: &str| {
        post(&server, "", "/auth/second-step/set-up", &[("token", &step), ("code", code), ("next", "/p")]).await
    };
    assert_eq!(send("12345").await.0, 401);
    let (status, page, ada) = send(&first).await;
    let (ada, codes) = (ada.unwrap(), recovery_codes(&page));
    assert_eq!((status, codes.len()), (200, 10));
    assert_eq!(self::status(me_request(&server).header(COOKIE, &ada)).await, 200);
    assert_eq!(send(&app.next().await).await.0, 401, "it is set up once");
    // It can be replaced, and not turned off.
    let proof = [("password", PASSWORD), ("code", &*codes[0])];
    assert_eq!(post(&server, &ada, "/auth/two-step/remove", &proof).await.0, 404);
    let (status, page, _) = post(&server, &ada, "/auth/two-step/replace", &proof).await;
    let mut new = App::from_page(&page);
    let fields = [("token", &*token(&page)), ("code", &*new.next().await)];
    assert_eq!((status, post(&server, &ada, "/auth/two-step", &fields).await.0), (200, 200));
    let (_, page, _) = enter_password(&server, "ada").await;
    let step = token(&page);
    let sign_in =
        async |code: &str| post(&server, "", "/auth/second-step", &[("token", &step), ("code", code)]).await.2;
    let old = code(&app.secret, now_step() + 1);
    assert_eq!((sign_in(&old).await, sign_in(&codes[1]).await), (None, None));
    assert!(sign_in(&new.next().await).await.is_some());
}

#[tokio::test]
async fn user_gets_new_recovery_codes_and_turns_it_off() {
    let (server, _folder) = serve("");
    let ada = create_first_account(&server).await;
    let (mut app, old) = turn_on(&server, &ada).await;
    for fields in [[("password", "wrong words"), ("code", &*old[0])], [("password", PASSWORD), ("code", "000000")]] {
        assert_eq!(post(&server, &ada, "/auth/two-step/remove", &fields).await.0, 422, "{fields:?}");
    }
    let fields = [("password", PASSWORD), ("code", &*app.next().await)];
    let (_, page, _) = post(&server, &ada, "/auth/two-step/codes", &fields).await;
    let new = recovery_codes(&page);
    let (status, ..) = post(&server, &ada, "/auth/two-step/remove", &[("password", PASSWORD), ("code", &old[0])]).await;
    assert_eq!(status, 422, "the old ones are void");
    let form = form_request(&server, "/auth/two-step/remove", &[("password", PASSWORD), ("code", &new[9])]);
    let off = form.header(COOKIE, &ada).send().await.unwrap();
    assert_eq!(off.headers()[LOCATION], "/auth/account?done=two-step-off");
    assert!(enter_password(&server, "ada").await.2.is_some());
    for nobody in ["/auth/two-step", "/auth/two-step/codes"] {
        assert_ne!(post(&server, "", nobody, &[]).await.0, 200, "{nobody}");
    }
}

#[tokio::test]
async fn administrator_sees_and_resets_the_app_of_a_user() {
    let (server, _folder) = serve("");
    let ada = create_first_account(&server).await;
    let fields = [("name", "bob"), ("password", PASSWORD)];
    let bob = session_cookie(&form_request(&server, "/auth/sign-up", &fields).send().await.unwrap()).unwrap();
    turn_on(&server, &bob).await;
    let path = format!("/api/admin/users/{}", id(&server, &bob).await);
    let user: Value = serde_json::from_str(&get(&server, &ada, &path).await.1).unwrap();
    assert_eq!(user["hasSecondFactor"], json!(true));
    assert!(get(&server, &ada, "/admin/users").await.1.contains("password, authenticator app"));
    let reset = server.request(Method::DELETE, &format!("{path}/second-factor")).header(ORIGIN, &server.origin);
    assert_eq!(status(reset.header(COOKIE, &ada)).await, 204);
    assert_eq!(status(me_request(&server).header(COOKIE, &bob)).await, 401);
    assert!(enter_password(&server, "bob").await.2.is_some());
    let rows = get(&server, &ada, "/api/admin/audit?tool=admin:reset_second_factor").await.1;
    assert_eq!(serde_json::from_str::<Value>(&rows).unwrap()["items"].as_array().unwrap().len(), 1);
}

/// A mistake in the config must not take the protection away; `off` does, deliberately.
#[tokio::test]
async fn code_is_asked_for_without_a_key_and_not_when_switched_off() {
    let (server, folder) = serve("");
    let ada = create_first_account(&server).await;
    let (mut app, codes) = turn_on(&server, &ada).await;
    let restart = |settings: &str| {
        std::fs::write(folder.path().join("chatwright.yaml"), config(settings)).unwrap();
        let arguments = ["--config", folder.path().to_str().unwrap(), "--database", &server.database];
        Server::start_with(&arguments)
    };
    let stopped = |server: Server| drop(server.stop());
    server.terminate();
    let without_key = restart("");
    let (_, page, cookie) = enter_password(&without_key, "ada").await;
    assert_eq!(cookie, None);
    let step = token(&page);
    let send =
        async |code: &str| post(&without_key, "", "/auth/second-step", &[("token", &step), ("code", code)]).await;
    assert_eq!(send(&app.next().await).await.0, 503);
    assert!(send(&codes[0]).await.2.is_some());
    stopped(without_key);
    let off = restart(", secondFactor: off");
    let ada = enter_password(&off, "ada").await.2.unwrap();
    assert!(get(&off, &ada, "/auth/account").await.1.contains("this server does not ask for codes"));
    assert_eq!(post(&off, &ada, "/auth/two-step/remove", &[("password", PASSWORD)]).await.0, 303);
    assert!(!get(&off, &ada, "/auth/account").await.1.contains("Two-step sign-in"));
}
