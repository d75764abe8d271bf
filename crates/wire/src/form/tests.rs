use super::*;
use serde_json::json;

fn form() -> Form {
    Form::for_schema(&json!({
        "type": "object",
        "required": ["supplier", "total", "kind", "address", "urgent"],
        "properties": {
            "supplier": { "type": "string", "title": "The supplier", "maxLength": 20, "description": "As on the invoice" },
            "total": { "type": "number", "minimum": 0.5, "default": 12.5 },
            "copies": { "type": ["integer", "null"], "maximum": 9 },
            "urgent": { "type": "boolean" },
            "kind": { "enum": ["paper", 7, null], "default": 7 },
            "size": { "oneOf": [{ "const": "s", "title": "Small" }, { "const": "l" }] },
            "due_date": { "type": "string", "format": "date" },
            "note": { "type": "string", "format": "multiline" },
            "tags": { "type": "array", "items": { "type": "string" }, "minItems": 2 },
            "rates": { "type": "array", "items": { "type": "integer" }, "default": [1, 2] },
            "colours": { "type": "array", "items": { "enum": ["red", "blue"] }, "maxItems": 1, "default": ["blue"] },
            "address": { "type": "object", "required": ["city"], "properties": {
                "city": { "type": "string" }, "deep": { "type": "object", "properties": { "x": { "type": "string" } } } } },
            "contact": { "type": "object", "title": "Contact person", "required": ["name"], "properties": {
                "name": { "type": "string" }, "isNew": { "type": "boolean" } } },
            "other": { "anyOf": [{ "type": "string" }, { "type": "number" }] },
        },
    }))
}

/// The entries by their pointers; the others are empty.
fn entries(form: &Form, entered: &[(&str, &str)]) -> Vec<String> {
    let entry = |field: &FormField| {
        let found = entered.iter().find(|(pointer, _)| *pointer == field.pointer());
        found.map(|(_, entry)| (*entry).to_owned()).unwrap_or_default()
    };
    form.fields.iter().map(entry).collect()
}

#[test]
fn form_holds_values() {
    let check = |values: Value, expected: &str| {
        let form = Form::holding(
            &json!({ "required": ["supplier"], "properties": {
                "supplier": { "type": "string" }, "copies": { "type": "integer" }, "urgent": { "type": "boolean" },
                "kind": { "enum": ["paper", 7] }, "tags": { "type": "array", "items": { "type": "string" } },
                "address": { "type": "object", "properties": { "city": { "type": "string" } } },
            } }),
            &values,
        );
        let held: Vec<_> = form.fields.iter().map(|field| format!("{}={}", field.pointer(), field.initial)).collect();
        assert_eq!(held.join(" ").replace('\n', "|"), expected, "{values}");
    };
    check(
        json!({ "supplier": "Acme", "copies": 2, "urgent": true, "kind": 7, "tags": ["a", "b"], "address": { "city": "Ulm" } }),
        "/supplier=Acme /copies=2 /urgent=true /kind=1 /tags=a|b /address/city=Ulm",
    );
    // Missing, null and invalid values are reported by their field.
    check(json!({ "copies": null, "urgent": false }), "/supplier= /copies= /urgent= /kind= /tags= /address/city=");
    check(json!({ "copies": "many" }), "/supplier= /copies=many /urgent= /kind= /tags= /address/city=");
    // Values that no field can hold are kept.
    check(json!({ "supplier": "Acme", "more": 1 }), r#"={"supplier":"Acme","more":1}"#);
    check(json!({ "kind": "stone" }), r#"={"kind":"stone"}"#);
    check(json!({ "address": { "street": "x" } }), r#"={"address":{"street":"x"}}"#);
}

#[test]
fn fields_follow_the_schema() {
    let lines: Vec<_> = form()
        .fields
        .iter()
        .map(|field| {
            let FormField { label, group, control, required, initial, .. } = field;
            let control = match control {
                Control::Choice(options) | Control::Choices(options) => {
                    options.iter().map(|option| option.label.as_str()).collect::<Vec<_>>().join("|")
                }
                other => format!("{other:?}"),
            };
            format!("{} {label} {group} {control} {required} {initial:?}", field.pointer())
        })
        .collect();
    insta::assert_snapshot!(lines.join("\n"), @r#"
    /supplier The supplier  Line true ""
    /total Total  Number true "12.5"
    /copies Copies  Integer false ""
    /urgent Urgent  Boolean true ""
    /kind Kind  paper|7|null true "1"
    /size Size  Small|l false ""
    /due_date Due date  Date false ""
    /note Note  Lines false ""
    /tags Tags  List(Text) false ""
    /rates Rates  List(Integer) false "1\n2"
    /colours Colours  red|blue false "1"
    /address/city City Address Line true ""
    /address/deep Deep Address Json false ""
    /contact/name Name Contact person Line true ""
    /contact/isNew Is new Contact person Boolean false ""
    /other Other  Json false ""
    "#);
}

#[test]
fn entries_become_values_or_problems() {
    let form = form();
    let needed = [("/supplier", "Acme"), ("/total", "6200"), ("/kind", "0"), ("/address/city", "Oslo")];
    let check = |changed: &[(&str, &str)], expected: &str| {
        let mut entered = changed.to_vec();
        entered.extend(needed);
        let said = match form.values(&entries(&form, &entered)) {
            Ok(mut values) => {
                for key in ["supplier", "total", "kind", "address", "urgent"] {
                    if !changed.iter().any(|(pointer, _)| pointer[1..].starts_with(key)) {
                        values.remove(key);
                    }
                }
                Value::Object(values).to_string()
            }
            Err(problems) => {
                let line = |FieldProblem { field, problem }: &FieldProblem| {
                    format!("{}: {}", form.fields[*field].pointer(), problem.english())
                };
                problems.iter().map(line).collect::<Vec<_>>().join("; ")
            }
        };
        assert_eq!(said, expected, "{changed:?}");
    };
    check(&[], "{}");
    check(&[("/supplier", " ")], "/supplier: This field is required.");
    check(&[("/supplier", "a name that is much too long")], "/supplier: Write at most 20 characters.");
    check(&[("/total", "much"), ("/copies", "1.5")], "/total: Enter a number.; /copies: Enter a whole number.");
    check(
        &[("/total", "0.2"), ("/copies", "12")],
        "/total: The number must be at least 0.5.; /copies: The number must be at most 9.",
    );
    check(&[("/copies", "3.0")], r#"{"copies":3}"#);
    check(&[("/urgent", "true")], r#"{"urgent":true}"#);
    check(&[("/kind", "")], "/kind: Please choose one.");
    check(&[("/kind", "9")], "/kind: Please choose one.");
    check(&[("/kind", "2"), ("/size", "0")], r#"{"kind":null,"size":"s"}"#);
    check(&[("/due_date", "2026-02-30")], "/due_date: Enter a date as YYYY-MM-DD.");
    check(&[("/note", " a\n b")], r#"{"note":" a\n b"}"#);
    check(&[("/tags", "one")], "/tags: Enter at least 2.");
    check(&[("/tags", " one \n\ntwo"), ("/rates", "3\n4")], r#"{"tags":["one","two"],"rates":[3,4]}"#);
    check(&[("/rates", "3\nx")], "/rates: Enter a whole number.");
    check(&[("/colours", "0\n1")], "/colours: Enter at most 1.");
    check(&[("/colours", "1")], r#"{"colours":["blue"]}"#);
    check(&[("/address/city", "")], "/address/city: This field is required.");
    check(&[("/address/city", "Bergen")], r#"{"address":{"city":"Bergen"}}"#);
    // A nested object that may be left out needs its fields only if one of them was filled in.
    check(&[("/contact/isNew", "true")], "/contact/name: This field is required.");
    check(&[("/contact/name", "Ada")], r#"{"contact":{"name":"Ada","isNew":false}}"#);
    check(&[("/other", "{\"a\":")], "/other: Enter valid JSON.");
    check(&[("/other", "[1]")], r#"{"other":[1]}"#);
}

#[test]
fn schemas_without_known_properties_are_entered_as_json() {
    let check = |schema: Value, entry: &str, expected: Result<Value, Problem>| {
        let form = Form::for_schema(&schema);
        assert_eq!(form.fields.iter().map(FormField::pointer).collect::<Vec<_>>(), [""], "{schema}");
        let values = form.values(&[entry.to_owned()]);
        let values = values.map(Value::Object).map_err(|mut problems| problems.remove(0).problem);
        assert_eq!(values, expected, "{schema}");
    };
    check(json!({}), "", Ok(json!({})));
    check(json!(true), "{\"a\": 1}", Ok(json!({ "a": 1 })));
    check(json!({ "type": "object", "required": ["a"] }), "", Err(Problem::Missing));
    check(json!({}), "[]", Err(Problem::NotJson));
    let many: serde_json::Map<_, _> = (0..=MAX_FIELDS).map(|n| (format!("f{n}"), json!({}))).collect();
    check(json!({ "properties": many }), "", Ok(json!({})));
    assert_eq!(Form::for_schema(&json!({ "properties": {} })).fields, []);
}

#[test]
fn errors_of_the_server_find_their_field() {
    let form = form();
    let check = |pointer: &str, expected: Option<&str>| {
        let found = form.field_at(pointer).map(|field| form.fields[field].pointer());
        assert_eq!(found.as_deref(), expected, "{pointer}");
    };
    check("/total", Some("/total"));
    check("/tags/1", Some("/tags"));
    check("/address/city", Some("/address/city"));
    check("/address", None);
    check("", None);
}

#[test]
fn ids_become_labels() {
    for (id, label) in [("legal_name", "Legal name"), ("legalName", "Legal name"), ("a-b.c", "A b c"), ("URL", "URL")] {
        assert_eq!(label_from_id(id), label);
    }
}
