//! Sends e-mail.

use crate::Smtp;
use crate::settings::Security;
use lettre::message::header::{ContentType, HeaderName, HeaderValue};
use lettre::message::{Attachment, Mailbox, Message, MultiPart, SinglePart};
use lettre::transport::smtp::authentication::Credentials;
use lettre::transport::smtp::client::{Tls, TlsParameters};
use lettre::{AsyncSmtpTransport, AsyncTransport, Tokio1Executor};
use std::error::Error;
use std::iter::successors;
use std::time::Duration;
use thiserror::Error;
use tokio::time::timeout;

/// How long a message may take, from the connection to the server's answer.
const TIMEOUT: Duration = Duration::from_secs(30);

/// An e-mail of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mail {
    /// The same whenever the same message is sent again; letters, digits and hyphens.
    pub id: String,
    /// The addresses of those who get it.
    pub to: Vec<String>,
    /// The subject, of one line.
    pub subject: String,
    /// The text.
    pub text: String,
    /// The text as HTML.
    pub html: Option<String>,
    /// The id of the mail that it answers, without `<` and `>`.
    pub in_reply_to: Option<String>,
    /// The ids of the mails of the thread, the oldest first.
    pub references: Vec<String>,
    /// The files that are attached.
    pub files: Vec<MailFile>,
    /// An address that ends mails of this kind: a page with a button, which also takes the request of a mail program
    /// (RFC 8058).
    pub unsubscribe: Option<String>,
}

/// An attached file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailFile {
    /// The name.
    pub name: String,
    /// The media type.
    pub media_type: String,
    /// The content.
    pub content: Vec<u8>,
}

/// Why a mail was not sent. The messages are for operators.
#[derive(Debug, Error)]
pub enum MailError {
    /// The server refused it, or it cannot be written; trying again does not help.
    #[error("{0}")]
    Refused(String),
    /// The server could not be reached, or asks to wait.
    #[error("{0}")]
    Failed(String),
}

impl Smtp {
    /// Returns the address of the sender, in lower case.
    pub fn sender(&self) -> String {
        self.from.parse::<Mailbox>().map(|from| from.email.to_string().to_ascii_lowercase()).unwrap_or_default()
    }

    /// Sends a mail.
    ///
    /// # Errors
    /// See [`MailError`].
    pub async fn send(&self, mail: &Mail) -> Result<(), MailError> {
        let message = self.message(mail).map_err(|error| MailError::Refused(with_causes(&*error)))?;
        let transport = self.transport().map_err(|error| MailError::Failed(with_causes(&error)))?;
        match timeout(TIMEOUT, transport.send(message)).await.ok() {
            Some(Ok(_)) => Ok(()),
            Some(Err(error)) if error.is_permanent() => Err(MailError::Refused(with_causes(&error))),
            Some(Err(error)) => Err(MailError::Failed(with_causes(&error))),
            None => Err(MailError::Failed(format!("The mail server did not answer within {} s.", TIMEOUT.as_secs()))),
        }
    }

    fn message(&self, mail: &Mail) -> Result<Message, Box<dyn Error + Send + Sync>> {
        let from: Mailbox = self.from.parse()?;
        let id = format!("<{}@{}>", mail.id, from.email.domain());
        let mut message =
            Message::builder().from(from).message_id(Some(id)).subject(mail.subject.replace(['\r', '\n'], " "));
        for to in &mail.to {
            message = message.to(Mailbox::new(None, to.parse()?));
        }
        if let Some(id) = &mail.in_reply_to {
            message = message.in_reply_to(format!("<{id}>"));
        }
        if !mail.references.is_empty() {
            let ids: Vec<String> = mail.references.iter().map(|id| format!("<{id}>")).collect();
            message = message.references(ids.join(" "));
        }
        let mut message = match (&mail.html, mail.files.is_empty()) {
            (None, true) => message.header(ContentType::TEXT_PLAIN).body(mail.text.clone())?,
            (Some(html), true) => message.multipart(alternatives(&mail.text, html))?,
            (None, false) => message.multipart(with_files(MultiPart::mixed().singlepart(plain(&mail.text)), mail))?,
            (Some(html), false) => {
                message.multipart(with_files(MultiPart::mixed().multipart(alternatives(&mail.text, html)), mail))?
            }
        };
        let submitted = if mail.in_reply_to.is_some() { "auto-replied" } else { "auto-generated" };
        // Suppresses automatic replies, such as out-of-office notices (RFC 3834).
        let name = HeaderName::new_from_ascii_str("Auto-Submitted");
        message.headers_mut().insert_raw(HeaderValue::new(name, submitted.to_owned()));
        if let Some(url) = &mail.unsubscribe {
            let one_click = "List-Unsubscribe=One-Click".to_owned();
            for (name, value) in [("List-Unsubscribe", format!("<{url}>")), ("List-Unsubscribe-Post", one_click)] {
                let name = HeaderName::new_from_ascii_str(name);
                message.headers_mut().insert_raw(HeaderValue::new(name, value));
            }
        }
        Ok(message)
    }

    fn transport(&self) -> Result<AsyncSmtpTransport<Tokio1Executor>, lettre::transport::smtp::Error> {
        let tls = || TlsParameters::new(self.host.clone());
        let tls = match self.security {
            Security::StartTls => Tls::Required(tls()?),
            Security::Tls => Tls::Wrapper(tls()?),
            Security::None => Tls::None,
        };
        let builder = AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous(&self.host)
            .port(self.port())
            .tls(tls)
            .timeout(Some(TIMEOUT));
        Ok(match (&self.username, &self.password) {
            (Some(name), Some(password)) => {
                builder.credentials(Credentials::new(name.clone(), password.expose().to_owned())).build()
            }
            _ => builder.build(),
        })
    }
}

fn plain(text: &str) -> SinglePart {
    SinglePart::plain(text.to_owned())
}

fn alternatives(text: &str, html: &str) -> MultiPart {
    MultiPart::alternative().singlepart(plain(text)).singlepart(SinglePart::html(html.to_owned()))
}

fn with_files(body: MultiPart, mail: &Mail) -> MultiPart {
    let binary = || ContentType::parse("application/octet-stream").unwrap_or(ContentType::TEXT_PLAIN);
    mail.files.iter().fold(body, |body, file| {
        let kind = ContentType::parse(&file.media_type).unwrap_or_else(|_| binary());
        body.singlepart(Attachment::new(file.name.clone()).body(file.content.clone(), kind))
    })
}

/// Returns an error with its causes.
fn with_causes(error: &dyn Error) -> String {
    successors(error.source(), |&cause| cause.source())
        .fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}
