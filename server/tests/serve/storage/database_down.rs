//! A config whose PostgreSQL cannot be reached, and whose password must not be shown.

use crate::process::Server;
use reqwest::Method;
use serde_json::json;
use std::fs::{self, File};
use std::net::TcpListener;
use tempfile::TempDir;

const PASSWORD: &str = "s3cret-of-the-shop";

#[tokio::test]
async fn server_starts_without_its_database_and_hides_the_password() {
    let folder = TempDir::new().unwrap();
    // The listener is closed, so connections are refused.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let text = format!(
        r#"
connections:
  - {{ id: shop, type: Sql, properties: {{ url: "postgres://ada:{PASSWORD}@127.0.0.1:{port}/shop", init: "create table a (b int)" }} }}
api:
  - {{ id: list, routine: [{{ id: a, type: SqlQuery, connectionId: shop, properties: {{ query: "select 1 as n" }} }}, {{ ":return": {{ _step: a }} }}] }}
  - {{ id: told, routine: [{{ ":try": [{{ id: a, type: SqlQuery, connectionId: shop, properties: {{ query: "select 1 as n" }} }}], ":catch": {{ ":return": {{ _error: true }} }} }}] }}
pages:
  - {{ id: p, blocks: [{{ id: t, type: TextInput }}] }}
"#
    );
    let config = folder.path().join("chatwright.yaml");
    fs::write(&config, text).unwrap();
    let log = folder.path().join("log");
    let server = Server::start_logging(&["--config", config.to_str().unwrap()], File::create(&log).unwrap());
    let ask = async |endpoint: &str| {
        let request = server.request(Method::POST, &format!("/api/endpoints/p/{endpoint}")).json(&json!({}));
        request.send().await.unwrap().text().await.unwrap()
    };
    let (failed, caught) = tokio::join!(ask("list"), ask("told"));
    assert!(failed.contains("This could not be done right now. Try again."), "{failed}");
    assert_eq!(caught, r#"{"message":"the database cannot be reached; try again later","step":"a"}"#);
    let log = fs::read_to_string(&log).unwrap();
    // The operator sees the cause.
    assert!(log.contains("Connection refused"), "{log}");
    assert!(!log.contains(PASSWORD), "{log}");
}
