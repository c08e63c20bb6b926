//! What is wrong, in a sentence for the reader of the page.

/// A sentence that says what is wrong.
pub(crate) struct Problem(pub(crate) String);

impl Problem {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

impl From<bytepair::Error> for Problem {
    fn from(error: bytepair::Error) -> Self {
        Self(error.to_string())
    }
}

impl From<serde_json::Error> for Problem {
    fn from(error: serde_json::Error) -> Self {
        Self(format!("the request is not understood: {error}"))
    }
}
