//! Documents for other programs than the pages of the server.

use super::*;
use capability::{TextPosition, UserDocument, UserDocumentId, UserDocuments};
use chat::Caller;
use futures::{StreamExt, TryStreamExt};
use test_postgres::database_files_of_each_kind;
use wire::ErrorCode;

fn caller(user: &str, roles: &[&str]) -> Caller {
    Caller::signed_in(user).with_roles(roles.iter().map(|role| (*role).to_owned()).collect())
}

/// Returns the lists of at most `most` documents that a user pages through.
async fn pages(server: &Server, caller: &Caller, most: u32) -> Vec<Vec<UserDocument>> {
    let (mut all, mut after) = (Vec::new(), None);
    loop {
        let page = server.knowledge.list(caller, after.as_ref(), most).await.unwrap();
        after = page.documents.last().map(|last| last.id.clone());
        all.push(page.documents);
        if !page.has_more {
            return all;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn documents_of_readable_libraries_are_listed_in_pages() {
    let folder = tempfile::tempdir().unwrap();
    for url in database_files_of_each_kind(folder.path()).await {
        let server = Server::open(&url).await;
        let mut libraries = [server.library().await, server.library().await, server.library().await];
        libraries.sort_unstable();
        for (library, name) in [(0, "a.md"), (2, "d.txt"), (0, "b.txt"), (2, "e.txt"), (0, "c.txt")] {
            server.add(&libraries[library], name, &format!("The text of {name}."), false).await.unwrap();
        }
        // It cannot be read, so it has no text.
        server.add(&libraries[0], "blank.txt", "  \n", false).await.unwrap();
        for library in &libraries {
            server.settled(library).await;
        }
        for caller in [caller("ada", &[]), caller("bob", &["staff"])] {
            for (most, lengths) in [(1, &[1, 1, 1, 1, 1][..]), (2, &[2, 2, 1]), (5, &[5]), (9, &[5])] {
                let pages = pages(&server, &caller, most).await;
                assert_eq!(pages.iter().map(Vec::len).collect::<Vec<_>>(), lengths, "{most}");
                let all: Vec<_> = pages.iter().flatten().map(|one| (one.file_name.as_str(), one.text_type)).collect();
                let plain = "text/plain";
                let expected =
                    [("a.md", "text/markdown"), ("b.txt", plain), ("c.txt", plain), ("d.txt", plain), ("e.txt", plain)];
                assert_eq!(all, expected, "{most}");
                assert!(pages.iter().flatten().all(|one| one.library_name == "Library"), "{pages:?}");
            }
        }
        // Administrators have no rights of their own here.
        for stranger in [caller("eve", &[]), caller("eve", &["admin"])] {
            assert_eq!(pages(&server, &stranger, 9).await.concat(), []);
        }
        server.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn texts_and_files_are_bounded_and_for_readers_only() {
    let folder = tempfile::tempdir().unwrap();
    for url in database_files_of_each_kind(folder.path()).await {
        let server = Server::open(&url).await;
        let (library, other) = (server.library().await, server.library().await);
        let sections: Vec<_> = (0..20).map(|number| format!("# Section {number}\n\nThe code is {number}-x.")).collect();
        let text = sections.join("\n\n");
        let document = server.add(&library, "codes.md", &text, false).await.unwrap();
        let blank = server.add(&library, "blank.txt", "  \n", false).await.unwrap();
        server.settled(&library).await;
        let id = |library: &str, document: &DocumentRow| UserDocumentId {
            library_id: library.to_owned(),
            document_id: document.id.clone(),
        };
        let (ada, codes) = (caller("ada", &[]), id(&library, &document));

        let whole = server.knowledge.text(&ada, &codes, TextPosition::START, text.len()).await.unwrap();
        assert_eq!((whole.text, whole.next, whole.media_type), (text.clone(), None, "text/markdown"));
        // All pages together are the text.
        for (most, least) in [(100, 6), (10, 50)] {
            let (mut read, mut next, mut count) = (String::new(), Some(TextPosition::START), 0);
            while let Some(from) = next {
                let page = server.knowledge.text(&ada, &codes, from, most).await.unwrap();
                assert!(page.text.len() <= most, "{page:?}");
                // A part that is longer than a page goes on without a gap.
                read += if count == 0 || from.offset > 0 { "" } else { "\n\n" };
                read += &page.text;
                (next, count) = (page.next, count + 1);
            }
            assert_eq!(read, text, "{most}");
            assert!(count >= least, "{most}: {count}");
        }
        let content = async |most| server.knowledge.file(&ada, &codes, most).await.unwrap().content;
        assert_eq!(content(text.len()).await.as_deref(), Some(text.as_bytes()));
        assert_eq!(content(text.len() - 1).await, None);

        let refused = async |caller: &Caller, id: &UserDocumentId, part: u32| {
            let text =
                server.knowledge.text(caller, id, TextPosition::of_part(part), 100).await.err().map(|error| error.code);
            (text, server.knowledge.file(caller, id, 1 << 20).await.err().map(|error| error.code))
        };
        let not_found = Some(ErrorCode::NotFound);
        assert_eq!(refused(&caller("bob", &["staff"]), &codes, 1).await, (None, None));
        assert_eq!(refused(&caller("eve", &["admin"]), &codes, 1).await, (not_found, not_found));
        assert_eq!(refused(&ada, &id(&other, &document), 1).await, (not_found, not_found));
        assert_eq!(refused(&ada, &codes, 21).await, (not_found, None));
        let beyond = TextPosition { part: 20, offset: 1_000 };
        assert_eq!(server.knowledge.text(&ada, &codes, beyond, 100).await.unwrap_err().code, ErrorCode::NotFound);
        assert_eq!(refused(&ada, &id(&library, &blank), 1).await, (Some(ErrorCode::Conflict), None));
        server.close().await;
    }
}

/// Nobody takes some of a file or a text for all of it, because a new version has taken its place meanwhile.
#[tokio::test(flavor = "multi_thread")]
async fn versions_that_are_replaced_while_they_are_read_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    for url in database_files_of_each_kind(folder.path()).await {
        let server = Server::open(&url).await;
        let library = server.library().await;
        let text = "The pump runs at night.";
        let document = server.add(&library, "pump.md", text, false).await.unwrap();
        server.settled(&library).await;
        let read = store::document(server.knowledge.store(), &document.id).await.unwrap().unwrap();
        let version = read.version_id.clone().unwrap();
        let whole = store::whole_file(server.knowledge.store().clone(), version.clone());
        assert_eq!(whole.try_collect::<Vec<_>>().await.unwrap().concat(), text.as_bytes());
        assert_eq!(server.knowledge.text_from(read.clone(), TextPosition::START, 100).await.unwrap().text, text);
        let mut replaced = store::whole_file(server.knowledge.store().clone(), version);
        assert_eq!(replaced.next().await.unwrap().unwrap(), text);
        server.add(&library, "pump.md", "It is painted green.", true).await.unwrap();
        server.settled(&library).await;
        assert_eq!(replaced.next().await, Some(Err(::store::StoreError::NotFound)));
        let error = server.knowledge.text_from(read, TextPosition::START, 100).await.unwrap_err();
        assert_eq!(
            (error.code, error.message.as_str()),
            (ErrorCode::Conflict, "The document was changed while it was read. Read it again.")
        );
        server.close().await;
    }
}
