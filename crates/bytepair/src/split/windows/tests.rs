//! What windows tell is what the definition says.
