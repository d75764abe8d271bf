//! `chatwright backup` of a running server, and `chatwright restore`.

use crate::http::chunks;
use crate::process::Server;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tempfile::tempdir;

/// Runs a command; returns whether it succeeded, and its output.
pub(crate) fn run_command(arguments: &[&str]) -> (bool, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_chatwright")).args(arguments).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(text).unwrap())
}

fn database_url(folder: &Path) -> String {
    format!("sqlite://{}/chat.db", folder.display())
}

fn file_mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[tokio::test]
async fn backup_under_load_contains_acknowledged_data() {
    let (folder, elsewhere) = (tempdir().unwrap(), tempdir().unwrap());
    let (from, to) = (database_url(folder.path()), database_url(&elsewhere.path().join("new")));
    let file = elsewhere.path().join("backup.tar");
    let (file_text, restore) = (file.to_str().unwrap(), |to: &str, more: &[&str]| {
        run_command(&[&["restore", "--from", file.to_str().unwrap(), "--database", to], more].concat())
    });
    let server = Arc::new(Server::start_on(&from));
    fs::create_dir(folder.path().join("attachments")).unwrap();
    fs::write(folder.path().join("attachments/a.txt"), "Ada").unwrap();
    chunks(server.message("before", "hello").send().await.unwrap()).await;
    // The backup is made while messages are answered.
    let over = Arc::new(AtomicBool::new(false));
    let load = tokio::spawn({
        let (server, over) = (server.clone(), over.clone());
        async move {
            let mut turns = 0;
            while !over.load(Ordering::Relaxed) {
                let name = format!("load{turns}");
                let four = [0, 1, 2, 3].map(|n| server.message(&format!("{name}-{n}"), "hello").send());
                for answer in futures::future::join_all(four).await {
                    assert_eq!(chunks(answer.unwrap()).await.last().unwrap()["type"], "finish");
                }
                turns += 1;
            }
            turns
        }
    });
    let copied = {
        let (from, file) = (from.clone(), file_text.to_owned());
        tokio::task::spawn_blocking(move || run_command(&["backup", "--to", &file, "--database", &from])).await.unwrap()
    };
    over.store(true, Ordering::Relaxed);
    assert!(load.await.unwrap() > 0);
    assert!(copied.0 && copied.1.contains("checked"), "{}", copied.1);
    assert_eq!(file_mode(&file), 0o600);
    let (again, text) = run_command(&["backup", "--to", file_text, "--database", &from]);
    assert!(!again && text.contains("already exists"), "{text}");
    // A database that is in use is not replaced.
    let (done, text) = restore(&from, &["--force"]);
    assert!(!done && text.contains("a server has it open; stop it first"), "{text}");

    let (done, text) = restore(&to, &[]);
    assert!(done, "{text}");
    let (again, text) = restore(&to, &[]);
    assert!(!again && text.contains("--force"), "{text}");
    assert!(restore(&to, &["--force"]).0);
    let new = elsewhere.path().join("new");
    assert_eq!(fs::read_to_string(new.join("attachments/a.txt")).unwrap(), "Ada");
    assert_eq!(
        (file_mode(&new), file_mode(&new.join("chat.db")), file_mode(&new.join("attachments/a.txt"))),
        (0o700, 0o600, 0o600)
    );
    let restored = Server::start_on(&to);
    assert_eq!(restored.conversation("before").await["messages"].as_array().unwrap().len(), 2);
    chunks(restored.message("before", "hello again").send().await.unwrap()).await;
}

#[test]
fn damaged_backups_are_rejected_without_changes() {
    let (folder, elsewhere) = (tempdir().unwrap(), tempdir().unwrap());
    let (from, to) = (database_url(folder.path()), database_url(elsewhere.path()));
    drop(Server::start_on(&from));
    let file = folder.path().join("backup.tar");
    let file_text = file.to_str().unwrap();
    assert!(run_command(&["backup", "--to", file_text, "--database", &from]).0);
    let good = fs::read(&file).unwrap();
    let check = |bytes: &[u8], expected: &str| {
        fs::write(&file, bytes).unwrap();
        let (done, text) = run_command(&["restore", "--from", file_text, "--database", &to]);
        assert!(!done && text.contains(expected), "{text}");
        assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
    };
    let mut flipped = good.clone();
    flipped[512 + 5000] ^= 1;
    check(&flipped, "`chatwright.db` is missing or damaged");
    check(&good[..good.len() / 2], "is not a Chatwright backup, or is truncated");
    check(b"hello", "is not a Chatwright backup, or is truncated");
    let outside = String::from_utf8_lossy(&good).find("chatwright.db").unwrap();
    let mut renamed = good.clone();
    renamed[outside..outside + 13].copy_from_slice(b"../../evil.db");
    // The checksum of the tar header.
    let sum: u32 = renamed[..148].iter().chain(&renamed[156..512]).map(|byte| u32::from(*byte)).sum::<u32>() + 8 * 32;
    renamed[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    check(&renamed, "`../../evil.db` does not belong in a backup");
    let (done, text) = run_command(&["backup", "--to", file_text, "--database", "sqlite::memory:"]);
    assert!(!done && text.contains("a database in memory has no file to back up or restore"), "{text}");
}
