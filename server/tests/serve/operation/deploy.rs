//! The files in `deploy/` and the `Dockerfile` use commands, variables and paths that exist, and the config that
//! `chatwright init` writes can be used at once.

use crate::http::chunks;
use crate::process::Server;
use std::process::Command;

const DOCKERFILE: &str = include_str!("../../../../Dockerfile");
const COMPOSE: &str = include_str!("../../../../deploy/compose.yaml");
const COMPOSE_POSTGRES: &str = include_str!("../../../../deploy/compose.postgres.yaml");
const UNIT: &str = include_str!("../../../../deploy/chatwright.service");

fn run_chatwright(arguments: &[&str]) -> (bool, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_chatwright")).args(arguments).output().unwrap();
    (output.status.success(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
}

/// Returns the rest of each line that starts with a prefix.
fn values_after<'a>(text: &'a str, word: &str) -> Vec<&'a str> {
    text.lines().filter_map(|line| line.trim().strip_prefix(word)).map(str::trim).collect()
}

/// Returns the items of `["a", "b"]`.
fn list_items(list: &str) -> Vec<&str> {
    let inner = list.split_once('[').and_then(|(_, rest)| rest.split_once(']')).unwrap().0;
    inner.split(',').map(|word| word.trim().trim_matches('"')).collect()
}

#[test]
fn image_sets_known_environment_variables() {
    let help = run_chatwright(&["serve", "--help"]).1;
    let variables: Vec<_> = DOCKERFILE.lines().skip_while(|line| !line.starts_with("ENV ")).collect();
    let variables = variables.iter().scan(true, |continues, line| {
        let found = continues.then(|| line.trim_start_matches("ENV ").trim().trim_end_matches('\\').trim());
        *continues = line.ends_with('\\');
        found
    });
    let variables: Vec<_> = variables.filter_map(|pair| pair.split_once('=')).collect();
    assert_eq!(variables.len(), 4, "{variables:?}");
    for (name, _) in &variables {
        assert!(help.contains(&format!("[env: {name}=")), "{name} is not read:\n{help}");
    }
    let value = |name: &str| variables.iter().find(|(known, _)| *known == name).unwrap().1;
    let port = value("CHATWRIGHT_ADDR").rsplit_once(':').unwrap().1;
    assert_eq!(values_after(DOCKERFILE, "EXPOSE "), [port]);
    assert!(COMPOSE.contains(&format!(r#"ports: ["127.0.0.1:{port}:{port}"]"#)));
    let folder = values_after(DOCKERFILE, "VOLUME ")[0];
    assert!(value("DATABASE_URL").starts_with(&format!("sqlite://{folder}/")));
    assert!(COMPOSE.contains(&format!("- data:{folder}\n")));
    let config = value("CHATWRIGHT_CONFIG");
    assert!(DOCKERFILE.contains(&format!("COPY deploy/chatwright.yaml {config}\n")));
    assert!(COMPOSE.contains(&format!(":{config}:ro\n")));
    assert!(DOCKERFILE.contains("\nUSER 10001:10001\n"));
}

/// Both servers in `compose.postgres.yaml` are configured like the one in `compose.yaml`.
#[test]
fn both_compose_files_run_the_same_server() {
    let mounted = |compose: &str| values_after(compose, "- ./chatwright.yaml:")[0].to_owned();
    assert_eq!(mounted(COMPOSE_POSTGRES), mounted(COMPOSE));
    assert_eq!(values_after(COMPOSE_POSTGRES, "command: "), values_after(COMPOSE, "command: "));
    assert_eq!(values_after(COMPOSE_POSTGRES, "stop_grace_period: "), values_after(COMPOSE, "stop_grace_period: "));
    let user = values_after(COMPOSE_POSTGRES, "POSTGRES_USER: ")[0];
    let url = values_after(COMPOSE_POSTGRES, "DATABASE_URL: ")[0];
    assert!(
        url.starts_with(&format!("postgres://{user}:${{POSTGRES_PASSWORD")) && url.ends_with("@database/chatwright")
    );
    assert!(COMPOSE_POSTGRES.contains("\n  database:\n    image: postgres:"));
    let inner = values_after(COMPOSE, "ports: [\"127.0.0.1:3000:")[0];
    assert!(values_after(COMPOSE_POSTGRES, "ports: ").iter().all(|port| port.ends_with(&format!(":{inner}"))));
}

#[test]
fn commands_of_the_image_exist() {
    let health = values_after(DOCKERFILE, "HEALTHCHECK ")[0];
    for command in [values_after(DOCKERFILE, "CMD ")[0], values_after(COMPOSE, "command: ")[0], health] {
        let mut words = list_items(command);
        words.retain(|word| *word != "chatwright");
        words.push("--help");
        let (done, printed) = run_chatwright(&words);
        assert!(done, "{command}: {printed}");
    }
    let config = concat!(env!("CARGO_MANIFEST_DIR"), "/../deploy/chatwright.yaml");
    let (done, printed) = run_chatwright(&["check", "--config", config]);
    assert!(done, "{printed}");
}

/// Runs the commands of the unit in another folder.
#[tokio::test]
async fn systemd_unit_starts_a_server() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    std::fs::copy(
        concat!(env!("CARGO_MANIFEST_DIR"), "/../deploy/chatwright.yaml"),
        folder.path().join("chatwright.yaml"),
    )
    .unwrap();
    let elsewhere = |line: &str| line.replace("/etc/chatwright", path).replace("/var/lib/chatwright", path);
    let check = elsewhere(values_after(UNIT, "ExecStartPre=")[0]);
    let (done, printed) = run_chatwright(&check.split(' ').skip(1).collect::<Vec<_>>());
    assert!(done, "{printed}");
    let start = elsewhere(values_after(UNIT, "ExecStart=")[0]);
    let mut arguments: Vec<_> = start.split(' ').skip(1).collect();
    assert_eq!(arguments.remove(0), "serve");
    let at = arguments.iter().position(|argument| *argument == "--addr").unwrap();
    assert!(arguments.remove(at + 1).starts_with("127.0.0.1:"));
    arguments.remove(at);
    let server = Server::start_with(&arguments);
    let address = server.origin.strip_prefix("http://").unwrap().to_owned();
    let probed = tokio::task::spawn_blocking(move || run_chatwright(&["probe", "--addr", &address])).await.unwrap();
    assert!(probed.0, "{}", probed.1);
    assert!(!run_chatwright(&["probe", "--addr", "127.0.0.1:1"]).0);
    // A reply may finish before the process is killed: the drain limit, the time to store the reply
    // and the time to close connections.
    let patience: u64 = values_after(UNIT, "TimeoutStopSec=")[0].parse().unwrap();
    assert!(patience > 25 + 5 + 2);
}

#[tokio::test]
async fn written_starter_config_is_valid_and_answers() {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("my chat");
    let path = folder.to_str().unwrap();
    let (done, printed) = run_chatwright(&["init", path]);
    assert!(done && printed.contains(&format!("chatwright serve --config '{path}'")), "{printed}");
    assert_eq!(run_chatwright(&["check", "--config", path]), (true, "the config is valid\n".to_owned()));
    let config = std::fs::read_to_string(folder.join("chatwright.yaml")).unwrap();
    let schema = values_after(&config, "# yaml-language-server: $schema=./")[0];
    let schema: serde_json::Value = serde_json::from_slice(&std::fs::read(folder.join(schema)).unwrap()).unwrap();
    assert!(schema["properties"]["agents"].is_object());
    let server = Server::start_with(&["--config", path]);
    let answer = chunks(server.message_to("home/helper", "c1", "hello").send().await.unwrap()).await;
    assert!(answer.iter().any(|chunk| chunk["type"] == "text-delta"), "{answer:?}");
}

#[test]
fn init_overwrites_nothing() {
    let check = |existing: &str| {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(existing);
        std::fs::write(&file, "mine").unwrap();
        let (done, printed) = run_chatwright(&["init", folder.path().to_str().unwrap()]);
        assert!(!done && printed.contains("exists already; nothing was written"), "{printed}");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "{existing}");
    };
    check("chatwright.yaml");
    check("chatwright.schema.json");
}
