//! Notifies the hooks of the run.

use crate::run::hooks::HookObserver;
use crate::run::sink::observer::{EventRows, RunEvent, RunObserver};

impl RunObserver for Option<HookObserver> {
    fn observe(&mut self, event: &RunEvent, _: &mut EventRows) {
        // The hooks see only what the run's own agent does.
        if let (Some(hooks), None) = (self, &event.sub_agent) {
            hooks.observe(&event.event);
        }
    }
}
