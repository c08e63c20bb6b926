//! The Python extension module `bytepair._core`: the border between Python and the core.
//!
//! A function here converts its arguments, releases the GIL, calls the core, and turns an error into an
//! exception of `bytepair.errors`. It decides nothing.
//!
//! Doc comments of classes, methods and functions are Python docstrings, in its markup: `help` shows them, and
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
    reason = "doc comments here are Python docstrings, which are no Markdown"
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
mod template;
mod tokenizer;
mod training;

use pyo3::prelude::*;

/// The compiled core of bytepair.
// It needs no GIL: classes are frozen, and what changes is behind locks. A lock is held without Python, or whoever waits
// for it lets go of Python meanwhile, so that no thread waits for one that waits for it.
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
        template::Lengths,
        tokenizer::{
            CoreTokenizer, DecodeStream, Inspection, KnownToken, TokenCounter,
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
        training::Corpus,
    };

    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::importing::check(module.py())
    }
}
