//! The parent and the child: results, crashes, cancellation.

use bytes::Bytes;
use documents::{Converter, FailureCode, Limits};
use futures::stream;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

const CHILD: &str = env!("CARGO_BIN_EXE_read-document");

/// A message is read in a child whatever its size.
const MESSAGE: &[u8] = b"From: ada@example.com\r\nSubject: Hello\r\n\r\nText";

fn converter() -> Converter {
    Converter::with_program(CHILD.into(), [], Limits::default())
}

/// Returns a converter of a shell script.
fn script(script: &str) -> Converter {
    Converter::with_program("/bin/sh".into(), ["-c".into(), script.into()], Limits::default())
}

#[tokio::test]
async fn document_is_read_in_a_child_piece_by_piece() {
    let pieces = MESSAGE.chunks(5).map(|piece| Ok::<_, std::io::Error>(Bytes::copy_from_slice(piece)));
    let document = converter().convert("a.eml", None, stream::iter(pieces)).await.unwrap();
    assert_eq!((document.title.as_str(), document.parts.len()), ("Hello", 2));
    let failure = converter().convert_bytes("a.gif", None, Bytes::from_static(b"GIF89a\0\0")).await.unwrap_err();
    assert_eq!(failure.code, FailureCode::Unsupported);
    assert!(failure.message.starts_with("“a.gif” is not of a format"), "{}", failure.message);
}

#[tokio::test]
async fn error_of_the_content_is_temporary() {
    let content = stream::iter([Ok(Bytes::from_static(MESSAGE)), Err("gone")]);
    let failure = converter().convert("a.eml", None, content).await.unwrap_err();
    assert_eq!((failure.code, failure.is_temporary()), (FailureCode::Unavailable, true));
}

#[tokio::test]
async fn ends_of_the_child_are_told_apart() {
    let check = async |shell: &str, code: FailureCode| {
        let failure = script(shell).convert_bytes("a.eml", None, Bytes::from_static(MESSAGE)).await.unwrap_err();
        assert_eq!(failure.code, code, "{shell}: {failure:?}");
    };
    check("kill -SEGV $$", FailureCode::Crashed).await;
    check("kill -KILL $$", FailureCode::OutOfMemory).await;
    check("kill -XCPU $$", FailureCode::TimedOut).await;
    check("echo 'memory allocation of 9 bytes failed' >&2; kill -ABRT $$", FailureCode::OutOfMemory).await;
    check("exit 1", FailureCode::Unavailable).await;
    check("cat > /dev/null & echo '{'", FailureCode::Unavailable).await;
    check("cat /dev/zero", FailureCode::TooLarge).await;
    let missing = Converter::with_program("/nowhere".into(), [], Limits::default());
    let failure = missing.convert_bytes("a.eml", None, Bytes::from_static(MESSAGE)).await.unwrap_err();
    assert_eq!(failure.code, FailureCode::Unavailable);
}

#[tokio::test]
async fn dropping_the_future_ends_the_child() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pid");
    let converter = script(&format!("echo $$ > {}; exec sleep 1000", file.display()));
    let running =
        tokio::spawn(async move { converter.convert_bytes("a.eml", None, Bytes::from_static(MESSAGE)).await });
    let pid = loop {
        match std::fs::read_to_string(&file) {
            Ok(pid) if pid.ends_with('\n') => break pid.trim().to_owned(),
            _ => tokio::task::yield_now().await,
        }
    };
    running.abort();
    assert!(running.await.unwrap_err().is_cancelled());
    // A process that ended and was not waited for has no command line.
    let runs = || std::fs::read(Path::new("/proc").join(&pid).join("cmdline")).is_ok_and(|line| !line.is_empty());
    while runs() {
        tokio::task::yield_now().await;
    }
}

#[test]
fn child_ends_with_its_parent() {
    let limits = serde_json::to_string(&Limits::default()).unwrap();
    let mut child = Command::new(CHILD).arg(limits).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut frame = |bytes: &[u8]| {
        input.write_all(&(bytes.len() as u32).to_be_bytes()).unwrap();
        input.write_all(bytes).unwrap();
    };
    frame(br#"{"name":"a.html","mediaType":null}"#);
    // Takes many seconds in a debug build.
    for _ in 0..60 {
        frame("<p><b>a <i>b</i></b>".repeat(50_000).as_bytes());
    }
    frame(b"");
    drop(input);
    assert_eq!(child.wait().unwrap().code(), Some(4));
}

#[test]
fn child_refuses_to_run_without_limits() {
    let output = Command::new(CHILD).stdin(Stdio::null()).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("is started by the server"));
}
