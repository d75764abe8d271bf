//! An agent's policy: its rules for one user, and the endpoint that is asked.

use super::endpoints;
use crate::auth::rights::{Gate, Rights};
use ::endpoints::Endpoints;
use agent::{Action, Asked, Policy, Rule, RuleSettings, Rules, Ruling};
use chat::{Caller, RoutineUse};
use config::PolicyAction;
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// For the endpoint's answer.
const TIME: Duration = Duration::from_secs(10);
/// What is read when the endpoint gives no reason, or no answer.
const NO_REASON: &str = "the agent's policy does not let this call run.";
const NO_ANSWER: &str = "the agent's policy could not be asked about this call.";

/// What is the same for all users.
#[derive(Clone)]
pub(super) struct AgentPolicy {
    rules: Arc<Rules>,
    endpoint: Option<(Arc<Endpoints>, String)>,
    rights: Arc<Rights>,
    counted: RoutineUse,
}

impl AgentPolicy {
    /// Reads the patterns.
    pub(super) fn build(
        policy: &config::Policy,
        endpoints: &Arc<Endpoints>,
        rights: &Arc<Rights>,
        counted: &RoutineUse,
    ) -> Result<Self, String> {
        let rules = policy.rules.iter().map(|rule| {
            Rule::new(RuleSettings {
                tools: rule.tools.clone(),
                roles: rule.roles.clone(),
                arguments: rule.arguments.clone(),
                action: action(rule.action),
                reason: rule.reason.clone(),
            })
        });
        let rules = Arc::new(Rules::new(rules.collect::<Result<_, _>>()?, action(policy.default)));
        let endpoint = policy.endpoint_id.clone().map(|id| (endpoints.clone(), id));
        Ok(Self { rules, endpoint, rights: rights.clone(), counted: counted.clone() })
    }

    /// For this user.
    pub(super) fn of(&self, caller: &Caller) -> Arc<dyn Policy> {
        let gate = self.rights.gate(caller);
        Arc::new(UserPolicy { policy: self.clone(), caller: caller.clone(), gate })
    }
}

fn action(action: PolicyAction) -> Action {
    match action {
        PolicyAction::Allow => Action::Allow,
        PolicyAction::Ask => Action::Ask,
        PolicyAction::Deny => Action::Deny,
    }
}

struct UserPolicy {
    policy: AgentPolicy,
    caller: Caller,
    gate: Arc<Gate>,
}

impl UserPolicy {
    /// Asks the endpoint; only what it plainly allows may run.
    async fn ask(&self, endpoints: &Endpoints, id: &str, asked: &Asked<'_>) -> Ruling {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64);
        let payload = json!({
            "toolName": asked.call.name,
            "toolInput": asked.call.input,
            "agentId": asked.agent_id,
            "userId": asked.user_id,
            "conversationId": asked.conversation_id,
            "isSubAgent": asked.is_sub_agent,
            "timestamp": now,
        });
        let models = self.policy.counted.of(&self.caller, asked.agent_id);
        let answer = endpoints::call(endpoints, self.gate.clone(), &self.caller, models, id, payload);
        match tokio::time::timeout(TIME, answer).await {
            Ok(Ok(answer)) => read(&answer),
            Ok(Err(error)) => {
                tracing::warn!(
                    endpoint = id,
                    error = error.message,
                    "the endpoint of a policy failed; the call is denied"
                );
                Ruling::Deny(NO_ANSWER.to_owned())
            }
            Err(_) => {
                tracing::warn!(endpoint = id, "the endpoint of a policy took too long; the call is denied");
                Ruling::Deny(NO_ANSWER.to_owned())
            }
        }
    }
}

impl Policy for UserPolicy {
    fn decide<'a>(&'a self, asked: Asked<'a>) -> BoxFuture<'a, Ruling> {
        async move {
            let roles = if self.caller.is_authenticated { self.caller.roles.as_slice() } else { &[] };
            let ruling = self.policy.rules.ruling(asked.call, roles);
            match (&self.policy.endpoint, ruling) {
                (Some((endpoints, id)), ruling @ (Ruling::Allow | Ruling::Ask)) => {
                    ruling.stricter(self.ask(endpoints, id, &asked).await)
                }
                (_, ruling) => ruling,
            }
        }
        .boxed()
    }
}

fn read(answer: &Value) -> Ruling {
    match (answer.get("allow"), answer.get("ask")) {
        (Some(Value::Bool(true)), None | Some(Value::Bool(false) | Value::Null)) => Ruling::Allow,
        (Some(Value::Bool(true)), Some(Value::Bool(true))) => Ruling::Ask,
        _ => {
            let reasons = answer.get("reasons").and_then(Value::as_array).into_iter().flatten();
            let texts: Vec<_> = reasons.filter_map(|reason| reason.get("message")?.as_str()).collect();
            Ruling::Deny(if texts.is_empty() { NO_REASON.to_owned() } else { texts.join(" ") })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_plain_yes_allows() {
        let check = |answer: Value, expected: Ruling| assert_eq!(read(&answer), expected, "{answer}");
        let denied = |text: &str| Ruling::Deny(text.to_owned());
        check(json!({ "allow": true }), Ruling::Allow);
        check(json!({ "allow": true, "ask": true }), Ruling::Ask);
        check(json!({ "allow": true, "ask": "maybe" }), denied(NO_REASON));
        check(json!({ "allow": "true" }), denied(NO_REASON));
        check(json!({ "allow": 1 }), denied(NO_REASON));
        check(json!({}), denied(NO_REASON));
        check(Value::Null, denied(NO_REASON));
        let reasons = json!([{ "code": "x", "message": "Not on Sundays." }, { "code": "y" }]);
        check(json!({ "allow": false, "reasons": reasons }), denied("Not on Sundays."));
    }
}
