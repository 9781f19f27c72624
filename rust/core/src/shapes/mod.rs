//! The wire shapes, a reader for each family. A new one is a file here, its twin in Python, and a line in these lists.

mod anthropic;
mod atif;
mod bedrock;
mod chat;
mod codex;
mod gemini;
mod langchain;
mod openhands;
mod opentelemetry;
mod responses;
mod swe_agent;

pub(crate) use self::anthropic::Anthropic;
pub(crate) use self::atif::Atif;
pub(crate) use self::bedrock::Bedrock;
pub(crate) use self::chat::Chat;
pub(crate) use self::codex::Codex;
pub(crate) use self::gemini::Gemini;
pub(crate) use self::langchain::LangChain;
pub(crate) use self::openhands::OpenHands;
pub(crate) use self::opentelemetry::OpenTelemetry;
pub(crate) use self::responses::Responses;
pub(crate) use self::swe_agent::SweAgent;

/// What the first of some shapes has to say.
macro_rules! first_of {
    ([$($shape:ident)+] $method:ident $arguments:tt) => {
        None$(.or_else(|| $shape::$method $arguments))+
    };
}

/// The shapes whose messages have a role and a content, in the order in which they are asked.
macro_rules! with_content {
    ($then:ident $($rest:tt)+) => { $then!([SweAgent Chat Anthropic Bedrock] $($rest)+) };
}

/// All shapes, in the order in which they are asked. The last one takes any call and any result for its own.
macro_rules! all_shapes {
    ($then:ident $($rest:tt)+) => {
        $then!(
            [Gemini OpenTelemetry Responses Codex LangChain OpenHands Atif SweAgent Anthropic Bedrock Chat]
            $($rest)+
        )
    };
}

pub(crate) use {all_shapes, first_of, with_content};
