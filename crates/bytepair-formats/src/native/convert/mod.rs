//! The smaller parts of a `.bytepair` file, to records and back.
//!
//! Each pair of conversions stands together, and takes its value apart field by field. Linear in the size of the part.

mod choices;
mod cutting;
mod decode;
mod template;
mod tokens;
