//! The bot of a mailbox.

use super::imap::{Fetched, Folder, MailId};
use super::incoming::attachment;
use super::render::html;
use crate::markdown::plain_text;
use crate::messenger::{ApiError, BotAccount, MailHead, OpenedMail, OutgoingFile, size_limit};
use crate::section::Mailbox;
use mail::{Mail, MailError, MailFile, Smtp};

/// A bot that reads a mailbox and answers over SMTP.
#[derive(Clone)]
pub(crate) struct EmailBot {
    pub(crate) mailbox: Mailbox,
    smtp: Smtp,
    address: String,
}

/// A mail of the bot.
pub(crate) struct OutgoingMail<'m> {
    /// The mail that it answers.
    pub(crate) head: &'m MailHead,
    /// The id, before its `@`.
    pub(crate) id: String,
    /// The text, as Markdown.
    pub(crate) text: String,
    pub(crate) files: Vec<OutgoingFile>,
}

impl EmailBot {
    /// Returns the bot of a connection.
    pub(crate) fn new(mailbox: &Mailbox, smtp: &Smtp) -> Self {
        Self { mailbox: mailbox.clone(), smtp: smtp.clone(), address: smtp.sender() }
    }

    /// Returns the address of the bot.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// Returns the bot's own account, once the mailbox could be opened.
    pub(crate) async fn account(&self) -> Result<BotAccount, ApiError> {
        Folder::open(&self.mailbox).await?;
        Ok(BotAccount { id: self.address.clone(), name: self.address.clone() })
    }

    /// Sends a mail. One that is sent again has the same id, by which mail programs drop the second one.
    pub(crate) async fn send(&self, mail: OutgoingMail<'_>) -> Result<(), ApiError> {
        let OutgoingMail { head, id, text, files } = mail;
        let has_prefix = head.subject.get(..3).is_some_and(|prefix| prefix.eq_ignore_ascii_case("re:"));
        let subject = if has_prefix { head.subject.clone() } else { format!("Re: {}", head.subject) };
        let file =
            |file: OutgoingFile| MailFile { name: file.name, media_type: file.media_type, content: file.content };
        let mail = Mail {
            id,
            to: vec![head.to.clone()],
            subject,
            html: Some(html(&text)),
            text: plain_text(&text),
            in_reply_to: Some(head.message_id.clone()),
            references: head.references.iter().chain([&head.message_id]).cloned().collect(),
            files: files.into_iter().map(file).collect(),
            unsubscribe: None,
        };
        self.smtp.send(&mail).await.map_err(|error| match error {
            MailError::Refused(cause) => ApiError::refused(cause),
            MailError::Failed(cause) => ApiError::Unavailable(cause),
        })
    }

    /// Returns a file of a mail, which is still in the mailbox; `file_id` is `VALIDITY/UID/NUMBER`. The mail is fetched if
    /// another one is opened.
    pub(crate) async fn download(&self, file_id: &str, max: u64, opened: &mut OpenedMail) -> Result<Vec<u8>, ApiError> {
        let gone = || ApiError::refused("the mail is not in the mailbox any more");
        let (mail_id, index) = file_id.rsplit_once('/').ok_or_else(gone)?;
        let index: usize = index.parse().map_err(|_| gone())?;
        let bytes = match opened.0.take() {
            Some((id, bytes)) if id == mail_id => bytes,
            _ => self.fetch(mail_id).await?.ok_or_else(gone)?,
        };
        let content = attachment(&bytes, index);
        opened.0 = Some((mail_id.to_owned(), bytes));
        let content = content.ok_or_else(gone)?;
        size_limit(max, Some(content.len() as u64))?;
        Ok(content)
    }

    /// Fetches a mail, `VALIDITY/UID`; `None` if it is not in the mailbox any more.
    async fn fetch(&self, mail_id: &str) -> Result<Option<Vec<u8>>, ApiError> {
        let numbers: Vec<u32> = mail_id.split('/').filter_map(|number| number.parse().ok()).collect();
        let &[validity, uid] = numbers.as_slice() else { return Ok(None) };
        let mut folder = Folder::open(&self.mailbox).await?;
        Ok(match folder.fetch(MailId { validity, uid }).await? {
            Fetched::Mail(bytes) => Some(bytes),
            Fetched::TooLarge | Fetched::Gone => None,
        })
    }
}
