//! Recognizes the refusal of a request that is longer than the model's context. There is no status for it:
//! OpenAI has a code, and the others only say so in the message.

use contract::ModelErrorKind;

/// The texts of providers and the servers of local models, in lower case.
const TEXTS: [&str; 15] = [
    // OpenAI, DeepSeek, Groq, Mistral, and vLLM with the same words.
    "context_length_exceeded",
    "maximum context length",
    "exceeds the context window",
    // Anthropic, also with the room for the answer added.
    "prompt is too long",
    "exceed context limit",
    // Google.
    "exceeds the maximum number of tokens",
    // vLLM.
    "maximum model length",
    // xAI.
    "maximum prompt length",
    // Amazon Bedrock.
    "input is too long",
    // llama.cpp, LM Studio, Ollama.
    "exceed_context_size_error",
    "exceeds the available context size",
    "greater than the context length",
    "exceeds the context length",
    // Text Generation Inference, and Together, which uses it.
    "`inputs` tokens + `max_new_tokens`",
    "`inputs` must have less than",
];

/// Returns [`ModelErrorKind::ContextTooLong`] if the cause of a failure says so, else the kind. Some
/// servers answer with 500, and some codes of streams are not known, so both kinds are refined.
pub(crate) fn refine(kind: ModelErrorKind, cause: &str) -> ModelErrorKind {
    if !matches!(kind, ModelErrorKind::Refused | ModelErrorKind::Unavailable) {
        return kind;
    }
    let cause = cause.to_lowercase();
    if TEXTS.iter().any(|text| cause.contains(text)) { ModelErrorKind::ContextTooLong } else { kind }
}

#[cfg(test)]
mod tests {
    use super::refine;
    use contract::ModelErrorKind::{self, ContextTooLong, RateLimited, Refused, Unavailable};

    #[test]
    fn refusal_of_a_long_request_is_recognized_by_its_text() {
        let check = |kind: ModelErrorKind, cause: &str, expected: ModelErrorKind| {
            assert_eq!(refine(kind, cause), expected, "{cause}");
        };
        check(
            Refused,
            "This model's maximum context length is 128000 tokens. However, you requested 130000.",
            ContextTooLong,
        );
        check(Refused, r#"{"error":{"code":"context_length_exceeded"}}"#, ContextTooLong);
        check(Refused, "prompt is too long: 210133 tokens > 200000 maximum", ContextTooLong);
        check(Refused, "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000", ContextTooLong);
        check(
            Refused,
            "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
            ContextTooLong,
        );
        check(
            Refused,
            "The decoder prompt (length 5000) is longer than the maximum model length of 4096.",
            ContextTooLong,
        );
        check(
            Refused,
            "This model's maximum prompt length is 131072 but the request contains 140000 tokens.",
            ContextTooLong,
        );
        check(Unavailable, "the request exceeds the available context size, try increasing it", ContextTooLong);
        check(Refused, "max_tokens is too large", Refused);
        check(Refused, "Your prompt contains a word that is not allowed", Refused);
        check(Unavailable, "overloaded", Unavailable);
        // The limit of tokens per minute is not the model's context.
        check(RateLimited, "maximum context length", RateLimited);
    }
}
