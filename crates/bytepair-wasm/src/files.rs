//! Opens tokenizers from files of any format, and saves them. Costs what the format costs.

use std::io::Cursor;

use bytepair::Tokenizer;
use bytepair::split::Stage;
use bytepair_formats::pair::{Pair, SETTINGS};
use bytepair_formats::{PAIRS, encodings, gguf, half_of_pair, pair, recognise, tiktoken};
use serde::Deserialize;
use serde_json::json;

use crate::message::{Answer, Opened, Problem};
use crate::train::named_dialect;

/// The name and the length of a file, whose bytes follow the request.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FileLen {
    name: String,
    length: usize,
}

/// A file.
#[derive(Clone, Copy)]
struct File<'b> {
    name: &'b str,
    bytes: &'b [u8],
}

impl File<'_> {
    /// The name without its extension.
    fn stem(&self) -> &str {
        self.name.rsplit_once('.').map_or(self.name, |(stem, _)| stem)
    }
}

/// Opens a tokenizer. `dialect` gives the split of ranks, pairs and GGUF files that do not name one themselves.
pub(crate) fn open(
    lens: &[FileLen],
    dialect: Option<&str>,
    bytes: &[u8],
) -> Result<Opened, Problem> {
    let files = files(lens, bytes)?;
    let named = |name: &str| files.iter().copied().find(|file| file.name == name);
    let pairs = PAIRS.iter().filter_map(|(vocab, merges)| Some((named(vocab)?, named(merges)?)));
    if let Some((vocab, merges)) = pairs.into_iter().next() {
        let tokenizer = open_pair(vocab, merges, &files, dialect)?;
        return Ok(opened(tokenizer, vocab.name, "gpt2"));
    }
    let [file, others @ ..] = files.as_slice() else {
        return Err(Problem::new("no file was given"));
    };
    let (file, sidecar) = match others {
        [] => (*file, None),
        [other] if other.name == format!("{}.json", file.name) => (*file, Some(*other)),
        [other] if file.name == format!("{}.json", other.name) => (*other, Some(*file)),
        _ => return Err(not_together(&files)),
    };
    if let Some(problem) = half_of_pair(file.name, file.bytes) {
        return Err(Problem(format!("{} {problem}: open both at once", file.name)));
    }
    let format =
        if file.name.ends_with(".tiktoken") { Some("tiktoken") } else { recognise(file.bytes) };
    let format =
        format.ok_or_else(|| Problem(format!("{}: not a known tokenizer format", file.name)))?;
    if sidecar.is_some() && format != "tiktoken" {
        return Err(not_together(&files));
    }
    let tokenizer = if format == "tiktoken" {
        open_ranks(file, sidecar, dialect)?
    } else if format == "gguf" {
        let stages = split_of(dialect)?;
        gguf::read_split(Cursor::new(file.bytes), stages).map_err(|error| for_reader(&error))?
    } else {
        refuse_dialect(dialect, format)?;
        bytepair_formats::read(format, file.bytes)?
    };
    Ok(opened(tokenizer, file.name, format))
}

fn opened(tokenizer: Tokenizer, name: &str, format: &'static str) -> Opened {
    Opened { tokenizer, name: name.to_owned(), format: Some(format), course: None }
}

/// The files whose bytes follow each other.
fn files<'b>(lens: &'b [FileLen], mut bytes: &'b [u8]) -> Result<Vec<File<'b>>, Problem> {
    let mut files = Vec::new();
    for FileLen { name, length } in lens {
        let split = bytes.split_at_checked(*length);
        let (own, rest) =
            split.ok_or_else(|| Problem(format!("{name} is shorter than it says")))?;
        files.push(File { name, bytes: own });
        bytes = rest;
    }
    Ok(files)
}

fn refuse_dialect(dialect: Option<&str>, format: &str) -> Result<(), Problem> {
    match dialect {
        None => Ok(()),
        Some(_) => Err(Problem(format!(
            "a dialect has no effect on this format ({format}): the file says how it splits texts"
        ))),
    }
}

fn not_together(files: &[File<'_>]) -> Problem {
    let names: Vec<_> = files.iter().map(|file| file.name).collect();
    Problem(format!(
        "{} are not one tokenizer: open a single file, or vocab.json with merges.txt and their settings ({}), or a \
         .tiktoken file with its sidecar",
        names.join(", "),
        SETTINGS.join(", ")
    ))
}

/// The message of an error, with advice for the page instead of the advice for callers of Python.
fn for_reader(error: &bytepair::Error) -> Problem {
    let message = error.to_string();
    for (advice, own) in
        [("; give the split pattern", "; choose a dialect"), (", or give the split pattern", "")]
    {
        if let Some((found, _)) = message.split_once(advice) {
            return Problem(format!("{found}{own}"));
        }
    }
    Problem(message)
}

/// The split patterns of a dialect, if one is chosen.
fn split_of(dialect: Option<&str>) -> Result<Option<Vec<Stage>>, Problem> {
    dialect.map(|name| Ok(named_dialect(name)?.split)).transpose()
}

fn open_pair(
    vocab: File<'_>,
    merges: File<'_>,
    files: &[File<'_>],
    dialect: Option<&str>,
) -> Result<Tokenizer, Problem> {
    if vocab.name == "encoder_bpe_40000.json" {
        refuse_dialect(dialect, "GPT-1")?;
        return Ok(pair::read_gpt1(vocab.bytes, merges.bytes)?);
    }
    let is_other = |file: &&File<'_>| file.name != vocab.name && file.name != merges.name;
    let settings: Vec<_> =
        files.iter().filter(is_other).map(|file| (file.name, file.bytes)).collect();
    if settings.iter().any(|(name, _)| !SETTINGS.contains(name)) {
        return Err(not_together(files));
    }
    let pair = Pair { vocab_json: vocab.bytes, merges_txt: merges.bytes, settings: &settings };
    pair::read_split(&pair, split_of(dialect)?).map_err(|error| for_reader(&error))
}

/// Opens ranks, which hold no pattern: it comes from the sidecar, the dialect, or the published encoding.
fn open_ranks(
    file: File<'_>,
    sidecar: Option<File<'_>>,
    dialect: Option<&str>,
) -> Result<Tokenizer, Problem> {
    if let Some(name) = dialect {
        check_whole(file, true)?;
        return Ok(tiktoken::read(file.bytes, named_dialect(name)?.split, &[])?);
    }
    if let Some(sidecar) = sidecar {
        return Ok(tiktoken::read_with_sidecar(file.bytes, sidecar.bytes)?);
    }
    match *encodings::recognise(file.bytes, file.stem(), &[]) {
        [encoding] => Ok(encodings::read(file.bytes, encoding, &[])?),
        [] => {
            check_whole(file, false)?;
            Err(Problem(format!(
                "{}: a .tiktoken file does not hold a split pattern, and this is not a published one; open its sidecar \
                 {}.json with it, or choose a dialect",
                file.name, file.name
            )))
        }
        ref names => Err(Problem(format!(
            "{}: several encodings share these ranks, {}; give the file the name of the one that is meant",
            file.name,
            names.join(", ")
        ))),
    }
}

/// Refuses a published file that is not whole.
fn check_whole(file: File<'_>, has_split: bool) -> Result<(), Problem> {
    encodings::check_whole(file.bytes, file.stem(), has_split).map_err(|error| for_reader(&error))
}

/// The files of a tokenizer in a format, with their names.
pub(crate) fn save(tokenizer: &Tokenizer, format: &str) -> Result<Answer, Problem> {
    let files = bytepair_formats::write(format, tokenizer)?;
    let lens: Vec<_> =
        files.iter().map(|(name, bytes)| json!({ "name": name, "length": bytes.len() })).collect();
    Ok(Answer {
        fields: json!({ "files": lens }),
        bytes: files.into_iter().flat_map(|(_, bytes)| bytes).collect(),
    })
}
