//! Tests of the processes that run scripts. They are processes of this test program.

use super::emulated::{ServerFiles, run_script_process};
use super::files::ContentSource;
use super::protocol::{Answer, Done, Message, ReadOutcome, Start, send};
use super::script_shell::{Conversation, Helpers, ScriptShell};
use super::{Shell, ShellError, ShellRequest};
use crate::section::ShellSettings;
use crate::tests::houses;
use contract::CallReports;
use futures::FutureExt;
use parking_lot::Mutex;
use serde_json::json;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc::unbounded_channel;

/// Returns a shell whose processes are those below.
pub(crate) fn test_shell() -> ScriptShell {
    let arguments = |process: &str| {
        let test = format!("shell::process_tests::{process}");
        ["--exact", &test, "--include-ignored", "--test-threads=1"].map(str::to_owned).to_vec()
    };
    let started = |process: &str| arguments(process).into_iter().map(Into::into).collect();
    ScriptShell::with_helpers(Helpers {
        program: child_process::own_program(),
        emulated: started("emulated_process"),
        programs: started("programs_process"),
        confined: arguments("confined_process"),
    })
}

/// Runs a script as the other tests ask for it: they start it in another process.
#[test]
#[ignore = "the other tests start it in a process of its own"]
fn emulated_process() {
    run_script_process();
}

/// The same with the programs of the machine.
#[test]
#[ignore = "the other tests start it in a process of its own"]
#[cfg(target_os = "linux")]
fn programs_process() {
    super::run_programs_process();
}

/// The first process of a sandbox.
#[test]
#[ignore = "the other tests start it in a process of its own"]
#[cfg(target_os = "linux")]
fn confined_process() {
    super::run_confined();
}

/// Returns the processes that a process has started and that have not ended.
pub(super) fn children_of(id: &str) -> Vec<String> {
    let Ok(tasks) = std::fs::read_dir(format!("/proc/{id}/task")) else { return Vec::new() };
    let lists = tasks.filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("children")).ok());
    lists.flat_map(|list| list.split_whitespace().map(str::to_owned).collect::<Vec<_>>()).collect()
}

/// Returns the processes of scripts that this process has started and that have not ended.
pub(super) fn scripts() -> Vec<String> {
    let command = |id: &String| std::fs::read_to_string(format!("/proc/{id}/cmdline")).unwrap_or_default();
    let children = children_of("self").into_iter();
    children.filter(|id| command(id).contains("process_tests::emulated_process")).collect()
}

/// A script that was stopped is gone, also while a command of it computes.
#[tokio::test(flavor = "multi_thread")]
async fn stop_ends_the_process() {
    let house = houses(json!({})).await.remove(0);
    let shell = test_shell();
    let request = |script: &str| ShellRequest {
        script: script.to_owned(),
        workspace: house.workspace("ada", "c"),
        settings: ShellSettings { timeout: Duration::from_secs(60), ..ShellSettings::default() },
        container: None,
        reports: CallReports::default(),
    };
    for script in ["sleep 50", "while :; do :; done", "while :; do awk 'BEGIN { while (i < 900000) i++ }'; done"] {
        let request = request(script);
        let started = async {
            while scripts().is_empty() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            // Until the script itself runs.
            tokio::time::sleep(Duration::from_millis(1500)).await;
        };
        tokio::select! {
            ended = shell.run(request) => panic!("{script}: {ended:?}"),
            () = started => {}
        }
        let began = Instant::now();
        while !scripts().is_empty() {
            assert!(began.elapsed() < Duration::from_secs(40), "{script} still runs");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
    assert_eq!(shell.run(request("echo one")).await.unwrap().stdout, b"one\n");
}

/// After the first script, a process waits for the next one. No process runs a second script.
#[tokio::test(flavor = "multi_thread")]
async fn each_script_has_a_process_of_its_own() {
    let house = houses(json!({})).await.remove(0);
    let shell = test_shell();
    // Waits until this number of processes wait for a script; returns the last one.
    let left = async |expected: usize, have_run: &[Option<String>]| {
        let began = Instant::now();
        loop {
            let mut scripts = scripts();
            let is_new = |script: &String| !have_run.iter().any(|known| known.as_ref() == Some(script));
            if scripts.len() == expected && scripts.iter().all(is_new) {
                return scripts.pop();
            }
            assert!(began.elapsed() < Duration::from_secs(40), "{scripts:?}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    assert_eq!(left(0, &[]).await, None);
    let mut waited = Vec::new();
    for script in ["echo one", "echo two", "while :; do :; done", "echo three"] {
        let request = ShellRequest {
            script: script.to_owned(),
            workspace: house.workspace("ada", "c"),
            settings: ShellSettings { timeout: Duration::from_secs(60), ..ShellSettings::default() },
            container: None,
            reports: CallReports::default(),
        };
        let Some(printed) = script.strip_prefix("echo ") else {
            // The script is stopped. Its process ends, and no other one waits.
            let _ = tokio::time::timeout(Duration::from_millis(1500), shell.run(request)).await;
            assert_eq!(left(0, &[]).await, None);
            continue;
        };
        assert_eq!(shell.run(request).await.unwrap().stdout, format!("{printed}\n").into_bytes());
        // The process that waits runs the next script, and then ends.
        waited.push(left(1, &waited).await);
    }
    drop(shell);
    assert_eq!(left(0, &[]).await, None);
}

/// If a script overflows the stack or takes too much memory, its process ends, and the model is told why.
#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_dies_is_explained() {
    let house = houses(json!({})).await.remove(0);
    let shell = test_shell();
    // Far more time than it takes, so that a busy machine does not end the script for another reason.
    let settings =
        ShellSettings { timeout: Duration::from_secs(600), memory_bytes: Some(4 << 20), ..ShellSettings::default() };
    for (script, expected) in [
        (format!("{} echo x", "time ".repeat(3_000)), "its commands are nested too deeply"),
        (
            "xxd -c 100000000000 /uploads/x; echo x > y; xxd -c 100000000000 y".to_owned(),
            "it used more memory than it may",
        ),
    ] {
        let request = ShellRequest {
            script,
            workspace: house.workspace("ada", "c"),
            settings,
            container: None,
            reports: CallReports::default(),
        };
        match shell.run(request).await {
            Err(ShellError::Ended(reason)) => assert_eq!(reason, expected),
            other => panic!("{expected}: {other:?}"),
        }
    }
}

/// A command can be ended while it waits for the content of a file. The next command must not get that content.
#[tokio::test]
async fn the_answer_to_an_ended_command_is_not_taken_for_another() {
    let (output, _server) = UnixStream::pair().unwrap();
    let (answers, received) = unbounded_channel();
    let source = ServerFiles::new(Arc::new(Mutex::new(output)), received);
    assert!(source.read("/workspace/a").now_or_never().is_none());
    for (no, content) in [(1, "of a"), (2, "of b")] {
        answers.send((Answer { no, outcome: ReadOutcome::Content }, content.into())).unwrap();
    }
    let content = source.read("/workspace/b").await;
    assert_eq!(content.ok().as_deref(), Some(&b"of b"[..]));
}

/// The server limits what it accepts from a process, also if a script has taken it over.
#[tokio::test]
async fn the_server_takes_only_so_much_of_a_process() {
    let house = houses(json!({})).await.remove(0);
    let (workspace, settings) =
        (house.workspace("ada", "c"), ShellSettings { memory_bytes: Some(1 << 20), ..ShellSettings::default() });
    let tree = workspace.tree().await.unwrap();
    let outcome = async |messages: &[(Message, usize)]| {
        let (mut ours, mut theirs) = tokio::net::UnixStream::pair().unwrap();
        let say = async {
            for (message, bytes) in messages {
                if send(&mut theirs, message, &vec![b'x'; *bytes]).await.is_err() {
                    break;
                }
            }
            drop(theirs);
        };
        tokio::join!(
            async {
                let start = Start {
                    script: String::new(),
                    settings,
                    limits: workspace.limits,
                    files: Vec::new(),
                    confined: Vec::new(),
                };
                let reports = CallReports::default();
                let conversation =
                    Conversation { start: &start, tree: &tree, workspace: &workspace, reports: &reports };
                let said = conversation.answer(&mut ours).await;
                drop(ours);
                said
            },
            say
        )
        .0
    };
    let written = |name: &str| Message::Written(format!("/workspace/{name}"));
    let done = Message::Done(Done::default());
    assert!(outcome(&[(written("a"), 1 << 20), (done, 0)]).await.is_ok());
    assert!(outcome(&[(written("a"), 1 << 20), (written("b"), (1 << 20) + 1)]).await.is_err());
    assert!(outcome(&[(written("a"), 9 << 20)]).await.is_err());
    assert!(outcome(&[(written(&"a".repeat(3 << 20)), 0)]).await.is_err());
    assert!(outcome(&[]).await.is_err());
    let ended = outcome(&[(Message::Ended("x".repeat(1 << 20)), 0)]).await.unwrap();
    assert_eq!(ended.unwrap_err(), ShellError::Ended("x".repeat(1_000)));
}
