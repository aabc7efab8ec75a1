//! Basic types and text: there and back in every direction.

use throughline::{LongDouble, WChar, WString};

use super::{Context, Outcome, strings};
use crate::interop::Colour;

const ASCII: &str = "plain ~\t\"\\";
const LATIN: &str = "Gr\u{fc}\u{df}e\u{a0}\u{ff}\u{d7}\u{80}";
const UNICODE: &str = "\u{65e5}\u{672c} \u{20ac}\u{3a9}\u{fffd}x\u{1d11e}\u{10ffff}";

/// The peer understands text as these code points, makes it of them, and gives it back.
fn expect_understood(c: &Context, text: &str) -> Outcome {
    let points: Vec<u32> = text.chars().map(u32::from).collect();
    expect_same!(c.suite.code_points(text)?, points);
    expect_same!(c.suite.from_code_points(&points)?, text.to_owned());
    expect_same!(c.suite.echo_string(text)?, text.to_owned());
    Ok(())
}

fn expect_turned_string(c: &Context, x: &str, y: &str) -> Outcome {
    expect_turned!(|a: &String, b: &mut String| c.suite.turn_string(a, b), x.to_owned(), y.to_owned());
    Ok(())
}

fn expect_turned_wide(c: &Context, x: &str, y: &str) -> Outcome {
    expect_turned!(|a, b| c.suite.turn_wstring(a, b), WString::from(x), WString::from(y));
    Ok(())
}

checks! {
    "basics.boolean" Nothing |c| {
        expect_turned!(|a: &bool, b| c.suite.turn_boolean(*a, b), true, false);
        expect_turned!(|a: &bool, b| c.suite.turn_boolean(*a, b), false, true);
    }

    "basics.octet" Nothing |c| {
        expect_turned!(|a: &u8, b| c.suite.turn_octet(*a, b), 0_u8, 255_u8);
    }

    "basics.char" Nothing |c| {
        expect_turned!(|a: &char, b| c.suite.turn_char(*a, b), 'a', '~');
        expect_turned!(|a: &char, b| c.suite.turn_char(*a, b), '\n', '\0');
    }

    "basics.short" Nothing |c| {
        expect_turned!(|a: &i16, b| c.suite.turn_short(*a, b), i16::MIN, i16::MAX);
        expect_turned!(|a: &u16, b| c.suite.turn_ushort(*a, b), 1, u16::MAX);
    }

    "basics.long" Nothing |c| {
        expect_turned!(|a: &i32, b| c.suite.turn_long(*a, b), i32::MIN, i32::MAX);
        expect_turned!(|a: &u32, b| c.suite.turn_ulong(*a, b), 1, u32::MAX);
    }

    "basics.longlong" Nothing |c| {
        expect_turned!(|a: &i64, b| c.suite.turn_longlong(*a, b), i64::MIN, i64::MAX);
        expect_turned!(|a: &u64, b| c.suite.turn_ulonglong(*a, b), 1, u64::MAX);
    }

    "basics.float" Nothing |c| {
        expect_turned!(|a: &f32, b| c.suite.turn_float(*a, b), -0.0_f32, 1.5e-42_f32);
        expect_turned!(|a: &f32, b| c.suite.turn_float(*a, b), f32::MIN, f32::INFINITY);
        expect_turned!(|a: &f32, b| c.suite.turn_float(*a, b), f32::NAN, 1.0_f32);
    }

    "basics.double" Nothing |c| {
        expect_turned!(|a: &f64, b| c.suite.turn_double(*a, b), -0.0_f64, 5e-324_f64);
        expect_turned!(|a: &f64, b| c.suite.turn_double(*a, b), f64::MIN, f64::NEG_INFINITY);
        expect_turned!(|a: &f64, b| c.suite.turn_double(*a, b), f64::NAN, 1.0_f64);
    }

    // omniORB carries the ten octets of its processor's extended numbers, which are the last ones here.
    "basics.longdouble" Nothing |c| {
        for v in [0.0, -3.25, 1e300, 0.1] {
            let mut sent = LongDouble::from(v);
            sent.0.rotate_left(6);
            // The integer bit, without which such a processor takes a number for none.
            sent.0[8] |= 0x80;
            let back = c.suite.echo_longdouble(sent)?;
            expect_same!(back.0[6..], sent.0[6..]);
        }
    }

    "basics.enum" Nothing |c| {
        expect_turned!(|a: &Colour, b| c.suite.turn_colour(*a, b), Colour::Blue, Colour::Green);
    }

    "basics.string" Nothing |c| {
        expect_turned_string(c, "one", "another, longer than the one")?;
        expect_turned_string(c, "", "x")?;
    }

    "basics.alignment" Nothing |c| {
        expect_same!(c.suite.sum(1, -2, 3, 100_000, 255, 1 << 40)?, 100_257 + (1_i64 << 40));
    }

    "text.ascii" Nothing |c| { expect_understood(c, ASCII)?; }

    "text.empty" Nothing |c| { expect_understood(c, "")?; }

    "text.latin" Nothing |c| { expect_understood(c, LATIN)?; }

    "text.all_latin" Nothing |c| {
        let all: String = (1..=255_u8).map(char::from).collect();
        expect_understood(c, &all)?;
    }

    "text.unicode" Unicode |c| { expect_understood(c, UNICODE)?; }

    "text.not_in_theirs" LatinPeer |c| {
        expect_exception!(c.suite.echo_string(UNICODE), DataConversion);
        expect_understood(c, LATIN)?;
    }

    "text.not_on_the_wire" LatinWire |c| {
        expect_exception!(c.suite.echo_string(UNICODE), DataConversion);
        expect_understood(c, LATIN)?;
    }

    "text.bounded" Nothing |c| {
        for text in ["", "1234567890123456"] {
            expect_echo!(c.echo_short_string, text.try_into()?);
        }
    }

    "text.sequence" Nothing |c| {
        expect_echo!(c.echo_strings, strings(&[]));
        expect_echo!(c.echo_strings, strings(&["", "a", "ab", "abc", "abcd", "", ""]));
    }

    "wide.wchar" Wide |c| {
        expect_turned!(|a: &WChar, b| c.suite.turn_wchar(*a, b), WChar('x'), WChar('\u{20ac}'));
        expect_turned!(|a: &WChar, b| c.suite.turn_wchar(*a, b), WChar('\u{fffd}'), WChar('\u{e9}'));
    }

    "wide.wstring" Wide |c| {
        expect_turned_wide(c, LATIN, "")?;
        expect_turned_wide(c, "\u{65e5}\u{672c}", ASCII)?;
    }

    "wide.surrogates" Wide |c| { expect_turned_wide(c, UNICODE, "\u{1f600}")?; }

    "wide.code_units" Wide |c| {
        let units = vec![0x61_i16, 0x20ac, 0x65e5];
        expect_same!(c.suite.code_units(&WString::from("a\u{20ac}\u{65e5}"))?, units);
    }

    "wide.bounded" Wide |c| {
        expect_echo!(c.echo_short_wstring, "\u{3a9}".repeat(16).try_into()?);
    }

    "wide.sequences" Wide |c| {
        expect_echo!(c.echo_wchars, vec![WChar('a'), WChar('\u{20ac}'), WChar('\u{ff}')]);
        expect_echo!(c.echo_wstrings, [LATIN, "", "\u{65e5}"].map(WString::from).to_vec());
    }
}
