//! Planted regressions are found at the step where they are.

use crate::agents::{Step, dead, script, script_with_ids, scripted, spec, tools, with_text};
use crate::exact::exact;
use crate::world::{Input, World};
use agent::Agent;
use contract::testing::{Cue, RecordingTool};
use contract::{Model, ModelError, ModelId, PartStream, Request, Tool};
use futures::future::BoxFuture;
use insta::assert_snapshot;
use leptos::prelude::RenderHtml;
use proptest::prelude::*;
use recordings::format::Recording;
use recordings::replay::{Options, Replayed, Replies, ToolMode, replay};
use recordings::report::{Comparison, Finding, JsonReport, Style, compare, junit, mark_unstable, terminal};
use recordings::view::comparison_view;
use serde_json::json;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Two steps with calls, then an answer.
fn steps() -> Vec<Step> {
    vec![Step::Calls(vec![(0, 1), (2, 200)]), Step::Calls(vec![(0, 2)])]
}

async fn recorded() -> Recording {
    let world = World::in_memory().await;
    let agent = scripted(script(&steps(), "The answer is two."), tools());
    world.record(&agent, "run-1", Input::message("hello")).await.1
}

async fn replayed(recording: &Recording, agent: &Agent, options: &Options) -> (Replayed, Comparison) {
    let replayed = replay(recording, agent, options, CancellationToken::new()).await.unwrap();
    let comparison = compare(recording, &replayed.recording, &replayed.misses, options.from_step);
    (replayed, comparison)
}

/// Returns each difference as its step and kind.
fn found(comparison: &Comparison) -> String {
    let of_step = |number: String, findings: &[Finding]| -> Vec<String> {
        findings.iter().map(|it| format!("{number}:{:?}", it.kind)).collect()
    };
    let steps = comparison.steps.iter().flat_map(|step| of_step(step.number.to_string(), &step.findings));
    steps.chain(of_step("run".to_owned(), &comparison.run)).collect::<Vec<_>>().join(" ")
}

#[tokio::test]
async fn each_change_is_found_at_its_step() {
    let recording = recorded().await;
    let check = async |agent: Agent, options: Options, expected: &str| {
        let (_, comparison) = replayed(&recording, &agent, &options).await;
        assert_eq!(found(&comparison), expected);
    };
    let answer = "The answer is two.";
    let other = || Options { replies: Replies::Live, ..Options::default() };
    // A prompt that changes nothing.
    let mut prompt = scripted(script(&steps(), answer), tools());
    prompt.instructions = Some("Help, and be kind.".to_owned());
    check(prompt.clone(), other(), "1:Prompt 2:Prompt 3:Prompt").await;
    // Each reply of a model has calls with new ids, which are no change.
    let anew = || scripted(script_with_ids(&steps(), answer, "other"), tools());
    check(anew(), other(), "").await;
    check(Agent { instructions: prompt.instructions.clone(), ..anew() }, other(), "1:Prompt 2:Prompt 3:Prompt").await;
    // A prompt that changes the answer.
    prompt.model = scripted(script(&steps(), "The answer is three."), Vec::new()).model;
    check(prompt.clone(), other(), "1:Prompt 2:Prompt 3:Prompt 3:Text").await;
    // The recording has the replies, too.
    check(prompt, Options { replies: Replies::Recorded, ..Options::default() }, "1:Prompt 2:Prompt 3:Prompt").await;
    // Another model, which takes other arguments.
    let mut model = dead();
    model.model =
        Arc::new(Renamed(scripted(script(&[steps()[0].clone(), Step::Calls(vec![(0, 3)])], answer), Vec::new()).model));
    check(model, other(), "1:Model 2:Model 2:Tools 2:Miss 3:Model").await;
    // The declaration of a tool.
    let mut schema = scripted(script(&steps(), answer), tools());
    let mut changed = spec("echo");
    changed.input_schema["properties"]["n"]["description"] = json!("A number.");
    schema.tools[0] = Arc::new(RecordingTool::new(changed, |_, _| async { Ok(json!(null)) }));
    check(schema, other(), "1:Schema 2:Schema 3:Schema").await;
    // A result with its fields in another order, from a tool that runs.
    let mut order = scripted(script(&steps(), answer), tools());
    let reversed = |input: serde_json::Value, _| async move {
        let n = input["n"].as_u64().unwrap_or_default();
        Ok(json!({ "third": n as f64 / 3.0, "got": n, "tool": "echo" }))
    };
    order.tools[0] = Arc::new(RecordingTool::new(spec("echo"), reversed)) as Arc<dyn Tool>;
    let live = Options { tools: ToolMode::Live, allow_effects: vec!["echo".to_owned()], ..other() };
    check(order.clone(), live.clone(), "1:Results 2:Results").await;
    let other_form = |input: serde_json::Value, _| async move { Ok(json!([input["n"], "echo"])) };
    order.tools[0] = Arc::new(RecordingTool::new(spec("echo"), other_form)) as Arc<dyn Tool>;
    order.model = scripted(script(&steps(), answer), Vec::new()).model;
    check(order, live, "1:Results 2:Results").await;
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// A text that a model adds in any step is the first divergence, and the only one.
    #[test]
    fn a_planted_text_is_found_at_its_step(length in 1_usize..6, planted in 0_usize..6, n in any::<u8>()) {
        let planted = planted.min(length);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let world = World::in_memory().await;
            let steps: Vec<_> = (0..length).map(|at| Step::Calls(vec![(0, n.wrapping_add(at as u8))])).collect();
            let (_, recording) = world.record(&scripted(script(&steps, "end"), tools()), "run", Input::message("hi")).await;
            let mut replies = script(&steps, "end");
            let reply = std::mem::take(&mut replies[planted]);
            replies[planted] = with_text(reply, "planted");
            let options = Options { replies: Replies::Live, ..Options::default() };
            let (_, comparison) = replayed(&recording, &scripted(replies, tools()), &options).await;
            assert_eq!(comparison.first_divergence, Some(planted));
            assert_eq!(found(&comparison), format!("{}:Text", planted + 1));
        });
    }
}

#[tokio::test]
async fn a_miss_is_said_and_never_guessed() {
    let recording = recorded().await;
    // The same config with another prompt is no longer the same.
    let mut agent = dead();
    agent.instructions = Some("Another.".to_owned());
    let (seen, comparison) = replayed(&recording, &agent, &exact()).await;
    assert_eq!(seen.misses[0].what, "the request to the model");
    assert!(found(&comparison).starts_with("1:Prompt"), "{}", found(&comparison));
    // An unknown call: the model is told, or the run is stopped, or a model makes up a result.
    let calls = vec![Step::Calls(vec![(0, 99)])];
    let check = async |tools_mode: ToolMode, replies: Vec<Vec<Cue>>, misses: usize, simulated: u32, ending: &str| {
        let options = Options { replies: Replies::Live, tools: tools_mode, ..Options::default() };
        let agent = Agent { tools: crate::agents::dead_tools(), ..scripted(replies, Vec::new()) };
        let (seen, _) = replayed(&recording, &agent, &options).await;
        assert_eq!(seen.misses.len(), misses, "{tools_mode:?} {:?}", seen.misses);
        assert_eq!((seen.simulated, seen.recording.end().unwrap().ending.as_str()), (simulated, ending));
    };
    check(ToolMode::Recorded, script(&calls, "end"), 1, 0, "done").await;
    check(ToolMode::Stop, script(&calls, "end"), 1, 0, "stopped").await;
    // Nothing runs that is not named.
    check(ToolMode::Live, script(&calls, "end"), 1, 0, "done").await;
    let mut made_up = script(&calls, "end");
    made_up.insert(1, contract::testing::text_reply("{\"n\": 1}"));
    check(ToolMode::Simulate, made_up, 0, 1, "done").await;
}

#[tokio::test]
async fn a_replay_begins_at_a_step() {
    let recording = recorded().await;
    for from_step in 1..=3 {
        let (seen, comparison) = replayed(&recording, &dead(), &Options { from_step, ..exact() }).await;
        assert_eq!((seen.misses.len(), found(&comparison).as_str()), (0, ""), "{from_step}");
        assert_eq!(comparison.steps.len(), 4 - from_step as usize);
    }
    let missing = replay(&recording, &dead(), &Options { from_step: 4, ..exact() }, CancellationToken::new()).await;
    assert_snapshot!(missing.unwrap_err(), @"the recording has 3 request(s) of the agent, so the replay cannot begin with number 4");
}

#[tokio::test]
async fn what_differs_without_the_change_is_unstable() {
    let recording = recorded().await;
    let options = Options { replies: Replies::Live, ..Options::default() };
    let (_, repetition) = replayed(&recording, &scripted(script(&steps(), "Two."), tools()), &options).await;
    let (_, mut comparison) = replayed(&recording, &scripted(script(&steps(), "It is two."), tools()), &options).await;
    assert_eq!(comparison.first_divergence, Some(2));
    mark_unstable(&mut comparison, &[repetition]);
    assert_eq!(comparison.first_divergence, None);
    assert!(comparison.findings().all(|finding| finding.unstable));
}

#[tokio::test]
async fn reports_show_the_difference() {
    let recording = recorded().await;
    let options = Options { replies: Replies::Live, ..Options::default() };
    let mut agent = scripted(script(&steps(), "The answer is <three>.\u{1b}[2J"), tools());
    agent.instructions = Some("Help, and be kind.".to_owned());
    let (_, mut comparison) = replayed(&recording, &agent, &options).await;
    for step in &mut comparison.steps {
        (step.before.ms, step.after.ms) = (0, 0);
    }
    (comparison.before.ms, comparison.after.ms) = (1500, 2000);
    let text = terminal(&comparison, Style::Plain);
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert_snapshot!(text, @r"
    run run-1
    ~ step 1 helper  echo slow
        prompt: the system prompt
          Help, and be [-brief.-]{+kind.+}
    ~ step 2 helper  echo
        prompt: the system prompt
          Help, and be [-brief.-]{+kind.+}
    > step 3 helper
        first divergence
        prompt: the system prompt
          Help, and be [-brief.-]{+kind.+}
        text: the text
          The answer is [-two.-]{+<three>.�[2J+}

                  recorded     replayed
    steps                3            3
    tokens in           30           30
    tokens out          15           15
    cost           unknown      unknown
    time           1.500 s      2.000 s

    the first divergence is in step 3 of helper
    ");
    assert!(terminal(&comparison, Style::Colour).contains("\u{1b}[32m"));
    let fails = |finding: &Finding| finding.kind.is_divergence();
    let runs = [comparison];
    let report = junit(&runs, &fails);
    assert!(report.contains(r#"<testsuite name="run-1" tests="4" failures="1">"#), "{report}");
    assert!(report.contains(r#"<failure type="text" message="the text">"#), "{report}");
    assert!(report.contains("replayed: The answer is &lt;three&gt;.\u{fffd}[2J</failure>"), "{report}");
    let json = serde_json::to_value(JsonReport::new(&runs, false)).unwrap();
    assert_eq!(json["runs"][0]["firstDivergence"], 2);
    assert_eq!(json["runs"][0]["steps"][2]["findings"][1]["kind"], "text");
}

#[tokio::test]
async fn pages_mark_the_first_divergence_and_the_words_that_differ() {
    let recording = recorded().await;
    let options = Options { replies: Replies::Live, ..Options::default() };
    let check = async |agent: Agent, marks: &[&str], expected: &[&str]| {
        let (_, comparison) = replayed(&recording, &agent, &options).await;
        let html = comparison_view(&comparison, ("recorded", "replayed"), 1).to_html().replace("<!>", "");
        let shown: Vec<_> =
            html.split("cw-replay-mark").skip(1).filter_map(|rest| rest.split(['>', '<']).nth(1)).collect();
        assert_eq!(shown, marks, "{html}");
        for text in expected {
            assert!(html.contains(text), "{text}: {html}");
        }
    };
    let answer = "The answer is two.";
    check(scripted(script(&steps(), answer), tools()), &["Same", "Same", "Same"], &["Both are the same."]).await;
    let mut prompt = scripted(script(&steps(), "The answer is <three>."), tools());
    prompt.instructions = Some("Help, and be kind.".to_owned());
    let expected = [
        "They first differ in ",
        "href=\"#step-1-3\"",
        ": the text.",
        "<del>two.</del>",
        "<ins>&lt;three&gt;.</ins>",
        "<del>brief.</del><ins>kind.</ins>",
        "the first divergence is in step 3",
    ];
    check(prompt, &["Differs", "Differs", "First divergence"], &expected).await;
    let other = scripted(script(&[steps()[0].clone(), Step::Calls(vec![(0, 3)])], answer), tools());
    let expected = ["<del>2</del>", "<ins>3</ins>", ": the calls of tools", "Not in the recording: "];
    check(other, &["Same", "First divergence", "Same"], &expected).await;
    let more = scripted(script(&[steps()[0].clone()], answer), tools());
    check(more, &["Same", "First divergence", "Differs"], &["There is no such step."]).await;
}

/// A model with another name.
struct Renamed(Arc<dyn Model>);

impl Model for Renamed {
    fn id(&self) -> &ModelId {
        static ID: std::sync::LazyLock<ModelId> =
            std::sync::LazyLock::new(|| ModelId { provider: "scripted".to_owned(), model: "other".to_owned() });
        &ID
    }

    fn stream(&self, request: Request, cancel: CancellationToken) -> BoxFuture<'_, Result<PartStream, ModelError>> {
        self.0.stream(request, cancel)
    }
}
