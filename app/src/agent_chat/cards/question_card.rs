//! The card for a question of the agent.

use super::question_field::question_field;
use crate::agent_chat::session::Session;
use crate::prelude::*;
use crate::texts::{Text, fill, t, text_or_english};
use crate::ui::hidden_characters;
use crate::ui::hidden_characters::TextKind;
use crate::ui::icons::{Icon, Shape};
use leptos::ev::{Event, SubmitEvent};
use serde_json::Value;
use wire::question::{ASK_USER, AnswerDraft, Question, QuestionKind};
use wire::{ToolPart, ToolState};

/// Whether a call is a question that waits for its answer.
pub(in crate::agent_chat) fn is_question(tool: &ToolPart) -> bool {
    tool.tool_name == ASK_USER && tool.state == ToolState::InputAvailable && tool.provider_executed != Some(true)
}

/// Asks the user: options, form fields, and a field for a free answer. As in an approval card,
/// nothing is preselected, and the card does not take the focus.
#[component]
pub(in crate::agent_chat) fn QuestionCard(
    /// The waiting call.
    tool: ArcRwSignal<ToolPart>,
) -> AnyView {
    let session = expect_context::<Session>();
    let (call_id, question) = tool.with_untracked(|tool| {
        (tool.tool_call_id.clone(), Question::read(tool.input.as_ref().unwrap_or(&Value::Null)))
    });
    let draft =
        RwSignal::new(AnswerDraft { fields: vec![String::new(); question.fields.len()], ..AnswerDraft::default() });
    let problem = RwSignal::new(None::<String>);
    let label =
        fill(Text::QuestionLabel, &[&hidden_characters::text_with_code_points(&question.text, TextKind::Prose)]);
    let heading = hidden_characters::visible_nodes(&question.text, TextKind::Prose);
    let context = hidden_characters::visible_nodes(&question.context, TextKind::Prose);
    let (options, fields) = (options(&call_id, &question, draft), fields(&call_id, &question, draft));
    let other = match (question.options.is_empty(), question.fields.is_empty()) {
        (true, true) => t(Text::YourAnswer),
        (false, _) => t(Text::AnotherAnswer),
        (true, false) => t(Text::ANote),
    };
    let kind = kind_label(question.kind);
    let submit = move |event: SubmitEvent| {
        event.prevent_default();
        match draft.with_untracked(|draft| question.answer(draft)) {
            Ok(output) => session.answer_question(call_id.clone(), output),
            Err(message) => problem.set(Some(text_or_english(message, Text::QuestionIncomplete))),
        }
    };
    view! {
        <div role="group" aria-label=label>
        <form class="cw-approval cw-question" novalidate on:submit=submit>
            <div class="cw-approval-head">
                <span class="cw-tool-icon"><Icon of=Shape::INFO /></span>
                <p>
                    <strong dir="auto">{heading}</strong>
                    <span>{kind}</span>
                </p>
            </div>
            {(!context.is_empty()).then(|| view! { <p class="cw-question-context" dir="auto">{context}</p> })}
            {options}
            {fields}
            <div class="cw-approval-actions">
                <input
                    class="cw-approval-note"
                    type="text"
                    dir="auto"
                    maxlength="4000"
                    placeholder=other
                    aria-label=other
                    autocomplete="off"
                    on:input=move |event: Event| draft.update(|draft| draft.text = event_target_value(&event))
                />
                <button type="submit" class="cw-button cw-primary" disabled=move || session.is_busy()>
                    {t(Text::Answer)}
                </button>
            </div>
            <div role="alert">
                {move || Some(view! { <p class="cw-problem" dir="auto">{problem.get()?}</p> }.into_any())}
            </div>
        </form>
        </div>
    }
    .into_any()
}

/// Why the agent asks, as text.
fn kind_label(kind: QuestionKind) -> &'static str {
    match kind {
        QuestionKind::MissingInfo => t(Text::ReasonMissingInfo),
        QuestionKind::AmbiguousRequirement => t(Text::ReasonAmbiguous),
        QuestionKind::ApproachChoice => t(Text::ReasonChoice),
        QuestionKind::RiskConfirmation => t(Text::ReasonRisk),
        QuestionKind::Suggestion => t(Text::ReasonSuggestion),
    }
}

fn options(call_id: &str, question: &Question, draft: RwSignal<AnswerDraft>) -> Option<AnyView> {
    let group = format!("cw-question-{call_id}");
    let option = |(at, text): (usize, &String)| {
        let choose = move |_: Event| draft.update(|draft| draft.option = Some(at));
        view! {
            <label>
                <input on:change=choose type="radio" name=group.clone() value=at.to_string() />
                <span dir="auto">{hidden_characters::visible_nodes(text, TextKind::Prose)}</span>
            </label>
        }
        .into_any()
    };
    let options: Vec<_> = question.options.iter().enumerate().map(option).collect();
    let legend = view! { <legend class="cw-visually-hidden">{t(Text::Answers)}</legend> };
    (!options.is_empty()).then(|| {
        view! { <fieldset class="cw-question-options">{legend} {options.collect_view()}</fieldset> }.into_any()
    })
}

fn fields(call_id: &str, question: &Question, draft: RwSignal<AnswerDraft>) -> Option<AnyView> {
    let field = |(at, field)| {
        question_field(format!("cw-question-{call_id}-{at}"), field, move |given| {
            draft.update(|draft| {
                if let Some(place) = draft.fields.get_mut(at) {
                    *place = given;
                }
            });
        })
    };
    let fields: Vec<_> = question.fields.iter().enumerate().map(field).collect();
    (!fields.is_empty()).then(|| view! { <div class="cw-question-fields">{fields.collect_view()}</div> }.into_any())
}
