//! The hooks of an agent in an invocation. They are notified as in a conversation, but there is no
//! message that they could add parts to.

use crate::run::hooks::{HookEnd, HookObserver};
use crate::{AgentRequest, AgentSource, Caller};
use agent::{Agent, InvocationResult, InvokeError, Limit};
use contract::Execution;
use serde_json::Value;
use transcript::to_wire;
use wire::invoke::InvokeTools;
use wire::message::TextPart;
use wire::{FinishReason, Role, UiMessage, UiPart};

/// Notifies the agent's hooks that an invocation starts, and returns the observer that notifies them
/// of what follows; `None` if the agent has none.
pub(super) fn observer(
    agents: &dyn AgentSource,
    caller: &Caller,
    agent: &Agent,
    id: &str,
    prompt: &str,
    tools: &InvokeTools,
) -> Option<HookObserver> {
    let hooks = agents.hooks(&AgentRequest::without_page(caller, &agent.id))?;
    let prompt = UiMessage::user(format!("{id}-prompt"), prompt);
    let on_server = agent.tools.iter().map(|tool| tool.spec()).filter(|spec| spec.execution == Execution::Server);
    let specs = on_server.chain(agent.agents.iter().map(|below| &below.spec));
    let names: Vec<_> = specs.map(|spec| spec.name.as_str()).filter(|name| offers(tools, name)).collect();
    Some(HookObserver::with_tools(hooks, vec![prompt], agent.model.id(), &names))
}

fn offers(tools: &InvokeTools, name: &str) -> bool {
    match tools {
        InvokeTools::All(all) => *all,
        InvokeTools::Named(names) => names.iter().any(|one| one == name),
    }
}

/// Returns the end of an invocation, with its answer as a message.
pub(super) fn end(id: &str, answer: &InvocationResult) -> HookEnd {
    let text = match &answer.output {
        Ok(Value::String(text)) | Err(InvokeError::Incomplete { text, .. }) => Some(text.clone()),
        Ok(output) => Some(output.to_string()),
        Err(_) => None,
    };
    let text = text.map(|text| UiPart::Text(TextPart { text, ..TextPart::default() }));
    let message = UiMessage { parts: text.into_iter().collect(), ..UiMessage::new(id, Role::Assistant) };
    let mut own = answer.replies.iter().filter(|reply| reply.below.is_none());
    let finish_reason = match (&answer.output, own.next_back()) {
        (Err(InvokeError::Incomplete { limit: Limit::OutputTokens, .. }), _) => FinishReason::Length,
        (Err(InvokeError::Incomplete { .. }), _) => FinishReason::ContentFilter,
        (Err(_), _) => FinishReason::Error,
        (Ok(_), Some(last)) => to_wire::finish_reason(last.usage.finish_reason),
        (Ok(_), None) => FinishReason::Stop,
    };
    let costs = answer.replies.iter().filter_map(|reply| reply.usage.cost_usd);
    HookEnd {
        message,
        finish_reason,
        is_aborted: matches!(answer.output, Err(InvokeError::Stopped)),
        usage: answer.usage,
        cost_usd: costs.reduce(|sum, cost| sum + cost),
    }
}
