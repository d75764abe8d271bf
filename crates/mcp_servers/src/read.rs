//! Reads what an administrator has sent about a server: checks it, and puts stored secrets in place of masks.

use crate::address;
use crate::body::{OauthBody, SecretValue, ServerBody, shown_address};
use crate::definition::{OauthDefinition, Rules, SecretField, ServerDefinition, Slot, TransportKind, not_allowed};
use crate::secrets::Secrets;
use added_entries::MASK;
use added_entries::address::origin;
use added_entries::checks::{refuse, sentence, unique};
use axum::http::{HeaderName, HeaderValue};
use secrecy::ExposeSecret;
use std::collections::{BTreeMap, BTreeSet};
use wire::UserError;

/// The most characters of a name, of a description, of other texts and of a secret.
pub(crate) const MAX_NAME: usize = 64;
pub(crate) const MAX_DESCRIPTION: usize = 500;
pub(crate) const MAX_TEXT: usize = 500;
pub(crate) const MAX_SECRET: usize = 8 * 1024;
/// The most headers, agents, patterns of tools and arguments.
const MAX_HEADERS: usize = 20;
const MAX_AGENTS: usize = 500;
const MAX_PATTERNS: usize = 200;
const MAX_ARGS: usize = 50;
/// The most characters of a prefix: with it, names of tools have at most 64.
pub(crate) const MAX_PREFIX: usize = 32;
/// The longest timeout of a call in milliseconds.
const MAX_TIMEOUT: u64 = 3_600_000;
/// Headers that belong to the connection.
const REFUSED_HEADERS: [&str; 12] = [
    "accept",
    "connection",
    "content-length",
    "content-type",
    "host",
    "keep-alive",
    "last-event-id",
    "mcp-session-id",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// A server as it is stored now.
pub(crate) struct StoredState {
    pub(crate) definition: ServerDefinition,
    /// Its secrets, or why they cannot be read.
    pub(crate) secrets: Result<Secrets, &'static str>,
}

/// Returns the server that was sent, with its secrets. `known` is the stored server with its name.
///
/// # Errors
/// 422 with the path of the first field that is invalid.
pub(crate) fn read(
    body: &ServerBody,
    known: Option<&StoredState>,
    rules: Rules<'_>,
) -> Result<(ServerDefinition, Secrets), UserError> {
    let mut reader = Reader { known, rules, secrets: Secrets::default(), kept: Vec::new() };
    let definition = reader.definition(body)?;
    let Reader { secrets, kept, .. } = reader;
    check_kept(&kept, (&definition, &secrets), known, rules)?;
    // What was sent before may use a variable or a command line that is not allowed any more.
    let is_unchanged = known.is_some_and(|known| known.definition == definition);
    if !is_unchanged {
        let used = definition.connection(&secrets, rules);
        used.map_err(|problem| UserError::invalid("/", format!("The server cannot be used: {problem}.")))?;
    }
    Ok((definition, secrets))
}

struct Reader<'r> {
    known: Option<&'r StoredState>,
    rules: Rules<'r>,
    secrets: Secrets,
    /// The purposes of the kept secrets, with the paths of their fields.
    kept: Vec<(String, String)>,
}

impl Reader<'_> {
    fn definition(&mut self, body: &ServerBody) -> Result<ServerDefinition, UserError> {
        let transport = body.kind();
        check_form(body, transport)?;
        check_texts(body)?;
        let known_agents = self.known.map(|known| known.definition.agents.as_slice()).unwrap_or_default();
        let catalog = &self.rules.section.catalog;
        // An agent that is not in the config any more may come back.
        let unknown = body.agents.iter().find(|id| !catalog.has_agent(id) && !known_agents.contains(id));
        if let Some(id) = unknown {
            return refuse("/agents", format!("The config has no agent `{id}`."));
        }
        let command = body.command.iter().chain(&body.args).cloned().collect();
        let definition = ServerDefinition {
            description: body.description.trim().to_owned(),
            transport,
            url: self.address_of(body)?,
            headers: self.headers(body)?,
            oauth: body.oauth.as_ref().map(|oauth| self.oauth(oauth)).transpose()?,
            command,
            agents: once(&body.agents),
            allow: body.allow.as_deref().map(once),
            deny: once(&body.deny),
            prefix: body.prefix.clone(),
            confirm: body.confirm,
            shared: body.shared,
            timeout_ms: body.timeout_ms,
            reads_private: body.reads_private.unwrap_or(transport == TransportKind::Stdio),
            returns_untrusted: body.returns_untrusted.unwrap_or(true),
            egress: body.egress.unwrap_or(transport != TransportKind::Stdio),
        };
        let patterns = definition.check_patterns();
        patterns.map_err(|problem| UserError::invalid("/allow", format!("A pattern of tools is wrong: {problem}.")))?;
        Ok(definition)
    }

    fn address_of(&mut self, body: &ServerBody) -> Result<Option<Slot>, UserError> {
        let Some(sent) = &body.url else { return Ok(None) };
        let known = self.known.and_then(|known| known.definition.url.as_ref());
        self.address(SecretField::URL, "/url", sent, known).map(Some)
    }

    fn headers(&mut self, body: &ServerBody) -> Result<BTreeMap<String, Slot>, UserError> {
        let sent = &body.headers;
        if sent.len() > MAX_HEADERS {
            return refuse("/headers", format!("A server has at most {MAX_HEADERS} headers."));
        }
        let (mut headers, mut names) = (BTreeMap::new(), BTreeSet::new());
        for (name, value) in sent {
            let path = format!("/headers/{name}");
            let lower = name.to_ascii_lowercase();
            if name.len() > MAX_NAME || name.parse::<HeaderName>().is_err() || REFUSED_HEADERS.contains(&&*lower) {
                return refuse(&path, "This is not the name of a header that can be set.");
            }
            if lower == "authorization" && body.oauth.is_some() {
                return refuse(&path, "This header would be replaced by the access token: leave out one of both.");
            }
            if !names.insert(lower) {
                return refuse(&path, "This header is there twice.");
            }
            let known = self.known.and_then(|known| {
                let own = known.definition.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
                own.map(|(_, slot)| slot)
            });
            if let SecretValue::Text(text) = value
                && HeaderValue::from_str(text).is_err()
            {
                return refuse(&path, "The value has characters that a header cannot have.");
            }
            headers.insert(name.clone(), self.secret(&SecretField::header(name), &path, value, known)?);
        }
        Ok(headers)
    }

    fn oauth(&mut self, sent: &OauthBody) -> Result<OauthDefinition, UserError> {
        check_text("/oauth/clientId", &sent.client_id, MAX_TEXT)?;
        check_text("/oauth/scope", sent.scope.as_deref().unwrap_or_default(), MAX_TEXT)?;
        if sent.client_id.is_empty() {
            return refuse("/oauth/clientId", "Enter the client id.");
        }
        let known = self.known.and_then(|known| known.definition.oauth.as_ref());
        let token_url = known.map(|known| &known.token_url);
        let client_secret = known.map(|known| &known.client_secret);
        let refresh_token = known.and_then(|known| known.refresh_token.as_ref());
        Ok(OauthDefinition {
            token_url: self.address(SecretField::TOKEN_URL, "/oauth/tokenUrl", &sent.token_url, token_url)?,
            client_id: sent.client_id.clone(),
            client_secret: self.secret(
                SecretField::CLIENT_SECRET,
                "/oauth/clientSecret",
                &sent.client_secret,
                client_secret,
            )?,
            refresh_token: sent
                .refresh_token
                .as_ref()
                .map(|sent| self.secret(SecretField::REFRESH_TOKEN, "/oauth/refreshToken", sent, refresh_token))
                .transpose()?,
            scope: sent.scope.clone().filter(|scope| !scope.is_empty()),
        })
    }

    /// Reads an address. One that can be shown as a whole is no secret.
    fn address(
        &mut self,
        place: &str,
        path: &str,
        sent: &SecretValue,
        known: Option<&Slot>,
    ) -> Result<Slot, UserError> {
        let SecretValue::Text(text) = sent else { return self.secret(place, path, sent, known) };
        // What was allowed when it was entered may stay.
        if matches!(known, Some(Slot::Plain(stored)) if stored == text) {
            return Ok(Slot::Plain(text.clone()));
        }
        if let (Some(Slot::Sealed), Some(server)) = (known, self.known) {
            match &server.secrets {
                Ok(secrets) if *text == shown_address(&Slot::Sealed, place, secrets, self.rules) => {
                    return self.keep(place, path);
                }
                Err(problem) if text.contains(MASK) => return Err(unreadable(path, problem)),
                _ => {}
            }
        }
        if text.contains(MASK) {
            return refuse(path, "Enter the whole address, or leave it as it was.");
        }
        let url = address::parse(text, self.rules.section.allow_private);
        let url = url.map_err(|problem| UserError::invalid(path, sentence(&problem)))?;
        if address::is_shown(&url) {
            return Ok(Slot::Plain(url.to_string()));
        }
        self.secrets.0.insert(place.to_owned(), url.to_string().into());
        Ok(Slot::Sealed)
    }

    fn secret(&mut self, place: &str, path: &str, sent: &SecretValue, known: Option<&Slot>) -> Result<Slot, UserError> {
        match sent {
            SecretValue::Reference(reference) => {
                let slot = Slot::Reference(reference.secret.clone());
                if !self.rules.section.may_send(&reference.secret) && known != Some(&slot) {
                    return refuse(path, sentence(&not_allowed(&reference.secret)));
                }
                Ok(slot)
            }
            SecretValue::Text(text) if text == MASK => match known {
                Some(Slot::Sealed) => self.keep(place, path),
                _ => refuse(path, "There is no stored value that could be kept: enter one."),
            },
            SecretValue::Text(text) if text.is_empty() => refuse(path, "Enter a value."),
            SecretValue::Text(text) if text.len() > MAX_SECRET => {
                refuse(path, format!("A value has at most {MAX_SECRET} characters."))
            }
            SecretValue::Text(text) => {
                self.secrets.0.insert(place.to_owned(), text.clone().into());
                Ok(Slot::Sealed)
            }
        }
    }

    /// Keeps a stored secret.
    fn keep(&mut self, place: &str, path: &str) -> Result<Slot, UserError> {
        let known = self.known.map(|known| known.secrets.as_ref());
        let secrets = known.transpose().map_err(|problem| unreadable(path, problem))?;
        let Some(value) = secrets.and_then(|secrets| secrets.0.get(place)) else {
            return refuse(path, "There is no stored value that could be kept: enter one.");
        };
        self.secrets.0.insert(place.to_owned(), value.clone());
        self.kept.push((place.to_owned(), path.to_owned()));
        Ok(Slot::Sealed)
    }
}

/// Refuses to send kept secrets to other servers than those for which they were entered: who may change an
/// address could read them there otherwise.
fn check_kept(
    kept: &[(String, String)],
    (definition, secrets): (&ServerDefinition, &Secrets),
    known: Option<&StoredState>,
    rules: Rules<'_>,
) -> Result<(), UserError> {
    let is_secret =
        |(place, _): &&(String, String)| ![SecretField::URL, SecretField::TOKEN_URL].contains(&place.as_str());
    let Some((_, path)) = kept.iter().find(is_secret) else { return Ok(()) };
    if known.is_some_and(|known| has_same_addresses(known, definition, secrets)) {
        return Ok(());
    }
    let before = known.and_then(|known| {
        let secrets = known.secrets.as_ref().ok()?;
        Some(targets(&known.definition, secrets, rules))
    });
    let after = targets(definition, secrets, rules);
    if after.iter().all(Result::is_ok) && before.as_ref() == Some(&after) {
        return Ok(());
    }
    let message = "The address is on another server than the one for which this secret was entered: enter it again.";
    refuse(path, message)
}

/// Returns whether the addresses are those that are stored. They may be ones that are not allowed any more.
fn has_same_addresses(known: &StoredState, definition: &ServerDefinition, secrets: &Secrets) -> bool {
    let Ok(stored) = &known.secrets else { return false };
    let is_same = |place: &str| {
        let value = |of: &Secrets| of.0.get(place).map(|value| value.expose_secret().to_owned());
        value(stored) == value(secrets)
    };
    known.definition.url == definition.url
        && token_url(&known.definition) == token_url(definition)
        && is_same(SecretField::URL)
        && is_same(SecretField::TOKEN_URL)
}

fn token_url(definition: &ServerDefinition) -> Option<&Slot> {
    definition.oauth.as_ref().map(|oauth| &oauth.token_url)
}

/// Returns the servers to which secrets are sent.
fn targets(definition: &ServerDefinition, secrets: &Secrets, rules: Rules<'_>) -> Vec<Result<String, String>> {
    let origin = |slot: &Slot, place: &str| rules.address(slot, place, secrets).map(|url| origin(&url));
    let url = definition.url.iter().map(|url| origin(url, SecretField::URL));
    let token = definition.oauth.iter().map(|oauth| origin(&oauth.token_url, SecretField::TOKEN_URL));
    url.chain(token).collect()
}

/// Checks that the fields belong to the transport.
fn check_form(body: &ServerBody, transport: TransportKind) -> Result<(), UserError> {
    let is_program = transport == TransportKind::Stdio;
    let over_http =
        [("/url", body.url.is_some()), ("/headers", !body.headers.is_empty()), ("/oauth", body.oauth.is_some())];
    let of_program = [("/command", body.command.is_some()), ("/args", !body.args.is_empty())];
    let wrong = if is_program { over_http.to_vec() } else { of_program.to_vec() };
    if let Some((path, _)) = wrong.into_iter().find(|(_, is_there)| *is_there) {
        return refuse(path, format!("A server of the type `{}` does not have this.", transport.name()));
    }
    if is_program && body.command.is_none() {
        refuse("/command", "Enter the command.")
    } else if !is_program && body.url.is_none() {
        refuse("/url", "Enter the address.")
    } else {
        Ok(())
    }
}

fn check_texts(body: &ServerBody) -> Result<(), UserError> {
    check_text("/description", &body.description, MAX_DESCRIPTION)?;
    check_text("/command", body.command.as_deref().unwrap_or_default(), MAX_TEXT)?;
    check_list("/args", &body.args, MAX_ARGS)?;
    check_list("/agents", &body.agents, MAX_AGENTS)?;
    check_list("/allow", body.allow.as_deref().unwrap_or_default(), MAX_PATTERNS)?;
    check_list("/deny", &body.deny, MAX_PATTERNS)?;
    if body.allow.as_ref().is_some_and(Vec::is_empty) {
        return refuse("/allow", "Name at least one tool, or `*` for all.");
    }
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    if body.prefix.len() > MAX_PREFIX || !body.prefix.bytes().all(is_allowed) {
        return refuse("/prefix", format!("A prefix has up to {MAX_PREFIX} letters, digits, `-` and `_`."));
    }
    if body.timeout_ms.is_some_and(|time| !(1..=MAX_TIMEOUT).contains(&time)) {
        return refuse("/timeoutMs", format!("The timeout is from 1 to {MAX_TIMEOUT} milliseconds."));
    }
    Ok(())
}

fn check_text(path: &str, text: &str, most: usize) -> Result<(), UserError> {
    if text.chars().count() > most || text.chars().any(char::is_control) {
        return refuse(path, format!("This has up to {most} characters in one line."));
    }
    Ok(())
}

fn check_list(path: &str, texts: &[String], most: usize) -> Result<(), UserError> {
    if texts.len() > most {
        return refuse(path, format!("This list has at most {most} entries."));
    }
    if texts.iter().any(String::is_empty) {
        return refuse(path, "None of them may be empty.");
    }
    texts.iter().try_for_each(|text| check_text(path, text, MAX_TEXT))
}

fn once(texts: &[String]) -> Vec<String> {
    unique(texts.iter().map(String::as_str))
}

fn unreadable(path: &str, problem: &str) -> UserError {
    UserError::invalid(path, format!("The server cannot be used: {problem}."))
}
