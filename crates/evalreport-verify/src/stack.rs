//! The technology of a project.

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stack {
    Node,
    ViteFrontend,
    Python,
    Go,
    Rust,
    Java,
    Swift,
    Dotnet,
    Php,
    Ruby,
    /// Several stacks, each in a part of its own.
    Mixed,
    Unknown,
}

impl Stack {
    pub const ALL: [Self; 12] = [
        Self::Node,
        Self::ViteFrontend,
        Self::Python,
        Self::Go,
        Self::Rust,
        Self::Java,
        Self::Swift,
        Self::Dotnet,
        Self::Php,
        Self::Ruby,
        Self::Mixed,
        Self::Unknown,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Node => "node",
            Self::ViteFrontend => "vite_frontend",
            Self::Python => "python",
            Self::Go => "go",
            Self::Rust => "rust",
            Self::Java => "java",
            Self::Swift => "swift",
            Self::Dotnet => "dotnet",
            Self::Php => "php",
            Self::Ruby => "ruby",
            Self::Mixed => "mixed",
            Self::Unknown => "unknown",
        }
    }
}
