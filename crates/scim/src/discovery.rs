//! The features of SCIM that this server supports (RFC 7643, 5 to 7).

use crate::attributes::Projection;
use crate::directory::Directory;
use crate::error::ScimError;
use crate::reply::{Found, list as list_reply};
use crate::{group, user};
use axum::extract::Path;
use serde_json::{Value, json};
use store::MAX_SCIM_USERS_LISTED;

const SERVICE: &str = "urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig";
const RESOURCE_TYPE: &str = "urn:ietf:params:scim:schemas:core:2.0:ResourceType";
const SCHEMA: &str = "urn:ietf:params:scim:schemas:core:2.0:Schema";

/// `GET /scim/v2/ServiceProviderConfig`
pub(crate) async fn service(directory: Directory) -> Result<Found, ScimError> {
    let no = json!({ "supported": false });
    Ok(Found(json!({
        "schemas": [SERVICE],
        "patch": { "supported": true },
        "bulk": { "supported": false, "maxOperations": 0, "maxPayloadSize": 0 },
        "filter": { "supported": true, "maxResults": MAX_SCIM_USERS_LISTED },
        "changePassword": no,
        "sort": no,
        "etag": no,
        "authenticationSchemes": [{
            "type": "oauthbearertoken",
            "name": "Bearer token",
            "description": "One of the tokens of `auth.scim.tokens` in the config of the server.",
            "primary": true,
        }],
        "meta": { "resourceType": "ServiceProviderConfig", "location": format!("{}/ServiceProviderConfig", directory.base) },
    })))
}

/// `GET /scim/v2/ResourceTypes`
pub(crate) async fn types(directory: Directory) -> Result<Found, ScimError> {
    Ok(all(resource_types(&directory.base)))
}

/// `GET /scim/v2/ResourceTypes/{id}`
pub(crate) async fn one_type(directory: Directory, Path(id): Path<String>) -> Result<Found, ScimError> {
    one(resource_types(&directory.base), &id)
}

/// `GET /scim/v2/Schemas`
pub(crate) async fn schemas(directory: Directory) -> Result<Found, ScimError> {
    Ok(all(schema_list(&directory.base)))
}

/// `GET /scim/v2/Schemas/{id}`
pub(crate) async fn schema(directory: Directory, Path(id): Path<String>) -> Result<Found, ScimError> {
    one(schema_list(&directory.base), &id)
}

fn all(resources: Vec<Value>) -> Found {
    let count = resources.len();
    list_reply(resources, 1, count, &Projection::default())
}

fn one(resources: Vec<Value>, id: &str) -> Result<Found, ScimError> {
    let found = resources.into_iter().find(|resource| resource["id"] == id);
    found.map(Found).ok_or_else(|| ScimError::not_found("There is nothing with this id."))
}

fn resource_types(base: &str) -> Vec<Value> {
    let resource_type = |(name, path, schema, about): (&str, &str, &str, &str)| {
        json!({
            "schemas": [RESOURCE_TYPE],
            "id": name,
            "name": name,
            "endpoint": path,
            "description": about,
            "schema": schema,
            "meta": { "resourceType": "ResourceType", "location": format!("{base}/ResourceTypes/{name}") },
        })
    };
    [("User", "/Users", user::SCHEMA, "A user of this server"), ("Group", "/Groups", group::SCHEMA, "A group of users")]
        .map(resource_type)
        .to_vec()
}

fn schema_list(base: &str) -> Vec<Value> {
    let schema = |id: &str, name: &str, about: &str, attributes: Vec<Value>| {
        json!({
            "schemas": [SCHEMA],
            "id": id,
            "name": name,
            "description": about,
            "attributes": attributes,
            "meta": { "resourceType": "Schema", "location": format!("{base}/Schemas/{id}") },
        })
    };
    vec![
        schema(user::SCHEMA, "User", "A user of this server", user_attributes()),
        schema(group::SCHEMA, "Group", "A group of users", group_attributes()),
    ]
}

/// Returns an attribute that may be read and written.
fn attribute(name: &str, kind: &str, about: &str) -> Value {
    json!({
        "name": name,
        "type": kind,
        "multiValued": false,
        "description": about,
        "required": false,
        "caseExact": false,
        "mutability": "readWrite",
        "returned": "default",
        "uniqueness": "none",
    })
}

/// Returns a description with other properties.
fn with(mut described: Value, changes: Value) -> Value {
    if let (Value::Object(described), Value::Object(changes)) = (&mut described, changes) {
        described.extend(changes);
    }
    described
}

fn user_attributes() -> Vec<Value> {
    let parts: Vec<_> = user::NAME_PARTS.iter().map(|part| attribute(part, "string", "A part of the name")).collect();
    let email = [
        attribute("value", "string", "The address"),
        attribute("display", "string", "The address for display"),
        attribute("type", "string", "The purpose, such as `work`"),
        attribute("primary", "boolean", "Whether it is the preferred one"),
    ];
    let read_only = json!({ "mutability": "readOnly" });
    let groups = [
        with(
            attribute("value", "string", "The id of the group"),
            json!({ "mutability": "readOnly", "caseExact": true }),
        ),
        with(attribute("$ref", "reference", "The address of the group"), reference(&["Group"])),
        with(attribute("display", "string", "The name of the group"), read_only.clone()),
        with(attribute("type", "string", "`direct`"), read_only.clone()),
    ];
    let unique = json!({ "required": true, "uniqueness": "server" });
    vec![
        with(
            attribute("userName", "string", "The unique name of the user; it becomes the name of the account"),
            unique,
        ),
        attribute("displayName", "string", "The name for display"),
        with(attribute("name", "complex", "The parts of the name"), json!({ "subAttributes": parts })),
        attribute("active", "boolean", "Whether the user may sign in"),
        with(
            attribute("emails", "complex", "The e-mail addresses"),
            json!({ "multiValued": true, "subAttributes": email }),
        ),
        with(
            attribute("groups", "complex", "The groups of the directory that the user is in"),
            json!({ "multiValued": true, "mutability": "readOnly", "subAttributes": groups }),
        ),
    ]
}

fn group_attributes() -> Vec<Value> {
    let immutable = json!({ "mutability": "immutable" });
    let members = [
        with(
            attribute("value", "string", "The id of the user"),
            json!({ "mutability": "immutable", "caseExact": true }),
        ),
        with(attribute("$ref", "reference", "The address of the user"), reference(&["User"])),
        with(attribute("display", "string", "The name of the user"), json!({ "mutability": "readOnly" })),
        with(attribute("type", "string", "`User`"), immutable),
    ];
    vec![
        with(
            attribute("displayName", "string", "The unique name of the group"),
            json!({ "required": true, "uniqueness": "server" }),
        ),
        with(
            attribute("members", "complex", "The users in it"),
            json!({ "multiValued": true, "subAttributes": members }),
        ),
    ]
}

fn reference(types: &[&str]) -> Value {
    json!({ "referenceTypes": types, "caseExact": true, "mutability": "readOnly" })
}
