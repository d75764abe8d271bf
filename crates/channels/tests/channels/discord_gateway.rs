//! The Gateway of the stand-in of Discord.

use crate::discord::{APPLICATION, FakeDiscord, TOKEN};
use axum::extract::State;
use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade};
use axum::response::Response;
use serde_json::{Value, json};
use std::time::Duration;

/// `GET /gateway`
pub(crate) async fn socket(State(fake): State<FakeDiscord>, upgrade: WebSocketUpgrade) -> Response {
    upgrade.on_upgrade(move |socket| async move {
        let _ = serve(fake, socket).await;
    })
}

async fn receive(socket: &mut WebSocket) -> Option<Value> {
    loop {
        match socket.recv().await {
            Some(Ok(Message::Text(text))) => return serde_json::from_str(&text).ok(),
            None | Some(Err(_) | Ok(Message::Close(_))) => return None,
            _ => {}
        }
    }
}

async fn send(socket: &mut WebSocket, payload: Value) -> Result<(), axum::Error> {
    socket.send(Message::text(payload.to_string())).await
}

/// Begins a session, or goes on with one, and sends what happens.
async fn serve(fake: FakeDiscord, mut socket: WebSocket) -> Result<(), axum::Error> {
    send(&mut socket, json!({ "op": 10, "d": { "heartbeat_interval": 5_000 } })).await?;
    let Some(first) = receive(&mut socket).await else { return Ok(()) };
    if first["d"]["token"] != TOKEN {
        let frame = CloseFrame { code: 4004, reason: "Authentication failed.".into() };
        return socket.send(Message::Close(Some(frame))).await;
    }
    let (number, mut sent, ready) = {
        let mut guild = fake.guild();
        guild.connections += 1;
        match first["op"].as_u64().unwrap() {
            2 => {
                // Before the first session, nothing is lost, so that tests need not wait for it.
                let begin = if guild.sessions.is_empty() && guild.connections == 1 { 0 } else { guild.events.len() };
                let id = format!("S{}", guild.connections);
                guild.sessions.insert(id.clone(), begin);
                let url = format!("{}/gateway", guild.url.replace("http", "ws"));
                let ready =
                    json!({ "session_id": id, "resume_gateway_url": url, "application": { "id": APPLICATION } });
                (guild.connections, begin, Some(json!({ "op": 0, "t": "READY", "s": begin, "d": ready })))
            }
            6 => {
                let session = first["d"]["session_id"].as_str().unwrap();
                if !guild.sessions.contains_key(session) {
                    (guild.connections, usize::MAX, Some(json!({ "op": 9, "d": false })))
                } else {
                    guild.resumed += 1;
                    let after = usize::try_from(first["d"]["seq"].as_u64().unwrap()).unwrap();
                    (guild.connections, after, None)
                }
            }
            other => panic!("a first message with {other}"),
        }
    };
    if let Some(ready) = ready {
        send(&mut socket, ready).await?;
    }
    loop {
        let (new, is_ended) = {
            let guild = fake.guild();
            (guild.events.get(sent..).unwrap_or_default().to_vec(), number <= guild.ended)
        };
        if is_ended {
            return send(&mut socket, json!({ "op": 7, "d": null })).await;
        }
        for (kind, event) in new {
            sent += 1;
            send(&mut socket, json!({ "op": 0, "t": kind, "s": sent, "d": event })).await?;
        }
        match tokio::time::timeout(Duration::from_millis(20), receive(&mut socket)).await {
            Ok(Some(payload)) if payload["op"] == 1 => send(&mut socket, json!({ "op": 11 })).await?,
            Ok(None) => return Ok(()),
            _ => {}
        }
    }
}
