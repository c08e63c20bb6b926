//! The Python extension module `bytepair._core`: the border between Python and the core.
//!
//! The functions here convert arguments, release the GIL, call the core, and turn errors into exceptions of
//! `bytepair.errors`. All decisions are made in the core or in Python.
//!
//! Doc comments of classes, methods and functions are Python docstrings in reStructuredText: `help` shows them, and
//! `make stubs` copies them into `_core.pyi`, which adds the types.

#![expect(
    clippy::needless_pass_by_value,
    clippy::too_many_arguments,
    reason = "signatures here are those of Python functions: keyword arguments, taken by value"
)]
#![allow(
    clippy::doc_lazy_continuation,
    clippy::doc_link_with_quotes,
    clippy::doc_markdown,
    reason = "doc comments here are Python docstrings, which are not Markdown"
)]

mod convert;
mod dialect;
mod encoding;
mod error;
mod formats;
mod importing;
mod measure;
mod output;
mod reading;
mod rows;
mod serving;
mod template;
mod tokenizer;
mod training;

use pyo3::prelude::*;

/// The compiled core of bytepair.
// The module does not need the GIL: classes are frozen, and mutable state is behind locks. To avoid deadlocks, a thread
// that holds a lock never waits for Python, or all threads that wait for the lock detach from Python first.
#[pymodule(gil_used = false)]
mod _core {
    #[pymodule_export]
    use crate::{
        dialect::{Dialect, dialect_names, pattern_names},
        encoding::Encoding,
        formats::{
            CoreSegmenter, check_whole_ranks, encoding_names, half_of_pair, pair_names,
            pair_settings, read, read_compiled_file, read_encoding, read_gguf, read_gpt1,
            read_pair, read_subword_vocabulary, read_tiktoken, read_tiktoken_sidecar,
            recognise_encodings, recognise_format, write, write_huggingface_with_changes,
        },
        importing::{instructions, ready},
        measure::{Measure, Usage, unicode_scripts},
        rows::{CountSums, CsvTable, PieceTable, count_rows_holding, read_jsonl},
        serving::{
            ids::{
                canonicalize, first_noncanonical, is_canonical, splice, stable_prefix,
                text_and_ends,
            },
            sampling::encode_by,
            segments::{SegmentEncoding, encode_segments, encode_segments_batch},
            tokens::{byte_trie, heal, token_texts},
        },
        template::Lengths,
        tokenizer::{
            CoreTokenizer, DecodeStream, Inspection, KnownToken, Session,
            changing::{
                added_tokens, built_on, extend_with_strings, merge_vocabularies, prune, remove,
                shorten, why_it_stays, with_added_tokens, with_lengths, with_special_tokens,
                with_tokens_at,
            },
            encode_rows,
            encoding::{encode_file, encode_full_rows, encode_word_rows},
            graphemes,
            reachability::{id_of_written, merged_units, unreached, why_in_no_piece, with_missing},
        },
        training::{Corpus, whole_words},
    };

    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::importing::check(module.py())
    }
}
