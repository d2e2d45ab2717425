//! YAML and JSON text into a tree that knows lines and columns.
