//! The places that a script must not reach. Each attempt has a control that shows that it is a real one: in most cases the
//! same script in the Bash of this machine, where it succeeds.

use super::process_tests::{children_of, scripts};
use super::{ScriptShell, ShellError, ShellOutput, ShellRequest, test_shell};
use crate::section::ShellSettings;
use crate::shell::Shell;
use crate::tests::{House, houses};
use contract::CallReports;
use serde_json::json;
use std::io::Write;
use std::net::TcpListener;
use std::process::Command;
use std::time::{Duration, Instant};

/// A house with a file of Ada, and the outcome of scripts in it.
struct Cell {
    house: House,
    shell: ScriptShell,
    settings: ShellSettings,
}

impl Cell {
    async fn new() -> Self {
        Self::with_timeout(30).await
    }

    async fn with_timeout(seconds: u64) -> Self {
        let house = houses(json!({
            "shell": { "timeoutSeconds": seconds },
            "limits": { "fileBytes": 100_000, "bytes": 200_000, "files": 20 }
        }))
        .await
        .remove(0);
        house.call("write_file", json!({ "path": "own.txt", "content": "of ada\n" })).await;
        let settings = ShellSettings {
            timeout: Duration::from_secs(seconds),
            memory_bytes: Some(4 << 20),
            ..ShellSettings::default()
        };
        Self { house, shell: test_shell(), settings }
    }

    async fn run_as(&self, owner: &str, id: &str, script: &str) -> Result<ShellOutput, ShellError> {
        let workspace = self.house.workspace(owner, id);
        self.shell
            .run(ShellRequest {
                script: script.to_owned(),
                workspace,
                settings: self.settings,
                container: None,
                reports: CallReports::default(),
            })
            .await
    }

    /// Returns all that a script of Ada prints.
    async fn run(&self, script: &str) -> String {
        match self.run_as("ada", "c", script).await {
            Ok(output) => shown(&output),
            Err(ShellError::Ended(reason)) => format!("ended: {reason}"),
            Err(ShellError::Busy | ShellError::Unavailable(_)) => "not run".to_owned(),
        }
    }
}

fn shown(output: &ShellOutput) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr[..]].concat()).into_owned()
}

/// Returns what the Bash of this machine prints for a script in an empty folder.
pub(super) fn control(script: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new("bash");
    command.arg("-c").arg(script).current_dir(folder.path()).env("CHATWRIGHT_TEST_SECRET", "hunter2");
    let output = command.output().unwrap();
    String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn files_of_others_and_of_the_machine_are_not_reached() {
    let cell = Cell::new().await;
    // The control: the owner reads it by the same script.
    assert_eq!(cell.run("cat own.txt").await, "of ada\n");
    for (owner, id) in [("bob", "d"), ("bob", "c"), ("ada", "d")] {
        let output = cell.run_as(owner, id, "cat /workspace/own.txt; ls -R /; find / -name own.txt").await.unwrap();
        assert!(!shown(&output).contains("of ada"), "{owner} {id}");
        assert!(!String::from_utf8_lossy(&output.stdout).contains("own.txt"), "{owner} {id}");
    }
    let mut marker = tempfile::NamedTempFile::new().unwrap();
    writeln!(marker, "hunter2").unwrap();
    let path = marker.path().display().to_string();
    let attempts = [
        format!("cat {path}"),
        format!("cat /tmp/../../../../..{path}"),
        format!("cd / && cat .{path}"),
        format!("ln -s {path} link; cat link"),
        format!("ln {path} link; cat link"),
        format!("source {path} 2>&1; . {path}; bash {path}; read -r line < {path}; echo $line"),
        format!("exec 3<{path}; cat <&3"),
        format!("cp {path} copy; cat copy"),
        format!("tar cf - {path} | tr -d '\\0'; tar cf a.tar {path}; tr -d '\\0' < a.tar"),
        format!("awk '{{print}}' {path}; sed -n p {path}; grep . {path}; dd if={path}"),
    ];
    for script in attempts {
        assert!(control(&script).contains("hunter2"), "this attempt is no real one: {script}");
        let got = cell.run(&script).await;
        assert!(!got.contains("hunter2"), "{script}: {got}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_environment_processes_and_the_network_are_not_reached() {
    let cell = Cell::new().await;
    for script in [
        "env",
        "printenv CHATWRIGHT_TEST_SECRET",
        "echo $CHATWRIGHT_TEST_SECRET",
        "cat /proc/self/environ | tr '\\0' '\\n'",
        "declare -p",
        "export -p",
    ] {
        assert!(control(script).contains("hunter2"), "this attempt is no real one: {script}");
        let got = cell.run(script).await;
        assert!(!got.contains("hunter2"), "{script}: {got}");
    }
    // The variables of this process, too, which starts that of the script.
    let (name, _) = std::env::vars().find(|(name, _)| name.starts_with("CARGO_")).unwrap();
    assert!(control("env").contains(&name));
    assert!(!cell.run("env; set; cat /proc/self/environ").await.contains(&name));

    let server = std::process::id().to_string();
    assert!(control(&format!("cat /proc/{server}/cmdline")).contains("workspace"));
    let got = cell.run(&format!("cat /proc/{server}/cmdline; ls /proc/{server}; ps aux; kill -9 {server}")).await;
    assert!(!got.contains("workspace-"), "{got}");

    for program in ["/bin/true", "/usr/bin/env true", "python3 -c 'print(1)'", "perl -e 'print 1'"] {
        // Not all are on every machine; none is here.
        let got = cell.run(&format!("{program} && touch /workspace/ran-{}", program.len())).await;
        assert!(!got.contains("panicked"), "{got}");
    }
    // The process of a script starts none.
    let script = "/usr/bin/sleep 3 & sleep 2; wait";
    let mut real = Command::new("bash").arg("-c").arg(script).spawn().unwrap();
    let began = Instant::now();
    while children_of(&real.id().to_string()).is_empty() {
        assert!(began.elapsed() < Duration::from_secs(20), "this attempt is no real one");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    real.kill().unwrap();
    real.wait().unwrap();
    let mut is_seen = false;
    let watch = async {
        loop {
            for id in scripts() {
                is_seen = true;
                assert!(children_of(&id).is_empty(), "the process of a script has started another one");
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::select! {
        _ = cell.run(script) => {}
        () = watch => {}
    }
    assert!(is_seen);

    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    control(&format!("exec 3<>/dev/tcp/127.0.0.1/{port}; echo hi >&3"));
    assert!(listener.accept().is_ok(), "this attempt is no real one");
    for script in [
        format!("exec 3<>/dev/tcp/127.0.0.1/{port}; echo hi >&3"),
        format!("echo hi > /dev/tcp/127.0.0.1/{port}"),
        format!(
            "curl -s http://127.0.0.1:{port}/; wget -qO- http://127.0.0.1:{port}/; nc 127.0.0.1 {port} </dev/null; ssh 127.0.0.1"
        ),
        format!("git clone http://127.0.0.1:{port}/a.git; http GET http://127.0.0.1:{port}/"),
    ] {
        cell.run(&script).await;
        assert!(listener.accept().is_err(), "{script}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_script_uses_is_bounded() {
    end_endless_scripts(3).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "thorough: takes minutes; run by cargo xtask test --thorough"]
async fn what_a_script_uses_is_bounded_thoroughly() {
    end_endless_scripts(1).await;
}

/// Runs one of `every` scripts that do not end by themselves.
async fn end_endless_scripts(every: usize) {
    let mut cell = Cell::new().await;
    // Controls: the same with a bound of its own ends by itself.
    assert_eq!(cell.run("for i in $(seq 1 1000); do :; done; echo done").await, "done\n");
    assert_eq!(cell.run("f() { [ $1 -gt 5 ] || f $(($1+1)); }; f 1; echo done").await, "done\n");
    assert_eq!(cell.run("x=a; for i in 1 2 3 4; do x=$x$x; done; echo ${#x}").await, "16\n");
    assert_eq!(cell.run("echo | awk 'BEGIN { while (i < 1000) i++; print i }'").await, "1000\n");
    assert_eq!(cell.run("head -c 1000 /dev/zero > a; wc -c < a").await.trim(), "1000");
    let ended = [
        // Every third is of another kind: a loop, processes, recursion, memory and output.
        "while :; do :; done",
        "until false; do x=$((x+1)); done",
        "x=a; while :; do x=$x$x; done",
        ":() { : | : & }; :",
        "f() { f | f & f; }; f; wait",
        "sleep 100",
        "f() { f; }; f",
        "awk 'BEGIN { x = \"a\"; while (1) x = x x }'",
        "awk 'BEGIN { while (1) i++ }'",
        "a=(); while :; do a+=(aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa); done",
        "sed ':a; s/$/a/; ta' own.txt",
        "yes > /dev/null",
        "cat /dev/zero > /dev/null",
        "eval \"$(printf 'eval %.0s' $(seq 1 5000)) :\"; while :; do :; done",
    ];
    cell.settings.timeout = Duration::from_secs(2);
    for script in ended.into_iter().step_by(every) {
        let got = cell.run(script).await;
        assert!(got.len() < 10_000, "{script}: {} bytes", got.len());
        assert!(!got.contains("the shell failed"), "{script}: {got}");
    }
    cell.settings.timeout = Duration::from_secs(30);
    assert_eq!(cell.run("cat own.txt").await, "of ada\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn deep_and_huge_input_does_not_end_the_server() {
    run_deep_and_huge_input(3).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "thorough: takes minutes; run by cargo xtask test --thorough"]
async fn deep_and_huge_input_does_not_end_the_server_thoroughly() {
    run_deep_and_huge_input(1).await;
}

/// Runs one of `every` scripts. Each of them may end its process, if the parser follows it to its end, or takes the
/// memory that it asks for.
async fn run_deep_and_huge_input(every: usize) {
    let cell = Cell::new().await;
    // Controls: the same commands do what is within the bounds.
    assert_eq!(cell.run("[ ! ! x ] && test '(' x ')' && find . ! '(' -name a ')' -name own.txt").await, "./own.txt\n");
    assert_eq!(cell.run("truncate -s 1000 x; wc -c < x").await.trim(), "1000");
    let many = |text: &str| text.repeat(20_000);
    let scripts = [
        "truncate -s 100P x".to_owned(),
        "truncate -s 200G x".to_owned(),
        format!("{} echo x", many("time ")),
        format!("eval {} echo x", many("eval ")),
        format!("{} echo x", many("xargs ")),
        "x='eval \"$x\"'; eval \"$x\"".to_owned(),
        "xxd -c 100000000000 own.txt".to_owned(),
        "dd if=/dev/zero bs=10G count=1 | wc -c".to_owned(),
        "printf '%1000000000d' 1 | wc -c".to_owned(),
        format!("echo '{}1' | bc", many("(")),
        format!("find . {} -name a", many("! ")),
        format!("find . {} -name a", many("'(' ")),
        format!("test {} x", many("! ")),
        format!("test {} x", many("'(' ")),
        format!("[ {} x ]", many("'(' ")),
        format!("[ x {} ]", many("-a x ")),
        format!("echo {} x | xargs test", many("! ")),
        format!("command test {} x", many("! ")),
        format!("echo $(({}1{}))", many("("), many(")")),
        format!("awk 'BEGIN {{ print {}1 }}'", many("(")),
    ];
    for script in scripts.iter().step_by(every) {
        // The next one is not run if this one keeps its place.
        let ran = cell.run_as("ada", "c", script).await;
        assert!(!matches!(ran, Err(ShellError::Busy)), "{}", &script[..60.min(script.len())]);
    }
    assert_eq!(cell.run("cat own.txt").await, "of ada\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn output_and_disk_are_bounded_and_it_is_said() {
    let cell = Cell::new().await;
    assert!(control("yes | head -c 20000000 | wc -c").trim() == "20000000");
    for script in ["yes | head -c 20000000 | wc -c", "yes | head -c 20000000", "seq 1 2000000"] {
        let said = match cell.run_as("ada", "c", script).await {
            Ok(output) => output.is_truncated || !output.stderr.is_empty() || output.stdout.starts_with(b"20000000"),
            Err(_) => true,
        };
        assert!(said, "{script}");
    }
    for script in [
        "head -c 150000 /dev/zero > big",
        "for i in $(seq 1 100); do echo x > file$i; done",
        "mkdir -p a/a/a/a/a/a/a/a/a/a/a/a/a/a; echo x > a/a/a/a/a/a/a/a/a/a/a/a/a/a/x",
        "echo x > /uploads/x; echo x > /etc/x; echo x > /x; mkdir /home; rm -rf /uploads /outputs /workspace /",
        "i=0; while [ $i -lt 5000 ]; do echo x > /tmp/$i; i=$((i+1)); done",
        "for i in 1 2 3 4 5 6 7 8 9; do head -c 900000 /dev/zero > /tmp/$i; done",
    ] {
        match cell.run_as("ada", "c", script).await {
            Ok(output) => assert!(!output.stderr.is_empty(), "{script} was not told"),
            Err(ShellError::Ended(_)) => {}
            Err(ShellError::Busy | ShellError::Unavailable(_)) => panic!("{script}"),
        }
    }
    // The remaining files are within the limits of the shell. The tool stores them, or reports that it does not.
    let ran =
        cell.house.call("bash", json!({ "command": "for i in 1 2 3; do head -c 90000 /dev/zero > big$i; done" })).await;
    insta::assert_snapshot!(ran, @"
    [None of the files that it changed is stored: the files of this conversation would have 270007 bytes, and may have 200000: delete some first.]
    [Exit code 0]
    ");
}

#[tokio::test(flavor = "multi_thread")]
async fn scripts_change_files_as_expected() {
    let cell = Cell::new().await;
    let run = |script: &str| cell.house.call("bash", json!({ "command": script }));
    insta::assert_snapshot!(run("mkdir -p data && printf 'b,2\\na,1\\n' > data/x.csv && sort data/x.csv | tee /outputs/sorted.csv").await, @"
    a,1
    b,2
    [Written: /outputs/sorted.csv, /workspace/data/x.csv]
    [Exit code 0]
    ");
    insta::assert_snapshot!(run("sed -i 's/b/c/' data/x.csv; mv own.txt moved.txt; rm /outputs/sorted.csv; cat data/x.csv > data/y.csv; touch data/y.csv").await, @"
    [Written: /workspace/data/x.csv, /workspace/data/y.csv, /workspace/moved.txt]
    [Deleted: /outputs/sorted.csv, /workspace/own.txt]
    [Exit code 0]
    ");
    // Nothing is stored again that is as it was.
    insta::assert_snapshot!(run("cat moved.txt > a; cat a > moved.txt; rm a; cd data; cp x.csv /tmp; ls; exit 3").await, @"
    x.csv
    y.csv
    [Exit code 3]
    ");
    insta::assert_snapshot!(run("awk -F, '{ s += $2 } END { print s }' data/x.csv").await, @"
    3
    [Exit code 0]
    ");
    let cell = Cell::with_timeout(5).await;
    let ended = cell.house.call("bash", json!({ "command": "echo x > new; while :; do :; done" })).await;
    insta::assert_snapshot!(ended.split(':').next().unwrap(), @"The script was ended, and nothing of it is stored");
    assert!(!cell.house.call("ls", json!({})).await.contains("new"));
}

/// A caller that goes away ends the script, whatever it is doing.
#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_script_ends() {
    let mut cell = Cell::new().await;
    cell.settings.timeout = Duration::from_secs(120);
    for script in ["while :; do :; done", "sleep 100", "awk 'BEGIN { while (1) i++ }'"] {
        let running = tokio::time::timeout(Duration::from_millis(300), cell.run_as("ada", "c", script)).await;
        assert!(running.is_err(), "{script}");
    }
    // Two scripts of a user run at once, so all three have given their places back, long before they would end.
    let next = tokio::time::timeout(Duration::from_secs(60), cell.run("cat own.txt")).await;
    assert_eq!(next.as_deref(), Ok("of ada\n"));
}
