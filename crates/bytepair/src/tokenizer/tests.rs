//! A text in parts against the whole: on threads, counted, truncated, as a stream.

use std::io::Cursor;
use std::ops::ControlFlow;
use std::sync::{Arc, OnceLock};

use proptest::prelude::*;

use super::id_file::{IdFile, IdFormat};
use super::session::begun_character;
use super::stream::Reading;
use super::{AddedTokens, EncodeOptions, Parts, Session, Tokenizer, Usage};
use crate::added::{AddedToken, Specials};
use crate::count::CorpusCounter;
use crate::dialect::Dialect;
use crate::error::{ErrorKind, Result};
use crate::normalize::{BertRules, NormalizeStep, SentencePiece, SentencePieceRules, UnicodeForm};
use crate::pretokenize::{PreTokenizer, Round};
use crate::sink::Sink;
use crate::template::{
    Lengths, Padding, Side, Template, TemplatePiece, Truncation, TruncationStrategy,
};
use crate::test_support::{added_token, normalizer, pattern, replace};
use crate::train::{Target, TrainProgress, train};
use crate::units::published_name;
use crate::vocabulary::{Merge, Token, TokenId, TokenKind};
use bytepair_split::unicode::UnicodeTables;
use bytepair_split::{Flavour, Splitter, Stage, Unmatched};

const CORPUS: &str =
    "low lower lowest newer wide  the cat's hat: 12 345 6789\n été 中文字。中文， да <s> low\n\n";

fn trained(dialect: &Dialect) -> Tokenizer {
    let special_tokens = vec!["<|end|>".to_owned(), "<s>".to_owned()];
    let preparation = dialect.preparation(&special_tokens).unwrap();
    let mut counter = CorpusCounter::new(preparation, 1).unwrap();
    counter.count_texts(&[CORPUS.repeat(3).as_bytes()]).unwrap();
    let (counts, _) = counter.finish().unwrap();
    let options = dialect.train_options(Target::Merges(40), special_tokens);
    let go_on = |_: TrainProgress| Ok(ControlFlow::Continue(()));
    let trained = train(&counts, &dialect.units, &options, go_on).unwrap();
    dialect.tokenizer(trained, &options).unwrap()
}

fn changed(name: &str, change: impl FnOnce(&mut Parts)) -> Tokenizer {
    let mut parts = trained(&Dialect::named(name).unwrap()).parts().clone();
    change(&mut parts);
    Tokenizer::new(parts).unwrap()
}

fn prepend(only_first: bool) -> NormalizeStep {
    crate::test_support::prepend("▁", only_first, false)
}

fn add(parts: &mut Parts, token: AddedToken) {
    let mut vocabulary = (*parts.vocabulary).clone();
    let content = token.content.clone();
    let id = vocabulary.push(Token { kind: TokenKind::Added, bytes: content.as_bytes() }).unwrap();
    parts.vocabulary = Arc::new(vocabulary);
    parts.added.push(AddedToken { id, ..token });
}

/// All dialects, and parts that they do not have.
pub(super) fn tokenizers() -> &'static [Arc<Tokenizer>] {
    static ALL: OnceLock<Vec<Arc<Tokenizer>>> = OnceLock::new();
    ALL.get_or_init(|| {
        let named = Dialect::names().map(|name| trained(&Dialect::named(name).unwrap()));
        let all = named.chain(with_normalizers()).chain(with_other_parts());
        all.map(Arc::new).collect()
    })
}

fn with_normalizers() -> Vec<Tokenizer> {
    let mut all = Vec::new();
    let bert = BertRules {
        clean_text: true,
        handle_chinese_chars: true,
        strip_accents: None,
        lowercase: true,
    };
    let steps = [
        vec![NormalizeStep::Form(UnicodeForm::Nfc)],
        vec![NormalizeStep::Form(UnicodeForm::Nfkd), NormalizeStep::StripAccents],
        vec![prepend(false), replace(" ", "▁")],
        vec![prepend(true), NormalizeStep::Lowercase],
        vec![NormalizeStep::Bert(bert)],
        vec![NormalizeStep::Strip { left: true, right: true }],
    ];
    for steps in steps {
        for name in ["gpt4o", "byte-stream"] {
            let steps = steps.clone();
            all.push(changed(name, |parts| parts.normalizer = normalizer(steps)));
        }
    }
    let sentencepiece = SentencePieceRules {
        adds_space: true,
        removes_extra_spaces: true,
        escapes_spaces: true,
        verbatim: vec!["low l".to_owned()],
        ..SentencePieceRules::default()
    };
    let step = NormalizeStep::SentencePiece(SentencePiece::new(sentencepiece).unwrap());
    all.push(changed("byte-stream", |parts| parts.normalizer = normalizer(vec![step])));
    all
}

fn with_other_parts() -> Vec<Tokenizer> {
    let mut all = Vec::new();
    let round = |steps, splitter| Round { change: normalizer(steps), splitter };
    for is_first in [false, true] {
        all.push(changed("gpt2", |parts| {
            let splitter = parts.pre_tokenizer.only_splitter().unwrap();
            let rounds = vec![
                round(vec![prepend(is_first)], splitter),
                round(vec![prepend(is_first)], Splitter::whole()),
            ];
            parts.pre_tokenizer = PreTokenizer::new(rounds);
        }));
    }
    all.push(changed("gpt4o", |parts| parts.ignore_merges = true));
    all.push(changed("byte-stream", |parts| parts.ignore_merges = true));
    // Stages that are not as one.
    all.push(changed("gpt4o", |parts| {
        let own = parts.pre_tokenizer.only_splitter().unwrap();
        let first = ["\\p{N}{1,3}", "[一-龥]+"]
            .map(|source| Stage::matches(pattern(source, Flavour::Oniguruma), Unmatched::Keep));
        let stages = [&first[..], own.stages()].concat();
        let splitter = Splitter::new(stages, &UnicodeTables::latest()).unwrap();
        parts.pre_tokenizer = PreTokenizer::new(vec![round(Vec::new(), splitter)]);
    }));
    // Spaces come as pieces.
    all.push(changed("gpt2", |parts| {
        ["  ", "   ", "    "].into_iter().for_each(|content| {
            add(parts, AddedToken { normalized: true, ..added_token(content) });
        });
    }));
    all.push(changed("gpt4o", |parts| {
        parts.ignore_merges = true;
        add(parts, AddedToken { whole_piece: true, ..added_token("hat") });
    }));
    for name in ["gpt2", "byte-stream"] {
        all.push(changed(name, |parts| {
            add(parts, AddedToken { lstrip: true, rstrip: true, ..added_token("<m>") });
            add(parts, AddedToken { single_word: true, ..added_token("hat") });
            add(parts, AddedToken { normalized: true, ..added_token("LOW ") });
            add(parts, added_token("  "));
            parts.normalizer = normalizer(vec![NormalizeStep::Lowercase, prepend(false)]);
        }));
    }
    all
}

pub(super) fn text() -> impl Strategy<Value = Vec<u8>> {
    let words = "low/ lower/lowest / /  /\n/the cat's/ 12345/:/été/中文字/。/，/ да/<s>/<m>/ <m> /hat/LOW /low l/e\u{301}/\u{301}/▁/<|end|>/<|en/q\u{3000}/\0";
    let words: Vec<_> = words.split('/').collect();
    let word = prop_oneof![
        12 => prop::sample::select(words).prop_map(|word| word.as_bytes().to_vec()),
        1 => prop::sample::select(vec![vec![0xFF], vec![0xE4, 0xB8], vec![0x80]]),
    ];
    prop::collection::vec(word, 0..24).prop_map(|words| words.concat())
}

pub(super) fn options(allows: bool) -> EncodeOptions<'static> {
    let allowed_special = if allows { Specials::All } else { Specials::None };
    EncodeOptions { allowed_special, ..EncodeOptions::default() }
}

/// The ids of a text that is cut into stretches of about a length.
pub(super) fn in_stretches(
    tokenizer: &Tokenizer,
    text: &[u8],
    options: EncodeOptions<'_>,
    (stretch_len, n_threads): (usize, usize),
) -> Result<Vec<TokenId>> {
    let mut call = tokenizer.call(options)?;
    call.stretch_len = Some(stretch_len);
    let (mut ids, own) = (Vec::new(), call.tokenizer);
    own.with_workers(n_threads, |workers| call.encode(text, 0, &mut ids, workers))?;
    Ok(ids)
}

/// The file of ids of a text that is read as a stream.
pub(super) fn streamed(
    tokenizer: &Tokenizer,
    options: EncodeOptions<'_>,
    format: IdFormat,
    reading: Reading<&[u8]>,
) -> Result<Vec<u8>> {
    let mut written = Cursor::new(Vec::new());
    let mut file = IdFile::new(&mut written, format, tokenizer.parts().vocabulary.len())?;
    let n_bytes = tokenizer.encode_stream(reading, options, &mut file, |_| Ok(()))?;
    assert_eq!(n_bytes, reading.reader.len() as u64);
    let n_ids = file.finish()?;
    let (width, header) = (if format.is_wide { 4 } else { 2 }, 128 * u64::from(format.has_header));
    assert_eq!(written.get_ref().len() as u64, header + width * n_ids);
    Ok(written.into_inner())
}

pub(super) fn message<T>(result: Result<T>) -> std::result::Result<T, String> {
    result.map_err(|error| error.to_string())
}

/// The definition of [`Tokenizer::truncate`], with the whole text in view.
fn truncated(tokenizer: &Tokenizer, text: &[u8], n_ids: usize) -> Vec<u8> {
    let all = tokenizer.encode(text, options(false)).unwrap();
    let full = tokenizer.encode_full(text, None, options(false)).unwrap();
    let mut ends = vec![0];
    if all.len() <= n_ids {
        return text.to_vec();
    }
    for (_, end) in &full.offsets[..n_ids] {
        ends.push((*ends.last().unwrap()).max(*end));
    }
    let is_whole = |end: usize| {
        text.get(end).is_none_or(|byte| byte & 0xC0 != 0x80)
            || (1..=3.min(end)).all(|n_back| {
                let start = &text[end - n_back..];
                crate::normalize::character_length(start).is_none_or(|length| length <= n_back)
            })
    };
    let ends =
        ends.into_iter().rev().map(|end| (0..=end).rev().find(|&end| is_whole(end)).unwrap());
    let fits =
        |end: &usize| tokenizer.encode(&text[..*end], options(false)).unwrap().len() <= n_ids;
    text[..ends.into_iter().find(fits).unwrap()].to_vec()
}

/// Pieces of a template for one text or two, each of which stands there once or more often.
fn template_pieces(n_texts: usize) -> impl Strategy<Value = Vec<TemplatePiece>> {
    let all = [TemplatePiece::First { type_id: 0 }, TemplatePiece::Second { type_id: 0 }];
    let all = all[..n_texts].to_vec();
    let which = prop::sample::select(all.clone());
    let special = prop::collection::vec(0..9_u32, 0..3);
    let piece = prop_oneof![which, special.prop_map(|ids| TemplatePiece::special(ids, 1))];
    prop::collection::vec(piece, 0..5).prop_map(move |mut pieces| {
        let missing: Vec<_> = all.iter().filter(|text| !pieces.contains(text)).cloned().collect();
        pieces.extend(missing);
        pieces
    })
}

fn truncation() -> impl Strategy<Value = Truncation> {
    let sides = prop::sample::select(vec![Side::Left, Side::Right]);
    (0..30_usize, sides).prop_map(|(max_length, side)| Truncation {
        max_length,
        stride: 0,
        strategy: TruncationStrategy::default(),
        side,
    })
}

/// The ids of a text in a template, from which each copy of the text loses an id until all are few enough.
fn arranged(
    template: &[TemplatePiece],
    adds: bool,
    text: &[TokenId],
    truncation: Option<&Truncation>,
) -> Vec<TokenId> {
    let piece = |piece: &TemplatePiece| match piece {
        TemplatePiece::Special { ids, .. } if adds => ids.clone(),
        TemplatePiece::Special { .. } => Vec::new(),
        _ => text.to_vec(),
    };
    let ids: Vec<_> = template.iter().flat_map(piece).collect();
    match (truncation, text) {
        (Some(cut), [_, rest @ ..]) if cut.max_length < ids.len() && cut.side == Side::Left => {
            arranged(template, adds, rest, truncation)
        }
        (Some(cut), [rest @ .., _]) if cut.max_length < ids.len() => {
            arranged(template, adds, rest, truncation)
        }
        _ => ids,
    }
}

proptest! {
    #[test]
    fn a_cut_changes_no_id(which: prop::sample::Index, text in text(), allows: bool) {
        let tokenizer = &tokenizers()[which.index(tokenizers().len())];
        let Ok(all) = tokenizer.encode(&text, options(allows)) else { return Ok(()) };
        let call = tokenizer.call(options(allows)).unwrap();
        for place in (1..text.len()).filter(|&place| tokenizer.is_cut(&text, place)) {
            let whole = crate::segment::Segment::whole(&text);
            let mut ids = Vec::new();
            tokenizer.workers.with(|worker| {
                call.encode_stretch(whole.part(0..place), &mut ids, worker).unwrap();
                call.encode_stretch(whole.rest(place), &mut ids, worker).unwrap();
            });
            prop_assert_eq!(&ids, &all, "at {}", place);
        }
    }

    #[test]
    fn threads_and_stretches_change_nothing(
        which: prop::sample::Index,
        text in text(),
        allows: bool,
        stretch_len in 1..30_usize,
        n_threads in 1..4_usize,
    ) {
        let tokenizer = &tokenizers()[which.index(tokenizers().len())];
        let disallowed = EncodeOptions { disallowed_special: Specials::All, ..options(allows) };
        let as_text = EncodeOptions { added_tokens: AddedTokens::Text, ..disallowed };
        let as_text = EncodeOptions { allowed_special: Specials::None, ..as_text };
        for options in [options(allows), disallowed, as_text] {
            let expected = message(tokenizer.encode(&text, options));
            let found = in_stretches(tokenizer, &text, options, (stretch_len, n_threads));
            prop_assert_eq!(message(found), expected.clone());
            let n_ids = message(tokenizer.count(&text, options, n_threads));
            prop_assert_eq!(n_ids, expected.clone().map(|ids| ids.len()));
            let in_stretches = tokenizer.count_batch(&[&text], options, n_threads);
            prop_assert_eq!(in_stretches.ok(), expected.ok().map(|ids| vec![ids.len()]));
        }
    }

    #[test]
    fn lengths_of_a_call_act_as_those_of_the_tokenizer(
        which: prop::sample::Index,
        texts in prop::collection::vec(text(), 1..4),
        (max_length, stride, pad_length) in (0..9_usize, 0..3_usize, prop::option::of(0..12_usize)),
        (is_left, cuts, fills, fits) in any::<(bool, bool, bool, bool)>(),
    ) {
        let tokenizer = &tokenizers()[which.index(tokenizers().len())];
        let side = if is_left { Side::Left } else { Side::Right };
        let strategy = TruncationStrategy::default();
        let truncation = cuts.then_some(Truncation { max_length, stride, strategy, side });
        let token = "!".to_owned();
        let padding = Padding { length: pad_length, multiple_of: Some(2), side, id: 0, type_id: 1, token };
        let padding = fills.then_some(padding);
        let template = Template::around(&[1], &[2, 3]);
        let other = Some(Truncation { max_length: 5, stride: 0, strategy, side });
        let with_other = tokenizer.with_lengths(template.clone(), other, None).unwrap();
        let lengths = Lengths { truncation: truncation.as_ref(), padding: padding.as_ref() };
        let own = tokenizer.with_lengths(template, truncation.clone(), padding.clone()).unwrap();
        let options = EncodeOptions {
            add_special_tokens: true,
            fit_length: Some(fits),
            ..options(true)
        };
        let of_call = EncodeOptions { lengths: Some(lengths), ..options };
        for text in &texts {
            let expected = message(own.encode(text, options));
            prop_assert_eq!(message(with_other.encode(text, of_call)), expected.clone());
            let found = with_other.with_ids(text, of_call, <[_]>::to_vec);
            prop_assert_eq!(message(found), expected.clone());
            let full = with_other.encode_full(text, None, of_call);
            prop_assert_eq!(message(full).map(|full| full.ids), expected);
        }
        let slices: Vec<_> = texts.iter().map(Vec::as_slice).collect();
        let found = message(with_other.encode_batch(&slices, of_call, 2));
        prop_assert_eq!(found, message(own.encode_batch(&slices, options, 2)));
        let pairs: Vec<_> = slices.iter().map(|&text| (text, Some(slices[0]))).collect();
        let found = message(with_other.encode_full_batch(&pairs, of_call, 2));
        prop_assert_eq!(found, message(own.encode_full_batch(&pairs, options, 2)));
    }

    #[test]
    fn a_template_is_put_around_the_ids_however_often_it_has_the_text(
        which: prop::sample::Index,
        texts in prop::collection::vec(text(), 1..4),
        single in template_pieces(1),
        pair in template_pieces(2),
        truncation in prop::option::of(truncation()),
        multiple_of in prop::option::of(1..5_usize),
        (adds, fits) in any::<(bool, Option<bool>)>(),
    ) {
        let tokenizer = &tokenizers()[which.index(tokenizers().len())];
        let template = Template { single, pair };
        let (id, token) = (5, String::new());
        let padding = multiple_of.map(|_| {
            Padding { length: None, multiple_of, side: Side::Left, id, type_id: 0, token }
        });
        let with_lengths =
            tokenizer.with_lengths(template.clone(), truncation.clone(), padding).unwrap();
        let all = EncodeOptions { add_special_tokens: adds, fit_length: fits, ..options(true) };
        let mut are_all_right = true;
        for text in &texts {
            let found = message(with_lengths.encode(text, all));
            let full = message(with_lengths.encode_full(text, None, all));
            prop_assert_eq!(full.map(|full| full.ids), found.clone());
            let n_ids = message(with_lengths.count(text, all, 2));
            prop_assert_eq!(n_ids, found.clone().map(|ids| ids.len()));
            are_all_right &= found.is_ok();
            let (Ok(ids), Ok(plain)) = (found, tokenizer.encode(text, options(true))) else {
                continue;
            };
            let cuts = fits.unwrap_or(adds);
            let truncation = truncation.as_ref().filter(|_| cuts);
            let expected = match adds || cuts {
                true => arranged(&template.single, adds, &plain, truncation),
                false => plain,
            };
            let n_filled = if cuts { ids.len() - expected.len() } else { 0 };
            prop_assert!(ids[..n_filled].iter().all(|&id| id == 5));
            prop_assert!(n_filled < multiple_of.unwrap_or(1).max(1));
            prop_assert_eq!(&ids[n_filled..], expected.as_slice());
        }
        let texts: Vec<_> = texts.iter().map(Vec::as_slice).collect();
        let batch = with_lengths.count_batch(&texts, all, 2);
        prop_assert_eq!(batch.is_ok(), are_all_right);
        if let (Ok(batch), Ok(rows)) = (batch, with_lengths.encode_batch(&texts, all, 2)) {
            prop_assert_eq!(batch, rows.texts().map(<[_]>::len).collect::<Vec<_>>());
        }
        let pairs = with_lengths.encode_full(texts[0], Some(texts[texts.len() - 1]), all);
        if let (Some(cut), Ok(found)) = (truncation.filter(|_| fits.unwrap_or(adds)), pairs) {
            let longest = cut.max_length.next_multiple_of(multiple_of.unwrap_or(1).max(1));
            prop_assert!(found.ids.len() <= longest);
        }
    }

    #[test]
    fn ids_in_memory_used_again_are_those_of_the_text(
        which: prop::sample::Index,
        texts in prop::collection::vec((text(), any::<bool>()), 1..5),
        forbids: bool,
    ) {
        let tokenizer = &tokenizers()[which.index(tokenizers().len())];
        let disallowed_special = if forbids { Specials::All } else { Specials::None };
        for (text, allows) in &texts {
            let options = EncodeOptions { disallowed_special, ..options(*allows) };
            let expected = message(tokenizer.encode(text, options));
            // Whoever takes the ids may encode again.
            let found = tokenizer.with_ids(text, options, |ids| {
                let again = tokenizer.with_ids(text, options, <[_]>::to_vec).unwrap();
                (ids.to_vec(), again)
            });
            let both = expected.map(|ids| (ids.clone(), ids));
            prop_assert_eq!(message(found), both);
        }
    }

    #[test]
    fn a_session_has_the_ids_of_its_text_after_every_change(
        which: prop::sample::Index,
        edits in prop::collection::vec((text(), any::<[prop::sample::Index; 2]>(), 0..6_u8), 0..8),
        (allows, forbids, is_text) in any::<(bool, bool, bool)>(),
        end in text(),
    ) {
        let tokenizer = &tokenizers()[which.index(tokenizers().len())];
        let disallowed_special = if forbids { Specials::All } else { Specials::None };
        let added_tokens = if is_text { AddedTokens::Text } else { AddedTokens::Find };
        let options = options(allows && !is_text);
        let options = EncodeOptions { disallowed_special, added_tokens, ..options };
        let mut session = Session::new(Arc::clone(tokenizer), options, true).unwrap();
        let mut counter = Session::new(Arc::clone(tokenizer), options, false).unwrap();
        let (mut text, mut ids) = (Vec::new(), Vec::new());
        for (part, places, kind) in &edits {
            let mut places = places.map(|place| place.index(text.len() + 1));
            places.sort_unstable();
            let [start, stop] = if *kind < 4 { [text.len(); 2] } else { places };
            let changed = [&text[..start], part, &text[stop..]].concat();
            let whole = changed.len() - begun_character(&changed);
            let expected = tokenizer.encode(&changed[..whole], options);
            let before = session.clone();
            let (ids_before, n_before) = (ids.clone(), counter.n_ids());
            let (patch, counted) = match kind {
                0..4 => (session.append(part), Some(counter.append(part))),
                4 if session.held().is_empty() && whole == changed.len() => {
                    (session.replace(start..stop, part), None)
                }
                _ => (session.update(&changed), None),
            };
            match (patch, expected) {
                (Ok(patch), Ok(expected)) => {
                    let after = ids_before.len() - patch.keep_after;
                    ids = [&ids_before[..patch.keep], &patch.ids, &ids_before[after..]].concat();
                    prop_assert_eq!(&ids, &expected);
                    text = changed;
                }
                (patch, expected) => {
                    prop_assert_eq!(message(patch.map(|_| Vec::new())), message(expected));
                    prop_assert_eq!(session.held(), before.held());
                }
            }
            prop_assert_eq!(session.ids().unwrap(), ids.clone());
            match counted {
                Some(Ok(_)) => prop_assert_eq!(counter.n_ids(), ids.len()),
                Some(Err(_)) => prop_assert_eq!(counter.n_ids(), n_before),
                None => {
                    counter = Session::new(Arc::clone(tokenizer), options, false).unwrap();
                    prop_assert!(counter.append(&text).is_ok());
                }
            }
            let longer = [text.as_slice(), &end].concat();
            if let Ok(longer) = tokenizer.encode(&longer, options) {
                let n_stable = session.n_stable();
                prop_assert_eq!(&longer[..n_stable], &ids[..n_stable]);
            }
        }
    }

    #[test]
    fn a_truncated_text_is_that_of_the_definition(which: prop::sample::Index, text in text(), n_ids in 0..30_usize) {
        let tokenizer = &tokenizers()[which.index(tokenizers().len())];
        prop_assume!(tokenizer.encode(&text, options(false)).is_ok());
        let found = tokenizer.truncate(&text, n_ids, options(false)).unwrap();
        prop_assert!(text.starts_with(found));
        prop_assert_eq!(found, truncated(tokenizer, &text, n_ids));
        prop_assert!(tokenizer.count(found, options(false), 1).unwrap() <= n_ids);
    }

    #[test]
    fn a_stream_gives_the_ids_of_the_text(
        which: prop::sample::Index,
        text in text(),
        stretch_len in 1..30_usize,
        n_threads in 1..3_usize,
        (is_wide, is_text) in any::<(bool, bool)>(),
    ) {
        let tokenizer = &tokenizers()[which.index(tokenizers().len())];
        let added_tokens = if is_text { AddedTokens::Text } else { AddedTokens::Find };
        let options = EncodeOptions { added_tokens, ..options(!is_text) };
        let format = IdFormat { is_wide, has_header: false };
        let reading = Reading { stretch_len: Some(stretch_len), ..Reading::new(text.as_slice(), n_threads) };
        let written = streamed(tokenizer, options, format, reading);
        let expected = tokenizer.encode(&text, options);
        prop_assert_eq!(written.is_ok(), expected.is_ok());
        let (Ok(written), Ok(ids)) = (written, expected) else { return Ok(()) };
        let bytes = ids.iter().flat_map(|id| id.to_le_bytes()[..if is_wide { 4 } else { 2 }].to_vec());
        prop_assert_eq!(written, bytes.collect::<Vec<_>>());
    }
}

#[test]
fn zeros_are_numbers_like_others() {
    let tokenizer = &tokenizers()[0];
    let (texts, options): ([&[u8]; 2], _) = ([b"low lower", b""], EncodeOptions::default());
    let all: Vec<_> = texts.iter().map(|text| tokenizer.encode(text, options).unwrap()).collect();
    let lens: Vec<_> = all.iter().map(Vec::len).collect();
    assert_eq!(tokenizer.encode_in(Vec::new(), texts[0], options, 0).unwrap(), all[0]);
    assert_eq!(tokenizer.count_batch(&texts, options, 0).unwrap(), lens);
    let batch = tokenizer.encode_batch(&texts, options, 0).unwrap();
    assert!(batch.texts().eq(all.iter().map(Vec::as_slice)));
    let pairs = texts.map(|text| (text, None));
    let full = tokenizer.encode_full_batch(&pairs, options, 0).unwrap();
    assert!(full.iter().map(|full| &full.ids).eq(&all));
    let words = [(&texts[..], None)];
    assert_eq!(tokenizer.encode_words_batch(&words, true, options, 0).unwrap().len(), 1);
    let mut usage = Usage::new(0);
    usage.add(tokenizer, &texts, 0).unwrap();
    usage.settle(tokenizer, 0).unwrap();
    assert_eq!(usage.kept.iter().sum::<u64>(), lens.iter().sum::<usize>() as u64);
}

#[test]
fn a_merge_of_an_id_that_no_token_has_is_refused() {
    let parts = tokenizers()[0].parts();
    let n_ids = TokenId::try_from(parts.vocabulary.len()).unwrap();
    for merge in [(n_ids, 0, 0), (0, n_ids, 0), (0, 0, n_ids)] {
        let (left, right, result) = merge;
        let mut vocabulary = (*parts.vocabulary).clone();
        vocabulary.push_merge_to(Merge { left, right, result });
        let parts = Parts { vocabulary: Arc::new(vocabulary), ..parts.clone() };
        assert!(Tokenizer::new(parts).is_err(), "{merge:?}");
    }
}

#[test]
fn an_id_that_a_file_of_small_numbers_does_not_hold_is_refused() {
    let format = IdFormat { is_wide: false, has_header: false };
    let mut file = IdFile::new(Cursor::new(Vec::new()), format, 9).unwrap();
    file.push(&[65_535]).unwrap();
    let error = file.push(&[1, 70_000]).unwrap_err().to_string();
    assert!(error.contains("the id 70000 does not fit uint16"), "{error}");
    assert_eq!(file.finish().unwrap(), 1);
}

#[test]
fn a_published_name_has_the_smallest_id_that_is_named_so() {
    for tokenizer in tokenizers() {
        let parts = tokenizer.parts();
        let name = |(id, token)| (published_name(&parts.units, token), id);
        let all: Vec<_> = parts.vocabulary.iter().map(name).collect();
        for (name, _) in &all {
            let first = all.iter().find(|(other, _)| other == name).map(|(_, id)| *id);
            assert_eq!(tokenizer.id_of_published(name), first, "{name}");
            for other in [format!("{name}\u{2581}"), format!("#{name}"), name.replace('l', "é")] {
                let first = all.iter().find(|(name, _)| *name == other).map(|(_, id)| *id);
                assert_eq!(tokenizer.id_of_published(&other), first, "{other}");
            }
        }
    }
}

#[test]
fn most_tokenizers_can_be_cut_and_some_cannot() {
    let text = "the cat, the hat. low lowest: newer".repeat(3);
    let n_cuts = |tokenizer: &Tokenizer| {
        (1..text.len()).filter(|&place| tokenizer.is_cut(text.as_bytes(), place)).count()
    };
    let without = tokenizers().iter().filter(|tokenizer| n_cuts(tokenizer) == 0).count();
    // Those that strip the ends of a text, and those that take a whole text that is a token.
    assert_eq!(without, 3);
}

#[test]
fn an_error_in_a_stream_says_where_it_is() {
    let text = "low lower ".repeat(100) + "<s>";
    let tokenizer = trained(&Dialect::named("gpt2").unwrap());
    let options = EncodeOptions { disallowed_special: Specials::All, ..EncodeOptions::default() };
    let format = IdFormat { is_wide: true, has_header: true };
    let stream = |text: &str, options| {
        let reading = Reading { stretch_len: Some(50), ..Reading::new(text.as_bytes(), 2) };
        streamed(&tokenizer, options, format, reading)
    };
    let error = stream(&text, options).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::DisallowedSpecial { offset: 1000, .. }), "{error}");
    let file = stream("low", EncodeOptions::default()).unwrap();
    assert!(file.starts_with(
        b"\x93NUMPY\x01\x00\x76\x00{'descr': '<u4', 'fortran_order': False, 'shape': (1,), }"
    ));
    assert_eq!((file[127], file.len()), (b'\n', 132));
}

#[test]
fn a_part_that_cannot_be_cut_and_is_too_long_is_an_error_that_says_where() {
    let tokenizer = trained(&Dialect::named("gpt2").unwrap());
    let text = format!("{}{} low", "low new ".repeat(10), "a".repeat(5000));
    let stream = |max_uncut, n_threads| {
        let format = IdFormat { is_wide: true, has_header: false };
        let reading = Reading {
            stretch_len: Some(50),
            max_uncut: Some(max_uncut),
            ..Reading::new(text.as_bytes(), n_threads)
        };
        streamed(&tokenizer, EncodeOptions::default(), format, reading)
    };
    for n_threads in [1, 2] {
        assert_eq!(
            stream(6000, n_threads).unwrap().len(),
            4 * tokenizer.encode_ordinary(text.as_bytes()).unwrap().len()
        );
        let error = stream(1000, n_threads).unwrap_err();
        let ErrorKind::PartTooLong { offset, most, .. } = error.kind() else { panic!("{error}") };
        // The space before the letters belongs to their piece.
        assert_eq!((*offset, *most), (79, 1000));
        assert!(error.to_string().contains("from byte 79 on, which begin \" aaaa"), "{error}");
    }
}
