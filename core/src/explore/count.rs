//! Numbers of schedules: exact, or known to be too large to say.

use std::fmt;

/// How many schedules. Exact unless it is [`Count::is_saturated`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Count(u128);

impl Count {
    /// None.
    pub const ZERO: Count = Count(0);
    /// One.
    pub const ONE: Count = Count(1);

    /// The number.
    pub fn get(self) -> u128 {
        self.0
    }

    /// Whether it grew beyond what fits, so that the number is only a lower bound.
    pub fn is_saturated(self) -> bool {
        self.0 == u128::MAX
    }

    /// The sum. Once saturated, it stays so.
    #[must_use]
    pub fn plus(self, other: Count) -> Count {
        Count(self.0.saturating_add(other.0))
    }

    /// This part of `whole`, from 0 to 1; 0 of nothing.
    pub fn share_of(self, whole: Count) -> f64 {
        if whole.0 == 0 {
            0.0
        } else {
            self.0 as f64 / whole.0 as f64
        }
    }
}

impl fmt::Display for Count {
    /// The digits, and `+` behind them if there were more to come.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let more = if self.is_saturated() { "+" } else { "" };
        f.pad(&format!("{}{more}", self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(target_family = "wasm")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    #[test]
    fn a_count_that_overflows_says_so() {
        let huge = Count(u128::MAX - 1);
        assert!(!huge.is_saturated());
        assert!(huge.plus(Count(5)).is_saturated());
        assert!(huge.plus(Count(5)).to_string().ends_with('+'));
        assert_eq!(Count(7).to_string(), "7");
    }
}
