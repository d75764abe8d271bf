//! Tests of the error messages about configs.

use crate::discord::{FakeDiscord, TOKEN as DISCORD_TOKEN};
use crate::feishu::{APP_SECRET, FakeFeishu};
use crate::server::language;
use crate::slack::{BOT_TOKEN, FakeSlack};
use crate::telegram::{FakeTelegram, TOKEN};
use channels::check_bots;
use insta::assert_snapshot;

/// Reads a config with these properties of the connection and this section; returns its problems.
fn check(properties: &str, channels: &str) -> String {
    check_bot(&format!("type: Telegram, properties: {properties}"), channels)
}

/// The same with the connection to a bot of any type.
fn check_bot(bot: &str, channels: &str) -> String {
    let text = format!(
        "connections:\n- {{ id: demo, type: Demo }}\n- {{ id: bot, {bot} }}\n\
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
    chatwright.yaml:5:38: error: `demo` is a connection of the type Demo, which cannot be used here
       = help: use one of the type Telegram, Slack, Discord, Feishu, Mailbox
    chatwright.yaml:5:53: error: there is no agent `helpr`
       = help: did you mean `helper`?
    ");
    let twice = "[{ id: help, connectionId: bot, agentId: helper }, { id: help, connectionId: bot, agentId: helper }]";
    assert_snapshot!(check("{ token: \"1:a\" }", twice), @r"
    chatwright.yaml:5:68: error: there are two channels with the id `help`
    chatwright.yaml:5:88: error: `bot` has a channel already; its messages can be read only once
       = help: make another bot, and a connection to it
    ");
}

#[tokio::test]
async fn bots_are_checked() {
    let (_telegram, telegram_url) = FakeTelegram::start().await;
    let (_slack, slack_url) = FakeSlack::start().await;
    let check = async |bot: &str| {
        let text = format!(
            "connections:\n- {{ id: demo, type: Demo }}\n- {{ id: bot, {bot} }}\n\
             agents: [{{ id: helper, type: Agent, connectionId: demo, properties: {{ model: m }} }}]\nchannels: {GOOD}\n"
        );
        let config = language().read_text(&text).map_err(|problems| config::render(&problems)).unwrap().0;
        check_bots(&config).await.remove(0).outcome
    };
    let telegram = FakeTelegram::connection(&telegram_url);
    assert_eq!(check(&telegram).await.as_deref(), Ok("HelpBot"));
    assert_snapshot!(check(&telegram.replace(TOKEN, "123:wrong")).await.unwrap_err(), @"Telegram does not know the token; @BotFather shows it after /token");
    let slack = FakeSlack::connection(&slack_url);
    assert_eq!(check(&slack).await.as_deref(), Ok("helper"));
    assert_snapshot!(check(&slack.replace(BOT_TOKEN, "xoxb-wrong")).await.unwrap_err(), @"Slack does not know the token; api.slack.com/apps shows it under OAuth & Permissions once the app is installed");
    let (_discord, discord_url) = FakeDiscord::start().await;
    let discord = FakeDiscord::connection(&discord_url);
    assert_eq!(check(&discord).await.as_deref(), Ok("helper"));
    assert_snapshot!(check(&discord.replace(DISCORD_TOKEN, "a.wrong.token")).await.unwrap_err(), @"Discord does not know the token; discord.com/developers/applications makes a new one under Bot, Reset Token");
    let (_feishu, feishu_url) = FakeFeishu::start().await;
    let feishu = FakeFeishu::connection(&feishu_url);
    assert_eq!(check(&feishu).await.as_deref(), Ok("Helper"));
    assert_snapshot!(check(&feishu.replace(APP_SECRET, "wrong")).await.unwrap_err(), @"Feishu does not know the app or its secret; open.feishu.cn/app (Lark: open.larksuite.com/app) shows them under Credentials & Basic Info");
    let other = slack.replace("teamId: T1", "teamId: T2");
    assert_snapshot!(check(&other).await.unwrap_err(), @"the messenger refuses it: the token is of the workspace T1, not of `teamId`");
}

#[test]
fn slack_connections_are_checked() {
    let good = "botToken: xoxb-1, appToken: xapp-1";
    let slack = |properties: &str| format!("type: Slack, properties: {{ {properties} }}");
    let all = "botToken: xoxb-1, appToken: xapp-1, signingSecret: 0123456789abcdef, teamId: T1, \
               baseURL: \"http://127.0.0.1:1\", allowPrivate: true";
    assert_eq!(check_bot(&slack(good), GOOD), "");
    assert_eq!(check_bot(&slack(all), GOOD), "");
    assert_snapshot!(check_bot(&slack("botToken: xoxp-1, appToken: xoxb-1, signingSecret: short, teamId: C1"), GOOD), @r"
    chatwright.yaml:3:51: error: this is not the token that is needed
       = help: it begins with `xoxb-`; api.slack.com/apps shows it under OAuth & Permissions
    chatwright.yaml:3:69: error: this is not the token that is needed
       = help: it begins with `xapp-`; api.slack.com/apps shows it under Basic Information, App-Level Tokens
    chatwright.yaml:3:92: error: this is not a signing secret
       = help: api.slack.com/apps shows it under Basic Information, App Credentials
    chatwright.yaml:3:107: error: this is not the id of a workspace
       = help: it looks like T0123ABCD; it is in the address of the workspace in a browser
    ");
    assert_snapshot!(check_bot(&slack("botToken: xoxb-1"), GOOD), @r"
    chatwright.yaml:3:39: error: messages cannot be received
       = help: add `appToken` for Socket Mode, or `signingSecret` for events over HTTP
    ");
}

#[test]
fn discord_connections_are_checked() {
    let discord = |properties: &str| format!("type: Discord, properties: {{ {properties} }}");
    assert_eq!(check_bot(&discord("token: a.b.c-_"), GOOD), "");
    assert_eq!(check_bot(&discord("token: a.b.c, baseURL: \"http://127.0.0.1:1\", allowPrivate: true"), GOOD), "");
    assert_snapshot!(check_bot(&discord("token: \"Bot a.b.c\""), GOOD), @r"
    chatwright.yaml:3:50: error: this is not the token of a bot
       = help: it has three parts with dots between them; discord.com/developers/applications shows it under Bot, after Reset Token
    ");
}

#[test]
fn feishu_connections_are_checked() {
    let feishu = |properties: &str| format!("type: Feishu, properties: {{ {properties} }}");
    let good = "appId: cli_a1b2, appSecret: s3cret, encryptKey: 0123456789abcdef";
    assert_eq!(check_bot(&feishu(good), GOOD), "");
    let all = format!("{good}, verificationToken: v, baseURL: \"https://open.larksuite.com\", allowPrivate: false");
    assert_eq!(check_bot(&feishu(&all), GOOD), "");
    assert_eq!(check_bot(&feishu("appId: cli_a1b2, appSecret: s, longConnection: true"), GOOD), "");
    assert_eq!(check_bot(&feishu(&format!("{good}, longConnection: true")), GOOD), "");
    assert_snapshot!(check_bot(&feishu("appId: cli_a1b2, appSecret: s"), GOOD), @r"
    chatwright.yaml:3:40: error: messages cannot be received
       = help: add `longConnection: true`, or `encryptKey` for events over HTTP
    ");
    assert_snapshot!(check_bot(&feishu("appId: cli_a1b2, appSecret: s, longConnection: true, verificationToken: v"), GOOD), @r"
    chatwright.yaml:3:114: error: it checks events over HTTP, which need `encryptKey`
       = help: add `encryptKey`, or leave it out: over a long connection, events have no such check
    ");
    assert_snapshot!(check_bot(&feishu("appId: app_1, appSecret: \"a b\", encryptKey: short, baseURL: \"http://a.test\""), GOOD), @r"
    chatwright.yaml:3:49: error: this is not the id of an app
       = help: it begins with `cli_`; open.feishu.cn/app shows it under Credentials & Basic Info
    chatwright.yaml:3:67: error: this is not the secret of an app
       = help: open.feishu.cn/app shows it under Credentials & Basic Info
    chatwright.yaml:3:86: error: this key is too short to protect events
       = help: open.feishu.cn/app makes one under Events & Callbacks, Encryption Strategy
    chatwright.yaml:3:102: error: messages would be sent without encryption
       = help: write `https://`, or `allowPrivate: true` for a server of your own network
    ");
}

#[test]
fn mailboxes_are_checked() {
    let mailbox = |properties: &str, smtp: &str| {
        format!(
            "type: Mailbox, properties: {{ host: imap.a.test, username: a, password: b, smtpConnectionId: {smtp}, {properties} }} }}\n\
             - {{ id: smtp, type: Smtp, properties: {{ host: smtp.a.test, from: a@a.test }}"
        )
    };
    assert_eq!(check_bot(&mailbox("authenticationServer: mx.a.test", "smtp"), GOOD), "");
    let all = "port: 1, security: tls, folder: Bot, trustedDomains: [a.test], pollSeconds: 60, maxPerHour: 5";
    assert_eq!(check_bot(&mailbox(all, "smtp"), GOOD), "");
    assert_snapshot!(check_bot(&mailbox("security: none", "smtp"), GOOD), @r"
    chatwright.yaml:3:49: error: nothing authenticates the senders of mails, so no mail would be answered
       = help: add `authenticationServer`, as the headers `Authentication-Results` of received mails begin
    chatwright.yaml:3:122: error: the password and the mails would be sent unencrypted
       = help: use `tls`
    ");
    assert_snapshot!(check_bot(&mailbox("trustedDomains: [a@b]", "smtp"), GOOD), @r"
    chatwright.yaml:3:128: error: this is not a list of domains
       = help: write them as `example.com`
    ");
    assert_snapshot!(check_bot(&mailbox("trustedDomains: [a.test]", "demo"), GOOD), @r"
    chatwright.yaml:6:38: error: its `smtpConnectionId` is `demo`, which is not a connection of the type Smtp
       = help: add the connection that sends the answers
    ");
}

#[test]
fn linking_by_address_requires_verified_addresses() {
    let channels = "[{ id: help, connectionId: bot, agentId: helper, users: verifiedEmail }]";
    let check = |bot: &str, auth: &str| check_bot(bot, &format!("{channels}\nauth: {auth}"));
    let slack =
        |properties: &str| format!("type: Slack, properties: {{ botToken: xoxb-1, appToken: xapp-1{properties} }}");
    let accounts = "{ mode: password, publicUrls: [https://chat.test] }";
    assert_eq!(check(&slack(", teamId: T1"), accounts), "");
    assert_snapshot!(check(&slack(""), accounts), @r"
    chatwright.yaml:5:67: error: people of any workspace could claim an e-mail address
       = help: add `teamId` to the connection, the id of your workspace
    ");
    let open = "{ mode: password, openSignUp: true, publicUrls: [https://chat.test] }";
    assert_snapshot!(check(&slack(", teamId: T1"), open), @r"
    chatwright.yaml:5:67: error: anyone could create an account with another person's e-mail address, and that person would then be linked to it
       = help: leave out `openSignUp` of `auth`, or let people link themselves
    ");
    assert_snapshot!(check("type: Telegram, properties: { token: \"1:a\" }", "{ mode: local }"), @r"
    chatwright.yaml:5:67: error: only Slack knows e-mail addresses
       = help: leave out `users`: people link themselves
    chatwright.yaml:5:67: error: there are no accounts with names here
       = help: it needs `auth: { mode: password }`
    ");
}
