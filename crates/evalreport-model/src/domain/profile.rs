//! Profiles of verification: how much is checked.

/// How much verification is requested.
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
