//! What an answer of Gemini's rests on: pages, images, places on the map and files as sources, and passages as citations. Source:
//! Google's reference of `GroundingMetadata` and `UrlContextMetadata`.

use super::api::{Grounding, UrlContext};
use contract::{Citation, Source};
use serde_json::Value;

/// A source that an answer names: its address or the store it is from, and its title.
pub(super) struct Named {
    address: String,
    title: Option<String>,
}

/// The sources of a chunk, at the numbers by which passages name them; none for one of a kind that is not known.
pub(super) fn sources(grounding: &Grounding) -> Vec<Option<Named>> {
    grounding.grounding_chunks.iter().flatten().map(named).collect()
}

/// The pages that were fetched, without those that could not be.
pub(super) fn pages(fetched: &UrlContext) -> impl Iterator<Item = Named> {
    let is_read = |page: &&Value| {
        page["urlRetrievalStatus"].as_str().is_none_or(|status| status == "URL_RETRIEVAL_STATUS_SUCCESS")
    };
    fetched.url_metadata.iter().flatten().filter(is_read).filter_map(|page| {
        let address = page["retrievedUrl"].as_str()?.to_owned();
        Some(Named { address, title: None })
    })
}

fn named(chunk: &Value) -> Option<Named> {
    let (place, keys) = ["web", "image", "maps", "retrievedContext"].iter().find_map(|kind| {
        // Google wants the page of an image named, not the image.
        let keys = if *kind == "image" { ["sourceUri", "imageUri"] } else { ["uri", "fileSearchStore"] };
        chunk.get(kind).filter(|place| place.is_object()).map(|place| (place, keys))
    })?;
    let address = keys.iter().find_map(|key| place[key].as_str().filter(|address| !address.is_empty()))?;
    Some(Named { address: address.to_owned(), title: place["title"].as_str().map(str::to_owned) })
}

impl Named {
    pub(super) fn address(&self) -> &str {
        &self.address
    }

    /// As a page, or as a file in a store of Google's.
    pub(super) fn source(&self, id: String) -> Source {
        let (url, title) = (&self.address, self.title.clone());
        if url.starts_with("http://") || url.starts_with("https://") {
            return Source::Url { id, url: url.clone(), title, metadata: None };
        }
        let filename = url.rsplit('/').next().map(str::to_owned);
        let media_type = match filename.as_deref().and_then(|name| name.rsplit_once('.')) {
            Some((_, "pdf")) => "application/pdf",
            Some((_, "txt")) => "text/plain",
            Some((_, "md" | "markdown")) => "text/markdown",
            Some((_, "doc")) => "application/msword",
            Some((_, "docx")) => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            _ => "application/octet-stream",
        };
        let title = title.unwrap_or_else(|| "Unknown Document".to_owned());
        Source::Document { id, media_type: media_type.to_owned(), title, filename, metadata: None }
    }
}

/// The passages that rest on these sources. Google counts their places in bytes.
pub(super) fn citations(grounding: &Grounding, sources: &[Option<Named>]) -> Vec<Citation> {
    let supports = grounding.grounding_supports.iter().flatten();
    supports.flat_map(|support| passage(support, sources)).collect()
}

fn passage<'a>(support: &'a Value, sources: &'a [Option<Named>]) -> impl Iterator<Item = Citation> + 'a {
    let segment = &support["segment"];
    let numbers = ["groundingChunkIndices", "supportChunkIndices"].iter().find_map(|key| support[key].as_array());
    let cited = numbers
        .into_iter()
        .flatten()
        .filter_map(|number| sources.get(usize::try_from(number.as_u64()?).ok()?)?.as_ref());
    cited.map(move |named| Citation {
        source: named.source(named.address.clone()),
        start_index: segment["startIndex"].as_u64(),
        end_index: segment["endIndex"].as_u64(),
        cited_text: segment["text"].as_str().map(str::to_owned),
    })
}
