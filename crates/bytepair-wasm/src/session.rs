//! The requests of a page, and the tokenizers that it has opened.

use bytepair::vocabulary::TokenId;
use serde::Deserialize;
use serde_json::json;

use crate::message::{self, Answer, Opened, Problem, Special};
use crate::train::Training;
use crate::{encode, files, names, train};

/// A request, by its `op`.
#[derive(Deserialize)]
#[serde(tag = "op", rename_all = "lowercase", deny_unknown_fields)]
pub(crate) enum Request {
    /// The names of dialects, patterns and published encodings.
    Names {},
    /// Opens a tokenizer from files.
    Open { files: Vec<files::FileLen>, dialect: Option<String> },
    /// Trains a tokenizer on a text.
    Train(Training),
    /// The steps of a training in the range `from..to`, counted from 0.
    Steps { tokenizer: usize, from: usize, to: usize },
    /// The ids of a text, with their spans.
    Encode { tokenizer: usize, special: Special },
    /// The tokens of ids.
    Tokens { tokenizer: usize, ids: Vec<TokenId> },
    /// How the piece at an offset of a text becomes ids.
    Trace { tokenizer: usize, at: usize, special: Special },
    /// The files of a tokenizer.
    Save { tokenizer: usize, format: String },
    /// Forgets a tokenizer.
    Close { tokenizer: usize },
}

/// The open tokenizers, each at the index of its number.
#[derive(Default)]
pub(crate) struct Session(Vec<Option<Opened>>);

impl Session {
    /// Answers a message with a message. Errors are in the answer, as `error`.
    pub(crate) fn answer_message(&mut self, request: &[u8]) -> Vec<u8> {
        let answer = message::parts(request).and_then(|(json, bytes)| {
            let request: Request = serde_json::from_slice(json)?;
            self.answer(request, bytes)
        });
        match answer {
            Ok(Answer { fields, bytes }) => message::joined(&json!({ "result": fields }), &bytes),
            Err(Problem(error)) => message::joined(&json!({ "error": error }), &[]),
        }
    }

    /// Runs a request.
    fn answer(&mut self, request: Request, bytes: &[u8]) -> Result<Answer, Problem> {
        match request {
            Request::Names {} => Ok(Answer::new(names::names())),
            Request::Open { files, dialect } => {
                let opened = files::open(&files, dialect.as_deref(), bytes)?;
                Ok(self.add(opened))
            }
            Request::Train(training) => Ok(self.add(train::train(&training, bytes)?)),
            Request::Steps { tokenizer, from, to } => train::steps(self.get(tokenizer)?, from, to),
            Request::Encode { tokenizer, special } => {
                encode::encode(&self.get(tokenizer)?.tokenizer, bytes, special)
            }
            Request::Tokens { tokenizer, ids } => {
                let known = names::by_id(&self.get(tokenizer)?.tokenizer, ids);
                Ok(Answer::new(json!({ "known": known })))
            }
            Request::Trace { tokenizer, at, special } => {
                encode::trace(&self.get(tokenizer)?.tokenizer, bytes, at, special)
            }
            Request::Save { tokenizer, format } => {
                files::save(&self.get(tokenizer)?.tokenizer, &format)
            }
            Request::Close { tokenizer } => {
                self.0.get_mut(tokenizer).and_then(Option::take).ok_or_else(not_open)?;
                Ok(Answer::new(json!({})))
            }
        }
    }

    fn get(&self, number: usize) -> Result<&Opened, Problem> {
        self.0.get(number).and_then(Option::as_ref).ok_or_else(not_open)
    }

    fn add(&mut self, opened: Opened) -> Answer {
        let course = opened.course.as_ref();
        let fields = json!({
            "tokenizer": self.0.len(),
            "info": names::info(&opened),
            "n_steps": course.map(|_| opened.tokenizer.parts().vocabulary.n_merges()),
            "n_bytes": course.map(|course| course.n_bytes),
        });
        self.0.push(Some(opened));
        Answer::new(fields)
    }
}

fn not_open() -> Problem {
    Problem::new("this tokenizer is no longer open")
}
