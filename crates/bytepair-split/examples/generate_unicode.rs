//! Prints the Unicode tables that the crate carries, in the format their first lines describe.
//!
//! `cargo run -p bytepair-split --example generate_unicode > crates/bytepair-split/unicode/16.0.0.txt`
//!
//! The character sets come from `regex-syntax` (its version of Unicode is checked against
//! [`VERSION`]), the lower-case mappings from the standard library, restricted to characters that
//! this version of Unicode assigns. A newer version is a new file beside the old one.

use std::error::Error;
use std::io::Write;

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, HirKind};

/// The version of Unicode whose tables are written.
const VERSION: &str = "16.0.0";

const CATEGORIES: &str =
    "Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Co Cn";

const BINARY: &str = "White_Space Join_Control Alphabetic";

const SCRIPTS: &str = "\
    Adlam Ahom Anatolian_Hieroglyphs Arabic Armenian Avestan Balinese Bamum Bassa_Vah Batak \
    Bengali Bhaiksuki Bopomofo Brahmi Braille Buginese Buhid Canadian_Aboriginal Carian \
    Caucasian_Albanian Chakma Cham Cherokee Chorasmian Common Coptic Cuneiform Cypriot \
    Cypro_Minoan Cyrillic Deseret Devanagari Dives_Akuru Dogra Duployan Egyptian_Hieroglyphs \
    Elbasan Elymaic Ethiopic Garay Georgian Glagolitic Gothic Grantha Greek Gujarati \
    Gunjala_Gondi Gurmukhi Gurung_Khema Han Hangul Hanifi_Rohingya Hanunoo Hatran Hebrew \
    Hiragana Imperial_Aramaic Inherited Inscriptional_Pahlavi Inscriptional_Parthian Javanese \
    Kaithi Kannada Katakana Kawi Kayah_Li Kharoshthi Khitan_Small_Script Khmer Khojki Khudawadi \
    Kirat_Rai Lao Latin Lepcha Limbu Linear_A Linear_B Lisu Lycian Lydian Mahajani Makasar \
    Malayalam Mandaic Manichaean Marchen Masaram_Gondi Medefaidrin Meetei_Mayek Mende_Kikakui \
    Meroitic_Cursive Meroitic_Hieroglyphs Miao Modi Mongolian Mro Multani Myanmar Nabataean \
    Nag_Mundari Nandinagari New_Tai_Lue Newa Nko Nushu Nyiakeng_Puachue_Hmong Ogham Ol_Chiki \
    Ol_Onal Old_Hungarian Old_Italic Old_North_Arabian Old_Permic Old_Persian Old_Sogdian \
    Old_South_Arabian Old_Turkic Old_Uyghur Oriya Osage Osmanya Pahawh_Hmong Palmyrene \
    Pau_Cin_Hau Phags_Pa Phoenician Psalter_Pahlavi Rejang Runic Samaritan Saurashtra Sharada \
    Shavian Siddham SignWriting Sinhala Sogdian Sora_Sompeng Soyombo Sundanese Sunuwar \
    Syloti_Nagri Syriac Tagalog Tagbanwa Tai_Le Tai_Tham Tai_Viet Takri Tamil Tangsa Tangut \
    Telugu Thaana Thai Tibetan Tifinagh Tirhuta Todhri Toto Tulu_Tigalari Ugaritic Vai Vithkuqi \
    Wancho Warang_Citi Yezidi Yi Zanabazar_Square";

const HEADER: &str = "\
# Unicode character sets and lower-case mappings. Fields are parted by one space; code points are
# hexadecimal without prefix; FIRST-LAST is an inclusive range. Line `version`: the version of Unicode.
# Line `lowercase`: CODE:CODE or CODE:CODE+CODE, each character whose lower case is not itself.
# Every other line: a property's name, then its code points in ascending order, ranges maximal.";

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    check_version()?;
    let mut output = std::io::stdout().lock();
    writeln!(output, "{HEADER}\nversion {VERSION}")?;
    for name in CATEGORIES.split(' ').chain(BINARY.split(' ')) {
        writeln!(output, "{name}{}", ranges(&set(name)?))?;
    }
    for name in SCRIPTS.split(' ') {
        writeln!(output, "Script={name}{}", ranges(&set(&format!("Script={name}"))?))?;
    }
    writeln!(output, "lowercase{}", lowercase(&set("Assigned")?))?;
    Ok(())
}

fn check_version() -> Outcome<()> {
    let (major, minor) = (16, 0);
    let next_is_known = set(&format!("Age=V{}_{minor}", major + 1)).is_ok();
    let this_is_known = set(&format!("Age=V{major}_{minor}")).is_ok();
    if next_is_known || !this_is_known {
        return Err("regex-syntax carries another version of Unicode".into());
    }
    Ok(())
}

fn set(property: &str) -> Outcome<ClassUnicode> {
    match regex_syntax::parse(&format!("\\p{{{property}}}"))?.into_kind() {
        HirKind::Class(Class::Unicode(class)) => Ok(class),
        HirKind::Literal(literal) => single(std::str::from_utf8(&literal.0)?),
        _ => Err(format!("{property} is not a set of characters").into()),
    }
}

fn single(text: &str) -> Outcome<ClassUnicode> {
    let character = text.chars().next().ok_or("an empty literal")?;
    Ok(ClassUnicode::new([ClassUnicodeRange::new(character, character)]))
}

fn ranges(set: &ClassUnicode) -> String {
    set.iter().map(|range| range_text(u32::from(range.start()), u32::from(range.end()))).collect()
}

fn range_text(first: u32, last: u32) -> String {
    if first == last { format!(" {first:X}") } else { format!(" {first:X}-{last:X}") }
}

fn lowercase(assigned: &ClassUnicode) -> String {
    let characters = assigned.iter().flat_map(|range| range.start()..=range.end());
    characters.filter_map(|character| lowercase_text(character, assigned)).collect()
}

fn lowercase_text(character: char, assigned: &ClassUnicode) -> Option<String> {
    let lower: Vec<char> = character.to_lowercase().collect();
    if lower == [character] || !lower.iter().all(|&mapped| contains(assigned, mapped)) {
        return None;
    }
    let codes: Vec<String> =
        lower.iter().map(|&mapped| format!("{:X}", u32::from(mapped))).collect();
    Some(format!(" {:X}:{}", u32::from(character), codes.join("+")))
}

fn contains(set: &ClassUnicode, character: char) -> bool {
    set.iter().any(|range| range.start() <= character && character <= range.end())
}
