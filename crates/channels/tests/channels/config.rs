//! What the author of a config reads about mistakes.

use crate::server::language;
use crate::telegram::{FakeTelegram, TOKEN};
use channels::check_bots;
use insta::assert_snapshot;

/// Reads a config with these properties of the connection and this section; returns its problems.
fn check(properties: &str, channels: &str) -> String {
    let text = format!(
        "connections:\n- {{ id: demo, type: Demo }}\n- {{ id: bot, type: Telegram, properties: {properties} }}\n\
         agents: [{{ id: helper, type: Agent, connectionId: demo, properties: {{ model: m }} }}]\nchannels: {channels}\n"
    );
    match language().read_text(&text) {
        Ok((_, warnings)) => config::render(&warnings),
        Err(problems) => config::render_short(&problems),
    }
}

const GOOD: &str = "[{ id: help, connectionId: bot, agentId: helper }]";

#[test]
fn all_keys_are_accepted() {
    assert_eq!(check("{ token: \"1:a_B-c\" }", GOOD), "");
    let all = "[{ id: help, connectionId: bot, agentId: helper, maxWaiting: 5, maxChats: 10 }]";
    assert_eq!(check("{ token: \"1:a\", baseURL: \"http://127.0.0.1:1\", allowPrivate: true }", all), "");
}

#[test]
fn mistakes_are_named_with_their_position() {
    assert_snapshot!(check("{ token: nonsense }", GOOD), @r"
    chatwright.yaml:3:51: error: this is not the token of a bot
       = help: it looks like 123456789:AAE…; @BotFather shows it after /newbot and /token
    ");
    assert_snapshot!(check("{ token: \"1:a\", baseURL: \"http://a.test\" }", GOOD), @r#"
    chatwright.yaml:3:67: error: messages would be sent without encryption
       = help: write `https://`, or `allowPrivate: true` for a server of your own network
    "#);
    assert_snapshot!(check("{ token: \"1:a\" }", "[{ id: help, connectionId: demo, agentId: helpr }]"), @r"
    chatwright.yaml:5:38: error: this needs a connection of the type Telegram; `demo` is of the type Demo
    chatwright.yaml:5:53: error: there is no agent `helpr`
       = help: did you mean `helper`?
    ");
    let twice = "[{ id: help, connectionId: bot, agentId: helper }, { id: help, connectionId: bot, agentId: helper }]";
    assert_snapshot!(check("{ token: \"1:a\" }", twice), @r"
    chatwright.yaml:5:68: error: there are two channels with the id `help`
    chatwright.yaml:5:88: error: `bot` has a channel already; its messages can be read only once
       = help: make another bot with @BotFather
    ");
}

#[tokio::test]
async fn bots_are_checked() {
    let (_telegram, url) = FakeTelegram::start().await;
    let check = async |token: &str| {
        let text = format!(
            "connections:\n- {{ id: demo, type: Demo }}\n\
             - {{ id: bot, type: Telegram, properties: {{ token: \"{token}\", baseURL: \"{url}\", allowPrivate: true }} }}\n\
             agents: [{{ id: helper, type: Agent, connectionId: demo, properties: {{ model: m }} }}]\nchannels: {GOOD}\n"
        );
        let config = language().read_text(&text).map_err(|problems| config::render(&problems)).unwrap().0;
        check_bots(&config).await.remove(0).outcome
    };
    assert_eq!(check(TOKEN).await.as_deref(), Ok("HelpBot"));
    assert_snapshot!(check("123:wrong").await.unwrap_err(), @"Telegram does not know the token; @BotFather shows it after /token");
}
