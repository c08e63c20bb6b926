//! The Python extension module `bytepair._core`.
