//! Conversations by e-mail.

use crate::email::{BOT, MailServer};
use crate::server::{self, TestServer};
use chat::Caller;
use contract::testing::{Cue, text_reply, tool_call_reply};
use serde_json::json;

const ADA: &str = "ada@corp.test";

/// Runs a test with each kind of database: a server with the user `ada`, whose account is linked to their address.
async fn on_each_database(replies: impl Fn() -> Vec<Vec<Cue>>, test: impl AsyncFn(&TestServer, &MailServer)) {
    server::on_each_database(async |database| {
        let Some(mails) = MailServer::start().await else { return };
        let server = TestServer::start(&database, &mails.connection(), replies()).await;
        server.add_user("ada", "support").await;
        mails.link(ADA, &server.code("ada").await).await;
        test(&server, &mails).await;
        server.shutdown().await;
    })
    .await;
}

async fn conversations(server: &TestServer) -> usize {
    let caller = Caller::signed_in("ada").with_roles(vec!["support".to_owned()]);
    server.chat.conversations(&caller, Default::default(), 10, None).await.unwrap().items.len()
}

#[tokio::test]
async fn a_thread_is_a_conversation_and_each_mail_gets_one_answer() {
    let present = || tool_call_reply(&[("a", "present", "{}")]);
    let replies = || vec![present(), text_reply("Within **30 days**."), text_reply("Yes."), text_reply("Another.")];
    on_each_database(replies, async |server, mails| {
        server.add_file("report.csv", b"a,b\n".to_vec()).await;
        let first = mails.write(ADA, 3, "When can I return it?\r\n\r\n-- \r\nAda", "");
        let answer = mails.until_mail(ADA, "Within 30 days.").await;
        assert_eq!(answer["head"]["subject"], "Re: Question 3");
        assert_eq!(answer["head"]["in-reply-to"], format!("<{first}>"));
        assert_eq!(answer["head"]["auto-submitted"], "auto-replied");
        assert!(answer["html"].as_str().unwrap().contains("<strong>30 days</strong>"), "{answer}");
        assert_eq!(answer["files"], json!([["report.csv", "text/csv", "a,b\n"]]));
        mails.reply(ADA, 4, "Really?", &answer);
        mails.until_mail(ADA, "Yes.").await;
        assert_eq!(conversations(server).await, 1);
        let caller = Caller::signed_in("ada").with_roles(vec!["support".to_owned()]);
        let list = server.chat.conversations(&caller, Default::default(), 10, None).await.unwrap();
        let view = server.chat.conversation(&caller, &list.items[0].id).await.unwrap();
        let said: Vec<_> = view
            .messages
            .iter()
            .filter(|message| message.role == wire::Role::User)
            .map(|message| message.text())
            .collect();
        assert_eq!(said, ["When can I return it?", "Really?"]);
        mails.write(ADA, 5, "Hello", "");
        mails.until_mail(ADA, "Another.").await;
        assert_eq!(conversations(server).await, 2);
        // Of six mails in an hour, five were sent.
        mails.write(ADA, 6, "/status", "");
        mails.until_mail(ADA, "You write as ada").await;
        mails.write(ADA, 7, "/status", "");
        mails.until_seen().await;
        assert_eq!(mails.mails(ADA).len(), 6, "{:?}", mails.mails(ADA));
    })
    .await;
}

#[tokio::test]
async fn only_verified_senders_are_answered() {
    on_each_database(Vec::new, async |server, mails| {
        let known = mails.mails(ADA).len();
        let mail =
            |head: &str| mails.deliver(&format!("{head}To: {BOT}\r\nMessage-ID: <x@x>\r\nSubject: x\r\n\r\nHi\r\n"));
        mail(&format!("From: {ADA}\r\n"));
        mail(&format!("Authentication-Results: mx.evil.test; dkim=pass header.d=corp.test\r\nFrom: {ADA}\r\n"));
        mail(&format!("Authentication-Results: mx.corp.test; dkim=pass header.d=evil.test\r\nFrom: {ADA}\r\n"));
        let verified = "Authentication-Results: mx.corp.test; dkim=pass header.d=corp.test\r\n";
        mail(&format!("{verified}From: {ADA}\r\nAuto-Submitted: auto-replied\r\n"));
        mail(&format!("{verified}From: {ADA}\r\nList-Id: <all.corp.test>\r\n"));
        mail(&format!("{verified}From: {BOT}\r\n"));
        mails.until_seen().await;
        // A stranger who is certain gets one line, once.
        mails.write("eve@corp.test", 1, "Hi", "");
        mails.until_mail("eve@corp.test", "I answer people who have an account").await;
        mails.write("eve@corp.test", 2, "Hi", "");
        mails.until_seen().await;
        assert_eq!((mails.mails(ADA).len(), mails.mails("eve@corp.test").len(), mails.mails(BOT).len()), (known, 1, 0));
        assert_eq!(conversations(server).await, 0);
    })
    .await;
}

#[tokio::test]
async fn decisions_are_numbers() {
    let question = r#"{"kind":"approach_choice","question":"Which?","options":["Red","Blue"]}"#;
    let replies = || {
        vec![
            tool_call_reply(&[("a", "act", r#"{"to":"x"}"#)]),
            tool_call_reply(&[("q", "ask-user", question)]),
            text_reply("Blue it is."),
        ]
    };
    on_each_database(replies, async |server, mails| {
        mails.write(ADA, 3, "Do it", "");
        let asked = mails.until_mail(ADA, "Reply with 1 to approve").await;
        assert!(asked["text"].as_str().unwrap().contains("\"to\": \"x\""), "{asked}");
        assert!(server.effects.lock().unwrap().is_empty());
        mails.reply(ADA, 4, "1", &asked);
        let asked = mails.until_mail(ADA, "Which?").await;
        assert_eq!(*server.effects.lock().unwrap(), [json!({ "to": "x" })]);
        assert!(asked["text"].as_str().unwrap().contains("• 2: Blue"), "{asked}");
        mails.reply(ADA, 5, "2.", &asked);
        mails.until_mail(ADA, "Blue it is.").await;
        assert_eq!(conversations(server).await, 1);
    })
    .await;
}

#[tokio::test]
async fn number_for_several_decisions_needs_its_letter() {
    let replies = || {
        vec![
            tool_call_reply(&[("a", "act", r#"{"to":"x"}"#), ("b", "act", r#"{"to":"y"}"#)]),
            text_reply("Sent to x only."),
        ]
    };
    on_each_database(replies, async |server, mails| {
        mails.write(ADA, 3, "Do both", "");
        let asked = mails.until_mail(ADA, "Reply with B1 to approve").await;
        mails.reply(ADA, 4, "1", &asked);
        mails.until_mail(ADA, "reply with the letter of one and your number, such as A1 or B1").await;
        assert!(server.effects.lock().unwrap().is_empty());
        mails.reply(ADA, 5, "A1", &asked);
        // The mail that confirms it has no decisions of its own: the other one still waits.
        let approved = mails.until_mail(ADA, "Approved").await;
        mails.reply(ADA, 6, "B2", &approved);
        mails.until_mail(ADA, "Sent to x only.").await;
        assert_eq!(*server.effects.lock().unwrap(), [json!({ "to": "x" })]);
        assert_eq!(conversations(server).await, 1);
    })
    .await;
}

#[tokio::test]
async fn number_decides_only_requests_in_the_mail_that_is_answered() {
    let replies = || vec![tool_call_reply(&[("a", "act", r#"{"to":"x"}"#), ("b", "act", r#"{"to":"y"}"#)])];
    on_each_database(replies, async |server, mails| {
        mails.write(ADA, 3, "Do both", "");
        let asked = mails.until_mail(ADA, "Reply with B1 to approve").await;
        // There is no such letter.
        mails.reply(ADA, 4, "C1", &asked);
        mails.until_mail(ADA, "reply with the letter of one and your number, such as A1 or B1").await;
        assert!(server.effects.lock().unwrap().is_empty());
        mails.reply(ADA, 5, "A1", &asked);
        let approved = mails.until_mail(ADA, "Approved").await;
        mails.reply(ADA, 6, "1", &approved);
        mails.until_mail(ADA, "reply with its letter and your number, such as B1").await;
        // Neither has it approved the other one, nor has the agent read it.
        assert!(!server.effects.lock().unwrap().contains(&json!({ "to": "y" })));
        assert_eq!(conversations(server).await, 1);
    })
    .await;
}

#[tokio::test]
async fn files_of_a_mail_are_attached() {
    on_each_database(
        || vec![text_reply("Nice.")],
        async |server, mails| {
            let parts = "--b\r\nContent-Type: text/plain\r\n\r\nLook\r\n--b\r\nContent-Type: text/csv\r\n\
                         Content-Disposition: attachment; filename=a.csv\r\n\r\na,b\r\n--b\r\nContent-Type: text/csv\r\n\
                         Content-Disposition: attachment; filename=b.csv\r\n\r\nc,d\r\n--b--";
            mails.write(ADA, 3, parts, "MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n");
            mails.until_mail(ADA, "Nice.").await;
            let caller = Caller::signed_in("ada").with_roles(vec!["support".to_owned()]);
            let list = server.chat.conversations(&caller, Default::default(), 10, None).await.unwrap();
            let view = server.chat.conversation(&caller, &list.items[0].id).await.unwrap();
            let shown = serde_json::to_string(&view.messages[0].parts).unwrap();
            assert!(shown.contains("Look") && shown.contains("a.csv") && shown.contains("b.csv"), "{shown}");
        },
    )
    .await;
}
