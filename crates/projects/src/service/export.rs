//! A project as a file: its settings, and the caller's conversations in it.

use super::Service;
use crate::views::ExportedProject;
use axum::body::{Body, Bytes};
use chat::Caller;
use futures::{StreamExt, TryStreamExt, stream};
use serde::Serialize;
use std::collections::{HashSet, VecDeque};
use wire::organize::ListFilter;
use wire::{ErrorCode, UserError};

/// The number of conversations that are listed at a time.
const PAGE: u32 = 100;
/// The lists of a folder, each as whether it is that of the archive. They are read twice, because a conversation that is
/// used meanwhile moves from a later page to the first one.
const LISTS: [bool; 4] = [false, true, false, true];

/// The position of an export in the list of conversations.
struct Progress {
    service: Service,
    caller: Caller,
    /// The folder of the project, and those in it, that were not read to their end.
    folder_ids: VecDeque<String>,
    /// The conversations of the page that was read last.
    ids: VecDeque<String>,
    /// The ids of all conversations that were listed.
    seen: HashSet<String>,
    /// The next page of the first folder: the position of its list in [`LISTS`], and its cursor.
    next: (usize, Option<String>),
}

/// Returns the title of a project of the caller, and the lines of its file, each of them JSON: its
/// settings, then each conversation of the caller in its folder and the folders in that, in the form of its own export, one
/// in memory at a time.
///
/// # Errors
/// 401 for visitors, 404 for an unknown project.
pub(crate) async fn export(service: &Service, caller: &Caller, id: &str) -> Result<(String, Body), UserError> {
    let project = service.project(caller, id).await?;
    let name = project.settings.name.clone();
    let first = line(&ExportedProject::new(project.settings));
    let folders = match &project.folder_id {
        Some(folder_id) => service.context.chat.folders_in(caller, folder_id).await?,
        None => Vec::new(),
    };
    let progress = Progress {
        service: service.clone(),
        caller: caller.clone(),
        folder_ids: folders.into_iter().map(|folder| folder.id).collect(),
        ids: VecDeque::new(),
        seen: HashSet::new(),
        next: (0, None),
    };
    let rest =
        stream::try_unfold(
            progress,
            |mut progress| async move { Ok(progress.line().await?.map(|line| (line, progress))) },
        );
    // The response has begun, so an error can only break it off.
    let rest = rest.map(|line: Result<Bytes, UserError>| line.map_err(|error| std::io::Error::other(error.message)));
    let rest = rest.inspect_err(|error| tracing::warn!(%error, "the download of a project was broken off"));
    Ok((
        name,
        Body::from_stream(stream::iter([first.map_err(|error| std::io::Error::other(error.message))]).chain(rest)),
    ))
}

impl Progress {
    /// Returns the line of the next conversation.
    async fn line(&mut self) -> Result<Option<Bytes>, UserError> {
        loop {
            while let Some(id) = self.ids.pop_front() {
                match self.service.context.chat.export(&self.caller, &id).await {
                    Ok(conversation) => return line(&conversation).map(Some),
                    // It was deleted meanwhile.
                    Err(error) if error.code == ErrorCode::NotFound => {}
                    Err(error) => return Err(error),
                }
            }
            let Some(folder_id) = self.folder_ids.front().cloned() else { return Ok(None) };
            let (list, cursor) = std::mem::take(&mut self.next);
            let Some(&archived) = LISTS.get(list) else {
                self.folder_ids.pop_front();
                continue;
            };
            let filter = ListFilter { archived, folder_id: Some(folder_id) };
            let chat = &self.service.context.chat;
            let page = chat.conversations(&self.caller, filter, PAGE, cursor.as_deref()).await?;
            let seen = &mut self.seen;
            self.ids = page.items.into_iter().map(|item| item.id).filter(|id| seen.insert(id.clone())).collect();
            self.next = match page.next {
                Some(cursor) => (list, Some(cursor)),
                None => (list + 1, None),
            };
        }
    }
}

fn line(value: &impl Serialize) -> Result<Bytes, UserError> {
    let mut line = serde_json::to_vec(value)
        .map_err(|_| UserError::new(ErrorCode::Internal, "The project cannot be exported."))?;
    line.push(b'\n');
    Ok(line.into())
}
