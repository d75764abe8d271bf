//! The files that the user drops: those of folders, too.

use crate::ui::browser::files;
use futures::channel::oneshot;
use leptos::wasm_bindgen::prelude::Closure;
use leptos::wasm_bindgen::{JsCast, JsValue};
use leptos::web_sys::{
    DataTransfer, File, FileSystemDirectoryEntry, FileSystemDirectoryReader, FileSystemEntry, FileSystemFileEntry,
};

/// Dropped files and folders. The browser gives access to them only during the event; folders are read
/// afterwards.
pub(super) struct Dropped {
    entries: Vec<FileSystemEntry>,
    files: Vec<File>,
}

impl Dropped {
    /// Takes the files and folders of an event.
    pub(super) fn new(data: &DataTransfer) -> Self {
        let items = data.items();
        let entry = |at| items.get(at)?.webkit_get_as_entry().ok().flatten();
        let entries: Vec<_> = (0..items.length()).filter_map(entry).collect();
        // Without entries, the browser knows no folders.
        let files = if entries.is_empty() { files(data.files()) } else { Vec::new() };
        Self { entries, files }
    }

    /// Returns the files, and one more than `most` if there are more.
    pub(super) async fn files(self, most: usize) -> Vec<File> {
        let Self { mut entries, mut files } = self;
        entries.reverse();
        while let Some(entry) = entries.pop() {
            if files.len() > most {
                break;
            }
            if is_hidden(&entry.name()) {
                continue;
            }
            match entry.dyn_into::<FileSystemFileEntry>() {
                Ok(file) => files.extend(file_of(&file).await),
                Err(other) => {
                    if let Ok(folder) = other.dyn_into::<FileSystemDirectoryEntry>() {
                        entries.extend(children(&folder.create_reader()).await);
                    }
                }
            }
        }
        files
    }
}

/// Whether a file belongs to the system and not to the user.
pub(super) fn is_hidden(name: &str) -> bool {
    name.starts_with('.') || name == "Thumbs.db" || name == "desktop.ini"
}

async fn file_of(entry: &FileSystemFileEntry) -> Option<File> {
    let (tell, told) = oneshot::channel();
    let found = Closure::once(move |file: File| {
        // The receiver may have been dropped.
        let _ = tell.send(file);
    });
    let refused = Closure::once(|_: JsValue| ());
    entry.file_with_callback_and_callback(found.as_ref().unchecked_ref(), refused.as_ref().unchecked_ref());
    told.await.ok()
}

/// Reads a folder, whose entries come in groups.
async fn children(reader: &FileSystemDirectoryReader) -> Vec<FileSystemEntry> {
    let mut all = Vec::new();
    loop {
        let (tell, told) = oneshot::channel();
        let found = Closure::once(move |entries: js_sys::Array| {
            // The receiver may have been dropped.
            let _ = tell.send(entries);
        });
        let refused = Closure::once(|_: JsValue| ());
        let asked = reader
            .read_entries_with_callback_and_callback(found.as_ref().unchecked_ref(), refused.as_ref().unchecked_ref());
        let Some(entries) = (if asked.is_ok() { told.await.ok() } else { None }) else { return all };
        if entries.length() == 0 {
            return all;
        }
        all.extend(entries.iter().filter_map(|entry| entry.dyn_into::<FileSystemEntry>().ok()));
    }
}
