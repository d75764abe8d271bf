//! The steps of a routine, read from config before anything runs.

use crate::sql::Access;
use dialect::{Dialect, Statement};
use reqwest::Method;
use serde_json::{Map, Value};

/// One step. Values hold operators, which are evaluated when the step is reached.
#[derive(Debug)]
pub(crate) enum Step {
    /// Something of a connection.
    Request(Request),
    /// `CallEndpoint`
    Call(CallRequest),
    /// `:return`: ends the routine with a result.
    Return(Value),
    /// `:if` and `:switch`: the steps of the first test that holds, else those of `:else` or `:default`.
    Choose { control: &'static str, cases: Vec<(Value, Vec<Self>)>, otherwise: Vec<Self> },
    /// `:for`, `:in`, `:do`: the steps for each item of a list, which they read with `_item`.
    For { item: String, list: Value, body: Vec<Self> },
    /// `:parallel`: branches that run at once.
    Parallel(Vec<Vec<Self>>),
    /// `:try`, `:catch`, `:finally`.
    Try { body: Vec<Self>, catch: Option<Vec<Self>>, finally: Vec<Self> },
    /// `:set_state`: values that later steps read with `_state`.
    SetState(Map<String, Value>),
    /// `:log`
    Log(Value),
    /// `:reject`: the caller did something wrong.
    Reject(Value),
    /// `:throw`: something went wrong.
    Throw(Value),
}

/// Something that is asked of a connection.
#[derive(Debug)]
pub(crate) struct Request {
    /// Later steps find the result under it.
    pub(crate) id: String,
    pub(crate) connection_id: String,
    pub(crate) what: What,
    /// A mapping of values: a statement's parameters, or all that the request says.
    pub(crate) properties: Value,
}

/// What is asked.
#[derive(Debug)]
pub(crate) enum What {
    /// `SqlQuery`, `SqlExecute`
    Sql(Access, Statement),
    /// `Http`
    Http(Method),
    /// `GenerateText`, `GenerateObject`
    Text,
}

/// A call of another endpoint.
#[derive(Debug)]
pub(crate) struct CallRequest {
    /// Later steps find the result under it.
    pub(crate) id: String,
    pub(crate) endpoint_id: String,
    pub(crate) payload: Value,
}

/// How statements for the connection of an id are written.
pub(crate) type Dialects<'a> = &'a dyn Fn(&str) -> Dialect;

/// Branches that run at once.
const MAX_BRANCHES: usize = 16;

impl Step {
    /// Reads the steps of a routine.
    ///
    /// # Errors
    /// One line that names the step by its place.
    pub(crate) fn read_all(steps: &[Value], dialects: Dialects<'_>) -> Result<Vec<Self>, String> {
        let steps = steps.iter().enumerate();
        steps.map(|(i, step)| Self::read(step, dialects).map_err(|error| format!("step {}: {error}", i + 1))).collect()
    }

    /// Reads what stands under `:then` or `:else`: a list, or one step without it.
    fn read_branch(branch: &Value, dialects: Dialects<'_>) -> Result<Vec<Self>, String> {
        let steps = branch.as_array().map_or(std::slice::from_ref(branch), Vec::as_slice);
        Self::read_all(steps, dialects)
    }

    fn read(value: &Value, dialects: Dialects<'_>) -> Result<Self, String> {
        let step = value.as_object().ok_or("expected a mapping")?;
        let control = step.iter().find(|(key, _)| key.starts_with(':') && !is_beside(key));
        let Some((control, argument)) = control else { return Self::read_request(step, dialects) };
        let read_branch = |steps| Self::read_branch(steps, dialects);
        let branch = |name| step.get(name).map_or(Ok(Vec::new()), read_branch);
        match control.as_str() {
            ":return" => Ok(Self::Return(argument.clone())),
            ":if" => {
                let cases = vec![(argument.clone(), branch(":then")?)];
                Ok(Self::Choose { control: ":if", cases, otherwise: branch(":else")? })
            }
            ":switch" => {
                let cases = argument.as_array().ok_or("`:switch` takes a list of cases")?;
                let cases = cases.iter().map(|case| Self::read_case(case, dialects)).collect::<Result<_, _>>()?;
                Ok(Self::Choose { control: ":switch", cases, otherwise: branch(":default")? })
            }
            ":for" => {
                let item = argument.as_str().ok_or("`:for` takes the name of the item")?.to_owned();
                let list = step.get(":in").ok_or("`:in` is missing")?.clone();
                Ok(Self::For { item, list, body: branch(":do")? })
            }
            ":parallel" => {
                let branches = argument.as_array().ok_or("`:parallel` takes a list of branches")?;
                if branches.len() > MAX_BRANCHES {
                    return Err(format!("`:parallel` takes at most {MAX_BRANCHES} branches"));
                }
                branches.iter().map(read_branch).collect::<Result<_, _>>().map(Self::Parallel)
            }
            ":try" => {
                let catch = step.get(":catch").map(read_branch).transpose()?;
                Ok(Self::Try { body: read_branch(argument)?, catch, finally: branch(":finally")? })
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

    fn read_case(case: &Value, dialects: Dialects<'_>) -> Result<(Value, Vec<Self>), String> {
        let test = case.get(":case").ok_or("a case has no `:case`")?.clone();
        let steps = case.get(":then").map_or(Ok(Vec::new()), |steps| Self::read_branch(steps, dialects))?;
        Ok((test, steps))
    }

    fn read_request(step: &Map<String, Value>, dialects: Dialects<'_>) -> Result<Self, String> {
        match step.get("type").and_then(Value::as_str) {
            Some("CallEndpoint") => CallRequest::read(step).map(Self::Call),
            _ => Request::read(step, dialects).map(Self::Request),
        }
    }
}

/// Keys that stand beside a control.
fn is_beside(key: &str) -> bool {
    matches!(key, ":then" | ":else" | ":default" | ":in" | ":do" | ":catch" | ":finally")
}

impl CallRequest {
    fn read(step: &Map<String, Value>) -> Result<Self, String> {
        let properties = step.get("properties").ok_or("`properties` is missing")?;
        let endpoint_id = properties.get("endpointId").and_then(Value::as_str).ok_or("`endpointId` is missing")?;
        Ok(Self {
            id: step.get("id").and_then(Value::as_str).ok_or("`id` is missing")?.to_owned(),
            endpoint_id: endpoint_id.to_owned(),
            payload: properties.get("payload").cloned().unwrap_or_else(|| Value::Object(Map::new())),
        })
    }
}

impl Request {
    fn read(step: &Map<String, Value>, dialects: Dialects<'_>) -> Result<Self, String> {
        let text = |key: &str| step.get(key).and_then(Value::as_str).ok_or(format!("`{key}` is missing"));
        let kind = text("type")?;
        if !matches!(kind, "SqlQuery" | "SqlExecute" | "Http" | "GenerateText" | "GenerateObject") {
            return Err(format!("there is no request type `{kind}`"));
        }
        let all = step.get("properties").ok_or("`properties` is missing")?;
        let connection_id = text("connectionId")?.to_owned();
        let (what, properties) = match kind {
            "SqlQuery" => sql(Access::Read, all, dialects(&connection_id))?,
            "SqlExecute" => sql(Access::Write, all, dialects(&connection_id))?,
            "Http" => {
                let method = all.get("method").and_then(Value::as_str).unwrap_or("GET");
                let method = method.parse().map_err(|_| format!("`{method}` is no method"))?;
                (What::Http(method), all.clone())
            }
            _ => (What::Text, all.clone()),
        };
        Ok(Self { id: text("id")?.to_owned(), connection_id, what, properties })
    }
}

fn sql(access: Access, properties: &Value, dialect: Dialect) -> Result<(What, Value), String> {
    // A text and not an operator: a statement is never made of what a caller sends.
    let query = properties.get("query").and_then(Value::as_str).ok_or("`query` must be a text")?;
    let parameters = properties.get("parameters").cloned().unwrap_or_else(|| Value::Object(Map::new()));
    Ok((What::Sql(access, Statement::read(query, dialect)?), parameters))
}

#[cfg(test)]
mod tests {
    use super::Step;
    use dialect::Dialect;
    use serde_json::{Value, json};

    fn check(routine: Value, expected: &str) {
        assert_eq!(Step::read_all(routine.as_array().unwrap(), &|_| Dialect::Sqlite).unwrap_err(), expected);
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
