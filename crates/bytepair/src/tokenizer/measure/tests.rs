//! Sums beside those of the definition: each text whole, each token traced.

use std::io::Cursor;

use proptest::prelude::*;

use super::*;
use crate::encoding::Traced;
use crate::tokenizer::tests::{text, tokenizers};
use crate::tokenizer::walk::{Depth, Met};

/// Words of a pattern, and one that matches across spaces, so that a cut between pieces may be none between words.
const WORDS: [&str; 4] = [r"\S+", r"[\p{L}\p{M}]+", "[^t]+", r"a(?=b)|\p{N}+"];

fn naive(tokenizer: &Tokenizer, text: &[u8], words: Option<&str>, all: &mut (Sums, Vec<u64>)) {
    let (sums, counts) = all;
    let call = tokenizer.call(EncodeOptions::default()).unwrap();
    let row = call.trace(Segment::whole(text), 0).unwrap();
    sums.texts += 1;
    sums.bytes += text.len() as u64;
    sums.characters += text.iter().filter(|&&byte| byte & 0xC0 != 0x80).count() as u64;
    sums.lines += text.split_inclusive(|&byte| byte == b'\n').count() as u64;
    sums.tokens += row.ids.len() as u64;
    row.ids.iter().for_each(|&id| counts[id as usize] += 1);
    let mut n_pieces = 0;
    call.walk(&Traced::plain(Segment::whole(text)), Depth::Piece, |met| {
        n_pieces += match met {
            Met::Segment { .. } => 0,
            Met::Token { .. } => 1,
            Met::Text { place, .. } => u64::from(!place.is_empty()),
        };
        Ok(())
    })
    .unwrap();
    sums.pieces += n_pieces;
    let Some(words) = words else { return };
    let splitter = crate::test_support::splitter(words, Unmatched::Drop);
    let shares =
        |span: &(usize, usize), word: &Range<usize>| span.0 < word.end && span.1 > word.start;
    let mut pieces: Vec<(usize, usize)> = Vec::new();
    for (place, span) in row.offsets.iter().enumerate() {
        match pieces.last_mut() {
            Some(last) if row.words[place - 1] == row.words[place] => {
                *last = (last.0.min(span.0), last.1.max(span.1));
            }
            _ => pieces.push(*span),
        }
    }
    let note = |word: Range<usize>| -> crate::Result<()> {
        let n_tokens = row.offsets.iter().filter(|span| shares(span, &word)).count() as u64;
        sums.words += 1;
        sums.word_tokens += n_tokens;
        sums.word_pieces += pieces.iter().filter(|span| shares(span, &word)).count() as u64;
        sums.whole_words += u64::from(n_tokens == 1);
        sums.continued_words += u64::from(n_tokens > 1);
        Ok(())
    };
    splitter.for_each_piece(text, note).unwrap();
}

proptest! {
    #[test]
    fn sums_are_those_of_each_text_traced_as_a_whole_whatever_the_threads_and_cuts(
        which: prop::sample::Index,
        texts in prop::collection::vec(text(), 0..8),
        words in prop::option::of(prop::sample::select(WORDS.to_vec())),
        n_threads in 1..4_usize,
    ) {
        let tokenizer = which.get(tokenizers());
        let encodes = |text: &&[u8]| tokenizer.encode(text, EncodeOptions::default()).is_ok();
        let texts: Vec<_> = texts.iter().map(Vec::as_slice).filter(encodes).collect();
        let group = |text: &[u8]| usize::from(text.len().is_multiple_of(3));
        let groups: Vec<_> = texts.iter().map(|text| [&b"a"[..], b"b"][group(text)]).collect();
        let n_ids = tokenizer.parts.vocabulary.len();
        let mut expected = [0, 1].map(|_| (Sums::default(), vec![0; n_ids]));
        for text in &texts {
            naive(tokenizer, text, words, &mut expected[group(text)]);
        }
        let new = || Measure::new(Arc::clone(tokenizer), words, AddedTokens::Find).unwrap();
        let (mut at_once, mut streamed) = (new(), new());
        at_once.add(&texts, Some(&groups), n_threads).unwrap();
        for (text, group) in texts.iter().zip(&groups) {
            streamed.add_stream(Cursor::new(text), group, n_threads).unwrap();
        }
        for measure in [at_once, streamed] {
            for (number, name) in measure.groups().iter().enumerate() {
                let (sums, counts) = &expected[usize::from(name == b"b")];
                let found = (measure.sums(number), measure.counts(number));
                prop_assert_eq!(found.0.as_ref(), Some(sums));
                prop_assert_eq!(found.1.as_ref(), Some(counts));
            }
        }
    }
}

#[test]
fn too_many_groups_are_refused() {
    let mut measure = Measure::new(Arc::clone(&tokenizers()[0]), None, AddedTokens::Find).unwrap();
    let names: Vec<_> = (0..=MAX_GROUPS).map(|number| number.to_string()).collect();
    let names: Vec<_> = names.iter().map(String::as_bytes).collect();
    let texts = vec![&b""[..]; names.len()];
    let error = measure.add(&texts, Some(&names), 1).unwrap_err().to_string();
    assert!(error.contains("more than 1024"), "{error}");
}

proptest! {
    #[test]
    fn missing_units_are_named_whatever_the_threads_and_cuts(
        which: prop::sample::Index,
        texts in prop::collection::vec(text(), 0..8),
        n_threads in 1..4_usize,
    ) {
        let tokenizer = which.get(tokenizers());
        let Some((all, id)) = tokenizer.with_missing().unwrap() else { return Ok(()) };
        let encodes = |text: &&[u8]| all.encode(text, EncodeOptions::default()).is_ok();
        let texts: Vec<_> = texts.iter().map(Vec::as_slice).filter(encodes).collect();
        let mut expected = HashMap::new();
        for text in &texts {
            let row = all.call(EncodeOptions::default()).unwrap().trace(Segment::whole(text), 0).unwrap();
            let spans = row.ids.iter().zip(&row.offsets).filter(|(other, _)| *other == id);
            spans.for_each(|(_, &(start, end))| {
                *expected.entry(text[start..end].to_vec()).or_insert(0_u64) += 1;
            });
        }
        let new = || {
            let measure = Measure::new(Arc::clone(all), None, AddedTokens::Find).unwrap();
            measure.naming_missing(*id)
        };
        let (mut at_once, mut streamed) = (new(), new());
        at_once.add(&texts, None, n_threads).unwrap();
        for text in &texts {
            streamed.add_stream(Cursor::new(text), b"", n_threads).unwrap();
        }
        for measure in [at_once, streamed] {
            let found: HashMap<_, _> = measure.missing(0).unwrap_or_default().into_iter().collect();
            prop_assert_eq!(&found, &expected);
            let n = measure.counts(0).map_or(0, |counts| counts[*id as usize]);
            prop_assert_eq!(n, expected.values().sum::<u64>());
        }
    }
}
