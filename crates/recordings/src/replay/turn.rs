//! The input of a replayed run.

use super::ReplayError;
use super::approvals::ReplayGrants;
use super::tape::Tape;
use crate::format::{BlobId, NeutralRequest, RecordedContext, Recording, Turn};
use agent::{
    Compaction, ContextInput, ContextSummary, GrantLookup, MeasuredSize, PageContext, Projection, TurnBoundary,
    TurnInput,
};
use contract::{Message, RunScope};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Returns the input of the recorded run, or of its part from the request `first` on, which has the
/// number `from_step`.
pub(super) fn turn_input(
    recording: &Recording,
    first: Option<&NeutralRequest>,
    from_step: u32,
    tape: Arc<Tape>,
    cancel: CancellationToken,
) -> Result<TurnInput, ReplayError> {
    let turn = recording.turn().ok_or_else(|| ReplayError::Damaged("it has no turn".to_owned()))?;
    let whole = TurnInput {
        messages: messages(recording, &turn.messages)?,
        pending: turn.pending.iter().cloned().map(Into::into).collect(),
        scope: scope(recording, turn),
        grants: turn.can_ask.map(|can_ask| -> Arc<dyn GrantLookup> { Arc::new(ReplayGrants { tape, can_ask }) }),
        exposure: turn.exposure.clone().into(),
        turn_start: turn.turn_start,
        context: context(&turn.context),
        earlier: turn.earlier.clone(),
        cancel,
    };
    let Some(request) = first else { return Ok(whole) };
    let messages = messages(recording, &request.messages)?;
    let begin = turn.messages.get(turn.turn_start);
    let turn_start = request.messages.iter().position(|id| Some(id) == begin);
    let last_of_user = || messages.iter().rposition(|message| matches!(**message, Message::User(_)));
    Ok(TurnInput {
        turn_start: turn_start.or_else(last_of_user).unwrap_or_default(),
        messages,
        pending: Vec::new(),
        context: ContextInput::default(),
        earlier: turn.earlier.clone().with_requests(from_step - 1),
        ..whole
    })
}

fn messages(recording: &Recording, ids: &[BlobId]) -> Result<Vec<Arc<Message>>, ReplayError> {
    let message = |id: &BlobId| {
        let message = serde_json::from_value(recording.blob(id).clone());
        message.map(Arc::new).map_err(|error| ReplayError::Damaged(format!("a message: {error}")))
    };
    ids.iter().map(message).collect()
}

fn scope(recording: &Recording, turn: &Turn) -> RunScope {
    let (header, options) = (&recording.header, &recording.header.input.options);
    RunScope {
        user_id: turn.scope.user_id.clone(),
        roles: turn.scope.roles.clone(),
        is_authenticated: turn.scope.is_authenticated,
        has_files: turn.scope.has_files,
        conversation_id: header.conversation_id.clone(),
        run_id: header.run_id.clone(),
        page_id: Some(header.input.page_id.clone()),
        // Calls that run are others than those of the recording, and services must not take them
        // for repetitions.
        key: format!("replay/{}/{}", header.run_id, web::times::now_millis()),
        plan_mode: options.plan_mode,
        documents: options.documents,
        libraries: options.libraries.clone().map(Into::into),
        web: options.web,
        ..RunScope::default()
    }
}

fn context(recorded: &RecordedContext) -> ContextInput {
    let RecordedContext { summary, cleared_through, shortened_through, measured, boundaries, rests, page, compaction } =
        recorded.clone();
    ContextInput {
        projection: Projection {
            summary: summary.map(|(text, covers)| ContextSummary { text, covers }),
            cleared_through,
            shortened_through,
            ..Projection::default()
        },
        measured: measured.map(|(estimated, reported)| MeasuredSize { estimated, reported }),
        boundaries: boundaries.into_iter().map(|(at, message_id)| TurnBoundary { at, message_id }).collect(),
        rests,
        page: page.map(|(text, is_known)| PageContext { text, is_known }),
        compaction: compaction.map(|recorded| Compaction { focus: recorded.focus }),
        ..ContextInput::default()
    }
}
