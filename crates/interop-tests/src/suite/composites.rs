//! Constructed types.

use throughline::{InOut, SystemException};

use super::{SuiteServant, turn};
use crate::interop::{
    Booleans, ByBoolean, ByChar, ByColour, ByLong, ByLonglong, ByShort, Chars, Choices, Colour, Colours,
    Composites, Corners, Digest, Doubles, Everything, FewLongs, FewTags, Floats, Lines, Longlongs, Longs,
    Matrices, Matrix, Numbers, Padded, People, Person, Point, Points, Shorts, Strings, Table, Tree, Triple,
};

macro_rules! turned {
    ($($operation:ident $borrowed:ty, $owned:ty;)*) => {
        $(fn $operation(&self, a: &$borrowed, b: &mut $owned) -> Result<($owned, $owned), SystemException> {
            turn(a.to_owned(), b)
        })*
    };
}

macro_rules! echoed {
    ($($operation:ident $borrowed:ty, $owned:ty;)*) => {
        $(fn $operation(&self, v: &$borrowed) -> Result<$owned, SystemException> {
            Ok(v.to_owned())
        })*
    };
}

impl Composites for SuiteServant {
    turned! {
        turn_point Point, Point;
        turn_padded Padded, Padded;
        turn_person Person, Person;
        turn_choice ByLong, ByLong;
        turn_people [Person], People;
        turn_matrix Matrix, Matrix;
        turn_lines Lines, Lines;
    }

    fn turn_longs(&self, a: &[i32], b: &mut InOut<'_, i32>) -> Result<(Longs, Longs), SystemException> {
        turn(a.to_owned(), b.to_mut())
    }

    echoed! {
        echo_by_colour ByColour, ByColour;
        echo_by_boolean ByBoolean, ByBoolean;
        echo_by_char ByChar, ByChar;
        echo_by_short ByShort, ByShort;
        echo_by_longlong ByLonglong, ByLonglong;
        echo_choices [ByLong], Choices;
        echo_tree Tree, Tree;
        echo_everything Everything, Everything;
        echo_booleans [bool], Booleans;
        echo_chars [char], Chars;
        echo_shorts [i16], Shorts;
        echo_longlongs [i64], Longlongs;
        echo_floats [f32], Floats;
        echo_doubles [f64], Doubles;
        echo_colours [Colour], Colours;
        echo_numbers [u32], Numbers;
        echo_table [Strings], Table;
        echo_few_longs FewLongs, FewLongs;
        echo_few_tags FewTags, FewTags;
        echo_points [Point], Points;
        echo_corners Corners, Corners;
        echo_digest Digest, Digest;
        echo_triple Triple, Triple;
        echo_matrices [Matrix], Matrices;
    }
}
