//! Which of several names somebody may have meant.

/// Names longer than this are not compared.
const MAX_LENGTH: usize = 64;

/// The name that is closest to one that does not exist, if any is close enough to be a slip of it.
pub fn nearest<'n>(name: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let close = names.into_iter().map(|other| (distance(name, other), other));
    close.filter(|(distance, _)| *distance <= allowed(name)).min().map(|(_, other)| other)
}

/// How many letters of a name may be wrong.
pub(crate) fn allowed(name: &str) -> usize {
    (name.len() / 3).clamp(1, 3)
}

/// Letters to change, insert, remove or swap with their neighbour, case aside.
pub(crate) fn distance(a: &str, b: &str) -> usize {
    let (a, b) = (a.to_ascii_lowercase().into_bytes(), b.to_ascii_lowercase().into_bytes());
    if a.len() > MAX_LENGTH || b.len() > MAX_LENGTH || a.len().abs_diff(b.len()) > 3 {
        return usize::MAX;
    }
    let mut before_last = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replaced = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replaced.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before_last[j - 2] + 1);
            }
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_recognised_and_other_names_are_not() {
        let names = ["withdraw", "deposit", "balance"];
        assert_eq!(nearest("withdrw", names), Some("withdraw"));
        assert_eq!(nearest("Balacne", names), Some("balance"));
        assert_eq!(nearest("close", names), None);
    }
}
