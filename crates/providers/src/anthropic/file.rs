//! Converts input files to content blocks.

use crate::file;
use contract::FileData;
use serde_json::{Value, json};

/// Converts a file to a content block; a note if the API does not accept it.
pub(crate) fn file_block(media_type: &str, data: &FileData, filename: Option<&str>) -> Value {
    let kind = file::detect_media_type(media_type, data);
    if file::is_image(kind) {
        return json!({ "type": "image", "source": source(kind, data) });
    }
    let source = match data {
        _ if kind == "application/pdf" => Some(source(kind, data)),
        FileData::Base64(base64) if file::is_text(kind) => {
            file::decode_text(base64).map(|text| json!({ "type": "text", "media_type": "text/plain", "data": text }))
        }
        _ => None,
    };
    let Some(source) = source else {
        return json!({ "type": "text", "text": file::unreadable_note(kind, filename) });
    };
    let mut block = json!({ "type": "document", "source": source });
    if let Some(name) = filename {
        block["title"] = name.into();
    }
    block
}

fn source(kind: &str, data: &FileData) -> Value {
    match data {
        FileData::Base64(data) => json!({ "type": "base64", "media_type": kind, "data": data }),
        FileData::Url(url) => json!({ "type": "url", "url": url }),
    }
}
