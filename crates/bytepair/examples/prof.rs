#![allow(unsafe_code)]
#[derive(Clone, Copy)]
struct Instant(f64);
impl Instant {
    fn now() -> Self {
        let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut t) };
        Self(t.tv_sec as f64 + t.tv_nsec as f64 * 1e-9)
    }
    fn elapsed(self) -> std::time::Duration {
        std::time::Duration::from_secs_f64(Self::now().0 - self.0)
    }
}
use bytepair::split::Boundaries;

fn cpu() -> f64 {
    // thread cpu time through /proc is coarse: use Instant
    0.0
}
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let (what, vocab, text) = (&args[1], &args[2], &args[3]);
    let mb: usize = args.get(4).map_or(80_000_000, |a| (a.parse::<f64>().unwrap() * 1e6) as usize);
    let bytes = std::fs::read(vocab).unwrap();
    let tokenizer = bytepair::format::huggingface::read(&bytes).unwrap();
    let text = std::fs::read(format!("/work/shared/corpora/{text}.txt")).unwrap();
    let text = &text[..text.len().min(mb)];
    let mut text = text;
    while std::str::from_utf8(text).is_err() {
        text = &text[..text.len() - 1];
    }
    let mut docs = Vec::new();
    let mut start = 0;
    while start < text.len() {
        let mut end = (start + 65536).min(text.len());
        while end < text.len() && text[end - 1] != b'\n' {
            end += 1;
        }
        docs.push(&text[start..end]);
        start = end;
    }
    let _ = cpu();
    let half = docs.len() / 2;
    let (a, b) = docs.split_at(half);
    let n = |d: &[&[u8]]| d.iter().map(|t| t.len()).sum::<usize>() as f64;
    let ghz = 4.0;
    if what == "split" {
        let splitter = tokenizer.parts().pre_tokenizer.only_splitter().unwrap();
        let mut boundaries = Boundaries::default();
        let mut pieces = 0u64;
        for round in 0..4 {
            let t = Instant::now();
            pieces = 0;
            for d in &docs {
                let mut from = 0;
                while from < d.len() {
                    from = splitter.split_block(d, from, &mut boundaries).unwrap();
                    pieces +=
                        boundaries.starts().iter().map(|w| u64::from(w.count_ones())).sum::<u64>();
                }
            }
            let s = t.elapsed().as_secs_f64();
            if round > 0 {
                println!(
                    "split {:.0} MB/s {:.2} cyc/B {:.1} cyc/64B {:.1} cyc/piece ({:.2} B/piece)",
                    n(&docs) / 1e6 / s,
                    s * ghz * 1e9 / n(&docs),
                    64.0 * s * ghz * 1e9 / n(&docs),
                    s * ghz * 1e9 / pieces as f64,
                    n(&docs) / pieces as f64
                );
            }
        }
        println!("{:?}", splitter.explain());
        let _ = pieces;
        return;
    }
    if what == "dist" {
        let splitter = tokenizer.parts().pre_tokenizer.only_splitter().unwrap();
        let mut boundaries = Boundaries::default();
        let mut known: std::collections::HashMap<&[u8], usize> = Default::default();
        let mut table = [[0u64; 5]; 4];
        let mut total = 0u64;
        let mut fresh = [0u64; 4];
        let mut merges = 0usize;
        let mut news: Vec<&[u8]> = Vec::new();
        for (index, d) in docs.iter().enumerate() {
            let mut from = 0;
            while from < d.len() {
                let block = from;
                from = splitter.split_block(d, from, &mut boundaries).unwrap();
                let mut starts = Vec::new();
                for (w, word) in boundaries.starts().iter().enumerate() {
                    let mut word = *word;
                    while word != 0 {
                        starts.push(block + w * 64 + word.trailing_zeros() as usize);
                        word &= word - 1;
                    }
                }
                starts.retain(|s| *s < from);
                starts.push(from);
                for pair in starts.windows(2) {
                    let piece = &d[pair[0]..pair[1]];
                    let is_new = !known.contains_key(piece);
                    let n = *known
                        .entry(piece)
                        .or_insert_with(|| tokenizer.encode_ordinary(piece).unwrap().len());
                    if index >= half {
                        total += 1;
                        let l = match piece.len() {
                            0..=15 => 0,
                            16..=31 => 1,
                            32..=63 => 2,
                            _ => 3,
                        };
                        let i = match n {
                            0..=2 => 0,
                            3..=4 => 1,
                            5..=7 => 2,
                            8..=12 => 3,
                            _ => 4,
                        };
                        table[l][i] += 1;
                        if is_new {
                            fresh[l] += 1;
                            merges += n;
                            if l == 0 {
                                news.push(piece);
                            }
                        }
                    }
                }
            }
        }
        println!("{total} pieces, distinct {}", known.len());
        for l in 0..4 {
            println!(
                "{:?} new {:.2}%",
                table[l].map(|c| format!("{:.2}", 100.0 * c as f64 / total as f64)),
                100.0 * fresh[l] as f64 / total as f64
            );
        }
        println!("ids per new piece {:.2}", merges as f64 / fresh.iter().sum::<u64>() as f64);
        return;
    }
    if what == "again" {
        for _ in 0..8 {
            let tokenizer = bytepair::format::huggingface::read(&bytes).unwrap();
            for d in docs.iter() {
                std::hint::black_box(tokenizer.encode_ordinary(d).unwrap().len());
            }
        }
        return;
    }
    let mut rates = Vec::new();
    let rounds = if what == "long" { 12 } else { 2 };
    for batch in [a].into_iter().chain(std::iter::repeat_n(b, 1 + rounds)) {
        let t = Instant::now();
        let mut n_ids = 0;
        for d in batch {
            n_ids += tokenizer.encode_ordinary(d).unwrap().len();
        }
        let s = t.elapsed().as_secs_f64();
        {
            let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
            unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut t) };
            eprintln!("PHASE {}.{:09}", t.tv_sec, t.tv_nsec);
        }
        rates.push(format!("{:.0}", n(batch) / 1e6 / s));
        std::hint::black_box(n_ids);
    }
    println!("{}", rates.join(" / "));
}
