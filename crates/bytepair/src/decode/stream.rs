//! Takes tokens through a chain of steps, one at a time. Text is given out as soon as no later token can change it.
//!
//! Steps that look at one token alone hold nothing back. A token with the suffix waits for the next one, which decides
//! whether a space follows. Bytes wait until their run ends, or until it can no longer be UTF-8. After a step that
//! joins all tokens (the joint) there is only one token, which grows: its leading characters are stripped and texts in
//! it replaced as it grows. Before any other step after the joint, all text waits for the end, since a pattern may
//! look at all of it; then it goes through the remaining steps as the only token of a chain of its own. Decoding all
//! tokens at once works the same way. Costs what the steps cost, and memory for the text that waits.

use std::sync::Arc;

use super::chain::{Compiled, DecodeStep, byte_level, byte_of, replaced_text, tokens_of_run};
use super::rules::find;
use super::{DecodeErrors, Utf8Buffer};
use crate::error::Result;

/// The state of a chain: what it has received and not given out.
#[derive(Clone, Debug)]
pub(crate) struct ChainStream {
    chain: Arc<Compiled>,
    errors: DecodeErrors,
    /// The step that joins all tokens; the number of steps if there is none.
    joint: usize,
    /// The state of each step before the joint.
    heads: Vec<Head>,
    /// The state of each step after the joint.
    tails: Vec<Tail>,
    /// Text after the joint that waits for the end; `None` if none has to.
    waiting: Option<Vec<u8>>,
    /// Bytes that are not yet whole characters.
    buffer: Utf8Buffer,
    /// Whether a token has reached the end of the chain.
    has_token: bool,
    out: Vec<u8>,
}

/// What a step remembers of earlier tokens.
#[derive(Clone, Debug, Default)]
struct Head {
    /// How many tokens it has seen.
    n_tokens: usize,
    /// A token that waits for the next one, or the previous token, or the bytes of a run.
    held: Option<Vec<u8>>,
    /// How much of the run of bytes is known to be whole characters.
    n_whole: usize,
    /// Whether the run of bytes is known not to be UTF-8.
    is_broken: bool,
}

/// What a step remembers of the growing token.
#[derive(Clone, Debug, Default)]
struct Tail {
    /// How many characters were stripped before another one came.
    n_stripped: usize,
    has_begun: bool,
    /// How many bytes of the text to be replaced are matched. They are a prefix of that text, and are held back.
    n_matched: usize,
}

impl Compiled {
    /// The text of all tokens.
    ///
    /// # Errors
    /// If bytes are not UTF-8 and such bytes are an error.
    pub(crate) fn text(
        self: &Arc<Self>,
        tokens: Vec<Vec<u8>>,
        errors: DecodeErrors,
    ) -> Result<Vec<u8>> {
        let mut stream = ChainStream::new(Arc::clone(self), errors);
        tokens.into_iter().try_for_each(|token| stream.head(0, token))?;
        stream.finish()
    }
}

impl ChainStream {
    pub(crate) fn new(chain: Arc<Compiled>, errors: DecodeErrors) -> Self {
        Self::from_step(0, chain, errors)
    }

    /// A stream of tokens that have gone through the steps before `first`.
    fn from_step(first: usize, chain: Arc<Compiled>, errors: DecodeErrors) -> Self {
        let steps = &chain.chain.steps;
        let joins = |step: &DecodeStep| matches!(step, DecodeStep::Fuse | DecodeStep::ByteLevel);
        let joint = steps[first..].iter().position(joins).map_or(steps.len(), |at| first + at);
        let after = steps.get(joint + 1..).unwrap_or(&[]);
        Self {
            heads: vec![Head::default(); joint],
            tails: vec![Tail::default(); after.len()],
            waiting: (!after.iter().all(grows)).then(Vec::new),
            buffer: Utf8Buffer::new(errors),
            has_token: false,
            out: Vec::new(),
            joint,
            errors,
            chain,
        }
    }

    /// The text that is certain after one more token.
    pub(crate) fn push(&mut self, token: Vec<u8>) -> Result<Vec<u8>> {
        self.head(0, token)?;
        Ok(std::mem::take(&mut self.out))
    }

    /// The rest of the text.
    pub(crate) fn finish(mut self) -> Result<Vec<u8>> {
        for step in 0..self.joint {
            self.finish_head(step)?;
        }
        let rest = self.buffer.take(true)?;
        self.tail(0, rest);
        let chain = Arc::clone(&self.chain);
        let after = self.joint + 1;
        if let Some(waiting) = self.waiting.take() {
            let mut rest = Self::from_step(after, chain, self.errors);
            rest.head(after, waiting)?;
            return rest.finish();
        }
        for step in 0..self.tails.len() {
            let n_matched = std::mem::take(&mut self.tails[step].n_matched);
            if let DecodeStep::Replace { from, .. } = &chain.chain.steps[after + step] {
                self.tail(step + 1, from.as_bytes()[..n_matched].to_vec());
            }
        }
        Ok(self.out)
    }

    /// Passes a token to a step before the joint.
    fn head(&mut self, step: usize, token: Vec<u8>) -> Result<()> {
        if step == self.joint {
            return self.join(token);
        }
        let chain = Arc::clone(&self.chain);
        let head = &mut self.heads[step];
        let index = head.n_tokens;
        head.n_tokens += 1;
        match &chain.chain.steps[step] {
            DecodeStep::Suffix { suffix } => {
                let before = head.held.replace(token);
                before.map_or(Ok(()), |before| {
                    self.head(step + 1, replaced_text(&before, suffix, " "))
                })?;
                self.let_go(step, suffix)
            }
            DecodeStep::ByteFallback => {
                if let Some(byte) = byte_of(&token) {
                    return self.push_byte(step, byte);
                }
                self.finish_head(step)?;
                self.head(step + 1, token)
            }
            DecodeStep::Ctc { .. } => {
                if head.held.as_ref() == Some(&token) {
                    return Ok(());
                }
                head.held = Some(token.clone());
                self.kept(step, token, 1)
            }
            _ => self.kept(step, token, index),
        }
    }

    fn kept(&mut self, step: usize, token: Vec<u8>, index: usize) -> Result<()> {
        match self.chain.kept(step, token, index)? {
            Some(token) => self.head(step + 1, token),
            None => Ok(()),
        }
    }

    /// Passes on a held token for which it does not matter whether it is the last.
    fn let_go(&mut self, step: usize, suffix: &str) -> Result<()> {
        let carries = |token: &Vec<u8>| find(token, suffix.as_bytes()).is_some();
        match self.heads[step].held.take_if(|token| !carries(token)) {
            Some(token) => self.head(step + 1, token),
            None => Ok(()),
        }
    }

    fn push_byte(&mut self, step: usize, byte: u8) -> Result<()> {
        let head = &mut self.heads[step];
        let run = head.held.get_or_insert_default();
        run.push(byte);
        let is_hopeless = match std::str::from_utf8(&run[head.n_whole..]) {
            _ if self.errors == DecodeErrors::Keep => false,
            Ok(_) => {
                head.n_whole = run.len();
                false
            }
            Err(error) => error.error_len().is_some(),
        };
        if !head.is_broken && !is_hopeless {
            return Ok(());
        }
        // One byte that can never be valid makes the whole run invalid, including the bytes that follow.
        let mut run = head.held.take().unwrap_or_default();
        head.n_whole = 0;
        if std::mem::replace(&mut head.is_broken, true) {
            run.fill(0xFF);
        }
        self.pass_run(step, &run)
    }

    fn pass_run(&mut self, step: usize, run: &[u8]) -> Result<()> {
        let tokens = tokens_of_run(run, self.errors)?;
        tokens.into_iter().try_for_each(|token| self.head(step + 1, token))
    }

    /// Passes on what a step holds, since no token follows, or one of another kind.
    fn finish_head(&mut self, step: usize) -> Result<()> {
        let head = &mut self.heads[step];
        (head.is_broken, head.n_whole) = (false, 0);
        let chain = Arc::clone(&self.chain);
        match (&chain.chain.steps[step], head.held.take()) {
            (DecodeStep::Suffix { suffix }, Some(last)) => {
                self.head(step + 1, replaced_text(&last, suffix, ""))
            }
            (DecodeStep::ByteFallback, Some(run)) => self.pass_run(step, &run),
            _ => Ok(()),
        }
    }

    /// Joins a token to the earlier ones.
    fn join(&mut self, token: Vec<u8>) -> Result<()> {
        let chain = Arc::clone(&self.chain);
        match chain.chain.steps.get(self.joint) {
            Some(DecodeStep::ByteLevel) => {
                self.buffer.bytes_mut().extend(byte_level(token));
                let text = self.buffer.take(false)?;
                self.tail(0, text);
            }
            Some(_) => self.tail(0, token),
            None => {
                if std::mem::replace(&mut self.has_token, true) {
                    self.out.extend_from_slice(chain.chain.separator.as_bytes());
                }
                self.out.extend_from_slice(&token);
            }
        }
        Ok(())
    }

    /// Passes more of the joined token to a step after the joint, given by its index from there.
    fn tail(&mut self, step: usize, text: Vec<u8>) {
        if text.is_empty() {
            return;
        }
        if let Some(waiting) = &mut self.waiting {
            return waiting.extend_from_slice(&text);
        }
        let chain = Arc::clone(&self.chain);
        let Some(tail) = self.tails.get_mut(step) else { return self.out.extend_from_slice(&text) };
        let text = match &chain.chain.steps[self.joint + 1 + step] {
            DecodeStep::Metaspace { replacement, drops_first } => {
                let to = if *drops_first { "" } else { " " };
                replaced_text(&text, replacement.encode_utf8(&mut [0; 4]), to)
            }
            DecodeStep::Strip { content, start, .. } => tail.strip(&text, *content, *start),
            DecodeStep::Replace { from, to } => {
                let borders = &chain.borders[self.joint + 1 + step];
                tail.replace(&text, (from.as_bytes(), borders), to.as_bytes())
            }
            _ => text,
        };
        self.tail(step + 1, text);
    }
}

/// Whether a step after the joint can process a token that grows.
fn grows(step: &DecodeStep) -> bool {
    match step {
        DecodeStep::Metaspace { .. } | DecodeStep::Fuse | DecodeStep::Replace { .. } => true,
        DecodeStep::Strip { stop, .. } => *stop == 0,
        _ => false,
    }
}

impl Tail {
    fn strip(&mut self, text: &[u8], content: char, start: usize) -> Vec<u8> {
        let mut buffer = [0; 4];
        let content = content.encode_utf8(&mut buffer).as_bytes();
        let mut rest = text;
        while !self.has_begun && self.n_stripped < start {
            let Some(behind) = rest.strip_prefix(content) else { break };
            rest = behind;
            self.n_stripped += 1;
        }
        self.has_begun |= !rest.is_empty();
        rest.to_vec()
    }

    /// Replaces a text. Its borders tell how much of it still matches after a mismatch, so each byte is looked at and
    /// given out once.
    fn replace(&mut self, text: &[u8], (from, borders): (&[u8], &[usize]), to: &[u8]) -> Vec<u8> {
        let mut changed = Vec::with_capacity(text.len());
        for &byte in text {
            while self.n_matched > 0 && from[self.n_matched] != byte {
                let n_kept = borders[self.n_matched];
                changed.extend_from_slice(&from[..self.n_matched - n_kept]);
                self.n_matched = n_kept;
            }
            match from[self.n_matched] == byte {
                true => self.n_matched += 1,
                false => changed.push(byte),
            }
            if self.n_matched == from.len() {
                changed.extend_from_slice(to);
                self.n_matched = 0;
            }
        }
        changed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::DecodeChain;
    use proptest::prelude::*;

    /// The text of all tokens by the definition: each step on all tokens of the previous one.
    fn by_definition(
        chain: &Compiled,
        tokens: Vec<Vec<u8>>,
        errors: DecodeErrors,
    ) -> Result<Vec<u8>> {
        let steps = 0..chain.chain.steps.len();
        let tokens = steps
            .into_iter()
            .try_fold(tokens, |tokens, step| stepped(chain, step, tokens, errors))?;
        Ok(tokens.join(chain.chain.separator.as_bytes()))
    }

    /// All tokens after one step.
    fn stepped(
        chain: &Compiled,
        step: usize,
        tokens: Vec<Vec<u8>>,
        errors: DecodeErrors,
    ) -> Result<Vec<Vec<u8>>> {
        match &chain.chain.steps[step] {
            DecodeStep::Fuse => Ok(vec![tokens.concat()]),
            DecodeStep::ByteLevel => {
                let bytes: Vec<Vec<u8>> = tokens.into_iter().map(byte_level).collect();
                Ok(vec![valid(&bytes.concat(), errors)?])
            }
            DecodeStep::ByteFallback => byte_fallback(tokens, errors),
            DecodeStep::Suffix { suffix } => {
                let last = tokens.len().wrapping_sub(1);
                let to = |index| if index == last { "" } else { " " };
                let tokens = tokens.into_iter().enumerate();
                Ok(tokens.map(|(index, token)| replaced_text(&token, suffix, to(index))).collect())
            }
            DecodeStep::Ctc { .. } => {
                let mut tokens = tokens;
                tokens.dedup();
                let kept =
                    tokens.into_iter().filter_map(|token| chain.kept(step, token, 1).transpose());
                kept.collect()
            }
            _ => {
                let changed = tokens.into_iter().enumerate();
                let changed =
                    changed.filter_map(|(index, token)| chain.kept(step, token, index).transpose());
                changed.collect()
            }
        }
    }

    fn valid(bytes: &[u8], errors: DecodeErrors) -> Result<Vec<u8>> {
        let mut buffer = Utf8Buffer::new(errors);
        buffer.bytes_mut().extend_from_slice(bytes);
        buffer.take(true)
    }

    fn byte_fallback(tokens: Vec<Vec<u8>>, errors: DecodeErrors) -> Result<Vec<Vec<u8>>> {
        let (mut all, mut run) = (Vec::with_capacity(tokens.len()), Vec::new());
        for token in tokens {
            if let Some(byte) = byte_of(&token) {
                run.push(byte);
                continue;
            }
            all.extend(tokens_of_run(&std::mem::take(&mut run), errors)?);
            all.push(token);
        }
        all.extend(tokens_of_run(&run, errors)?);
        Ok(all)
    }

    fn text() -> impl Strategy<Value = String> {
        prop::collection::vec(
            prop::sample::select(vec![
                "a", "▁", " ", "b", "</w>", "#", "é", "Ã", "©", "<0x41>", ".", "Ġ",
            ]),
            0..4,
        )
        .prop_map(|parts| parts.concat())
    }

    fn token() -> impl Strategy<Value = String> {
        let bytes = ["<0xC3>", "<0xA9>", "<0x41>", "<0xE2>", "<0x96>", "<0x81>", "<0xFF>"];
        prop_oneof![text(), prop::sample::select(bytes.to_vec()).prop_map(str::to_owned)]
    }

    fn step() -> impl Strategy<Value = DecodeStep> {
        let mark = || prop::sample::select(vec!['▁', ' ', 'a']);
        let short = || text().prop_filter("not empty", |text| !text.is_empty());
        prop_oneof![
            Just(DecodeStep::ByteLevel),
            (mark(), any::<bool>()).prop_map(|(replacement, drops_first)| DecodeStep::Metaspace {
                replacement,
                drops_first
            }),
            text().prop_map(|suffix| DecodeStep::Suffix { suffix }),
            Just(DecodeStep::ByteFallback),
            Just(DecodeStep::Fuse),
            (mark(), 0_usize..3, 0_usize..2).prop_map(|(content, start, stop)| DecodeStep::Strip {
                content,
                start,
                stop
            }),
            (short(), text()).prop_map(|(from, to)| DecodeStep::Replace { from, to }),
            text().prop_map(|to| DecodeStep::ReplacePattern { pattern: "[ab]+".to_owned(), to }),
            (text(), any::<bool>())
                .prop_map(|(prefix, cleanup)| DecodeStep::WordPiece { prefix, cleanup }),
            (short(), short(), any::<bool>())
                .prop_map(|(pad, delimiter, cleanup)| DecodeStep::Ctc { pad, delimiter, cleanup }),
        ]
    }

    proptest! {
        #[test]
        fn a_stream_and_all_at_once_give_what_the_definition_gives(
            steps in prop::collection::vec(step(), 0..5),
            separator in prop::sample::select(vec!["", " "]),
            tokens in prop::collection::vec(token(), 0..12),
            errors in prop::sample::select(vec![
                DecodeErrors::Replace, DecodeErrors::Ignore, DecodeErrors::Keep,
            ]),
        ) {
            let chain = DecodeChain { steps, separator: separator.to_owned() };
            let chain = Arc::new(Compiled::new(chain).unwrap());
            let tokens: Vec<Vec<u8>> = tokens.into_iter().map(String::into_bytes).collect();
            let whole = by_definition(&chain, tokens.clone(), errors).unwrap();
            prop_assert_eq!(&chain.text(tokens.clone(), errors).unwrap(), &whole);
            let mut stream = ChainStream::new(chain, errors);
            let mut text = Vec::new();
            for token in tokens {
                text.extend(stream.push(token).unwrap());
                let is_text = std::str::from_utf8(&text).is_ok();
                prop_assert!(is_text || errors == DecodeErrors::Keep);
            }
            text.extend(stream.finish().unwrap());
            prop_assert_eq!(text, whole);
        }
    }

    #[test]
    fn the_beginning_of_a_long_text_that_is_replaced_takes_no_longer_than_other_text() {
        const LEN: usize = 200_000;
        let from = "a".repeat(LEN) + "b";
        let steps = [
            DecodeStep::Replace { from: from.clone(), to: "c".to_owned() },
            DecodeStep::Suffix { suffix: from.clone() },
            DecodeStep::Fuse,
            DecodeStep::Replace { from, to: "c".to_owned() },
        ];
        let chain = DecodeChain { steps: steps.to_vec(), separator: String::new() };
        let chain = Arc::new(Compiled::new(chain).unwrap());
        let begin = std::time::Instant::now();
        let mut stream = ChainStream::new(Arc::clone(&chain), DecodeErrors::Replace);
        let text: Vec<u8> = (0..LEN).flat_map(|_| stream.push(b"a".to_vec()).unwrap()).collect();
        assert_eq!((&*text, &*stream.push(b"b".to_vec()).unwrap()), (&b""[..], &b"c"[..]));
        let tokens = vec![b"a".to_vec(); LEN];
        let whole = chain.text(tokens, DecodeErrors::Replace).unwrap();
        assert_eq!(whole.len(), LEN);
        assert!(begin.elapsed().as_secs() < 10, "{:?}", begin.elapsed());
    }

    #[test]
    fn a_usual_chain_holds_nothing_back_but_half_characters() {
        let steps = vec![
            DecodeStep::Replace { from: "▁".to_owned(), to: " ".to_owned() },
            DecodeStep::ByteFallback,
            DecodeStep::Fuse,
            DecodeStep::Strip { content: ' ', start: 1, stop: 0 },
        ];
        let chain = Compiled::new(DecodeChain { steps, separator: String::new() }).unwrap();
        let mut stream = ChainStream::new(Arc::new(chain), DecodeErrors::Replace);
        let mut push = |token: &str| {
            String::from_utf8(stream.push(token.as_bytes().to_vec()).unwrap()).unwrap()
        };
        assert_eq!(push("▁a"), "a");
        assert_eq!(push("▁b"), " b");
        assert_eq!(push("<0xC3>"), "");
        assert_eq!(push("c"), "\u{FFFD}c");
        assert_eq!(push("<0xFF>"), "\u{FFFD}");
    }
}
