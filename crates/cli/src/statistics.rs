//! Durations, summed up.

/// Durations in nanoseconds.
#[derive(Clone, Debug, Default)]
pub struct Samples(Vec<f64>);

impl Samples {
    pub fn add(&mut self, nanoseconds: f64) {
        self.0.push(nanoseconds);
    }

    pub fn join(&mut self, other: &Self) {
        self.0.extend_from_slice(&other.0);
    }

    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// The value that the given share of all is at or below, 0 for none.
    pub fn quantile(&self, share: f64) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        let at = (share * sorted.len() as f64).ceil() as usize;
        sorted.get(at.saturating_sub(1)).copied().unwrap_or(0.0)
    }

    pub fn median(&self) -> f64 {
        self.quantile(0.5)
    }

    pub fn p99(&self) -> f64 {
        self.quantile(0.99)
    }
}

/// `123 ns`, `12.3 µs`, `1.23 ms`: three digits.
pub fn time(nanoseconds: f64) -> String {
    let (value, unit) = match nanoseconds {
        n if n < 999.5 => (n, "ns"),
        n if n < 999_500.0 => (n / 1e3, "µs"),
        n => (n / 1e6, "ms"),
    };
    let digits = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
    format!("{value:.digits$} {unit}")
}

/// A whole number with its thousands set apart.
pub fn grouped(number: f64) -> String {
    let digits = format!("{number:.0}");
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at) % 3 == 0 && digits.as_bytes()[at - 1] != b'-' {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles() {
        let samples = Samples((1..=100).rev().map(f64::from).collect());
        assert_eq!((samples.median(), samples.p99(), samples.quantile(1.0)), (50.0, 99.0, 100.0));
        assert_eq!(Samples::default().median(), 0.0);
    }

    #[test]
    fn numbers_for_people() {
        assert_eq!(
            [time(5.25), time(123.4), time(12_345.0), time(2.5e6)],
            ["5.25 ns", "123 ns", "12.3 µs", "2.50 ms"]
        );
        assert_eq!(
            [grouped(999.0), grouped(1_234_567.0), grouped(-123_456.0)],
            ["999", "1,234,567", "-123,456"]
        );
    }
}
