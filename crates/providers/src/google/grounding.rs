//! Reads the grounding of Gemini's answers: pages, images, map places and files become sources, and
//! grounded passages become citations. Source: Google's reference of `GroundingMetadata` and
//! `UrlContextMetadata`.

use super::api::{Grounding, UrlContext};
use contract::{Citation, Source};
use serde_json::Value;

/// A source of an answer: its URL or store, and its title.
pub(super) struct GroundingSource {
    address: String,
    title: Option<String>,
}

/// Returns the sources of a chunk at the indexes to which passages refer; `None` for one of an
/// unknown kind.
pub(super) fn sources(grounding: &Grounding) -> Vec<Option<GroundingSource>> {
    grounding.grounding_chunks.iter().flatten().map(parse_source).collect()
}

/// Returns the pages that were fetched successfully.
pub(super) fn fetched_pages(fetched: &UrlContext) -> impl Iterator<Item = GroundingSource> {
    let is_read = |page: &&Value| {
        page["urlRetrievalStatus"].as_str().is_none_or(|status| status == "URL_RETRIEVAL_STATUS_SUCCESS")
    };
    fetched.url_metadata.iter().flatten().filter(is_read).filter_map(|page| {
        let address = page["retrievedUrl"].as_str()?.to_owned();
        Some(GroundingSource { address, title: None })
    })
}

fn parse_source(chunk: &Value) -> Option<GroundingSource> {
    let (place, keys) = ["web", "image", "maps", "retrievedContext"].iter().find_map(|kind| {
        // Google requires that the page of an image is named, not the image.
        let keys = if *kind == "image" { ["sourceUri", "imageUri"] } else { ["uri", "fileSearchStore"] };
        chunk.get(kind).filter(|place| place.is_object()).map(|place| (place, keys))
    })?;
    let address = keys.iter().find_map(|key| place[key].as_str().filter(|address| !address.is_empty()))?;
    Some(GroundingSource { address: address.to_owned(), title: place["title"].as_str().map(str::to_owned) })
}

impl GroundingSource {
    pub(super) fn address(&self) -> &str {
        &self.address
    }

    /// Converts it to a page, or to a file in one of Google's stores.
    pub(super) fn to_source(&self, id: String) -> Source {
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

/// Returns the citations of the passages that are grounded in these sources. Google's indexes count
/// bytes.
pub(super) fn citations(grounding: &Grounding, sources: &[Option<GroundingSource>]) -> Vec<Citation> {
    let supports = grounding.grounding_supports.iter().flatten();
    supports.flat_map(|support| support_citations(support, sources)).collect()
}

fn support_citations<'a>(
    support: &'a Value,
    sources: &'a [Option<GroundingSource>],
) -> impl Iterator<Item = Citation> + 'a {
    let segment = &support["segment"];
    let numbers = ["groundingChunkIndices", "supportChunkIndices"].iter().find_map(|key| support[key].as_array());
    let cited = numbers
        .into_iter()
        .flatten()
        .filter_map(|number| sources.get(usize::try_from(number.as_u64()?).ok()?)?.as_ref());
    cited.map(move |named| Citation {
        source: named.to_source(named.address.clone()),
        start_index: segment["startIndex"].as_u64(),
        end_index: segment["endIndex"].as_u64(),
        cited_text: segment["text"].as_str().map(str::to_owned),
    })
}
