//! Files that the agent shows, in each messenger.

use crate::discord::FakeDiscord;
use crate::feishu::FakeFeishu;
use crate::feishu_events::Delivery;
use crate::forms::SentFile;
use crate::server::{self, CHANNEL, TestServer};
use crate::slack::FakeSlack;
use crate::telegram::FakeTelegram;
use contract::testing::{Cue, text_reply, tool_call_reply};
use serde_json::json;

fn replies() -> Vec<Vec<Cue>> {
    let present = || tool_call_reply(&[("a", "present", "{}")]);
    vec![present(), text_reply("Here it is."), present(), text_reply("Refused."), present(), text_reply("Large.")]
}

/// Adds the files of an answer: two that are attached.
async fn add_files(server: &TestServer) {
    server.add_file("report \"1\".txt", b"the numbers".to_vec()).await;
    server.add_file("b.csv", b"a,b\n".to_vec()).await;
}

fn expected(place: &str, quoted: &str) -> Vec<SentFile> {
    let file = |name: &str, content: &str| (place.to_owned(), name.to_owned(), content.to_owned());
    vec![file(quoted, "the numbers"), file("b.csv", "a,b\n")]
}

#[tokio::test]
async fn files_are_attached_in_telegram_or_named() {
    server::on_each_database(async |database| {
        let (telegram, url) = FakeTelegram::start().await;
        let bot = FakeTelegram::connection(&url);
        let server = TestServer::start(&database, &bot, replies()).await;
        server.add_user("ada", "support").await;
        telegram.link(7, &server.code("ada").await).await;
        add_files(&server).await;
        telegram.write(7, 7, "The report");
        telegram.until("two files", |fake| fake.files().len() == 2).await;
        assert_eq!(telegram.files(), expected("7", "report %221%22.txt"));
        telegram.until_text(7, "Here it is.").await;
        let texts = telegram.texts(7);
        assert!(texts.iter().any(|text| text == "📎 report \"1\".txt\n\n📎 b.csv\n\nHere it is."), "{texts:?}");
        // A file that the messenger refuses, a missing one, and one that is too large.
        let refused = json!({ "ok": false, "error_code": 400, "description": "Bad Request: file is too big" });
        telegram.fail("sendDocument", 400, refused);
        server.add_file("c.txt", b"c".to_vec()).await;
        telegram.write(7, 7, "Another");
        telegram.until_text(7, "📎 c.txt (on the website)\n\nRefused.").await;
        server.add_file("gone.txt", b"d".to_vec()).await;
        server.presented.lock().unwrap()[0].file_id = Some("unknown".to_owned());
        server.add_file("large.bin", vec![b'x'; (20 << 20) + 1]).await;
        telegram.write(7, 7, "A large one");
        telegram.until_text(7, "📎 gone.txt (on the website)\n\n📎 large.bin (on the website)\n\nLarge.").await;
        assert_eq!(telegram.files().len(), 2);
        server.shutdown().await;
    })
    .await;
}

#[tokio::test]
async fn files_are_attached_in_slack_or_linked() {
    let channels = format!("{CHANNEL}\nauth: {{ mode: password, publicUrls: [https://chat.test] }}");
    server::on_each_database(async |database| {
        let (slack, url) = FakeSlack::start().await;
        let bot = FakeSlack::connection(&url);
        let server = TestServer::start_with_channels(&database, &bot, &channels, replies()).await;
        server.add_user("ada", "support").await;
        slack.link("U7", &server.code("ada").await).await;
        add_files(&server).await;
        let ts = slack.write("U7", "C1", "<@UBOT> the report");
        slack.until("two files", |fake| fake.files().len() == 2).await;
        assert_eq!(slack.files(), expected(&format!("C1/{ts}"), "report \"1\".txt"));
        slack.fail("files.getUploadURLExternal", 200, json!({ "ok": false, "error": "missing_scope" }));
        server.add_file("c.txt", b"c".to_vec()).await;
        slack.write("U7", "D7", "Another");
        slack.until_text("D7", "📎 c.txt\n\nRefused.").await;
        slack.until("a link", |fake| fake.links("D7") == ["https://chat.test/api/conversations/c/files/1"]).await;
        server.shutdown().await;
    })
    .await;
}

#[tokio::test]
async fn files_are_attached_in_discord_once() {
    server::on_each_database(async |database| {
        let (discord, url) = FakeDiscord::start().await;
        let server = TestServer::start(&database, &FakeDiscord::connection(&url), replies()).await;
        server.add_user("ada", "support").await;
        discord.link(7, &server.code("ada").await).await;
        add_files(&server).await;
        discord.write(7, 907, "The report");
        discord.until("two files", |fake| fake.files().len() == 2).await;
        assert_eq!(discord.files(), expected("907", "report \"1\".txt"));
        discord.until_text(907, "Here it is.").await;
        server.add_file("large.bin", vec![b'x'; (10 << 20) + 1]).await;
        discord.write(7, 907, "A large one");
        discord.until_text(907, "📎 large.bin (on the website)").await;
        assert_eq!(discord.files().len(), 2);
        server.shutdown().await;
    })
    .await;
}

#[tokio::test]
async fn files_are_attached_in_feishu_once() {
    server::on_each_database(async |database| {
        let (fake, url) = FakeFeishu::start().await;
        let server = TestServer::start(&database, &FakeFeishu::connection(&url), replies()).await;
        server.add_user("ada", "support").await;
        fake.link(&server, "ou_7", &server.code("ada").await).await;
        let delivery = Delivery { fake: &fake, server: &server };
        add_files(&server).await;
        delivery.write("ou_7", "ou_7", "The report").await;
        fake.until("two files", |fake| fake.files().len() == 2).await;
        assert_eq!(fake.files(), expected("ou_7", "report \"1\".txt"));
        fake.until_text("ou_7", "Here it is.").await;
        // A file that Feishu refuses. An image is sent as an image.
        fake.fail("upload", 234_006);
        server.add_file("c.txt", b"c".to_vec()).await;
        server.add_file("d.png", b"\x89PNG\r\n\x1a\n".to_vec()).await;
        delivery.write("ou_7", "ou_7", "Another").await;
        fake.until_text("ou_7", "📎 c.txt (on the website)\n\n📎 d.png\n\nRefused.").await;
        assert_eq!(fake.files()[2].0, "image in ou_7");
        server.add_file("large.bin", vec![b'x'; (20 << 20) + 1]).await;
        delivery.write("ou_7", "ou_7", "A large one").await;
        fake.until_text("ou_7", "📎 large.bin (on the website)").await;
        assert_eq!(fake.files().len(), 3);
        server.shutdown().await;
    })
    .await;
}
