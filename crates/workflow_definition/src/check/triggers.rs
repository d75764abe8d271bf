//! Checks of triggers.

use super::{Checker, key, path_step};
use crate::Place;
use crate::{CronTrigger, MAX_EVENT_NAME, Trigger, TriggerKind, TriggerQuota, WebhookSender, is_event_name};
use config::{PathStep, SectionProblems};
use schedules::{Schedule, SchedulePart};
use serde_json::Value;
use settings::Text;
use std::collections::HashSet;
use store::EventKind;

/// The operators that read a value in a trigger.
const OPERATORS: [&str; 3] = ["_event", "_expr", "_template"];

/// The most triggers of a workflow. All servers look for what each of them waits for.
const MAX_TRIGGERS: usize = 50;

impl<'c> Checker<'c, '_, '_, '_> {
    pub(super) fn check_triggers(&mut self) {
        if self.workflow.triggers.len() > MAX_TRIGGERS {
            self.error(&[key("triggers")], format!("a workflow has at most {MAX_TRIGGERS} triggers"), None);
        }
        let mut ids = HashSet::new();
        for (index, trigger) in self.workflow.triggers.iter().enumerate() {
            self.within(&[key("triggers"), Place::Index(index)], |here| {
                if !ids.insert(trigger.id.0.as_str()) {
                    here.error(&[key("id")], format!("there are two triggers with the id `{}`", trigger.id.0), None);
                }
                here.check_trigger(trigger);
            });
        }
    }

    fn check_trigger(&mut self, trigger: &Trigger) {
        match &trigger.kind {
            TriggerKind::Cron(cron) => self.check_cron(cron),
            TriggerKind::Webhook(webhook) => {
                let path: Vec<_> = self.place.iter().map(path_step).chain([PathStep::Key("connectionId")]).collect();
                self.problems.check_connection::<WebhookSender>(&path, &webhook.connection_id.0);
            }
            TriggerKind::Event(event) => self.check_event(&event.event.0, event.senders.as_ref()),
        }
        self.check_rights(trigger);
        for (name, value) in [("if", &trigger.condition), ("input", &trigger.input)] {
            if value.is_some() {
                let path: Vec<_> = self.place.iter().map(path_step).chain([PathStep::Key(name)]).collect();
                self.problems.check_operators(&path, &OPERATORS);
            }
        }
        if trigger.input.as_ref().is_some_and(|input| !matches!(input, Value::Object(_))) {
            let help = "write the keys of the input, each with its value: `input: { order: { _event: body.order } }`";
            self.error(&[key("input")], "the input of a run is a mapping", Some(help.to_owned()));
        }
    }

    fn check_cron(&mut self, cron: &CronTrigger) {
        if let Err(error) = Schedule::parse(&cron.cron.0, cron.time_zone()) {
            let name = match error.part {
                SchedulePart::Expression => "cron",
                SchedulePart::TimeZone => "timeZone",
            };
            self.error(&[key(name)], error.message, error.help);
        }
    }

    /// Checks the keys `event` and `senders` of a trigger or a step.
    pub(super) fn check_event(&mut self, name: &str, senders: Option<&Vec<Text>>) {
        let names = EventKind::ALL.map(EventKind::name);
        if !is_event_name(name) {
            let help = Some(format!("use up to {MAX_EVENT_NAME} letters, digits, `.`, `_` and `-`"));
            self.error(&[key("event")], format!("`{name}` cannot be the name of an event"), help);
        } else if names.contains(&name) {
            if senders.is_some() {
                let message = format!("programs cannot report `{name}`: it is an event of the product");
                self.error(&[key("senders")], message, Some("leave `senders` out".to_owned()));
            }
        } else if let Some(nearest) = SectionProblems::nearest_name(name, names) {
            let help = Some(format!("did you mean `{nearest}`? Events that programs report need another name"));
            self.error(&[key("event")], format!("the product has no event `{name}`"), help);
        }
        if senders.is_some_and(Vec::is_empty) {
            let help = Some("name roles, or leave it out for `admin`".to_owned());
            self.error(&[key("senders")], "no role may report this event", help);
        }
    }

    /// Reports that it is said twice, or not at all, with which rights the steps run.
    fn check_rights(&mut self, trigger: &Trigger) {
        self.check_quota(trigger);
        match (trigger.run_as.as_ref().and_then(|rights| rights.roles.as_ref()), &self.workflow.run_as) {
            (Some(_), Some(_)) => {
                let help =
                    Some("the `runAs` of the workflow applies to all its runs; leave out one of them".to_owned());
                self.error(&[key("runAs")], "the workflow has `runAs`, too", help);
            }
            (None, None) => {
                let help =
                    Some("a trigger has no user: say `runAs: { roles: [clerk] }` here or at the workflow".to_owned());
                self.error(&[key("id")], "it is not defined with which rights the steps run", help);
            }
            _ => {}
        }
    }

    fn check_quota(&mut self, trigger: &Trigger) {
        let Some(TriggerQuota { messages, tokens, cost_usd, .. }) = trigger.run_as.as_ref().and_then(|it| it.quota)
        else {
            return;
        };
        let at = [key("runAs"), key("quota")];
        if messages.is_none() && tokens.is_none() && cost_usd.is_none() {
            let help = Some("set `messages`, `tokens` or `costUsd`".to_owned());
            self.error(&at, "this quota bounds nothing", help);
        }
        if cost_usd.is_some_and(|cost| !cost.is_finite() || cost < 0.0) {
            self.error(&at, "`costUsd` is an amount of at least 0", None);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{WebhookSender, Workflows};
    use config::{ConnectionType, Language, SectionType};
    use insta::assert_snapshot;

    const REST: &str = "
connections:
  - { id: demo, type: Demo }
  - { id: shop, type: Webhook, properties: { scheme: Bearer, secrets: [a key of the shop] } }
";

    /// Reads a config and returns its problems.
    fn read(text: &str) -> String {
        let language = Language::new(&[SectionType::of::<Workflows>()], &[ConnectionType::of::<WebhookSender>()]);
        match language.read_text(text) {
            Ok((config, _)) => {
                let all = config.section::<Workflows>().map_or(&[][..], |all| &all.0);
                format!("{} triggers", all.iter().map(|workflow| workflow.triggers.len()).sum::<usize>())
            }
            Err(problems) => config::render(&problems),
        }
    }

    /// Checks the triggers of one workflow, each of which is one line.
    fn check(more: &str, triggers: &[&str]) -> String {
        let triggers: String = triggers.iter().map(|trigger| format!("    - {trigger}\n")).collect();
        let steps = "  steps: [{ id: pause, type: wait, seconds: 1 }]";
        read(&format!("workflows:\n- id: invoice\n{more}{steps}\n  triggers:\n{triggers}{REST}"))
    }

    #[test]
    fn triggers_of_all_types_are_accepted() {
        assert_snapshot!(check("", &[
            "{ id: a, type: cron, cron: '30 2 * * MON-FRI', timeZone: Europe/Berlin, missed: all, runAs: { roles: [] } }",
            "{ id: b, type: webhook, connectionId: shop, if: { _event: body.paid }, input: { order: { _event: body.order } }, runAs: { roles: [admin] } }",
            "{ id: c, type: event, event: run.ended, runAs: { roles: [] } }",
            "{ id: d, type: event, event: order.shipped, senders: [admin], input: { n: { _expr: event.data.n } }, runAs: { roles: [] } }",
        ]), @"4 triggers");
        assert_snapshot!(check("  runAs: { roles: [admin] }\n", &["{ id: a, type: cron, cron: '* * * * *' }"]), @"1 triggers");
    }

    #[test]
    fn mistakes_are_reported_at_their_positions() {
        assert_snapshot!(check("  runAs: { roles: [admin] }\n", &[
            "{ id: a, type: cron, cron: '0 30 9 * * *' }",
            "{ id: b, type: cron, cron: '30 9 * * *', timeZone: Europe/Berlln }",
            "{ id: c, type: cron, cron: '@daily', runAs: { roles: [] } }",
            "{ id: c, type: webhook, connectionId: demo }",
            "{ id: d, type: webhook, connectionId: shp }",
            "{ id: e, type: event, event: run.endet }",
            "{ id: f, type: event, event: run.ended, senders: [admin] }",
            "{ id: g, type: event, event: order shipped, senders: [] }",
        ]), @r#"
        chatwright.yaml:6:34: error: a cron expression has 5 fields, this has 6
           |
         6 |     - { id: a, type: cron, cron: '0 30 9 * * *' }
           |                                  ^^^^^^^^^^^^^^^
           = help: seconds are not supported; without them it is `30 9 * * *`

        chatwright.yaml:7:58: error: there is no time zone `Europe/Berlln`
           |
         7 |     - { id: b, type: cron, cron: '30 9 * * *', timeZone: Europe/Berlln }
           |                                                          ^^^^^^^^^^^^^
           = help: did you mean `Europe/Berlin`?

        chatwright.yaml:8:34: error: `@daily` is not a cron expression
           |
         8 |     - { id: c, type: cron, cron: '@daily', runAs: { roles: [] } }
           |                                  ^^^^^^^^
           = help: write `0 0 * * *`

        chatwright.yaml:8:51: error: the workflow has `runAs`, too
           |
         8 |     - { id: c, type: cron, cron: '@daily', runAs: { roles: [] } }
           |                                                   ^
           = help: the `runAs` of the workflow applies to all its runs; leave out one of them

        chatwright.yaml:9:13: error: there are two triggers with the id `c`
           |
         9 |     - { id: c, type: webhook, connectionId: demo }
           |             ^

        chatwright.yaml:9:45: error: this needs a connection of the type Webhook; `demo` is of the type Demo
           |
         9 |     - { id: c, type: webhook, connectionId: demo }
           |                                             ^^^^

        chatwright.yaml:10:45: error: there is no connection `shp`
            |
         10 |     - { id: d, type: webhook, connectionId: shp }
            |                                             ^^^
            = help: did you mean `shop`?

        chatwright.yaml:11:36: error: the product has no event `run.endet`
            |
         11 |     - { id: e, type: event, event: run.endet }
            |                                    ^^^^^^^^^
            = help: did you mean `run.ended`? Events that programs report need another name

        chatwright.yaml:12:56: error: programs cannot report `run.ended`: it is an event of the product
            |
         12 |     - { id: f, type: event, event: run.ended, senders: [admin] }
            |                                                        ^
            = help: leave `senders` out

        chatwright.yaml:13:36: error: `order shipped` cannot be the name of an event
            |
         13 |     - { id: g, type: event, event: order shipped, senders: [] }
            |                                    ^^^^^^^^^^^^^
            = help: use up to 100 letters, digits, `.`, `_` and `-`

        chatwright.yaml:13:60: error: no role may report this event
            |
         13 |     - { id: g, type: event, event: order shipped, senders: [] }
            |                                                            ^
            = help: name roles, or leave it out for `admin`
        "#);
        assert_snapshot!(check("", &[
            "{ id: a, type: cron, cron: '30 9 * * *' }",
            "{ id: b, type: event, event: order.lost, input: { _event: data }, if: { _state: x }, runAs: { roles: [] } }",
            "{ id: c, type: event, event: order.lost, input: [1], runAs: { roles: [] } }",
        ]), @r#"
        chatwright.yaml:5:13: error: it is not defined with which rights the steps run
           |
         5 |     - { id: a, type: cron, cron: '30 9 * * *' }
           |             ^
           = help: a trigger has no user: say `runAs: { roles: [clerk] }` here or at the workflow

        chatwright.yaml:6:79: error: the operator `_state` has no meaning here
           |
         6 | …ost, input: { _event: data }, if: { _state: x }, runAs: { roles: [] } }
           |                                      ^^^^^^
           = help: what can be read here: `_event`, `_expr` and `_template`; operators that only compute are allowed, too

        chatwright.yaml:7:55: error: the input of a run is a mapping
           |
         7 |     - { id: c, type: event, event: order.lost, input: [1], runAs: { roles: [] } }
           |                                                       ^
           = help: write the keys of the input, each with its value: `input: { order: { _event: body.order } }`
        "#);
    }

    #[test]
    fn quotas_of_triggers_are_checked() {
        let run_as = "runAs: { roles: [admin], quota: { per: day, tokens: 5 } }";
        assert_snapshot!(check("", &[&format!("{{ id: a, type: cron, cron: '* * * * *', {run_as} }}")]), @"1 triggers");
        // The workflow says the roles.
        let quota = "runAs: { quota: { per: month, messages: 5 } }";
        let trigger = format!("{{ id: a, type: cron, cron: '* * * * *', {quota} }}");
        assert_snapshot!(check("  runAs: { roles: [admin] }\n", &[&trigger]), @"1 triggers");
        assert_snapshot!(check("", &[
            "{ id: a, type: cron, cron: '* * * * *', runAs: { roles: [], quota: { per: day } } }",
            "{ id: b, type: cron, cron: '* * * * *', runAs: { quota: { per: day, tokens: 5 } } }",
        ]), @r#"
        chatwright.yaml:5:74: error: this quota bounds nothing
           |
         5 |     - { id: a, type: cron, cron: '* * * * *', runAs: { roles: [], quota: { per: day } } }
           |                                                                          ^
           = help: set `messages`, `tokens` or `costUsd`

        chatwright.yaml:6:13: error: it is not defined with which rights the steps run
           |
         6 |     - { id: b, type: cron, cron: '* * * * *', runAs: { quota: { per: day, tokens: 5 } } }
           |             ^
           = help: a trigger has no user: say `runAs: { roles: [clerk] }` here or at the workflow
        "#);
    }

    #[test]
    fn secrets_of_senders_are_checked() {
        let check = |properties: &str| {
            read(&format!("connections: [{{ id: shop, type: Webhook, properties: {properties} }}]\n"))
        };
        assert_snapshot!(check("{ scheme: Standard, secrets: [short] }"), @r#"
        chatwright.yaml:1:83: error: the secret number 1 is not `whsec_` followed by 24 to 64 bytes in Base64
           |
         1 | connections: [{ id: shop, type: Webhook, properties: { scheme: Standard, secrets: [short] } }]
           |                                                                                   ^
           = help: create one with `echo whsec_$(openssl rand -base64 32)`, and enter it at the service, too
        "#);
        assert_snapshot!(check("{ scheme: GitHub, secrets: [short], toleranceSeconds: 10 }"), @r#"
        chatwright.yaml:1:81: error: the secret number 1 has fewer than 16 characters
           |
         1 | …perties: { scheme: GitHub, secrets: [short], toleranceSeconds: 10 } }]
           |                                      ^
           = help: create one with `openssl rand -hex 32`

        chatwright.yaml:1:108: error: requests of the scheme `GitHub` have no signed time
           |
         1 | …secrets: [short], toleranceSeconds: 10 } }]
           |                                      ^^
           = help: leave it out
        "#);
        assert_snapshot!(check("{ scheme: Github, secrets: [] }"), @r#"
        chatwright.yaml:1:64: error: there is no value `Github`
           |
         1 | connections: [{ id: shop, type: Webhook, properties: { scheme: Github, secrets: [] } }]
           |                                                                ^^^^^^
           = help: did you mean `GitHub`?

        chatwright.yaml:1:81: error: expected a list of at least 1, found 0
           |
         1 | connections: [{ id: shop, type: Webhook, properties: { scheme: Github, secrets: [] } }]
           |                                                                                 ^
        "#);
    }
}
