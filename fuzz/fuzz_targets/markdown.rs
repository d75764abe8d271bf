//! Markdown that grows while it is streamed: no text is lost, and links have harmless schemes only.
#![no_main]

use libfuzzer_sys::fuzz_target;
use markdown_stream::split::{OPTIONS, SplitUpdate, Splitter};
use markdown_stream::{link, link_text, mask, tail};
use pulldown_cmark::{Event, Parser, Tag};

/// The displayed blocks after each chunk.
#[derive(Default)]
struct StreamedBlocks {
    splitter: Splitter,
    blocks: Vec<String>,
}

impl StreamedBlocks {
    fn advance_to(&mut self, text: &str, complete: bool) {
        let SplitUpdate { first, blocks, .. } = self.splitter.advance(text, complete);
        let length = first + blocks.len();
        for (at, block) in (first..).zip(blocks) {
            let _ = tail::presentable(block);
            match self.blocks.get_mut(at) {
                Some(known) => block.clone_into(known),
                None => self.blocks.push(block.to_owned()),
            }
        }
        self.blocks.truncate(length);
    }
}

fn without_whitespace(text: &str) -> String {
    text.chars().filter(|char| !char.is_whitespace()).collect()
}

/// The host that is shown is the one that a browser contacts, which skips all slashes before it.
fn check_host(url: &str) {
    let (_, rest) = url.split_once(':').expect("a web URL");
    let rest = rest.trim_start_matches(['/', '\\']);
    let host = link::host(url);
    assert!(!host.is_empty() && !host.contains('@'), "{url}");
    assert!(
        rest.strip_prefix(host).is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '\\', '?', '#'])),
        "{url}"
    );
}

fuzz_target!(|given: (u8, &str)| {
    let (size, text) = given;
    let mut shown = StreamedBlocks::default();
    let ends = text.char_indices().map(|(at, _)| at).step_by(usize::from(size % 32) + 1);
    ends.for_each(|end| shown.advance_to(&text[..end], false));
    shown.advance_to(text, true);
    assert_eq!(without_whitespace(&shown.blocks.concat()), without_whitespace(text), "text is lost");
    for block in &shown.blocks {
        let masked = mask::mask_formulas(block);
        assert!(mask::unmask_formulas(&masked.text, &masked.formulas) == *block, "{block:?}");
        for event in Parser::new_ext(&masked.text, OPTIONS) {
            if let Event::Start(Tag::Link { dest_url, .. }) = event
                && let Some(url) = link::allowed_url(&dest_url)
            {
                let scheme = url.split(':').next().unwrap_or_default().to_ascii_lowercase();
                assert!(["http", "https", "mailto"].contains(&scheme.as_str()), "{url}");
                if scheme != "mailto" {
                    check_host(url);
                }
                let _ = link_text::undisclosed_host(text, url);
            }
        }
    }
    let pieces = link::split_bare_urls(text).into_iter().map(|piece| match piece {
        link::LinkSegment::Text(text) | link::LinkSegment::Url(text) => text,
    });
    assert_eq!(pieces.collect::<String>(), text);
});
