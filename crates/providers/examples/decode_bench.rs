//! Measures the decoding of a provider's stream: prints the nanoseconds per delta of two codecs,
//! socket included.
//!
//! ```sh
//! cargo run --release -p providers --example decode_bench
//! ```

use contract::{Message, Model, Part, Request, UserPart};
use futures::StreamExt;
use providers::ModelSettings;
use providers::anthropic::Anthropic;
use providers::openai_chat::OpenAiChat;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

const DELTAS: usize = 100_000;
const ROUNDS: usize = 5;

fn anthropic() -> String {
    let mut stream = String::from(
        "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\"}}\n\n\
         event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
    );
    stream.push_str(&"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"plain *text* and\\n\"}}\n\n".repeat(DELTAS));
    stream.push_str("event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n");
    stream
}

fn openai_chat() -> String {
    let head = "data: {\"id\":\"chatcmpl-bench\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"bench\",\"choices\":[{\"index\":0,\"delta\":";
    let delta = format!("{head}{{\"content\":\"plain *text* and\\n\"}},\"finish_reason\":null}}]}}\n\n");
    delta.repeat(DELTAS) + head + "{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"
}

/// Serves this stream to every client, on a separate task, so that writing it is not measured.
async fn serve(stream: String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            let _ = socket.read(&mut [0; 4096]).await;
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
            let _ = socket.write_all(head.as_bytes()).await;
            let _ = socket.write_all(stream.as_bytes()).await;
        }
    });
    url
}

/// Prints the best of several rounds, because disturbances only ever make a measurement longer.
async fn measure(name: &str, model: &dyn Model) {
    let mut best = Duration::MAX;
    for _ in 0..ROUNDS {
        let user = Message::User(vec![UserPart::Text { text: "hello".to_owned() }]);
        let request = Request { messages: vec![Arc::new(user)], ..Request::default() };
        let begun = Instant::now();
        let mut parts = model.stream(request, CancellationToken::new()).await.expect("a stream");
        let mut deltas = 0;
        while let Some(part) = parts.next().await {
            deltas += usize::from(matches!(part.expect("a part"), Part::TextDelta { .. }));
        }
        assert_eq!(deltas, DELTAS);
        best = best.min(begun.elapsed());
    }
    println!("{name}: {} ns for each delta", best.as_nanos() / DELTAS as u128);
}

#[tokio::main]
async fn main() {
    let settings = |base_url| ModelSettings {
        api_key: None,
        base_url: Some(base_url),
        headers: Vec::new(),
        public_only: false,
        model: "bench".to_owned(),
    };
    measure("anthropic", &Anthropic::new(settings(serve(anthropic()).await))).await;
    measure("openai_chat", &OpenAiChat::new(settings(serve(openai_chat()).await))).await;
}
