//! Notes the audit entries of calls that end.

use crate::record::audit::Auditor;
use crate::run::sink::observer::{EventRows, RunEvent, RunObserver};
use agent::Event;

impl RunObserver for Auditor {
    fn observe(&mut self, event: &RunEvent, rows: &mut EventRows) {
        rows.ended.extend(self.record(&event.event, event.agent_id()));
        match &event.event {
            // The calls of a sub-agent that still run end with the call that runs it.
            Event::ToolFinished { call_id, .. } => rows.cut_off = self.interrupt_below(call_id),
            Event::ToolStarted { call_id, .. } if event.sub_agent.is_some() => rows.gates = self.gates(call_id),
            _ => {}
        }
    }
}
