//! Recovery after a crash: closes the runs of a dead server with everything that was journaled, and
//! marks them as interrupted.

use crate::ids::new_id;
use crate::record::audit::{self, RunContext};
use crate::run::ending;
use crate::run::finish::{INTERRUPTED, settle_texts};
use crate::run::sink::ledger::{call_of_entry, entry_id};
use crate::stream::page_size::PageSize;
use crate::stream::watch;
use crate::upkeep::recovered::{RecoveredRun, RecoveryReports};
use faults::Point;
use std::collections::{HashMap, HashSet};
use store::{FinishRun, OpenRun, RepeatableCall, Store, StoreError};
use transcript::{exposure, pending_calls};
use wire::api::{MessageMetadata, Outcome};
use wire::{Approval, ApprovalTerms, Chunk, CutOff, EndReason, Reducer, Role, ToolPart, ToolState, UiMessage, UiPart};

/// Closes every run without a live server: before the first request is served, and periodically if
/// there are several servers.
pub(crate) async fn recover(store: &Store, reports: &RecoveryReports) -> Result<usize, StoreError> {
    let open = store.take_over_runs().await?;
    close_all(store, &open, EndReason::ServerGone, reports).await?;
    Ok(open.len())
}

/// Closes all these runs for this reason, even if some fail; returns the last error.
pub(crate) async fn close_all(
    store: &Store,
    open: &[OpenRun],
    reason: EndReason,
    reports: &RecoveryReports,
) -> Result<(), StoreError> {
    let mut all = Ok(());
    for run in open {
        match close_run(store, run, reason).await {
            Ok(closed) => reports.report(&closed),
            // Deleted meanwhile, or taken over by another server.
            Err(StoreError::Fenced) => {}
            Err(error) => {
                tracing::error!(%error, run = run.run_id, "a run that was left open could not be closed");
                all = Err(error);
            }
        }
    }
    all
}

/// Closes open runs that a panic on this server left behind. Failures are logged and retried at the
/// next start; runs of other servers are fenced.
pub(crate) async fn close_own(store: &Store, reports: &RecoveryReports, is_left: impl Fn(&OpenRun) -> bool) {
    let open = store.open_runs().await;
    let open = open.inspect_err(|error| tracing::error!(%error, "a run that was left open could not be found"));
    let left: Vec<_> = open.unwrap_or_default().into_iter().filter(is_left).collect();
    // Errors are logged there.
    let _ = close_all(store, &left, EndReason::Panic, reports).await;
}

async fn close_run(store: &Store, run: &OpenRun, why: EndReason) -> Result<RecoveredRun, StoreError> {
    let mut message = rebuild(store, run).await?;
    let cut_off = interrupted_calls(store, run).await?;
    // A repeated call has an audit entry of its own.
    for tool in message.parts.iter_mut().filter_map(UiPart::as_tool_mut) {
        if cut_off.get(&tool.tool_call_id).is_some_and(|call| call.is_repeated) {
            tool.set_cut_off(CutOff::Again);
        }
    }
    let not_begun = not_begun(store, run, &message).await?;
    for tool in message.parts.iter_mut().filter_map(UiPart::as_tool_mut) {
        if not_begun.contains(&tool.tool_call_id) {
            // The approval was for one repetition; the user decides on the next.
            let terms = tool.approval.take().and_then(|approval| approval.terms).unwrap_or_default();
            ask_again(tool, terms);
        }
    }
    // An approval request stays open.
    let ended = message.tools().filter(|tool| tool.state != ToolState::ApprovalRequested);
    let below = store.running_sub_agent_calls(&run.owner, &run.run_id).await?;
    let mut audit = audit::interrupted_below(&subject(run), below);
    audit.extend(audit::interrupted(&subject(run), ended));
    close(&mut message, &cut_off, why);
    let waits = message.tools().any(pending_calls::is_pending);
    let reason = if waits { EndReason::Waiting } else { why };
    let status = if waits { Outcome::Waiting } else { Outcome::Interrupted };
    let cause = ending::recovery_cause(why);
    tracing::warn!(
        run = run.run_id,
        conversation = run.conversation_id,
        agent = run.agent_id,
        outcome = status.name(),
        reason = reason.name(),
        cause,
        "closing a run that was left open"
    );
    let finish = FinishRun {
        run_id: run.run_id.clone(),
        epoch: run.epoch,
        status,
        reason,
        message,
        usage: None,
        error: Some(cause.to_owned()),
        now: crate::now(),
        title: None,
        audit,
        steps: Vec::new(),
    };
    faults::point(Point::RecoveryRebuilt);
    store.finish_run(finish).await?;
    Ok(RecoveredRun { run: run.clone(), outcome: status, reason })
}

/// An interrupted call that could be repeated.
struct InterruptedCall {
    /// The fingerprint of the tool at that time.
    fingerprint: String,
    is_idempotent: bool,
    /// Whether the call had been interrupted before, in an earlier run.
    is_repeated: bool,
}

/// Returns the run's interrupted calls that could be repeated, by call id.
async fn interrupted_calls(store: &Store, run: &OpenRun) -> Result<HashMap<String, InterruptedCall>, StoreError> {
    let begun = store.repeatable_calls(&run.owner, &run.run_id).await?.into_iter().filter_map(|call| {
        let RepeatableCall { call_id, fingerprint, is_idempotent } = call;
        let (id, is_repeated) = call_of_entry(&call_id, &run.message_id, &run.run_id)?;
        Some((id.to_owned(), InterruptedCall { fingerprint, is_idempotent, is_repeated }))
    });
    Ok(begun.collect())
}

/// Returns the calls that this run was about to repeat but did not start: the ledger has no entry
/// for them.
async fn not_begun(store: &Store, run: &OpenRun, message: &UiMessage) -> Result<HashSet<String>, StoreError> {
    let mut not_begun = HashSet::new();
    for tool in message.tools().filter(|tool| !tool.is_final() && tool.cut_off() == Some(CutOff::Again)) {
        let entry = entry_id(&run.message_id, &tool.tool_call_id, Some(&run.run_id));
        if store.tool_call_state(&run.owner, &run.conversation_id, &entry).await?.is_none() {
            not_begun.insert(tool.tool_call_id.clone());
        }
    }
    Ok(not_begun)
}

/// Asks the user whether to repeat the call.
fn ask_again(tool: &mut ToolPart, terms: Box<ApprovalTerms>) {
    tool.state = ToolState::ApprovalRequested;
    (tool.error_text, tool.output, tool.preliminary) = (None, None, None);
    tool.approval = Some(Approval { terms: Some(terms), ..Approval::new(new_id()) });
    tool.set_cut_off(CutOff::Open);
}

fn subject(run: &OpenRun) -> RunContext {
    RunContext {
        user_id: run.owner.clone(),
        agent_id: run.agent_id.clone(),
        conversation_id: run.conversation_id.clone(),
        message_id: run.message_id.clone(),
        run_id: run.run_id.clone(),
    }
}

/// Rebuilds a run's message: the stored message plus the journaled events.
pub(crate) async fn rebuild(store: &Store, run: &OpenRun) -> Result<UiMessage, StoreError> {
    let messages = store.messages(&run.owner, &run.conversation_id).await?;
    let stored = messages.into_iter().find(|stored| stored.id == run.message_id);
    let message = stored.map_or_else(|| UiMessage::new(&run.message_id, Role::Assistant), |stored| stored.message);
    let mut reducer = Reducer::new(message);
    let (mut after, mut page) = (0, PageSize::first());
    loop {
        let rows = store.events(&run.owner, &run.run_id, after, page.rows()).await?;
        page.measure(&rows);
        if rows.is_empty() {
            break;
        }
        // Events may be journaled twice if the response to a commit was lost.
        for row in &rows {
            if row.last_seq <= after {
                continue;
            }
            let known = (after + 1).saturating_sub(row.first_seq) as usize;
            chunks(watch::skip_frames(&row.frames, known)).for_each(|chunk| fold(&mut reducer, &chunk));
            after = row.last_seq;
        }
    }
    reducer.settle();
    Ok(reducer.into_message())
}

fn fold(reducer: &mut Reducer, chunk: &Chunk) {
    if let Err(error) = reducer.apply(chunk) {
        tracing::warn!(%error, "a journaled chunk did not fit its message");
    }
}

/// Parses the chunks of journaled frames; unreadable ones are skipped.
fn chunks(frames: &[u8]) -> impl Iterator<Item = Chunk> {
    let lines = frames.split(|byte| *byte == b'\n').filter_map(|line| line.strip_prefix(b"data: "));
    lines.filter_map(|json| {
        serde_json::from_slice(json).inspect_err(|error| tracing::warn!(%error, "a journaled chunk is unreadable")).ok()
    })
}

/// Closes the message. Approval requests stay open. A call that had started becomes an approval
/// request for its repetition, or is repeated without one if its tool is idempotent. Every other
/// call without a result gets an error result. The state of a suspended call is stored when its run
/// ends; without it, a nested approval request could not be acted on, so it is closed.
fn close(message: &mut UiMessage, cut_off: &HashMap<String, InterruptedCall>, why: EndReason) {
    settle_texts(message);
    exposure::mark_cut_off(message);
    let answerable = message.tools().filter(|tool| pending_calls::is_answerable(message, tool));
    let answerable: HashSet<_> = answerable.map(|tool| tool.tool_call_id.clone()).collect();
    for part in &mut message.parts {
        let UiPart::Tool(tool) = part else { continue };
        let is_open_question = tool.state == ToolState::ApprovalRequested && answerable.contains(&tool.tool_call_id);
        if !tool.is_final() && !is_open_question {
            tool.state = ToolState::OutputError;
            tool.error_text = Some(INTERRUPTED.to_owned());
            (tool.output, tool.preliminary) = (None, None);
            if let Some(begun) = cut_off.get(&tool.tool_call_id) {
                offer_again(tool, begun);
            }
        }
    }
    let waiting = message.tools().any(pending_calls::is_pending);
    let known = message.metadata.take().and_then(|metadata| serde_json::from_value::<MessageMetadata>(metadata).ok());
    let (outcome, reason) = if waiting { (Outcome::Waiting, EndReason::Waiting) } else { (Outcome::Interrupted, why) };
    let (outcome, reason) = (Some(outcome), Some(reason));
    message.metadata = serde_json::to_value(MessageMetadata { outcome, reason, ..known.unwrap_or_default() }).ok();
}

/// Offers to repeat the call: when the answer continues, or after the user's approval.
fn offer_again(tool: &mut ToolPart, begun: &InterruptedCall) {
    let known = tool.approval.take().unwrap_or_else(|| Approval::new(new_id()));
    let mut terms = known.terms.clone().unwrap_or_default();
    // The tool that the user approved stays the reference.
    terms.tool.get_or_insert_with(|| begun.fingerprint.clone());
    (terms.may_remember, terms.expires_at, terms.cut_off) = (None, None, Some(CutOff::Open));
    if begun.is_idempotent {
        tool.approval = Some(Approval { terms: Some(terms), ..known })
    } else {
        ask_again(tool, terms)
    }
}
