//! The documents of the libraries that the caller may read, as resources of the protocol: each text in pages, and the
//! files.

pub(crate) mod reading;

use crate::call::Client;
use crate::error::protocol_error;
use crate::section::McpApi;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use capability::{Context, DocumentFile, DocumentText, TextPosition, UserDocument, UserDocumentId, UserDocuments};
use rmcp::ErrorData;
use rmcp::model::{
    ListResourceTemplatesResult, ListResourcesResult, ReadResourceResult, Resource, ResourceContents, ResourceTemplate,
};
use serde_json::json;
use std::sync::Arc;
use wire::{ErrorCode, UserError};

/// The most resources of a page of the list.
const PAGE: u32 = 100;
/// The size of a page of a text in bytes.
const MAX_TEXT: usize = 256 * 1024;
/// The size of the largest file that is sent, in bytes. Base64 makes a third more of it.
const MAX_FILE: usize = 4 * 1024 * 1024;
/// The longest id of a library or a document.
const MAX_ID: usize = 128;

/// The beginning of all addresses.
const ROOT: &str = "chatwright://libraries/";
/// The addresses of texts (RFC 6570).
const TEXT_TEMPLATE: &str = "chatwright://libraries/{library}/documents/{document}{?part,offset}";
/// The addresses of files.
const FILE_TEMPLATE: &str = "chatwright://libraries/{library}/documents/{document}/file";

/// The resource that an address stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Address {
    /// The text of a document, from a position on.
    Text(UserDocumentId, TextPosition),
    /// The file of a document.
    File(UserDocumentId),
}

impl Address {
    /// Reads an address; `None` for one that no resource has.
    fn parse(uri: &str) -> Option<Self> {
        let rest = uri.strip_prefix(ROOT)?;
        let (path, query) = rest.split_once('?').map_or((rest, None), |(path, query)| (path, Some(query)));
        let (library_id, rest) = path.split_once("/documents/")?;
        let (document_id, is_file) = rest.strip_suffix("/file").map_or((rest, false), |id| (id, true));
        if !is_id(library_id) || !is_id(document_id) {
            return None;
        }
        let id = UserDocumentId { library_id: library_id.to_owned(), document_id: document_id.to_owned() };
        match (is_file, query) {
            (true, None) => Some(Self::File(id)),
            (true, Some(_)) => None,
            (false, None) => Some(Self::Text(id, TextPosition::START)),
            (false, Some(query)) => position(query).map(|from| Self::Text(id, from)),
        }
    }

    /// Writes the address.
    fn uri(&self) -> String {
        let path = |id: &UserDocumentId| format!("{ROOT}{}/documents/{}", id.library_id, id.document_id);
        match self {
            Self::Text(id, TextPosition::START) => path(id),
            Self::Text(id, TextPosition { part, offset: 0 }) => format!("{}?part={part}", path(id)),
            Self::Text(id, TextPosition { part, offset }) => format!("{}?part={part}&offset={offset}", path(id)),
            Self::File(id) => format!("{}/file", path(id)),
        }
    }
}

/// Reads the query of the address of a text.
fn position(query: &str) -> Option<TextPosition> {
    let (part, offset) = query.split_once('&').map_or((query, None), |(part, offset)| (part, Some(offset)));
    let part = part.strip_prefix("part=")?.parse::<u32>().ok().filter(|part| *part > 0)?;
    let offset = match offset {
        Some(offset) => offset.strip_prefix("offset=")?.parse::<usize>().ok()?,
        None => 0,
    };
    Some(TextPosition { part, offset })
}

/// Returns whether an address is that of a file.
pub(crate) fn is_file(uri: &str) -> bool {
    matches!(Address::parse(uri), Some(Address::File(_)))
}

/// Returns whether a text may be the id of a library or a document. These need no escapes in an address.
fn is_id(text: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    (1..=MAX_ID).contains(&text.len()) && text.bytes().all(is_allowed)
}

/// Returns the documents of this server; `None` if the config does not offer them, or the credentials do not allow their
/// use.
pub(crate) fn library(context: &Context, client: &Client) -> Option<Arc<dyn UserDocuments>> {
    let config = context.current.config();
    let is_on = config.section::<McpApi>().is_some_and(|section| section.documents);
    context.current.user_documents().filter(|_| is_on && client.may_read_documents())
}

/// Returns a page of the documents of a caller. A cursor is the address of the last document of the page before.
pub(crate) async fn list(
    context: &Context,
    client: &Client,
    cursor: Option<&str>,
) -> Result<ListResourcesResult, ErrorData> {
    let Some(library) = library(context, client) else { return Ok(ListResourcesResult::default()) };
    let after = match cursor.map(Address::parse) {
        None => None,
        Some(Some(Address::Text(id, _))) => Some(id),
        Some(_) => return Err(ErrorData::invalid_params("This cursor is not one of this list.", None)),
    };
    let page = library.list(&client.caller, after.as_ref(), PAGE).await.map_err(protocol_error)?;
    let last = page.documents.last().filter(|_| page.has_more);
    let next_cursor = last.map(|last| Address::Text(last.id.clone(), TextPosition::START).uri());
    let mut result = ListResourcesResult::with_all_items(page.documents.into_iter().map(resource).collect());
    result.next_cursor = next_cursor;
    Ok(result)
}

/// Returns the forms of all addresses.
pub(crate) fn templates(context: &Context, client: &Client) -> ListResourceTemplatesResult {
    if library(context, client).is_none() {
        return ListResourceTemplatesResult::default();
    }
    let text = ResourceTemplate::new(TEXT_TEMPLATE, "document").with_title("Text of a document").with_description(
        "The text that was read from a document. A long one is cut; its end names the address with which it continues.",
    );
    let file = ResourceTemplate::new(FILE_TEMPLATE, "file")
        .with_title("File of a document")
        .with_description(format!("The file of a document as it was added, up to {} MB.", MAX_FILE / (1024 * 1024)));
    ListResourceTemplatesResult::with_all_items(vec![text, file])
}

/// Returns the content of a resource.
///
/// # Errors
/// That of the protocol for an unknown resource, the same whether it does not exist or the caller may not read it.
pub(crate) async fn read(context: &Context, client: &Client, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let found = library(context, client).zip(Address::parse(uri));
    let Some((library, address)) = found else { return Err(not_found(uri)) };
    let contents = match &address {
        Address::Text(id, from) => {
            let text = library.text(&client.caller, id, *from, MAX_TEXT).await;
            text.map(|text| text_contents(text, id, uri))
        }
        Address::File(id) => {
            let file = library.file(&client.caller, id, MAX_FILE).await;
            file.and_then(|file| file_contents(file, id, uri, &client.origin))
        }
    };
    match contents {
        Ok(contents) => Ok(ReadResourceResult::new(vec![contents])),
        Err(error) if error.code == ErrorCode::NotFound => Err(not_found(uri)),
        Err(error) => Err(protocol_error(error)),
    }
}

fn not_found(uri: &str) -> ErrorData {
    ErrorData::resource_not_found("There is no resource with this address.", Some(json!({ "uri": uri })))
}

/// Returns a document as clients see it.
fn resource(document: UserDocument) -> Resource {
    let UserDocument { id, file_name, library_name, text_type } = document;
    Resource::new(Address::Text(id, TextPosition::START).uri(), file_name)
        .with_description(format!("The text of a document of the library {library_name}."))
        .with_mime_type(text_type)
}

/// Returns the content of a text. If it is cut, it ends with the address at which it continues.
fn text_contents(found: DocumentText, id: &UserDocumentId, uri: &str) -> ResourceContents {
    let DocumentText { media_type, mut text, next } = found;
    if let Some(next) = next {
        let next = Address::Text(id.clone(), next).uri();
        text.push_str(&format!("\n\n[The text is cut off here. It continues in the resource {next}]"));
    }
    ResourceContents::text(text, uri).with_mime_type(media_type)
}

/// Returns the content of a file.
///
/// # Errors
/// 413 if it is too large.
fn file_contents(
    file: DocumentFile,
    id: &UserDocumentId,
    uri: &str,
    origin: &str,
) -> Result<ResourceContents, UserError> {
    let DocumentFile { media_type, content } = file;
    let Some(content) = content else {
        let (megabytes, document_id) = (MAX_FILE / (1024 * 1024), &id.document_id);
        let text = Address::Text(id.clone(), TextPosition::START).uri();
        let message = format!(
            "This file has more than {megabytes} MB. Read its text, {text}, or download it from \
             {origin}/api/documents/{document_id}/file"
        );
        return Err(UserError::new(ErrorCode::TooLarge, message));
    };
    Ok(ResourceContents::blob(STANDARD.encode(content), uri).with_mime_type(media_type))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(library_id: &str, document_id: &str) -> UserDocumentId {
        UserDocumentId { library_id: library_id.to_owned(), document_id: document_id.to_owned() }
    }

    #[test]
    fn addresses_are_read_as_they_are_written() {
        let check = |address: Address, expected: &str| {
            assert_eq!(address.uri(), expected);
            assert_eq!(Address::parse(expected), Some(address));
        };
        check(Address::Text(id("l", "d-1"), TextPosition::START), "chatwright://libraries/l/documents/d-1");
        check(
            Address::Text(id("L_1", "d"), TextPosition::of_part(12)),
            "chatwright://libraries/L_1/documents/d?part=12",
        );
        for (part, offset) in [(1, 9), (12, 65_536)] {
            let expected = format!("chatwright://libraries/l/documents/d?part={part}&offset={offset}");
            check(Address::Text(id("l", "d"), TextPosition { part, offset }), &expected);
        }
        check(Address::File(id("l", "file")), "chatwright://libraries/l/documents/file/file");
        check(
            Address::Text(id("documents", "file"), TextPosition::START),
            "chatwright://libraries/documents/documents/file",
        );
    }

    #[test]
    fn other_addresses_are_of_no_resource() {
        let long = format!("chatwright://libraries/l/documents/{}", "d".repeat(MAX_ID + 1));
        for uri in [
            "",
            "test://static-text",
            "chatwright://libraries/l",
            "chatwright://libraries/l/documents",
            "chatwright://libraries/l/documents/",
            "chatwright://libraries//documents/d",
            "chatwright://libraries/l/documents/d/",
            "chatwright://libraries/l/documents/d/text",
            "chatwright://libraries/l/documents/../file",
            "chatwright://libraries/l/documents/d%2F",
            "chatwright://libraries/l/documents/d?part=0",
            "chatwright://libraries/l/documents/d?part=-1",
            "chatwright://libraries/l/documents/d?page=1",
            "chatwright://libraries/l/documents/d?part=1&offset=-1",
            "chatwright://libraries/l/documents/d?part=1&page=1",
            "chatwright://libraries/l/documents/d?part=1&offset=1&offset=2",
            "chatwright://libraries/l/documents/d?offset=1",
            "chatwright://libraries/l/documents/d?",
            "chatwright://libraries/l/documents/d/file?part=1",
            "CHATWRIGHT://libraries/l/documents/d",
            long.as_str(),
        ] {
            assert_eq!(Address::parse(uri), None, "{uri}");
        }
    }

    #[test]
    fn cut_texts_say_where_they_continue() {
        let check = |next: Option<TextPosition>, expected: &str| {
            let found = DocumentText { media_type: "text/plain", text: "Pumps".to_owned(), next };
            let contents = serde_json::to_value(text_contents(found, &id("l", "d"), "u")).unwrap();
            assert_eq!(contents, json!({ "uri": "u", "mimeType": "text/plain", "text": expected }));
        };
        check(None, "Pumps");
        let end =
            "[The text is cut off here. It continues in the resource chatwright://libraries/l/documents/d?part=9]";
        check(Some(TextPosition::of_part(9)), &format!("Pumps\n\n{end}"));
    }

    #[test]
    fn large_files_are_named_instead() {
        let check = |content: Option<Vec<u8>>| {
            let file = DocumentFile { media_type: "application/pdf".to_owned(), content };
            file_contents(file, &id("l", "d"), "u", "http://a.test")
        };
        let small = serde_json::to_value(check(Some(b"PDF".to_vec())).unwrap()).unwrap();
        assert_eq!(small, json!({ "uri": "u", "mimeType": "application/pdf", "blob": "UERG" }));
        let error = check(None).unwrap_err();
        assert_eq!(
            (error.code, error.message.as_str()),
            (
                ErrorCode::TooLarge,
                "This file has more than 4 MB. Read its text, chatwright://libraries/l/documents/d, or download it from \
                 http://a.test/api/documents/d/file"
            )
        );
    }
}
