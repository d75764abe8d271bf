//! Reports calls and usage to telemetry.

use crate::record::telemetry::Recorder;
use crate::run::sink::observer::{EventRows, RunEvent, RunObserver};
use agent::Event;

impl RunObserver for Recorder {
    fn observe(&mut self, event: &RunEvent, rows: &mut EventRows) {
        if let Event::ToolStarted { call_id, name, .. } = &event.event {
            self.started(event.agent_id(), call_id, name);
        }
        rows.ended.iter().chain(&rows.cut_off).for_each(|call| self.called(call));
        rows.steps.iter().for_each(|step| self.replied(step));
    }
}
