//! The plan that is shown, and the user's changes on their way to the server.

use super::edit::{PlanEdit, changed};
use crate::address::encode_component;
use crate::agent_chat::message::state::{MessageState, PartKind};
use crate::agent_chat::session::{Phase, Session};
use crate::api::transport::http::{self, Method};
use crate::prelude::*;
use crate::texts::{Text, error_text, fill, t};
use leptos::task::spawn_local;
use serde::Deserialize;
use std::collections::VecDeque;
use wire::UiPart;
use wire::error::ErrorCode;
use wire::plan::{PLAN, Plan, Todo};

/// How often a change is made again because the plan has changed in the meantime.
const ATTEMPTS: u32 = 4;

/// The answer of the server.
#[derive(Deserialize)]
struct CurrentPlan {
    plan: Option<Plan>,
}

/// The plan; a cheap handle.
#[derive(Clone, Copy)]
pub(super) struct PlanState {
    session: Session,
    /// The plan as the server knows it, with the user's changes that it does not know yet.
    pub(super) plan: RwSignal<Option<Plan>>,
    /// Why a change was not made.
    pub(super) problem: RwSignal<Option<String>>,
    edits: StoredValue<VecDeque<PlanEdit>>,
    is_saving: StoredValue<bool>,
}

impl PlanState {
    /// Creates the state, which follows the conversation.
    pub(super) fn new(session: Session) -> Self {
        let state = Self {
            session,
            plan: RwSignal::new(None),
            problem: RwSignal::new(None),
            edits: StoredValue::new(VecDeque::new()),
            is_saving: StoredValue::new(false),
        };
        // The plan in the newest answer that has one. It changes while the agent writes, and when
        // another branch is shown.
        let written = Memo::new(move |_| session.messages.with(|all| all.iter().rev().find_map(written_plan)));
        let id = session.id;
        let mut before = None::<String>;
        Effect::new(move |_| {
            let written = written.get();
            let is_live = session.is_answering();
            let known = before.take();
            before = written.as_ref().map(|plan| plan.revision.clone());
            if let Some(new) = written.filter(|_| is_live && before != known) {
                state.show_written(new);
            }
            match id.get() {
                // A new conversation is not on the server yet.
                Some(_) if session.phase.get() == Phase::Sending => {}
                // The plan may have changed since it was written.
                Some(id) => state.load(id),
                None => state.plan.set(None),
            }
        });
        state
    }

    /// Shows the plan that the agent has just written, and announces it to screen readers.
    fn show_written(self, new: Plan) {
        let (count, current) = progress(&new);
        self.session.announcement.set([t(Text::Plan), ": ", &count, ", ", &current].concat());
        self.plan.set(Some(new));
    }

    fn load(self, id: String) {
        spawn_local(async move {
            let loaded = http::get::<CurrentPlan>(&path(&id)).await;
            // After a failed request the plan stays as it is: the next answer brings a newer one. Changes that are
            // being sent are newer than the loaded plan.
            if let (Ok(CurrentPlan { plan }), false) = (loaded, self.plan.is_disposed())
                && self.session.id.with_untracked(|now| now.as_ref() == Some(&id))
                && !self.is_saving.get_value()
            {
                self.plan.set(plan);
            }
        });
    }

    /// Makes a change: at once on the page, and in order on the server.
    pub(super) fn edit(self, edit: PlanEdit) {
        self.problem.set(None);
        let Some(plan) = self.plan.get_untracked() else { return };
        match changed(&plan, &edit) {
            Ok(todos) if todos == plan.todos => return,
            Ok(todos) => self.plan.set(Some(Plan { todos, ..plan })),
            Err(problem) => return self.problem.set(Some(problem)),
        }
        self.edits.update_value(|edits| edits.push_back(edit));
        if !self.is_saving.get_value() {
            self.is_saving.set_value(true);
            spawn_local(self.save());
        }
    }

    async fn save(self) {
        let Some(id) = self.session.id.get_untracked() else { return };
        while let Some(edit) = self.next_edit() {
            let saved = save_edit(&id, &edit).await;
            if self.plan.is_disposed() {
                return;
            }
            match saved {
                Ok(plan) => self.show_saved(plan),
                Err(problem) => {
                    self.problem.set(Some(problem));
                    self.edits.update_value(VecDeque::clear);
                }
            }
        }
        self.is_saving.set_value(false);
        self.load(id);
    }

    fn next_edit(self) -> Option<PlanEdit> {
        self.edits.try_update_value(VecDeque::pop_front).flatten()
    }

    /// Shows the stored plan, with the changes that the server does not know yet.
    fn show_saved(self, mut plan: Plan) {
        self.edits.with_value(|edits| {
            for edit in edits {
                if let Ok(todos) = changed(&plan, edit) {
                    plan.todos = todos;
                }
            }
        });
        if self.plan.with_untracked(|shown| shown.as_ref() != Some(&plan)) {
            self.plan.set(Some(plan));
        }
    }
}

/// Makes a change on the plan as the server has it; again, if the agent is faster.
async fn save_edit(id: &str, edit: &PlanEdit) -> Result<Plan, String> {
    let path = path(id);
    for _ in 0..ATTEMPTS {
        let current = http::get::<CurrentPlan>(&path).await.map_err(|error| error_text(&error.0))?;
        let Some(plan) = current.plan else { break };
        let body = Plan { todos: changed(&plan, edit)?, ..plan };
        let body = serde_json::to_value(&body).unwrap_or_default();
        match http::send::<CurrentPlan>(Method::Put, &path, &body).await {
            Ok(CurrentPlan { plan: Some(plan) }) => return Ok(plan),
            Ok(CurrentPlan { plan: None }) => break,
            Err(error) if error.code() == ErrorCode::Conflict => {}
            Err(error) => return Err(error_text(&error.0)),
        }
    }
    Err(t(Text::PlanChanged).to_owned())
}

fn path(id: &str) -> String {
    ["/api/conversations/", &encode_component(id), "/plan"].concat()
}

/// Returns the plan that an answer has written. Tracked.
fn written_plan(message: &MessageState) -> Option<Plan> {
    message.parts.with(|parts| {
        parts.iter().rev().find_map(|part| match &part.kind {
            PartKind::Fixed(part) => part.with(|part| match part {
                UiPart::Data(data) if data.kind == PLAN => serde_json::from_value(data.data.clone()).ok(),
                _ => None,
            }),
            _ => None,
        })
    })
}

/// Returns how far the plan is, and its current step.
pub(super) fn progress(plan: &Plan) -> (String, String) {
    let (completed, count) = (plan.completed().to_string(), plan.todos.len().to_string());
    let current = plan.current().map(|Todo { content, .. }| content.clone());
    (fill(Text::PlanProgress, &[&completed, &count]), current.unwrap_or_else(|| t(Text::PlanDone).to_owned()))
}
