//! `inout` sequences of numbers, by every way, among peers that trust each other or do not.

mod common;

use common::served;
use throughline::InOut;
use throughline::rt::SystemException;
use throughline_idl_tests::second::{Chart, ChartMagnifyError, ChartSkeleton, chart::Overflow};

struct Servant;

impl Chart for Servant {
    fn magnify(&self, factor: f64, values: &mut InOut<'_, f64>) -> Result<(), ChartMagnifyError> {
        values.iter_mut().for_each(|value| *value *= factor);
        match values.iter().position(|value| value.is_infinite()) {
            Some(at) => Err(Overflow { r#where: at as u32 }.into()),
            None => Ok(()),
        }
    }

    fn shift(&self, values: &mut InOut<'_, f64>, by: f64) -> Result<(), SystemException> {
        values.iter_mut().for_each(|value| *value += by);
        Ok(())
    }

    fn append(&self, value: f64, values: &mut InOut<'_, f64>) -> Result<u32, SystemException> {
        values.to_mut().push(value);
        Ok(values.len() as u32)
    }
}

#[test]
fn whatever_a_servant_does_the_client_gets() {
    served(ChartSkeleton(Servant), |_, chart| {
        for count in [0, 1, 12, 13, 20, 300, 5_000, 100_000, 300_000].into_iter().chain([300; 5]) {
            let values: Vec<f64> = (0..count).map(|n| f64::from(n) / 8.0 + 1.0).collect();
            let mut changed = values.clone();
            chart.magnify(2.0, &mut changed).unwrap();
            assert!(changed.iter().zip(&values).all(|(new, old)| *new == old * 2.0), "{count} values");
            chart.shift(&mut changed, -1.0).unwrap();
            assert!(changed.iter().zip(&values).all(|(new, old)| *new == old * 2.0 - 1.0), "{count} values");
            assert_eq!(chart.append(7.0, &mut changed).unwrap(), count + 1);
            assert_eq!((changed.len(), changed.pop()), (count as usize + 1, Some(7.0)));
            let before = changed.clone();
            if count > 0 {
                let refused = chart.magnify(f64::INFINITY, &mut changed).unwrap_err();
                assert!(matches!(refused, ChartMagnifyError::Overflow(Overflow { .. })), "{refused}");
            }
            assert!(changed == before, "{count} values");
        }
    });
}
