//! The fields of a form, with what they are about and what is wrong with their entries.

use leptos::prelude::*;
use web::html::text_area_content;
use wire::form::{Control, Form, FormField, FormOption};

/// Returns the name of a field in the form.
fn field_name(index: usize) -> String {
    format!("field{index}")
}

/// Returns what was sent for a field. Several values are lines of its entry.
pub(super) fn sent_value(sent: &[(String, String)], name: &str) -> String {
    let values = sent.iter().filter(|(sent, _)| sent == name).map(|(_, value)| value.as_str());
    // Browsers send CR LF.
    values.collect::<Vec<_>>().join("\n").replace("\r\n", "\n")
}

/// Returns the entries of the fields of a form in their order.
pub(super) fn sent_entries(form: &Form, sent: &[(String, String)]) -> Vec<String> {
    (0..form.fields.len()).map(|index| sent_value(sent, &field_name(index))).collect()
}

/// Renders the fields of a form with what was entered, if anything was, and the problems of fields. `id` is unique on the page.
pub(super) fn fields_view(id: &str, form: &Form, entries: Option<&[String]>, problems: &[(usize, String)]) -> AnyView {
    let fields = form.fields.iter().enumerate().map(|(index, field)| {
        let entry = entries.and_then(|entries| entries.get(index)).unwrap_or(&field.initial);
        let problem = problems.iter().find(|(field, _)| *field == index).map(|(_, problem)| problem.clone());
        field_view(id, index, field, entry, problem)
    });
    fields.collect_view().into_any()
}

/// The attributes that describe a control.
struct Described {
    id: String,
    name: String,
    by: String,
    invalid: Option<&'static str>,
}

/// Renders a field, with what was entered and its problem.
fn field_view(id: &str, index: usize, field: &FormField, entry: &str, problem: Option<String>) -> AnyView {
    let id = format!("{id}-{index}");
    let described = Described {
        by: format!("{id}-about"),
        name: field_name(index),
        invalid: problem.is_some().then_some("true"),
        id: id.clone(),
    };
    let about = (described.by.clone(), lines_hint(field), problem);
    let label = match (field.label.as_str(), field.group.as_str()) {
        ("", _) => "Values as JSON".to_owned(),
        (label, "") => label.to_owned(),
        (label, group) => format!("{group}: {label}"),
    };
    let star = field.required.then(|| view! { <span class="cw-required" aria-hidden="true">"*"</span> });
    let control = match &field.control {
        Control::Choices(options) => {
            let boxes = boxes(&described, options, entry);
            return view! {
                <fieldset class="cw-admin-group" aria-describedby=described.by>
                    <legend>{label}{star}</legend>
                    {boxes}
                    {about_view(about)}
                </fieldset>
            }
            .into_any();
        }
        control => control_view(&described, control, field.required, entry),
    };
    view! {
        <div class="cw-admin-entry">
            <label class="cw-admin-field cw-admin-wide" for=id><span>{label}{star}</span></label>
            {control}
            {about_view(about)}
        </div>
    }
    .into_any()
}

fn lines_hint(field: &FormField) -> String {
    match field.control {
        Control::List(_) => format!("{} One in each line.", field.hint).trim().to_owned(),
        _ => field.hint.clone(),
    }
}

fn about_view((id, hint, problem): (String, String, Option<String>)) -> AnyView {
    let problem = problem.map(|problem| view! { <span class="cw-problem">{problem}" "</span> });
    view! { <p class="cw-account-note" id=id>{problem}{hint}</p> }.into_any()
}

fn control_view(described: &Described, control: &Control, required: bool, entry: &str) -> AnyView {
    let Described { id, name, by, invalid } = described;
    let (id, name, by, invalid) = (id.clone(), name.clone(), by.clone(), *invalid);
    let (entry, required) = (entry.to_owned(), required.to_string());
    match control {
        Control::Boolean => view! {
            <input id=id type="checkbox" name=name value="true" checked=entry == "true" aria-describedby=by />
        }
        .into_any(),
        Control::Choice(options) => {
            let option = |(index, option): (usize, &FormOption)| {
                let value = index.to_string();
                let selected = value == entry;
                view! { <option value=value selected=selected>{option.label.clone()}</option> }
            };
            let options = options.iter().enumerate().map(option).collect_view();
            view! {
                <span class="cw-select cw-admin-wide">
                    <select id=id name=name aria-required=required aria-invalid=invalid aria-describedby=by>
                        <option value="">"Choose…"</option>
                        {options}
                    </select>
                </span>
            }
            .into_any()
        }
        Control::Lines | Control::List(_) | Control::Json => view! {
            <textarea
                id=id
                name=name
                rows="4"
                aria-required=required
                aria-invalid=invalid
                aria-describedby=by
                inner_html=text_area_content(&entry)
            ></textarea>
        }
        .into_any(),
        other => {
            let (kind, mode) = other.input_type();
            view! {
                <input
                    id=id
                    type=kind
                    inputmode=mode
                    name=name
                    value=entry
                    autocomplete="off"
                    aria-required=required
                    aria-invalid=invalid
                    aria-describedby=by
                />
            }
            .into_any()
        }
    }
}

fn boxes(described: &Described, options: &[FormOption], entry: &str) -> AnyView {
    let option = |(index, option): (usize, &FormOption)| {
        let value = index.to_string();
        let checked = entry.lines().any(|line| line.trim() == value);
        view! {
            <label class="cw-admin-check">
                <input type="checkbox" name=described.name.clone() value=value checked=checked />
                {option.label.clone()}
            </label>
        }
    };
    options.iter().enumerate().map(option).collect_view().into_any()
}
