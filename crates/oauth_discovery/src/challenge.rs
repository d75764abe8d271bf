//! The header `WWW-Authenticate` of a service that wants a token (RFC 6750, 3; RFC 9728, 5.1).

/// The longest value that is read, in bytes.
const MAX_LENGTH: usize = 4096;
/// The longest list of scopes in bytes.
const MAX_SCOPES: usize = 4 << 10;

/// The parameters of the scheme `Bearer` in the header.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Challenge {
    /// The address of the service's metadata.
    pub resource_metadata: Option<String>,
    /// The scopes that are needed.
    pub scopes: Vec<String>,
    /// Why the token was refused.
    pub error: Option<String>,
}

impl Challenge {
    /// Reads the header. Parameters that cannot be read count as absent.
    pub fn parse(header: &str) -> Self {
        let mut challenge = Self::default();
        if header.len() > MAX_LENGTH {
            return challenge;
        }
        let mut is_bearer = false;
        for part in parts(header) {
            let (head, value) = part.split_once('=').unwrap_or((part, ""));
            // A scheme stands before the first parameter, after a space.
            let name = match head.trim().rsplit_once(' ') {
                Some((scheme, name)) => {
                    is_bearer = scheme.trim().eq_ignore_ascii_case("bearer");
                    name
                }
                None if !part.contains('=') => {
                    is_bearer = head.trim().eq_ignore_ascii_case("bearer");
                    continue;
                }
                None => head.trim(),
            };
            if is_bearer {
                challenge.set(&name.to_ascii_lowercase(), unquote(value.trim()));
            }
        }
        challenge
    }

    /// Returns whether the token has too few scopes.
    pub fn is_insufficient_scope(&self) -> bool {
        self.error.as_deref() == Some("insufficient_scope")
    }

    fn set(&mut self, name: &str, value: String) {
        match name {
            "resource_metadata" => self.resource_metadata = Some(value),
            "scope" => self.scopes = read_scopes(&value),
            "error" => self.error = Some(value),
            _ => {}
        }
    }
}

/// Splits a list of scopes.
pub fn read_scopes(text: &str) -> Vec<String> {
    let list = text.split([' ', ',']).filter(|scope| !scope.is_empty());
    let mut length = 0;
    let within = |scope: &&str| {
        length += scope.len() + 1;
        length <= MAX_SCOPES
    };
    list.take_while(within).map(str::to_owned).collect()
}

/// Splits at commas that are not in quotes.
fn parts(header: &str) -> Vec<&str> {
    let (mut parts, mut start, mut is_quoted, mut is_escaped) = (Vec::new(), 0, false, false);
    for (at, character) in header.char_indices() {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' if is_quoted => is_escaped = true,
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => {
                parts.push(header[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(header[start..].trim());
    parts
}

fn unquote(value: &str) -> String {
    let Some(inner) = value.strip_prefix('"').and_then(|value| value.strip_suffix('"')) else {
        return value.to_owned();
    };
    let mut text = String::with_capacity(inner.len());
    let mut characters = inner.chars();
    while let Some(character) = characters.next() {
        text.extend(if character == '\\' { characters.next() } else { Some(character) });
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_of_the_scheme_bearer_are_read() {
        let check = |header: &str, metadata: Option<&str>, scopes: &str, error: Option<&str>| {
            let read = Challenge::parse(header);
            let seen = (read.resource_metadata.as_deref(), read.scopes.join(" "), read.error.as_deref());
            assert_eq!(seen, (metadata, scopes.to_owned(), error), "{header}");
        };
        check(
            r#"Bearer error="insufficient_scope", scope="a b", resource_metadata="https://m.test/x, y", error_description="a \"b\"""#,
            Some("https://m.test/x, y"),
            "a b",
            Some("insufficient_scope"),
        );
        check(r#"Basic realm="scope=x", bearer scope=one"#, None, "one", None);
        check(r#"Bearer scope="a", Basic realm="b", error="no""#, None, "a", None);
        check(r#"Negotiate, NTLM, Bearer scope="a""#, None, "a", None);
        check("Bearer", None, "", None);
        check("", None, "", None);
        check(r#"Bearer error="\"#, None, "", Some("\"\\"));
        check(&format!("Bearer scope=\"{}\"", "x".repeat(5000)), None, "", None);
    }
}
