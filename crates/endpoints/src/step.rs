//! The steps of a routine, parsed from the config before anything runs.

use crate::sql::SqlAccess;
use dialect::{Dialect, Statement};
use reqwest::Method;
use serde_json::{Map, Value};

/// A step. Its values may contain operators, which are evaluated when the step runs.
#[derive(Debug)]
pub(crate) enum RoutineStep {
    /// A request to a connection.
    Request(RequestStep),
    /// `CallEndpoint`
    Call(CallStep),
    /// `:return`: ends the routine with a value.
    Return(Value),
    /// `:if` and `:switch`: runs the steps of the first test that is true, otherwise those of
    /// `:else` or `:default`.
    Choose { control: &'static str, cases: Vec<(Value, Vec<Self>)>, otherwise: Vec<Self> },
    /// `:for`, `:in`, `:do`: runs the steps for each item of a list, which `_item` reads.
    For { item: String, list: Value, body: Vec<Self> },
    /// `:parallel`: runs branches concurrently.
    Parallel(Vec<Vec<Self>>),
    /// `:try`, `:catch`, `:finally`.
    Try { body: Vec<Self>, catch: Option<Vec<Self>>, finally: Vec<Self> },
    /// `:set_state`: sets values that later steps read with `_state`.
    SetState(Map<String, Value>),
    /// `:log`
    Log(Value),
    /// `:status`: shows the user what the routine is doing.
    Status(Value),
    /// `:reject`: ends the routine with an error of the caller.
    Reject(Value),
    /// `:throw`: ends the routine with an error.
    Throw(Value),
}

/// A request to a connection.
#[derive(Debug)]
pub(crate) struct RequestStep {
    /// The id under which later steps read the result.
    pub(crate) id: String,
    pub(crate) connection_id: String,
    pub(crate) kind: RequestKind,
    /// The parameters of a statement, or all properties of another request.
    pub(crate) properties: Value,
}

/// The type of a request.
#[derive(Debug)]
pub(crate) enum RequestKind {
    /// `SqlQuery`, `SqlExecute`
    Sql(SqlAccess, Statement),
    /// `Http`
    Http(Method),
    /// `GenerateText`, `GenerateObject`
    Text,
}

/// A call of another endpoint.
#[derive(Debug)]
pub(crate) struct CallStep {
    /// The id under which later steps read the result.
    pub(crate) id: String,
    pub(crate) endpoint_id: String,
    pub(crate) payload: Value,
}

/// Returns the SQL dialect of a connection by its id.
pub(crate) type DialectLookup<'a> = &'a dyn Fn(&str) -> Dialect;

/// The maximum number of parallel branches.
const MAX_BRANCHES: usize = 16;

impl RoutineStep {
    /// Parses the steps of a routine.
    ///
    /// # Errors
    /// A message with the number of the step.
    pub(crate) fn parse_all(steps: &[Value], dialects: DialectLookup<'_>) -> Result<Vec<Self>, String> {
        let steps = steps.iter().enumerate();
        steps.map(|(i, step)| Self::parse(step, dialects).map_err(|error| format!("step {}: {error}", i + 1))).collect()
    }

    /// Parses the steps of a clause such as `:then`: a list, or a single step.
    fn parse_branch(branch: &Value, dialects: DialectLookup<'_>) -> Result<Vec<Self>, String> {
        let steps = branch.as_array().map_or(std::slice::from_ref(branch), Vec::as_slice);
        Self::parse_all(steps, dialects)
    }

    fn parse(value: &Value, dialects: DialectLookup<'_>) -> Result<Self, String> {
        let step = value.as_object().ok_or("expected a mapping")?;
        let control = step.iter().find(|(key, _)| key.starts_with(':') && !is_clause(key));
        let Some((control, argument)) = control else { return Self::parse_request(step, dialects) };
        let parse_branch = |steps| Self::parse_branch(steps, dialects);
        let branch = |name| step.get(name).map_or(Ok(Vec::new()), parse_branch);
        match control.as_str() {
            ":return" => Ok(Self::Return(argument.clone())),
            ":if" => {
                let cases = vec![(argument.clone(), branch(":then")?)];
                Ok(Self::Choose { control: ":if", cases, otherwise: branch(":else")? })
            }
            ":switch" => {
                let cases = argument.as_array().ok_or("`:switch` takes a list of cases")?;
                let cases = cases.iter().map(|case| Self::parse_case(case, dialects)).collect::<Result<_, _>>()?;
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
                branches.iter().map(parse_branch).collect::<Result<_, _>>().map(Self::Parallel)
            }
            ":try" => {
                let catch = step.get(":catch").map(parse_branch).transpose()?;
                Ok(Self::Try { body: parse_branch(argument)?, catch, finally: branch(":finally")? })
            }
            ":set_state" => {
                let values = argument.as_object().ok_or("`:set_state` takes a mapping of values")?;
                Ok(Self::SetState(values.clone()))
            }
            ":log" => Ok(Self::Log(argument.clone())),
            ":status" => Ok(Self::Status(argument.clone())),
            ":reject" => Ok(Self::Reject(argument.clone())),
            ":throw" => Ok(Self::Throw(argument.clone())),
            unknown => Err(format!("there is no control `{unknown}`")),
        }
    }

    fn parse_case(case: &Value, dialects: DialectLookup<'_>) -> Result<(Value, Vec<Self>), String> {
        let test = case.get(":case").ok_or("a case has no `:case`")?.clone();
        let steps = case.get(":then").map_or(Ok(Vec::new()), |steps| Self::parse_branch(steps, dialects))?;
        Ok((test, steps))
    }

    fn parse_request(step: &Map<String, Value>, dialects: DialectLookup<'_>) -> Result<Self, String> {
        match step.get("type").and_then(Value::as_str) {
            Some("CallEndpoint") => CallStep::parse(step).map(Self::Call),
            _ => RequestStep::parse(step, dialects).map(Self::Request),
        }
    }
}

/// Returns whether a key is a clause of a control.
fn is_clause(key: &str) -> bool {
    matches!(key, ":then" | ":else" | ":default" | ":in" | ":do" | ":catch" | ":finally")
}

impl CallStep {
    fn parse(step: &Map<String, Value>) -> Result<Self, String> {
        let properties = step.get("properties").ok_or("`properties` is missing")?;
        let endpoint_id = properties.get("endpointId").and_then(Value::as_str).ok_or("`endpointId` is missing")?;
        Ok(Self {
            id: step.get("id").and_then(Value::as_str).ok_or("`id` is missing")?.to_owned(),
            endpoint_id: endpoint_id.to_owned(),
            payload: properties.get("payload").cloned().unwrap_or_else(|| Value::Object(Map::new())),
        })
    }
}

impl RequestStep {
    fn parse(step: &Map<String, Value>, dialects: DialectLookup<'_>) -> Result<Self, String> {
        let text = |key: &str| step.get(key).and_then(Value::as_str).ok_or(format!("`{key}` is missing"));
        let kind = text("type")?;
        if !matches!(kind, "SqlQuery" | "SqlExecute" | "Http" | "GenerateText" | "GenerateObject") {
            return Err(format!("there is no request type `{kind}`"));
        }
        let all = step.get("properties").ok_or("`properties` is missing")?;
        let connection_id = text("connectionId")?.to_owned();
        let (request_kind, properties) = match kind {
            "SqlQuery" => parse_sql(SqlAccess::Read, all, dialects(&connection_id))?,
            "SqlExecute" => parse_sql(SqlAccess::Write, all, dialects(&connection_id))?,
            "Http" => {
                let method = all.get("method").and_then(Value::as_str).unwrap_or("GET");
                let method = method.parse().map_err(|_| format!("`{method}` is not an HTTP method"))?;
                (RequestKind::Http(method), all.clone())
            }
            _ => (RequestKind::Text, all.clone()),
        };
        Ok(Self { id: text("id")?.to_owned(), connection_id, kind: request_kind, properties })
    }
}

fn parse_sql(access: SqlAccess, properties: &Value, dialect: Dialect) -> Result<(RequestKind, Value), String> {
    // Operators are not allowed, so that a statement never contains a caller's values.
    let query = properties.get("query").and_then(Value::as_str).ok_or("`query` must be a string")?;
    let parameters = properties.get("parameters").cloned().unwrap_or_else(|| Value::Object(Map::new()));
    Ok((RequestKind::Sql(access, Statement::parse(query, dialect)?), parameters))
}

#[cfg(test)]
mod tests {
    use super::RoutineStep;
    use dialect::Dialect;
    use serde_json::{Value, json};

    fn check(routine: Value, expected: &str) {
        assert_eq!(RoutineStep::parse_all(routine.as_array().unwrap(), &|_| Dialect::Sqlite).unwrap_err(), expected);
    }

    #[test]
    fn invalid_steps_are_rejected_with_their_number() {
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
        check(json!([sql(json!({ "_payload": "q" }))]), "step 1: `query` must be a string");
        check(json!([sql(json!("select ?"))]), "step 1: parameters must be named, such as `:name`; found `?`");
    }
}
