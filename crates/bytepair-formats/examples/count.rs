//! Counts the tokens of files: `cargo run -p bytepair-formats --example count -- tokenizer.json *.txt`.

#![expect(clippy::print_stdout, reason = "a program prints its result")]

use std::error::Error;

use bytepair::EncodeOptions;
use bytepair_formats::huggingface;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().ok_or("which tokenizer.json?")?;

    let tokenizer = huggingface::read(&std::fs::read(file)?)?;
    for path in arguments {
        let text = std::fs::read(&path)?;
        println!("{path}: {}", tokenizer.count(&text, EncodeOptions::default(), 2)?);
    }
    Ok(())
}
