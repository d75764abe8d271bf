//! How chunks about tool calls change the message.

use crate::message::{Approval, ToolPart, ToolState};
use crate::reduce::{ChunkEffect, Input, ReduceError, Reducer};
use crate::{Chunk, UiPart};

/// The kind of tool. A declared and an undeclared tool with the same call id are two calls.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ToolKind {
    Static,
    Dynamic,
}

impl ToolKind {
    fn from_dynamic(dynamic: Option<bool>) -> Self {
        if dynamic == Some(true) { Self::Dynamic } else { Self::Static }
    }
}

impl Reducer {
    /// Applies a chunk about a tool call.
    pub(super) fn tool(&mut self, chunk: &Chunk) -> Result<ChunkEffect, ReduceError> {
        match chunk {
            Chunk::ToolInputStart { tool_call_id, tool_name, provider_executed, dynamic, title } => {
                let kind = ToolKind::from_dynamic(*dynamic);
                let change = self.upsert_call(tool_call_id, tool_name, kind, ToolState::InputStreaming, |tool| {
                    tool.provider_executed = provider_executed.or(tool.provider_executed);
                    tool.title = title.clone().or(tool.title.take());
                });
                let (ChunkEffect::Part(part) | ChunkEffect::Added(part)) = change else { return Ok(change) };
                self.inputs.retain(|input| input.part != part);
                self.inputs.push(Input { part, text: String::new(), changed: false });
                Ok(change)
            }
            Chunk::ToolInputDelta { tool_call_id, input_text_delta } => {
                let part = self.find(tool_call_id)?;
                let input = self.inputs.iter_mut().find(|input| input.part == part);
                let input = input.ok_or_else(|| ReduceError::NoSuchCall(tool_call_id.clone()))?;
                input.text.push_str(input_text_delta);
                input.changed = true;
                Ok(ChunkEffect::Part(part))
            }
            Chunk::ToolInputAvailable {
                tool_call_id,
                tool_name,
                input,
                provider_executed,
                provider_metadata,
                dynamic,
                title,
            } => Ok(self.upsert_call(
                tool_call_id,
                tool_name,
                ToolKind::from_dynamic(*dynamic),
                ToolState::InputAvailable,
                |tool| {
                    tool.input = Some(input.clone());
                    tool.provider_executed = provider_executed.or(tool.provider_executed);
                    tool.call_provider_metadata = provider_metadata.clone().or(tool.call_provider_metadata.take());
                    tool.title = title.clone().or(tool.title.take());
                },
            )),
            Chunk::ToolInputError {
                tool_call_id,
                tool_name,
                input,
                error_text,
                provider_executed,
                provider_metadata,
                dynamic,
            } => {
                let known = self.find_in_step(tool_call_id, |_| true);
                let kind = known.map_or(ToolKind::from_dynamic(*dynamic), |at| self.kind(at));
                Ok(self.upsert_call(tool_call_id, tool_name, kind, ToolState::OutputError, |tool| {
                    let slot = if tool.dynamic { &mut tool.input } else { &mut tool.raw_input };
                    *slot = Some(input.clone());
                    tool.error_text = Some(error_text.clone());
                    tool.provider_executed = provider_executed.or(tool.provider_executed);
                    // The AI SDK's client stores this with the result, because the state is one of
                    // a result.
                    tool.result_provider_metadata = provider_metadata.clone().or(tool.result_provider_metadata.take());
                }))
            }
            Chunk::ToolApprovalRequest { approval_id, tool_call_id, terms, approved } => {
                self.update_call(tool_call_id, |tool| {
                    let is_decided = approved.is_some();
                    tool.state = if is_decided { ToolState::ApprovalResponded } else { ToolState::ApprovalRequested };
                    let approval = Approval::new(approval_id);
                    tool.approval = Some(Approval { terms: terms.clone(), approved: *approved, ..approval });
                })
            }
            Chunk::ToolOutputAvailable {
                tool_call_id,
                output,
                provider_executed,
                provider_metadata,
                preliminary,
                ..
            } => self.update_call(tool_call_id, |tool| {
                tool.state = ToolState::OutputAvailable;
                tool.output = Some(output.clone());
                (tool.error_text, tool.raw_input) = (None, None);
                tool.preliminary = *preliminary;
                tool.provider_executed = provider_executed.or(tool.provider_executed);
                tool.result_provider_metadata = provider_metadata.clone().or(tool.result_provider_metadata.take());
            }),
            Chunk::ToolOutputError { tool_call_id, error_text, provider_executed, .. } => {
                self.update_call(tool_call_id, |tool| {
                    tool.state = ToolState::OutputError;
                    tool.error_text = Some(error_text.clone());
                    (tool.output, tool.preliminary) = (None, None);
                    tool.provider_executed = provider_executed.or(tool.provider_executed);
                })
            }
            Chunk::ToolOutputDenied { tool_call_id } => {
                self.update_call(tool_call_id, |tool| tool.state = ToolState::OutputDenied)
            }
            // All other chunks are handled by the caller.
            _ => Ok(ChunkEffect::None),
        }
    }

    /// Returns the index of the newest part with this call id.
    fn find(&self, call_id: &str) -> Result<usize, ReduceError> {
        let is_it = |part: &UiPart| part.as_tool().is_some_and(|tool| tool.tool_call_id == call_id);
        self.message.parts.iter().rposition(is_it).ok_or_else(|| ReduceError::NoSuchCall(call_id.to_owned()))
    }

    /// Returns the index of the first call of the newest step with this id for which `is_it` holds.
    fn find_in_step(&self, call_id: &str, is_it: impl Fn(&ToolPart) -> bool) -> Option<usize> {
        let parts = &self.message.parts;
        let step = parts.iter().rposition(|part| matches!(part, UiPart::StepStart)).map_or(0, |start| start + 1);
        let mut calls = parts.iter().enumerate().skip(step).filter_map(|(at, part)| Some((at, part.as_tool()?)));
        calls.find(|(_, tool)| tool.tool_call_id == call_id && is_it(tool)).map(|(at, _)| at)
    }

    fn kind(&self, at: usize) -> ToolKind {
        ToolKind::from_dynamic(self.message.parts[at].as_tool().map(|tool| tool.dynamic))
    }

    /// Moves a call of this step and kind to a new state, or adds it. Data of the earlier state is
    /// dropped.
    fn upsert_call(
        &mut self,
        call_id: &str,
        name: &str,
        kind: ToolKind,
        state: ToolState,
        change: impl FnOnce(&mut ToolPart),
    ) -> ChunkEffect {
        let dynamic = kind == ToolKind::Dynamic;
        let (at, result) = match self.find_in_step(call_id, |tool| tool.dynamic == dynamic) {
            Some(at) => (at, ChunkEffect::Part(at)),
            None => {
                let tool = ToolPart { dynamic, ..ToolPart::new(call_id, name) };
                self.message.parts.push(UiPart::Tool(Box::new(tool)));
                let at = self.message.parts.len() - 1;
                (at, ChunkEffect::Added(at))
            }
        };
        // The arguments are complete or start again.
        self.inputs.retain(|input| input.part != at);
        if let UiPart::Tool(tool) = &mut self.message.parts[at] {
            tool.state = state;
            name.clone_into(&mut tool.tool_name);
            (tool.input, tool.raw_input, tool.output) = (None, None, None);
            (tool.error_text, tool.preliminary) = (None, None);
            change(tool);
        }
        result
    }

    fn update_call(&mut self, call_id: &str, change: impl FnOnce(&mut ToolPart)) -> Result<ChunkEffect, ReduceError> {
        let at = self.find(call_id)?;
        self.settle();
        if let UiPart::Tool(tool) = &mut self.message.parts[at] {
            change(tool);
        }
        Ok(ChunkEffect::Part(at))
    }
}
