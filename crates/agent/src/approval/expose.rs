//! Tells a run what is read in it.

use crate::{Event, EventSink, ExposureState, SinkClosed};
use contract::Annotations;

/// Adds what something reads, and emits the exposure if that changed it.
pub(crate) async fn expose<S: EventSink>(
    seen: &ExposureState,
    name: &str,
    marks: Annotations,
    sink: &mut S,
) -> Result<(), SinkClosed> {
    match seen.add(name, marks) {
        Some(exposure) => sink.emit(Event::Exposed { exposure }).await,
        None => Ok(()),
    }
}
