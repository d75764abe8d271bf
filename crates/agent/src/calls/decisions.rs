//! Applies what the user has decided about calls of an earlier run, before the model is asked.

use crate::approval::{exposure, policy};
use crate::calls::execution::RunnableCall;
use crate::calls::handling::{emit_failure, emit_grant};
use crate::calls::outcome::output;
use crate::calls::validation::{CallTarget, InvalidCall};
use crate::model::reply::RunFailure;
use crate::model::retry;
use crate::run::Run;
use crate::sub_agent::Resumption;
use crate::{Decision, Event, EventSink, PendingCall, Ruling, skipped_call_text};
use contract::{AssistantPart, Message, ToolCall, ToolOutput, ToolResult, ToolSpec};
use std::collections::HashMap;
use std::sync::Arc;

impl Run<'_> {
    /// Applies the user's decisions before the model is asked: approved calls run, denied ones get
    /// their result. Returns whether all of them have their results now; a resumed call may request
    /// a further approval, and calls of the browser are handed over to it.
    pub(crate) async fn apply_decisions<S: EventSink>(&mut self, sink: &mut S) -> Result<bool, RunFailure> {
        let pending = std::mem::take(&mut self.pending);
        if pending.is_empty() {
            return Ok(true);
        }
        if !self.caller.policies.is_empty() {
            self.complete_history().await;
        }
        let (mut ready, mut outputs, mut is_handed_over) = (Vec::new(), HashMap::new(), false);
        for PendingCall { call, decision, state, tool_fingerprint: asked, grant, cut_off } in pending {
            let exposed =
                asked.as_deref().filter(|asked| exposure::is_exposed(asked)).map(|_| self.caller.exposure.snapshot());
            sink.emit(Event::CallDecided { call: call.clone(), decision: decision.clone(), exposed, cut_off }).await?;
            let resumed = match state {
                // For a suspended call, a denial is an input like an approval.
                Some(state) => Some(Resumption { state, decision: decision.clone(), grant }),
                None => {
                    emit_grant(&call, grant, sink).await?;
                    None
                }
            };
            match decision.clone() {
                Decision::Denied(reason) if resumed.is_none() => {
                    sink.emit(Event::ToolDenied { call_id: call.id.clone(), reason: reason.clone() }).await?;
                    let output = if cut_off {
                        // The call may have had its effect, unlike one that is denied before it
                        // runs.
                        ToolOutput::ErrorText(skipped_call_text(reason.as_deref()))
                    } else {
                        ToolOutput::Denied(reason)
                    };
                    outputs.insert(call.id, (call.name, output));
                }
                // The tools may have changed since the user was asked, so the arguments are checked
                // again.
                _ => match self.resolve_decided(&call).await? {
                    Ok(runner) if asked.is_some_and(|asked| !exposure::matches_tool(&asked, runner.spec())) => {
                        let ruling = self.ruling(&call, &runner).await;
                        self.request_approval(call, runner.spec(), &ruling, cut_off, sink).await?;
                    }
                    // The policy may have changed, too, and the user may have edited the arguments.
                    // A ruling of `Ask` is satisfied by the user's approval.
                    Ok(runner) => match self.ruling(&call, &runner).await {
                        Ruling::Deny(reason) if resumed.is_none() => {
                            let ruling = Ruling::Deny(reason.clone());
                            sink.emit(Event::CallRuled { call_id: call.id.clone(), ruling }).await?;
                            let result = emit_failure(&call, policy::denied(&reason), false, sink).await?;
                            outputs.insert(call.id, (call.name, output(&result)));
                        }
                        ruling if !self.may_resume(&call, runner.spec(), &decision, &ruling, sink).await? => {}
                        _ if runner.spec().execution.is_client() => {
                            is_handed_over = true;
                            self.last_has_run |= self.count_last([&call.name]) > 0;
                            self.hand_over(&call, runner.spec(), sink).await?;
                            sink.emit(Event::CallHandedOver { call }).await?;
                        }
                        _ => ready.push(RunnableCall { call, runner, resumed }),
                    },
                    Err(unusable) => {
                        let result = emit_failure(&call, unusable.error, unusable.dynamic, sink).await?;
                        outputs.insert(call.id, (call.name, output(&result)));
                    }
                },
            }
        }
        let names: HashMap<_, _> =
            ready.iter().map(|RunnableCall { call, .. }| (call.id.clone(), call.name.clone())).collect();
        self.last_has_run |= self.count_last(names.values()) > 0;
        self.caller.meter.count_tool_calls(ready.len());
        let results = self.run_ready(ready, sink).await?;
        outputs.extend(results.into_iter().map(|(id, result)| {
            let name = names.get(&id).cloned().unwrap_or_default();
            (id, (name, output(&result)))
        }));
        self.check_not_stopped()?;
        self.add_results(outputs);
        // The model should react to a denial, and to a call that does not fit its tool any more.
        self.is_last = self.last_has_run || self.waiting_last() > 0;
        Ok(self.waiting.is_empty() && !is_handed_over)
    }

    /// Returns the tool of a decided call, unless the run is stopped meanwhile.
    async fn resolve_decided(&self, call: &ToolCall) -> Result<Result<CallTarget, InvalidCall>, RunFailure> {
        let fitting = self.caller.cancel.run_until_cancelled(self.offer.resolve(call, &call.input)).await;
        fitting.ok_or_else(|| retry::cancelled_error().into())
    }

    /// Returns whether a decided call may run. An interrupted call may need another approval,
    /// unless its tool is idempotent; even then the policy and the exposure are checked as they are
    /// now.
    async fn may_resume<S: EventSink>(
        &mut self,
        call: &ToolCall,
        tool: &ToolSpec,
        decision: &Decision,
        ruling: &Ruling,
        sink: &mut S,
    ) -> Result<bool, RunFailure> {
        match *decision {
            Decision::Again { .. } if !tool.annotations.idempotent => {
                self.request_approval(call.clone(), tool, ruling, true, sink).await?;
                Ok(false)
            }
            Decision::Again { approved: false } => self.may_run(call, tool, ruling, true, sink).await,
            _ => Ok(true),
        }
    }

    /// Adds results to the tool message after the last assistant message, in call order.
    fn add_results(&mut self, mut outputs: HashMap<String, (String, ToolOutput)>) {
        let mut known = match self.messages.last().map(|last| &**last) {
            Some(Message::Tool(results)) => {
                let results = results.clone();
                self.messages.pop();
                results
            }
            _ => Vec::new(),
        };
        let Some(Message::Assistant(parts)) = self.messages.last().map(|last| &**last) else { return };
        let mut ordered = Vec::new();
        for part in parts {
            let AssistantPart::ToolCall(call) = part else { continue };
            if let Some(at) = known.iter().position(|result| result.call_id == call.id) {
                ordered.push(known.remove(at));
            } else if let Some((name, output)) = outputs.remove(&call.id) {
                ordered.push(ToolResult { call_id: call.id.clone(), name, output, metadata: None });
            }
        }
        if !ordered.is_empty() {
            self.messages.push(Arc::new(Message::Tool(ordered)));
        }
    }
}
