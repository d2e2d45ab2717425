//! What a page or table says, as plain structs.
