//! Collects the tools of a turn: the agent's own, and those that its sources currently offer.

use crate::approval::expose::expose;
use crate::{Agent, Event, EventSink, ExposureState, SinkClosed};
use contract::{RunScope, SourceTools, Tool};
use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// The agent with the tools of its sources, and the contexts of the sources with their names.
type Gathered<'a> = (Cow<'a, Agent>, Vec<(String, String)>);

/// Asks all sources concurrently. A source that fails is reported to the user and does not block
/// the turn.
pub(crate) async fn with_source_tools<'a, S: EventSink>(
    agent: &'a Agent,
    (scope, seen): (&RunScope, &ExposureState),
    cancel: &CancellationToken,
    sink: &mut S,
) -> Result<Gathered<'a>, SinkClosed> {
    if agent.sources.is_empty() {
        return Ok((Cow::Borrowed(agent), Vec::new()));
    }
    let asked = futures::future::join_all(agent.sources.iter().map(|source| source.tools(scope)));
    let Some(answers) = cancel.run_until_cancelled(asked).await else {
        return Ok((Cow::Borrowed(agent), Vec::new()));
    };
    let (mut agent, mut contexts) = (agent.clone(), Vec::new());
    let sources = std::mem::take(&mut agent.sources);
    for (source, tools) in sources.iter().zip(answers) {
        match tools {
            Ok(SourceTools { tools, context, context_annotations: context_marks, note_annotations, .. }) => {
                add(&mut agent, source.name(), tools);
                expose(seen, source.name(), note_annotations, sink).await?;
                if let Some(context) = context {
                    expose(seen, source.name(), context_marks, sink).await?;
                    contexts.push((source.name().to_owned(), context));
                }
            }
            Err(error) => {
                let name = source.name().to_owned();
                sink.emit(Event::SourceUnavailable { name, error: error.message }).await?;
            }
        }
    }
    Ok((Cow::Owned(agent), contexts))
}

/// Adds tools whose names are not taken yet.
fn add(agent: &mut Agent, source: &str, tools: Vec<Arc<dyn Tool>>) {
    let own = agent.tools.iter().map(|tool| tool.spec()).chain(agent.agents.iter().map(|below| &below.spec));
    let mut taken: HashSet<_> = own.map(|spec| spec.name.clone()).collect();
    for tool in tools {
        if taken.insert(tool.spec().name.clone()) {
            agent.tools.push(tool);
        } else {
            let name = &tool.spec().name;
            tracing::warn!(
                agent = agent.id,
                source,
                tool = name,
                "left out: the agent has a tool with this name already"
            );
        }
    }
}
