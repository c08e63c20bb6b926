//! The engine against the definition, and what ends or limits training.

use std::collections::HashSet;
use std::sync::{LazyLock, Mutex};

use super::*;
use crate::count::First;
use crate::units::{ByteIds, EndMark, EndMarkKind};
use proptest::prelude::*;

fn counted(pieces: &[(String, u8)]) -> PieceCounts {
    let mut counts = PieceCounts::new();
    for (offset, (piece, count)) in (0..).zip(pieces) {
        counts
            .add(piece.as_bytes(), i64::from(*count) + 1, Some(First { source: 0, offset }))
            .unwrap();
    }
    counts
}

fn options(ties: Ties, min_count: i64, n_merges: usize) -> TrainOptions {
    TrainOptions { min_count, ties, ..TrainOptions::new(Target::Merges(n_merges)) }
}

#[expect(clippy::unnecessary_wraps, reason = "the form of a function that is told of progress")]
fn go_on(_: TrainProgress) -> Result<ControlFlow<()>> {
    Ok(ControlFlow::Continue(()))
}

/// The steps that the engine takes, in the form of the naive twin.
fn steps(counts: &PieceCounts, units: &Units, options: &TrainOptions) -> Vec<naive::Step> {
    let trained = train(counts, units, options, go_on).unwrap();
    let merges = trained.vocabulary.merges().iter().zip(trained.vocabulary.merge_counts());
    merges.map(|(merge, &count)| ((merge.left, merge.right), count, merge.result)).collect()
}

/// The steps of the naive twin.
fn naive_steps(counts: &PieceCounts, units: &Units, options: &TrainOptions) -> Vec<naive::Step> {
    naive_group_steps(&[counts], &[], units, options)
}

/// The steps of the naive twin for several groups.
fn naive_group_steps(
    groups: &[&PieceCounts],
    parallel: &[&PieceCounts],
    units: &Units,
    options: &TrainOptions,
) -> Vec<naive::Step> {
    let corpora = [groups, parallel].concat();
    let (vocabulary, _) = start::alphabet(&corpora, units, CharacterLimits::default()).unwrap();
    let texts = vocabulary.iter().map(|(_, token)| units.written(token).into_owned()).collect();
    let parts = |piece: &[u8]| {
        let cuts = options.cuts.as_ref().map_or_else(Vec::new, |cuts| cuts.0(piece).unwrap());
        let (mut parts, mut place) = (vec![Vec::new()], 0);
        let push = |symbol: Token<'_>| {
            if cuts.contains(&place) {
                parts.push(Vec::new());
            }
            parts.last_mut().unwrap().push(vocabulary.id(symbol).unwrap());
            place += symbol.bytes.len();
        };
        units.for_each_symbol(piece, push).unwrap();
        parts
    };
    let pieces = |counts: &&PieceCounts| -> Vec<_> {
        let pieces = counts.iter().map(|(piece, count, _)| (parts(piece), count));
        pieces.flat_map(|(parts, n)| parts.into_iter().map(move |part| (part, n))).collect()
    };
    let texts_of = |corpora: &[&PieceCounts]| corpora.iter().map(pieces).collect();
    let TokenLimits { max_bytes, max_characters, whole_characters } = options.limits;
    let fits = |most: Option<u32>, n: usize| most.is_none_or(|most| n <= most as usize);
    let allows = |left: &[u8], right: &[u8]| {
        let token = &[left, right].concat()[..];
        let plain: Vec<_> = token.iter().copied().filter(|&byte| byte != b'$').collect();
        let n_characters = token.iter().filter(|&&byte| byte & 0xC0 != 0x80).count();
        let is_whole = std::str::from_utf8(token).is_ok();
        // A part of one character: its beginning, or bytes that continue one.
        let n_first = token.iter().take_while(|&&byte| byte & 0xC0 != 0x80).count();
        let is_part = n_first <= 1 && n_characters == n_first && token.len() <= 3;
        fits(max_bytes, token.len())
            && fits(max_characters, n_characters)
            && (!whole_characters || is_whole || is_part)
            && options.scope.as_ref().is_none_or(|scope| scope.has_part_in(token))
            && options.forbidden.as_ref().is_none_or(|forbidden| !forbidden.has(&plain).unwrap())
            && options.veto.as_ref().is_none_or(|veto| !veto.0(left, right).unwrap())
    };
    naive::train(texts_of(groups), texts_of(parallel), texts, options, allows)
}

/// Cuts pieces after each of these characters.
fn cutting_after(last: char) -> Function<Cuts> {
    Function(Arc::new(move |piece: &[u8]| {
        let ends = std::str::from_utf8(piece).unwrap().match_indices(last);
        Ok(ends.map(|(start, text)| start + text.len()).collect())
    }))
}

/// To go on from a vocabulary.
fn kept(vocabulary: Vocabulary) -> Earlier {
    Earlier { vocabulary: Arc::new(vocabulary), ignore_merges: false, keeps_ids: true }
}

/// The merges in words.
fn spelled(vocabulary: &Vocabulary) -> Vec<[(TokenKind, Vec<u8>); 3]> {
    let spell = |id| vocabulary.token(id).map(|token| (token.kind, token.bytes.to_vec())).unwrap();
    let merges = vocabulary.merges().iter();
    merges.map(|merge| [merge.left, merge.right, merge.result].map(spell)).collect()
}

/// A vocabulary of `a`, `b` and `c` as no training leaves it: ids in any order and with holes, merges in any order
/// and perhaps with priorities, several merges for a token, tokens that no merge makes, names between the others.
fn vocabulary_from_elsewhere() -> impl Strategy<Value = Vocabulary> {
    let merges =
        prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 0..12);
    let unmade = prop::collection::vec("[a-c]{2,4}", 0..3);
    let order = prop::collection::vec(any::<u32>(), 40);
    (merges, unmade, order, any::<bool>()).prop_map(|(merges, unmade, order, has_priorities)| {
        let mut texts = ["a", "b", "c"].map(str::to_owned).to_vec();
        let mut pairs = Vec::new();
        for (left, right) in merges {
            let (left, right) = (left.get(&texts).clone(), right.get(&texts).clone());
            let text = format!("{left}{right}");
            if text.len() >= 9 || pairs.contains(&(left.clone(), right.clone())) {
                continue;
            }
            pairs.push((left, right));
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
        let unmade = unmade.into_iter().filter(|text| !texts.contains(text)).collect::<Vec<_>>();
        let mut tokens: Vec<_> =
            texts.into_iter().chain(unmade).map(|text| (TokenKind::PLAIN, text)).collect();
        tokens.dedup();
        tokens.push((TokenKind::Added, "<s>".to_owned()));
        let mut places: Vec<u32> = (0..40).collect();
        places.sort_by_key(|&place| order[place as usize]);
        let mut vocabulary = Vocabulary::new();
        for (&id, (kind, text)) in places.iter().zip(&tokens) {
            if vocabulary.id(Token { kind: *kind, bytes: text.as_bytes() }).is_none() {
                vocabulary.insert(id, Token { kind: *kind, bytes: text.as_bytes() }).unwrap();
            }
        }
        pairs.sort_by_key(|(left, right)| order[(left.len() * 7 + right.len()) % 40]);
        for (place, (left, right)) in (0..).zip(&pairs) {
            let id = |text: &str| vocabulary.id(Token::plain(text.as_bytes())).unwrap();
            let (left, right, result) = (id(left), id(right), id(&format!("{left}{right}")));
            let merge = crate::vocabulary::Merge { left, right, result };
            match has_priorities {
                true => vocabulary.push_merge_with_priority(merge, place / 2),
                false => vocabulary.push_merge_to(merge),
            }
        }
        vocabulary
    })
}

fn all_ties() -> [Ties; 3] {
    [Ties::SmallestIds, Ties::FirstSeen, Ties::LargestText]
}

fn all_units() -> Vec<Units> {
    let marked = |kind| Units {
        end_mark: Some(EndMark { text: "$".to_owned(), kind }),
        ..Units::characters()
    };
    vec![
        Units::bytes(ByteIds::Printable),
        Units::bytes(ByteIds::Value),
        Units::characters(),
        marked(EndMarkKind::Unit),
        marked(EndMarkKind::Suffix),
    ]
}

proptest! {
    #[test]
    fn the_engine_learns_what_the_definition_learns_within_limits_and_scopes(
        pieces in prop_oneof![
            prop::collection::vec(("[a-c]{1,12}|[ab]{1,30}|a{1,20}|[aé]{1,6}", 0..6_u8), 1..12),
            prop::collection::vec(("[aé日😀]{1,8}|[ab ]{1,9}|[日本語]{1,6}|[aè日本]{1,9}", 0..9_u8), 1..10),
        ],
        min_count in 1..4_i64,
        max_bytes in prop::option::weighted(0.3, 1..9_u32),
        max_characters in prop::option::weighted(0.3, 1..5_u32),
        scope in prop::option::weighted(0.3, 0..4_usize),
        whole_characters: bool,
        n_threads in 1..4_usize,
        pattern in prop::option::weighted(0.3, prop::sample::select(vec!["a.a|aa$", "b", "^é.", "日"])),
        one_script in prop::bool::weighted(0.2),
        n_answers in prop::option::weighted(0.3, 2..5_usize),
        cut_after in prop::option::weighted(0.3, prop::sample::select(vec!['a', 'b', 'é', '本'])),
    ) {
        static SCOPES: LazyLock<[Arc<Scope>; 4]> = LazyLock::new(|| {
            let sets = [vec!['é'..='é', '日'..='本'], vec!['\u{80}'..='\u{FFFF}'], vec!['😀'..='😀'], vec!['a'..='a']];
            sets.map(|ranges| Arc::new(Scope::new(ranges).unwrap()))
        });
        let (counts, scope) = (counted(&pieces), scope.map(|place| &SCOPES[place]));
        let is_in = |scope: &Arc<Scope>| pieces.iter().any(|(piece, _)| scope.has_part_in(piece.as_bytes()));
        prop_assume!(scope.is_none_or(is_in));
        for units in all_units() {
            // The marks of other units have no length.
            let lengths = TokenLimits { max_bytes, max_characters, whole_characters };
            let limits = match units.is_bytes() {
                true => lengths,
                false => TokenLimits { whole_characters, ..TokenLimits::default() },
            };
            for ties in all_ties() {
                let scope = scope.cloned();
                let patterns = pattern.map(|source| crate::split::Pattern {
                    source: source.to_owned(), flavour: crate::split::Flavour::Rust
                });
                let forbidden = Forbidden::new(patterns.as_slice(), one_script).unwrap();
                let forbidden = (one_script || pattern.is_some()).then(|| Arc::new(forbidden));
                let cuts = cut_after.map(cutting_after);
                let veto = n_answers.map(|n| Function(Arc::new(move |left: &[u8], right: &[u8]| {
                    Ok((left.len() + right.len() * 2).is_multiple_of(n))
                }) as Arc<Forbids>));
                let options = TrainOptions {
                    limits, scope, forbidden, veto, cuts, n_threads,
                    ..options(ties, min_count, 200)
                };
                prop_assert_eq!(
                    steps(&counts, &units, &options),
                    naive_steps(&counts, &units, &options),
                    "{:?} {:?}", units, ties
                );
            }
        }
    }

    #[test]
    fn groups_choose_as_defined_and_going_on_changes_nothing(
        groups in prop::collection::vec(
            prop::collection::vec(("[a-c]{1,12}|[ab]{1,30}|a{1,20}|[aé]{1,6}|[日本]{1,6}", 0..6_u8), 1..9), 2..5,
        ),
        parallel in prop::option::of(
            prop::collection::vec(prop::collection::vec(("[a-c]{1,9}|[aéx日]{1,6}", 0..4_u8), 1..6), 4)
        ),
        ratios in prop::option::of(prop::collection::vec(1..4_u8, 4)),
        window in prop::option::weighted(0.4, (1..5_usize, 1..5_u8)),
        global_merges in prop_oneof![Just(0_usize), 0..9_usize],
        min_count in 1..5_i64,
        n_threads in 1..4_usize,
        n_earlier in 0..12_usize,
        max_characters in prop::option::weighted(0.3, 1..5_u32),
        cut_after in prop::option::weighted(0.3, Just('b')),
    ) {
        let groups: Vec<_> = groups.iter().map(|pieces| counted(pieces)).collect();
        let parallel = parallel.map_or_else(Vec::new, |texts| texts.iter().map(|it| counted(it)).collect());
        let parallel: Vec<_> = parallel.into_iter().take(groups.len()).collect();
        let (groups, parallel): (Vec<_>, Vec<_>) = (groups.iter().collect(), parallel.iter().collect());
        let ratios = ratios.filter(|_| parallel.is_empty());
        let ratios = ratios.map(|all| all.iter().take(groups.len()).map(|&n| f64::from(n) / 3.0).collect());
        let window = window.map(|(len, alpha)| Window { len, alpha: f64::from(alpha) / 2.5 });
        let parity = Parity { ratios, window, global_merges };
        let learn = |units: &Units, options: &TrainOptions| {
            train_groups(groups.clone(), parallel.clone(), units, options, go_on).unwrap()
        };
        for units in all_units() {
            for ties in all_ties() {
                let limits = TokenLimits { max_characters, ..TokenLimits::default() };
                let limits = if units.is_bytes() { limits } else { TokenLimits::default() };
                let cuts = cut_after.map(cutting_after);
                let options = TrainOptions {
                    parity: Some(parity.clone()), limits, cuts, n_threads, ..options(ties, min_count, 40)
                };
                let trained = learn(&units, &options);
                let vocabulary = &trained.vocabulary;
                let steps: Vec<naive::Step> = vocabulary.merges().iter().zip(vocabulary.merge_counts())
                    .map(|(merge, &count)| ((merge.left, merge.right), count, merge.result)).collect();
                let expected = naive_group_steps(&groups, &parallel, &units, &options);
                prop_assert_eq!(&steps, &expected, "{:?} {:?} {:?}", units, ties, parity);
                if window.is_some() || n_earlier < global_merges {
                    continue;
                }
                let target = Target::Merges(n_earlier);
                let earlier = learn(&units, &TrainOptions { target, ..options.clone() });
                let resume = Some(kept(earlier.vocabulary));
                let later = learn(&units, &TrainOptions { resume, ..options });
                prop_assert_eq!(spelled(&later.vocabulary), spelled(vocabulary));
                prop_assert_eq!(later.groups, trained.groups);
            }
        }
    }

    #[test]
    fn going_on_gives_what_training_at_once_gives(
        pieces in prop::collection::vec(("[a-c]{1,12}|[aé]{1,6}|a{1,20}", 0..6_u8), 1..12),
        n_earlier in 0..12_usize,
        cut_after in prop::option::of(Just('b')),
    ) {
        let counts = counted(&pieces);
        let options = |ties, min_count, n_merges| TrainOptions {
            cuts: cut_after.map(cutting_after),
            ..options(ties, min_count, n_merges)
        };
        for units in all_units() {
            for ties in all_ties() {
                let learn = |options| train(&counts, &units, &options, go_on).unwrap();
                let earlier = learn(TrainOptions {
                    special_tokens: vec!["<s>".to_owned()],
                    ..options(ties, 1, n_earlier)
                });
                let resume = Some(kept(earlier.vocabulary.clone()));
                let later = learn(TrainOptions { resume, ..options(ties, 1, 100) });
                let at_once = learn(options(ties, 1, 100));
                for (id, token) in earlier.vocabulary.iter() {
                    prop_assert_eq!(later.vocabulary.token(id), Some(token));
                }
                prop_assert_eq!(spelled(&later.vocabulary), spelled(&at_once.vocabulary));
                prop_assert_eq!(
                    later.vocabulary.merge_counts(), at_once.vocabulary.merge_counts()
                );
                prop_assert_eq!(later.n_corpus_tokens(), at_once.n_corpus_tokens());
            }
            // As codes hold them: merges, and the units of these; their ids are not kept.
            let learn = |options| train(&counts, &units, &options, go_on).unwrap().vocabulary;
            let earlier = learn(options(Ties::LargestText, 1, n_earlier));
            let mut codes = Vocabulary::new();
            for merge in earlier.merges() {
                let mut push = |id| codes.push(earlier.token(id).unwrap()).unwrap();
                let (left, right) = (push(merge.left), push(merge.right));
                codes.push_merge(left, right).unwrap();
            }
            let resume = Some(Earlier { keeps_ids: false, ..kept(codes) });
            let later = learn(TrainOptions { resume, ..options(Ties::LargestText, 1, 100) });
            let at_once = learn(options(Ties::LargestText, 1, 100));
            prop_assert!(later.iter().eq(at_once.iter()));
            prop_assert_eq!(later.merges(), at_once.merges());
        }
    }

    #[test]
    fn going_on_from_any_vocabulary_keeps_its_ids_and_learns_as_defined(
        pieces in prop::collection::vec(("[a-c]{1,9}|a{1,9}", 0..6_u8), 1..10),
        elsewhere in vocabulary_from_elsewhere(),
        ignore_merges: bool,
        n_threads in 1..3_usize,
    ) {
        let counts = counted(&pieces);
        let units = Units::characters();
        let resume = Earlier { ignore_merges, ..kept(elsewhere.clone()) };
        let encoder = Encoder::new(Arc::clone(&resume.vocabulary), &units, ignore_merges);
        let encode = |encoder: &Encoder, piece: &[u8]| {
            let mut ids = Vec::new();
            encoder.encode(piece, &mut crate::encode::Scratch::default(), &mut ids).unwrap();
            ids
        };
        let unmade = encoder.unmade().into_iter().map(|id| elsewhere.token(id).unwrap().bytes);
        let unmade: Vec<_> = unmade.map(<[u8]>::to_vec).collect();
        let texts = (0..).take(elsewhere.len()).map(|id| {
            elsewhere.token(id).filter(|token| token.kind == TokenKind::PLAIN)
                .map_or_else(|| format!("no text {id}").into_bytes(), |token| token.bytes.to_vec())
        });
        let texts: Vec<_> = texts.collect();
        for ties in all_ties() {
            let options = TrainOptions {
                resume: Some(resume.clone()), n_threads, ..options(ties, 1, elsewhere.n_merges() + 40)
            };
            let trained = train(&counts, &units, &options, go_on).unwrap();
            let segmented = counts.iter().map(|(piece, count, _)| (encode(&encoder, piece), count));
            let expected = naive::train(
                vec![segmented.collect()], Vec::new(), texts.clone(), &self::options(ties, 1, 40),
                |left, right| !unmade.contains(&[left, right].concat()),
            );
            let found: Vec<_> = trained.vocabulary.merges()[elsewhere.n_merges()..].iter()
                .map(|merge| ((merge.left, merge.right), merge.result)).collect();
            let expected: Vec<_> = expected.iter().map(|step| (step.0, step.2)).collect();
            prop_assert_eq!(found, expected, "{:?}", ties);
            for (id, token) in elsewhere.iter() {
                prop_assert_eq!(trained.vocabulary.token(id), Some(token));
            }
            let n_tokens = trained.n_corpus_tokens();
            let larger = Encoder::new(Arc::new(trained.vocabulary), &units, ignore_merges);
            let encoded = counts.iter().map(|(piece, count, _)| {
                i64::try_from(encode(&larger, piece).len()).unwrap() * count
            });
            prop_assert_eq!(encoded.sum::<i64>(), n_tokens);
        }
    }
}

#[test]
fn the_best_count_at_the_stop_is_that_of_an_allowed_pair() {
    let mut counts = PieceCounts::new();
    counts.add(b"abc", 20_000, None).unwrap();
    counts.add(b"de", 100, None).unwrap();
    let limits = TokenLimits { max_bytes: Some(2), ..TokenLimits::default() };
    let options = TrainOptions { limits, ..options(Ties::SmallestIds, 10_000, 10) };
    let trained = train(&counts, &Units::bytes(ByteIds::Value), &options, go_on).unwrap();
    assert_eq!(trained.stop, Stop::MinCount(100));
}

#[test]
fn a_veto_is_asked_once_for_each_pair_and_its_error_ends_training() {
    let counts =
        counted(&[("abcabcabdabe".to_owned(), 9), ("bcbcbd".to_owned(), 3), ("de".to_owned(), 1)]);
    let asked = Arc::new(Mutex::new(Vec::new()));
    let learn = |most: usize| {
        let asked = Arc::clone(&asked);
        asked.lock().unwrap().clear();
        let veto = move |left: &[u8], right: &[u8]| {
            let mut asked = asked.lock().unwrap();
            asked.push([left.to_vec(), right.to_vec()]);
            if asked.len() > most { Err(Error::option("veto", "fails")) } else { Ok(left == b"b") }
        };
        let veto = Some(Function(Arc::new(veto) as Arc<Forbids>));
        let options = TrainOptions { veto, ..options(Ties::SmallestIds, 1, 40) };
        train(&counts, &Units::bytes(ByteIds::Value), &options, go_on)
    };
    let trained = learn(usize::MAX).unwrap();
    assert!(
        trained
            .vocabulary
            .iter()
            .all(|(_, token)| token.bytes.len() == 1 || token.bytes[0] != b'b')
    );
    let n_asked = asked.lock().unwrap().len();
    assert_eq!(asked.lock().unwrap().iter().collect::<HashSet<_>>().len(), n_asked);
    for most in 0..n_asked {
        assert!(learn(most).unwrap_err().to_string().contains("fails"));
        assert_eq!(asked.lock().unwrap().len(), most + 1);
    }
}

/// Training by its definition: count all pairs anew at every step. The twin of the engine.
///
/// Takes O(S) time for each merge, S symbols in the distinct pieces.
mod naive {
    use std::collections::BTreeMap;

    use crate::train::{Parity, Target, Ties, TrainOptions, Window};
    use crate::vocabulary::TokenId;

    /// A learned merge: the pair, its count, and the token it makes.
    pub(super) type Step = ((TokenId, TokenId), i64, TokenId);

    /// Pieces given as tokens, with their counts.
    type Pieces = Vec<(Vec<TokenId>, i64)>;

    /// Learns merges from the pieces of groups; those of parallel texts only have a length. A pair is only merged if
    /// `allows` says so of its texts.
    pub(super) fn train(
        mut groups: Vec<Pieces>,
        mut parallel: Vec<Pieces>,
        mut texts: Vec<Vec<u8>>,
        options: &TrainOptions,
        allows: impl Fn(&[u8], &[u8]) -> bool,
    ) -> Vec<Step> {
        let Target::Merges(max_merges) = options.target else {
            unreachable!("the tests ask for merges")
        };
        let parity = options.parity.clone().unwrap_or_default();
        let lengths = |texts: &[Pieces]| texts.iter().map(length).collect::<Vec<_>>();
        let measured = |groups: &[Pieces], parallel: &[Pieces]| {
            lengths(if parallel.is_empty() { groups } else { parallel })
        };
        let (initial, mut history) = (measured(&groups, &parallel), Vec::new());
        let mut steps = Vec::new();
        while steps.len() < max_merges {
            let best_of = |pieces: &Pieces| {
                let best = best(pieces, &texts, options.ties, &allows);
                best.filter(|best| best.1 >= options.min_count)
            };
            let best = if groups.len() == 1 || steps.len() < parity.global_merges {
                best_of(&groups.concat())
            } else {
                let mut order = order(&measured(&groups, &parallel), &initial, &parity, &history);
                order.retain(|&group| best_of(&groups[group]).is_some());
                history.extend(order.first());
                order.first().and_then(|&group| best_of(&groups[group]))
            };
            let Some((pair, _)) = best else { break };
            let count = groups.iter().map(|pieces| count(pieces, pair)).sum();
            let text = [texts[pair.0 as usize].clone(), texts[pair.1 as usize].clone()].concat();
            assert!(!texts.contains(&text), "two pairs make the same token");
            let result = TokenId::try_from(texts.len()).unwrap();
            texts.push(text);
            let pieces = groups.iter_mut().chain(&mut parallel).flatten();
            pieces.for_each(|(piece, _)| *piece = merged(piece, pair, result));
            steps.push((pair, count, result));
        }
        steps
    }

    /// The number of tokens.
    fn length(pieces: &Pieces) -> i64 {
        pieces.iter().map(|(piece, n)| i64::try_from(piece.len()).unwrap() * n).sum()
    }

    /// How often a pair occurs.
    fn count(pieces: &Pieces, pair: (TokenId, TokenId)) -> i64 {
        let n_of = |piece: &[TokenId]| piece.windows(2).filter(|it| (it[0], it[1]) == pair).count();
        pieces.iter().map(|(piece, n)| i64::try_from(n_of(piece)).unwrap() * n).sum()
    }

    /// The groups in the order of their need; those that chose too often come last.
    #[expect(clippy::cast_precision_loss, reason = "the numbers are small")]
    fn order(now: &[i64], initial: &[i64], parity: &Parity, history: &[usize]) -> Vec<usize> {
        let waits = |group: usize| {
            parity.window.is_some_and(|Window { len, alpha }| {
                let n = history.iter().rev().take(len).filter(|&&it| it == group).count();
                n as f64 / len as f64 > alpha / now.len() as f64
            })
        };
        let need = |group: usize| match &parity.ratios {
            Some(ratios) => -(initial[group] as f64 / now[group] as f64 / ratios[group]),
            None => now[group] as f64,
        };
        let mut groups: Vec<_> = (0..now.len()).collect();
        groups.sort_by(|&one, &other| {
            (waits(one), need(other)).partial_cmp(&(waits(other), need(one))).unwrap()
        });
        groups
    }

    /// The pair to merge next, with its count.
    fn best(
        pieces: &[(Vec<TokenId>, i64)],
        texts: &[Vec<u8>],
        ties: Ties,
        allows: &impl Fn(&[u8], &[u8]) -> bool,
    ) -> Option<((TokenId, TokenId), i64)> {
        let mut seen: BTreeMap<(TokenId, TokenId), (i64, usize)> = BTreeMap::new();
        let mut n_seen = 0;
        for (piece, count) in pieces {
            for pair in piece.windows(2) {
                let entry = seen.entry((pair[0], pair[1])).or_insert((0, n_seen));
                entry.0 += count;
                n_seen += 1;
            }
        }
        let text = |id: TokenId| texts[id as usize].clone();
        let rank = |&(pair, (count, first)): &((TokenId, TokenId), (i64, usize))| match ties {
            Ties::SmallestIds => (count, None, std::cmp::Reverse((pair, 0))),
            Ties::FirstSeen => (count, None, std::cmp::Reverse(((0, 0), first))),
            Ties::LargestText => {
                (count, Some((text(pair.0), text(pair.1))), std::cmp::Reverse((pair, 0)))
            }
        };
        let is_allowed = |(pair, _): &((TokenId, TokenId), _)| allows(&text(pair.0), &text(pair.1));
        let (best, (count, _)) = seen.into_iter().filter(is_allowed).max_by_key(rank)?;
        Some((best, count))
    }

    /// A piece with every occurrence of a pair replaced, left to right, without overlap.
    fn merged(piece: &[TokenId], pair: (TokenId, TokenId), result: TokenId) -> Vec<TokenId> {
        let mut tokens = Vec::new();
        let mut place = 0;
        while place < piece.len() {
            let matches = piece.get(place + 1).is_some_and(|&right| (piece[place], right) == pair);
            tokens.push(if matches { result } else { piece[place] });
            place += if matches { 2 } else { 1 };
        }
        tokens
    }
}
