//! Kills the server at its calls of a messenger, after the call has had its effect and before its response: the
//! next server gives exactly one answer.

use crate::discord::FakeDiscord;
use crate::email::MailServer;
use crate::feishu::FakeFeishu;
use crate::feishu_events::Delivery;
use crate::server::TestServer;
use crate::slack::FakeSlack;
use crate::telegram::FakeTelegram;
use contract::testing::text_reply;
use futures::future::join_all;
use std::process::{Child, Stdio};
use std::time::Duration;
use store::sql;

const PLACE: &str = "CHANNELS_KILL";

/// The process to kill: a server on the database and the messenger that the variable names.
#[tokio::test]
#[ignore = "run by the test below"]
async fn victim() {
    let place = std::env::var(PLACE).unwrap();
    let (database, bot) = place.split_once(' ').unwrap();
    let _server = TestServer::start(database, bot, (0..9).map(|_| text_reply("It is 42.")).collect()).await;
    std::future::pending::<()>().await;
}

struct Victim(Child);

impl Victim {
    fn start(place: &str) -> Self {
        let mut command = test_process::command("kill::victim", PLACE, place);
        Self(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// Kills a server at each call, on a database of its own; returns how many calls there are. Several are killed at once:
/// most of the time, they wait because a messenger takes about one message a second.
async fn at_each_call(was_reached: impl AsyncFn(String, usize) -> bool) -> usize {
    const AT_ONCE: usize = 3;
    for before in (0..12).step_by(AT_ONCE) {
        let calls: Vec<_> = (before + 1..=before + AT_ONCE).collect();
        let reached = at_calls(&calls, &was_reached).await;
        if reached < AT_ONCE {
            return before + reached;
        }
    }
    panic!("the answer has few calls");
}

/// Kills a server at these calls at once, each on a database of its own; returns how many of them there are. The second
/// call is tried with PostgreSQL if it is there.
async fn at_calls(calls: &[usize], was_reached: impl AsyncFn(String, usize) -> bool) -> usize {
    let folder = tempfile::tempdir().unwrap();
    let mut kills = Vec::new();
    for &call in calls {
        let postgres = if call == 2 { test_postgres::new_database().await } else { None };
        let file = || format!("sqlite://{}", folder.path().join(format!("{call}.db")).display());
        kills.push(was_reached(postgres.unwrap_or_else(file), call));
    }
    join_all(kills).await.into_iter().filter(|was_reached| *was_reached).count()
}

/// Kills the server at a call of the answer in Telegram, counted from 1. Returns false if there are not so many.
async fn check(database: &str, call: usize) -> bool {
    let (telegram, url) = FakeTelegram::start().await;
    let bot = FakeTelegram::connection(&url);
    let server = TestServer::start(database, &bot, Vec::new()).await;
    server.add_user("ada", "support").await;
    telegram.link(7, &server.code("ada").await).await;
    server.shutdown().await;
    let place = format!("{database} {bot}");
    let before = telegram.calls().len();
    // The calls with which each server begins are not counted.
    telegram.be_silent_from(Some(before + 2 + call));
    telegram.write(7, 7, "What is it?");
    let first = Victim::start(&place);
    let is_complete = |fake: &FakeTelegram| fake.texts(7).iter().any(|text| text.contains("It is 42."));
    telegram.until("the call", |fake| fake.calls().len() >= before + 2 + call || is_complete(fake)).await;
    let was_reached = telegram.calls().len() >= before + 2 + call;
    let reached = telegram.calls().get(before + 1 + call).cloned();
    drop(first);
    telegram.be_silent_from(None);
    let second = Victim::start(&place);
    let is_answer = |text: &String| text.contains("It is 42") || text.contains("cut off");
    telegram.until("the answer", |fake| fake.texts(7).iter().any(is_answer)).await;
    // The reply to the next message shows that no second answer follows.
    telegram.write(7, 7, "/status");
    telegram.until_text(7, "You write as ada").await;
    let texts = telegram.texts(7);
    drop(second);
    let answers: Vec<_> = texts.iter().filter(|text| is_answer(text)).collect();
    assert_eq!(answers.len(), 1, "killed at call {call}, {reached:?}: {texts:?}");
    let placeholders = texts.iter().filter(|text| *text == "…").count();
    let expected = usize::from(reached.as_deref() == Some("sendMessage"));
    assert!(placeholders <= expected, "killed at call {call}, {reached:?}: {texts:?}");
    was_reached
}

/// The same in Slack. The calls with which a server begins are `auth.test` and `apps.connections.open`.
async fn check_slack(database: &str, call: usize) -> bool {
    let (slack, url) = FakeSlack::start().await;
    let bot = FakeSlack::connection(&url);
    let server = TestServer::start(database, &bot, Vec::new()).await;
    server.add_user("ada", "support").await;
    slack.link("U7", &server.code("ada").await).await;
    server.shutdown().await;
    let place = format!("{database} {bot}");
    let silent = slack.calls().len() + 2 + call;
    slack.be_silent_from(Some(silent));
    slack.write("U7", "D7", "What is it?");
    let first = Victim::start(&place);
    let is_complete = |fake: &FakeSlack| fake.texts("D7").iter().any(|text| text.contains("It is 42."));
    slack.until("the call", |fake| fake.calls().len() >= silent || is_complete(fake)).await;
    let was_reached = slack.calls().len() >= silent;
    let reached = slack.calls().get(silent - 1).cloned();
    drop(first);
    slack.be_silent_from(None);
    let second = Victim::start(&place);
    let is_answer = |text: &String| text.contains("It is 42") || text.contains("cut off");
    slack.until("the answer", |fake| fake.texts("D7").iter().any(is_answer)).await;
    slack.write("U7", "D7", "!status");
    slack.until_text("D7", "You write as ada").await;
    let texts = slack.texts("D7");
    drop(second);
    let answers: Vec<_> = texts.iter().filter(|text| is_answer(text)).collect();
    assert_eq!(answers.len(), 1, "killed at call {call}, {reached:?}: {texts:?}");
    let placeholders = texts.iter().filter(|text| *text == "…").count();
    let expected = usize::from(reached.as_deref() == Some("chat.postMessage"));
    assert!(placeholders <= expected, "killed at call {call}, {reached:?}: {texts:?}");
    was_reached
}

/// Returns where reading the messages goes on.
async fn position(server: &TestServer) -> String {
    let find = sql::query_scalar::<Option<String>>("SELECT position FROM channel_bots");
    let found = server.store.read(move |db| Box::pin(async move { Ok(find.fetch_optional(db).await?) })).await;
    found.unwrap().flatten().unwrap_or_default()
}

/// The same in Discord, with an answer to a message or to a command. The events that the first server has not handled
/// are sent to the second one, which resumes its session. Discord knows a message that is sent again, so no placeholder
/// is left.
async fn check_discord(database: &str, call: usize, is_command: bool) -> bool {
    const CHAT: u64 = 907;
    let (discord, url) = FakeDiscord::start().await;
    let bot = FakeDiscord::connection(&url);
    let server = TestServer::start(database, &bot, Vec::new()).await;
    server.add_user("ada", "support").await;
    discord.link(7, &server.code("ada").await).await;
    // The code and the pressed button: where the session goes on is stored behind them.
    while !position(&server).await.contains(r#""sequence":2"#) {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    server.shutdown().await;
    let place = format!("{database} {bot}");
    // The call with which a server begins, as its session goes on: the account.
    let silent = discord.calls().len() + 1 + call;
    discord.be_silent_from(Some(silent));
    if is_command {
        discord.command(7, CHAT, "help", None);
    } else {
        discord.write(7, CHAT, "What is it?");
    }
    let is_answer = |text: &String| ["It is 42", "cut off", "Stop the answer"].iter().any(|part| text.contains(part));
    let first = Victim::start(&place);
    let is_complete =
        |fake: &FakeDiscord| fake.texts(CHAT).iter().any(|text| text.contains("It is 42") || is_answer(text));
    discord.until("the call", |fake| fake.calls().len() >= silent || is_complete(fake)).await;
    let was_reached = discord.calls().len() >= silent;
    let reached = discord.calls().get(silent - 1).cloned();
    drop(first);
    discord.be_silent_from(None);
    let second = Victim::start(&place);
    discord.until("the answer", |fake| fake.texts(CHAT).iter().any(is_answer)).await;
    discord.write(7, CHAT, "!status");
    discord.until_text(CHAT, "You write as ada").await;
    let texts = discord.texts(CHAT);
    drop(second);
    let answers: Vec<_> = texts.iter().filter(|text| is_answer(text)).collect();
    assert_eq!(answers.len(), 1, "killed at call {call}, {reached:?}: {texts:?}");
    assert!(!texts.contains(&"…".to_owned()), "killed at call {call}, {reached:?}: {texts:?}");
    assert_eq!(discord.calls().iter().filter(|call| *call == "gateway").count(), 1, "the session goes on");
    was_reached
}

/// The same in Feishu, whose events come over HTTP: a server stores one, and ends before it handles it. Feishu knows a
/// message that is sent again, so no placeholder is left.
async fn check_feishu(database: &str, call: usize) -> bool {
    let (feishu, url) = FakeFeishu::start().await;
    let bot = FakeFeishu::connection(&url);
    let server = TestServer::start(database, &bot, Vec::new()).await;
    server.add_user("ada", "support").await;
    feishu.link(&server, "ou_7", &server.code("ada").await).await;
    server.end_jobs(Duration::from_secs(5)).await;
    Delivery { fake: &feishu, server: &server }.write("ou_7", "ou_7", "What is it?").await;
    server.shutdown().await;
    let silent = feishu.calls().len() + call;
    feishu.be_silent_from(Some(silent));
    let first = Victim::start(&format!("{database} {bot}"));
    let is_complete = |fake: &FakeFeishu| fake.texts("ou_7").iter().any(|text| text.contains("It is 42."));
    feishu.until("the call", |fake| fake.calls().len() >= silent || is_complete(fake)).await;
    let was_reached = feishu.calls().len() >= silent;
    let reached = feishu.calls().get(silent - 1).cloned();
    drop(first);
    feishu.be_silent_from(None);
    let second = TestServer::start(database, &bot, (0..9).map(|_| text_reply("It is 42.")).collect()).await;
    let is_answer = |text: &String| text.contains("It is 42") || text.contains("cut off");
    feishu.until("the answer", |fake| fake.texts("ou_7").iter().any(is_answer)).await;
    Delivery { fake: &feishu, server: &second }.write("ou_7", "ou_7", "/status").await;
    feishu.until_text("ou_7", "You write as ada").await;
    let texts = feishu.texts("ou_7");
    second.shutdown().await;
    let answers: Vec<_> = texts.iter().filter(|text| is_answer(text)).collect();
    assert_eq!(answers.len(), 1, "killed at call {call}, {reached:?}: {texts:?}");
    assert!(!texts.contains(&"…".to_owned()), "killed at call {call}, {reached:?}: {texts:?}");
    was_reached
}

#[tokio::test]
async fn there_is_exactly_one_answer_whenever_the_server_is_killed() {
    let calls = at_calls(&[1, 2, 3], async |database, call| check(&database, call).await).await;
    assert!(calls >= 2, "the placeholder and the answer are calls");
}

#[tokio::test]
#[ignore = "thorough: takes minutes; run by cargo xtask test --thorough"]
async fn there_is_exactly_one_answer_at_each_call_thoroughly() {
    let calls = at_each_call(async |database, call| check(&database, call).await).await;
    assert!(calls >= 2, "the placeholder and the answer are calls");
}

#[tokio::test]
async fn there_is_exactly_one_answer_in_slack_whenever_the_server_is_killed() {
    let calls = at_calls(&[1, 2, 3], async |database, call| check_slack(&database, call).await).await;
    assert!(calls >= 2, "the placeholder and the answer are calls");
}

#[tokio::test]
#[ignore = "thorough: takes minutes; run by cargo xtask test --thorough"]
async fn there_is_exactly_one_answer_in_slack_at_each_call_thoroughly() {
    let calls = at_each_call(async |database, call| check_slack(&database, call).await).await;
    assert!(calls >= 2, "the placeholder and the answer are calls");
}

#[tokio::test]
async fn there_is_exactly_one_answer_in_discord_whenever_the_server_is_killed() {
    for (is_command, kills) in [(false, &[1, 2, 3][..]), (true, &[1][..])] {
        let calls = at_calls(kills, async |database, call| check_discord(&database, call, is_command).await).await;
        assert!(calls >= 1 && (calls >= 2 || is_command), "the placeholder and the answer are calls");
    }
}

#[tokio::test]
#[ignore = "thorough: takes minutes; run by cargo xtask test --thorough"]
async fn there_is_exactly_one_answer_in_discord_at_each_call_thoroughly() {
    for is_command in [false, true] {
        let calls = at_each_call(async |database, call| check_discord(&database, call, is_command).await).await;
        assert!(calls >= 1 && (calls >= 2 || is_command), "the placeholder and the answer are calls");
    }
}

#[tokio::test]
async fn there_is_exactly_one_answer_in_feishu_whenever_the_server_is_killed() {
    let calls = at_calls(&[1, 2, 3], async |database, call| check_feishu(&database, call).await).await;
    assert!(calls >= 2, "the placeholder and the answer are calls");
}

#[tokio::test]
#[ignore = "thorough: takes minutes; run by cargo xtask test --thorough"]
async fn there_is_exactly_one_answer_in_feishu_at_each_call_thoroughly() {
    let calls = at_each_call(async |database, call| check_feishu(&database, call).await).await;
    assert!(calls >= 2, "the placeholder and the answer are calls");
}

/// A mail server that has taken the answer and has not said so gets it again, with the same id.
#[tokio::test]
async fn there_is_one_answer_by_mail_when_the_server_is_killed() {
    const ADA: &str = "ada@corp.test";
    let folder = tempfile::tempdir().unwrap();
    let file = format!("sqlite://{}", folder.path().join("mail.db").display());
    let databases = [Some(file), test_postgres::new_database().await];
    let kills = databases.into_iter().flatten().map(async |database| {
        let Some(mails) = MailServer::start().await else { return };
        let bot = mails.connection();
        let server = TestServer::start(&database, &bot, Vec::new()).await;
        server.add_user("ada", "support").await;
        mails.link(ADA, &server.code("ada").await).await;
        server.shutdown().await;
        let place = format!("{database} {bot}");
        mails.be_silent(true);
        mails.write(ADA, 3, "What is it?", "");
        let first = Victim::start(&place);
        mails.until_mail(ADA, "It is 42.").await;
        drop(first);
        mails.be_silent(false);
        let second = Victim::start(&place);
        mails.write(ADA, 4, "/status", "");
        mails.until_mail(ADA, "You write as ada").await;
        let answers =
            || mails.mails(ADA).into_iter().filter(|mail| mail["text"].as_str().unwrap().contains("It is 42"));
        while answers().count() < 2 {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        drop(second);
        let ids: std::collections::HashSet<_> = answers().map(|mail| mail["head"]["message-id"].to_string()).collect();
        assert_eq!((ids.len(), answers().count()), (1, 2));
    });
    join_all(kills).await;
}
