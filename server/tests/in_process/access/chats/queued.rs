//! Messages that wait for the end of an answer: the server sends them for users who could send them themselves.

use crate::access::*;
use std::time::Duration;
use store::{AddUserOutcome, NewUser, Store, sql};

const CONFIG: &str = "
auth: { mode: password, publicUrls: ['https://a.test'] }
connections: [{ id: demo, type: Demo, properties: { delayMs: 0 } }]
agents: [{ id: helper, type: Agent, connectionId: demo, properties: { model: demo } }]
pages: [{ id: p, blocks: [{ id: chat, type: AgentChat, properties: { agentId: helper } }] }]
";

/// Users, each with the change of their account after their message was queued, and the reason why the message is not sent;
/// empty if it is sent.
const USERS: [(&str, &str, &str); 4] = [
    ("ada", "UPDATE users SET name = 'Ada' WHERE id = 'ada'", ""),
    (
        "bob",
        "UPDATE users SET must_change_password = 1 WHERE id = 'bob'",
        "Your password has to be replaced first. It is sent when you sign in and open this conversation.",
    ),
    ("cid", "UPDATE users SET disabled_at = 1 WHERE id = 'cid'", "Your account is disabled."),
    (
        "dan",
        "DELETE FROM api_keys WHERE user_id = 'dan'",
        "You are signed out. It is sent when you sign in and open this conversation.",
    ),
];

/// Sends a request with an API key, and reads the whole answer.
async fn call_with_key(routes: &Router, key: &str, spec: TestRequest) {
    let request = local_request(spec.method, &spec.path).header(header::AUTHORIZATION, format!("Bearer {key}"));
    let request = request.header(header::CONTENT_TYPE, "application/json").header(header::ACCEPT, "application/json");
    let body = spec.body.map_or_else(Body::empty, |body| Body::from(body.to_string()));
    let response = routes.clone().oneshot(request.body(body).unwrap()).await.unwrap();
    assert_eq!(response.status().as_u16(), 200, "{}", spec.path);
    to_bytes(response.into_body(), usize::MAX).await.unwrap();
}

/// Waits until a message was sent or refused; returns why it was refused.
async fn refusal(store: &Store, id: &str) -> String {
    for _ in 0..3_000 {
        let find = "SELECT coalesce(refusal, '') FROM queued_messages WHERE message_id = $1";
        let find = sql::query_scalar::<String>(find).bind(id);
        let found = store.read(move |db| Box::pin(async move { Ok(find.fetch_optional(db).await?) })).await.unwrap();
        match found {
            Some(waiting) if waiting.is_empty() => tokio::time::sleep(Duration::from_millis(20)).await,
            ended => return ended.unwrap_or_default(),
        }
    }
    panic!("{id} is neither sent nor refused");
}

#[tokio::test(flavor = "multi_thread")]
async fn queued_messages_are_sent_for_users_who_could_send_them() {
    let server = open(CONFIG).await;
    let (accounts, routes) = (server.accounts().unwrap(), server.routes());
    for (name, change, _) in USERS {
        let user = NewUser {
            id: name.to_owned(),
            name: name.to_owned(),
            name_key: name.to_owned(),
            password: String::new(),
            must_change_password: false,
            roles: Vec::new(),
            now: 0,
        };
        assert_eq!(accounts.store.add_user(user, false, None).await.unwrap(), AddUserOutcome::Done);
        let key = accounts.create_key(name, "key", &KeyScope::ALL, 1, None).await.unwrap().unwrap().key;
        let conversation = format!("c-{name}");
        call_with_key(&routes, &key, send("p", "helper", &conversation, "Hello")).await;
        let parts = json!([{ "type": "text", "text": "Hello again" }]);
        let body = json!({ "message": { "id": name, "role": "user", "parts": parts }, "pageId": "p" });
        let path = format!("/api/message-queues/{conversation}/{name}");
        call_with_key(&routes, &key, TestRequest { method: Method::PUT, path, body: Some(body) }).await;
        let change = sql::query(change);
        let write = server.store().write(move |db| Box::pin(async move { Ok(change.execute(db).await.map(drop)?) }));
        write.await.unwrap();
    }
    server.start_background_work();
    for (name, _, expected) in USERS {
        assert_eq!(refusal(server.store(), name).await, expected, "{name}");
        let messages = server.store().messages(name, &format!("c-{name}")).await.unwrap();
        assert_eq!(messages.iter().any(|message| message.id == name), expected.is_empty(), "{name}");
    }
}
