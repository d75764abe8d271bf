//! Voice: who gets the text of a recording and the audio of an answer, what is sent to the service, and what counts.

use crate::access::*;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::IntoResponse;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::time::sleep;

/// The start of a recording in WebM.
const RECORDING: &[u8] = b"\x1a\x45\xdf\xa3recording";

/// A service with the API of OpenAI, which keeps its requests.
#[derive(Clone, Default)]
struct SpeechStandIn {
    requests: Arc<Mutex<Vec<String>>>,
    /// The status of the next answers; `None` if they succeed.
    failure: Arc<Mutex<Option<u16>>>,
    /// How long each answer takes.
    delay: Arc<Mutex<Duration>>,
}

impl SpeechStandIn {
    /// Starts the service; returns its base URL.
    async fn start(&self) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let router = Router::new().fallback(answer).with_state(self.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        url
    }

    fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

async fn answer(State(service): State<SpeechStandIn>, request: Request<Body>) -> axum::response::Response {
    let (parts, body) = request.into_parts();
    let body = to_bytes(body, usize::MAX).await.unwrap();
    let key = parts.headers.get(header::AUTHORIZATION).map_or("no key", |key| key.to_str().unwrap());
    let text = String::from_utf8_lossy(&body);
    service.requests.lock().unwrap().push(format!("{} {key} {text}", parts.uri.path()));
    let delay = *service.delay.lock().unwrap();
    sleep(delay).await;
    let failure = *service.failure.lock().unwrap();
    if let Some(status) = failure {
        return (StatusCode::from_u16(status).unwrap(), "the secret of the service").into_response();
    }
    if parts.uri.path() == "/v1/audio/transcriptions" {
        return json!({ "text": "Hello there.", "usage": { "type": "duration", "seconds": 30 } })
            .to_string()
            .into_response();
    }
    let input = serde_json::from_slice::<Value>(&body).unwrap()["input"].as_str().unwrap().to_owned();
    format!("audio of {input}").into_response()
}

/// A server with voice, and its service.
struct VoiceServer {
    service: SpeechStandIn,
    routes: Router,
    ada: Caller,
}

impl VoiceServer {
    async fn new() -> Self {
        let service = SpeechStandIn::default();
        let url = service.start().await;
        let config = format!(
            "connections:
  - {{ id: demo, type: Demo, properties: {{ delayMs: 0 }} }}
  - {{ id: speech, type: OpenAICompatible, properties: {{ baseURL: '{url}', apiKey: {{ _secret: KEY }} }} }}
voice:
  transcription: {{ connectionId: speech, model: ears, language: de, maxSeconds: 5, costUsdPerMinute: 0.2 }}
  speech: {{ connectionId: speech, model: mouth, voice: alloy, costUsdPerMillionCharacters: 100 }}
limits: {{ quotas: [{{ users: [poor], per: day, costUsd: 0.15 }}] }}
prices: {{ demo: {{ input: 0, output: 0 }} }}
agents:
  - {{ id: helper, type: Agent, connectionId: demo, properties: {{ model: demo }}, auth: public }}
  - {{ id: team, type: Agent, connectionId: demo, properties: {{ model: demo }}, auth: {{ roles: [editor] }} }}
pages: [{{ id: p, auth: public, blocks: [{{ id: chat, type: AgentChat, properties: {{ agentId: helper }} }}] }}]
"
        );
        Self { service, routes: serve(&config).await, ada: caller(("ada", true, &[])) }
    }

    /// Sends a recording; returns the text, or the status and the message.
    async fn transcribe(&self, who: &Caller, query: &str, recording: &[u8]) -> String {
        let request = Request::post(format!("/api/transcriptions?{query}")).extension(who.clone());
        let request = request.body(Body::from(recording.to_vec())).unwrap();
        let (status, _, body) = self.call(request).await;
        let body: Value = serde_json::from_str(&body).unwrap();
        if status == 200 { body["text"].as_str().unwrap().to_owned() } else { said(status, &body) }
    }

    /// Sends a recording, and disconnects when the service has received it.
    async fn abandon(&self, who: &Caller) {
        let before = self.service.requests().len();
        let received = async {
            while self.service.requests().len() == before {
                sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::select! {
            said = self.transcribe(who, "agentId=helper", RECORDING) => panic!("{said}"),
            () = received => {}
        }
    }

    /// Asks for a part of an answer; returns the number of parts and the audio, or the status and the message.
    async fn speak(&self, who: &Caller, conversation: &str, message: &str, part: u32) -> String {
        let body = json!({ "messageId": message, "part": part }).to_string();
        let request = Request::post(format!("/api/conversations/{conversation}/speech")).extension(who.clone());
        let request = request.header(header::CONTENT_TYPE, "application/json").body(Body::from(body)).unwrap();
        let (status, parts, body) = self.call(request).await;
        if status == 200 { format!("{parts} {body}") } else { said(status, &serde_json::from_str(&body).unwrap()) }
    }

    async fn call(&self, request: Request<Body>) -> (u16, String, String) {
        let response = self.routes.clone().oneshot(request).await.unwrap();
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let parts = headers.get("speech-parts").map_or("", |parts| parts.to_str().unwrap());
        let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
        (status, parts.to_owned(), String::from_utf8(body.to_vec()).unwrap())
    }

    /// Sends a message in a conversation; returns the ids of the message and of its answer.
    async fn ask(&self, who: &Caller, conversation: &str) -> (String, String) {
        let (status, answer) = call_route(&self.routes, who, send("p", "helper", conversation, "Hello!")).await;
        assert_eq!(status, 200, "{answer}");
        let path = format!("/api/conversations/{conversation}");
        let (_, conversation) = call_route(&self.routes, who, get(path)).await;
        let conversation: Value = serde_json::from_str(&conversation).unwrap();
        let id = |number: usize| conversation["messages"][number]["id"].as_str().unwrap().to_owned();
        (id(0), id(1))
    }
}

fn said(status: u16, body: &Value) -> String {
    format!("{status} {}", body["error"]["message"].as_str().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn recording_is_written_down_for_who_may_use_the_agent() {
    let server = VoiceServer::new().await;
    assert_eq!(server.transcribe(&server.ada, "agentId=helper", RECORDING).await, "Hello there.");
    let sent = server.service.requests();
    let [sent] = sent.as_slice() else { panic!("{sent:?}") };
    assert!(sent.starts_with("/v1/audio/transcriptions Bearer k3y "), "{sent}");
    for part in [
        "name=\"model\"\r\n\r\nears\r\n",
        "name=\"language\"\r\n\r\nde\r\n",
        "filename=\"recording.webm\"\r\nContent-Type: audio/webm\r\n\r\n",
        "recording\r\n--",
    ] {
        assert!(sent.contains(part), "{part}: {sent}");
    }
    server.transcribe(&server.ada, "agentId=helper&language=fr", RECORDING).await;
    assert!(server.service.requests()[1].contains("name=\"language\"\r\n\r\nfr\r\n"));
    let check = async |who: &Caller, query: &str, recording: &[u8], expected: &str| {
        let refused = server.transcribe(who, query, recording).await;
        assert!(refused.starts_with(expected), "{query}: {refused}");
    };
    check(&server.ada, "agentId=team", RECORDING, "404").await;
    check(&caller(("nobody", false, &[])), "agentId=team", RECORDING, "401").await;
    check(&caller(("eve", true, &["editor"])), "agentId=team", RECORDING, "Hello there.").await;
    check(&server.ada, "agentId=nowhere", RECORDING, "404").await;
    check(&server.ada, "", RECORDING, "400").await;
    check(&server.ada, "agentId=helper&language=a%0Ab", RECORDING, "422 A language has").await;
    check(&server.ada, "agentId=helper", b"<html>", "422 This is no recording").await;
    let long = [RECORDING, &[0; 5 * (16 << 10)]].concat();
    check(&server.ada, "agentId=helper", &long, "413 The recording is too long: 5 seconds and 80 KB at most.").await;
    assert_eq!(server.service.requests().len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn answer_is_read_for_its_owner_only_and_paid_for_once() {
    let server = VoiceServer::new().await;
    let (question, answer) = server.ask(&server.ada, "c").await;
    let spoken = server.speak(&server.ada, "c", &answer, 0).await;
    let (count, audio) = spoken.split_once(' ').unwrap();
    assert!(count.parse::<u32>().unwrap() >= 1 && audio.starts_with("audio of "), "{spoken}");
    let sent = server.service.requests();
    assert!(sent[0].starts_with("/v1/audio/speech Bearer k3y {\"model\":\"mouth\",\"voice\":\"alloy\","), "{sent:?}");
    assert_eq!(server.speak(&server.ada, "c", &answer, 0).await, spoken);
    assert_eq!(server.service.requests().len(), 1);
    let check = async |who: &Caller, conversation: &str, message: &str, part: u32, expected: &str| {
        let refused = server.speak(who, conversation, message, part).await;
        assert!(refused.starts_with(expected), "{conversation} {message}: {refused}");
    };
    check(&caller(("eve", true, &[])), "c", &answer, 0, "404").await;
    check(&server.ada, "other", &answer, 0, "404").await;
    check(&server.ada, "c", "other", 0, "404").await;
    // Only answers are read: the endpoint reads no text of a caller.
    check(&server.ada, "c", &question, 0, "404").await;
    check(&server.ada, "c", &answer, 99, "422 This answer has no such part.").await;
    assert_eq!(server.service.requests().len(), 1);
}

/// The user learns what to do, and nothing of the service.
#[tokio::test(flavor = "multi_thread")]
async fn failures_of_the_service_are_told_without_its_words() {
    let server = VoiceServer::new().await;
    let (_, answer) = server.ask(&server.ada, "c").await;
    let away = "503 The speech service does not answer. Try again in a moment.";
    for (status, recording, reading) in [
        (500, away, away),
        (401, away, away),
        (
            400,
            "503 The speech service did not accept this recording. Record again, or shorter; if it stays so, ask an administrator.",
            "503 The speech service did not accept this answer. If it stays so, ask an administrator.",
        ),
    ] {
        *server.service.failure.lock().unwrap() = Some(status);
        for (said, expected) in [
            (server.transcribe(&server.ada, "agentId=helper", RECORDING).await, recording),
            (server.speak(&server.ada, "c", &answer, 0).await, reading),
        ] {
            assert!(said.starts_with(expected) && !said.contains("secret"), "{status}: {said}");
        }
    }
}

/// Half a minute costs 0.1 dollars, and the quota is 0.15.
#[tokio::test(flavor = "multi_thread")]
async fn cost_counts_in_quotas() {
    let server = VoiceServer::new().await;
    let poor = caller(("poor", true, &[]));
    for expected in ["Hello there.", "Hello there.", "429"] {
        let said = server.transcribe(&poor, "agentId=helper", RECORDING).await;
        assert!(said.starts_with(expected), "{expected}: {said}");
    }
    assert_eq!(server.service.requests().len(), 2);
}

/// The service may charge for a request whose client has disconnected.
#[tokio::test(flavor = "multi_thread")]
async fn abandoned_requests_count_in_quotas() {
    let server = VoiceServer::new().await;
    let poor = caller(("poor", true, &[]));
    *server.service.delay.lock().unwrap() = Duration::from_secs(2);
    server.abandon(&poor).await;
    server.abandon(&poor).await;
    sleep(Duration::from_secs(8)).await;
    let said = server.transcribe(&poor, "agentId=helper", RECORDING).await;
    assert!(said.starts_with("429"), "{said}");
    assert_eq!(server.service.requests().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_of_a_user_at_the_same_time_are_limited() {
    let server = VoiceServer::new().await;
    *server.service.delay.lock().unwrap() = Duration::from_secs(30);
    for _ in 0..4 {
        server.abandon(&server.ada).await;
    }
    let said = server.transcribe(&server.ada, "agentId=helper", RECORDING).await;
    assert!(said.starts_with("429 4 of your requests for speech are not done yet."), "{said}");
    assert_eq!(server.service.requests().len(), 4);
    *server.service.delay.lock().unwrap() = Duration::ZERO;
    let eve = caller(("eve", true, &[]));
    assert_eq!(server.transcribe(&eve, "agentId=helper", RECORDING).await, "Hello there.");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_voice_nothing_is_offered() {
    let config = "
connections: [{ id: demo, type: Demo, properties: { delayMs: 0 } }]
agents: [{ id: helper, type: Agent, connectionId: demo, properties: { model: demo }, auth: public }]
pages: [{ id: p, auth: public }]
";
    let server =
        VoiceServer { routes: serve(config).await, service: SpeechStandIn::default(), ada: caller(("ada", true, &[])) };
    let (_, answer) = server.ask(&server.ada, "c").await;
    for said in [
        server.transcribe(&server.ada, "agentId=helper", RECORDING).await,
        server.speak(&server.ada, "c", &answer, 0).await,
    ] {
        assert!(said.starts_with("422 This server has no speech service for this"), "{said}");
    }
}
