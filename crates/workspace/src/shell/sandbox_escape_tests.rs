//! The places that a script must not reach with the programs of the machine. Each attempt has a control that shows that
//! it is a real one: the same script in the Bash of this machine, outside of a sandbox.

use super::ShellError;
use super::escape_tests::control;
use super::sandbox_tests::{Cell, processes_with, until};
use serde_json::{Value, json};
use std::io::Write;
use std::net::{TcpListener, UdpSocket};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::time::{Duration, Instant};

fn small() -> Value {
    json!({ "level": "process", "timeoutSeconds": 120, "memoryBytes": 64 << 20, "processes": 24 })
}

/// Makes a file of the machine that everybody may read.
fn marker() -> tempfile::NamedTempFile {
    let mut marker = tempfile::NamedTempFile::new().unwrap();
    writeln!(marker, "hunter2").unwrap();
    std::fs::set_permissions(marker.path(), std::fs::Permissions::from_mode(0o644)).unwrap();
    marker
}

#[tokio::test(flavor = "multi_thread")]
async fn files_of_others_and_of_the_machine_are_not_reached() {
    let Some(cell) = Cell::new(small()).await else { return };
    cell.house.call("write_file", json!({ "path": "own.txt", "content": "of ada\n" })).await;
    // The control: the owner reads it by the same script.
    let script = "cat /workspace/own.txt; grep -rs 'of ada' /workspace /outputs /uploads /tmp /dev/shm";
    assert!(cell.run(script).await.contains("of ada"));
    for (owner, id) in [("bob", "d"), ("bob", "c"), ("ada", "d")] {
        let output = cell.run_as(owner, id, script).await.unwrap();
        assert!(!String::from_utf8_lossy(&output.stdout).contains("of ada"), "{owner} {id}");
    }
    let marker = marker();
    let (path, server) = (marker.path().display().to_string(), std::process::id());
    let attempts = [
        format!("cat {path}"),
        format!("cat /tmp/../../../../..{path}"),
        format!("ln -s {path} link; cat link"),
        format!("cp {path} copy; cat copy"),
        format!("exec 3<{path}; cat <&3"),
        format!("cat /proc/self/root{path}"),
        format!("cat /proc/{server}/root{path}"),
        format!("for p in /proc/[0-9]*; do cat $p/root{path} $p/cwd/..{path} 2>/dev/null; done"),
        format!("tar cf - {path} 2>/dev/null | tr -d '\\0'"),
        // No deeper than the file, since the control searches the whole machine.
        format!(
            "find / -xdev -maxdepth {} -name '{}' -exec cat {{}} + 2>/dev/null",
            marker.path().components().count(),
            marker.path().file_name().unwrap().to_str().unwrap()
        ),
    ];
    for script in attempts {
        assert!(control(&script).contains("hunter2"), "this attempt is no real one: {script}");
        let got = cell.run(&script).await;
        assert!(!got.contains("hunter2"), "{script}: {got}");
    }
    // A script cannot change a path that it cannot read.
    cell.run(&format!("echo x > {path}; chmod 777 {path}; rm {path}")).await;
    let paths = ["/etc/x", "/usr/x", "/x", "/dev/x", "/proc/sys/kernel/hostname", "/script/run", "/uploads/x"];
    let script = paths.map(|path| format!("(echo x > {path}) 2>/dev/null || echo refused {path}\n")).concat();
    assert_eq!(cell.run(&script).await, paths.map(|path| format!("refused {path}\n")).concat());
    assert_eq!(std::fs::read_to_string(marker.path()).unwrap(), "hunter2\n");
}

/// Links lead nowhere when files are taken out, also if they replace files in this moment.
#[tokio::test(flavor = "multi_thread")]
async fn links_are_not_followed_out() {
    let Some(cell) = Cell::new(small()).await else { return };
    let marker = marker();
    let path = marker.path().display();
    // The control: a reader outside is led to the file within a moment.
    let swap = format!("while :; do rm -rf x; ln -s {path} x; rm -rf x; echo hi > x; done & swapping=$!;");
    let script =
        format!("{swap} for i in $(seq 3000); do cat x 2>/dev/null | grep hunter2 && break; done; kill -9 $swapping");
    assert!(control(&script).contains("hunter2"), "this attempt is no real one");
    for script in [
        format!(
            "ln -s {path} stolen; ln -s {path} /outputs/stolen; ln -s / root; ln -s /proc/self/root/etc etc; ln -s /proc/1 one"
        ),
        format!("{swap} sleep 0.2"),
        "mkdir d; echo hi > d/passwd; (while :; do mv d e; ln -s /etc d; rm d; mv e d; done) & sleep 0.2".to_owned(),
        format!("cd /outputs; {swap} nohup sh -c 'while :; do ln -sf {path} y; done' >/dev/null 2>&1 & sleep 0.2"),
    ] {
        let output = cell.run_as("ada", "c", &script).await.unwrap();
        for change in &output.changes {
            let content = change.content.as_deref().unwrap_or_default();
            assert!(content.is_empty() || content == b"hi\n", "{script}: {}", change.path);
        }
        assert!(output.refused.is_none(), "{script}: {:?}", output.refused);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_environment_and_processes_are_not_reached() {
    let Some(cell) = Cell::new(small()).await else { return };
    for script in [
        "env",
        "echo $CHATWRIGHT_TEST_SECRET",
        "cat /proc/self/environ | tr '\\0' '\\n'",
        "cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n'",
        "declare -p",
    ] {
        assert!(control(script).contains("hunter2"), "this attempt is no real one: {script}");
        let got = cell.run(script).await;
        assert!(!got.contains("hunter2") && !got.contains("CARGO_"), "{script}: {got}");
    }
    let server = std::process::id();
    for script in [
        format!("tr '\\0' ' ' < /proc/{server}/cmdline"),
        "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' '".to_owned(),
        format!("kill -0 {server} && echo workspace-"),
    ] {
        assert!(control(&script).contains("workspace-"), "this attempt is no real one: {script}");
        let got = cell.run(&script).await;
        // Its own first process has the name of the test program, which is a path below this one.
        assert!(!got.contains("workspace-"), "{script}: {got}");
    }
    let ours = cell.run("ls /proc | grep -c '^[0-9]'").await.trim().parse::<usize>().unwrap();
    assert!(ours < 8 && processes_with("").len() > ours, "{ours}");
}

#[tokio::test(flavor = "multi_thread")]
async fn no_network_is_reached() {
    let Some(cell) = Cell::new(small()).await else { return };
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    tcp.set_nonblocking(true).unwrap();
    udp.set_nonblocking(true).unwrap();
    let (tcp_port, udp_port) = (tcp.local_addr().unwrap().port(), udp.local_addr().unwrap().port());
    let mut buffer = [0; 16];
    let (by_tcp, by_udp) = (
        format!("exec 3<>/dev/tcp/127.0.0.1/{tcp_port}; echo hi >&3"),
        format!("echo hi > /dev/udp/127.0.0.1/{udp_port}"),
    );
    control(&by_tcp);
    assert!(tcp.accept().is_ok(), "this attempt is no real one");
    control(&by_udp);
    assert!(udp.recv(&mut buffer).is_ok(), "this attempt is no real one");
    for script in [by_tcp, by_udp] {
        let got = cell.run(&script).await;
        assert!(got.contains("Function not implemented"), "{got}");
        assert!(tcp.accept().is_err() && udp.recv(&mut buffer).is_err(), "{script}");
    }
    // The addresses of a cloud's metadata and of names fail at once, in the same way as what is known to answer.
    for script in
        ["exec 3<>/dev/tcp/169.254.169.254/80", "echo > /dev/udp/169.254.169.254/53", "exec 3<>/dev/tcp/[::1]/80"]
    {
        let got = cell.run(script).await;
        assert!(
            got.contains("Function not implemented") || got.contains("Temporary failure") || got.contains("not known"),
            "{got}"
        );
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let _listener = UnixListener::bind(&path).unwrap();
    let script = format!("[ -S {} ] && echo there", path.display());
    assert_eq!(control(&script), "there\n");
    assert_eq!(cell.run(&script).await, "");
}

/// System calls, by their numbers on x86-64.
const CALLS: &[(&str, &str)] = &[
    ("a socket of the kind unix", "41, 1, 1, 0"),
    ("a socket of the kind TCP", "41, 2, 1, 0"),
    ("a socket of the kind UDP", "41, 2, 2, 0"),
    ("a socket of the kind TCP over IPv6", "41, 10, 1, 0"),
    ("a socket of the kind AF_ALG", "41, 38, 5, 0"),
    ("a socket of the kind AF_VSOCK", "41, 40, 1, 0"),
    ("a socket of the kind netlink", "41, 16, 3, 0"),
    ("ptrace", "101, 0, 0, 0, 0"),
    ("process_vm_readv", "310, $$, 0, 0, 0, 0, 0"),
    ("process_vm_writev", "311, $$, 0, 0, 0, 0, 0"),
    ("io_uring_setup", "425, 1, 0"),
    ("a user namespace", "272, 0x10000000"),
    ("a mount namespace", "272, 0x20000"),
    ("a network namespace", "272, 0x40000000"),
    ("setns", "308, -1, 0"),
    ("clone3", "435, 0, 0"),
    // Flags that no kernel takes together, so that the control starts no process.
    ("clone with a user namespace", "56, 0x10000200, 0, 0, 0, 0"),
    ("clone with a mount namespace", "56, 0x20200, 0, 0, 0, 0"),
    ("a session", "112"),
    ("a pair of sockets", "53, 1, 1, 0, 0"),
    ("personality", "135, 0xffffffff"),
    ("name_to_handle_at", "303, -1, 0, 0, 0, 0"),
    ("a call of the ABI x32", "0x40000027"),
    ("mount", "165, 0, 0, 0, 0, 0"),
    ("open_tree", "428, -1, 0, 0"),
    ("move_mount", "429, -1, 0, -1, 0, 0"),
    ("fsopen", "430, 0, 0"),
    ("fsconfig", "431, -1, 0, 0, 0, 0"),
    ("fsmount", "432, -1, 0, 0"),
    ("fspick", "433, -1, 0, 0"),
    ("mount_setattr", "442, -1, 0, 0, 0, 0"),
    ("chroot", "161, 0"),
    ("pivot_root", "155, 0, 0"),
    ("keyctl", "250, 0, -3, 0"),
    ("add_key", "248, 0, 0, 0, 0, 0"),
    ("bpf", "321, 0, 0, 0"),
    ("perf_event_open", "298, 0, 0, 0, 0, 0"),
    ("userfaultfd", "323, 1"),
    ("memfd_create", "319, 0, 0"),
    ("shared memory of System V", "29, 0, 4096, 0"),
    ("messages of System V", "68, 0, 0"),
    ("messages of POSIX", "240, 0, 0, 0, 0"),
    ("shared memory of a mapping", "9, 0, 4096, 3, 0x21, -1, 0"),
    ("a mapping that grows", "9, 0, 4096, 3, 0x122, -1, 0"),
    ("a mapping of huge pages", "9, 0, 4096, 3, 0x40022, -1, 0"),
    ("inotify", "294, 0"),
    ("fanotify", "300, 0, 0"),
    ("open_by_handle_at", "304, -1, 0, 0"),
    ("kexec_load", "246, 0, 0, 0, 0"),
    ("init_module", "175, 0, 0, 0"),
    ("setxattr", "188, 0, 0, 0, 0, 0"),
    ("pidfd_getfd", "438, -1, 0, 0"),
];

/// Each system call is known to the kernel outside, and unknown in the sandbox.
#[cfg(target_arch = "x86_64")]
#[tokio::test(flavor = "multi_thread")]
async fn system_calls_are_filtered() {
    let Some(cell) = Cell::new(small()).await else { return };
    if !Path::new("/usr/bin/perl").exists() {
        eprintln!("skipped: Perl makes the system calls, and is not installed");
        return;
    }
    let script: String = CALLS
        .iter()
        .map(|(name, arguments)| {
            // Each in a process of its own, which it may change.
            format!(
                "perl -e 'print syscall({arguments}) == -1 && $!{{ENOSYS}} ? \"refused\" : \"known\"'; echo ' {name}'\n"
            )
        })
        .collect();
    let (outside, inside) = (control(&script), cell.run(&script).await);
    assert_eq!(outside.lines().count(), CALLS.len(), "{outside}");
    for (line, (name, _)) in outside.lines().zip(CALLS) {
        if line != format!("known {name}") {
            eprintln!("no control: this kernel has no {name}");
        }
    }
    let expected: String = CALLS.iter().map(|(name, _)| format!("refused {name}\n")).collect();
    assert_eq!(inside, expected);
    // A nested sandbox.
    let nested = "bwrap --unshare-user --ro-bind / / echo nested; unshare -Ur echo nested; true";
    assert!(control(nested).contains("nested"), "this attempt is no real one");
    assert!(!cell.run(nested).await.contains("nested\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_script_uses_is_bounded() {
    let Some(mut cell) = Cell::new(small()).await else { return };
    // Processes. The control starts more than a sandbox may have.
    let many = "for i in $(seq 60); do sleep 577215 & done 2>/dev/null; jobs -p | wc -l; kill -9 $(jobs -p)";
    assert_eq!(control(many).lines().next(), Some("60"));
    let got = cell.run("for i in $(seq 60); do sleep 577215 & done; echo all").await;
    assert!(
        got.contains("fork") && !got.contains("all\n") || got.contains("Resource temporarily unavailable"),
        "{got}"
    );
    // A process that starts two of itself, without end.
    let mut most = 0;
    let count = async {
        let mut begun = None::<Instant>;
        while begun.is_none_or(|begun| begun.elapsed() < Duration::from_secs(2)) {
            most = most.max(processes_with("sleep\x00577216").len());
            if most > 0 && begun.is_none() {
                begun = Some(Instant::now());
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::select! {
        _ = cell.run("bomb() { sleep 577216 & bomb | bomb & }; bomb 2>/dev/null; sleep 100") => {}
        () = count => {}
    }
    assert!((1..=24).contains(&most), "{most}");
    for text in ["sleep\x00577215", "sleep\x00577216"] {
        until("the processes end", || processes_with(text).is_empty()).await;
    }
    assert_eq!(cell.run("seq 2 | cat | cat | tail -n 1").await, "2\n");

    // Files: 32 MB of temporary ones, also without a name.
    let write = "head -c 40000000 /dev/zero > t; wc -c < t";
    assert_eq!(control(write).trim(), "40000000");
    for script in [
        "cd /tmp; head -c 40000000 /dev/zero > t",
        "exec 3> /tmp/t; rm /tmp/t; head -c 40000000 /dev/zero >&3",
        "head -c 40000000 /dev/zero > /dev/shm/t",
    ] {
        let got = cell.run(script).await;
        assert!(got.contains("No space left on device"), "{script}: {got}");
    }
    let got = cell.run("cd /tmp; for i in $(seq 40000); do : > $i; done").await;
    assert_eq!(got, "ended: it made too many files and folders");
    // Folders whose path is longer than the system takes.
    let nest = "n=$(printf 'x%.0s' $(seq 250)); for i in $(seq 30); do mkdir $n && cd $n; done 2>/dev/null";
    let output = cell.run_as("ada", "c", nest).await.unwrap();
    let expected = "there are too many files and folders, or they are nested too deeply";
    assert_eq!(output.refused.as_deref(), Some(expected));

    // Memory: of a process, and of all together.
    let memory = "x=$(head -c 70000000 /dev/zero | tr '\\0' x); echo ${#x}";
    assert_eq!(control(memory).trim(), "70000000");
    let got = cell.run(memory).await;
    assert!(!got.contains("70000000"), "{got}");
    let together =
        "for i in 1 2 3 4 5; do (x=$(head -c 15000000 /dev/zero | tr '\\0' x); sleep 15; echo ${#x}) & done; wait";
    assert_eq!(cell.run(together).await, "ended: its processes used more memory than they may");

    // Time.
    cell.settings.timeout = Duration::from_secs(2);
    for script in ["sleep 100", "while :; do :; done", "trap '' TERM INT HUP; nohup sleep 100", "kill -STOP $$"] {
        match cell.run_as("ada", "c", script).await {
            Err(ShellError::Ended(reason)) => assert_eq!(reason, "it took longer than 2 s", "{script}"),
            other => panic!("{script}: {other:?}"),
        }
    }
}
