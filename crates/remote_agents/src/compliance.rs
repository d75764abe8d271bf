//! Checks the usable tools of a list for violations of the contract.

use crate::examine::{Finding, Verdict};
use crate::listing::ParsedTool;
use serde_json::{Map, Value};

/// Returns the findings about the usable tools of a list. Errors of unusable ones are reported
/// elsewhere.
pub(crate) fn faults(list: &[u8], usable: &[ParsedTool]) -> Vec<Finding> {
    let list: Value = serde_json::from_slice(list).unwrap_or_default();
    let mut findings = Vec::new();
    for tool in usable {
        let tools = list["tools"].as_array().into_iter().flatten();
        let sent = tools.into_iter().find(|sent| sent["name"] == tool.remote_name);
        if let Some(sent) = sent {
            ComplianceCheck { tool: &tool.remote_name, findings: &mut findings }.tool(sent);
        }
    }
    findings
}

struct ComplianceCheck<'a> {
    tool: &'a str,
    findings: &'a mut Vec<Finding>,
}

impl ComplianceCheck<'_> {
    fn tool(&mut self, sent: &Value) {
        if is_blank(&sent["description"]) {
            self.report(Verdict::Wrong, "it has no `description`");
        }
        let parameters = &sent["parameters"];
        if parameters["type"] != "object" || !parameters["properties"].is_object() {
            self.report(Verdict::Wrong, "its `parameters` are not `{type: object, properties: {…}}`");
        }
        self.properties(parameters);
        for name in sent["visibleParameters"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            if parameters["properties"].get(name).is_none() {
                self.report(Verdict::Wrong, &format!("`visibleParameters` names `{name}`, which is not a parameter"));
            }
        }
    }

    fn properties(&mut self, schema: &Value) {
        for (name, property) in schema["properties"].as_object().into_iter().flat_map(Map::iter) {
            self.property(&format!("the parameter `{name}`"), property);
        }
    }

    fn property(&mut self, what: &str, property: &Value) {
        if is_blank(&property["description"]) {
            self.report(Verdict::Wrong, &format!("{what} has no `description`"));
        }
        if property["type"] == "integer" {
            self.report(Verdict::Note, &format!("{what} is an `integer`; the contract only has `number`"));
        }
        if property["enum"].as_array().is_some_and(|values| !values.iter().all(Value::is_string)) {
            self.report(Verdict::Note, &format!("{what} has an `enum` with values other than strings"));
        }
        if property["default"].is_array() || property["default"].is_object() {
            self.report(Verdict::Note, &format!("{what} has a default that is not a string, number or boolean"));
        }
        if property["items"].is_object() {
            self.property(&format!("each item of {what}"), &property["items"]);
        }
        self.properties(property);
    }

    fn report(&mut self, verdict: Verdict, text: &str) {
        self.findings.push(Finding::new(verdict, format!("`{}`: {text}", self.tool)));
    }
}

fn is_blank(text: &Value) -> bool {
    text.as_str().is_none_or(|text| text.trim().is_empty())
}
