//! The work of scripts with the programs of the machine, and the processes that end with them.

use super::{ScriptShell, Shell, ShellError, ShellOutput, ShellRequest, test_shell};
use crate::section::{ShellLevel, ShellSettings};
use crate::source::WorkspaceSource;
use crate::tests::{House, houses};
use contract::{CallReport, CallReports, RunScope, ToolSource};
use serde_json::{Value, json};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Tells the process that is killed where the processes of its script are seen.
const MARK: &str = "WORKSPACE_SANDBOX_MARK";

/// A house of Ada, and what scripts do in it.
pub(super) struct Cell {
    pub(super) house: House,
    pub(super) shell: ScriptShell,
    pub(super) settings: ShellSettings,
}

impl Cell {
    /// Returns `None`, and says why, where this machine has no sandbox.
    pub(super) async fn new(shell: Value) -> Option<Self> {
        if let Err(reason) = test_shell().probe_programs() {
            let is_missing = reason.starts_with("`bwrap` was not found");
            let is_forbidden = reason.starts_with("bubblewrap cannot make a sandbox") && !has_namespaces();
            // A machine that builds releases has a kernel with Landlock.
            let is_old = reason.starts_with("Landlock") && std::env::var_os("CI").is_none();
            assert!(is_missing || is_forbidden || is_old, "{reason}");
            eprintln!("SKIPPED, NOT TESTED: there is no sandbox on this machine: {reason}");
            return None;
        }
        let limits = json!({ "fileBytes": 100_000, "bytes": 200_000, "files": 20 });
        let house = houses(json!({ "shell": shell, "limits": limits })).await.remove(0);
        let settings = house.settings.shell.settings().unwrap();
        Some(Self { house, shell: test_shell(), settings })
    }

    /// Calls the tool, and returns what the model reads.
    pub(super) async fn call(&self, script: &str) -> String {
        self.house.call("bash", json!({ "command": script })).await
    }

    pub(super) async fn run_as(&self, owner: &str, id: &str, script: &str) -> Result<ShellOutput, ShellError> {
        let (workspace, reports) = (self.house.workspace(owner, id), CallReports::default());
        let (script, settings, container) = (script.to_owned(), self.settings, None);
        self.shell.run(ShellRequest { script, workspace, settings, container, reports }).await
    }

    /// Returns all that a script of Ada prints.
    pub(super) async fn run(&self, script: &str) -> String {
        match self.run_as("ada", "c", script).await {
            Ok(output) => String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned(),
            Err(ShellError::Ended(reason)) => format!("ended: {reason}"),
            Err(other) => panic!("{script}: {other:?}"),
        }
    }
}

/// Returns whether bubblewrap is there and may make namespaces, for a user without privileges.
fn has_namespaces() -> bool {
    let mut command = Command::new("bwrap");
    command.args([
        "--unshare-user",
        "--unshare-pid",
        "--unshare-net",
        "--ro-bind",
        "/",
        "/",
        "--proc",
        "/proc",
        "true",
    ]);
    child_process::drop_privileges(&mut command);
    command.env_clear().env("PATH", "/usr/bin:/bin").stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

fn process() -> Value {
    json!({ "level": "process", "timeoutSeconds": 120, "memoryBytes": 256 << 20 })
}

/// Returns the processes of the machine whose arguments have a text.
pub(super) fn processes_with(text: &str) -> Vec<String> {
    let ids = std::fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let has_text = |id: &String| {
        let arguments = std::fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        id.parse::<u32>().is_ok() && String::from_utf8_lossy(&arguments).contains(text)
    };
    ids.filter(has_text).collect()
}

/// Returns the process that has made the sandbox of a process.
fn helper_of(id: &str) -> String {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap();
    let parent = status.lines().find_map(|line| line.strip_prefix("PPid:")).unwrap().trim();
    let arguments = std::fs::read_to_string(format!("/proc/{parent}/cmdline")).unwrap();
    if arguments.contains("process_tests::programs_process") { parent.to_owned() } else { helper_of(parent) }
}

/// Waits until it is so.
pub(super) async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < Duration::from_secs(120), "not within two minutes: {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn scripts_change_files_as_expected() {
    let Some(cell) = Cell::new(process()).await else { return };
    cell.house.call("write_file", json!({ "path": "own.txt", "content": "of ada\n" })).await;
    let check = async |script: &str, expected: &str| assert_eq!(cell.call(script).await, expected, "{script}");
    check(
        "mkdir -p data && printf 'b,2\\na,1\\n' > data/x.csv && sort data/x.csv | tee /outputs/sorted.csv",
        "a,1\nb,2\n[Written: /outputs/sorted.csv, /workspace/data/x.csv]\n[Exit code 0]",
    )
    .await;
    check(
        "sed -i 's/b/c/' data/x.csv; mv own.txt moved.txt; rm /outputs/sorted.csv; cat data/x.csv > data/y.csv",
        "[Written: /workspace/data/x.csv, /workspace/data/y.csv, /workspace/moved.txt]\n\
         [Deleted: /outputs/sorted.csv, /workspace/own.txt]\n[Exit code 0]",
    )
    .await;
    // Nothing is stored again that is as it was, also if it was written.
    check(
        "cat moved.txt > a; cat a > moved.txt; rm a; cd data; cp x.csv /tmp; ls; exit 3",
        "x.csv\ny.csv\n[Exit code 3]",
    )
    .await;
    check("awk -F, '{ s += $2 } END { print s }' data/x.csv", "3\n[Exit code 0]").await;
    check(
        "cat <(echo one) - < moved.txt; echo $HOME $PWD $(id -u)",
        "one\nof ada\n/workspace /workspace 1000\n[Exit code 0]",
    )
    .await;
    check("nothing-such", "[Errors]\n/script/run: line 1: nothing-such: command not found\n[Exit code 127]").await;
    check("kill -9 $$", "[Exit code 137]").await;
    check("chmod 000 moved.txt; mkdir -m 000 shut; echo x > x; chmod 000 x", "[Written: /workspace/x]\n[Exit code 0]")
        .await;
    // Only Landlock forbids it.
    check(
        "echo x >> /uploads/x || echo no",
        "no\n[Errors]\n/script/run: line 1: /uploads/x: Permission denied\n[Exit code 0]",
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_script_that_is_ended_changes_nothing() {
    let Some(cell) = Cell::new(json!({ "level": "process", "timeoutSeconds": 2 })).await else { return };
    let ended = cell.call("echo x > new; sleep 1000 & kill -STOP $$").await;
    assert_eq!(ended, "The script was ended, and nothing of it is stored: it took longer than 2 s.");
    assert!(!cell.house.call("ls", json!({})).await.contains("new"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_stored_is_said() {
    let Some(cell) = Cell::new(process()).await else { return };
    let check = async |script: &str, expected: &str| assert_eq!(cell.call(script).await, expected, "{script}");
    check(
        "ln -s /etc/passwd link; mkfifo pipe; echo x > 'a:b'; printf x > $'\\xff'; echo ok > ok",
        "[Written: /workspace/ok]\n\
         [Not stored: \"/workspace/a:b\": a name cannot contain the characters \\ : * ? \" < > |]\n\
         [Not stored: \"/workspace/link\": it is a link]\n\
         [Not stored: \"/workspace/pipe\": it is a pipe]\n\
         [Not stored: \"/workspace/\u{fffd}\": its name is not UTF-8]\n\
         [Exit code 0]",
    )
    .await;
    let refused = |reason: &str| format!("[None of the files that it changed is stored: {reason}.]\n[Exit code 0]");
    check("head -c 150000 /dev/zero > big", &refused("`/workspace/big` is too large: a file may have 100000 bytes"))
        .await;
    check(
        "for i in 1 2 3; do head -c 90000 /dev/zero > big$i; done",
        &refused("it wrote too much: all files may have 200000 bytes"),
    )
    .await;
    check("for i in $(seq 30); do echo > f$i; done", &refused("a conversation may have 20 files")).await;
    let output = cell.run_as("ada", "c", "yes | head -c 20000000; exit 5").await.unwrap();
    assert_eq!((output.stdout.len(), output.is_truncated, output.exit_code), (4 << 20, true, 5));
    assert!(
        cell.call("yes | head -c 20000000; exit 5").await.ends_with(
            "[The script wrote more than is kept: what is shown or was passed on is not all.]\n[Exit code 5]"
        )
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn attached_files_are_copied() {
    let Some(cell) = Cell::new(process()).await else { return };
    cell.house.attach("e", "a.csv", "text/csv", b"one,two\n").await;
    let read = cell.house.call_in("ada", "e", "bash", json!({ "command": "cat /uploads/a.csv" })).await;
    assert_eq!(read, "one,two\n[Exit code 0]");
}

/// The user sees what a script has written while it runs.
#[tokio::test(flavor = "multi_thread")]
async fn output_is_shown_while_a_script_runs() {
    let Some(cell) = Cell::new(process()).await else { return };
    let (sender, mut reports) = tokio::sync::mpsc::channel(8);
    let request = ShellRequest {
        // It continues until it is dropped.
        script: "echo one; echo two >&2; sleep 25".to_owned(),
        workspace: cell.house.workspace("ada", "c"),
        settings: cell.settings,
        container: None,
        reports: CallReports::new("call", sender),
    };
    tokio::select! {
        ended = cell.shell.run(request) => panic!("{ended:?}"),
        report = reports.recv() => {
            assert_eq!(report, Some(("call".to_owned(), CallReport::Progress("one\ntwo\n".into()))));
        }
    }
}

/// Processes that a script leaves running end with it.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_outlives_a_script() {
    let Some(cell) = Cell::new(process()).await else { return };
    let script = |seconds: u32| {
        format!(
            "sleep {seconds} & nohup sleep {seconds} >/dev/null 2>&1 & (sh -c '(trap \"\" TERM HUP; sleep {seconds}) & ' &); \
             exec 3>&1; (sleep {seconds} <&- >&3 &) ; sleep 0.3; echo done"
        )
    };
    // The control: outside of a sandbox they continue.
    let real = Command::new("bash").arg("-c").arg(script(271_801)).stdout(Stdio::null()).status().unwrap();
    assert!(real.success());
    until("all of them run", || processes_with("sleep\x00271801").len() >= 4).await;
    Command::new("kill").arg("-9").args(processes_with("sleep\x00271801")).status().unwrap();

    assert_eq!(cell.run(&script(271_802)).await, "done\n");
    // The kernel ends them with the first process of the sandbox, one after the other.
    until("the processes end", || processes_with("sleep\x00271802").is_empty()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_script_ends_with_all_its_processes() {
    let Some(cell) = Cell::new(process()).await else { return };
    let script = "nohup sleep 314151 & sleep 314151 & while :; do :; done";
    let started = until("the script starts", || processes_with("sleep\x00314151").len() == 2);
    tokio::select! {
        ended = cell.run(script) => panic!("{ended}"),
        () = started => {}
    }
    until("the processes end", || processes_with("sleep\x00314151").is_empty()).await;
    // A script that waits for its turn can be stopped as well.
    let (one, two) = (cell.run("sleep 314152"), cell.run("sleep 314152"));
    let mut waiting = Box::pin(cell.run("sleep 314153"));
    let stopped = async {
        until("both run", || processes_with("sleep\x00314152").len() >= 2).await;
        assert!(tokio::time::timeout(Duration::from_millis(300), &mut waiting).await.is_err());
        assert_eq!(processes_with("sleep\x00314153"), [""; 0]);
        drop(waiting);
    };
    tokio::select! {
        _ = one => panic!("it has ended"),
        _ = two => panic!("it has ended"),
        () = stopped => {}
    }
    until("the processes end", || processes_with("sleep\x00314152").is_empty()).await;
}

/// The process that is killed: runs a script without end.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "run by the test below"]
async fn victim() {
    let seconds = std::env::var(MARK).unwrap();
    let cell = Cell::new(process()).await.unwrap();
    cell.run(&format!("nohup sleep {seconds} & sleep {seconds}")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_killed_leaves_no_process() {
    if Cell::new(process()).await.is_none() {
        return;
    }
    let mut command = test_process::command("shell::sandbox_tests::victim", MARK, "161803");
    let mut server = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    until("the script runs", || processes_with("sleep\x00161803").len() == 2).await;
    server.kill().unwrap();
    server.wait().unwrap();
    until("the processes end", || processes_with("sleep\x00161803").is_empty()).await;
    // Neither does the process that makes the sandbox, if it is killed.
    let cell = Cell::new(process()).await.unwrap();
    let killed = async {
        until("the script runs", || processes_with("sleep\x00161804").len() == 1).await;
        let helper = helper_of(&processes_with("sleep\x00161804")[0]);
        Command::new("kill").args(["-9", &helper]).status().unwrap();
    };
    let (ended, ()) = tokio::join!(cell.run("sleep 161804"), killed);
    assert!(ended.starts_with("ended: "), "{ended}");
    until("the processes end", || processes_with("sleep\x00161804").is_empty()).await;
}

/// A sub-agent works at its own level or at that of the agent that was asked, whichever is stricter.
#[tokio::test]
async fn a_sub_agent_has_the_stricter_level() {
    let house = houses(json!({ "shell": { "level": "process", "memoryBytes": 1_u64 << 30 } })).await.remove(0);
    let settings = house.agent().at_level(ShellLevel::Virtual).settings.shell.settings().unwrap();
    assert_eq!((settings.level, settings.memory()), (ShellLevel::Virtual, 256 << 20));
    let scope = RunScope {
        user_id: "ada".to_owned(),
        conversation_id: "c".to_owned(),
        agent_id: "below".to_owned(),
        ..RunScope::default()
    };
    let check = async |asked: Option<ShellLevel>, own: ShellLevel, expected: ShellLevel| {
        let levels = asked.map(|level| ("helper".to_owned(), level)).into_iter().chain([("below".to_owned(), own)]);
        let source = WorkspaceSource::new(house.agent().at_level(own), "below", levels.collect());
        let tools = source.tools(&scope).await.unwrap().tools;
        let level = match tools.iter().find(|tool| tool.spec().name == "bash") {
            None => ShellLevel::None,
            Some(bash) if bash.spec().description.contains("It is emulated") => ShellLevel::Virtual,
            Some(_) => ShellLevel::Process,
        };
        assert_eq!(level, expected, "asked: {asked:?}, own: {own:?}");
    };
    let (none, emulated, process) = (ShellLevel::None, ShellLevel::Virtual, ShellLevel::Process);
    for (asked, own, expected) in [
        (none, none, none),
        (none, emulated, none),
        (none, process, none),
        (emulated, none, none),
        (emulated, emulated, emulated),
        (emulated, process, emulated),
        (process, none, none),
        (process, emulated, emulated),
        (process, process, process),
    ] {
        check(Some(asked), own, expected).await;
    }
    // The agent of the conversation has no workspace, and so no level.
    for own in [none, emulated, process] {
        check(None, own, own).await;
    }
}
