//! Kills the process at many moments while clients ask their users.

use super::{NewQuestion, QuestionState, TABLES, ask, begin, claim, question_state};
use crate::asking::form::OpenCall;
use crate::running::CallKey;
use ::store::{AddMessages, NewMessage, Schema, Store};
use std::time::Duration;
use test_process::KillTest;
use wire::UiMessage;

const KILLS: KillTest = KillTest {
    variable: "MCP_QUESTIONS_KILL_URL",
    test: "store::kill_tests::each_question_has_one_answer_however_often_the_server_is_killed",
};
const QUESTIONS: usize = 60;

async fn open(url: &str) -> Store {
    Schema::new(&[TABLES]).open(url, "", Duration::from_secs(10)).await.unwrap()
}

/// Adds the conversation `c` of `ada`.
pub(super) async fn add_conversation(database: &Store) {
    let message = UiMessage::user("m", "Hi");
    let add = AddMessages {
        conversation_id: "c".to_owned(),
        page_id: String::new(),
        agent_id: "helper".to_owned(),
        title: "Hi".to_owned(),
        insert: vec![NewMessage { parent_id: None, message }],
        now: 1,
    };
    database.add_branch("ada", add, Box::new(|_| Box::pin(async { Ok(()) }))).await.unwrap();
}

/// Returns the question with this number. Each is asked a day after the one before, so there are never too many.
fn question(number: usize) -> (NewQuestion, i64) {
    let (user_id, session_id) = ("ada".to_owned(), "s".to_owned());
    let question = NewQuestion {
        key: CallKey { user_id, session_id, request_id: number.to_string() },
        id: format!("q-{number}"),
        conversation_id: "c".to_owned(),
        call: OpenCall { tool_call_id: "t".to_owned(), approval_id: "p".to_owned(), input_hash: "h".to_owned() },
    };
    (question, i64::try_from(number).unwrap() * 24 * 60 * 60 * 1_000)
}

/// Asks the questions that were not asked, and answers those that have no answer.
async fn serve(url: &str) {
    let database = open(url).await;
    for number in 0..QUESTIONS {
        let (new, now) = question(number);
        let id = new.id.clone();
        if question_state(&database, "ada", &id).await.unwrap() == QuestionState::Ended {
            begin(&database, new.key.clone(), new.conversation_id.clone(), now).await.unwrap();
            assert!(ask(&database, new, now).await.unwrap());
        }
        claim(&database, "ada", &id).await.unwrap();
    }
    database.close().await;
}

/// Checks that no answered question takes another answer; returns the number of answered ones.
async fn check(url: &str) -> usize {
    let database = open(url).await;
    let mut answered = 0;
    for number in 0..QUESTIONS {
        let id = format!("q-{number}");
        if question_state(&database, "ada", &id).await.unwrap() == QuestionState::Answered {
            assert!(!claim(&database, "ada", &id).await.unwrap(), "{id}");
            answered += 1;
        }
    }
    database.close().await;
    answered
}

#[tokio::test(flavor = "multi_thread")]
async fn each_question_has_one_answer_however_often_the_server_is_killed() {
    if let Some(url) = KILLS.url() {
        return serve(&url).await;
    }
    let prepare = async |url: &str| {
        let database = open(url).await;
        add_conversation(&database).await;
        database.close().await;
    };
    KILLS.run_after(prepare, QUESTIONS, check).await;
}
