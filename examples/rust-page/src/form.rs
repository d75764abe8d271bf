//! The form and the list of what was saved.

use app::actions::{Actions, BlockEvents, ClientTools, MessageStatus, use_actions};
use app::blocks::{Alert, Button, Checkbox, NumberInput, Select, Table, TextArea, TextInput};
use app::page_state::{PageState, use_page_state};
use app::properties::Properties;
use leptos::prelude::*;
use leptos::task::spawn_local;
use serde_json::{Value, json};
use wire::page::{
    AlertProperties, ButtonProperties, ButtonVariant, CheckboxProperties, NumberInputProperties, SelectOption,
    SelectProperties, TableProperties, TextInputProperties,
};

/// The inputs, by the keys of the page's state.
const INPUTS: [&str; 7] = ["legal_name", "company", "email", "plan", "seats", "notes", "terms"];

/// The form. Each input keeps its value in the page's state under its id.
#[component]
pub fn Form() -> impl IntoView {
    let (state, actions) = (use_page_state(), use_actions());
    let is_enterprise = Memo::new(move |_| state.get("plan") == "enterprise");
    // Properties that depend on something are made by a closure.
    let seats = Properties::derive(move || NumberInputProperties {
        required: true,
        initial: Some(json!(5)),
        min: Some(json!(1)),
        max: Some(if state.get("plan") == "starter" { json!(10) } else { json!(500) }),
        ..NumberInputProperties::default()
    });
    let name = TextInputProperties {
        label: label("Legal name"),
        required: true,
        min_length: Some(2),
        ..TextInputProperties::default()
    };
    let email = TextInputProperties {
        label: label("E-mail"),
        required: true,
        pattern: Some(r"[^@\s]+@[^@\s]+\.[^@\s]+".to_owned()),
        pattern_message: Some("This is no e-mail address.".to_owned()),
        ..TextInputProperties::default()
    };
    let terms = CheckboxProperties {
        label: label("The customer has accepted the terms"),
        required: true,
        ..CheckboxProperties::default()
    };
    let enterprise = AlertProperties {
        title: Some("Enterprise".to_owned()),
        content: Some("Somebody from sales calls within one working day to agree on the contract.".to_owned()),
        ..AlertProperties::default()
    };
    let register = ButtonProperties { title: "Register".to_owned(), variant: ButtonVariant::Primary, disabled: false };
    let fill_in = ButtonProperties { title: "Let the agent fill it in".to_owned(), ..ButtonProperties::default() };
    let on_register =
        BlockEvents::default().on("onClick", move |_| spawn_local(async move { save(state, actions).await }));
    let on_fill_in = BlockEvents::default().on("onClick", move |_| {
        if let Err(why) = actions.call_method("chat", "setInput", &[json!("Fill in the form for ")]) {
            actions.notify(why, MessageStatus::Error, None);
        }
    });
    view! {
        <TextInput id="legal_name" properties=name />
        <TextInput id="company" properties=TextInputProperties::default() />
        <TextInput id="email" properties=email />
        <Select id="plan" properties=SelectProperties { required: true, options: plans(), ..SelectProperties::default() } />
        <NumberInput id="seats" properties=seats />
        <Show when=move || is_enterprise.get()>
            <Alert properties=enterprise.clone() />
        </Show>
        <TextArea id="notes" properties=TextInputProperties { max_length: Some(2000), ..TextInputProperties::default() } />
        <Checkbox id="terms" properties=terms />
        <Button id="register" properties=register events=on_register />
        <Button id="fill_in" properties=fill_in events=on_fill_in />
    }
}

/// The saved customers: the config's `onInit` puts them into the state, and so does each save.
#[component]
pub fn Customers() -> impl IntoView {
    let state = use_page_state();
    let table = Properties::derive(move || TableProperties {
        title: Some("Registered".to_owned()),
        rows: state.get("customers").as_array().cloned().unwrap_or_default(),
        empty: Some("Nobody is registered yet.".to_owned()),
        ..TableProperties::default()
    });
    view! { <Table id="customers_table" properties=table /> }
}

/// The tools of the page: each one is a closure, which is called with the model's input.
pub fn tools() -> ClientTools {
    let state = use_page_state();
    ClientTools::default().on("offer_plan", move |input| async move {
        state.set("plan", input["plan"].clone());
        state.set("seats", input["seats"].clone());
        let keys = ["plan".to_owned(), "seats".to_owned()];
        let wrong = state.validate(Some(&keys));
        if wrong.is_empty() { Ok(json!({ "shown": input })) } else { Err(format!("Not allowed: {}", wrong.join(", "))) }
    })
}

/// Saves the form when it is right, and begins a new one.
async fn save(state: PageState, actions: Actions) {
    if !state.require_valid(None) {
        return;
    }
    let values = ["legal_name", "company", "email", "plan", "seats"];
    let payload: serde_json::Map<String, Value> =
        values.iter().map(|key| ((*key).to_owned(), state.get_untracked(key))).collect();
    let saved = actions.call_endpoint("customers/save", &Value::Object(payload)).await;
    let listed = match saved {
        Ok(_) => actions.call_endpoint("customers/list", &json!({})).await,
        Err(why) => Err(why),
    };
    match listed {
        Ok(customers) => {
            state.reset(Some(&INPUTS.map(str::to_owned)));
            state.set("customers", customers);
            actions.notify("The customer is registered.".to_owned(), MessageStatus::Success, None);
        }
        Err(why) => actions.notify(why, MessageStatus::Error, None),
    }
}

fn label(text: &str) -> Option<String> {
    Some(text.to_owned())
}

fn plans() -> Vec<SelectOption> {
    [("starter", "Starter"), ("team", "Team"), ("enterprise", "Enterprise")]
        .map(|(value, label)| SelectOption { value: value.to_owned(), label: label.to_owned() })
        .to_vec()
}
