//! What strangers and users do again and again leaves a bounded number of rows in the audit log.

use crate::accounts::{PASSWORD, config, first, form, session, sign_in};
use crate::process::Server;
use reqwest::Method;
use reqwest::header::{COOKIE, RETRY_AFTER};
use serde_json::{Value, json};
use store::Store;
use tempfile::TempDir;

/// A server whose database outlives it.
struct House {
    server: Server,
    database: String,
    _folder: TempDir,
}

impl House {
    fn open(config: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("chatwright.yaml"), config).unwrap();
        let database = format!("sqlite://{}/kept.db", folder.path().display());
        let arguments = ["--config", folder.path().to_str().unwrap(), "--database", &database];
        Self { server: Server::start_with(&arguments), database, _folder: folder }
    }

    /// The rows of a call with an outcome: whose they are, and what they say.
    async fn rows(&self, tool: &str, outcome: &str) -> Vec<(String, Value)> {
        let store = Store::open_existing(&self.database).await.unwrap();
        let (mut rows, mut from) = (Vec::new(), i64::MIN);
        loop {
            let page = store.audit_rows(from, i64::MIN).await.unwrap();
            let Some(last) = page.last() else { break };
            from = last.number + 1;
            rows.extend(page);
        }
        assert!(store.verify_audit(None).await.unwrap().is_ok());
        let rows = rows.into_iter().filter(|row| row.tool == tool && row.outcome == outcome);
        rows.map(|row| (row.user_id, serde_json::from_str(&row.arguments).unwrap())).collect()
    }

    /// The same once there are so many: rows about refusals are written in the background.
    async fn rows_once(&self, tool: &str, count: usize) -> Vec<(String, Value)> {
        for _ in 0..200 {
            let rows = self.rows(tool, "refused").await;
            if rows.len() >= count {
                return rows;
            }
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
        self.rows(tool, "refused").await
    }

    fn end(&mut self) {
        self.server.terminate();
        assert!(self.server.wait().success());
    }
}

fn limit(rows: &[(String, Value)], limit: &str) -> Vec<(String, Option<u64>)> {
    let rows = rows.iter().filter(|(_, about)| about["limit"] == limit);
    rows.map(|(user, about)| (user.clone(), about["attempts"].as_u64())).collect()
}

#[tokio::test]
async fn attempts_that_are_answered_with_429_have_rows_with_their_number() {
    let mut house = House::open(&config(", auditAddresses: full"));
    let ada = first(&house.server).await;
    let id = house.rows("account:first_account", "ok").await.remove(0).0;
    for _ in 0..10 {
        assert_eq!(sign_in(&house.server, "ada", "wrong").await.status().as_u16(), 401);
    }
    for _ in 0..4 {
        assert_eq!(sign_in(&house.server, "ADA", "Hunter2 wrong").await.status().as_u16(), 429);
    }
    let change = [("current", "wrong"), ("password", "quite another sentence")];
    for _ in 0..3 {
        let refused = form(&house.server, "/auth/password", &change).header(COOKIE, &ada).send().await.unwrap();
        assert_eq!(refused.status().as_u16(), 429);
        assert!(refused.headers().contains_key(RETRY_AFTER));
    }
    // The first failure and the first refusal have their rows at once.
    let rows = house.rows_once("account:sign_in", 2).await;
    assert_eq!(limit(&rows, "name"), [(id.clone(), Some(1))], "{rows:?}");
    assert!(rows.iter().any(|(_, about)| about["limit"] == "name" && about["address"] == "127.0.0.1"), "{rows:?}");
    house.rows_once("account:change_password", 1).await;
    house.end();
    let rows = house.rows("account:sign_in", "refused").await;
    assert_eq!(limit(&rows, "name"), [(id.clone(), Some(1)), (id.clone(), Some(3))], "{rows:?}");
    let rows = house.rows("account:change_password", "refused").await;
    assert_eq!(limit(&rows, "name"), [(id.clone(), Some(1)), (id, Some(2))], "{rows:?}");
}

#[tokio::test]
async fn attempts_beyond_the_rates_of_the_config_have_rows_of_their_client() {
    let rates = "limits: { trustedProxies: ['127.0.0.0/8'], rates: [{ of: signIn, per: address, requests: 2, seconds: 60 }] }\n";
    let mut house = House::open(&format!("{}{rates}", config("")));
    first(&house.server).await;
    let mut seen = Vec::new();
    for _ in 0..5 {
        let fields = [("name", "nobody"), ("password", "wrong")];
        let sent = form(&house.server, "/auth/sign-in", &fields).header("x-forwarded-for", "203.0.113.77");
        seen.push(sent.send().await.unwrap().status().as_u16());
    }
    assert_eq!(seen, [401, 401, 429, 429, 429]);
    let rows = house.rows_once("account:sign_in", 2).await;
    assert_eq!(limit(&rows, "rates"), [(String::new(), Some(1))], "{rows:?}");
    house.end();
    let rows = house.rows("account:sign_in", "refused").await;
    assert_eq!(limit(&rows, "rates"), [(String::new(), Some(1)), (String::new(), Some(2))], "{rows:?}");
    let of_rates = rows.iter().filter(|(_, about)| about["limit"] == "rates");
    assert!(of_rates.clone().count() == 2 && of_rates.clone().all(|(_, about)| about["address"] == "203.0.113.0/24"));
}

/// A user creates and deletes keys again and again.
#[tokio::test]
async fn keys_of_a_user_leave_a_bounded_number_of_rows() {
    let house = House::open(&config(""));
    let ada = first(&house.server).await;
    let ask = |method, path: &str| house.server.ask(method, path).header(COOKIE, &ada);
    let new = json!({ "name": "job", "scopes": ["endpoints"], "expiresInDays": 30 });
    let mut created = 0;
    let refused = loop {
        let made = ask(Method::POST, "/api/keys").json(&new).send().await.unwrap();
        if made.status().as_u16() != 201 {
            break made;
        }
        created += 1;
        assert!(created <= 101, "nothing bounds it");
        let id = made.json::<Value>().await.unwrap()["id"].as_str().unwrap().to_owned();
        assert_eq!(ask(Method::DELETE, &format!("/api/keys/{id}")).send().await.unwrap().status().as_u16(), 204);
    };
    assert_eq!(refused.status().as_u16(), 429);
    assert!(refused.headers()[RETRY_AFTER].to_str().unwrap().parse::<u64>().unwrap() > 60);
    assert_eq!(refused.json::<Value>().await.unwrap()["error"]["code"], "rate_limited");
    let page = [("name", "job"), ("days", "30"), ("endpoints", "on")];
    let page = form(&house.server, "/auth/keys", &page).header(COOKIE, &ada).send().await.unwrap();
    assert_eq!((page.status().as_u16(), page.headers().contains_key(RETRY_AFTER)), (429, true));
    let rows = house.rows_once("account:add_key", 1).await;
    assert_eq!(limit(&rows, "keys").len(), 1, "{rows:?}");
    assert_eq!(house.rows("account:add_key", "ok").await.len(), created);
    assert_eq!(house.rows("account:delete_key", "ok").await.len(), created);
}

/// Nobody is kept from signing in or out by it.
#[tokio::test]
async fn sign_ins_of_a_user_beyond_so_many_a_day_have_one_row_together() {
    let mut house = House::open(&config(""));
    first(&house.server).await;
    const TIMES: usize = 110;
    for time in 0..TIMES {
        let cookie = session(&sign_in(&house.server, "ada", PASSWORD).await).unwrap_or_else(|| panic!("{time}"));
        let out = form(&house.server, "/auth/sign-out", &[]).header(COOKIE, cookie).send().await.unwrap();
        assert_eq!(out.status().as_u16(), 303);
    }
    house.end();
    for tool in ["account:sign_in", "account:sign_out"] {
        let rows = house.rows(tool, "ok").await;
        let together: Vec<_> = rows.iter().filter_map(|(_, about)| about["times"].as_u64()).collect();
        // 200 have rows of their own, so ten of each do not; one may come back meanwhile.
        assert!(together.len() == 1 && rows.len() - 1 <= 101, "{} rows of {tool}", rows.len());
        assert_eq!(rows.len() - 1 + together[0] as usize, TIMES, "{tool}");
    }
}
