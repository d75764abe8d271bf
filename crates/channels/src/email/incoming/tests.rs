use super::*;
use insta::assert_snapshot;

fn mailbox() -> Mailbox {
    let properties = serde_json::json!({
        "host": "imap.corp.test", "username": "bot", "password": "x", "smtpConnectionId": "smtp",
        "authenticationServer": "mx.corp.test", "trustedDomains": ["trusted.test"],
    });
    serde_json::from_value(properties).unwrap()
}

/// Reads a mail with this head and this body.
fn check(head: &str, body: &str) -> String {
    let head = head.replace('|', "\r\n");
    let mail = format!("{head}\r\nMIME-Version: 1.0\r\n\r\n{body}");
    let id = MailId { validity: 0x8000_0001, uid: 7 };
    match read_mail(mail.as_bytes(), id, "bot@corp.test", &mailbox()) {
        ReadMail::Ignored(reason) => format!("ignored: {reason}"),
        ReadMail::Update(update) => {
            let incoming = serde_json::to_string(&update.incoming).unwrap();
            format!("{} {} {} {incoming}", update.update_id, update.person_id, update.person_name)
        }
    }
}

const VERIFIED: &str = "Authentication-Results: mx.corp.test; dkim=pass header.d=corp.test|";
const HEAD: &str = "From: Ada <Ada@corp.test>|Message-ID: <1@corp.test>|Subject: =?utf-8?q?Caf=C3=A9?=";

#[test]
fn a_mail_is_read() {
    assert_snapshot!(check(&format!("{VERIFIED}{HEAD}"), "Hi\r\n\r\n-- \r\nAda"), @r#"4294967303 ada@corp.test Ada {"kind":"message","chat":"e0ff8ce7dd2c9fb6ecccff38418e60fd","text":"Hi","repliesTo":null,"files":[],"mail":{"to":"ada@corp.test","subject":"Café","messageId":"1@corp.test","references":[]}}"#);
    assert_snapshot!(check(&format!("{VERIFIED}{HEAD}|References: <0@a.test> <2@a.test>|In-Reply-To: <2@a.test>"), "/new"), @r#"4294967303 ada@corp.test Ada {"kind":"message","chat":"cafcc4b8698fc0c745ef25c15f86a0d7","text":"/new","repliesTo":null,"files":[],"mail":{"to":"ada@corp.test","subject":"Café","messageId":"1@corp.test","references":["0@a.test","2@a.test"]}}"#);
    assert_snapshot!(check(&format!("{VERIFIED}{HEAD}|Content-Type: text/html"), "<p>Yes &amp; no</p><blockquote>Sure?</blockquote>"), @r#"4294967303 ada@corp.test Ada {"kind":"message","chat":"e0ff8ce7dd2c9fb6ecccff38418e60fd","text":"Yes & no","repliesTo":null,"files":[],"mail":{"to":"ada@corp.test","subject":"Café","messageId":"1@corp.test","references":[]}}"#);
    let code = "0123456789abcdef0123456789abcdef";
    assert_snapshot!(check(&format!("{VERIFIED}{HEAD}"), &format!("Link {code}\r\nSent from my phone")), @r#"4294967303 ada@corp.test Ada {"kind":"message","chat":"e0ff8ce7dd2c9fb6ecccff38418e60fd","text":"/link 0123456789abcdef0123456789abcdef","repliesTo":null,"files":[],"mail":{"to":"ada@corp.test","subject":"Café","messageId":"1@corp.test","references":[]}}"#);
    let parts = "--b\r\nContent-Type: text/plain\r\n\r\nSee\r\n--b\r\nContent-Type: text/csv\r\nContent-Disposition: attachment; filename=a.csv\r\n\r\na,b\r\n--b--\r\n";
    assert_snapshot!(check(&format!("{VERIFIED}{HEAD}|Content-Type: multipart/mixed; boundary=b"), parts), @r#"4294967303 ada@corp.test Ada {"kind":"message","chat":"e0ff8ce7dd2c9fb6ecccff38418e60fd","text":"See","repliesTo":null,"files":[{"id":"2147483649/7/0","name":"a.csv"}],"mail":{"to":"ada@corp.test","subject":"Café","messageId":"1@corp.test","references":[]}}"#);
}

#[test]
fn mails_without_a_sender_or_with_an_unverified_sender_are_ignored() {
    let check = |head: &str| check(head, "Hi");
    assert_snapshot!(check(HEAD), @"ignored: its sender is not authenticated");
    assert_snapshot!(check(&format!("Authentication-Results: mx.other.test; dkim=pass header.d=corp.test|{VERIFIED}{HEAD}")), @"ignored: its sender is not authenticated");
    assert_snapshot!(check(&format!("{VERIFIED}{HEAD}|From: eve@corp.test")), @"ignored: it has not exactly one sender");
    assert_snapshot!(check(&format!("{VERIFIED}From: a@corp.test, b@corp.test|Message-ID: <1@a>")), @"ignored: it has not exactly one sender");
    assert_snapshot!(check(&format!("{VERIFIED}From: bot@corp.test|Message-ID: <1@a>")), @"ignored: it is from the bot itself");
    assert_snapshot!(check(&format!("{VERIFIED}{HEAD}|Auto-Submitted: auto-replied")), @"ignored: it is an automatic answer");
    assert_snapshot!(check(&format!("{VERIFIED}{HEAD}|Precedence: bulk")), @"ignored: it is a bulk mail");
    assert_snapshot!(check(&format!("{VERIFIED}{HEAD}|List-Id: <l.corp.test>")), @"ignored: it is of a mailing list");
    assert_snapshot!(check(&format!("{VERIFIED}{HEAD}|Return-Path: <>")), @"ignored: it is a report about a mail");
    assert_snapshot!(check(&format!("{VERIFIED}{HEAD}|Content-Type: multipart/report; boundary=b")), @"ignored: it is a report about a mail");
    assert_snapshot!(check(&format!("{VERIFIED}From: noreply@corp.test|Message-ID: <1@a>")), @"ignored: its sender reads no answers");
    assert_snapshot!(check(&format!("{VERIFIED}From: ada@corp.test")), @"ignored: it has no `Message-ID`");
    assert!(check("From: ada@trusted.test|Message-ID: <1@a>").contains("ada@trusted.test"));
}
