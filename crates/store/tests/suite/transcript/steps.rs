//! Requests to models, and their usage.

use crate::support::{begin, end, on_each_database};
use store::{FinishRun, StepRecord, StepTotals};
use wire::api::TokenUsage;

fn step(conversation_id: &str, number: u32, cost_usd: Option<f64>) -> StepRecord {
    StepRecord {
        at: 5,
        owner: "ada".to_owned(),
        conversation_id: Some(conversation_id.to_owned()),
        message_id: Some("a-m".to_owned()),
        run_id: "r-m".to_owned(),
        agent_id: "agent".to_owned(),
        call_id: None,
        number,
        provider: "demo".to_owned(),
        model: "small".to_owned(),
        finish_reason: "stop".to_owned(),
        usage: TokenUsage { input_tokens: 100, output_tokens: 10, cache_read_tokens: 40, ..TokenUsage::default() },
        cost_usd,
        saved_usd: cost_usd.map(|cost| cost / 2.0),
        first_part_ms: 20,
        whole_ms: 50,
    }
}

#[tokio::test]
async fn usage_of_a_conversation_is_summed_for_its_owner() {
    on_each_database(async |store| {
        let epoch = begin(store, "c", "m", None, 1).await;
        store.append_steps(vec![step("c", 1, None), step("c", 2, Some(0.25))]).await.unwrap();
        store.append_steps(vec![step("other", 1, Some(9.0))]).await.unwrap();
        let finish = FinishRun { steps: vec![step("c", 3, Some(0.5))], ..end("m", epoch, 2) };
        store.finish_run(finish.clone()).await.unwrap();
        // Reported again after a lost reply: nothing is counted twice.
        store.finish_run(finish).await.unwrap();
        let usage =
            TokenUsage { input_tokens: 300, output_tokens: 30, cache_read_tokens: 120, ..TokenUsage::default() };
        assert_eq!(
            store.totals("ada", "c").await.unwrap(),
            StepTotals { steps: 3, usage, cost_usd: Some(0.75), saved_usd: Some(0.375) }
        );
        let numbers: Vec<_> = store.steps("ada", "c").await.unwrap().iter().map(|step| step.number).collect();
        assert_eq!(numbers, [1, 2, 3]);
        assert_eq!(store.totals("eve", "c").await.unwrap(), StepTotals::default());
        assert_eq!(store.steps("eve", "c").await.unwrap(), []);
    })
    .await;
}

#[tokio::test]
async fn steps_outlive_the_conversation_and_sums_do_not_overflow() {
    on_each_database(async |store| {
        begin(store, "c", "m", None, 1).await;
        let nonsense = TokenUsage { input_tokens: u64::MAX, ..TokenUsage::default() };
        let steps = vec![
            StepRecord { usage: nonsense, ..step("c", 1, None) },
            StepRecord { usage: nonsense, ..step("c", 2, None) },
        ];
        store.append_steps(steps).await.unwrap();
        assert!(store.delete_conversation("ada", "c", Vec::new()).await.unwrap());
        let totals = store.totals("ada", "c").await.unwrap();
        assert_eq!((totals.steps, totals.cost_usd, totals.saved_usd), (2, None, None));
        assert!(totals.usage.input_tokens > i64::MAX as u64);
    })
    .await;
}
