//! Push notifications: clients are notified of the states of their tasks.

use super::{call, config, message, result, start};
use crate::process::Server;
use crate::provider::start_provider;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use axum::{Json, Router};
use serde_json::{Value, json};
use sqlx::{Connection, SqliteConnection};
use std::fs;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tempfile::TempDir;
use tokio::net::TcpListener;

const KEY: (&str, &str) = ("PUSH_KEY", "a key of the tests, with more than 32 characters");
const SECTION: &str = "a2a: { agents: [helper], pushNotifications: { keys: [PUSH_KEY], allowPrivate: true } }";

/// A notification: the token, the credentials, and the state of the task.
type Told = (String, String, String);

/// A client that takes notifications, or answers with a status.
#[derive(Clone, Default)]
struct Receiver {
    told: Arc<Mutex<Vec<Told>>>,
    status: Arc<Mutex<Option<StatusCode>>>,
}

impl Receiver {
    /// Starts it; returns its address as well.
    async fn start() -> (Self, String) {
        let receiver = Self::default();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}/told", listener.local_addr().unwrap());
        let routes = Router::new().route("/told", post(take)).with_state(receiver.clone());
        tokio::spawn(async move { axum::serve(listener, routes).await });
        (receiver, address)
    }

    fn told(&self) -> Vec<Told> {
        self.told.lock().unwrap().clone()
    }

    /// Waits until the client was told so often.
    async fn until(&self, times: usize) -> Vec<Told> {
        for _ in 0..3_000 {
            let told = self.told();
            if told.len() >= times {
                return told;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("{:?}", self.told());
    }

    /// Takes all notifications from now on, and forgets the refused ones.
    fn take_all(&self) {
        let mut told = self.told.lock().unwrap();
        told.clear();
        *self.status.lock().unwrap() = None;
    }
}

/// Waits until the server has nothing more to send.
async fn until_all_is_sent(server: &Server) {
    let mut database = SqliteConnection::connect(&server.database).await.unwrap();
    for _ in 0..3_000 {
        let left = sqlx::query_scalar::<_, i64>(
            "SELECT (SELECT count(*) FROM a2a_push_configs WHERE is_open = 1)
                + (SELECT count(*) FROM jobs WHERE kind = 'a2a.push' AND ended_at IS NULL)",
        );
        if left.fetch_one(&mut database).await.unwrap() == 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("there is still something to send");
}

async fn take(State(receiver): State<Receiver>, headers: HeaderMap, Json(body): Json<Value>) -> StatusCode {
    let header = |name: &str| headers.get(name).map(|value| value.to_str().unwrap().to_owned()).unwrap_or_default();
    let state = body["task"]["status"]["state"].as_str().unwrap_or_default().to_owned();
    let told = (header("x-a2a-notification-token"), header("authorization"), state);
    // Held until the status is known, so that `take_all` comes before or after both.
    let mut all = receiver.told.lock().unwrap();
    all.push(told);
    receiver.status.lock().unwrap().unwrap_or(StatusCode::NO_CONTENT)
}

fn told(token: &str, credentials: &str, state: &str) -> Told {
    (token.to_owned(), credentials.to_owned(), format!("TASK_STATE_{state}"))
}

async fn serve(arguments: &[&str]) -> (Server, TempDir) {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("chatwright.yaml"), config(&start_provider().await, SECTION)).unwrap();
    let arguments = [&["--config", folder.path().to_str().unwrap()], arguments].concat();
    (Server::start_with_env(&[KEY], &arguments), folder)
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_are_notified_of_the_states_of_their_tasks() {
    let (server, _folder) = serve(&[]).await;
    let (receiver, url) = Receiver::start().await;
    let mut sent = message("m1", "send {}");
    let authentication = json!({ "scheme": "Bearer", "credentials": "credentials-canary" });
    sent["configuration"] = json!({
        "taskPushNotificationConfig": { "url": url, "token": "token-1", "authentication": authentication },
    });
    let task = result(call(&server, "SendMessage", &sent)).await["task"].take();
    let id = task["id"].as_str().unwrap();
    let waits = told("token-1", "Bearer credentials-canary", "INPUT_REQUIRED");
    assert_eq!(receiver.until(1).await, std::slice::from_ref(&waits));

    // A second address is notified of the current state at once. Credentials are not returned.
    let second = json!({ "taskId": id, "id": "second", "url": url, "token": "token-2" });
    let made = result(call(&server, "CreateTaskPushNotificationConfig", &second)).await;
    assert_eq!(made, second);
    let listed = result(call(&server, "ListTaskPushNotificationConfigs", &json!({ "taskId": id }))).await;
    let scheme = json!({ "scheme": "Bearer" });
    assert_eq!(listed["configs"][0]["authentication"], scheme, "{listed}");
    let got = json!({ "taskId": id, "id": "second" });
    assert_eq!(result(call(&server, "GetTaskPushNotificationConfig", &got)).await, second);
    assert_eq!(receiver.until(2).await[1], told("token-2", "", "INPUT_REQUIRED"));

    // A deleted config gets no more notifications.
    result(call(&server, "DeleteTaskPushNotificationConfig", &got)).await;
    let gone = result(call(&server, "GetTaskPushNotificationConfig", &got)).await;
    assert_eq!(gone["code"], -32001, "{gone}");
    let mut yes = message("m2", "yes");
    yes["message"]["taskId"] = json!(id);
    result(call(&server, "SendMessage", &yes)).await;
    let all = receiver.until(3).await;
    assert_eq!(all[2], told("token-1", "Bearer credentials-canary", "COMPLETED"));
    until_all_is_sent(&server).await;
    assert_eq!(receiver.told().len(), 3);

    // In the database, nothing of it can be read.
    let database = fs::read(server.database.strip_prefix("sqlite://").unwrap_or(&server.database)).unwrap_or_default();
    let is_there = database.windows(18).any(|window| window == b"credentials-canary");
    assert!(!is_there);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_notification_is_sent_by_the_next_server_if_one_is_killed() {
    let (server, folder) = serve(&[]).await;
    let (receiver, url) = Receiver::start().await;
    *receiver.status.lock().unwrap() = Some(StatusCode::SERVICE_UNAVAILABLE);
    let mut sent = message("m1", "say hello");
    sent["configuration"] = json!({ "taskPushNotificationConfig": { "url": url } });
    result(call(&server, "SendMessage", &sent)).await;
    receiver.until(1).await;
    let killed = server.stop();
    let arguments = ["--database", &killed.database, "--config", folder.path().to_str().unwrap()];
    let server = Server::start_with_env(&[KEY], &arguments);
    // Only now, because the killed server may have sent another notification that arrives after its end.
    receiver.take_all();
    assert_eq!(receiver.until(1).await, [told("", "", "COMPLETED")]);
    until_all_is_sent(&server).await;
    assert_eq!(receiver.told().len(), 1, "a client that has taken it is not told again");
}

#[tokio::test(flavor = "multi_thread")]
async fn only_addresses_that_can_be_used_are_taken_and_a_task_has_ten() {
    let (server, _folder) = serve(&[]).await;
    let task = result(call(&server, "SendMessage", &message("m1", "say hello"))).await["task"].take();
    let id = task["id"].as_str().unwrap();
    let create = async |id: &str, more: Value| {
        let mut wanted = json!({ "taskId": id, "url": "https://client.test/" });
        wanted.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let made = result(call(&server, "CreateTaskPushNotificationConfig", &wanted)).await;
        made["code"].as_i64().unwrap_or_default()
    };
    for url in ["ftp://client.test/", "client.test", "https://user:secret@client.test/", "https://", "data:,x"] {
        assert_eq!(create(id, json!({ "url": url })).await, -32602, "{url}");
    }
    assert_eq!(create(id, json!({ "id": "a b" })).await, -32602);
    assert_eq!(create(id, json!({ "token": "a\nb" })).await, -32602);
    assert_eq!(create(id, json!({ "authentication": { "scheme": "Bearer x" } })).await, -32602);
    assert_eq!(create("nothing", json!({})).await, -32001);
    for number in 0..10 {
        assert_eq!(create(id, json!({ "id": format!("c{number}") })).await, 0);
    }
    assert_eq!(create(id, json!({ "id": "c10" })).await, -32004);
    assert_eq!(create(id, json!({ "id": "c9", "url": "https://other.test/" })).await, 0, "one can be replaced");

    // Without the key of the config, there are none.
    let (server, _folder) = start(&config(&start_provider().await, "a2a: {}"), &[]);
    let wanted = json!({ "taskId": "t", "url": "https://client.test/" });
    let refused = result(call(&server, "CreateTaskPushNotificationConfig", &wanted)).await;
    assert_eq!(refused["code"], -32003, "{refused}");
}
