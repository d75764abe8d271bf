//! Converts entries to the values of the schema.

use super::{Bounds, Control, FieldProblem, Form, FormField, FormOption, Item, Problem};
use crate::page::{is_date, parse_number};
use serde_json::{Map, Number, Value};

impl Form {
    /// Returns the initial texts of the fields.
    pub fn initial(&self) -> Vec<String> {
        self.fields.iter().map(|field| field.initial.clone()).collect()
    }

    /// Converts the entries of the fields, in their order; see [`Control`] for their form. Empty
    /// entries have no value. A nested object that may be left out is, if nothing was entered in it.
    ///
    /// # Errors
    /// The problem of each field that has one.
    pub fn values(&self, entries: &[String]) -> Result<Map<String, Value>, Vec<FieldProblem>> {
        let (mut values, mut problems) = (Map::new(), Vec::new());
        for (index, field) in self.fields.iter().enumerate() {
            if field.is_group_optional && !self.has_entries(entries, &field.keys[0]) {
                continue;
            }
            let entry = entries.get(index).map_or("", String::as_str);
            match field.value(entry) {
                Ok(None) => {}
                Ok(Some(value)) => match field.keys.as_slice() {
                    [] => match value {
                        Value::Object(whole) => values = whole,
                        _ => problems.push(FieldProblem { field: index, problem: Problem::NotJson }),
                    },
                    [key] => drop(values.insert(key.clone(), value)),
                    [object, key, ..] => {
                        let inner = values.entry(object.clone()).or_insert_with(|| Value::Object(Map::new()));
                        if let Value::Object(inner) = inner {
                            inner.insert(key.clone(), value);
                        }
                    }
                },
                Err(problem) => problems.push(FieldProblem { field: index, problem }),
            }
        }
        if problems.is_empty() { Ok(values) } else { Err(problems) }
    }

    /// Whether something was entered in the fields of a nested object.
    fn has_entries(&self, entries: &[String], object: &str) -> bool {
        let mut fields = self.fields.iter().zip(entries);
        fields.any(|(field, entry)| field.keys.first().is_some_and(|key| key == object) && !entry.trim().is_empty())
    }
}

impl FormField {
    /// Converts an entry; `None` for an empty one.
    ///
    /// # Errors
    /// The problem of the entry.
    pub fn value(&self, entry: &str) -> Result<Option<Value>, Problem> {
        let trimmed = entry.trim();
        match &self.control {
            Control::Boolean => return Ok(Some(Value::Bool(trimmed == "true"))),
            Control::Choices(options) => return self.list(chosen(options, trimmed)),
            Control::List(item) => return self.list(items(*item, trimmed)?),
            Control::Choice(_) if trimmed.is_empty() && self.required => return Err(Problem::NotChosen),
            _ if trimmed.is_empty() && self.required => return Err(Problem::Missing),
            _ if trimmed.is_empty() => return Ok(None),
            _ => {}
        }
        let value = match &self.control {
            Control::Choice(options) => {
                let option = trimmed.parse::<usize>().ok().and_then(|index| options.get(index));
                option.map(|option| option.value.clone()).ok_or(Problem::NotChosen)?
            }
            Control::Number | Control::Integer => self.bounds.number(number(&self.control, trimmed)?)?,
            Control::Date if is_date(trimmed) => trimmed.into(),
            Control::Date => return Err(Problem::NotDate),
            Control::Json => serde_json::from_str(trimmed).map_err(|_| Problem::NotJson)?,
            // Spaces at the ends of several lines may have a meaning.
            Control::Lines => self.bounds.text(entry)?.into(),
            _ => self.bounds.text(trimmed)?.into(),
        };
        Ok(Some(value))
    }

    fn list(&self, values: Vec<Value>) -> Result<Option<Value>, Problem> {
        if values.is_empty() {
            return if self.required { self.bounds.count(0).map(|()| Some(values.into())) } else { Ok(None) };
        }
        self.bounds.count(values.len())?;
        Ok(Some(values.into()))
    }
}

fn number(control: &Control, entry: &str) -> Result<Number, Problem> {
    match (parse_number(entry), control) {
        (Value::Number(number), Control::Integer) if number.is_f64() => match number.as_f64() {
            // `2.0` and `1e3` are whole numbers as well.
            Some(whole) if whole.trunc() == whole && whole.abs() < 9e15 => Ok((whole as i64).into()),
            _ => Err(Problem::NotInteger),
        },
        (Value::Number(number), _) => Ok(number),
        (_, Control::Integer) => Err(Problem::NotInteger),
        _ => Err(Problem::NotNumber),
    }
}

fn chosen(options: &[FormOption], entry: &str) -> Vec<Value> {
    let indexes = entry.lines().filter_map(|line| line.trim().parse::<usize>().ok());
    indexes.filter_map(|index| options.get(index)).map(|option| option.value.clone()).collect()
}

fn items(item: Item, entry: &str) -> Result<Vec<Value>, Problem> {
    let lines = entry.lines().map(str::trim).filter(|line| !line.is_empty());
    let read = |line: &str| match item {
        Item::Text => Ok(line.into()),
        Item::Number => number(&Control::Number, line).map(Value::Number),
        Item::Integer => number(&Control::Integer, line).map(Value::Number),
    };
    lines.map(read).collect()
}

impl Bounds {
    fn number(&self, number: Number) -> Result<Value, Problem> {
        let value = number.as_f64();
        match self.exceeded(value) {
            None => Ok(Value::Number(number)),
            Some((true, bound)) => Err(Problem::TooSmall(bound)),
            Some((false, bound)) => Err(Problem::TooLarge(bound)),
        }
    }

    fn text<'t>(&self, text: &'t str) -> Result<&'t str, Problem> {
        match self.exceeded(Some(text.chars().count() as f64)) {
            None => Ok(text),
            Some((true, bound)) => Err(Problem::TooShort(bound)),
            Some((false, bound)) => Err(Problem::TooLong(bound)),
        }
    }

    fn count(&self, count: usize) -> Result<(), Problem> {
        match self.exceeded(Some(count as f64)) {
            None => Ok(()),
            Some((true, bound)) => Err(Problem::TooFew(bound)),
            Some((false, bound)) => Err(Problem::TooMany(bound)),
        }
    }

    /// Returns the bound that a number exceeds, and whether it is the lower one.
    fn exceeded(&self, number: Option<f64>) -> Option<(bool, String)> {
        let number = number?;
        let text = |bound: &Number| crate::json::text(&Value::Number(bound.clone()));
        let least = self.least.as_ref().filter(|least| least.as_f64().is_some_and(|least| number < least));
        let most = self.most.as_ref().filter(|most| most.as_f64().is_some_and(|most| number > most));
        least.map(|least| (true, text(least))).or_else(|| most.map(|most| (false, text(most))))
    }
}
