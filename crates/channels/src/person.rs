//! Looks up the identity and the rights of a linked person, again for each message.

use crate::section::Channel;
use crate::store::Link;
use ::config::{AuthMode, Config, OWNER_ROLES};
use ::store::StoreError;
use auth::LOCAL_OWNER;
use capability::Context;
use chat::Caller;

/// The time for which the roles of a user without an account here are trusted after they opened the page with
/// their links, in milliseconds: 30 days.
const TRUSTED_MS: i64 = 30 * 24 * 60 * 60 * 1_000;

/// A user who may talk to the agent, and the page on which they find it.
#[derive(Clone, Debug)]
pub(crate) struct Person {
    pub(crate) caller: Caller,
    pub(crate) page_id: String,
}

/// Answers to a linked person whose message is not accepted.
const NOT_NOW: &str = "You cannot use this agent at the moment. Ask the administrator.";
const CONFIRM: &str = "Please sign in on the website and open the page Messengers of your account once, so that your \
                       rights are up to date.";

/// Returns the caller as whom a person acts, or the text that they get instead.
pub(crate) async fn person(
    context: &Context,
    channel: &Channel,
    link: &Link,
    now: i64,
) -> Result<Result<Person, &'static str>, StoreError> {
    let config = context.current.config();
    let caller = match caller(context, &config, link, now).await? {
        Ok(caller) => caller,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let agent_id = &channel.agent_id.0;
    let is_usable = context.current.usable_agents(&caller).contains(agent_id);
    let page_id = context.current.page_for_agent(&caller, agent_id).filter(|_| is_usable);
    Ok(page_id.map(|page_id| Person { caller, page_id }).ok_or(NOT_NOW))
}

async fn caller(
    context: &Context,
    config: &Config,
    link: &Link,
    now: i64,
) -> Result<Result<Caller, &'static str>, StoreError> {
    if link.mode != config.auth.mode.name() {
        return Ok(Err(NOT_NOW));
    }
    let signed_in = |name: Option<String>, roles: Vec<String>| {
        Caller::signed_in(link.owner.clone()).with_name(name).with_roles(roles)
    };
    Ok(match config.auth.mode {
        AuthMode::Local if link.owner == LOCAL_OWNER => Ok(signed_in(None, OWNER_ROLES.map(str::to_owned).to_vec())),
        AuthMode::Local | AuthMode::Anonymous => Err(NOT_NOW),
        AuthMode::Accounts(_) => match context.store.user_by_id(&link.owner).await? {
            Some((user, _)) if user.disabled_at.is_none() => Ok(signed_in(Some(user.name), user.roles)),
            _ => Err(NOT_NOW),
        },
        AuthMode::Jwt(_) | AuthMode::Proxy(_) if now - link.confirmed_at > TRUSTED_MS => Err(CONFIRM),
        AuthMode::Jwt(_) | AuthMode::Proxy(_) => Ok(signed_in(link.user_name.clone(), link.roles.clone())),
    })
}
