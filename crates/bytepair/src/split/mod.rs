//! Text to pieces.
