#![doc = include_str!("../README.md")]

mod capability;
mod check;
mod discord;
mod email;
mod feishu;
mod ids;
mod markdown;
mod messenger;
mod page;
mod person;
mod post;
mod receive;
mod section;
mod slack;
mod store;
mod strangers;
mod sweep;
mod telegram;
mod turn;
mod visible;

pub use self::capability::DEFINITION;
pub use check::{BotCheck, check_bots};

/// The entry point of the fuzz target of Telegram: an update is read or ignored, and can be stored.
#[cfg(feature = "fuzz")]
pub fn fuzz_update(bytes: &[u8]) {
    let Ok(update) = serde_json::from_slice(bytes) else { return };
    let bot = messenger::BotAccount { id: "1".to_owned(), name: "HelpBot".to_owned() };
    if let Some(read) = telegram::read_update(&update, &bot) {
        assert_can_be_stored(read);
    }
}

/// The entry point of the fuzz target of Slack: an event is read or ignored, and can be stored.
#[cfg(feature = "fuzz")]
pub fn fuzz_slack(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let envelope = match slack::read_envelope(&text) {
        Some(slack::SocketEvent::Envelope { payload, .. }) => payload,
        _ => None,
    };
    let bot = messenger::BotAccount { id: "UBOT".to_owned(), name: "helper".to_owned() };
    for payload in [envelope, slack::read_form(bytes), serde_json::from_slice(bytes).ok()].into_iter().flatten() {
        if let Some(read) = slack::read_payload(&payload, &bot, None) {
            assert_can_be_stored(read);
        }
    }
}

/// The entry point of the fuzz target of Discord: an event is read or ignored, and can be stored.
#[cfg(feature = "fuzz")]
pub fn fuzz_discord(bytes: &[u8]) {
    let bot = messenger::BotAccount { id: "1".to_owned(), name: "helper".to_owned() };
    let Some((kind, data)) = discord::fuzz_payload(&String::from_utf8_lossy(bytes)) else { return };
    if let Some(read) = discord::read_event(&kind, &data, &bot) {
        assert_can_be_stored(read.update);
    }
}

/// The entry point of the fuzz target of Feishu: a request is opened or refused, a frame of a long connection is the
/// same after it was written, and what they contain is read or ignored, and can be stored.
#[cfg(feature = "fuzz")]
pub fn fuzz_feishu(bytes: &[u8]) {
    let properties = serde_json::json!({ "appId": "cli_1", "appSecret": "a", "encryptKey": "a" });
    let Ok(settings) = serde_json::from_value(properties) else { return };
    let _ = feishu::open(&http::HeaderMap::new(), bytes, &settings, 0);
    let payload = feishu::fuzz_frame(bytes).unwrap_or_default();
    let bot = messenger::BotAccount { id: "ou_bot".to_owned(), name: "helper".to_owned() };
    for content in [bytes, payload.as_slice()] {
        let Ok(event) = serde_json::from_slice(content) else { continue };
        if let Some(read) = feishu::read_event(&event, &bot, "cli_1") {
            assert_can_be_stored(read);
        }
    }
}

/// The entry point of the fuzz target of mails: a mail is read or ignored, and can be stored.
#[cfg(feature = "fuzz")]
pub fn fuzz_mail(bytes: &[u8]) {
    let properties = serde_json::json!({
        "host": "a", "username": "a", "password": "a", "smtpConnectionId": "a", "trustedDomains": ["a.test"],
    });
    let Ok(mailbox) = serde_json::from_value(properties) else { return };
    let id = email::MailId { validity: 1, uid: 1 };
    if let email::ReadMail::Update(read) = email::read_mail(bytes, id, "bot@b.test", &mailbox) {
        assert_can_be_stored(*read);
    }
}

#[cfg(feature = "fuzz")]
fn assert_can_be_stored(read: messenger::ReadUpdate) {
    let chat = read.incoming.chat();
    assert_eq!(messenger::ChatPlace::parse(chat).to_string(), chat);
    let stored = serde_json::to_string(&read.incoming).ok().and_then(|json| serde_json::from_str(&json).ok());
    assert_eq!(stored, Some(read.incoming));
}

/// The entry point of the fuzz target of Markdown: each text becomes messages that the messengers accept.
#[cfg(feature = "fuzz")]
pub fn fuzz_markdown(markdown: &str) {
    use messenger::Messenger::{Discord, Feishu, Slack, Telegram};
    for messenger in [Telegram, Slack, Discord, Feishu] {
        let limits = messenger.limits();
        for message in markdown::messages(markdown, limits) {
            markdown::assert_valid(&message, limits);
            let _ = slack::blocks(&message, &[]);
        }
    }
}
