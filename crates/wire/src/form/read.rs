//! Reads the fields of a schema. Values that a field cannot express are entered as JSON.

use super::{Bounds, Control, Form, FormField, FormOption, Item, MAX_FIELDS, label_from_id};
use crate::json;
use serde_json::{Number, Value};

/// Texts with a higher limit get several lines.
const LINE: u64 = 200;

impl Form {
    /// Makes a form for the values of a schema.
    pub fn for_schema(schema: &Value) -> Self {
        let mut fields = Vec::new();
        match read_object(schema, &Place::default(), &mut fields) {
            Some(()) if fields.len() <= MAX_FIELDS => Self { fields },
            _ => Self { fields: vec![whole(schema)] },
        }
    }

    /// Makes a form for the values of a schema that holds these values at first. It is one field with JSON if its fields
    /// cannot hold all of them.
    pub fn holding(schema: &Value, values: &Value) -> Self {
        let mut form = Self::for_schema(schema);
        for field in &mut form.fields {
            let value = values.pointer(&field.pointer()).filter(|value| !value.is_null());
            field.initial = value.map(|value| initial(&field.control, value)).unwrap_or_default();
        }
        if form.holds(&mut Vec::new(), values) {
            form
        } else {
            Self { fields: vec![FormField { initial: json::text(values), ..whole(schema) }] }
        }
    }

    /// Whether the fields hold a value that is found with these keys.
    fn holds<'v>(&self, keys: &mut Vec<&'v str>, value: &'v Value) -> bool {
        if value.is_null() {
            return true;
        }
        if let Some(field) = self.fields.iter().find(|field| field.keys == *keys) {
            // An entry that the schema does not allow any more is shown with its problem.
            return !matches!(field.value(&field.initial), Ok(held) if held.as_ref() != Some(value));
        }
        let Value::Object(values) = value else { return false };
        keys.len() < 2
            && values.iter().all(|(key, value)| {
                keys.push(key);
                let is_held = self.holds(keys, value);
                keys.pop();
                is_held
            })
    }
}

/// The object that is read.
#[derive(Default)]
struct Place {
    keys: Vec<String>,
    /// The title of a nested object.
    group: String,
    /// Whether it may be left out.
    is_optional: bool,
}

/// The field for a whole value.
fn whole(schema: &Value) -> FormField {
    FormField {
        keys: Vec::new(),
        label: String::new(),
        hint: text(schema, "description"),
        group: String::new(),
        is_group_optional: false,
        control: Control::Json,
        required: schema.get("required").and_then(Value::as_array).is_some_and(|keys| !keys.is_empty()),
        initial: schema.get("default").map(json::text).unwrap_or_default(),
        bounds: Bounds::default(),
    }
}

/// Adds the fields of an object. `None` if the schema does not say which properties it has.
fn read_object(schema: &Value, place: &Place, fields: &mut Vec<FormField>) -> Option<()> {
    let properties = schema.get("properties")?.as_object()?;
    let required = schema.get("required").and_then(Value::as_array);
    let defaults = schema.get("default").and_then(Value::as_object);
    for (key, property) in properties {
        let is_required = required.is_some_and(|names| names.iter().any(|name| name == key));
        let mut keys = place.keys.clone();
        keys.push(key.clone());
        let label = match text(property, "title") {
            title if title.is_empty() => label_from_id(key),
            title => title,
        };
        if type_of(property) == "object" && place.keys.is_empty() {
            let inner = Place { keys: keys.clone(), group: label.clone(), is_optional: !is_required };
            if read_object(property, &inner, fields).is_some() {
                continue;
            }
        }
        let control = control(property);
        let default = property.get("default").or_else(|| defaults?.get(key));
        fields.push(FormField {
            keys,
            label,
            hint: text(property, "description"),
            group: place.group.clone(),
            is_group_optional: place.is_optional,
            required: is_required,
            initial: default.map(|value| initial(&control, value)).unwrap_or_default(),
            bounds: bounds(property, &control),
            control,
        });
    }
    Some(())
}

fn control(schema: &Value) -> Control {
    if let Some(options) = options(schema) {
        return Control::Choice(options);
    }
    match type_of(schema) {
        "string" => match text(schema, "format").as_str() {
            "date" => Control::Date,
            "multiline" => Control::Lines,
            _ if number(schema, "maxLength").and_then(|most| most.as_u64()).is_some_and(|most| most > LINE) => {
                Control::Lines
            }
            _ => Control::Line,
        },
        "number" => Control::Number,
        "integer" => Control::Integer,
        "boolean" => Control::Boolean,
        "array" => list(schema.get("items").unwrap_or(&Value::Null)),
        _ => Control::Json,
    }
}

fn list(items: &Value) -> Control {
    if let Some(options) = options(items) {
        return Control::Choices(options);
    }
    match type_of(items) {
        "string" => Control::List(Item::Text),
        "number" => Control::List(Item::Number),
        "integer" => Control::List(Item::Integer),
        _ => Control::Json,
    }
}

/// The values of `enum`, or those of `oneOf` or `anyOf` if each alternative is a `const`.
fn options(schema: &Value) -> Option<Vec<FormOption>> {
    let option = |value: &Value, title: String| FormOption {
        label: if title.is_empty() { value.as_str().map_or_else(|| json::text(value), str::to_owned) } else { title },
        value: value.clone(),
    };
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        return (!values.is_empty()).then(|| values.iter().map(|value| option(value, String::new())).collect());
    }
    let alternatives = schema.get("oneOf").or_else(|| schema.get("anyOf"))?.as_array()?;
    let options: Option<Vec<_>> =
        alternatives.iter().map(|one| Some(option(one.get("const")?, text(one, "title")))).collect();
    options.filter(|options| !options.is_empty())
}

fn bounds(schema: &Value, control: &Control) -> Bounds {
    let (least, most) = match control {
        Control::Line | Control::Lines => ("minLength", "maxLength"),
        Control::Number | Control::Integer => ("minimum", "maximum"),
        Control::Choices(_) | Control::List(_) => ("minItems", "maxItems"),
        _ => return Bounds::default(),
    };
    Bounds { least: number(schema, least), most: number(schema, most) }
}

/// The entry for a value.
fn initial(control: &Control, value: &Value) -> String {
    let index = |options: &[FormOption], value: &Value| {
        options.iter().position(|option| option.value == *value).map(|index| index.to_string())
    };
    let lines = |lines: Vec<String>| lines.join("\n");
    match (control, value) {
        (Control::Json, value) => json::text(value),
        (Control::Choice(options), value) => index(options, value).unwrap_or_default(),
        (Control::Choices(options), Value::Array(values)) => {
            lines(values.iter().filter_map(|value| index(options, value)).collect())
        }
        (Control::List(_), Value::Array(values)) => lines(values.iter().map(plain).collect()),
        (_, Value::Bool(false) | Value::Null) => String::new(),
        (_, value) => plain(value),
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| json::text(value), str::to_owned)
}

/// The first type that is not `null`.
fn type_of(schema: &Value) -> &str {
    match schema.get("type") {
        Some(Value::String(name)) => name,
        Some(Value::Array(names)) => {
            names.iter().filter_map(Value::as_str).find(|name| *name != "null").unwrap_or_default()
        }
        _ if schema.get("properties").is_some_and(Value::is_object) => "object",
        _ => "",
    }
}

fn text(schema: &Value, key: &str) -> String {
    schema.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn number(schema: &Value, key: &str) -> Option<Number> {
    schema.get(key).and_then(Value::as_number).cloned()
}
