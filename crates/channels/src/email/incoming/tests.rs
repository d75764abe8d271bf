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
    assert_snapshot!(check(&format!("{VERIFIED}{HEAD}"), "Hi\r\n\r\n-- \r\nAda"), @"");
    assert_snapshot!(check(&format!("{VERIFIED}{HEAD}|References: <0@a.test> <2@a.test>|In-Reply-To: <2@a.test>"), "/new"), @"");
    assert_snapshot!(check(&format!("{VERIFIED}{HEAD}|Content-Type: text/html"), "<p>Yes &amp; no</p><blockquote>Sure?</blockquote>"), @"");
    let code = "0123456789abcdef0123456789abcdef";
    assert_snapshot!(check(&format!("{VERIFIED}{HEAD}"), &format!("Link {code}\r\nSent from my phone")), @"");
    let parts = "--b\r\nContent-Type: text/plain\r\n\r\nSee\r\n--b\r\nContent-Type: text/csv\r\nContent-Disposition: attachment; filename=a.csv\r\n\r\na,b\r\n--b--\r\n";
    assert_snapshot!(check(&format!("{VERIFIED}{HEAD}|Content-Type: multipart/mixed; boundary=b"), parts), @"");
}

#[test]
fn mails_of_nobody_and_of_nobody_for_sure_are_ignored() {
    let check = |head: &str| check(head, "Hi");
    assert_snapshot!(check(HEAD), @"");
    assert_snapshot!(check(&format!("Authentication-Results: mx.other.test; dkim=pass header.d=corp.test|{VERIFIED}{HEAD}")), @"");
    assert_snapshot!(check(&format!("{VERIFIED}{HEAD}|From: eve@corp.test")), @"");
    assert_snapshot!(check(&format!("{VERIFIED}From: a@corp.test, b@corp.test|Message-ID: <1@a>")), @"");
    assert_snapshot!(check(&format!("{VERIFIED}From: bot@corp.test|Message-ID: <1@a>")), @"");
    assert_snapshot!(check(&format!("{VERIFIED}{HEAD}|Auto-Submitted: auto-replied")), @"");
    assert_snapshot!(check(&format!("{VERIFIED}{HEAD}|Precedence: bulk")), @"");
    assert_snapshot!(check(&format!("{VERIFIED}{HEAD}|List-Id: <l.corp.test>")), @"");
    assert_snapshot!(check(&format!("{VERIFIED}{HEAD}|Return-Path: <>")), @"");
    assert_snapshot!(check(&format!("{VERIFIED}{HEAD}|Content-Type: multipart/report; boundary=b")), @"");
    assert_snapshot!(check(&format!("{VERIFIED}From: noreply@corp.test|Message-ID: <1@a>")), @"");
    assert_snapshot!(check(&format!("{VERIFIED}From: ada@corp.test")), @"");
    assert!(check("From: ada@trusted.test|Message-ID: <1@a>").contains("ada@trusted.test"));
}
