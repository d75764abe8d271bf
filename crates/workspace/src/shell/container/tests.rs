//! Scripts in containers. They are skipped, and say so, where there is no Podman, or the engine that the environment names.

use super::engine::is_gvisor;
use super::probe::probe;
use crate::section::{ContainerKey, ShellSettings};
use crate::shell::escape_tests::control;
use crate::shell::sandbox_tests::until;
use crate::shell::{ScriptShell, Shell, ShellError, ShellOutput, ShellRequest};
use crate::tests::{House, houses};
use contract::CallReports;
use futures::FutureExt;
use serde_json::json;
use std::fs;
use std::io::Write;
use std::net::{TcpListener, UdpSocket};
use std::os::unix::net::UnixListener;
use std::process::{Command, Stdio};
use std::sync::{Arc, LazyLock};
use std::time::Duration;
use tar::{Builder, EntryType, Header};

/// An image for the tests, instead of the one that they make of a Busybox that is linked statically.
const IMAGE: &str = "CHATWRIGHT_TEST_IMAGE";
/// Another engine (`docker`), and a runtime of it, such as `runsc`.
const ENGINE: &str = "CHATWRIGHT_TEST_ENGINE";
const RUNTIME: &str = "CHATWRIGHT_TEST_RUNTIME";
/// Tells the process that is killed what its script does.
const SCRIPT: &str = "CHATWRIGHT_TEST_CONTAINER_SCRIPT";
/// It is made once on a machine, so a change of the programs needs another name.
const OWN_IMAGE: &str = "localhost/chatwright-test:1";
const PROGRAMS: &str = "sh cat ls tar chmod rm id grep touch sleep kill head tr wc seq find ps mkdir ln mkfifo echo mount unshare chroot \
     nc sync env cp mv";

static TEST_IMAGE: LazyLock<Result<String, String>> = LazyLock::new(|| match std::env::var(IMAGE) {
    Ok(image) => Ok(image),
    Err(_) => make_image().map(|()| OWN_IMAGE.to_owned()),
});

static TEST_ENGINE: LazyLock<String> = LazyLock::new(|| std::env::var(ENGINE).unwrap_or_else(|_| "podman".to_owned()));

/// Makes an image of the Busybox of this machine, unless it is there.
fn make_image() -> Result<(), String> {
    let mut inspect = Command::new(&*TEST_ENGINE);
    inspect.args(["image", "inspect", OWN_IMAGE]).stdout(Stdio::null()).stderr(Stdio::null());
    if inspect.status().map_err(|_| format!("`{}` is not installed", *TEST_ENGINE))?.success() {
        return Ok(());
    }
    let busybox = fs::read("/bin/busybox").map_err(|_| "Busybox is not installed".to_owned())?;
    let mut image = Builder::new(Vec::new());
    let mut header = Header::new_gnu();
    header.set_mode(0o755);
    header.set_size(busybox.len() as u64);
    image.append_data(&mut header, "bin/busybox", &busybox[..]).unwrap();
    for program in PROGRAMS.split(' ') {
        let mut header = Header::new_gnu();
        header.set_entry_type(EntryType::Symlink);
        header.set_size(0);
        image.append_link(&mut header, format!("bin/{program}"), "busybox").unwrap();
    }
    let image = image.into_inner().unwrap();
    let mut import = Command::new(&*TEST_ENGINE);
    import.args(["import", "-", OWN_IMAGE]).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut import = import.spawn().map_err(|error| error.to_string())?;
    import.stdin.take().unwrap().write_all(&image).unwrap();
    import.wait().unwrap().success().then_some(()).ok_or_else(|| "no image can be imported".to_owned())
}

/// A house of Ada, and what scripts do in it.
struct Cell {
    house: House,
    shell: ScriptShell,
    settings: ShellSettings,
    key: Arc<ContainerKey>,
}

impl Cell {
    /// Returns `None`, and says why, where this machine has no containers.
    async fn new() -> Option<Self> {
        let image = match &*TEST_IMAGE {
            Ok(image) => image,
            Err(reason) => {
                assert!(std::env::var_os("CONTAINERS_REQUIRED").is_none(), "{reason}");
                eprintln!("SKIPPED, NOT TESTED: there are no containers on this machine: {reason}");
                return None;
            }
        };
        let limits = json!({ "fileBytes": 100_000, "bytes": 200_000, "files": 20 });
        let shell = json!({ "level": "container", "timeoutSeconds": 120, "memoryBytes": 64 << 20, "processes": 24 });
        let mut container = json!({ "image": image, "engine": *TEST_ENGINE });
        if let Ok(runtime) = std::env::var(RUNTIME) {
            container["runtime"] = json!(runtime);
        }
        let settings = json!({ "shell": shell, "container": container, "limits": limits });
        let house = houses(settings).await.remove(0);
        let (settings, key) = (house.settings.shell.settings().unwrap(), house.settings.container.clone().unwrap());
        assert_eq!(probe(&key, &settings), Ok(()));
        Some(Self { house, shell: ScriptShell::default(), settings, key: Arc::new(key) })
    }

    async fn run_as(&self, owner: &str, id: &str, script: &str) -> Result<ShellOutput, ShellError> {
        let (workspace, reports) = (self.house.workspace(owner, id), CallReports::default());
        let (script, settings, container) = (script.to_owned(), self.settings, Some(self.key.clone()));
        self.shell.run(ShellRequest { script, workspace, settings, container, reports }).await
    }

    /// Returns all that a script of Ada prints.
    async fn run(&self, script: &str) -> String {
        match self.run_as("ada", "c", script).await {
            Ok(output) => String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned(),
            Err(ShellError::Ended(reason)) => format!("ended: {reason}"),
            Err(other) => panic!("{script}: {other:?}"),
        }
    }
}

/// Returns the containers of a process, which run or are being removed.
fn containers_of(process: u32) -> Vec<String> {
    let mut list = Command::new(&*TEST_ENGINE);
    let output = list.args(["ps", "--all", "--filter", "label=chatwright=shell", "--format", "{{.Names}}"]).output();
    let names = String::from_utf8(output.unwrap().stdout).unwrap();
    let of_process = |name: &&str| name.split('-').rev().nth(2) == Some(&process.to_string());
    names.lines().filter(of_process).map(str::to_owned).collect()
}

fn own_containers() -> usize {
    containers_of(std::process::id()).len()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_machine_without_the_image_is_told_what_to_do() {
    let Some(cell) = Cell::new().await else { return };
    let key = ContainerKey { image: "localhost/of-nobody:1".to_owned(), ..(*cell.key).clone() };
    let expected = format!(
        "the image `localhost/of-nobody:1` is not on this machine: run `{} pull localhost/of-nobody:1`",
        *TEST_ENGINE
    );
    assert_eq!(probe(&key, &cell.settings), Err(expected));
}

#[tokio::test(flavor = "multi_thread")]
async fn files_are_copied_in_and_out() {
    let Some(cell) = Cell::new().await else { return };
    let write = |path: &str, content: &str| cell.house.call("write_file", json!({ "path": path, "content": content }));
    write("a.txt", "one\n").await;
    write("d/b.txt", "two\n").await;
    let script = "cat a.txt d/b.txt; echo three > /outputs/c.txt; rm a.txt; echo kept > /tmp/t; ln -s /bin l; mkfifo p; sleep 577301 &";
    let mut output = cell.run_as("ada", "c", script).await.unwrap();
    output.left_out.sort();
    assert_eq!((String::from_utf8_lossy(&output.stdout).as_ref(), output.exit_code), ("one\ntwo\n", 0), "{output:?}");
    let changes: Vec<_> =
        output.changes.iter().map(|change| format!("{} {}", change.path, change.content.is_some())).collect();
    assert_eq!(changes, ["/workspace/a.txt false", "/outputs/c.txt true"]);
    assert_eq!(output.left_out, ["\"/workspace/l\": it is a link", "\"/workspace/p\": it is a pipe"]);
    // The next script of the conversation is in the same container, on what is stored.
    let kept = cell.run("cat /tmp/t; find . /outputs -type f | sort; ps | grep -c '57730[1]'").await;
    assert_eq!(
        kept, "kept\n./a.txt\n./d/b.txt\n0\n",
        "nothing of the script before was stored, and nothing of it runs"
    );
    assert_eq!(own_containers(), 1);
    // Another conversation has another one.
    assert_eq!(cell.run_as("bob", "d", "cat /tmp/t; ls").await.unwrap().stdout, b"");
    assert_eq!(own_containers(), 2);
    let failed = cell.run_as("ada", "c", "exit 7").await.unwrap();
    assert_eq!(failed.exit_code, 7);
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_outside_is_reached() {
    let Some(cell) = Cell::new().await else { return };
    cell.house.call("write_file", json!({ "path": "own.txt", "content": "of ada\n" })).await;
    assert!(cell.run("cat own.txt").await.contains("of ada"));
    for (owner, id) in [("bob", "d"), ("bob", "c"), ("ada", "d")] {
        let output =
            cell.run_as(owner, id, "cat /workspace/own.txt; grep -rs 'of ada' /workspace /outputs /tmp /dev/shm").await;
        assert_eq!(output.unwrap().stdout, b"", "{owner} {id}");
    }
    // Files, the environment and processes of the machine.
    let mut marker = tempfile::NamedTempFile::new().unwrap();
    writeln!(marker, "hunter2").unwrap();
    let (path, server) = (marker.path().display(), std::process::id());
    for script in [
        format!("cat {path}"),
        format!("cat /proc/{server}/root{path}"),
        format!("for p in /proc/[0-9]*; do cat $p/root{path} 2>/dev/null; done"),
        format!("ln -s {path} stolen; cat stolen"),
        "env".to_owned(),
        "cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n'".to_owned(),
    ] {
        assert!(control(&script).contains("hunter2"), "this attempt is no real one: {script}");
        let got = cell.run(&script).await;
        assert!(!got.contains("hunter2") && !got.contains("CARGO_"), "{script}: {got}");
    }
    let script = format!("kill -0 {server} && echo reached");
    assert_eq!((control(&script).as_str(), cell.run(&script).await.contains("reached")), ("reached\n", false));
    // The script may not change these paths, and does not get these rights.
    let paths = ["/etc/x", "/bin/x", "/x", "/script/run", "/uploads/x", "/proc/sys/kernel/hostname", "/sys/x"];
    let script = paths.map(|path| format!("(echo x > {path}) 2>/dev/null || echo refused {path}\n")).concat();
    assert_eq!(cell.run(&script).await, paths.map(|path| format!("refused {path}\n")).concat());
    let rights = cell.run("grep -E '^(Cap|NoNewPrivs|Uid)' /proc/self/status | tr '\\t' ' '").await;
    // gVisor has no such line, and no programs that give rights.
    let no_more = if is_gvisor(&cell.key) { "" } else { "NoNewPrivs: 1" };
    for line in ["Uid: 65534", "CapEff: 0000000000000000", "CapBnd: 0000000000000000", no_more] {
        assert!(rights.contains(line), "{rights}");
    }
    for script in ["mount -t tmpfs x /tmp", "unshare -m true", "chroot / true", "kill -9 1"] {
        assert_ne!(cell.run_as("ada", "c", script).await.unwrap().exit_code, 0, "{script}");
    }
    assert_eq!(cell.run("echo alive").await, "alive\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn no_network_is_reached() {
    let Some(cell) = Cell::new().await else { return };
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    tcp.set_nonblocking(true).unwrap();
    udp.set_nonblocking(true).unwrap();
    let (tcp_port, udp_port) = (tcp.local_addr().unwrap().port(), udp.local_addr().unwrap().port());
    let mut datagram = [0; 16];
    control(&format!("exec 3<>/dev/tcp/127.0.0.1/{tcp_port}"));
    assert!(tcp.accept().is_ok(), "this attempt is no real one");
    let by_udp = format!("busybox timeout 2 busybox tftp -g -r x 127.0.0.1 {udp_port}");
    control(&by_udp);
    assert!(udp.recv(&mut datagram).is_ok(), "this attempt is no real one");
    // The control has sent more than one.
    while udp.recv(&mut datagram).is_ok() {}
    cell.run(&format!("echo hi | nc -w 1 127.0.0.1 {tcp_port}; {by_udp}")).await;
    assert!(tcp.accept().is_err() && udp.recv(&mut datagram).is_err());
    assert_eq!(cell.run("ls /sys/class/net").await, "lo\n");
    // The metadata of clouds. There is no route, so it fails at once.
    assert!(!cell.run("echo hi | nc -w 1 169.254.169.254 80 && echo reached").await.contains("reached"));
    // A socket of the machine, such as that of the engine.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let _listener = UnixListener::bind(&path).unwrap();
    let script = format!("[ -S {} ] && echo there", path.display());
    assert_eq!((control(&script).as_str(), cell.run(&script).await.as_str()), ("there\n", ""));
    assert_eq!(cell.run("find / -type s 2>/dev/null").await, "");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_script_uses_is_bounded() {
    let Some(mut cell) = Cell::new().await else { return };
    // Memory: of all processes with their files. The container stays, also if several processes are ended at once.
    for _ in 0..3 {
        match cell.run_as("ada", "c", "x=$(head -c 200000000 /dev/zero | tr '\\0' x); echo ${#x}").await {
            Ok(output) => {
                let printed = String::from_utf8_lossy(&output.stdout);
                assert!(output.exit_code != 0 && !printed.contains("200000000"), "{output:?}");
            }
            // Its kernel is a process of the container, too.
            Err(ShellError::Ended(_)) if is_gvisor(&cell.key) => {}
            Err(other) => panic!("{other:?}"),
        }
    }
    // Processes.
    let got = cell.run("for i in $(seq 60); do sleep 577302 & done; echo all").await;
    assert!(!got.contains("all\n"), "{got}");
    assert_eq!(cell.run("seq 2 | cat | tail -n 1 || echo 2").await.lines().last(), Some("2"));
    // Files, in number and size.
    let got = cell.run("head -c 900000 /dev/zero > t 2>/dev/null || echo no room; rm t").await;
    assert_eq!(got, "no room\n");
    let output = cell.run_as("ada", "c", "head -c 150000 /dev/zero > t").await.unwrap();
    assert_eq!(output.refused.as_deref(), Some("`/workspace/t` is too large: a file may have 100000 bytes"));
    let output = cell.run_as("ada", "c", "for i in $(seq 30); do : > $i; done").await.unwrap();
    assert_eq!(output.refused.as_deref(), Some("a conversation may have 20 files"));
    // Output.
    let output = cell.run_as("ada", "c", "head -c 6000000 /dev/zero").await.unwrap();
    assert_eq!((output.stdout.len(), output.is_truncated), (4 << 20, true));
    // Time. The container ends with everything in it.
    cell.settings.timeout = Duration::from_secs(2);
    let ended = cell.run_as("ada", "d", "trap '' TERM INT HUP; sleep 577303").await;
    assert_eq!(ended.unwrap_err(), ShellError::Ended("it took longer than 2 s".to_owned()));
    until("the container ends", || own_containers() <= 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn three_containers_are_kept_and_stopping_ends_one() {
    let Some(cell) = Cell::new().await else { return };
    for id in ["a", "b", "c", "d"] {
        // Conversations that are not there have no files.
        cell.run_as("eve", id, "echo x > /tmp/t").await.unwrap();
    }
    until("the least recently used ends", || own_containers() == 3).await;
    assert_eq!(cell.run_as("eve", "b", "cat /tmp/t").await.unwrap().stdout, b"x\n");
    assert_eq!(cell.run_as("eve", "a", "cat /tmp/t").await.unwrap().stdout, b"");
    let mut running = Box::pin(cell.run_as("eve", "b", "sleep 577304"));
    let waited = tokio::time::timeout(Duration::from_secs(2), &mut running).await;
    assert!(waited.is_err() && (&mut running).now_or_never().is_none());
    drop(running);
    until("the container ends", || own_containers() == 2).await;
    drop(cell);
    until("all end with the server's shell", || own_containers() == 0).await;
}

/// The process to kill.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "run by the test below"]
async fn victim() {
    let Some(cell) = Cell::new().await else { return };
    cell.run_as("eve", "a", "echo x > /tmp/t").await.unwrap();
    let script = std::env::var(SCRIPT).unwrap();
    let _ = cell.run_as("eve", "b", &script).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_server_leaves_no_container() {
    let Some(_cell) = Cell::new().await else { return };
    let mut victim = test_process::command("shell::container::tests::victim", SCRIPT, "trap '' HUP TERM; sleep 577305");
    let mut victim = victim.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    // One that is kept, and one that runs a script.
    until("both run", || containers_of(victim.id()).len() == 2).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    victim.kill().unwrap();
    victim.wait().unwrap();
    until("both are gone", || containers_of(victim.id()).is_empty()).await;
}
