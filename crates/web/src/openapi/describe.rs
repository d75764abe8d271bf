//! Derives the entry of a route from the signature of its handler.

use super::schemas::{Schemas, without_null};
use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::{Extension, Path, Query, State};
use axum::http::HeaderMap;
use axum::response::NoContent;
use schemars::JsonSchema;
use serde_json::{Map, Value, json};

/// The media type of bytes of any kind.
const BYTES: &str = "application/octet-stream";

/// An entry while it is built.
pub struct Description<'s> {
    schemas: &'s mut Schemas,
    pub(super) parameters: Vec<Value>,
    pub(super) body: Option<Value>,
    pub(super) responses: Map<String, Value>,
}

impl<'s> Description<'s> {
    pub(super) fn new(schemas: &'s mut Schemas) -> Self {
        Self { schemas, parameters: Vec::new(), body: None, responses: Map::new() }
    }

    /// Adds the fields of `T` as query parameters.
    pub fn query<T: JsonSchema>(&mut self) {
        let query = self.schemas.query::<T>();
        let required = query["required"].as_array().cloned().unwrap_or_default();
        for (name, schema) in query["properties"].as_object().into_iter().flatten() {
            let mut schema = without_null(schema.clone());
            let mut parameter = json!({ "name": name, "in": "query" });
            if required.contains(&name.as_str().into()) {
                parameter["required"] = true.into();
            }
            if let Some(about) = schema.as_object_mut().and_then(|schema| schema.shift_remove("description")) {
                parameter["description"] = about;
            }
            parameter["schema"] = schema;
            self.parameters.push(parameter);
        }
    }

    /// Sets the request body: `T` as JSON.
    pub fn json_body<T: JsonSchema>(&mut self) {
        let schema = self.schemas.request::<T>();
        self.body("application/json", &schema, true);
    }

    /// Sets the request body to one of another media type than JSON.
    pub fn body(&mut self, media: &str, schema: &Value, is_required: bool) {
        self.body = Some(json!({ "required": is_required, "content": { media: { "schema": schema } } }));
    }

    /// Adds a response with `T` as JSON.
    pub fn json<T: JsonSchema>(&mut self, status: u16) {
        let schema = self.schemas.response::<T>();
        self.response(status, "application/json", &schema);
    }

    /// Adds a response with a body of this media type. A status may have several.
    pub fn response(&mut self, status: u16, media: &str, schema: &Value) {
        self.respond(&status.to_string(), "Success.", Some((media, schema)));
    }

    /// Adds a response without a body.
    pub fn empty(&mut self, status: u16) {
        self.respond(&status.to_string(), "Success.", None);
    }

    /// Sets the response to all requests that fail: `T` as JSON.
    pub fn json_error<T: JsonSchema>(&mut self, about: &str) {
        let schema = self.schemas.response::<T>();
        self.error(about, "application/json", &schema);
    }

    /// Sets the response to all requests that fail.
    pub fn error(&mut self, about: &str, media: &str, schema: &Value) {
        self.respond("default", about, Some((media, schema)));
    }

    fn respond(&mut self, status: &str, about: &str, content: Option<(&str, &Value)>) {
        let response = self.responses.entry(status).or_insert_with(|| json!({ "description": about }));
        if let Some((media, schema)) = content {
            response["content"][media] = json!({ "schema": schema });
        }
    }
}

/// An input that a handler extracts from a request.
pub trait RouteInput {
    /// Adds the query parameters or the body that it reads.
    fn describe(_: &mut Description<'_>) {}
}

impl<T> RouteInput for State<T> {}
impl<T> RouteInput for Extension<T> {}
impl<T> RouteInput for Option<Extension<T>> {}
impl RouteInput for HeaderMap {}
// Parameters of the path are taken from the path itself.
impl<T> RouteInput for Path<T> {}

impl<T: JsonSchema> RouteInput for Query<T> {
    fn describe(description: &mut Description<'_>) {
        description.query::<T>();
    }
}

impl<T: JsonSchema> RouteInput for Json<T> {
    fn describe(description: &mut Description<'_>) {
        description.json_body::<T>();
    }
}

impl RouteInput for Body {
    fn describe(description: &mut Description<'_>) {
        description.body(BYTES, &json!({}), true);
    }
}

impl RouteInput for Bytes {
    fn describe(description: &mut Description<'_>) {
        description.body(BYTES, &json!({}), true);
    }
}

/// An input whose error the handler converts itself.
impl<T: RouteInput, E> RouteInput for Result<T, E> {
    fn describe(description: &mut Description<'_>) {
        T::describe(description);
    }
}

/// The return value of a handler: a response, or an error of a [`Result`].
pub trait RouteOutput {
    /// Adds the statuses with their bodies.
    fn describe(description: &mut Description<'_>);
}

impl<T: JsonSchema> RouteOutput for Json<T> {
    fn describe(description: &mut Description<'_>) {
        description.json::<T>(200);
    }
}

impl RouteOutput for NoContent {
    fn describe(description: &mut Description<'_>) {
        description.empty(204);
    }
}

impl<T: RouteOutput, E: RouteOutput> RouteOutput for Result<T, E> {
    fn describe(description: &mut Description<'_>) {
        T::describe(description);
        E::describe(description);
    }
}

/// A function that can be mounted: all its arguments and its result describe themselves. `T` is the
/// same as that of [`axum::handler::Handler`].
pub trait RouteHandler<T> {
    /// Describes the inputs and the outputs.
    fn describe(description: &mut Description<'_>);
}

impl<F, Fut, R> RouteHandler<((),)> for F
where
    F: FnOnce() -> Fut,
    Fut: Future<Output = R>,
    R: RouteOutput,
{
    fn describe(description: &mut Description<'_>) {
        R::describe(description);
    }
}

macro_rules! route_handlers {
    ($(($($input:ident),+))+) => {$(
        impl<F, Fut, M, R, $($input),+> RouteHandler<(M, $($input,)+)> for F
        where
            F: FnOnce($($input),+) -> Fut,
            Fut: Future<Output = R>,
            R: RouteOutput,
            $($input: RouteInput,)+
        {
            fn describe(description: &mut Description<'_>) {
                $($input::describe(description);)+
                R::describe(description);
            }
        }
    )+};
}

route_handlers! {
    (A)
    (A, B)
    (A, B, C)
    (A, B, C, D)
    (A, B, C, D, E)
    (A, B, C, D, E, G)
    (A, B, C, D, E, G, H)
    (A, B, C, D, E, G, H, I)
}
