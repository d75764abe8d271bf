//! The page `/account/messengers`, on which users link themselves to messengers. It needs no script. It is only for
//! people who are signed in: with an API key, nobody can get a link, which has more rights than the key.

use crate::ids::{hash_code, new_id};
use crate::messenger::{Messenger, Settings};
use crate::section::{Channel, channels, find, settings};
use crate::store::{self, BotRow, Link, NewCode};
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::middleware::from_fn_with_state;
use axum::response::Response;
use axum::routing::{get, post};
use axum::{Extension, Router};
use capability::Context;
use chat::Caller;
use leptos::prelude::*;
use serde::Deserialize;
use web::html::{account_page, account_part, row_button, success_message};
use web::openapi::{Access, ApiRouter, Tag};
use web::times::{day, now_millis};
use web::{HttpError, require_account, see_other};
use wire::UserError;

/// The page.
pub(crate) const PATH: &str = "/account/messengers";
/// Its title.
pub(crate) const TITLE: &str = "Messengers";
/// The lifetime of a code, in milliseconds.
const CODE_MS: i64 = 10 * 60 * 1_000;

/// The group in the OpenAPI document; it has no routes.
const MESSENGERS: Tag =
    Tag { name: "messengers", description: "Links to messengers.", access: Access::Users { scope: None } };

/// Returns the page and the routes of its forms.
pub(crate) fn routes(context: Context) -> ApiRouter {
    let pages = Router::new()
        .route(PATH, get(show))
        .route("/account/messengers/{channel}/code", post(make_code))
        .route("/account/messengers/links/{id}/delete", post(delete))
        .layer(from_fn_with_state(PATH, require_account));
    ApiRouter::new(&MESSENGERS).with_pages(pages).map(|router| router.with_state(context))
}

/// The query of the page: set after a change.
#[derive(Deserialize)]
struct DoneQuery {
    done: Option<String>,
}

/// A channel that the user may use.
struct OfferedChannel {
    id: String,
    messenger: Messenger,
    agent_id: String,
    /// The name of the bot; `None` until its messages were read for the first time.
    bot: Option<String>,
}

/// A code that was just made, for a channel.
struct ShownCode {
    channel_id: String,
    code: String,
}

async fn show(
    State(context): State<Context>,
    Extension(caller): Extension<Caller>,
    Query(query): Query<DoneQuery>,
) -> Result<Response, HttpError> {
    // Stores the roles that the user has now with their linked accounts.
    let mode = context.current.config().auth.mode.name();
    store::confirm(&context.store, &caller.user_id, mode, caller.name.clone(), caller.roles(), now_millis()).await?;
    let done =
        (query.done.as_deref() == Some("unlinked")).then_some("Removed. Messages from there get no answer any more.");
    render(&context, &caller, done, None).await
}

async fn make_code(
    State(context): State<Context>,
    Extension(caller): Extension<Caller>,
    Path(channel_id): Path<String>,
) -> Result<Response, HttpError> {
    let config = context.current.config();
    let usable = context.current.usable_agents(&caller);
    let is_offered = |(channel, _): (&Channel, Settings<'_>)| usable.contains(&channel.agent_id.0);
    if !find(&config, &channel_id).is_some_and(is_offered) {
        return Err(UserError::not_found().into());
    }
    let (code, now) = (new_id(), now_millis());
    let new = NewCode {
        hash: hash_code(&code),
        channel_id: channel_id.clone(),
        owner: caller.user_id.clone(),
        mode: config.auth.mode.name(),
        user_name: caller.name.clone(),
        roles: caller.roles().to_vec(),
        expires_at: now + CODE_MS,
    };
    store::add_code(&context.store, new, now).await?;
    render(&context, &caller, None, Some(ShownCode { channel_id, code })).await
}

async fn delete(
    State(context): State<Context>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Response, HttpError> {
    if store::delete_link(&context.store, &caller.user_id, &id).await? {
        Ok(see_other(&format!("{PATH}?done=unlinked"), None))
    } else {
        Err(UserError::not_found().into())
    }
}

/// Returns the channels whose agent the user may use.
fn offered(context: &Context, caller: &Caller, bots: &[BotRow]) -> Vec<OfferedChannel> {
    let usable = context.current.usable_agents(caller);
    let config = context.current.config();
    let channels = channels(&config).iter().filter(|channel| usable.contains(&channel.agent_id.0));
    let offered = channels.filter_map(|channel| {
        let bot = bots.iter().find(|bot| bot.channel_id == channel.id.0 && !bot.name.is_empty());
        Some(OfferedChannel {
            id: channel.id.0.clone(),
            messenger: settings(&config, channel)?.messenger(),
            agent_id: channel.agent_id.0.clone(),
            bot: bot.map(|bot| bot.name.clone()),
        })
    });
    offered.collect()
}

async fn render(
    context: &Context,
    caller: &Caller,
    done: Option<&'static str>,
    code: Option<ShownCode>,
) -> Result<Response, HttpError> {
    let bots = store::bots(&context.store).await?;
    let links = store::links_of_user(&context.store, &caller.user_id).await?;
    let offered = offered(context, caller, &bots);
    let has_none = offered.is_empty();
    let channels = offered.into_iter().map(|channel| {
        let shown = code.as_ref().filter(|code| code.channel_id == channel.id).map(|code| code.code.clone());
        channel_view(channel, shown)
    });
    let content = view! {
        {success_message(done)}
        {has_none.then(|| view! { <p class="cw-account-note">"No agent that you may use answers in a messenger."</p> })}
        {channels.collect_view()}
        {links_view(links)}
    };
    Ok(account_page(StatusCode::OK, TITLE, ("/", "Back"), content))
}

fn channel_view(channel: OfferedChannel, code: Option<String>) -> impl IntoView + use<> {
    let OfferedChannel { id, messenger, agent_id, bot } = channel;
    let label = match &bot {
        Some(bot) if messenger == Messenger::Email => format!("E-mail: {bot}"),
        Some(bot) => format!("{}: @{bot}", messenger.name()),
        None => format!("{}: {id}", messenger.name()),
    };
    let shown = code.map(|code| {
        let open = bot.filter(|_| messenger == Messenger::Telegram).map(|bot| {
            let href = format!("https://t.me/{bot}?start={code}");
            view! { <a class="cw-button cw-primary" href=href rel="noreferrer">"Open Telegram"</a> }
        });
        let how = match messenger {
            Messenger::Email => {
                "Write this in a mail to the address, within ten minutes. It works once, and is not shown again."
            }
            _ => {
                "Send this to the bot, in a direct message, within ten minutes. It works once, and is not shown again."
            }
        };
        view! {
            {success_message(Some(how))}
            <input class="cw-account-key" readonly aria-label="Code" value=messenger.link_command(&code) />
            {open}
        }
    });
    view! {
        <section class="cw-account-part" aria-label=label.clone()>
            <h2>{label.clone()}</h2>
            <p class="cw-account-note">{format!("Answers as the agent {agent_id}, with your rights. The conversations are also here on the website.")}</p>
            {shown}
            {row_button(format!("/account/messengers/{id}/code"), "Link", format!("Link {label}"))}
        </section>
    }
}

fn links_view(links: Vec<Link>) -> impl IntoView + use<> {
    let line = |link: Link| {
        let about = format!("{}, since {}", link.channel_id, day(link.created_at));
        let label = format!("Remove the link to {}", link.person_name);
        view! {
            <li class="cw-account-line">
                <div>
                    <strong>{link.person_name}</strong>
                    <p class="cw-account-note">{about}</p>
                </div>
                {row_button(format!("/account/messengers/links/{}/delete", link.id), "Remove", label)}
            </li>
        }
    };
    let has_links = !links.is_empty();
    has_links.then(|| {
        let lines = links.into_iter().map(line).collect_view();
        account_part("links", "Linked messenger accounts", view! { <ul class="cw-account-list">{lines}</ul> })
    })
}
