//! Rounding modes and the modifiers that go with them.

/// How a result that does not fit its format is brought to one that does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Rounding {
    /// `.rn`, `.rni`: to the nearest, ties to even.
    #[default]
    NearestEven,
    /// `.rna`: to the nearest, ties away from zero.
    NearestAway,
    /// `.rz`, `.rzi`: towards zero.
    Zero,
    /// `.rm`, `.rmi`: towards minus infinity.
    Down,
    /// `.rp`, `.rpi`: towards plus infinity.
    Up,
}

impl Rounding {
    /// Reads a modifier's name without its dot; `rni` and similar names give the same modes
    /// (see [`Rounding::is_integer_name`]).
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "rn" | "rni" => Self::NearestEven,
            "rna" => Self::NearestAway,
            "rz" | "rzi" => Self::Zero,
            "rm" | "rmi" => Self::Down,
            "rp" | "rpi" => Self::Up,
            _ => return None,
        })
    }

    /// Whether a modifier rounds to an integer: `rni`, `rzi`, `rmi`, `rpi`.
    pub fn is_integer_name(name: &str) -> bool {
        matches!(name, "rni" | "rzi" | "rmi" | "rpi")
    }
}
