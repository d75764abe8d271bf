//! Repeated actions of users and strangers leave a bounded number of rows in the audit log.

use crate::process::Server;
use crate::sign_in::accounts::{PASSWORD, config, create_first_account, form_request, session_cookie, sign_in};
use reqwest::Method;
use reqwest::header::{COOKIE, RETRY_AFTER};
use serde_json::{Value, json};
use store::Store;
use tempfile::TempDir;

/// A server whose database can be read after it has ended.
struct TestServer {
    server: Server,
    database: String,
    _folder: TempDir,
}

impl TestServer {
    fn start(config: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("chatwright.yaml"), config).unwrap();
        let database = format!("sqlite://{}/kept.db", folder.path().display());
        let arguments = ["--config", folder.path().to_str().unwrap(), "--database", &database];
        Self { server: Server::start_with(&arguments), database, _folder: folder }
    }

    /// Returns the user ids and arguments of the rows with this tool and outcome.
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

    /// Waits for this number of rows about refusals, which are written in the background.
    async fn wait_for_rows(&self, tool: &str, count: usize) -> Vec<(String, Value)> {
        for _ in 0..1200 {
            let rows = self.rows(tool, "refused").await;
            if rows.len() >= count {
                return rows;
            }
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
        self.rows(tool, "refused").await
    }

    fn shut_down(&mut self) {
        self.server.terminate();
        assert!(self.server.wait().success());
    }
}

fn rows_of_limit(rows: &[(String, Value)], limit: &str) -> Vec<(String, Option<u64>)> {
    let rows = rows.iter().filter(|(_, about)| about["limit"] == limit);
    rows.map(|(user, about)| (user.clone(), about["attempts"].as_u64())).collect()
}

#[tokio::test]
async fn throttled_attempts_are_counted_in_audit_rows() {
    let mut fixture = TestServer::start(&config(", auditAddresses: full"));
    let ada = create_first_account(&fixture.server).await;
    let id = fixture.rows("account:first_account", "ok").await.remove(0).0;
    for _ in 0..10 {
        assert_eq!(sign_in(&fixture.server, "ada", "wrong").await.status().as_u16(), 401);
    }
    for _ in 0..4 {
        assert_eq!(sign_in(&fixture.server, "ADA", "Hunter2 wrong").await.status().as_u16(), 429);
    }
    let change = [("current", "wrong"), ("password", "quite another sentence")];
    for _ in 0..3 {
        let refused =
            form_request(&fixture.server, "/auth/password", &change).header(COOKIE, &ada).send().await.unwrap();
        assert_eq!(refused.status().as_u16(), 429);
        assert!(refused.headers().contains_key(RETRY_AFTER));
    }
    // The first failure and the first refusal are written at once.
    let rows = fixture.wait_for_rows("account:sign_in", 2).await;
    assert_eq!(rows_of_limit(&rows, "name"), [(id.clone(), Some(1))], "{rows:?}");
    assert!(rows.iter().any(|(_, about)| about["limit"] == "name" && about["address"] == "127.0.0.1"), "{rows:?}");
    fixture.wait_for_rows("account:change_password", 1).await;
    fixture.shut_down();
    let rows = fixture.rows("account:sign_in", "refused").await;
    assert_eq!(rows_of_limit(&rows, "name"), [(id.clone(), Some(1)), (id.clone(), Some(3))], "{rows:?}");
    let rows = fixture.rows("account:change_password", "refused").await;
    assert_eq!(rows_of_limit(&rows, "name"), [(id.clone(), Some(1)), (id, Some(2))], "{rows:?}");
}

#[tokio::test]
async fn rate_limited_attempts_are_audited_per_client() {
    let rates = "limits: { trustedProxies: ['127.0.0.0/8'], rates: [{ of: signIn, per: address, requests: 2, seconds: 60 }] }\n";
    let mut fixture = TestServer::start(&format!("{}{rates}", config("")));
    create_first_account(&fixture.server).await;
    let mut seen = Vec::new();
    for _ in 0..5 {
        let fields = [("name", "nobody"), ("password", "wrong")];
        let sent = form_request(&fixture.server, "/auth/sign-in", &fields).header("x-forwarded-for", "203.0.113.77");
        seen.push(sent.send().await.unwrap().status().as_u16());
    }
    assert_eq!(seen, [401, 401, 429, 429, 429]);
    let rows = fixture.wait_for_rows("account:sign_in", 2).await;
    assert_eq!(rows_of_limit(&rows, "rates"), [(String::new(), Some(1))], "{rows:?}");
    fixture.shut_down();
    let rows = fixture.rows("account:sign_in", "refused").await;
    assert_eq!(rows_of_limit(&rows, "rates"), [(String::new(), Some(1)), (String::new(), Some(2))], "{rows:?}");
    let of_rates = rows.iter().filter(|(_, about)| about["limit"] == "rates");
    assert!(of_rates.clone().count() == 2 && of_rates.clone().all(|(_, about)| about["address"] == "203.0.113.0/24"));
}

/// A user creates and deletes keys repeatedly.
#[tokio::test]
async fn api_key_changes_leave_a_bounded_number_of_rows() {
    let fixture = TestServer::start(&config(""));
    let ada = create_first_account(&fixture.server).await;
    let ask = |method, path: &str| fixture.server.request(method, path).header(COOKIE, &ada);
    let new = json!({ "name": "job", "scopes": ["endpoints"], "expiresInDays": 30 });
    let mut created = 0;
    let refused = loop {
        let made = ask(Method::POST, "/api/keys").json(&new).send().await.unwrap();
        if made.status().as_u16() != 201 {
            break made;
        }
        created += 1;
        assert!(created <= 101, "the number of keys is not limited");
        let id = made.json::<Value>().await.unwrap()["id"].as_str().unwrap().to_owned();
        assert_eq!(ask(Method::DELETE, &format!("/api/keys/{id}")).send().await.unwrap().status().as_u16(), 204);
    };
    assert_eq!(refused.status().as_u16(), 429);
    assert!(refused.headers()[RETRY_AFTER].to_str().unwrap().parse::<u64>().unwrap() > 60);
    assert_eq!(refused.json::<Value>().await.unwrap()["error"]["code"], "rate_limited");
    let page = [("name", "job"), ("days", "30"), ("endpoints", "on")];
    let page = form_request(&fixture.server, "/auth/keys", &page).header(COOKIE, &ada).send().await.unwrap();
    assert_eq!((page.status().as_u16(), page.headers().contains_key(RETRY_AFTER)), (429, true));
    let rows = fixture.wait_for_rows("account:add_key", 1).await;
    assert_eq!(rows_of_limit(&rows, "keys").len(), 1, "{rows:?}");
    assert_eq!(fixture.rows("account:add_key", "ok").await.len(), created);
    assert_eq!(fixture.rows("account:delete_key", "ok").await.len(), created);
}

/// The limit affects the audit rows only, not the sign-ins.
#[tokio::test]
async fn sign_ins_over_the_daily_limit_share_one_row() {
    let mut fixture = TestServer::start(&config(""));
    create_first_account(&fixture.server).await;
    const TIMES: usize = 110;
    for time in 0..TIMES {
        let cookie =
            session_cookie(&sign_in(&fixture.server, "ada", PASSWORD).await).unwrap_or_else(|| panic!("{time}"));
        let out = form_request(&fixture.server, "/auth/sign-out", &[]).header(COOKIE, cookie).send().await.unwrap();
        assert_eq!(out.status().as_u16(), 303);
    }
    fixture.shut_down();
    for tool in ["account:sign_in", "account:sign_out"] {
        let rows = fixture.rows(tool, "ok").await;
        let together: Vec<_> = rows.iter().filter_map(|(_, about)| about["times"].as_u64()).collect();
        // 200 rows are individual, so ten of each kind are not; one more may become available
        // meanwhile.
        assert!(together.len() == 1 && rows.len() - 1 <= 101, "{} rows of {tool}", rows.len());
        assert_eq!(rows.len() - 1 + together[0] as usize, TIMES, "{tool}");
    }
}
