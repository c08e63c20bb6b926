//! Prints text as ids come: `cargo run -p bytepair-formats --example decode_stream -- tokenizer.json 15496 995`.

#![expect(clippy::print_stdout, reason = "a program prints its result")]

use std::error::Error;

use bytepair::DecodeStream;
use bytepair::decode::DecodeErrors;
use bytepair_formats::huggingface;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().ok_or("which tokenizer.json?")?;

    let tokenizer = huggingface::read(&std::fs::read(file)?)?;
    let mut stream = DecodeStream::new(DecodeErrors::Replace, true);
    for id in arguments {
        print!("{}", String::from_utf8(stream.push(&tokenizer, id.parse()?)?)?);
    }
    println!("{}", String::from_utf8(stream.finish()?)?);
    Ok(())
}
