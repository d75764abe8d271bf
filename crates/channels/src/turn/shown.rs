//! Files that an answer shows: sent as attachments, or if that is not possible, as links to the website.

use super::Turn;
use super::commands::plain;
use crate::messenger::OutgoingFile;
use crate::person::Person;
use ::config::Config;
use ::jobs::JobError;
use futures::StreamExt;
use url::Url;
use wire::file::{presented_contents, stored_file_id};
use wire::{UiMessage, UiPart};

/// The most files of an answer that are attached.
pub(super) const MAX_ATTACHED: usize = 10;

/// A file that an answer shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ShownFile {
    pub(super) name: String,
    /// Its address on the website.
    url: String,
    /// The id of its content.
    pub(super) id: Option<String>,
}

impl ShownFile {
    /// Returns the files that a part of a message shows.
    pub(super) fn from_part(part: &UiPart) -> Vec<Self> {
        match part {
            UiPart::File(file) => {
                let name = file.filename.clone().unwrap_or_else(|| "file".to_owned());
                vec![Self { name, url: file.url.clone(), id: stored_file_id(&file.url).map(str::to_owned) }]
            }
            UiPart::Data(part) => {
                let shown = presented_contents(part).into_iter();
                shown
                    .map(|shown| Self {
                        name: shown.file.path.rsplit('/').next().unwrap_or_default().to_owned(),
                        url: shown.file.url,
                        id: shown.file_id,
                    })
                    .collect()
            }
            _ => Vec::new(),
        }
    }

    /// Returns how the text of the answer names a file that is attached.
    pub(super) fn attached(&self) -> String {
        format!("📎 {}", plain(&self.name))
    }

    /// Returns how the text of the answer names a file that is not attached.
    pub(super) fn linked(&self, config: &Config) -> String {
        match web_address(config, &self.url) {
            Some(url) => format!("📎 [{}](<{url}>)", plain(&self.name)),
            None => format!("📎 {} (on the website)", plain(&self.name)),
        }
    }
}

/// Returns the address of a path of the website, if it has a public one. Other contents, such as a file in the message
/// itself, have no address on this server.
pub(super) fn web_address(config: &Config, path: &str) -> Option<Url> {
    let origin = config.auth.public_urls.first().filter(|_| path.starts_with('/'));
    origin.and_then(|origin| origin.join(path).ok())
}

/// Returns the files that a message shows without its first parts.
pub(super) fn shown_files(message: &UiMessage, skip: usize) -> Vec<ShownFile> {
    message.parts.iter().skip(skip).flat_map(ShownFile::from_part).collect()
}

impl Turn<'_> {
    /// Sends the files of an answer. Returns for each whether it is attached.
    pub(super) async fn send_files(&mut self, person: &Person, files: &[ShownFile]) -> Result<Vec<bool>, JobError> {
        let mut attached = Vec::with_capacity(files.len());
        for (index, file) in files.iter().enumerate() {
            let number = i64::try_from(index).unwrap_or(i64::MAX);
            let is_attached = index < MAX_ATTACHED
                && !self.delivery.is_closed()
                && (self.delivery.has_sent_file(number) || self.send_file(person, number, file).await?);
            attached.push(is_attached);
        }
        Ok(attached)
    }

    async fn send_file(&mut self, person: &Person, number: i64, file: &ShownFile) -> Result<bool, JobError> {
        let Some(id) = &file.id else { return Ok(false) };
        // A file is in memory while it is sent.
        let _permit = self.files.acquire().await.map_err(JobError::retry)?;
        let Some(file) = self.read_file(person, id, &file.name).await? else { return Ok(false) };
        self.delivery.send_file(number, file).await
    }

    /// Reads a file of the user; `None` if it is gone, or larger than the messenger takes.
    pub(super) async fn read_file(
        &self,
        person: &Person,
        id: &str,
        name: &str,
    ) -> Result<Option<OutgoingFile>, JobError> {
        let Ok((stored, mut pieces)) = self.context.chat.file(&person.caller, id).await else { return Ok(None) };
        if stored.size > self.messenger().max_file() || stored.size == 0 {
            return Ok(None);
        }
        let mut content = Vec::with_capacity(usize::try_from(stored.size).unwrap_or_default());
        while let Some(piece) = pieces.next().await {
            content.extend_from_slice(&piece?);
        }
        Ok(Some(OutgoingFile { name: name.to_owned(), media_type: stored.media_type, content }))
    }
}
