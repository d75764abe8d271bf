//! The files in `deploy/` and the `Dockerfile` name what there is.

use crate::process::Server;
use std::process::Command;

const DOCKERFILE: &str = include_str!("../../../Dockerfile");
const COMPOSE: &str = include_str!("../../../deploy/compose.yaml");
const COMPOSE_POSTGRES: &str = include_str!("../../../deploy/compose.postgres.yaml");
const UNIT: &str = include_str!("../../../deploy/chatwright.service");

fn chatwright(arguments: &[&str]) -> (bool, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_chatwright")).args(arguments).output().unwrap();
    (output.status.success(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
}

/// What stands behind a word at the beginning of a line.
fn after<'a>(text: &'a str, word: &str) -> Vec<&'a str> {
    text.lines().filter_map(|line| line.trim().strip_prefix(word)).map(str::trim).collect()
}

/// The words of `["a", "b"]`.
fn words(list: &str) -> Vec<&str> {
    let inner = list.split_once('[').and_then(|(_, rest)| rest.split_once(']')).unwrap().0;
    inner.split(',').map(|word| word.trim().trim_matches('"')).collect()
}

#[test]
fn the_image_sets_variables_that_are_read() {
    let help = chatwright(&["serve", "--help"]).1;
    let variables: Vec<_> = DOCKERFILE.lines().skip_while(|line| !line.starts_with("ENV ")).collect();
    let variables = variables.iter().scan(true, |goes_on, line| {
        let found = goes_on.then(|| line.trim_start_matches("ENV ").trim().trim_end_matches('\\').trim());
        *goes_on = line.ends_with('\\');
        found
    });
    let variables: Vec<_> = variables.filter_map(|pair| pair.split_once('=')).collect();
    assert_eq!(variables.len(), 4, "{variables:?}");
    for (name, _) in &variables {
        assert!(help.contains(&format!("[env: {name}=")), "{name} is not read:\n{help}");
    }
    let value = |name: &str| variables.iter().find(|(known, _)| *known == name).unwrap().1;
    let port = value("CHATWRIGHT_ADDR").rsplit_once(':').unwrap().1;
    assert_eq!(after(DOCKERFILE, "EXPOSE "), [port]);
    assert!(COMPOSE.contains(&format!(r#"ports: ["127.0.0.1:{port}:{port}"]"#)));
    let folder = after(DOCKERFILE, "VOLUME ")[0];
    assert!(value("DATABASE_URL").starts_with(&format!("sqlite://{folder}/")));
    assert!(COMPOSE.contains(&format!("- data:{folder}\n")));
    let config = value("CHATWRIGHT_CONFIG");
    assert!(DOCKERFILE.contains(&format!("COPY deploy/chatwright.yaml {config}\n")));
    assert!(COMPOSE.contains(&format!(":{config}:ro\n")));
    assert!(DOCKERFILE.contains("\nUSER 10001:10001\n"));
}

/// Both servers are the one that `compose.yaml` runs, on the database that is named beside them.
#[test]
fn two_servers_are_run_like_one() {
    let mounted = |compose: &str| after(compose, "- ./chatwright.yaml:")[0].to_owned();
    assert_eq!(mounted(COMPOSE_POSTGRES), mounted(COMPOSE));
    assert_eq!(after(COMPOSE_POSTGRES, "command: "), after(COMPOSE, "command: "));
    assert_eq!(after(COMPOSE_POSTGRES, "stop_grace_period: "), after(COMPOSE, "stop_grace_period: "));
    let user = after(COMPOSE_POSTGRES, "POSTGRES_USER: ")[0];
    let url = after(COMPOSE_POSTGRES, "DATABASE_URL: ")[0];
    assert!(
        url.starts_with(&format!("postgres://{user}:${{POSTGRES_PASSWORD")) && url.ends_with("@database/chatwright")
    );
    assert!(COMPOSE_POSTGRES.contains("\n  database:\n    image: postgres:"));
    let inner = after(COMPOSE, "ports: [\"127.0.0.1:3000:")[0];
    assert!(after(COMPOSE_POSTGRES, "ports: ").iter().all(|port| port.ends_with(&format!(":{inner}"))));
}

#[test]
fn commands_are_there() {
    let health = after(DOCKERFILE, "HEALTHCHECK ")[0];
    for command in [after(DOCKERFILE, "CMD ")[0], after(COMPOSE, "command: ")[0], health] {
        let mut words = words(command);
        words.retain(|word| *word != "chatwright");
        words.push("--help");
        let (done, said) = chatwright(&words);
        assert!(done, "{command}: {said}");
    }
    let config = concat!(env!("CARGO_MANIFEST_DIR"), "/../deploy/chatwright.yaml");
    let (done, said) = chatwright(&["check", "--config", config]);
    assert!(done, "{said}");
}

/// As the unit starts it, but elsewhere.
#[tokio::test]
async fn the_unit_starts_a_server() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    std::fs::copy(
        concat!(env!("CARGO_MANIFEST_DIR"), "/../deploy/chatwright.yaml"),
        folder.path().join("chatwright.yaml"),
    )
    .unwrap();
    let elsewhere = |line: &str| line.replace("/etc/chatwright", path).replace("/var/lib/chatwright", path);
    let check = elsewhere(after(UNIT, "ExecStartPre=")[0]);
    let (done, said) = chatwright(&check.split(' ').skip(1).collect::<Vec<_>>());
    assert!(done, "{said}");
    let start = elsewhere(after(UNIT, "ExecStart=")[0]);
    let mut arguments: Vec<_> = start.split(' ').skip(1).collect();
    assert_eq!(arguments.remove(0), "serve");
    let at = arguments.iter().position(|argument| *argument == "--addr").unwrap();
    assert!(arguments.remove(at + 1).starts_with("127.0.0.1:"));
    arguments.remove(at);
    let server = Server::start_with(&arguments);
    let address = server.origin.strip_prefix("http://").unwrap().to_owned();
    let probed = tokio::task::spawn_blocking(move || chatwright(&["probe", "--addr", &address])).await.unwrap();
    assert!(probed.0, "{}", probed.1);
    assert!(!chatwright(&["probe", "--addr", "127.0.0.1:1"]).0);
    // An answer may end before the process is killed: the limit, the time to store it and to close connections.
    let patience: u64 = after(UNIT, "TimeoutStopSec=")[0].parse().unwrap();
    assert!(patience > 25 + 5 + 2);
}
