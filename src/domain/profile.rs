//! How much is checked before something counts as done.

/// How much verification is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Profile {
    Strict,
    Fast,
    Smoke,
    Yolo,
}

impl Profile {
    pub const ALL: [Self; 4] = [Self::Strict, Self::Fast, Self::Smoke, Self::Yolo];

    pub fn name(self) -> &'static str {
        match self {
            Self::Strict => "strict",
            Self::Fast => "fast",
            Self::Smoke => "smoke",
            Self::Yolo => "yolo",
        }
    }
}
