//! The command `/memory`: what the agent remembers about the user.

use super::Turn;
use super::commands::plain;
use super::shown::web_address;
use crate::person::Person;
use ::jobs::JobError;
use capability::RememberedFact;
use sha2::{Digest, Sha256};
use std::fmt::Write;
use wire::{ErrorCode, UserError};

/// The most facts that a message lists.
const MAX_LISTED: usize = 30;
/// One more than the largest number of a fact.
const NUMBERS: u32 = 10_000;

const NO_MEMORY: &str = "This agent remembers nothing about you.";
/// The page with the memory of a user, where the website has no public address.
const WITHOUT_ADDRESS: &str = "the page Memory of your account.";
const NO_FACT: &str = "Nothing with this number is remembered.";

/// A request of a user about their memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wish {
    Show,
    Forget(u32),
    Switch(bool),
    Unclear,
}

impl Turn<'_> {
    /// Runs the command. It is idempotent, so another server can repeat it after a kill: a fact keeps its number,
    /// whatever else is forgotten.
    pub(super) async fn memory(&self, person: &Person, rest: &str) -> Result<String, JobError> {
        let done = self.wanted_of_memory(&person.caller.user_id, wish(rest)).await;
        done.or_else(|error| match error.code {
            // The job tries it again.
            ErrorCode::Internal | ErrorCode::Unavailable => Err(JobError::retry(error.message)),
            _ => Ok(error.message),
        })
    }

    async fn wanted_of_memory(&self, user_id: &str, wish: Wish) -> Result<String, UserError> {
        let Some(memory) = self.memories.get() else { return Ok(NO_MEMORY.to_owned()) };
        let Some(known) = memory.known(user_id, &self.channel.agent_id.0).await? else {
            return Ok(NO_MEMORY.to_owned());
        };
        let command = self.messenger().command("memory");
        let page = match web_address(&self.config, known.page) {
            Some(url) => format!("<{url}>"),
            None => WITHOUT_ADDRESS.to_owned(),
        };
        Ok(match wish {
            Wish::Show => shown(&known.facts, known.is_on, &command, &page),
            Wish::Forget(wanted) => {
                let mut found = known.facts.iter().filter(|fact| number(&fact.id) == wanted);
                match (found.next(), found.next()) {
                    (Some(fact), None) => {
                        match memory.forget(user_id, &fact.id).await {
                            Ok(()) => {}
                            // Another request has deleted it first.
                            Err(error) if error.code == ErrorCode::NotFound => {}
                            Err(error) => return Err(error),
                        }
                        format!("Forgotten: {}", plain(&fact.content))
                    }
                    (Some(_), Some(_)) => {
                        format!("Several facts have this number. Please delete one on the website: {page}")
                    }
                    (None, _) => NO_FACT.to_owned(),
                }
            }
            Wish::Switch(is_enabled) => {
                memory.set_enabled(user_id, is_enabled).await?;
                if is_enabled {
                    "Memory is on: agents remember what you tell them about yourself.".to_owned()
                } else {
                    format!(
                        "Memory is off: nothing new is remembered about you, and nothing is used. {command} on switches it on \
                         again.\n\nWhat is known is kept until you delete it on the website: {page}"
                    )
                }
            }
            Wish::Unclear => format!("{command} lists what is remembered. {}", help(&command)),
        })
    }
}

/// Parses the arguments of the command.
fn wish(rest: &str) -> Wish {
    let words: Vec<_> = rest.split_whitespace().map(str::to_ascii_lowercase).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => Wish::Show,
        ["on"] => Wish::Switch(true),
        ["off"] => Wish::Switch(false),
        ["forget", wanted] => wanted.parse().map_or(Wish::Unclear, Wish::Forget),
        _ => Wish::Unclear,
    }
}

/// Returns the number of a fact. It is made of the id, so that it stays the same while other facts come and go.
fn number(id: &str) -> u32 {
    let digest: [u8; 32] = Sha256::digest(id).into();
    let [a, b, c, d, ..] = digest;
    u32::from_be_bytes([a, b, c, d]) % NUMBERS
}

fn shown(facts: &[RememberedFact], is_on: bool, command: &str, page: &str) -> String {
    let state = if is_on { "" } else { "Memory is off: nothing is remembered or used. " };
    if facts.is_empty() {
        return format!("{state}Nothing is remembered about you.");
    }
    let mut text = format!("{state}This is remembered about you:\n\n");
    for fact in facts.iter().take(MAX_LISTED) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "- **{:04}**: {}", number(&fact.id), plain(&fact.content));
    }
    if facts.len() > MAX_LISTED {
        let _ = writeln!(text, "\nThere are {} more on the website: {page}", facts.len() - MAX_LISTED);
    }
    text.push('\n');
    text.push_str(&help(command));
    text
}

fn help(command: &str) -> String {
    format!("{command} forget NUMBER deletes one. {command} off and {command} on switch memory for you.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wishes_are_read() {
        let check = |rest: &str, expected: Wish| assert_eq!(wish(rest), expected, "{rest:?}");
        check("", Wish::Show);
        check(" Forget  0042 ", Wish::Forget(42));
        check("forget", Wish::Unclear);
        check("forget all", Wish::Unclear);
        check("forget 1 2", Wish::Unclear);
        check("forget -1", Wish::Unclear);
        check("OFF", Wish::Switch(false));
        check("on", Wish::Switch(true));
        check("maybe", Wish::Unclear);
    }

    #[test]
    fn facts_are_listed_with_their_numbers() {
        let fact = |id: &str, content: &str| RememberedFact { id: id.to_owned(), content: content.to_owned() };
        let two = [fact("a", "Lives in *Oslo*."), fact("b", "Works as a nurse.")];
        insta::assert_snapshot!(shown(&two, true, "/memory", "/account/memory"), @r"
        This is remembered about you:

        - **6610**: Lives in \*Oslo\*\.
        - **0566**: Works as a nurse\.

        /memory forget NUMBER deletes one. /memory off and /memory on switch memory for you.
        ");
        let one = shown(&two[1..], false, "/memory", "/account/memory");
        assert!(one.starts_with("Memory is off") && one.contains(&format!("**{:04}**", number("b"))), "{one}");
        assert_eq!(shown(&[], true, "/memory", ""), "Nothing is remembered about you.");
        let many = vec![fact("a", "x"); MAX_LISTED + 3];
        assert!(shown(&many, true, "/memory", "/account/memory").contains("There are 3 more on the website"));
    }
}
