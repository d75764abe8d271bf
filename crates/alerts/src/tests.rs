//! The messages about mistakes in the config, and the tables on each kind of database.

use crate::DEFINITION;
use crate::state::State;
use crate::store::{self, Event, StateRow};
use ::store::Schema;
use capability::language;
use insta::assert_snapshot;
use std::time::Duration;

/// Reads a config with these alerts; returns its problems.
fn check(alerts: &str) -> String {
    check_connection("type: OutgoingWebhook, properties: { url: \"https://hooks.test/?key=1\" }", alerts)
}

/// The same with another connection `hook`.
fn check_connection(hook: &str, alerts: &str) -> String {
    let text = format!(
        "connections:\n- {{ id: demo, type: Demo }}\n- {{ id: hook, {hook} }}\n\
         - {{ id: mail, type: Smtp, properties: {{ host: a.test, from: a@a.test }} }}\n\
         agents: [{{ id: helper, type: Agent, connectionId: demo, properties: {{ model: m }} }}]\nalerts: {alerts}\n\
         workflows: [{{ id: invoice, steps: [{{ id: a, type: wait, seconds: 1 }}] }}]\n"
    );
    match language(&[DEFINITION, mail::DEFINITION, workflows::DEFINITION, channels::DEFINITION]).read_text(&text) {
        Ok((_, warnings)) => config::render_short(&warnings),
        Err(problems) => config::render_short(&problems),
    }
}

#[test]
fn all_conditions_and_receivers_are_accepted() {
    assert_snapshot!(check(
        "
- { id: a, title: Cost, when: { type: cost, per: month, aboveUsd: 1.5, agentId: helper }, holdMinutes: 5, repeatHours: 0, notify: [{ connectionId: hook }] }
- { id: b, when: { type: failures, abovePercent: 5, withinMinutes: 60, atLeast: 3 }, notify: [{ connectionId: mail, to: [a@b.test] }] }
- { id: c, when: { type: waitingJobs, above: 100 }, notify: [{ connectionId: hook }, { connectionId: mail, to: [a@b.test] }] }
- { id: d, when: { type: jobDelay, aboveMinutes: 5 }, notify: [{ connectionId: hook }] }
- { id: e, when: { type: quota }, notify: [{ connectionId: hook }] }
- { id: f, when: { type: failedWorkflowRuns, above: 2, withinMinutes: 60, workflowId: invoice }, notify: [{ connectionId: hook }] }
- { id: g, when: { type: undecidedWorkflowRuns }, notify: [{ connectionId: hook }] }
- { id: h, when: { type: pausedTriggers }, notify: [{ connectionId: hook }] }
limits: { quotas: [{ per: day, messages: 3 }] }"
    ), @"");
}

#[test]
fn mistakes_are_named_with_their_position() {
    assert_snapshot!(check("[{ id: a, when: { type: cots, per: day, aboveUsd: 1 }, notify: [{ connectionId: hook }] }]"), @r"
    chatwright.yaml:6:33: error: there is no type of condition `cots`
       = help: did you mean `cost`?
    ");
    assert_snapshot!(check("[{ id: a, when: { type: cost, per: day, aboveUsd: 1, agentId: helpr }, notify: [{ connectionId: hoko }] }]"), @r"
    chatwright.yaml:6:71: error: there is no agent `helpr`
       = help: did you mean `helper`?
    chatwright.yaml:6:105: error: there is no connection `hoko`
       = help: did you mean `hook`?
    ");
    assert_snapshot!(check("[{ id: a, when: { type: quota }, notify: [{ connectionId: mail }, { connectionId: hook, to: [x] }] }]"), @"chatwright.yaml:6:102: error: `x` is not an e-mail address");
    assert_snapshot!(check("[{ id: a, when: { type: quota }, notify: [{ connectionId: mail }, { connectionId: hook, to: [a@b.test] }] }]"), @r"
    chatwright.yaml:6:25: error: there are no quotas
       = help: add `quotas` to `limits`
    chatwright.yaml:6:51: error: nobody would get this e-mail
       = help: add `to: [ops@example.com]`
    chatwright.yaml:6:101: error: a webhook has no addresses
    ");
    let failed = |workflow: &str| {
        check(&format!(
            "[{{ id: a, when: {{ type: failedWorkflowRuns, workflowId: {workflow} }}, notify: [{{ connectionId: hook }}] }}]"
        ))
    };
    assert_snapshot!(failed("invoise"), @r"
    chatwright.yaml:6:65: warning: the config has no workflow `invoise`
       = help: did you mean `invoice`?
    ");
    assert_snapshot!(failed("stored"), @r"
    chatwright.yaml:6:65: warning: the config has no workflow `stored`
       = help: it counts the runs of a workflow of this id that was stored over the API, if there is one
    ");
    assert_snapshot!(check("[{ id: a, when: { type: waitingJobs, above: 1 }, notify: [] }]"), @"chatwright.yaml:6:66: error: expected a list of at least 1, found 0");
    let alerts = "[{ id: a, when: { type: waitingJobs, above: 1 }, notify: [{ connectionId: hook }] }]";
    assert_snapshot!(check_connection("type: OutgoingWebhook, properties: { url: \"http://a.test\", secret: short }", alerts), @r"
    chatwright.yaml:3:57: error: messages would be sent without encryption
       = help: write `https://`, or `allowPrivate: true` for a server of your own network
    chatwright.yaml:3:82: error: the secret number 1 is not `whsec_` followed by 24 to 64 bytes in Base64
    ");
    assert_snapshot!(check_connection("type: OutgoingWebhook, properties: { url: a.test }", alerts), @r"
    chatwright.yaml:3:57: error: this is not the URL of a webhook
       = help: for example https://hooks.example.com/alerts
    ");
    assert_snapshot!(check_connection("type: Smtp, properties: { host: a.test, security: none, username: u, password: p, from: \"nobody\" }", alerts), @r"
    chatwright.yaml:3:65: error: the password would be sent unencrypted
       = help: use `startTls` or `tls`
    chatwright.yaml:3:103: error: this is not an e-mail address
       = help: `bot@example.com` or `Chat <bot@example.com>`
    ");
}

#[test]
fn chats_belong_to_messengers() {
    let check = |notify: &str| {
        let alerts = format!("[{{ id: a, when: {{ type: waitingJobs, above: 1 }}, notify: [{notify}] }}]");
        check_connection("type: Telegram, properties: { token: \"1:a\" }", &alerts)
    };
    assert_snapshot!(check("{ connectionId: hook, chat: \"-1001/7\" }"), @"");
    assert_snapshot!(check("{ connectionId: hook }"), @r"
    chatwright.yaml:6:67: error: nobody would get this message
       = help: add `chat`, the id of a chat in which the bot is
    ");
    assert_snapshot!(check("{ connectionId: hook, chat: \"1\", to: [a@b.test] }"), @"chatwright.yaml:6:104: error: a messenger has no addresses");
    assert_snapshot!(check("{ connectionId: mail, chat: \"1\", to: [a@b.test] }"), @"chatwright.yaml:6:95: error: only a messenger has chats");
    assert_snapshot!(check("{ connectionId: demo, chat: \"1\" }"), @r"
    chatwright.yaml:6:83: error: `demo` is a connection of the type Demo, which cannot be used here
       = help: use one of the type Smtp, OutgoingWebhook, Telegram, Slack, Discord, Feishu
    ");
}

#[tokio::test]
async fn states_and_messages_are_stored_until_they_are_old() {
    for url in test_postgres::databases_of_each_kind().await {
        let store = Schema::new(&[store::TABLES]).open(&url, "", Duration::ZERO).await.unwrap();
        let state = State { turning_at: Some(5), ..State::new(3) };
        let row = |owner: &str, value: f64| StateRow {
            alert_id: "quota".to_owned(),
            owner: owner.to_owned(),
            condition: "{}".to_owned(),
            state: State { value, is_firing: value > 1.0, ..state },
        };
        let event = |id: &str, owner: &str, at: i64| Event {
            id: id.to_owned(),
            alert_id: "quota".to_owned(),
            owner: owner.to_owned(),
            kind: "firing".to_owned(),
            at,
            title: "Quota".to_owned(),
            text: "Quota is used up.".to_owned(),
        };
        let day = 86_400_000;
        let (rows, events) =
            ([row("u1", 0.5), row("u1", 2.5), row("u2", 1.5)], [event("1", "u1", day), event("2", "u2", 91 * day)]);
        let (saved, inserted) = (rows.clone(), events.clone());
        let write = store.write(move |db| {
            Box::pin(async move {
                for row in &saved {
                    store::save(&mut *db, row).await?;
                }
                for event in &inserted {
                    store::insert_event(&mut *db, event, &["mail to a".to_owned(), "hook".to_owned()]).await?;
                }
                store::end_delivery(&mut *db, "2", 0, "waiting", Some("away".to_owned())).await?;
                store::end_delivery(&mut *db, "2", 1, "sent", None).await
            })
        });
        write.await.unwrap();
        assert_eq!(store::states(&store).await.unwrap(), rows[1..]);
        let found = store.read(|db| Box::pin(store::find(db, "quota", "u2"))).await.unwrap();
        assert_eq!(found.as_ref(), Some(&rows[2]));
        assert_eq!(
            store::find_waiting(&store, "2".to_owned(), 0).await.unwrap(),
            Some((events[1].clone(), "mail to a".to_owned()))
        );
        assert_eq!(store::find_waiting(&store, "2".to_owned(), 1).await.unwrap(), None, "it was sent");
        let listed = store::events(&store, 10).await.unwrap();
        let outcomes =
            |at: usize| listed[at].1.iter().map(|d| (d.outcome.as_str(), d.cause.as_deref())).collect::<Vec<_>>();
        assert_eq!(outcomes(0), [("waiting", Some("away")), ("sent", None)]);
        assert_eq!(store::ended_runs(&store, 0, None).await.unwrap(), (0, 0));
        assert_eq!(store::ended_runs(&store, 0, Some("helper")).await.unwrap(), (0, 0));

        store::prune(&store, 182 * day).await.unwrap();
        assert!(store::events(&store, 10).await.unwrap().is_empty());
        assert!(store::states(&store).await.unwrap().is_empty());
        store.close().await;
    }
}
