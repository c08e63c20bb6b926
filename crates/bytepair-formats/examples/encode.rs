//! Prints the ids of a text: `cargo run -p bytepair-formats --example encode -- tokenizer.json "Hello world"`.

#![expect(clippy::print_stdout, reason = "a program prints its result")]

use std::error::Error;

use bytepair_formats::huggingface;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().ok_or("which tokenizer.json?")?;
    let text = arguments.next().ok_or("which text?")?;

    let tokenizer = huggingface::read(&std::fs::read(file)?)?;
    println!("{:?}", tokenizer.encode_ordinary(text.as_bytes())?);
    Ok(())
}
