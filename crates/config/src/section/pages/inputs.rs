//! Checks the properties of inputs and containers beyond their schema.

use crate::section::Context;
use config_source::{Node, PathStep, Report, Span, suggest};
use serde_json::{Map, Value};
use wire::page::{BlockType, Property, SelectOption};

/// Checks the properties of a block that matches the schema.
pub(crate) fn check(kind: BlockType, properties: &Map<String, Value>, node: &Node, context: &mut Context<'_, '_>) {
    let place = BlockCheck { node, report: context.report };
    match kind {
        BlockType::Columns => place.check_one_per_block("widths", properties),
        BlockType::Tabs => place.check_one_per_block("titles", properties),
        BlockType::Select | BlockType::MultiSelect => place.options(properties),
        BlockType::DatePicker => place.days(properties),
        BlockType::NumberInput => place.range(properties, "min", "max"),
        BlockType::TextInput | BlockType::TextArea => place.text(properties),
        _ => {}
    }
}

struct BlockCheck<'a> {
    node: &'a Node,
    report: &'a mut Report,
}

impl BlockCheck<'_> {
    fn at(&self, key: &str) -> Span {
        self.node.span_at(&[PathStep::Key("properties"), PathStep::Key(key)])
    }

    fn check_one_per_block(self, key: &str, properties: &Map<String, Value>) {
        let count = properties.get(key).and_then(Value::as_array).map_or(0, Vec::len);
        let blocks = self.node.get("blocks").map_or(0, |entry| entry.value.items().len());
        if (count != 0 || key == "titles") && count != blocks {
            self.report.error(self.at(key), format!("there are {count} {key} for {blocks} blocks"), None);
        }
    }

    fn options(mut self, properties: &Map<String, Value>) {
        let Some(options) = properties.get("options").and_then(Value::as_array) else { return };
        let mut values: Vec<String> = Vec::new();
        for (index, SelectOption { value, .. }) in options.iter().filter_map(SelectOption::from_value).enumerate() {
            if values.contains(&value) {
                let at =
                    self.node.span_at(&[PathStep::Key("properties"), PathStep::Key("options"), PathStep::Index(index)]);
                self.report.error(at, format!("the option `{value}` is there twice"), None);
            }
            values.push(value);
        }
        match properties.get("initial") {
            Some(Value::String(initial)) => self.option(initial, &[], &values),
            Some(Value::Array(initial)) => {
                for (index, value) in initial.iter().enumerate() {
                    self.option(value.as_str().unwrap_or_default(), &[PathStep::Index(index)], &values);
                }
            }
            _ => {}
        }
        self.range(properties, "min", "max");
    }

    fn option(&mut self, initial: &str, within: &[PathStep<'_>], values: &[String]) {
        if !values.iter().any(|value| value == initial) {
            let path = [&[PathStep::Key("properties"), PathStep::Key("initial")], within].concat();
            let help = suggest::help(initial, values.iter().map(String::as_str));
            self.report.error(self.node.span_at(&path), format!("there is no option `{initial}`"), help);
        }
    }

    fn days(self, properties: &Map<String, Value>) {
        let day = |key: &str| properties.get(key).and_then(Value::as_str);
        for key in ["initial", "min", "max"] {
            if let Some(text) = day(key).filter(|text| !wire::page::is_date(text)) {
                let help = "write it as `YYYY-MM-DD`".to_owned();
                self.report.error(self.at(key), format!("`{text}` is no day"), Some(help));
            }
        }
        let is_day = |text: &&str| wire::page::is_date(text);
        // In this format the alphabetical order is the order of the days.
        if let (Some(min), Some(max)) = (day("min").filter(is_day), day("max").filter(is_day))
            && min > max
        {
            self.report.error(self.at("max"), format!("the last day `{max}` is before the first, `{min}`"), None);
        }
    }

    fn range(self, properties: &Map<String, Value>, least: &str, most: &str) {
        let number = |key: &str| properties.get(key).and_then(Value::as_f64);
        if let (Some(min), Some(max)) = (number(least), number(most))
            && min > max
        {
            self.report.error(self.at(most), format!("`{most}` is {max}, less than `{least}`, which is {min}"), None);
        }
    }

    fn text(self, properties: &Map<String, Value>) {
        let pattern = properties.get("pattern").and_then(Value::as_str);
        if let Some(pattern) = pattern.filter(|pattern| !schemas::is_regular_expression(pattern)) {
            self.report.error(self.at("pattern"), format!("`{pattern}` is no regular expression"), None);
        }
        if pattern.is_none() && properties.contains_key("patternMessage") {
            let help = "give it a `pattern`".to_owned();
            self.report.error(self.at("patternMessage"), "there is no pattern that this is said about", Some(help));
        }
        self.range(properties, "minLength", "maxLength");
    }
}
