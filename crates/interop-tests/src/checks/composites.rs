//! Constructed types, attributes and large values.

use super::{Context, Failed, Outcome, choices, people, points, strings};
use crate::interop::{
    ByBoolean, ByChar, ByColour, ByLong, ByLonglong, ByShort, Colour, Everything, FewLongs, FewTags, Matrix,
    Padded, Tree,
};
use crate::suite::octets;

fn padded() -> [Padded; 2] {
    let one = Padded { a: 1, b: 2.5, c: true, d: -3, e: 'c', f: -4, g: 5, h: 6 };
    let other = Padded { a: 255, b: -1e300, c: false, d: 1 << 62, e: '\n', f: 32767, g: 0, h: u32::MAX };
    [one, other]
}

fn matrix(from: i32) -> Matrix {
    [[from, from + 1, from + 2], [from + 10, from + 11, from + 12]]
}

fn table() -> Vec<Vec<String>> {
    vec![strings(&["a", "bc"]), strings(&[]), strings(&[""])]
}

fn many_choices() -> Vec<ByLong> {
    let [text, place] = choices();
    vec![ByLong::Number(17), text, ByLong::Text { discriminator: 3, value: "three".to_owned() }, place]
}

fn leaf(value: i32) -> Tree {
    Tree { value, children: Vec::new() }
}

/// Three children a node on the way.
fn tree(depth: i32) -> Tree {
    if depth == 0 {
        return leaf(0);
    }
    Tree { value: depth, children: vec![leaf(-1), tree(depth - 1), leaf(-2)] }
}

fn everything() -> Result<Everything, Failed> {
    let ([ada, _], [_, place]) = (people()?, choices());
    Ok(Everything {
        a_boolean: true,
        an_octet: 200,
        a_char: 'E',
        a_short: -1,
        an_unsigned_short: 65535,
        a_long: -2,
        an_unsigned_long: 4_000_000_000,
        a_long_long: -3,
        an_unsigned_long_long: u64::MAX,
        a_float: 0.5,
        a_double: -0.0,
        a_string: "everything".to_owned(),
        a_colour: Colour::Green,
        a_person: ada,
        a_choice: place,
        a_matrix: matrix(1),
        a_table: table(),
        many: many_choices(),
    })
}

fn expect_bulk(c: &Context, count: u32) -> Outcome {
    let sent = octets(count);
    expect!(c.suite.echo_octets(&sent)? == sent);
    expect!(c.suite.make_octets(count)? == sent);
    let sum = sent.iter().fold(0_u32, |sum, octet| sum.wrapping_add((*octet).into()));
    expect_same!(c.suite.sum_octets(&sent)?, sum);
    Ok(())
}

checks! {
    "struct.fixed" Nothing |c| {
        let ([x, y], [p, q]) = (points(), padded());
        expect_turned!(|a, b| c.suite.turn_point(a, b), x, y);
        expect_turned!(|a, b| c.suite.turn_padded(a, b), p, q);
    }

    "struct.variable" Nothing |c| {
        let [x, y] = people()?;
        expect_turned!(|a, b| c.suite.turn_person(a, b), x, y);
    }

    "struct.everything" Nothing |c| { expect_echo!(c.echo_everything, everything()?); }

    "struct.recursive" Nothing |c| {
        expect_echo!(c.echo_tree, leaf(1));
        expect_echo!(c.echo_tree, tree(12));
    }

    "union.turned" Nothing |c| {
        let [x, y] = choices();
        expect_turned!(|a, b| c.suite.turn_choice(a, b), x, y);
    }

    "union.labels" Nothing |c| { expect_echo!(c.echo_choices, many_choices()); }

    "union.enum" Nothing |c| {
        expect_echo!(c.echo_by_colour, ByColour::Level(-5));
        expect_echo!(c.echo_by_colour, ByColour::Names(strings(&["leaf", "lime"])));
        expect_echo!(c.echo_by_colour, ByColour::Default(Colour::Blue));
    }

    "union.boolean" Nothing |c| {
        let [ada, _] = people()?;
        expect_echo!(c.echo_by_boolean, ByBoolean::Who(ada));
        expect_echo!(c.echo_by_boolean, ByBoolean::None(-2.5));
    }

    "union.char" Nothing |c| {
        expect_echo!(c.echo_by_char, ByChar::Small(9));
        expect_echo!(c.echo_by_char, ByChar::Numbers { discriminator: 'b', value: vec![1, 2, 3] });
        expect_echo!(c.echo_by_char, ByChar::Numbers { discriminator: 'c', value: vec![1, 2, 3] });
        expect_echo!(c.echo_by_char, ByChar::Other { discriminator: '?', value: true });
    }

    "union.short" Nothing |c| {
        let [text, _] = choices();
        expect_echo!(c.echo_by_short, ByShort::Inner(text));
        expect_echo!(c.echo_by_short, ByShort::Cells(matrix(70)));
        expect_echo!(c.echo_by_short, ByShort::Paint(Colour::Blue));
        expect_echo!(c.echo_by_short, ByShort::Default(8));
    }

    "union.longlong" Nothing |c| {
        expect_echo!(c.echo_by_longlong, ByLonglong::Far(1 << 50));
        expect_echo!(c.echo_by_longlong, ByLonglong::Near(std::array::from_fn(|i| 16 * i as u8)));
        expect_echo!(c.echo_by_longlong, ByLonglong::Default(7));
    }

    "sequence.turned" Nothing |c| {
        let [x, y] = people()?;
        expect_turned!(|a: &Vec<i32>, b| c.suite.turn_longs(a, b), vec![1, -1, 1 << 30], vec![7]);
        expect_turned!(|a: &Vec<i32>, b| c.suite.turn_longs(a, b), vec![], vec![7]);
        expect_turned!(|a: &Vec<_>, b| c.suite.turn_people(a, b), vec![x, y.clone()], vec![y]);
    }

    "sequence.basics" Nothing |c| {
        expect_echo!(c.echo_booleans, vec![true, false, true]);
        expect_echo!(c.echo_chars, vec!['a', '\0', '~']);
        expect_echo!(c.echo_shorts, vec![-1, 0, 32767]);
        expect_echo!(c.echo_longlongs, vec![-1, 1 << 62]);
        expect_echo!(c.echo_floats, vec![0.5, -0.0, f32::INFINITY]);
        expect_echo!(c.echo_doubles, vec![0.1, 5e-324, f64::NEG_INFINITY]);
        expect_echo!(c.echo_colours, vec![Colour::Red, Colour::Blue, Colour::Green]);
        expect_echo!(c.echo_numbers, vec![1, u32::MAX]);
    }

    "sequence.empty" Nothing |c| {
        expect_echo!(c.echo_booleans, vec![]);
        expect_echo!(c.echo_longlongs, vec![]);
        expect_echo!(c.echo_doubles, vec![]);
        expect_echo!(c.echo_points, vec![]);
        expect_echo!(c.echo_table, vec![]);
    }

    "sequence.of_structs" Nothing |c| { expect_echo!(c.echo_points, points().to_vec()); }

    "sequence.of_sequences" Nothing |c| { expect_echo!(c.echo_table, table()); }

    "sequence.bounded" Nothing |c| {
        expect_echo!(c.echo_few_longs, FewLongs::new((1..=8).collect())?);
        expect_echo!(c.echo_few_tags, FewTags::new(vec!["four".try_into()?, "".try_into()?, "x".try_into()?])?);
    }

    "array.two_dimensions" Nothing |c| {
        expect_turned!(|a, b| c.suite.turn_matrix(a, b), matrix(100), matrix(-100));
    }

    "array.of_strings" Nothing |c| {
        let lines = ["line", "", "line"].map(str::to_owned);
        let before = ["before", "before", "before"].map(str::to_owned);
        expect_turned!(|a, b| c.suite.turn_lines(a, b), lines, before);
    }

    "array.of_structs" Nothing |c| { expect_echo!(c.echo_corners, [points(), points()]); }

    "array.of_basics" Nothing |c| {
        expect_echo!(c.echo_digest, std::array::from_fn(|i| 255 - i as u8));
        expect_echo!(c.echo_triple, [1.5, -0.0, 1e-300]);
    }

    "array.in_sequence" Nothing |c| { expect_echo!(c.echo_matrices, vec![matrix(5), matrix(50)]); }

    "attribute.writable" Nothing |c| {
        let suite = &c.suite;
        let [here, there] = points();
        let rounds = [(1, &there, &here, Colour::Blue), (0, &here, &there, Colour::Red)];
        for (variant, place, target, paint) in rounds {
            suite.set_level(variant - 40)?;
            suite.set_ratio(f64::from(variant) / 4.0)?;
            suite.set_paint(paint)?;
            suite.set_values(&[variant, 2])?;
            suite.set_place(place)?;
            suite.set_target(target)?;
            expect_same!(suite.level()?, variant - 40);
            expect_same!(suite.ratio()?, f64::from(variant) / 4.0);
            expect_same!(suite.paint()?, paint);
            expect_same!(suite.values()?, vec![variant, 2]);
            expect_same!(suite.place()?, *place);
            expect_same!(suite.target()?, *target);
        }
    }

    "attribute.readonly" Nothing |c| {
        expect_same!(c.suite.version()?, 7_u8);
        let before = c.suite.relabelled()?;
        c.suite.set_label("a label")?;
        expect_same!(c.suite.label()?, "a label".to_owned());
        expect_same!(c.suite.relabelled()?, before + 1);
    }

    // Around the sizes at which omniORB's buffers end.
    "bulk.sizes" Nothing |c| {
        for count in [0, 1, 7, 1023, 4096, 8100, 8191, 8192, 8193, 16384, 65535, 65536, 100_001] {
            expect_bulk(c, count)?;
        }
    }

    "bulk.every_size" Nothing |c| {
        for count in 8000..8200 {
            let sent = octets(count);
            expect!(c.suite.echo_octets(&sent)? == sent);
        }
    }

    "bulk.10mb" Nothing |c| { expect_bulk(c, 10 * 1024 * 1024)?; }

    "bulk.million_longs" Nothing |c| {
        let sent: Vec<i32> = (0..1_000_000_i32).map(|i| i.wrapping_mul(2_654_435_761_u32.cast_signed())).collect();
        expect!(c.suite.echo_longs(&sent)? == sent);
    }

    "bulk.long_string" Nothing |c| {
        let mut sent = "x".repeat(1_000_000);
        sent.replace_range(8191..8192, "y");
        expect!(c.suite.echo_long_string(&sent)? == sent);
    }

    "bulk.many_strings" Nothing |c| {
        let line = |i: usize| char::from(b'a' + (i % 26) as u8).to_string().repeat(i % 37);
        let sent: Vec<String> = (0..20_000).map(line).collect();
        expect!(c.suite.echo_strings(&sent)? == sent);
    }

    "bulk.many_people" Nothing |c| {
        let both = people()?;
        let crowd = |n: usize, every: usize| -> Vec<_> {
            (0..n).map(|i| both[usize::from(i % every == 0)].clone()).collect()
        };
        expect_turned!(|a: &Vec<_>, b| c.suite.turn_people(a, b), crowd(3000, 2), crowd(2000, 3));
    }
}
