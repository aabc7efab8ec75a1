use super::*;
use proptest::prelude::*;

/// A frame of that kind, otherwise as these bytes say.
fn frame(kind: Kind, bytes: &[u8]) -> Vec<u8> {
    let mut frame = bytes.to_vec();
    for (at, known, value) in kind.constants() {
        frame[at] = frame[at] & !known | value;
    }
    frame
}

fn kinds() -> impl Strategy<Value = Kind> {
    prop::sample::select(&Kind::ALL[..])
}

fn of(frame: &[u8]) -> Option<(Kind, FlowKey)> {
    Kind::of(&View::of(frame).unwrap())
}

/// A frame of a kind has what all of them have.
fn check_constants(kind: Kind, frame: &[u8]) -> Result<(), TestCaseError> {
    let template = kind.template();
    for (at, byte) in frame.iter().enumerate() {
        if let Some(bits) = template.load(at as u64, 1) {
            prop_assert_eq!(u32::from(*byte) & bits.known, bits.value, "{:?} {}", kind, at);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, ..ProptestConfig::default() })]

    /// What the analysis of programs rests upon.
    #[test]
    fn the_key_is_what_the_template_says(
        kind in kinds(),
        bytes in prop::collection::vec(any::<u8>(), 80),
        at in prop_oneof![0..80_usize, HEADER..HEADER + 10],
        change in 1..=255_u8,
    ) {
        let before = frame(kind, &bytes);
        let (found, key) = of(&before).unwrap();
        prop_assert_eq!(found, kind);
        check_constants(kind, &before)?;
        let mut changed = before.clone();
        changed[at] ^= change;
        let determined = kind.template().load(at as u64, 1).is_some();
        prop_assert_eq!(of(&changed) != Some((kind, key)), determined, "{}", at);
        if let Some((kind, _)) = of(&changed) {
            check_constants(kind, &changed)?;
        }
    }

    #[test]
    fn frames_of_a_kind_have_all_bytes_of_the_template(
        kind in kinds(),
        bytes in prop::collection::vec(any::<u8>(), 80),
        len in 14..80_usize,
    ) {
        let frame = frame(kind, &bytes);
        let longest = (0..TEMPLATE as u64).rev().find(|at| kind.template().load(*at, 1).is_some()).unwrap();
        prop_assert_eq!(of(&frame[..len]).is_some(), of(&frame[..len]).is_some_and(|(found, _)| found == kind));
        prop_assert!(of(&frame[..len]).is_none() || len as u64 > longest);
    }
}

#[test]
fn numbers_of_a_template_are_big_endian() {
    let template = Kind::Ipv4Tcp.template();
    assert_eq!(template.load(12, 2), Some(Bits { known: u32::MAX, value: 0x0800 }));
    assert_eq!(template.load(20, 2), Some(Bits { known: 0xffff_1fff, value: 0 }));
    assert_eq!(template.load(26, 4), Some(Bits::default()));
    assert_eq!(template.load(16, 2), None, "the length");
    assert_eq!(template.load(36, 4), None, "ports, and what is behind them");
    assert_eq!(template.load(u64::MAX, 1), None);
}
