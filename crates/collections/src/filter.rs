//! Filters as data: conditions that become parts of a statement, never text of one.

use crate::value::{MAX_FIELD, Scalar};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

/// The most conditions, and their deepest nesting.
const MAX_CONDITIONS: usize = 50;
const MAX_DEPTH: usize = 4;
/// The longest text that is compared, in bytes.
const MAX_TEXT: usize = 2_000;

/// A condition of a filter.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub(crate) enum Condition {
    /// All conditions hold.
    All { all: Vec<Condition> },
    /// At least one holds.
    Any { any: Vec<Condition> },
    /// It does not hold.
    Not { not: Box<Condition> },
    /// A value of the field compares like this.
    Compare(Comparison),
}

/// A comparison of the values of a field.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Comparison {
    pub(crate) field: String,
    pub(crate) op: Operator,
    #[serde(default)]
    pub(crate) value: Value,
}

/// The comparison of a field with a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Operator {
    Eq,
    Ne,
    Gt,
    Gte,
    Lt,
    Lte,
    In,
    Contains,
    StartsWith,
    Exists,
}

/// A condition whose parts fit together.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Filter {
    All(Vec<Filter>),
    Any(Vec<Filter>),
    Not(Box<Filter>),
    /// The record has one of these ids.
    Ids(Vec<String>),
    /// The field has a value.
    Exists(String),
    /// A value of the field passes the test.
    Value(String, Test),
}

/// A test of one value. Values of another type do not pass.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Test {
    Equals(Scalar),
    Greater(Scalar),
    GreaterOrEqual(Scalar),
    Less(Scalar),
    LessOrEqual(Scalar),
    /// The text in lower case contains this text.
    Contains(String),
    /// The text in lower case begins with this text.
    StartsWith(String),
}

/// Returns the JSON Schema of a list of conditions, for tools.
pub(crate) fn schema() -> Value {
    json!({
        "type": "array",
        "maxItems": MAX_CONDITIONS,
        "items": { "type": "object" },
        "description": "Conditions that must all hold: {\"field\": \"address.city\", \"op\": \"eq\", \"value\": \"Oslo\"}. `op`: eq, ne, gt, gte, lt, lte (numbers, or texts by their characters), in (with a list), contains, startsWith (ignoring case), exists (with true or false). Also {\"any\": […]}, {\"all\": […]} and {\"not\": …}. A field with a list passes if one of its values does.",
    })
}

impl Filter {
    /// Reads a list of conditions, all of which must hold.
    ///
    /// # Errors
    /// A message for the model.
    pub(crate) fn read(conditions: &[Value]) -> Result<Self, String> {
        let mut left = MAX_CONDITIONS;
        let read = conditions.iter().map(|condition| {
            let condition = Condition::deserialize(condition).map_err(|_| {
                "A condition is {\"field\", \"op\", \"value\"}, {\"any\": […]}, {\"all\": […]} or {\"not\": …}."
                    .to_owned()
            })?;
            convert(condition, 1, &mut left)
        });
        Ok(Self::All(read.collect::<Result<_, String>>()?))
    }
}

fn convert(condition: Condition, depth: usize, left: &mut usize) -> Result<Filter, String> {
    *left = left.checked_sub(1).ok_or_else(|| format!("A filter has at most {MAX_CONDITIONS} conditions."))?;
    if depth > MAX_DEPTH {
        return Err(format!("Conditions are nested at most {MAX_DEPTH} levels deep."));
    }
    let mut list = |conditions: Vec<Condition>| {
        conditions.into_iter().map(|condition| convert(condition, depth + 1, left)).collect::<Result<Vec<_>, _>>()
    };
    Ok(match condition {
        Condition::All { all } => Filter::All(list(all)?),
        Condition::Any { any } => Filter::Any(list(any)?),
        Condition::Not { not } => Filter::Not(Box::new(convert(*not, depth + 1, left)?)),
        Condition::Compare(comparison) => comparison.filter()?,
    })
}

impl Comparison {
    fn filter(self) -> Result<Filter, String> {
        let Self { field, op, value } = self;
        check_field(&field)?;
        let not = |filter| Filter::Not(Box::new(filter));
        let scalar = || -> Result<Scalar, String> {
            let scalar = Scalar::read(&value).ok_or_else(|| format!("`{field}` is compared with no single value."))?;
            check_text(scalar.text().unwrap_or_default())?;
            Ok(scalar)
        };
        let ordered = || match scalar()? {
            Scalar::Bool(_) => Err(format!("`{field}`: true and false have no order.")),
            scalar => Ok(scalar),
        };
        let text = || match scalar()? {
            Scalar::Text(text) => Ok(text.to_lowercase()),
            _ => Err(format!("`{field}`: this operator needs a text.")),
        };
        let test = match (op, &value) {
            (Operator::Eq, Value::Null) => return Ok(not(Filter::Exists(field))),
            (Operator::Ne, Value::Null) => return Ok(Filter::Exists(field)),
            (Operator::Exists, Value::Bool(false)) => return Ok(not(Filter::Exists(field))),
            (Operator::Exists, Value::Bool(true) | Value::Null) => return Ok(Filter::Exists(field)),
            (Operator::Exists, _) => return Err(format!("`{field}`: `exists` needs true or false.")),
            (Operator::In, Value::Array(items)) if items.len() <= MAX_CONDITIONS => {
                let tests = items
                    .iter()
                    .map(|item| Comparison { field: field.clone(), op: Operator::Eq, value: item.clone() }.filter());
                return Ok(Filter::Any(tests.collect::<Result<_, _>>()?));
            }
            (Operator::In, _) => {
                return Err(format!("`{field}`: `in` needs a list of at most {MAX_CONDITIONS} values."));
            }
            (Operator::Ne, _) => return Ok(not(Filter::Value(field.clone(), Test::Equals(scalar()?)))),
            (Operator::Eq, _) => Test::Equals(scalar()?),
            (Operator::Gt, _) => Test::Greater(ordered()?),
            (Operator::Gte, _) => Test::GreaterOrEqual(ordered()?),
            (Operator::Lt, _) => Test::Less(ordered()?),
            (Operator::Lte, _) => Test::LessOrEqual(ordered()?),
            (Operator::Contains, _) => Test::Contains(text()?),
            (Operator::StartsWith, _) => Test::StartsWith(text()?),
        };
        Ok(Filter::Value(field.clone(), test))
    }
}

/// Checks the path of a field.
///
/// # Errors
/// A message for the model.
pub(crate) fn check_field(field: &str) -> Result<(), String> {
    if field.is_empty() || field.len() > MAX_FIELD || field.contains('\0') {
        Err("The name of a field is empty or too long.".to_owned())
    } else {
        Ok(())
    }
}

fn check_text(text: &str) -> Result<(), String> {
    if text.len() > MAX_TEXT || text.contains('\0') {
        Err("A text in the filter is too long, or has the character NUL.".to_owned())
    } else {
        Ok(())
    }
}
