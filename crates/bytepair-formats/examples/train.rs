//! Trains on a text file and saves: `cargo run -p bytepair-formats --example train -- corpus.txt tokenizer.json`.

use std::error::Error;
use std::ops::ControlFlow;

use bytepair::count::CorpusCounter;
use bytepair::dialect::Dialect;
use bytepair::train::{Target, train};
use bytepair_formats::huggingface;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let corpus = arguments.next().ok_or("which corpus?")?;
    let output = arguments.next().ok_or("which output?")?;

    let dialect = Dialect::named("gpt4o").ok_or("an unknown dialect")?;
    let mut counter = CorpusCounter::new(dialect.preparation(&[])?, 2)?;
    counter.count_texts(&[&std::fs::read(corpus)?])?;
    let (counts, _report) = counter.finish()?;
    let options = dialect.train_options(Target::VocabSize(32_000), Vec::new());
    let trained = train(counts, &dialect.units, &options, |_| Ok(ControlFlow::Continue(())))?;
    let tokenizer = dialect.tokenizer(trained, &options)?;
    std::fs::write(output, huggingface::write(&tokenizer)?)?;
    Ok(())
}
