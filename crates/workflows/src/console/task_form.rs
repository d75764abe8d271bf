//! The card of a question, with a form that needs no script. It has the same fields as the block
//! `WorkflowTasks`.

use super::task_field::{fields_view, sent_entries, sent_value};
use crate::service::Answer;
use crate::store::TaskRow;
use leptos::prelude::*;
use serde_json::Value;
use web::times::minute;
use wire::UserError;
use wire::form::Form;
use wire::hidden_characters::{TextKind, text_with_code_points};
use workflow_definition::Ask;

/// The entered values, and the problems in them.
#[derive(Debug, Default)]
pub(super) struct Entered {
    /// The entries of the fields; absent before anything was sent.
    entries: Option<Vec<String>>,
    comment: String,
    choice: String,
    /// The problem of each field that has one.
    problems: Vec<(usize, String)>,
    /// A problem that is about no field.
    problem: Option<String>,
}

fn form_of(task: &TaskRow) -> Form {
    Form::for_schema(task.form.as_ref().unwrap_or(&Value::Null))
}

/// Reads what was sent. Several values of one field are lines of its entry.
///
/// # Errors
/// The entered values, with the problems of the fields.
pub(super) fn read(task: &TaskRow, sent: &[(String, String)]) -> Result<(Answer, Entered), Entered> {
    let value = |name: &str| sent_value(sent, name);
    let given = |name: &str| Some(value(name)).filter(|text| !text.trim().is_empty());
    let form = form_of(task);
    let entries = sent_entries(&form, sent);
    let entered = Entered { comment: value("comment"), choice: value("choice"), ..Entered::default() };
    let answer = Answer {
        approved: given("approved").map(|approved| approved == "true"),
        choice: given("choice"),
        comment: given("comment"),
        values: None,
    };
    if task.ask != Ask::Form {
        return Ok((answer, entered));
    }
    match form.values(&entries) {
        Ok(values) => Ok((Answer { values: Some(values), ..answer }, Entered { entries: Some(entries), ..entered })),
        Err(problems) => {
            let problems = problems.into_iter().map(|found| (found.field, found.problem.english())).collect();
            Err(Entered { entries: Some(entries), problems, ..entered })
        }
    }
}

impl Entered {
    /// Adds an error of the server: beside the field that it is about, or above the buttons.
    pub(super) fn with_error(mut self, task: &TaskRow, error: &UserError) -> Self {
        let pointer = error.path.as_deref().and_then(|path| path.strip_prefix("/values"));
        match pointer.and_then(|pointer| form_of(task).field_at(pointer)) {
            Some(field) => self.problems.push((field, error.message.clone())),
            None => self.problem = Some(error.message.clone()),
        }
        self
    }
}

/// Renders the card of an open question.
pub(super) fn task_card(task: &TaskRow, entered: &Entered, may_answer: bool) -> AnyView {
    let details = match &task.details {
        Value::Null => None,
        Value::String(text) => {
            let text = text_with_code_points(text, TextKind::Value).into_owned();
            Some(view! { <p class="cw-admin-text" dir="auto">{text}</p> }.into_any())
        }
        other => Some(super::run_page::json_view(other)),
    };
    let due = task.due_at.map(|due| format!(" · Due {} UTC", minute(due))).unwrap_or_default();
    let about = format!("{} · {} · Asked {} UTC{due}", task.workflow_id, task.path, minute(task.created_at));
    let answer = if may_answer {
        answer_form(task, entered)
    } else {
        view! {
            <p class="cw-account-note">"Only the users and roles that the workflow names may answer."</p>
        }
        .into_any()
    };
    let title = text_with_code_points(&task.title, TextKind::Prose).into_owned();
    view! {
        <section class="cw-account-part cw-admin-task" aria-label=title.clone()>
            <h2 dir="auto">{title.clone()}</h2>
            <p class="cw-account-note">{about}</p>
            {details}
            {answer}
        </section>
    }
    .into_any()
}

fn answer_form(task: &TaskRow, entered: &Entered) -> AnyView {
    let action = format!("/admin/workflow-tasks/{}", task.id);
    let (fields, buttons) = match task.ask {
        Ask::Approve => (().into_any(), decision_buttons()),
        Ask::Choose => (choices(task, entered), send_button()),
        Ask::Form => (form_fields(task, entered), send_button()),
    };
    let problem = entered
        .problem
        .clone()
        .or_else(|| (!entered.problems.is_empty()).then(|| "Check the marked fields.".to_owned()));
    view! {
        <form method="post" action=action class="cw-admin-task-form">
            {fields}
            <label class="cw-admin-field cw-admin-wide">
                <span>"Comment (optional)"</span>
                <input type="text" name="comment" maxlength="2000" autocomplete="off" value=entered.comment.clone() />
            </label>
            {web::html::error_message(problem)}
            <div class="cw-admin-acts">{buttons}</div>
        </form>
    }
    .into_any()
}

fn decision_buttons() -> AnyView {
    view! {
        <button class="cw-button cw-primary" name="approved" value="true">"Approve"</button>
        <button class="cw-button" name="approved" value="false">"Reject"</button>
    }
    .into_any()
}

fn send_button() -> AnyView {
    view! { <button class="cw-button cw-primary">"Answer"</button> }.into_any()
}

fn choices(task: &TaskRow, entered: &Entered) -> AnyView {
    let option = |choice: &String| {
        let checked = *choice == entered.choice;
        view! {
            <label class="cw-admin-check">
                <input type="radio" name="choice" value=choice.clone() checked=checked required />
                {text_with_code_points(choice, TextKind::Prose).into_owned()}
            </label>
        }
    };
    view! {
        <fieldset class="cw-admin-group">
            <legend>"Answers"</legend>
            {task.choices.iter().map(option).collect_view()}
        </fieldset>
    }
    .into_any()
}

fn form_fields(task: &TaskRow, entered: &Entered) -> AnyView {
    let id = format!("task-{}", task.id);
    fields_view(&id, &form_of(task), entered.entries.as_deref(), &entered.problems)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::TaskState;
    use serde_json::json;

    fn task(ask: Ask, form: Value) -> TaskRow {
        TaskRow {
            id: "t1".to_owned(),
            run_id: "r1".to_owned(),
            path: "ask".to_owned(),
            call_id: None,
            owner: "ada".to_owned(),
            workflow_id: "order".to_owned(),
            ask,
            title: "Fine <b>?".to_owned(),
            details: Value::Null,
            choices: vec!["Bob".to_owned(), "Carol".to_owned()],
            form: Some(form),
            state: TaskState::Open,
            answer: None,
            answered_by: None,
            created_at: 0,
            due_at: None,
            reminders: 0,
            reminded_at: None,
        }
    }

    fn sent(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    fn form() -> Value {
        json!({ "required": ["boxes"], "properties": {
            "boxes": { "type": "integer" },
            "note": { "type": "string", "format": "multiline" },
            "extras": { "type": "array", "items": { "enum": ["gift", "insurance"] } },
        } })
    }

    #[test]
    fn entries_become_an_answer() {
        let check = |ask: Ask, pairs: &[(&str, &str)], expected: Value| {
            let (answer, _) = read(&task(ask, form()), &sent(pairs)).unwrap();
            let Answer { approved, choice, values, comment } = answer;
            assert_eq!(json!([approved, choice, values, comment]), expected, "{pairs:?}");
        };
        check(Ask::Approve, &[("approved", "true"), ("comment", "")], json!([true, null, null, null]));
        check(Ask::Approve, &[("approved", "false"), ("comment", "No.")], json!([false, null, null, "No."]));
        check(Ask::Choose, &[("choice", "Bob")], json!([null, "Bob", null, null]));
        check(
            Ask::Form,
            &[("field0", "3"), ("field1", "a\r\nb"), ("field2", "0"), ("field2", "1")],
            json!([null, null, { "boxes": 3, "note": "a\nb", "extras": ["gift", "insurance"] }, null]),
        );
    }

    #[test]
    fn what_was_entered_stays_beside_its_problem() {
        let task = task(Ask::Form, form());
        let entered =
            read(&task, &sent(&[("field0", "many"), ("field1", "</textarea>"), ("field2", "1")])).unwrap_err();
        let html = task_card(&task, &entered, true).to_html().replace("<!>", "");
        for expected in [
            r#"<h2 dir="auto">Fine &lt;b&gt;?</h2>"#,
            r#"value="many""#,
            r#"aria-invalid="true""#,
            "Enter a whole number.",
            "&lt;/textarea></textarea>",
            r#"name="field2" value="1" checked"#,
        ] {
            assert!(html.contains(expected), "{expected}: {html}");
        }
        assert!(!task_card(&task, &entered, false).to_html().contains("<form"));
    }

    #[test]
    fn hidden_characters_are_shown() {
        let check = |details: Value, expected: &str| {
            let mut task = TaskRow { details, ..task(Ask::Choose, Value::Null) };
            task.title = "Pay \u{202e}001?".to_owned();
            task.choices = vec!["yes\u{2067}".to_owned()];
            let html = task_card(&task, &Entered::default(), true).to_html().replace("<!>", "");
            for expected in [expected, "Pay [U+202E]001?", "yes[U+2067]"] {
                assert!(html.contains(expected), "{expected}: {html}");
            }
            assert!(!html.contains('\u{202e}'), "{html}");
        };
        check("to \u{202e}knab".into(), "to [U+202E]knab");
        check(json!({ "to": "\u{202e}knab" }), "\\u202eknab");
    }

    #[test]
    fn errors_of_the_server_are_shown_beside_their_field() {
        let task = task(Ask::Form, form());
        let check = |path: &str, fields: &[usize], problem: Option<&str>| {
            let entered = Entered::default().with_error(&task, &UserError::invalid(path, "No."));
            let found: Vec<_> = entered.problems.iter().map(|(field, _)| *field).collect();
            assert_eq!((found.as_slice(), entered.problem.as_deref()), (fields, problem), "{path}");
        };
        check("/values/note", &[1], None);
        check("/comment", &[], Some("No."));
    }
}
