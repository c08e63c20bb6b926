//! `encode_by`: encodings by other rules than all merges.

use bytepair::serving::{Division, Method};
use bytepair::vocabulary::TokenId;
use pyo3::prelude::*;

use crate::convert::{Text, number, value_of};
use crate::error::{OrRaise, raise};
use crate::tokenizer::CoreTokenizer;
use crate::tokenizer::calls::{Keywords, Options, drawn_seed, probability};

/// The methods, with the rate that those with one have by default.
const METHODS: [(&str, Method); 5] = [
    ("dropout", Method::Dropout(0.1)),
    ("stochastok", Method::StochasTok(0.1)),
    ("uniform", Method::Divided(Division::Uniform)),
    ("fewest", Method::Divided(Division::Fewest)),
    ("longest", Method::Divided(Division::Longest)),
];

/// Return the ids of a text by another rule than all its merges.
///
/// Added tokens and pieces are those of ``encode``, and so are the bytes of all ids together. These methods are random,
/// and a ``seed`` makes them repeatable:
///
/// - ``"dropout"`` leaves out each merge with the probability ``rate``, 0.1 by default (BPE-dropout);
/// - ``"stochastok"`` splits tokens of the encoding, as many times as ``rate`` times their number, 0.1 by default
///   (StochasTok): each time a token is drawn, and replaced by two with the same bytes, if any two have them;
/// - ``"uniform"`` draws, for each piece, among all ways to make it of tokens, each as likely as any other.
///
/// These are not:
///
/// - ``"fewest"`` makes each piece of as few tokens as possible; out of several ways, it takes that with the longest
///   first token, then with the longest second one, and so on;
/// - ``"longest"`` takes the longest token that a piece begins with, and goes on behind it.
///
/// No method makes an added token or the unknown token of parts of a text.
///
/// >>> import bytepair
/// >>> from bytepair.serving import encode_by
/// >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
/// >>> tokenizer.encode("low"), encode_by(tokenizer, "low", "uniform", seed=6)
/// ([257], [256, 86])
///
/// Raises the errors of ``Tokenizer.encode``, and:
///
/// Raises
/// ------
/// TokenizerError
///     No method has this name, ``rate`` is not from 0 to 1, or ``rate`` or ``seed`` has no effect.
#[pyfunction]
#[pyo3(signature = (tokenizer, text, method, *, rate=None, seed=None, **options), text_signature = "(tokenizer, text, method, *, rate=None, seed=None, allowed_special=(), disallowed_special=(), added_tokens='find')")]
pub(crate) fn encode_by(
    py: Python<'_>,
    tokenizer: PyRef<'_, CoreTokenizer>,
    text: Text,
    method: &str,
    rate: Option<&Bound<'_, PyAny>>,
    seed: Option<&Bound<'_, PyAny>>,
    options: Option<Keywords<'_, '_>>,
) -> PyResult<Vec<TokenId>> {
    let options = Options::of("encode_by", options, &[])?;
    let mut chosen = value_of("method", method, &METHODS)?;
    let unused = match chosen {
        Method::Divided(_) if rate.is_some() => Some("rate"),
        Method::Divided(Division::Fewest | Division::Longest) if seed.is_some() => Some("seed"),
        _ => None,
    };
    if let Some(option) = unused {
        let message = format!("{option} has no effect with the method {method:?}; leave it out");
        return Err(raise("TokenizerError", message));
    }
    if let (Method::Dropout(held) | Method::StochasTok(held), Some(rate)) = (&mut chosen, rate) {
        *held = probability("rate", rate)?;
    }
    let seed = seed.map_or_else(|| drawn_seed(py), |seed| number("seed", seed))?;
    let (tokenizer, options) = (&tokenizer.0, options.core());
    py.detach(|| tokenizer.encode_by(chosen, seed, text.bytes(), options)).or_raise()
}
