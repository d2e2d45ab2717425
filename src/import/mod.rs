//! Other tools' files into the same records through the same store.
