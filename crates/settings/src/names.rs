//! Names and texts.

use crate::pattern;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Defines a type for text that matches a pattern or is at least not empty.
macro_rules! text {
    ($(#[$doc:meta])* $name:ident, $schema:expr) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
        #[serde(transparent)]
        pub struct $name(pub String);

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn inline_schema() -> bool {
                true
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                $schema
            }
        }

        impl From<$name> for String {
            fn from(name: $name) -> Self {
                name.0
            }
        }
    };
}

text!(
    /// The id of a connection, an agent, a page or a block.
    Id,
    json_schema!({ "type": "string", "pattern": pattern::ID })
);
text!(
    /// The id of an endpoint.
    EndpointId,
    json_schema!({ "type": "string", "pattern": pattern::ENDPOINT_ID })
);
text!(
    /// The name of a tool.
    ToolName,
    json_schema!({ "type": "string", "pattern": pattern::TOOL_NAME })
);
text!(
    /// The name of an environment variable.
    Variable,
    json_schema!({ "type": "string", "pattern": pattern::VARIABLE })
);
text!(
    /// Text that is not empty.
    Text,
    json_schema!({ "type": "string", "minLength": 1 })
);
