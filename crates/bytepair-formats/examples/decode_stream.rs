//! Prints text as ids come: `cargo run -p bytepair-formats --example decode_stream -- tokenizer.json 15496 995`.

use std::error::Error;
use std::io::Write;

use bytepair::DecodeStream;
use bytepair::decode::DecodeErrors;
use bytepair_formats::huggingface;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().ok_or("which tokenizer.json?")?;

    let tokenizer = huggingface::read(&std::fs::read(file)?)?;
    let mut stream = DecodeStream::new(DecodeErrors::Replace, true);
    let mut output = std::io::stdout();
    for id in arguments {
        output.write_all(&stream.push(&tokenizer, id.parse()?)?)?;
    }
    output.write_all(&stream.finish()?)?;
    output.write_all(b"\n")?;
    Ok(())
}
