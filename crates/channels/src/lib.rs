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
