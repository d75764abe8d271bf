//! The steps of a routine, read from config before anything runs.

use crate::sql::{Access, Statement};
use serde_json::{Map, Value};

/// One step. Values hold operators, which are evaluated when the step is reached.
#[derive(Debug)]
pub(crate) enum Step {
    /// `SqlQuery`, `SqlExecute`
    Sql(SqlRequest),
    /// `:return`: ends the routine with a result.
    Return(Value),
    /// `:if`, with what stands under `:then` and `:else`.
    If { test: Value, then: Vec<Self>, otherwise: Vec<Self> },
    /// `:set_state`: values that later steps read with `_state`.
    SetState(Map<String, Value>),
    /// `:log`
    Log(Value),
    /// `:reject`: the caller did something wrong.
    Reject(Value),
    /// `:throw`: something went wrong.
    Throw(Value),
}

/// A statement for a connection.
#[derive(Debug)]
pub(crate) struct SqlRequest {
    /// Later steps find the result under it.
    pub(crate) id: String,
    pub(crate) connection_id: String,
    pub(crate) access: Access,
    pub(crate) statement: Statement,
    /// A mapping of values.
    pub(crate) parameters: Value,
}

impl Step {
    /// Reads the steps of a routine.
    ///
    /// # Errors
    /// One line that names the step by its place.
    pub(crate) fn read_all(steps: &[Value]) -> Result<Vec<Self>, String> {
        let steps = steps.iter().enumerate();
        steps.map(|(i, step)| Self::read(step).map_err(|error| format!("step {}: {error}", i + 1))).collect()
    }

    /// Reads what stands under `:then` or `:else`: a list, or one step without it.
    fn read_branch(branch: &Value) -> Result<Vec<Self>, String> {
        let steps = branch.as_array().map_or(std::slice::from_ref(branch), Vec::as_slice);
        Self::read_all(steps)
    }

    fn read(value: &Value) -> Result<Self, String> {
        let step = value.as_object().ok_or("expected a mapping")?;
        let control = step.iter().find(|(key, _)| key.starts_with(':') && !matches!(key.as_str(), ":then" | ":else"));
        let Some((control, argument)) = control else { return SqlRequest::read(step).map(Self::Sql) };
        match control.as_str() {
            ":return" => Ok(Self::Return(argument.clone())),
            ":if" => {
                let branch = |name| step.get(name).map_or(Ok(Vec::new()), Self::read_branch);
                Ok(Self::If { test: argument.clone(), then: branch(":then")?, otherwise: branch(":else")? })
            }
            ":set_state" => {
                let values = argument.as_object().ok_or("`:set_state` takes a mapping of values")?;
                Ok(Self::SetState(values.clone()))
            }
            ":log" => Ok(Self::Log(argument.clone())),
            ":reject" => Ok(Self::Reject(argument.clone())),
            ":throw" => Ok(Self::Throw(argument.clone())),
            unknown => Err(format!("there is no control `{unknown}`")),
        }
    }
}

impl SqlRequest {
    fn read(step: &Map<String, Value>) -> Result<Self, String> {
        let text = |key: &str| step.get(key).and_then(Value::as_str).ok_or(format!("`{key}` is missing"));
        let access = match text("type")? {
            "SqlQuery" => Access::Read,
            "SqlExecute" => Access::Write,
            unknown => return Err(format!("there is no request type `{unknown}`")),
        };
        let properties = step.get("properties").ok_or("`properties` is missing")?;
        // A text and not an operator: a statement is never made of what a caller sends.
        let query = properties.get("query").and_then(Value::as_str).ok_or("`query` must be a text")?;
        Ok(Self {
            id: text("id")?.to_owned(),
            connection_id: text("connectionId")?.to_owned(),
            access,
            statement: Statement::read(query)?,
            parameters: properties.get("parameters").cloned().unwrap_or_else(|| Value::Object(Map::new())),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Step;
    use serde_json::{Value, json};

    fn check(routine: Value, expected: &str) {
        assert_eq!(Step::read_all(routine.as_array().unwrap()).unwrap_err(), expected);
    }

    #[test]
    fn what_is_no_step_is_told_with_its_place() {
        let sql = |query: Value| json!({ "id": "a", "type": "SqlQuery", "connectionId": "kb", "properties": { "query": query } });
        check(json!(["x"]), "step 1: expected a mapping");
        check(json!([{ ":log": 1 }, { ":lgo": 1 }]), "step 2: there is no control `:lgo`");
        check(
            json!([{ ":if": true, ":then": { ":set_state": 1 } }]),
            "step 1: step 1: `:set_state` takes a mapping of values",
        );
        check(json!([{ "type": "Sql" }]), "step 1: there is no request type `Sql`");
        check(json!([{ "id": "a" }]), "step 1: `type` is missing");
        check(json!([{ "id": "a", "type": "SqlQuery" }]), "step 1: `properties` is missing");
        check(json!([sql(json!({ "_payload": "q" }))]), "step 1: `query` must be a text");
        check(json!([sql(json!("select ?"))]), "step 1: parameters have names, such as `:name`; found `?`");
    }
}
