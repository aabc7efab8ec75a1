//! What the suite remembers: attributes, and what oneways told it.

use throughline::SystemException;

use super::SuiteServant;
use crate::interop::{Attributes, Colour, Journal, Longs, Point, Strings, Words};

#[derive(Debug)]
pub(super) struct State {
    label: String,
    relabelled: u32,
    level: i32,
    ratio: f64,
    paint: Colour,
    values: Longs,
    place: Point,
    target: Point,
    posted: Words,
    noted: Strings,
}

impl Default for State {
    fn default() -> Self {
        Self {
            label: String::new(),
            relabelled: 0,
            level: 0,
            ratio: 0.0,
            paint: Colour::Red,
            values: Vec::new(),
            place: Point::default(),
            target: Point::default(),
            posted: Vec::new(),
            noted: Vec::new(),
        }
    }
}

macro_rules! attributes {
    ($($name:ident $set:ident $borrowed:ty, $owned:ty;)*) => {
        $(fn $name(&self) -> Result<$owned, SystemException> {
            Ok(self.state().$name.clone())
        }

        fn $set(&self, value: $borrowed) -> Result<(), SystemException> {
            self.state().$name = value.to_owned();
            Ok(())
        })*
    };
}

impl Attributes for SuiteServant {
    attributes! {
        level set_level i32, i32;
        ratio set_ratio f64, f64;
        paint set_paint Colour, Colour;
        values set_values &[i32], Longs;
        place set_place &Point, Point;
        target set_target &Point, Point;
    }

    fn label(&self) -> Result<String, SystemException> {
        Ok(self.state().label.clone())
    }

    fn set_label(&self, value: &str) -> Result<(), SystemException> {
        let mut state = self.state();
        value.clone_into(&mut state.label);
        state.relabelled += 1;
        Ok(())
    }

    fn version(&self) -> Result<u8, SystemException> {
        Ok(7)
    }

    fn relabelled(&self) -> Result<u32, SystemException> {
        Ok(self.state().relabelled)
    }
}

impl Journal for SuiteServant {
    fn post(&self, n: u32) {
        self.state().posted.push(n);
    }

    fn note(&self, line: &str, place: &Point) {
        let mut state = self.state();
        state.noted.push(line.to_owned());
        state.place = *place;
    }

    fn posted(&self) -> Result<Words, SystemException> {
        Ok(self.state().posted.clone())
    }

    fn noted(&self) -> Result<Strings, SystemException> {
        Ok(self.state().noted.clone())
    }

    fn clear(&self) -> Result<(), SystemException> {
        let mut state = self.state();
        state.posted.clear();
        state.noted.clear();
        Ok(())
    }
}
