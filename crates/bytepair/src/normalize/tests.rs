//! Each step on small texts, and on random ones its two ways against each other.

use proptest::prelude::*;

use super::*;
use crate::test_support::{pattern, prepend, replace};
use bytepair_split::Flavour;
use bytepair_split::unicode::{TextClass, published_class};

fn normalizer(steps: Vec<NormalizeStep>) -> Normalizer {
    Normalizer::new(steps, UnicodeTables::hugging_face())
}

fn whole(text: &[u8]) -> Segment<'_> {
    Segment::whole(text)
}

fn normalized(step: NormalizeStep, text: &str) -> String {
    let changed = normalizer(vec![step]).normalize(whole(text.as_bytes())).unwrap().into_owned();
    String::from_utf8(changed).unwrap()
}

fn spans(step: NormalizeStep, text: &str) -> Vec<(usize, usize)> {
    normalizer(vec![step]).normalize_aligned(whole(text.as_bytes())).unwrap().spans
}

fn text_pattern(source: &str) -> crate::error::Result<TextPattern> {
    TextPattern::new(pattern(source, Flavour::Oniguruma), &UnicodeTables::hugging_face())
}

const BERT: BertRules = BertRules {
    clean_text: true,
    handle_chinese_chars: true,
    strip_accents: None,
    lowercase: true,
};

fn characters_map() -> CharsMap {
    let rules =
        [("\u{FB01}", "fi"), ("e\u{301}", "é"), ("\u{200B}", ""), ("\u{3000}", " "), ("\n", " ")];
    CharsMap::parse(&charsmap::tests::build(&rules)).unwrap()
}

#[test]
fn forms_leave_invalid_bytes_alone() {
    let step = NormalizeStep::Form(UnicodeForm::Nfkc);
    let changed =
        normalizer(vec![step]).normalize(whole(b"\xEF\xBD\x81\xFF")).unwrap().into_owned();
    assert_eq!(changed, b"a\xFF");
}

#[test]
fn a_form_leaves_alone_what_its_version_does_not_know() {
    // U+105C9 of Unicode 16.0 is U+105D2 U+0307 decomposed; U+1DF6 came with 10.0.
    let form = |unicode, text: &str| {
        let normalizer = Normalizer::new(vec![NormalizeStep::Form(UnicodeForm::Nfd)], unicode);
        let aligned = normalizer.normalize_aligned(whole(text.as_bytes())).unwrap();
        assert_eq!(normalizer.normalize(whole(text.as_bytes())).unwrap(), aligned.text);
        String::from_utf8(aligned.text).unwrap()
    };
    assert_eq!(form(UnicodeTables::latest(), "\u{105C9}é"), "\u{105D2}\u{307}e\u{301}");
    assert_eq!(form(UnicodeTables::hugging_face(), "\u{105C9}é"), "\u{105C9}e\u{301}");
    let marks = "a\u{301}\u{1DF6}\u{316}";
    assert_eq!(form(UnicodeTables::hugging_face(), marks), marks);
}

#[test]
fn bert_cleans_surrounds_strips_and_lowers() {
    assert_eq!(normalized(NormalizeStep::Bert(BERT), "É\0\t中\u{AD}x"), "e  中 x");
    let kept = BertRules { strip_accents: Some(false), ..BERT };
    assert_eq!(normalized(NormalizeStep::Bert(kept), "É"), "é");
}

#[test]
fn what_a_pattern_matches_is_replaced() {
    let step = |source| NormalizeStep::ReplaceMatches {
        pattern: text_pattern(source).unwrap(),
        to: "▁".to_owned(),
    };
    assert_eq!(normalized(step(" {2,}"), "a  b   c d"), "a▁b▁c d");
    assert_eq!(spans(step(" {2,}"), "a  b"), [(0, 1), (2, 3), (2, 3), (2, 3), (3, 4)]);
    assert!(text_pattern(" *").is_err());
    assert_eq!(normalized(step(r"^[ \t]+"), "  a b\n\t c"), "▁a b\n▁c");
    assert_eq!(normalized(step(r"(?<=a)b(?!c)"), "abab abc"), "a▁a▁ abc");
    assert_eq!(normalized(step(r"\bb\b"), "b ab b"), "▁ ab ▁");
}

#[test]
fn a_compiled_map_replaces_clusters_by_their_shortest_key() {
    let step = || NormalizeStep::Precompiled(characters_map());
    assert_eq!(normalized(step(), "ﬁe\u{301}\u{200B}x\n"), "fiéx ");
    // The key for the line feed replaces the whole cluster.
    assert_eq!(normalized(step(), "\u{FB01}\u{301}"), "fi");
}

#[test]
fn spans_follow_what_stands_before() {
    assert_eq!(spans(prepend("▁", false, false), "ab"), [(0, 1), (0, 1), (0, 1), (0, 1), (1, 2)]);
    let form = NormalizeStep::Form(UnicodeForm::Nfc);
    assert_eq!(spans(form, "e\u{301}x"), [(0, 1), (0, 1), (3, 4)]);
    let form = NormalizeStep::Form(UnicodeForm::Nfkd);
    assert_eq!(spans(form, "ﬁx"), [(0, 3), (0, 3), (3, 4)]);
    let bert = BertRules { lowercase: false, ..BERT };
    assert_eq!(spans(NormalizeStep::Bert(bert), "\0a\0b"), [(1, 2), (3, 4)]);
}

#[test]
fn spans_of_a_piece_lead_to_the_segment() {
    let outer = normalizer(vec![NormalizeStep::Form(UnicodeForm::Nfkd)]);
    let outer = outer.normalize_aligned(whole("aﬁ b".as_bytes())).unwrap();
    let inner = normalizer(vec![prepend("▁", false, false)])
        .normalize_aligned(whole(&outer.text[1..3]))
        .unwrap();
    let joined = outer.followed_by(1, &inner);
    assert_eq!(joined.spans, [(1, 4); 5]);
}

#[test]
fn published_classes_are_patterns() {
    for class in [TextClass::Numeric, TextClass::Punctuation] {
        let pattern = text_pattern(&published_class(class)).unwrap();
        let tables = UnicodeTables::hugging_face();
        for character in '\0'..=char::MAX {
            let mut buffer = [0; 4];
            let is_match =
                !pattern.matches(character.encode_utf8(&mut buffer).as_bytes()).unwrap().is_empty();
            let is_symbol = class == TextClass::Punctuation && character.is_ascii_punctuation();
            assert_eq!(is_match, is_symbol || tables.is_in(class, character), "{character:?}");
        }
    }
}

/// What a normalizer makes of the two parts of a text.
fn in_two_parts(normalizer: &Normalizer, text: &[u8], cut: usize) -> Vec<u8> {
    let left = Segment { is_last: false, ..Segment::whole(&text[..cut]) };
    let right = Segment { is_first: false, is_rest: true, ..Segment::whole(&text[cut..]) };
    [normalizer.normalize(left).unwrap(), normalizer.normalize(right).unwrap()].concat()
}

#[test]
fn a_costly_pattern_gives_up_with_its_place() {
    let pattern = text_pattern(r"(?<!b)(?:a+)+c").unwrap();
    let step = NormalizeStep::ReplaceMatches { pattern, to: String::new() };
    let problem = normalizer(vec![step]).normalize(whole(&[b'a'; 64])).unwrap_err();
    assert!(matches!(problem.kind(), crate::ErrorKind::Split(_)), "{problem}");
}

fn any_step() -> impl Strategy<Value = NormalizeStep> {
    let forms = [UnicodeForm::Nfc, UnicodeForm::Nfd, UnicodeForm::Nfkc, UnicodeForm::Nfkd];
    let bert = any::<(bool, bool, Option<bool>, bool)>().prop_map(|rules| {
        let (clean_text, handle_chinese_chars, strip_accents, lowercase) = rules;
        NormalizeStep::Bert(BertRules {
            clean_text,
            handle_chinese_chars,
            strip_accents,
            lowercase,
        })
    });
    let pattern = prop::sample::select(vec![
        " {2,}", r"\s+", "[a-c]", r"\p{M}+", r"^\s+", r"(?<=a)b", r"\bb",
    ]);
    let pattern = pattern.prop_map(|source| NormalizeStep::ReplaceMatches {
        pattern: text_pattern(source).unwrap(),
        to: "xé".to_owned(),
    });
    prop_oneof![
        Just(NormalizeStep::Lowercase),
        prop::sample::select(forms.to_vec()).prop_map(NormalizeStep::Form),
        prop::sample::select(vec![(" ", "▁"), ("a", ""), ("é", "ab")])
            .prop_map(|(from, to)| replace(from, to)),
        any::<(bool, bool)>().prop_map(|(only_first, unless_there)| prepend(
            "▁",
            only_first,
            unless_there
        )),
        any::<(bool, bool)>().prop_map(|(left, right)| NormalizeStep::Strip { left, right }),
        Just(NormalizeStep::StripAccents),
        Just(NormalizeStep::Nmt),
        Just(NormalizeStep::ByteChars),
        Just(NormalizeStep::CharBytes),
        Just(NormalizeStep::Precompiled(characters_map())),
        bert,
        pattern,
    ]
}

fn any_text() -> impl Strategy<Value = Vec<u8>> {
    let parts = "a b é ﬁ e\u{301} \u{316} \u{1DF6} \u{105C9} 한 \u{1100}\u{1161} 中 İ \u{200B} \u{FFFD} \u{344} \u{F73}";
    let part = prop::sample::select(parts.split(' ').collect::<Vec<_>>());
    prop_oneof![
        4 => prop::collection::vec(prop_oneof![part.prop_map(|part| part.as_bytes().to_vec()),
            prop::sample::select(vec![b" ".to_vec(), b"  ".to_vec(), b"\0".to_vec(), b"\t".to_vec(), b"\xFF".to_vec(), b"\xE2\x80".to_vec()])],
            0..12).prop_map(|parts| parts.concat()),
        1 => any::<String>().prop_map(String::into_bytes),
    ]
}

proptest! {
    #[test]
    fn the_aligned_way_gives_the_same_text(
        steps in prop::collection::vec(any_step(), 0..5),
        text in any_text(),
        is_first: bool,
    ) {
        let normalizer = normalizer(steps);
        let segment = Segment { is_first, ..Segment::whole(&text) };
        let aligned = normalizer.normalize_aligned(segment).unwrap();
        prop_assert_eq!(&*normalizer.normalize(segment).unwrap(), &aligned.text[..]);
        prop_assert_eq!(aligned.spans.len(), aligned.text.len());
        prop_assert!(aligned.spans.iter().all(|&(start, end)| start <= end && end <= text.len()));
        prop_assert!(aligned.spans.is_sorted());
    }

    #[test]
    fn a_cut_changes_nothing(steps in prop::collection::vec(any_step(), 0..4), text in any_text()) {
        let normalizer = normalizer(steps);
        let all = normalizer.normalize(whole(&text)).unwrap().into_owned();
        for cut in (1..text.len()).filter(|&cut| normalizer.can_cut(&text, cut)) {
            prop_assert_eq!(in_two_parts(&normalizer, &text, cut), &all[..], "at {}", cut);
        }
    }
}

#[test]
fn chinese_and_russian_can_be_cut_anywhere_before_composition() {
    let normalizer = normalizer(vec![NormalizeStep::Form(UnicodeForm::Nfc)]);
    let cuts = |text: &str| {
        (0..text.len()).filter(|&cut| normalizer.can_cut(text.as_bytes(), cut)).count()
    };
    assert_eq!(cuts("十分，好"), 4);
    assert_eq!(cuts("да"), 2);
    assert_eq!(cuts("e\u{301}"), 1);
}

proptest! {
    #[test]
    fn every_part_of_a_normalized_text_is_left_as_it_is(
        text in "([a-cAİΣé ▁ﬁ각]|e\u{301}|\u{308}\u{301}|\u{1100}\u{1161}|\\PC){0,9}",
        (start, end) in (0..30_usize, 0..30_usize),
    ) {
        let spaces = || replace(" ", "▁");
        let forms = [UnicodeForm::Nfc, UnicodeForm::Nfd, UnicodeForm::Nfkc, UnicodeForm::Nfkd];
        let mut all = vec![vec![NormalizeStep::Lowercase], vec![NormalizeStep::StripAccents]];
        all.extend(forms.map(|form| vec![NormalizeStep::Form(form)]));
        all.extend(forms.map(|form| vec![NormalizeStep::Form(form), spaces()]));
        all.push(vec![NormalizeStep::Lowercase, spaces()]);
        for (strip_accents, lowercase) in [(None, true), (Some(false), true), (Some(true), false)] {
            let (clean_text, handle_chinese_chars) = (true, true);
            let rules = BertRules { clean_text, handle_chinese_chars, strip_accents, lowercase };
            all.push(vec![NormalizeStep::Bert(rules)]);
        }
        for steps in all {
            let normalizer = normalizer(steps);
            let whole = normalizer.normalize(Segment::whole(text.as_bytes())).unwrap();
            let whole = String::from_utf8(whole.into_owned()).unwrap();
            let part: String = whole.chars().skip(start).take(end).collect();
            for step in normalizer.closed_steps() {
                prop_assert!(!step.changes(part.as_bytes()).unwrap());
            }
        }
    }
}

#[test]
fn a_step_is_asked_only_where_nothing_behind_it_could_give_the_text() {
    let spaces = || replace(" ", "▁");
    let form = || NormalizeStep::Form(UnicodeForm::Nfkc);
    let strip = || NormalizeStep::Strip { left: true, right: true };
    for (steps, n_closed) in [
        (vec![form(), spaces()], 2),
        (vec![spaces(), form()], 1),
        (vec![form(), strip()], 0),
        (vec![strip(), form()], 1),
        (vec![form(), NormalizeStep::Lowercase, spaces()], 2),
    ] {
        let normalizer = normalizer(steps);
        assert_eq!(normalizer.closed_steps().len(), n_closed);
    }
}

#[test]
fn only_replacements_that_find_each_other_multiply() {
    let apart = [Growth::text("%", "percent"), Growth::text("$", "DOLLAR")];
    assert_eq!(growth(&apart).to_bits(), 7.0_f64.to_bits());
    let doubling = vec![Growth::text("a", "aa"); 40];
    assert_eq!(growth(&doubling).to_bits(), 2.0_f64.powi(40).to_bits());
    let hidden = [Growth::text("a", "AA"), Growth::OTHER, Growth::text("a", "AA")];
    assert_eq!(growth(&hidden).to_bits(), 4.0_f64.to_bits());
}

#[test]
fn what_is_put_in_front_and_what_a_map_gives_counts() {
    let symbol = Growth::prefix("\u{2581}");
    assert_eq!(growth(&[symbol, Growth::text(" ", "\u{2581}")]).to_bits(), 6.0_f64.to_bits());
    let found = [Growth::prefix("ab"), Growth::text("a", "bbbbb")];
    assert_eq!(growth(&found).to_bits(), 15.0_f64.to_bits());
    let found = [Growth::any(10, "xy "), Growth::text(" ", "___"), Growth::text("a", "bb")];
    assert_eq!(growth(&found).to_bits(), 30.0_f64.to_bits());
}

proptest! {
    #[test]
    fn no_text_grows_beyond_the_bound(
        steps in prop::collection::vec(("[ab]{0,2}", "[abc]{0,4}"), 0..6),
        text in "[abc]{1,12}",
    ) {
        let change = |(from, to): &(String, String), text: &str| match from.is_empty() {
            true => format!("{to}{text}"),
            false => text.replace(from, to),
        };
        let changes: Vec<_> = steps
            .iter()
            .map(|(from, to)| if from.is_empty() { Growth::prefix(to) } else { Growth::text(from, to) })
            .collect();
        let mut changed = text.clone();
        for step in &steps {
            if changed.is_empty() {
                break; // nothing is put in front of nothing
            }
            changed = change(step, &changed);
        }
        #[expect(clippy::cast_precision_loss, reason = "short texts")]
        let ratio = changed.len() as f64 / text.len() as f64;
        prop_assert!(ratio <= growth(&changes), "{ratio} {}", growth(&changes));
    }
}
