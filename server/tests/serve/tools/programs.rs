//! Scripts with the programs of the machine, from the config to the database.

use super::workspace::{get, results};
use crate::http::chunks;
use crate::process::Server;
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

const CONFIG: &str = "
connections:
  - { id: demo, type: Demo }
agents:
  - id: scientist
    type: Agent
    connectionId: demo
    properties: { model: demo }
    agents: [{ agentId: below, description: Works for it. }]
    workspace:
      shell: { level: process, timeoutSeconds: 20, memoryBytes: 268435456, processes: 32 }
  - { id: below, type: Agent, connectionId: demo, properties: { model: demo }, workspace: { shell: virtual } }
pages:
  - id: home
    blocks: [{ id: chat, type: AgentChat, properties: { agentId: scientist } }]
";

struct Place {
    folder: TempDir,
}

impl Place {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        std::fs::write(folder.path().join("chatwright.yaml"), CONFIG).unwrap();
        Self { folder }
    }

    fn config(&self) -> &str {
        self.folder.path().to_str().unwrap()
    }

    /// Runs a command of the binary, by another program if there is one.
    fn run(&self, by: &[&str], arguments: &[&str]) -> Output {
        let binary = [env!("CARGO_BIN_EXE_chatwright")];
        let words: Vec<&str> =
            by.iter().chain(&binary).chain(arguments).chain(&["--config", self.config()]).copied().collect();
        Command::new(words[0]).args(&words[1..]).output().unwrap()
    }

    fn doctor(&self, by: &[&str]) -> String {
        let database = format!("sqlite://{}/chat.db", self.config());
        let output = self.run(by, &["doctor", "--offline", "--addr", "127.0.0.1:0", "--database", &database]);
        String::from_utf8(output.stdout).unwrap()
    }
}

#[tokio::test]
async fn commands_run_with_the_programs_of_the_machine() {
    let place = Place::new();
    let report = place.doctor(&[]);
    if let Some(problem) = report.lines().find(|line| line.starts_with("wrong shell")) {
        // Where a sandbox can be made, the tests of `workspace` fail if it is not.
        let (is_missing, is_forbidden) =
            (problem.contains("`bwrap` was not found"), problem.contains("bubblewrap cannot"));
        assert!(is_missing || is_forbidden || std::env::var_os("CI").is_none(), "{problem}");
        eprintln!("SKIPPED, NOT TESTED: there is no sandbox on this machine: {problem}");
        return;
    }
    assert!(report.contains("ok    shell: scientist: process, below: virtual\n"), "{report}");
    let server = Server::start_with(&["--config", place.config()]);
    let (_, _, ready) = get(&server, "/readyz").await;
    assert_eq!(String::from_utf8(ready).unwrap(), "ready\nshell: process, virtual\n");
    let (_, _, agent) = get(&server, "/api/admin/agents/scientist").await;
    assert!(String::from_utf8(agent).unwrap().contains(r#"["Commands run","process"]"#));
    let start = async |tool: &str, text: &str| {
        let message = server.message_to("home/scientist", "c", &format!("start {tool}: {text}"));
        results(&chunks(message.send().await.unwrap()).await).join("\n")
    };
    let script = "env | sort; echo x > /outputs/x; awk 'BEGIN { print 6 * 7 }'";
    let printed = start("bash", script).await;
    assert!(printed.starts_with("HOME=/workspace\n") && !printed.contains("CARGO"), "{printed}");
    assert!(printed.ends_with("42\n[Written: /outputs/x]\n[Exit code 0]"), "{printed}");
    assert_eq!(start("bash", "cat /outputs/x").await, "x\n[Exit code 0]");
    assert!(start("bash", "exec 3<>/dev/tcp/127.0.0.1/80; exit 3").await.ends_with("[Exit code 3]"));
}

/// The level is not lowered: the server does not start, and says what to do.
#[test]
fn a_machine_without_sandboxes_does_not_start_the_server() {
    let place = Place::new();
    let has_bubblewrap = Path::new("/usr/bin/bwrap").exists();
    // A user of a namespace in which no more of them can be made.
    let forbid =
        "echo 0 > /proc/sys/user/max_user_namespaces && exec setpriv --inh-caps=-all --ambient-caps=-all \"$@\"";
    let by: &[&str] = if has_bubblewrap {
        &["unshare", "--user", "--map-user=1000", "--keep-caps", "sh", "-c", forbid, "sh"]
    } else {
        &[]
    };
    if has_bubblewrap
        && !Command::new(by[0]).args(&by[1..]).arg("true").output().is_ok_and(|output| output.status.success())
    {
        eprintln!("skipped: this machine makes no user namespaces");
        return;
    }
    let expected = if has_bubblewrap { "must allow unprivileged user namespaces" } else { "install bubblewrap" };
    let report = place.doctor(by);
    let problem = report
        .lines()
        .find(|line| line.starts_with("wrong shell: scientist: process"))
        .unwrap_or_else(|| panic!("{report}"));
    assert!(problem.contains(expected), "{problem}");
    let database = format!("sqlite://{}/chat.db", place.config());
    let started = place.run(by, &["serve", "--addr", "127.0.0.1:0", "--database", &database]);
    let errors = String::from_utf8(started.stderr).unwrap();
    assert!(!started.status.success(), "{errors}");
    assert!(
        errors.contains("chatwright.yaml:5:5")
            && errors.contains("at the level `process`")
            && errors.contains(expected),
        "{errors}"
    );
}
