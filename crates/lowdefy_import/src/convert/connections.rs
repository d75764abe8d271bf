//! The section `connections`.

use super::{Notes, Secrets, make_list, operators};
use crate::tree::{Tree, Value};

/// Converts the section. Connections of other kinds are left out.
pub(super) fn convert(root: &mut Tree, secrets: &mut Secrets, notes: &mut Notes<'_>) {
    let Some(section) = root.get_mut("connections") else { return };
    make_list(section);
    for connection in section.items_mut() {
        match connection.text_of("type").unwrap_or_default().to_owned().as_str() {
            "AxiosHttp" => http(connection, secrets, notes),
            "Knex" => knex(connection, secrets, notes),
            kind => {
                if let Some(help) = missing_help(kind) {
                    let what = format!("the connection of the type `{kind}`");
                    notes.left_out(connection.at, what, help);
                    connection.value = Value::Removed;
                }
            }
        }
        if let Some(properties) = connection.get_mut("properties") {
            convert_headers(properties, secrets, notes);
        }
    }
}

/// Returns the replacement of a type of connection that only Lowdefy has.
pub(super) fn missing_help(kind: &str) -> Option<&'static str> {
    Some(match kind {
        _ if kind.starts_with("MongoDB") => {
            "use a database with SQL (`Sql`: PostgreSQL or SQLite), or a web service in front of MongoDB (`Http`)"
        }
        "GoogleSheet" | "Elasticsearch" | "Redis" | "Stripe" | "SendGridMail" | "SendGrid" | "Smtp" | "AwsS3Bucket"
        | "Algolia" => "use the service's HTTP API with a connection of the type `Http`",
        _ => return None,
    })
}

/// Converts `AxiosHttp` to `Http`.
fn http(connection: &mut Tree, secrets: &mut Secrets, notes: &mut Notes<'_>) {
    connection.set("type", Tree::text_at(connection.at, "Http"));
    let Some(properties) = connection.map_of("properties") else { return };
    for name in ["baseUrl", "url"] {
        properties.rename(name, "baseURL");
    }
    properties.rename("timeout", "timeoutMs");
    properties.rename("httpHeaders", "headers");
    if let Some(auth) = properties.remove("auth") {
        let variable = "HTTP_AUTHORIZATION";
        secrets.introduce(variable, "The whole header: `Basic ` and `user:password` in Base64.".to_owned());
        let value = Tree::map_at(auth.key_at, vec![("_secret", Tree::text_at(auth.key_at, variable))]);
        if let Some(headers) = properties.map_of("headers") {
            headers.set("Authorization", value);
        }
        let help = format!("set `{variable}` to `Basic ` and `user:password` in Base64");
        notes.changed(auth.key_at, "`auth` is a header now", &help);
    }
}

/// Converts `Knex` to `Sql`, for PostgreSQL and SQLite.
fn knex(connection: &mut Tree, secrets: &mut Secrets, notes: &mut Notes<'_>) {
    let at = connection.at;
    let id = connection.text_of("id").unwrap_or("database").to_owned();
    let Some(properties) = connection.map_of("properties") else { return };
    let client = properties.text_of("client").unwrap_or_default().to_owned();
    let address = properties.get("connection").or_else(|| properties.get("url")).cloned();
    let url = match (client.as_str(), address) {
        ("sqlite3" | "better-sqlite3" | "sqlite", Some(address)) => {
            let file = address.text().or_else(|| address.text_of("filename")).unwrap_or("data.db").to_owned();
            Tree::text_at(
                address.at,
                if file == ":memory:" { "sqlite::memory:".to_owned() } else { format!("sqlite://{file}") },
            )
        }
        ("pg" | "postgres" | "postgresql" | "cockroachdb", Some(address)) => match address.operator() {
            Some(("_secret", name)) => {
                secrets.is_database(name.text().unwrap_or_default());
                address
            }
            None if address.text().is_some() => address,
            _ => {
                let variable = format!("{}_URL", environment_name(&id));
                secrets.is_database(&variable);
                secrets.introduce(&variable, "postgres://USER:PASSWORD@HOST:5432/DATABASE".to_owned());
                let help = format!("set `{variable}` to postgres://USER:PASSWORD@HOST:5432/DATABASE");
                notes.changed(address.at, "host, user and password of the database are one address now", &help);
                Tree::map_at(address.at, vec![("_secret", Tree::text_at(address.at, variable))])
            }
        },
        _ => {
            let what = format!("the connection to a database of the kind `{client}`");
            notes.left_out(at, what, "use PostgreSQL or SQLite, or a web service in front of it (`Http`)");
            connection.value = Value::Removed;
            return;
        }
    };
    connection.set("type", Tree::text_at(at, "Sql"));
    connection.set("properties", Tree::map_at(at, vec![("url", url)]));
}

/// Headers are a text or one variable: a text around a secret becomes a variable for the whole
/// header.
pub(super) fn convert_headers(owner: &mut Tree, secrets: &mut Secrets, notes: &mut Notes<'_>) {
    let Some(headers) = owner.get_mut("headers") else { return };
    let Value::Map(entries) = &mut headers.value else { return };
    for entry in entries {
        let value = &mut entry.value;
        match value.operator() {
            None | Some(("_secret", _)) => continue,
            Some(_) => {}
        }
        let mut used = Vec::new();
        value.for_each(&mut |tree| {
            if let Some(("_secret", argument)) = tree.operator() {
                used.extend(argument.text().or_else(|| argument.text_of("key")).map(str::to_owned));
            }
        });
        let [name] = used.as_slice() else { continue };
        let variable = format!("{name}_HEADER");
        let shape = operators::literal_around_secret(value).unwrap_or_else(|| format!("the text that contains {name}"));
        secrets.introduce(&variable, format!("The whole header `{}`: {shape}", entry.key));
        let help = format!("set `{variable}` to {shape}");
        notes.changed(value.at, format!("the header `{}` is read from one variable", entry.key), &help);
        *value = Tree::map_at(value.at, vec![("_secret", Tree::text_at(value.at, variable))]);
    }
}

/// Makes a name of a variable of an id.
fn environment_name(id: &str) -> String {
    let name: String =
        id.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect();
    if name.starts_with(|c: char| c.is_ascii_digit()) { format!("_{name}") } else { name }
}
