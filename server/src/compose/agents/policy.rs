//! The policy of an agent or of the whole server: its rules, and the endpoint that also decides.

use crate::compose::endpoints;
use ::endpoints::Endpoints;
use agent::{Policy, PolicyQuery, PolicySettings, RulePolicy, Ruling};
use auth::rights::{CallerGate, Rights};
use chat::{Caller, RoutineMeters};
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Timeout for the endpoint.
const TIMEOUT: Duration = Duration::from_secs(10);
/// The reason if the endpoint denies without a reason, and if it fails.
const NO_REASON: &str = "the policy denies this call.";
const NO_ANSWER: &str = "the policy could not be evaluated for this call.";

/// The part of a policy that is the same for all users.
#[derive(Clone)]
pub(super) struct AgentPolicy {
    rules: Arc<RulePolicy>,
    endpoint: Option<(Arc<Endpoints>, String)>,
    rights: Arc<Rights>,
    counted: RoutineMeters,
}

impl AgentPolicy {
    /// Compiles the patterns of the rules.
    ///
    /// # Errors
    /// A pattern is invalid.
    pub(super) fn build(
        policy: &PolicySettings,
        endpoints: &Arc<Endpoints>,
        rights: &Arc<Rights>,
        counted: &RoutineMeters,
    ) -> Result<Self, String> {
        let rules = Arc::new(RulePolicy::new(policy)?);
        let endpoint = policy.endpoint_id.clone().map(|id| (endpoints.clone(), id));
        Ok(Self { rules, endpoint, rights: rights.clone(), counted: counted.clone() })
    }

    /// Returns the policy for this caller.
    pub(super) fn for_caller(&self, caller: &Caller) -> Arc<dyn Policy> {
        let gate = self.rights.gate(caller);
        Arc::new(UserPolicy { policy: self.clone(), caller: caller.clone(), gate })
    }
}

struct UserPolicy {
    policy: AgentPolicy,
    caller: Caller,
    gate: Arc<CallerGate>,
}

impl UserPolicy {
    /// Asks the endpoint. Anything but a clear permission denies the call.
    async fn ask(&self, endpoints: &Endpoints, id: &str, asked: &PolicyQuery<'_>) -> Ruling {
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
        let models = self.policy.counted.meter(&self.caller, asked.agent_id);
        let answer = endpoints::call(endpoints, self.gate.clone(), &self.caller, models, id, payload);
        match tokio::time::timeout(TIMEOUT, answer).await {
            Ok(Ok(answer)) => {
                let ruling = parse_ruling(&answer);
                if ruling != Ruling::Allow {
                    log_ruling(id, asked, &answer);
                }
                ruling
            }
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
    fn decide<'a>(&'a self, asked: PolicyQuery<'a>) -> BoxFuture<'a, Ruling> {
        async move {
            let ruling = self.policy.rules.ruling(asked.call, self.caller.roles());
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

/// Two policies, of which the stricter ruling counts.
struct BothPolicies {
    first: Arc<dyn Policy>,
    second: Arc<dyn Policy>,
}

impl Policy for BothPolicies {
    fn decide<'a>(&'a self, asked: PolicyQuery<'a>) -> BoxFuture<'a, Ruling> {
        async move {
            match self.first.decide(asked.clone()).await {
                denied @ Ruling::Deny(_) => denied,
                ruling => ruling.stricter(self.second.decide(asked).await),
            }
        }
        .boxed()
    }
}

/// Adds a policy before another one, if there is one.
pub(super) fn both(first: Arc<dyn Policy>, second: Option<Arc<dyn Policy>>) -> Arc<dyn Policy> {
    match second {
        Some(second) => Arc::new(BothPolicies { first, second }),
        None => first,
    }
}

/// Logs the endpoint's reasons for its decision beside the texts for the model and the user.
fn log_ruling(endpoint: &str, asked: &PolicyQuery<'_>, answer: &Value) {
    /// The maximum number of bytes of each value that are logged.
    const MAX_LOGGED: usize = 500;
    let cut = |value: Option<&Value>| {
        let text = value.map(Value::to_string).unwrap_or_default();
        text[..text.floor_char_boundary(MAX_LOGGED)].to_owned()
    };
    let codes: Vec<_> = reasons(answer).filter_map(|reason| reason.get("code")).cloned().collect();
    let codes = cut((!codes.is_empty()).then_some(Value::Array(codes)).as_ref());
    let (policy, metadata) = (cut(answer.get("policyId")), cut(answer.get("metadata")));
    let PolicyQuery { agent_id: agent, conversation_id: conversation, .. } = asked;
    let tool = asked.call.name.as_str();
    tracing::info!(
        endpoint,
        agent,
        conversation,
        tool,
        policy,
        codes,
        metadata,
        "a policy asks about a call or denies it"
    );
}

fn reasons(answer: &Value) -> impl Iterator<Item = &Value> {
    answer.get("reasons").and_then(Value::as_array).into_iter().flatten()
}

fn parse_ruling(answer: &Value) -> Ruling {
    match (answer.get("allow"), answer.get("ask")) {
        (Some(Value::Bool(true)), None | Some(Value::Bool(false) | Value::Null)) => Ruling::Allow,
        (Some(Value::Bool(true)), Some(Value::Bool(true))) => Ruling::Ask,
        _ => {
            let texts: Vec<_> = reasons(answer).filter_map(|reason| reason.get("message")?.as_str()).collect();
            Ruling::Deny(if texts.is_empty() { NO_REASON.to_owned() } else { texts.join(" ") })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_clear_permission_allows() {
        let check = |answer: Value, expected: Ruling| assert_eq!(parse_ruling(&answer), expected, "{answer}");
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
