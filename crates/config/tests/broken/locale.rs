use crate::{check, with_basics};
use insta::assert_snapshot;

#[test]
fn unknown_locales_are_rejected() {
    assert_snapshot!(check("locale: hb\n"), @"
    refused
    chatwright.yaml:1:9: error: there is no locale `hb`
       |
     1 | locale: hb
       |         ^^
       = help: one of `en` and `he`
    ");
    assert_snapshot!(check("locale: { language: he, direction: left }\n"), @"
    refused
    chatwright.yaml:1:36: error: there is no direction `left`
       |
     1 | locale: { language: he, direction: left }
       |                                    ^^^^
       = help: one of `ltr` and `rtl`
    ");
}

#[test]
fn invalid_texts_are_reported() {
    assert_snapshot!(check("locale: { language: de, texts: { sned: Senden } }\n"), @"
    refused
    chatwright.yaml:1:34: error: there is no key `sned` here
       |
     1 | locale: { language: de, texts: { sned: Senden } }
       |                                  ^^^^
       = help: did you mean `send`?
    ");
    assert_snapshot!(check("locale: { language: d, texts: { versionOf: 'Fassung {1} {3}', months: Jan Feb } }\n"), @"
    refused
    chatwright.yaml:1:21: error: `d` cannot be the code of a language
       |
     1 | locale: { language: d, texts: { versionOf: 'Fassung {1} {3}', months: Jan Feb } }
       |                     ^
       = help: write it as in BCP 47: `de`, `pt-BR`
    ");
    assert_snapshot!(check("locale: { language: de, texts: { versionOf: 'Fassung {1} {3}', months: Jan Feb } }\n"), @"
    refused
    chatwright.yaml:1:45: warning: `{2}` is missing here, so what stands there is not said
       |
     1 | locale: { language: de, texts: { versionOf: 'Fassung {1} {3}', months: Jan Feb } }
       |                                             ^^^^^^^^^^^^^^^^^
       = help: in English it is “Version {1} of {2}”

    chatwright.yaml:1:45: error: nothing is filled in at `{3}` here
       |
     1 | locale: { language: de, texts: { versionOf: 'Fassung {1} {3}', months: Jan Feb } }
       |                                             ^^^^^^^^^^^^^^^^^
       = help: in English it is “Version {1} of {2}”

    chatwright.yaml:1:72: error: twelve months are written here, with a space between them
       |
     1 | locale: { language: de, texts: { versionOf: 'Fassung {1} {3}', months: Jan Feb } }
       |                                                                        ^^^^^^^
    ");
    assert_snapshot!(check("locale: { direction: rtl }\n"), @"
    refused
    chatwright.yaml:1:22: error: a direction without its language
       |
     1 | locale: { direction: rtl }
       |                      ^^^
       = help: say the `language`, too, so that it is read out as one
    ");
}

#[test]
fn unknown_texts_of_a_block_are_rejected() {
    let page = "pages: [{ id: p, blocks: [{ id: list, type: AgentConversations, properties: { locale: { texts: { newConversaton: New } } } }] }]\n";
    assert_snapshot!(check(&with_basics(page)), @"
    refused
    chatwright.yaml:2:98: error: there is no key `newConversaton` here
       |
     2 | …s, properties: { locale: { texts: { newConversaton: New } } } }] }]
       |                                      ^^^^^^^^^^^^^^
       = help: did you mean `newConversation`?
    ");
}
