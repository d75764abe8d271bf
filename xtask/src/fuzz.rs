//! `cargo xtask fuzz`: fuzzes the parsers of untrusted bytes, starting from what the repository
//! contains: recorded streams and configs.

use crate::step::step;
use anyhow::{Context, Result, bail, ensure};
use std::fs;
use std::path::Path;
use xshell::{Shell, cmd};

/// The fuzz targets, each a file below `fuzz/fuzz_targets`.
const TARGETS: &[&str] = &[
    "sse",
    "codecs",
    "wire",
    "config",
    "lowdefy_import",
    "operators",
    "markdown",
    "uploads",
    "paths",
    "addresses",
    "mcp",
    "model_lists",
    "oauth",
    "schemas",
    "schedules",
    "webhooks",
    "documents_text",
    "documents_office",
    "documents_pdf",
    "web_pages",
    "web_search",
    "citations",
    "embeddings",
    "extraction",
    "skills",
    "skill_archives",
    "workspace_archives",
    "workspace_paths",
    "evaluations",
    "openai_requests",
    "ag_ui_requests",
    "a2a_requests",
    "recordings",
    "scim",
    "discord",
    "feishu",
    "mails",
    "slack",
    "telegram",
];
/// The codecs with recordings, in the order in which the target `codecs` numbers them.
const CODECS: [&str; 4] = ["anthropic", "google", "openai_chat", "openai_responses"];
/// The maximum size of an input in bytes.
const MAX_INPUT: usize = 16 * 1024;

/// The result of fuzzing one target.
pub(crate) struct FuzzResult {
    pub(crate) target: &'static str,
    /// The number of inputs that were run.
    pub(crate) runs: u64,
    /// The failure, if there was one.
    pub(crate) failure: Option<String>,
}

/// Fuzzes every target, or only the named one, for this many seconds each. Fails if a target does.
pub(crate) fn run(shell: &Shell, seconds: u32, only: Option<&str>) -> Result<()> {
    let fuzzed = run_targets(shell, seconds, only)?;
    ensure!(!fuzzed.is_empty(), "unknown target; available targets: {}", TARGETS.join(", "));
    match fuzzed.iter().find_map(|one| Some((one.target, one.failure.as_ref()?))) {
        Some((target, how)) => bail!("{target} failed: {how}; the input is in fuzz/artifacts/{target}"),
        None => Ok(()),
    }
}

/// Fuzzes like [`run`] and returns the results.
pub(crate) fn run_targets(shell: &Shell, seconds: u32, only: Option<&str>) -> Result<Vec<FuzzResult>> {
    ensure_cargo_fuzz(shell)?;
    let mut fuzzed = Vec::new();
    for target in TARGETS.iter().copied().filter(|target| only.is_none_or(|only| only == *target)) {
        let corpus = format!("target/fuzz/corpus/{target}");
        fs::create_dir_all(&corpus)?;
        seed(Path::new(&corpus), target)?;
        step(&format!("build {target}"), || {
            Ok(cmd!(shell, "cargo fuzz build --sanitizer none --target-dir target/fuzz {target}").run()?)
        })?;
        step(&format!("fuzz {target} for {seconds} s"), || {
            let one = run_target(shell, seconds, target, &corpus)?;
            println!("  {} inputs, {}", one.runs, one.failure.as_deref().unwrap_or("no failures"));
            fuzzed.push(one);
            Ok(())
        })?;
    }
    Ok(fuzzed)
}

fn run_target(shell: &Shell, seconds: u32, target: &'static str, corpus: &str) -> Result<FuzzResult> {
    let bounds = [
        format!("-max_total_time={seconds}"),
        format!("-max_len={MAX_INPUT}"),
        "-timeout=10".to_owned(),
        "-rss_limit_mb=2048".to_owned(),
        "-verbosity=0".to_owned(),
        "-print_final_stats=1".to_owned(),
    ];
    // Safe code needs no sanitizer, and without one a stable compiler is enough: the failures to
    // find are panics, hangs and excessive memory.
    let fuzz = cmd!(shell, "cargo fuzz run --sanitizer none --target-dir target/fuzz {target} {corpus} -- {bounds...}");
    let output = fuzz.ignore_status().output()?;
    let output_text = String::from_utf8_lossy(&output.stderr);
    let runs =
        output_text.lines().find_map(|line| line.strip_prefix("stat::number_of_executed_units:")?.trim().parse().ok());
    if output.status.success() {
        return Ok(FuzzResult { target, runs: runs.unwrap_or_default(), failure: None });
    }
    eprint!("{output_text}");
    let telling = |line: &&str| line.contains("panicked at") || line.starts_with("SUMMARY:") || line.starts_with("==");
    let how = strip_machine_path(output_text.lines().find(telling).unwrap_or("it exited with an error"));
    Ok(FuzzResult { target, runs: runs.unwrap_or_default(), failure: Some(how) })
}

/// Removes the local path from the location of a panic, since the line is written to the record.
fn strip_machine_path(line: &str) -> String {
    let Some((thread, place)) = line.split_once("panicked at /") else { return line.to_owned() };
    let from = place.rfind("src/").or_else(|| Some(place.rfind('/')? + 1)).unwrap_or_default();
    format!("{thread}panicked at {}", &place[from..])
}

/// Installs `cargo fuzz` if it is missing.
fn ensure_cargo_fuzz(shell: &Shell) -> Result<()> {
    if cmd!(shell, "cargo fuzz --version").quiet().ignore_stdout().ignore_stderr().run().is_ok() {
        return Ok(());
    }
    step("install cargo-fuzz", || {
        cmd!(shell, "cargo install cargo-fuzz --locked").run().context("cargo-fuzz could not be installed")
    })
}

/// Writes the seed inputs of a target to its corpus.
fn seed(corpus: &Path, target: &str) -> Result<()> {
    let mut inputs: Vec<Vec<u8>> = Vec::new();
    match target {
        "codecs" | "sse" => {
            for (number, codec) in CODECS.iter().enumerate() {
                for file in files(&Path::new("crates/providers/fixtures").join(codec), &["jsonl"])? {
                    let lines = fs::read(file)?;
                    let head: &[u8] = if target == "codecs" { &[number as u8, 7] } else { &[5] };
                    inputs.push([head, &lines].concat());
                }
            }
        }
        "wire" => {
            let lines = [
                r#"{"type":"start","messageId":"m"}"#,
                r#"{"type":"text-start","id":"1"}"#,
                r#"{"type":"text-delta","id":"1","delta":"Hi"}"#,
                r#"{"type":"tool-input-available","toolCallId":"c","toolName":"t","input":{"a":1}}"#,
                r#"{"type":"tool-approval-request","approvalId":"a","toolCallId":"c","terms":{"exposed":{"private":"t"}}}"#,
                r#"{"type":"tool-output-available","toolCallId":"c","output":[1]}"#,
                r#"{"type":"data-x","id":"d","data":{}}"#,
                r#"{"type":"finish","finishReason":"stop"}"#,
            ];
            inputs.push(lines.join("\n").into_bytes());
            inputs.extend(lines.map(|line| line.as_bytes().to_vec()));
        }
        "config" => read_files(&mut inputs, Path::new("examples"), &["yaml", "yml"])?,
        "lowdefy_import" => read_files(&mut inputs, Path::new("crates/lowdefy_import/tests/apps"), &["yaml"])?,
        "operators" => inputs.extend(
            [
                r#"{"_state":"a.b.0"}"#,
                r#"{"_if":{"test":{"_eq":[1,{"_payload":"n"}]},"then":"x","else":null}}"#,
                r#"{"_expr":"state.n * 2 + (payload.n ** 3)"}"#,
                r#"{"_template":"{% for x in state.a.b %}{{ x }}{% endfor %}"}"#,
                r#""{{ state.text | upper }}""#,
                r#"{"_array.map":[{"_state":"a.b"},{"_function":{"__string.concat":[{"__args":0},{"_sum":[1,2.5]}]}}]}"#,
                r#"{"_array.reduce":{"on":[1,2],"callback":{"_function":{"__sum":[{"__args":0},{"__args":1}]}},"initialValue":0}}"#,
                r#"{"_string.replace":{"on":"a-b","regex":"(\\w)-","newSubstr":"$1","regexFlags":"gi"}}"#,
                r#"{"_dayjs.format":{"on":{"_date":"2021-01-28T12:00:00+02:00"},"format":"ddd D MMM"}}"#,
                r#"{"_json.stringify":[{"_object.fromEntries":[["a",{"_math.pow":[2,70]}]]},{"space":1}]}"#,
                r#"{"_switch":{"branches":[{"if":{"_lt":["a","b"]},"then":{"_number.toFixed":[2.5]}}],"default":1}}"#,
            ]
            .map(|text| text.as_bytes().to_vec()),
        ),
        "markdown" => {
            let text = "# A\n\nb *c* [d](https://e.f) $x_1$ `g`\n\n```rust\nfn main() {}\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n- [ ] h[^1]\n\n[^1]: i\n";
            inputs.push(text.as_bytes().to_vec());
            read_files(&mut inputs, Path::new("docs"), &["md"])?;
        }
        "uploads" => inputs.extend(
            [
                &b"../a.png\x89PNG\r\n\x1a\n"[..],
                b"b.pdf%PDF-1.7\n",
                b"c.svg<svg xmlns='http://www.w3.org/2000/svg'/>",
                b"d.csva,b\n",
            ]
            .map(<[u8]>::to_vec),
        ),
        "paths" | "addresses" => inputs.extend(
            ["\u{0}a.txt", "\u{1}sub**/*.txt", "\u{2}subbeta", "\u{3}../secret.txt", "\u{0}out-folder/secret.txt"]
                .map(|text| text.as_bytes().to_vec()),
        ),
        "mcp" => inputs.extend(
            [
                r#"{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"a"},{"type":"image","data":""}]}}"#,
                r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"no session"}}"#,
                r#"{"jsonrpc":"2.0","id":7,"result":{"tools":[{"name":"t","execution":{"taskSupport":"required"}}]}}"#,
                r#"{"jsonrpc":"2.0","id":7,"result":{"capabilities":{"tasks":{"requests":{"tools":{"call":{}}}}}}}"#,
                r#"{"jsonrpc":"2.0","id":7,"result":{"task":{"taskId":"a","status":"working"}}}"#,
            ]
            .map(|text| text.as_bytes().to_vec()),
        ),
        // The first byte says which provider has answered.
        "model_lists" => inputs.extend(
            [
                "\u{0}{\"object\":\"list\",\"data\":[{\"id\":\"gpt-5\"},{\"id\":\"o3\"}]}",
                "\u{1}{\"data\":[{\"id\":\"claude\",\"display_name\":\"Claude\"}],\"has_more\":false}",
                "\u{2}{\"models\":[{\"name\":\"models/g\",\"supportedGenerationMethods\":[\"generateContent\"]}]}",
            ]
            .map(|text| text.as_bytes().to_vec()),
        ),
        "oauth" => inputs.extend(
            [
                r#"Bearer error="insufficient_scope", scope="a b", resource_metadata="https://m.test/x, y", error_description="a \"b\"""#,
                r#"Basic realm="x", Bearer scope=one"#,
                r#"{"access_token":"a","token_type":"bearer","expires_in":"60","refresh_token":"b","scope":"x,y"}"#,
                r#"{"error":"bad_refresh_token"}"#,
            ]
            .map(|text| text.as_bytes().to_vec()),
        ),
        "schemas" => inputs.extend(
            [
                r##"{"$ref":"#/$defs/n","$defs":{"n":{"anyOf":[{"properties":{"c":{"$ref":"#/$defs/n"}}},{"items":{"$ref":"#/$defs/n"}}]}}} {"c":[{"c":1}]}"##,
                r##"{"definitions":{"a":{"allOf":[{"type":"object"},{"not":{"required":["x"]}}]}},"allOf":[{"$ref":"#/definitions/a"},{"$ref":"#/definitions/a"}]} {}"##,
                r#"{"type":"object","properties":{"a":{"enum":[1,"x",[2]]},"b":{"pattern":"^[a-z]+$"}},"patternProperties":{"^c":{"uniqueItems":true}},"unevaluatedProperties":false} {"a":1,"b":"x","c":[1,1]}"#,
                r#"{"$schema":"http://json-schema.org/draft-07/schema#","if":{"const":1},"then":false,"dependencies":{"a":["b"]},"items":[{"format":"date"}]} [1]"#,
            ]
            .map(|text| text.as_bytes().to_vec()),
        ),
        "schedules" => inputs.extend(
            ["*/5 8-18 * * MON-FRI", "30 2 L * *", "0 0 15W 1,7 5#2", "0 12 29 2 *"].map(|text| text.as_bytes().to_vec()),
        ),
        "web_pages" => inputs.extend(
            [
                "text/html\n<title>a</title><article><p>b <b>c</b><table><tr><td>d</table><!-- e --><script>f</script>",
                "text/plain; charset=windows-1252\na",
                "\n<a href=/x>y",
            ]
            .map(|text| text.as_bytes().to_vec()),
        ),
        "web_search" => inputs.extend(
            [
                r#"{"results":[{"url":"https://a.b/c","title":"t","content":"<b>x</b> &amp;","publishedDate":"2026-01-02"}]}"#,
                r#"{"type":"search","web":{"results":[{"url":"https://a.b","title":"t","description":"d","page_age":"2026-01-02T03:04:05"}]}}"#,
                r#"{"results":[{"url":"https://a.b","highlights":["x"]}],"costDollars":{"total":0.005}}"#,
            ]
            .map(|text| text.as_bytes().to_vec()),
        ),
        "citations" => inputs.extend(
            [
                "At night [S1], by day [S2: \u{201c}the pump runs\u{201d}; s13]\u{3010}S4\u{3011}.",
                "[S1 'a'] [x](y) [S1 \"open",
            ]
            .map(|text| text.as_bytes().to_vec()),
        ),
        "skills" => inputs.extend(
            [
                "---\nname: a-b\ndescription: Use it: always.\nallowed-tools: Bash(git add:*) read\n---\n# Do it\n",
                "---\nname: a\ndescription: >-\n  b\nmetadata: { version: \"1\" }\n---\n<skill_content name=\"b\">",
                "references/a.md",
            ]
            .map(|text| text.as_bytes().to_vec()),
        ),
        "workspace_paths" => inputs.extend(
            ["/workspace/a/b.csv", "../a", "/outputs/a\u{308}.md", "C:\\x"].map(|text| text.as_bytes().to_vec()),
        ),
        "embeddings" => inputs.extend(
            [
                r#"{"data":[{"index":0,"embedding":[0.1,-2]},{"index":1,"embedding":[3,4]}],"usage":{"prompt_tokens":7}}"#,
                r#"{"results":[{"index":1,"relevance_score":0.9},{"index":0,"relevance_score":1e-3}]}"#,
            ]
            .map(|text| text.as_bytes().to_vec()),
        ),
        "extraction" => inputs.push(
            br#"{"entities":[{"type":"person","name":"Ada","aliases":["Bob"],"passage":1,"quote":"Ada knows Bob"},{"type":"person","name":"Eve","aliases":[],"passage":1,"quote":"knows eve."}],"relations":[{"type":"knows","from":"bob","to":"the Eve","passage":1,"quote":"Bob knows Eve"}]}"#
                .to_vec(),
        ),
        "recordings" => {
            read_files(&mut inputs, Path::new("crates/providers/fixtures"), &["jsonl"])?;
            inputs.push(
                concat!(
                    r#"{"type":"recording","version":1,"runId":"r","conversationId":"c","agentId":"a","program":"1","config":"0","startedAt":1,"#,
                    r#""input":{"pageId":"","blockId":null,"sharedState":{},"urlQuery":{},"switches":{},"options":{}}}"#,
                    "\n",
                    r#"{"type":"turn","messages":[],"turnStart":0,"pending":[],"scope":{"userId":"u","roles":[],"isAuthenticated":false,"hasFiles":false},"#,
                    r#""exposure":{"private":null,"untrusted":null},"earlier":{"requests":0,"tool_calls":0,"usage":{},"cost_usd":null},"canAsk":true,"#,
                    r#""context":{"summary":null,"clearedThrough":null,"boundaries":[],"rests":false,"page":null,"compaction":null}}"#,
                )
                .as_bytes()
                .to_vec(),
            );
        }
        "webhooks" => inputs.extend(
            ["v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=", "sha256=00", "t=1800000000,v1=00", "Bearer key"]
                .map(|text| text.as_bytes().to_vec()),
        ),
        _ => {}
    }
    for (number, input) in inputs.iter().enumerate() {
        fs::write(corpus.join(format!("seed-{number}")), &input[..input.len().min(MAX_INPUT)])?;
    }
    Ok(())
}

fn read_files(inputs: &mut Vec<Vec<u8>>, folder: &Path, endings: &[&str]) -> Result<()> {
    for file in files(folder, endings)? {
        inputs.push(fs::read(file)?);
    }
    Ok(())
}

/// Returns the files below a folder that have one of these extensions.
fn files(folder: &Path, endings: &[&str]) -> Result<Vec<std::path::PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(files(&path, endings)?);
        } else if path.extension().is_some_and(|ending| endings.iter().any(|one| ending == *one)) {
            found.push(path);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn local_paths_are_removed_from_panic_locations() {
        let check = |place: &str, kept: &str| {
            assert_eq!(
                strip_machine_path(&format!("thread 'main' panicked at {place}")),
                format!("thread 'main' panicked at {kept}")
            );
        };
        check("/home/ada/.cargo/registry/src/index.crates.io-1/some-1.0.0/src/a/b.rs:1:2:", "src/a/b.rs:1:2:");
        check("/home/ada/project/build.rs:1:2:", "build.rs:1:2:");
        check("crates/sse/src/lib.rs:1:2:", "crates/sse/src/lib.rs:1:2:");
    }
}
