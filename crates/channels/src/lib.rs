#![doc = include_str!("../README.md")]

mod capability;
mod check;
mod ids;
mod page;
mod person;
mod poll;
mod section;
mod store;
mod strangers;
mod sweep;
mod telegram;
mod turn;
mod visible;

pub use self::capability::DEFINITION;
pub use check::{BotCheck, check_bots};

/// What the fuzz target calls: what is sent is read or ignored, and can be stored.
#[cfg(feature = "fuzz")]
pub fn fuzz_update(bytes: &[u8]) {
    use telegram::{BotAccount, ChatPlace, read_update, update_id};
    let Ok(update) = serde_json::from_slice(bytes) else { return };
    let _ = update_id(&update);
    let bot = BotAccount { id: 1, name: "HelpBot".to_owned() };
    let Some(read) = read_update(&update, &bot) else { return };
    assert!(ChatPlace::parse(read.incoming.chat()).is_some());
    let stored = serde_json::to_string(&read.incoming).ok().and_then(|json| serde_json::from_str(&json).ok());
    assert_eq!(stored, Some(read.incoming));
}

/// What the fuzz target calls: each Markdown text becomes messages that Telegram accepts.
#[cfg(feature = "fuzz")]
pub fn fuzz_markdown(markdown: &str) {
    telegram::messages(markdown).iter().for_each(telegram::assert_valid);
}
