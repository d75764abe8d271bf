//! The adapter from a function to a tool.

use super::base::BaseFolder;
use super::budget::WalkBudget;
use super::input::parse_input;
use contract::{Tool, ToolContext, ToolError, ToolSpec};
use futures::future::BoxFuture;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// A tool that reads a base folder.
pub(super) struct FileTool<I> {
    spec: ToolSpec,
    base: Arc<BaseFolder>,
    /// Bounds the concurrent calls, including those whose thread still waits for the disk after
    /// their timeout.
    slots: Arc<Semaphore>,
    run: fn(&BaseFolder, I, &mut WalkBudget) -> Result<Value, ToolError>,
}

impl<I> FileTool<I> {
    pub(super) fn new(
        spec: ToolSpec,
        run: fn(&BaseFolder, I, &mut WalkBudget) -> Result<Value, ToolError>,
        base: &Arc<BaseFolder>,
        slots: &Arc<Semaphore>,
    ) -> Self {
        Self { spec, base: base.clone(), slots: slots.clone(), run }
    }
}

impl<I: DeserializeOwned + Send + 'static> Tool for FileTool<I> {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call(&self, input: Value, context: ToolContext) -> BoxFuture<'_, Result<Value, ToolError>> {
        Box::pin(async move {
            let stopped = || ToolError::new("Stopped before it finished.");
            let input = parse_input(input)?;
            let slot = tokio::select! {
                slot = self.slots.clone().acquire_owned() => slot.map_err(|_| stopped())?,
                () = context.cancel.cancelled() => return Err(stopped()),
            };
            let (base, run) = (self.base.clone(), self.run);
            let running = tokio::task::spawn_blocking(move || {
                let _slot = slot;
                run(&base, input, &mut WalkBudget::new(context.cancel))
            });
            match running.await.map_err(tokio::task::JoinError::try_into_panic) {
                Ok(result) => result,
                // The panic continues here, because the loop handles panics of tools.
                Err(Ok(panic)) => std::panic::resume_unwind(panic),
                Err(Err(_)) => Err(stopped()),
            }
        })
    }
}
