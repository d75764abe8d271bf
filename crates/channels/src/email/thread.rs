//! Threads: a mail that replies to another one belongs to the thread of the first one. An id of a mail of the bot says
//! the thread, since some programs name only the mail to which they reply.

use crate::ids::hash_code;

/// The prefix of the ids of the bot's mails.
const PREFIX: &str = "cw-";
/// The length of a thread's name.
const LENGTH: usize = 32;

/// Returns the name of the thread of a mail: letters and digits.
pub(super) fn thread_chat(message_id: &str, references: &[String], address: &str) -> String {
    let own =
        references.iter().rev().find_map(|id| own_id(id, address)).and_then(|id| id.get(PREFIX.len()..)?.get(..LENGTH));
    own.map_or_else(|| new_chat(references.first().map_or(message_id, String::as_str)), str::to_owned)
}

fn new_chat(id: &str) -> String {
    hash_code(id)[..LENGTH].to_owned()
}

/// Returns the id of a mail of the bot in a thread, before its `@`. `key` tells it from its others.
pub(crate) fn mail_id(chat: &str, key: &str) -> String {
    format!("{PREFIX}{chat}-{}", &hash_code(key)[..LENGTH])
}

/// Returns the part before the `@` of an id, if it is that of a mail of the bot.
pub(super) fn own_id<'i>(id: &'i str, address: &str) -> Option<&'i str> {
    let (local, domain) = id.rsplit_once('@')?;
    let (chat, key) = local.strip_prefix(PREFIX)?.split_once('-')?;
    let is_name = |text: &str| text.len() == LENGTH && text.bytes().all(|digit| digit.is_ascii_hexdigit());
    let is_own = address.rsplit_once('@').is_some_and(|(_, own)| own.eq_ignore_ascii_case(domain));
    (is_own && is_name(chat) && is_name(key)).then_some(local)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_are_in_the_thread_of_the_first_mail() {
        let check = |message_id: &str, references: &[&str], expected: &str| {
            let references: Vec<String> = references.iter().map(|id| (*id).to_owned()).collect();
            assert_eq!(thread_chat(message_id, &references, "bot@corp.test"), expected, "{references:?}");
        };
        let first = new_chat("a@x.test");
        let answer = format!("{}@corp.test", mail_id(&first, "1"));
        check("a@x.test", &[], &first);
        check("b@x.test", &["a@x.test"], &first);
        check("b@x.test", &["a@x.test", &answer], &first);
        check("b@x.test", &[&answer], &first);
        let foreign = answer.replace("corp.test", "evil.test");
        check("b@x.test", &[&foreign], &new_chat(&foreign));
        check("b@x.test", &["cw-x-y@corp.test"], &new_chat("cw-x-y@corp.test"));
    }
}
