//! Markdown while it is written: however a text comes, no word of it is lost, and a link leads to where a click is harmless.
#![no_main]
#![allow(dead_code, reason = "only what reads strangers' text is used of the files below")]

// By their paths: the room that they are in is the whole user interface.
#[path = "../../app/src/markdown/link.rs"]
mod link;
#[path = "../../app/src/markdown/mask.rs"]
mod mask;
#[path = "../../app/src/markdown/split.rs"]
mod split;
#[path = "../../app/src/markdown/tail.rs"]
mod tail;

/// What the splitter needs of its neighbour: a text that is looked at by itself knows no other references.
mod document {
    use pulldown_cmark::{BrokenLink, BrokenLinkCallback, CowStr};

    pub(super) struct Lookup<'r>(pub(super) Option<&'r ()>);

    impl<'input> BrokenLinkCallback<'input> for Lookup<'_> {
        fn handle_broken_link(&mut self, _: BrokenLink<'input>) -> Option<(CowStr<'input>, CowStr<'input>)> {
            None
        }
    }
}

use libfuzzer_sys::fuzz_target;
use pulldown_cmark::{Event, Parser, Tag};
use split::{OPTIONS, Splitter, Step};

/// The blocks as they are shown after each piece.
#[derive(Default)]
struct Shown {
    splitter: Splitter,
    blocks: Vec<String>,
}

impl Shown {
    fn grow(&mut self, text: &str, complete: bool) {
        let Step { first, blocks, .. } = self.splitter.advance(text, complete);
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

fn words(text: &str) -> String {
    text.chars().filter(|char| !char.is_whitespace()).collect()
}

fuzz_target!(|given: (u8, &str)| {
    let (size, text) = given;
    let mut shown = Shown::default();
    let ends = text.char_indices().map(|(at, _)| at).step_by(usize::from(size % 32) + 1);
    ends.for_each(|end| shown.grow(&text[..end], false));
    shown.grow(text, true);
    assert_eq!(words(&shown.blocks.concat()), words(text), "a word is lost");
    for block in &shown.blocks {
        let masked = mask::mask(block);
        // What stands for a formula is a control character, which no text that people read has.
        let is_told_apart = !block.contains(['\u{1}', '\u{2}']);
        assert!(!is_told_apart || mask::unmask(&masked.text, &masked.formulas) == *block, "{block:?}");
        for event in Parser::new_ext(&masked.text, OPTIONS) {
            if let Event::Start(Tag::Link { dest_url, .. }) = event
                && let Some(url) = link::allowed(&dest_url)
            {
                let scheme = url.split(':').next().unwrap_or_default().to_ascii_lowercase();
                assert!(["http", "https", "mailto"].contains(&scheme.as_str()), "{url}");
                let _ = link::host(url);
            }
        }
    }
    let pieces = link::bare_urls(text).into_iter().map(|piece| match piece {
        link::Piece::Text(text) | link::Piece::Url(text) => text,
    });
    assert_eq!(pieces.collect::<String>(), text);
});
