//! Fills the function tables of the chunks, whose code is loaded with the first use.

use super::cards::{provider_output, standing_approvals, standing_button, tool_card};
use super::chunk_tables::{
    BELOW, BelowFunctions, CHOICES, CONVERSATION, ChoiceFunctions, ConversationFunctions, EXTRAS, ExtraFunctions,
    FRAMES, FrameFunctions, MODELS, ModelFunctions, PLAN, PRESENTED, PlanFunctions, PresentedFunctions, SESSION,
    SessionFunctions, TOOLS, ToolFunctions,
};
use super::composer::{attachments, context_meter, edit_form, header, open_form, options, queue, undo};
use super::log::view::Log;
use super::message::state::MessageState;
use super::message::{context_note, feedback, menu, notice, presented, sources, versions};
use super::session::Session;
use super::{artifacts, below, choices, drawer, embedded, models, plan};
use crate::chunks::{ChunkError, ChunkFuture, ChunkTable};
use crate::pages::agent_changes;
use crate::prelude::*;
use wasm_split_helpers::wasm_split;

impl ChunkTable for ToolFunctions {
    fn load() -> ChunkFuture {
        Box::pin(async { TOOLS.set_functions(tools().await?) })
    }
}

#[wasm_split(tools, fallible)]
fn tools() -> Result<ToolFunctions, ChunkError> {
    Ok(ToolFunctions {
        card: |tool| view! { <tool_card::ToolCard tool /> }.into_any(),
        call_data: provider_output::call_data,
        run_calls: Session::run_calls,
        run_calls_later: Session::run_calls_later,
        standing_dialog: || view! { <standing_approvals::StandingDialog /> }.into_any(),
        changes: agent_changes::changes_bar,
        left_over: agent_changes::leftover_bar,
    })
}

impl ChunkTable for ExtraFunctions {
    fn load() -> ChunkFuture {
        Box::pin(async { EXTRAS.set_functions(extras().await?) })
    }
}

#[wasm_split(extras, fallible)]
fn extras() -> Result<ExtraFunctions, ChunkError> {
    Ok(ExtraFunctions {
        attach: Session::attach,
        attachments: || view! { <attachments::Attachments /> }.into_any(),
        context_meter: context_meter::meter,
        context_note: context_note::context_note,
        dictate: Session::dictate,
        edit: || view! { <edit_form::EditForm /> }.into_any(),
        feedback: |message, asks_why| view! { <feedback::FeedbackForm message asks_why /> }.into_any(),
        header: header::header,
        menu: menu::items,
        open_form: open_form::open_form,
        options: options::load,
        queue: || view! { <queue::Queue /> }.into_any(),
        sources: sources::sources_view,
        undo: || view! { <undo::Undo /> }.into_any(),
        versions: versions::version_buttons,
    })
}

impl ChunkTable for ConversationFunctions {
    fn load() -> ChunkFuture {
        Box::pin(async { CONVERSATION.set_functions(functions().await?) })
    }
}

#[wasm_split(conversation, fallible)]
fn functions() -> Result<ConversationFunctions, ChunkError> {
    Ok(ConversationFunctions {
        log: || view! { <Log /> }.into_any(),
        context_meter: context_meter::context_meter,
        read: serde_json::from_value,
        messages: |view| view.messages.iter().map(|message| MessageState::from_view(view, message)).collect(),
        listen: Session::listen,
        resume: Session::resume,
    })
}

impl ChunkTable for SessionFunctions {
    fn load() -> ChunkFuture {
        Box::pin(async { SESSION.set_functions(session_functions().await?) })
    }
}

#[wasm_split(session, fallible)]
fn session_functions() -> Result<SessionFunctions, ChunkError> {
    Ok(SessionFunctions {
        perform: Session::perform,
        ending: notice::ending,
        persist_queue: Session::persist_queue,
        standing_button: standing_button::standing_button,
        watch_messages: Session::watch_messages_property,
        link_clicked: Session::link_clicked,
    })
}

impl ChunkTable for PlanFunctions {
    fn load() -> ChunkFuture {
        Box::pin(async { PLAN.set_functions(plan_functions().await?) })
    }
}

#[wasm_split(plan, fallible)]
fn plan_functions() -> Result<PlanFunctions, ChunkError> {
    Ok(PlanFunctions { bar: plan::bar::bar, switch: plan::switch::switch })
}

impl ChunkTable for PresentedFunctions {
    fn load() -> ChunkFuture {
        Box::pin(async { PRESENTED.set_functions(presented_functions().await?) })
    }
}

#[wasm_split(presented, fallible)]
fn presented_functions() -> Result<PresentedFunctions, ChunkError> {
    Ok(PresentedFunctions { files: presented::files, panel: artifacts::panel::panel })
}

impl ChunkTable for ChoiceFunctions {
    fn load() -> ChunkFuture {
        Box::pin(async { CHOICES.set_functions(choice_functions().await?) })
    }
}

#[wasm_split(choices, fallible)]
fn choice_functions() -> Result<ChoiceFunctions, ChunkError> {
    Ok(ChoiceFunctions { choices: choices::view::choices })
}

impl ChunkTable for ModelFunctions {
    fn load() -> ChunkFuture {
        Box::pin(async { MODELS.set_functions(model_functions().await?) })
    }
}

#[wasm_split(models, fallible)]
fn model_functions() -> Result<ModelFunctions, ChunkError> {
    Ok(ModelFunctions { picker: models::picker })
}

impl ChunkTable for BelowFunctions {
    fn load() -> ChunkFuture {
        Box::pin(async { BELOW.set_functions(below_functions().await?) })
    }
}

#[wasm_split(below, fallible)]
fn below_functions() -> Result<BelowFunctions, ChunkError> {
    Ok(BelowFunctions { below: below::view::below })
}

impl ChunkTable for FrameFunctions {
    fn load() -> ChunkFuture {
        Box::pin(async { FRAMES.set_functions(frames().await?) })
    }
}

#[wasm_split(frames, fallible)]
fn frames() -> Result<FrameFunctions, ChunkError> {
    Ok(FrameFunctions { drawer: drawer::drawer, embedded: embedded::embedded })
}
