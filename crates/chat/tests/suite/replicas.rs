//! Two servers on one PostgreSQL database: a run of one server can be watched, stopped and answered
//! on the other, which also closes it if its server dies.

use agent::{Agent, RunSettings};
use chat::{AgentRequest, AgentSource, Caller, Chat, Frames, SendResponse};
use contract::testing::{Cue, RecordingTool, ScriptedModel, text_reply, tool_call_reply};
use contract::{Tool, ToolSpec};
use futures::StreamExt;
use futures::future::BoxFuture;
use serde_json::{Map, Value, json};
use sqlx::{Connection, PgConnection};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use store::Store;
use wire::api::{Answer, SendRequest, Submission};
use wire::{ErrorCode, UiMessage, UserError};

struct OneAgent(Arc<Agent>);

impl AgentSource for OneAgent {
    fn agent<'a>(&'a self, request: &'a AgentRequest<'a>) -> BoxFuture<'a, Result<Arc<Agent>, UserError>> {
        self.by_id(request.caller, request.agent_id)
    }

    fn by_id<'a>(&'a self, _: &'a Caller, _: &'a str) -> BoxFuture<'a, Result<Arc<Agent>, UserError>> {
        Box::pin(async move { Ok(self.0.clone()) })
    }
}

/// Starts a server on the database; also returns the effects of its tool.
async fn serve(url: &str, replies: Vec<Vec<Cue>>) -> (Chat, Arc<Mutex<Vec<Value>>>) {
    let spec = ToolSpec { needs_approval: true, ..ToolSpec::new("act", "", json!({ "type": "object" })) };
    let act = RecordingTool::new(spec, |input: Value, _| async move { Ok(json!({ "did": input })) });
    let effects = act.inputs();
    let agent = Agent {
        tools: vec![Arc::new(act) as Arc<dyn Tool>],
        settings: RunSettings { max_retries: 0, max_steps: 3, ..RunSettings::default() },
        ..Agent::new("helper", Arc::new(ScriptedModel::new(replies)))
    };
    let store = Store::open(url).await.unwrap();
    (Chat::open(store, Arc::new(OneAgent(Arc::new(agent))), 8).await.unwrap(), effects)
}

fn ada() -> Caller {
    Caller::signed_in("ada")
}

async fn send(chat: &Chat, submission: Submission) -> Result<SendResponse, UserError> {
    let request = SendRequest {
        page_id: "p".to_owned(),
        block_id: None,
        agent_id: "helper".to_owned(),
        conversation_id: "c".to_owned(),
        submission,
        shared_state: Map::new(),
        url_query: Map::new(),
        switches: Map::new(),
        options: Default::default(),
    };
    chat.send(&ada(), request).await
}

fn message(id: &str) -> Submission {
    Submission::Message { message: UiMessage::user(id, "hi"), replaces: None, history: Vec::new() }
}

async fn text(frames: Frames) -> String {
    let all = tokio::time::timeout(Duration::from_secs(60), frames.collect::<Vec<_>>()).await.expect("the stream ends");
    String::from_utf8(all.concat()).unwrap()
}

async fn watch(chat: &Chat, after: Option<&str>) -> Frames {
    chat.watch(&ada(), "c", after).await.unwrap().expect("a run is active")
}

async fn last_answer(chat: &Chat) -> (String, Value) {
    let view = chat.conversation(&ada(), "c").await.unwrap();
    let last = view.messages.last().unwrap();
    (last.text(), last.metadata.clone().unwrap()["outcome"].clone())
}

/// An answer of this many words, one every 60 ms.
fn slow(words: usize) -> Vec<Cue> {
    let words: String = (0..words).map(|number| format!("w{number} ")).collect();
    text_reply(&words).into_iter().flat_map(|cue| [Cue::Pause(Duration::from_millis(60)), cue]).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn run_can_be_watched_on_the_other_server() {
    let Some(url) = test_postgres::new_database().await else { return };
    let (a, _) = serve(&url, vec![slow(40)]).await;
    let (b, _) = serve(&url, vec![]).await;
    let sent = send(&a, message("m1")).await.unwrap();
    let from_start = watch(&b, None).await;
    let written = async {
        while !b.conversation(&ada(), "c").await.unwrap().messages.last().unwrap().text().starts_with("w0 w1") {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), written).await.expect("the other server sees the text");
    // The same submission on the other server joins the same run.
    let joined = send(&b, message("m1")).await.unwrap();
    assert_eq!((&joined.run_id, &joined.message_id), (&sent.run_id, &sent.message_id));
    assert_eq!(send(&b, message("m2")).await.err().unwrap().code, ErrorCode::Busy);
    let view = b.conversation(&ada(), "c").await.unwrap();
    assert_eq!(view.active.unwrap().run_id, sent.run_id);
    assert!(view.messages[1].text().starts_with("w0 w1"), "what was written is there: {:?}", view.messages[1]);
    let from_middle = watch(&b, Some("1.4")).await;
    let other_epoch = watch(&b, Some("9.4")).await;
    let (sent, from_start, joined, from_middle, other_epoch) =
        futures::join!(text(sent.frames), text(from_start), text(joined.frames), text(from_middle), text(other_epoch));
    assert!(sent.contains("w39 ") && sent.contains("\"finish\"") && sent.ends_with("[DONE]\n\n"), "{sent}");
    assert_eq!(from_start, sent, "event for event the same, to the end");
    assert_eq!(joined, sent);
    assert_eq!(from_middle, sent[sent.find("id: 1.5\n").unwrap()..]);
    assert!(other_epoch.contains("data-gap"), "{other_epoch}");
    assert_eq!(last_answer(&b).await.1, "done");
    assert!(b.watch(&ada(), "c", None).await.unwrap().is_none());
}

/// Cuts the connection for notifications between servers whenever it is open, until told to stop;
/// returns how often.
async fn cut_listeners(url: &str, mut until: tokio::sync::oneshot::Receiver<()>) -> i64 {
    const CUT: &str = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
        WHERE datname = current_database() AND query LIKE 'LISTEN %'";
    let mut outsider = PgConnection::connect(url).await.unwrap();
    let mut cut = 0;
    while until.try_recv().is_err() {
        cut += sqlx::query_scalar::<_, i64>(CUT).fetch_one(&mut outsider).await.unwrap();
        tokio::time::sleep(Duration::from_millis(30)).await;
    }
    cut
}

/// A server that receives no notifications polls, and misses nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lost_notifications_are_compensated_by_polling() {
    let Some(url) = test_postgres::new_database().await else { return };
    let (a, _) = serve(&url, vec![slow(60), slow(4_000), slow(4_000)]).await;
    let (b, _) = serve(&url, vec![]).await;
    let (stop, stopped) = tokio::sync::oneshot::channel();
    let cutting = tokio::spawn({
        let url = url.clone();
        async move { cut_listeners(&url, stopped).await }
    });
    let sent = send(&a, message("m1")).await.unwrap();
    let watched = watch(&b, None).await;
    let (sent, watched) = futures::join!(text(sent.frames), text(watched));
    assert!(sent.contains("w59 ") && sent.ends_with("[DONE]\n\n"), "{sent}");
    assert_eq!(watched, sent, "event for event the same, to the end");
    // A stop request is found, too.
    let sent = send(&a, message("m2")).await.unwrap();
    b.stop(&ada(), "c").await.unwrap();
    text(sent.frames).await;
    assert_eq!(last_answer(&b).await.1, "stopped");
    stop.send(()).unwrap();
    let cut = cutting.await.unwrap();
    assert!(cut > 5, "{cut} connections were cut");

    // Once the connection stays open, notifications arrive again.
    tokio::time::sleep(Duration::from_secs(3)).await;
    let sent = send(&a, message("m3")).await.unwrap();
    tokio::time::sleep(Duration::from_millis(300)).await;
    b.stop(&ada(), "c").await.unwrap();
    // Without the stop, it would run for four minutes.
    text(sent.frames).await;
    assert_eq!(last_answer(&b).await.1, "stopped");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn run_can_be_stopped_on_the_other_server() {
    let Some(url) = test_postgres::new_database().await else { return };
    let (a, _) = serve(&url, vec![slow(4_000)]).await;
    let (b, _) = serve(&url, vec![]).await;
    let sent = send(&a, message("m1")).await.unwrap();
    tokio::time::sleep(Duration::from_millis(300)).await;
    b.stop_if_active(&ada(), "c", "another").await.unwrap();
    b.stop_if_active(&ada(), "c", &sent.run_id).await.unwrap();
    // Without the stop, it would run for four minutes.
    text(sent.frames).await;
    assert_eq!(last_answer(&b).await.1, "stopped");
    b.stop(&ada(), "c").await.unwrap();
}

/// An approval request of one server is answered on the other. Of many answers at once on both
/// servers, one counts and the tool runs once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn approval_can_be_answered_on_the_other_server() {
    let Some(url) = test_postgres::new_database().await else { return };
    let replies = || vec![tool_call_reply(&[("a", "act", r#"{"n":1}"#)]), text_reply("done"), text_reply("done")];
    let ((a, acted), (b, acted_b)) =
        (serve(&url, replies()).await, serve(&url, vec![text_reply("done"), text_reply("done")]).await);
    text(send(&a, message("m1")).await.unwrap().frames).await;
    assert_eq!(last_answer(&b).await.1, "waiting");
    let yes = || Submission::Answers {
        answers: vec![Answer::Approval {
            tool_call_id: "a".to_owned(),
            approval_id: None,
            approved: true,
            input_hash: None,
            reason: None,
            input: None,
            remember: None,
        }],
    };
    let answers = (0..8).map(|number| send(if number % 2 == 0 { &b } else { &a }, yes()));
    let mut taken = 0;
    for sent in futures::future::join_all(answers).await.into_iter().flatten() {
        text(sent.frames).await;
        taken += 1;
    }
    assert_eq!(taken, 1, "one answer counts");
    assert_eq!(acted.lock().unwrap().len() + acted_b.lock().unwrap().len(), 1, "the tool ran once");
    assert_eq!(last_answer(&a).await.1, "done");
}

/// A client that watched on the dead server continues on the other one, which closes the run.
#[test]
fn run_of_a_dead_server_is_closed_by_the_other() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let Some(url) = runtime.block_on(test_postgres::new_database()) else { return };
    let dying = tokio::runtime::Runtime::new().unwrap();
    let begun = dying.block_on(async {
        let (a, _) = serve(&url, vec![slow(400)]).await;
        let sent = send(&a, message("m1")).await.unwrap();
        let begun: Vec<_> = sent.frames.take(6).collect().await;
        tokio::time::sleep(Duration::from_millis(300)).await;
        begun
    });
    // Ends all tasks of the server abruptly.
    dying.shutdown_background();
    assert!(!begun.is_empty());
    runtime.block_on(async {
        let (b, _) = serve(&url, vec![text_reply("and the rest")]).await;
        let watched = text(watch(&b, Some("1.3")).await);
        tokio::time::sleep(Duration::from_millis(300)).await;
        // Simulates the expiry of the lease.
        let dead = "UPDATE replicas SET alive_until = 0 WHERE id = (SELECT replica FROM runs WHERE status = 'running')";
        test_postgres::execute(&url, dead).await;
        let watched = watched.await;
        assert!(watched.starts_with("id: 1.4\n") && watched.contains("data-gap"), "{watched}");
        let (text_so_far, outcome) = last_answer(&b).await;
        assert!(text_so_far.starts_with("w0 ") && outcome == "interrupted", "{text_so_far:?} {outcome}");
        text(send(&b, Submission::Continue).await.unwrap().frames).await;
        let (whole, outcome) = last_answer(&b).await;
        assert_eq!((whole, outcome), (format!("{text_so_far}\n\nand the rest"), json!("done")));
    });
}
