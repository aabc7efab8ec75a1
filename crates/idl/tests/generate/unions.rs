// Generated from unions.idl by Throughline's IDL compiler. Changes here will be lost.

/// Unions over every sort of discriminator and label.
#[allow(dead_code, clippy::module_inception)]
pub mod unions {
    use ::throughline::rt;

    /// `IDL:Unions/Colour:1.0`
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Colour {
        /// `red`
        Red,
        /// `green`
        Green,
        /// `blue`
        Blue,
    }

    impl rt::Encode for Colour {
        fn encode(&self, w: &mut rt::Writer<'_>) -> Result<(), rt::EncodeError> {
            w.write_u32(*self as u32);
            Ok(())
        }
    }

    impl<'a> rt::Decode<'a> for Colour {
        const MIN_SIZE: usize = 4;

        fn decode(r: &mut rt::Reader<'a>) -> Result<Self, rt::DecodeError> {
            match r.read_u32()? {
                0 => Ok(Self::Red),
                1 => Ok(Self::Green),
                2 => Ok(Self::Blue),
                value => {
                    Err(rt::DecodeError::InvalidEnum {
                        value,
                    })
                }
            }
        }
    }

    /// `typedef sequence<long> Longs`
    pub type Longs = Vec<i32>;

    /// `typedef short Selector`
    pub type Selector = i16;

    /// `IDL:Unions/Point:1.0`
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct Point {
        /// `short x`
        pub x: i16,
        /// `short y`
        pub y: i16,
    }

    impl rt::Encode for Point {
        fn encode(&self, w: &mut rt::Writer<'_>) -> Result<(), rt::EncodeError> {
            rt::Encode::encode(&self.x, w)?;
            rt::Encode::encode(&self.y, w)
        }
    }

    impl<'a> rt::Decode<'a> for Point {
        const MIN_SIZE: usize = 4;

        fn decode(r: &mut rt::Reader<'a>) -> Result<Self, rt::DecodeError> {
            Ok(Self {
                x: rt::Decode::decode(r)?,
                y: rt::Decode::decode(r)?,
            })
        }
    }

    /// `IDL:Unions/Large:1.0`
    #[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
    pub struct Large {
        /// `string a`
        pub a: String,
        /// `string b`
        pub b: String,
        /// `string c`
        pub c: String,
        /// `string d`
        pub d: String,
        /// `string e`
        pub e: String,
        /// `string f`
        pub f: String,
        /// `string g`
        pub g: String,
        /// `string h`
        pub h: String,
        /// `string i`
        pub i: String,
        /// `string j`
        pub j: String,
    }

    impl rt::Encode for Large {
        fn encode(&self, w: &mut rt::Writer<'_>) -> Result<(), rt::EncodeError> {
            rt::Encode::encode(&self.a, w)?;
            rt::Encode::encode(&self.b, w)?;
            rt::Encode::encode(&self.c, w)?;
            rt::Encode::encode(&self.d, w)?;
            rt::Encode::encode(&self.e, w)?;
            rt::Encode::encode(&self.f, w)?;
            rt::Encode::encode(&self.g, w)?;
            rt::Encode::encode(&self.h, w)?;
            rt::Encode::encode(&self.i, w)?;
            rt::Encode::encode(&self.j, w)
        }
    }

    impl<'a> rt::Decode<'a> for Large {
        const MIN_SIZE: usize = 40;

        fn decode(r: &mut rt::Reader<'a>) -> Result<Self, rt::DecodeError> {
            Ok(Self {
                a: rt::Decode::decode(r)?,
                b: rt::Decode::decode(r)?,
                c: rt::Decode::decode(r)?,
                d: rt::Decode::decode(r)?,
                e: rt::Decode::decode(r)?,
                f: rt::Decode::decode(r)?,
                g: rt::Decode::decode(r)?,
                h: rt::Decode::decode(r)?,
                i: rt::Decode::decode(r)?,
                j: rt::Decode::decode(r)?,
            })
        }
    }

    /// One label each, and none for other values.
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    pub enum ByLong {
        /// `long number`
        Number(i32),
        /// `string text`
        Text(String),
        /// A discriminator that selects no member.
        Default(i32),
    }

    impl ByLong {
        /// What selects the member: a `long`.
        pub fn discriminator(&self) -> i32 {
            match self {
                Self::Number(_) => 1,
                Self::Text(_) => -2,
                Self::Default(discriminator) => *discriminator,
            }
        }
    }

    impl rt::Encode for ByLong {
        fn encode(&self, w: &mut rt::Writer<'_>) -> Result<(), rt::EncodeError> {
            rt::Encode::encode(&self.discriminator(), w)?;
            match self {
                Self::Number(value) => rt::Encode::encode(value, w),
                Self::Text(value) => rt::Encode::encode(value, w),
                Self::Default(discriminator) => {
                    match discriminator {
                        -2 | 1 => {
                            Err(
                                rt::EncodeError::Invalid(
                                    "the discriminator of `ByLong` selects another member",
                                ),
                            )
                        }
                        _ => Ok(()),
                    }
                }
            }
        }
    }

    impl<'a> rt::Decode<'a> for ByLong {
        const MIN_SIZE: usize = 4;

        fn decode(r: &mut rt::Reader<'a>) -> Result<Self, rt::DecodeError> {
            let discriminator: i32 = rt::Decode::decode(r)?;
            Ok(
                match discriminator {
                    1 => Self::Number(rt::Decode::decode(r)?),
                    -2 => Self::Text(rt::Decode::decode(r)?),
                    _ => Self::Default(discriminator),
                },
            )
        }
    }

    /// Several labels, and a default among them.
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    pub enum ByShort {
        /// `long number`
        Number {
            /// One of `1`, `2`.
            discriminator: Selector,
            /// The member's value.
            value: i32,
        },
        /// `Unions::Point place`
        Place {
            /// `3`, or any that selects no other member.
            discriminator: Selector,
            /// The member's value.
            value: Point,
        },
        /// `Unions::Longs list`
        List(Longs),
    }

    impl ByShort {
        /// What selects the member: a `Unions::Selector`.
        pub fn discriminator(&self) -> Selector {
            match self {
                Self::Number { discriminator, .. } => *discriminator,
                Self::Place { discriminator, .. } => *discriminator,
                Self::List(_) => -1,
            }
        }
    }

    impl rt::Encode for ByShort {
        fn encode(&self, w: &mut rt::Writer<'_>) -> Result<(), rt::EncodeError> {
            rt::Encode::encode(&self.discriminator(), w)?;
            match self {
                Self::Number { discriminator, value } => {
                    match discriminator {
                        1 | 2 => rt::Encode::encode(value, w),
                        _ => {
                            Err(
                                rt::EncodeError::Invalid(
                                    "the discriminator of `ByShort` selects another member",
                                ),
                            )
                        }
                    }
                }
                Self::Place { discriminator, value } => {
                    match discriminator {
                        -1 | 1 | 2 => {
                            Err(
                                rt::EncodeError::Invalid(
                                    "the discriminator of `ByShort` selects another member",
                                ),
                            )
                        }
                        _ => rt::Encode::encode(value, w),
                    }
                }
                Self::List(value) => rt::Encode::encode(value, w),
            }
        }
    }

    impl<'a> rt::Decode<'a> for ByShort {
        const MIN_SIZE: usize = 2;

        fn decode(r: &mut rt::Reader<'a>) -> Result<Self, rt::DecodeError> {
            let discriminator: Selector = rt::Decode::decode(r)?;
            Ok(
                match discriminator {
                    1 | 2 => {
                        Self::Number {
                            discriminator,
                            value: rt::Decode::decode(r)?,
                        }
                    }
                    -1 => Self::List(rt::Decode::decode(r)?),
                    _ => {
                        Self::Place {
                            discriminator,
                            value: rt::Decode::decode(r)?,
                        }
                    }
                },
            )
        }
    }

    /// `IDL:Unions/ByUnsignedShort:1.0`
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum ByUnsignedShort {
        /// `octet edge`
        Edge {
            /// One of `0`, `65535`.
            discriminator: u16,
            /// The member's value.
            value: u8,
        },
        /// A discriminator that selects no member.
        Default(u16),
    }

    impl ByUnsignedShort {
        /// What selects the member: a `unsigned short`.
        pub fn discriminator(&self) -> u16 {
            match self {
                Self::Edge { discriminator, .. } => *discriminator,
                Self::Default(discriminator) => *discriminator,
            }
        }
    }

    impl rt::Encode for ByUnsignedShort {
        fn encode(&self, w: &mut rt::Writer<'_>) -> Result<(), rt::EncodeError> {
            rt::Encode::encode(&self.discriminator(), w)?;
            match self {
                Self::Edge { discriminator, value } => {
                    match discriminator {
                        0 | 65535 => rt::Encode::encode(value, w),
                        _ => {
                            Err(
                                rt::EncodeError::Invalid(
                                    "the discriminator of `ByUnsignedShort` selects another member",
                                ),
                            )
                        }
                    }
                }
                Self::Default(discriminator) => {
                    match discriminator {
                        0 | 65535 => {
                            Err(
                                rt::EncodeError::Invalid(
                                    "the discriminator of `ByUnsignedShort` selects another member",
                                ),
                            )
                        }
                        _ => Ok(()),
                    }
                }
            }
        }
    }

    impl<'a> rt::Decode<'a> for ByUnsignedShort {
        const MIN_SIZE: usize = 2;

        fn decode(r: &mut rt::Reader<'a>) -> Result<Self, rt::DecodeError> {
            let discriminator: u16 = rt::Decode::decode(r)?;
            Ok(
                match discriminator {
                    0 | 65535 => {
                        Self::Edge {
                            discriminator,
                            value: rt::Decode::decode(r)?,
                        }
                    }
                    _ => Self::Default(discriminator),
                },
            )
        }
    }

    /// `IDL:Unions/ByUnsignedLong:1.0`
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum ByUnsignedLong {
        /// `octet last`
        Last(u8),
        /// `boolean other`
        Other {
            /// Any that selects no other member.
            discriminator: u32,
            /// The member's value.
            value: bool,
        },
    }

    impl ByUnsignedLong {
        /// What selects the member: a `unsigned long`.
        pub fn discriminator(&self) -> u32 {
            match self {
                Self::Last(_) => 4294967295,
                Self::Other { discriminator, .. } => *discriminator,
            }
        }
    }

    impl rt::Encode for ByUnsignedLong {
        fn encode(&self, w: &mut rt::Writer<'_>) -> Result<(), rt::EncodeError> {
            rt::Encode::encode(&self.discriminator(), w)?;
            match self {
                Self::Last(value) => rt::Encode::encode(value, w),
                Self::Other { discriminator, value } => {
                    match discriminator {
                        4294967295 => {
                            Err(
                                rt::EncodeError::Invalid(
                                    "the discriminator of `ByUnsignedLong` selects another member",
                                ),
                            )
                        }
                        _ => rt::Encode::encode(value, w),
                    }
                }
            }
        }
    }

    impl<'a> rt::Decode<'a> for ByUnsignedLong {
        const MIN_SIZE: usize = 4;

        fn decode(r: &mut rt::Reader<'a>) -> Result<Self, rt::DecodeError> {
            let discriminator: u32 = rt::Decode::decode(r)?;
            Ok(
                match discriminator {
                    4294967295 => Self::Last(rt::Decode::decode(r)?),
                    _ => {
                        Self::Other {
                            discriminator,
                            value: rt::Decode::decode(r)?,
                        }
                    }
                },
            )
        }
    }

    /// `IDL:Unions/ByLongLong:1.0`
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum ByLongLong {
        /// `octet low`
        Low(u8),
        /// A discriminator that selects no member.
        Default(i64),
    }

    impl ByLongLong {
        /// What selects the member: a `long long`.
        pub fn discriminator(&self) -> i64 {
            match self {
                Self::Low(_) => -9223372036854775807,
                Self::Default(discriminator) => *discriminator,
            }
        }
    }

    impl rt::Encode for ByLongLong {
        fn encode(&self, w: &mut rt::Writer<'_>) -> Result<(), rt::EncodeError> {
            rt::Encode::encode(&self.discriminator(), w)?;
            match self {
                Self::Low(value) => rt::Encode::encode(value, w),
                Self::Default(discriminator) => {
                    match discriminator {
                        -9223372036854775807 => {
                            Err(
                                rt::EncodeError::Invalid(
                                    "the discriminator of `ByLongLong` selects another member",
                                ),
                            )
                        }
                        _ => Ok(()),
                    }
                }
            }
        }
    }

    impl<'a> rt::Decode<'a> for ByLongLong {
        const MIN_SIZE: usize = 8;

        fn decode(r: &mut rt::Reader<'a>) -> Result<Self, rt::DecodeError> {
            let discriminator: i64 = rt::Decode::decode(r)?;
            Ok(
                match discriminator {
                    -9223372036854775807 => Self::Low(rt::Decode::decode(r)?),
                    _ => Self::Default(discriminator),
                },
            )
        }
    }

    /// `IDL:Unions/ByUnsignedLongLong:1.0`
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum ByUnsignedLongLong {
        /// `octet high`
        High(u8),
        /// A discriminator that selects no member.
        Default(u64),
    }

    impl ByUnsignedLongLong {
        /// What selects the member: a `unsigned long long`.
        pub fn discriminator(&self) -> u64 {
            match self {
                Self::High(_) => 18446744073709551615,
                Self::Default(discriminator) => *discriminator,
            }
        }
    }

    impl rt::Encode for ByUnsignedLongLong {
        fn encode(&self, w: &mut rt::Writer<'_>) -> Result<(), rt::EncodeError> {
            rt::Encode::encode(&self.discriminator(), w)?;
            match self {
                Self::High(value) => rt::Encode::encode(value, w),
                Self::Default(discriminator) => {
                    match discriminator {
                        18446744073709551615 => {
                            Err(
                                rt::EncodeError::Invalid(
                                    "the discriminator of `ByUnsignedLongLong` selects another member",
                                ),
                            )
                        }
                        _ => Ok(()),
                    }
                }
            }
        }
    }

    impl<'a> rt::Decode<'a> for ByUnsignedLongLong {
        const MIN_SIZE: usize = 8;

        fn decode(r: &mut rt::Reader<'a>) -> Result<Self, rt::DecodeError> {
            let discriminator: u64 = rt::Decode::decode(r)?;
            Ok(
                match discriminator {
                    18446744073709551615 => Self::High(rt::Decode::decode(r)?),
                    _ => Self::Default(discriminator),
                },
            )
        }
    }

    /// `IDL:Unions/ByChar:1.0`
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum ByChar {
        /// `octet small`
        Small(u8),
        /// `octet odd`
        Odd {
            /// One of `'\''`, `'\n'`.
            discriminator: char,
            /// The member's value.
            value: u8,
        },
        /// `octet other`
        Other {
            /// Any that selects no other member.
            discriminator: char,
            /// The member's value.
            value: u8,
        },
    }

    impl ByChar {
        /// What selects the member: a `char`.
        pub fn discriminator(&self) -> char {
            match self {
                Self::Small(_) => 'a',
                Self::Odd { discriminator, .. } => *discriminator,
                Self::Other { discriminator, .. } => *discriminator,
            }
        }
    }

    impl rt::Encode for ByChar {
        fn encode(&self, w: &mut rt::Writer<'_>) -> Result<(), rt::EncodeError> {
            rt::Encode::encode(&self.discriminator(), w)?;
            match self {
                Self::Small(value) => rt::Encode::encode(value, w),
                Self::Odd { discriminator, value } => {
                    match discriminator {
                        '\n' | '\'' => rt::Encode::encode(value, w),
                        _ => {
                            Err(
                                rt::EncodeError::Invalid(
                                    "the discriminator of `ByChar` selects another member",
                                ),
                            )
                        }
                    }
                }
                Self::Other { discriminator, value } => {
                    match discriminator {
                        '\n' | '\'' | 'a' => {
                            Err(
                                rt::EncodeError::Invalid(
                                    "the discriminator of `ByChar` selects another member",
                                ),
                            )
                        }
                        _ => rt::Encode::encode(value, w),
                    }
                }
            }
        }
    }

    impl<'a> rt::Decode<'a> for ByChar {
        const MIN_SIZE: usize = 1;

        fn decode(r: &mut rt::Reader<'a>) -> Result<Self, rt::DecodeError> {
            let discriminator: char = rt::Decode::decode(r)?;
            Ok(
                match discriminator {
                    'a' => Self::Small(rt::Decode::decode(r)?),
                    '\n' | '\'' => {
                        Self::Odd {
                            discriminator,
                            value: rt::Decode::decode(r)?,
                        }
                    }
                    _ => {
                        Self::Other {
                            discriminator,
                            value: rt::Decode::decode(r)?,
                        }
                    }
                },
            )
        }
    }

    /// `IDL:Unions/ByBoolean:1.0`
    #[derive(Clone, Debug, PartialEq)]
    pub enum ByBoolean {
        /// `string yes`
        Yes(String),
        /// `double no`
        No(f64),
    }

    impl ByBoolean {
        /// What selects the member: a `boolean`.
        pub fn discriminator(&self) -> bool {
            match self {
                Self::Yes(_) => true,
                Self::No(_) => false,
            }
        }
    }

    impl rt::Encode for ByBoolean {
        fn encode(&self, w: &mut rt::Writer<'_>) -> Result<(), rt::EncodeError> {
            rt::Encode::encode(&self.discriminator(), w)?;
            match self {
                Self::Yes(value) => rt::Encode::encode(value, w),
                Self::No(value) => rt::Encode::encode(value, w),
            }
        }
    }

    impl<'a> rt::Decode<'a> for ByBoolean {
        const MIN_SIZE: usize = 1;

        fn decode(r: &mut rt::Reader<'a>) -> Result<Self, rt::DecodeError> {
            let discriminator: bool = rt::Decode::decode(r)?;
            Ok(
                match discriminator {
                    true => Self::Yes(rt::Decode::decode(r)?),
                    false => Self::No(rt::Decode::decode(r)?),
                },
            )
        }
    }

    /// `IDL:Unions/ByTrue:1.0`
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    pub enum ByTrue {
        /// `string yes`
        Yes(String),
        /// A discriminator that selects no member.
        Default(bool),
    }

    impl ByTrue {
        /// What selects the member: a `boolean`.
        pub fn discriminator(&self) -> bool {
            match self {
                Self::Yes(_) => true,
                Self::Default(discriminator) => *discriminator,
            }
        }
    }

    impl rt::Encode for ByTrue {
        fn encode(&self, w: &mut rt::Writer<'_>) -> Result<(), rt::EncodeError> {
            rt::Encode::encode(&self.discriminator(), w)?;
            match self {
                Self::Yes(value) => rt::Encode::encode(value, w),
                Self::Default(discriminator) => {
                    match discriminator {
                        true => {
                            Err(
                                rt::EncodeError::Invalid(
                                    "the discriminator of `ByTrue` selects another member",
                                ),
                            )
                        }
                        _ => Ok(()),
                    }
                }
            }
        }
    }

    impl<'a> rt::Decode<'a> for ByTrue {
        const MIN_SIZE: usize = 1;

        fn decode(r: &mut rt::Reader<'a>) -> Result<Self, rt::DecodeError> {
            let discriminator: bool = rt::Decode::decode(r)?;
            Ok(
                match discriminator {
                    true => Self::Yes(rt::Decode::decode(r)?),
                    _ => Self::Default(discriminator),
                },
            )
        }
    }

    /// `IDL:Unions/ByEither:1.0`
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    pub enum ByEither {
        /// `string either`
        Either {
            /// One of `true`, `false`.
            discriminator: bool,
            /// The member's value.
            value: String,
        },
    }

    impl ByEither {
        /// What selects the member: a `boolean`.
        pub fn discriminator(&self) -> bool {
            match self {
                Self::Either { discriminator, .. } => *discriminator,
            }
        }
    }

    impl rt::Encode for ByEither {
        fn encode(&self, w: &mut rt::Writer<'_>) -> Result<(), rt::EncodeError> {
            rt::Encode::encode(&self.discriminator(), w)?;
            match self {
                Self::Either { value, .. } => rt::Encode::encode(value, w),
            }
        }
    }

    impl<'a> rt::Decode<'a> for ByEither {
        const MIN_SIZE: usize = 1;

        fn decode(r: &mut rt::Reader<'a>) -> Result<Self, rt::DecodeError> {
            let discriminator: bool = rt::Decode::decode(r)?;
            Ok(
                match discriminator {
                    true | false => {
                        Self::Either {
                            discriminator,
                            value: rt::Decode::decode(r)?,
                        }
                    }
                },
            )
        }
    }

    /// `IDL:Unions/ByColour:1.0`
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum ByColour {
        /// `short level`
        Level(i16),
        /// `Unions::Colour other`
        Other(Colour),
        /// A discriminator that selects no member.
        Default(Colour),
    }

    impl ByColour {
        /// What selects the member: a `Unions::Colour`.
        pub fn discriminator(&self) -> Colour {
            match self {
                Self::Level(_) => Colour::Red,
                Self::Other(_) => Colour::Green,
                Self::Default(discriminator) => *discriminator,
            }
        }
    }

    impl rt::Encode for ByColour {
        fn encode(&self, w: &mut rt::Writer<'_>) -> Result<(), rt::EncodeError> {
            rt::Encode::encode(&self.discriminator(), w)?;
            match self {
                Self::Level(value) => rt::Encode::encode(value, w),
                Self::Other(value) => rt::Encode::encode(value, w),
                Self::Default(discriminator) => {
                    match discriminator {
                        Colour::Red | Colour::Green => {
                            Err(
                                rt::EncodeError::Invalid(
                                    "the discriminator of `ByColour` selects another member",
                                ),
                            )
                        }
                        _ => Ok(()),
                    }
                }
            }
        }
    }

    impl<'a> rt::Decode<'a> for ByColour {
        const MIN_SIZE: usize = 4;

        fn decode(r: &mut rt::Reader<'a>) -> Result<Self, rt::DecodeError> {
            let discriminator: Colour = rt::Decode::decode(r)?;
            Ok(
                match discriminator {
                    Colour::Red => Self::Level(rt::Decode::decode(r)?),
                    Colour::Green => Self::Other(rt::Decode::decode(r)?),
                    _ => Self::Default(discriminator),
                },
            )
        }
    }

    /// `IDL:Unions/ByAllColours:1.0`
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub enum ByAllColours {
        /// `short level`
        Level {
            /// One of `Colour::Red`, `Colour::Green`.
            discriminator: Colour,
            /// The member's value.
            value: i16,
        },
        /// `double shade`
        Shade(f64),
    }

    impl ByAllColours {
        /// What selects the member: a `Unions::Colour`.
        pub fn discriminator(&self) -> Colour {
            match self {
                Self::Level { discriminator, .. } => *discriminator,
                Self::Shade(_) => Colour::Blue,
            }
        }
    }

    impl rt::Encode for ByAllColours {
        fn encode(&self, w: &mut rt::Writer<'_>) -> Result<(), rt::EncodeError> {
            rt::Encode::encode(&self.discriminator(), w)?;
            match self {
                Self::Level { discriminator, value } => {
                    match discriminator {
                        Colour::Red | Colour::Green => rt::Encode::encode(value, w),
                        _ => {
                            Err(
                                rt::EncodeError::Invalid(
                                    "the discriminator of `ByAllColours` selects another member",
                                ),
                            )
                        }
                    }
                }
                Self::Shade(value) => rt::Encode::encode(value, w),
            }
        }
    }

    impl<'a> rt::Decode<'a> for ByAllColours {
        const MIN_SIZE: usize = 4;

        fn decode(r: &mut rt::Reader<'a>) -> Result<Self, rt::DecodeError> {
            let discriminator: Colour = rt::Decode::decode(r)?;
            Ok(
                match discriminator {
                    Colour::Red | Colour::Green => {
                        Self::Level {
                            discriminator,
                            value: rt::Decode::decode(r)?,
                        }
                    }
                    Colour::Blue => Self::Shade(rt::Decode::decode(r)?),
                },
            )
        }
    }

    /// `IDL:Unions/ByDefault:1.0`
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum ByDefault {
        /// `short level`
        Level(i16),
        /// `Unions::Colour other`
        Other {
            /// Any that selects no other member.
            discriminator: Colour,
            /// The member's value.
            value: Colour,
        },
    }

    impl ByDefault {
        /// What selects the member: a `Unions::Colour`.
        pub fn discriminator(&self) -> Colour {
            match self {
                Self::Level(_) => Colour::Red,
                Self::Other { discriminator, .. } => *discriminator,
            }
        }
    }

    impl rt::Encode for ByDefault {
        fn encode(&self, w: &mut rt::Writer<'_>) -> Result<(), rt::EncodeError> {
            rt::Encode::encode(&self.discriminator(), w)?;
            match self {
                Self::Level(value) => rt::Encode::encode(value, w),
                Self::Other { discriminator, value } => {
                    match discriminator {
                        Colour::Red => {
                            Err(
                                rt::EncodeError::Invalid(
                                    "the discriminator of `ByDefault` selects another member",
                                ),
                            )
                        }
                        _ => rt::Encode::encode(value, w),
                    }
                }
            }
        }
    }

    impl<'a> rt::Decode<'a> for ByDefault {
        const MIN_SIZE: usize = 4;

        fn decode(r: &mut rt::Reader<'a>) -> Result<Self, rt::DecodeError> {
            let discriminator: Colour = rt::Decode::decode(r)?;
            Ok(
                match discriminator {
                    Colour::Red => Self::Level(rt::Decode::decode(r)?),
                    _ => {
                        Self::Other {
                            discriminator,
                            value: rt::Decode::decode(r)?,
                        }
                    }
                },
            )
        }
    }

    /// The enum stands in the union.
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    pub enum Inside {
        /// `Unions::Inside::Weight how`
        How(inside::Weight),
        /// `string names[2]`
        Names([String; 2]),
        /// `sequence<Unions::Inside> more`
        More(Vec<Inside>),
        /// A discriminator that selects no member.
        Default(i32),
    }

    impl Inside {
        /// What selects the member: a `long`.
        pub fn discriminator(&self) -> i32 {
            match self {
                Self::How(_) => 1,
                Self::Names(_) => 2,
                Self::More(_) => 3,
                Self::Default(discriminator) => *discriminator,
            }
        }
    }

    impl rt::Encode for Inside {
        fn encode(&self, w: &mut rt::Writer<'_>) -> Result<(), rt::EncodeError> {
            rt::Encode::encode(&self.discriminator(), w)?;
            match self {
                Self::How(value) => rt::Encode::encode(value, w),
                Self::Names(value) => rt::Encode::encode(value, w),
                Self::More(value) => rt::Encode::encode(value, w),
                Self::Default(discriminator) => {
                    match discriminator {
                        1..=3 => {
                            Err(
                                rt::EncodeError::Invalid(
                                    "the discriminator of `Inside` selects another member",
                                ),
                            )
                        }
                        _ => Ok(()),
                    }
                }
            }
        }
    }

    impl<'a> rt::Decode<'a> for Inside {
        const MIN_SIZE: usize = 4;

        fn decode(r: &mut rt::Reader<'a>) -> Result<Self, rt::DecodeError> {
            let discriminator: i32 = rt::Decode::decode(r)?;
            Ok(
                match discriminator {
                    1 => Self::How(rt::Decode::decode(r)?),
                    2 => Self::Names(rt::Decode::decode(r)?),
                    3 => Self::More(rt::Decode::decode(r)?),
                    _ => Self::Default(discriminator),
                },
            )
        }
    }

    /// What is defined inside `Unions::Inside`.
    pub mod inside {
        use ::throughline::rt;

        /// `IDL:Unions/Inside/Weight:1.0`
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Weight {
            /// `light`
            Light,
            /// `heavy`
            Heavy,
        }

        impl rt::Encode for Weight {
            fn encode(&self, w: &mut rt::Writer<'_>) -> Result<(), rt::EncodeError> {
                w.write_u32(*self as u32);
                Ok(())
            }
        }

        impl<'a> rt::Decode<'a> for Weight {
            const MIN_SIZE: usize = 4;

            fn decode(r: &mut rt::Reader<'a>) -> Result<Self, rt::DecodeError> {
                match r.read_u32()? {
                    0 => Ok(Self::Light),
                    1 => Ok(Self::Heavy),
                    value => {
                        Err(rt::DecodeError::InvalidEnum {
                            value,
                        })
                    }
                }
            }
        }
    }

    /// One variant is much larger than the others.
    #[allow(clippy::large_enum_variant)]
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    pub enum Uneven {
        /// `Unions::Large big`
        Big(Large),
        /// `octet small`
        Small(u8),
        /// A discriminator that selects no member.
        Default(i32),
    }

    impl Uneven {
        /// What selects the member: a `long`.
        pub fn discriminator(&self) -> i32 {
            match self {
                Self::Big(_) => 1,
                Self::Small(_) => 2,
                Self::Default(discriminator) => *discriminator,
            }
        }
    }

    impl rt::Encode for Uneven {
        fn encode(&self, w: &mut rt::Writer<'_>) -> Result<(), rt::EncodeError> {
            rt::Encode::encode(&self.discriminator(), w)?;
            match self {
                Self::Big(value) => rt::Encode::encode(value, w),
                Self::Small(value) => rt::Encode::encode(value, w),
                Self::Default(discriminator) => {
                    match discriminator {
                        1 | 2 => {
                            Err(
                                rt::EncodeError::Invalid(
                                    "the discriminator of `Uneven` selects another member",
                                ),
                            )
                        }
                        _ => Ok(()),
                    }
                }
            }
        }
    }

    impl<'a> rt::Decode<'a> for Uneven {
        const MIN_SIZE: usize = 4;

        fn decode(r: &mut rt::Reader<'a>) -> Result<Self, rt::DecodeError> {
            let discriminator: i32 = rt::Decode::decode(r)?;
            Ok(
                match discriminator {
                    1 => Self::Big(rt::Decode::decode(r)?),
                    2 => Self::Small(rt::Decode::decode(r)?),
                    _ => Self::Default(discriminator),
                },
            )
        }
    }

    /// Members named like what is generated.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Named {
        /// `long default`
        Default(i32),
        /// `long value`
        Value(i32),
        /// `long discriminator`
        Discriminator(i32),
        /// `long self`
        Self_ {
            /// One of `4`, `5`.
            discriminator: i32,
            /// The member's value.
            value: i32,
        },
        /// A discriminator that selects no member.
        Default_(i32),
    }

    impl Named {
        /// What selects the member: a `long`.
        pub fn discriminator(&self) -> i32 {
            match self {
                Self::Default(_) => 1,
                Self::Value(_) => 2,
                Self::Discriminator(_) => 3,
                Self::Self_ { discriminator, .. } => *discriminator,
                Self::Default_(discriminator) => *discriminator,
            }
        }
    }

    impl rt::Encode for Named {
        fn encode(&self, w: &mut rt::Writer<'_>) -> Result<(), rt::EncodeError> {
            rt::Encode::encode(&self.discriminator(), w)?;
            match self {
                Self::Default(value) => rt::Encode::encode(value, w),
                Self::Value(value) => rt::Encode::encode(value, w),
                Self::Discriminator(value) => rt::Encode::encode(value, w),
                Self::Self_ { discriminator, value } => {
                    match discriminator {
                        4 | 5 => rt::Encode::encode(value, w),
                        _ => {
                            Err(
                                rt::EncodeError::Invalid(
                                    "the discriminator of `Named` selects another member",
                                ),
                            )
                        }
                    }
                }
                Self::Default_(discriminator) => {
                    match discriminator {
                        1..=5 => {
                            Err(
                                rt::EncodeError::Invalid(
                                    "the discriminator of `Named` selects another member",
                                ),
                            )
                        }
                        _ => Ok(()),
                    }
                }
            }
        }
    }

    impl<'a> rt::Decode<'a> for Named {
        const MIN_SIZE: usize = 4;

        fn decode(r: &mut rt::Reader<'a>) -> Result<Self, rt::DecodeError> {
            let discriminator: i32 = rt::Decode::decode(r)?;
            Ok(
                match discriminator {
                    1 => Self::Default(rt::Decode::decode(r)?),
                    2 => Self::Value(rt::Decode::decode(r)?),
                    3 => Self::Discriminator(rt::Decode::decode(r)?),
                    4 | 5 => {
                        Self::Self_ {
                            discriminator,
                            value: rt::Decode::decode(r)?,
                        }
                    }
                    _ => Self::Default_(discriminator),
                },
            )
        }
    }

    /// The servant's side of `IDL:Unions/Users:1.0`.
    pub trait Users: Send + Sync + 'static {
        /// `IDL:Unions/Users/turn:1.0`
        ///
        /// Yields `(result, c)`.
        fn turn(
            &self,
            a: &ByLong,
            b: &mut ByShort,
        ) -> Result<(ByLong, ByColour), rt::SystemException>;

        /// `IDL:Unions/Users/echo:1.0`
        fn echo(&self, v: &Inside) -> Result<Inside, rt::SystemException>;
    }

    impl<S: Users + ?Sized> Users for ::std::sync::Arc<S> {
        fn turn(
            &self,
            a: &ByLong,
            b: &mut ByShort,
        ) -> Result<(ByLong, ByColour), rt::SystemException> {
            (**self).turn(a, b)
        }

        fn echo(&self, v: &Inside) -> Result<Inside, rt::SystemException> {
            (**self).echo(v)
        }
    }

    /// Lets an adapter serve an implementation of [`Users`].
    #[derive(Clone, Debug)]
    pub struct UsersSkeleton<S>(pub S);

    impl<S: Users> rt::Skeleton for UsersSkeleton<S> {
        fn interface(&self) -> &'static rt::Interface {
            &USERS
        }

        fn invoke(
            &self,
            operation: u32,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            match operation {
                0 => users_skeleton::turn(&self.0, call),
                1 => users_skeleton::echo(&self.0, call),
                _ => call.implicit(&USERS, operation),
            }
        }
    }

    impl<S: Users> rt::TypedSkeleton for UsersSkeleton<S> {
        type Reference = UsersRef;
    }

    /// Skeletons of the operations of `Unions::Users`.
    pub mod users_skeleton {
        use ::throughline::rt;

        /// Serves `turn`.
        pub fn turn<S: super::Users + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            let r = call.arguments();
            let a: super::ByLong = rt::Decode::decode(r)?;
            let mut b: super::ByShort = rt::Decode::decode(r)?;
            match servant.turn(&a, &mut b) {
                Ok((result, c)) => {
                    call.reply(|w| {
                        rt::Encode::encode(&result, w)?;
                        rt::Encode::encode(&b, w)?;
                        rt::Encode::encode(&c, w)
                    })
                }
                Err(error) => Err(error),
            }
        }

        /// Serves `echo`.
        pub fn echo<S: super::Users + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            let r = call.arguments();
            let v: super::Inside = rt::Decode::decode(r)?;
            match servant.echo(&v) {
                Ok(result) => call.reply(|w| rt::Encode::encode(&result, w)),
                Err(error) => Err(error),
            }
        }
    }

    /// What the runtime knows of `IDL:Unions/Users:1.0`.
    pub static USERS: rt::Interface = rt::Interface {
        repository_id: "IDL:Unions/Users:1.0",
        ancestors: &["IDL:Unions/Users:1.0"],
        operations: rt::OperationTable::new(
            rt::NameTable::new(
                &[
                    "turn",
                    "echo",
                    "_is_a",
                    "_non_existent",
                    "_interface",
                    "_component",
                    "_repository_id",
                    "_not_existent",
                ],
                16294208416658607535,
                &[1853398635, 1405853453, 2099872349, 3793791033],
                &[4, 6, 1, 3, 0, 7, 2, 5],
            ),
        ),
    };

    /// A reference to an object of `IDL:Unions/Users:1.0`.
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    pub struct UsersRef(rt::ObjectRef);

    #[allow(clippy::redundant_closure)]
    impl UsersRef {
        /// The object as one of this interface, or `None` if it is of another. Asks the object itself unless the
        /// reference tells.
        pub fn narrow(
            object: &rt::ObjectRef,
        ) -> Result<Option<Self>, rt::SystemException> {
            object.narrow()
        }

        /// `IDL:Unions/Users/turn:1.0`
        ///
        /// Yields `(result, c)`.
        pub fn turn(
            &self,
            a: &ByLong,
            b: &mut ByShort,
        ) -> Result<(ByLong, ByColour), rt::SystemException> {
            self.0
                .call_inout(
                    rt::Operation::new("turn", 0),
                    b,
                    |b, w| {
                        rt::Encode::encode(a, w)?;
                        rt::Encode::encode(b, w)
                    },
                    |b, r| {
                        let result = rt::Decode::decode(r)?;
                        rt::Decode::decode_into(b, r)?;
                        let c = rt::Decode::decode(r)?;
                        Ok((result, c))
                    },
                )
        }

        /// [`turn`](Self::turn), as a future.
        ///
        /// Yields `(result, b, c)`.
        pub fn turn_async(
            &self,
            a: &ByLong,
            b: ByShort,
        ) -> impl ::std::future::Future<
            Output = Result<(ByLong, ByShort, ByColour), rt::SystemException>,
        > + Send + use<> {
            self.0
                .call_async(
                    rt::Operation::new("turn", 0),
                    |w| {
                        rt::Encode::encode(a, w)?;
                        rt::Encode::encode(&b, w)
                    },
                    |r| Ok((
                        rt::Decode::decode(r)?,
                        rt::Decode::decode(r)?,
                        rt::Decode::decode(r)?,
                    )),
                )
                .rewriting(|r, w| {
                    rt::rewrite::<ByLong>(r, w)?;
                    rt::rewrite::<ByShort>(r, w)
                })
        }

        /// `IDL:Unions/Users/echo:1.0`
        pub fn echo(&self, v: &Inside) -> Result<Inside, rt::SystemException> {
            self.0
                .call(
                    rt::Operation::new("echo", 1),
                    |w| rt::Encode::encode(v, w),
                    |r| rt::Decode::decode(r),
                )
        }

        /// [`echo`](Self::echo), as a future.
        pub fn echo_async(
            &self,
            v: &Inside,
        ) -> impl ::std::future::Future<
            Output = Result<Inside, rt::SystemException>,
        > + Send + use<> {
            self.0
                .call_async(
                    rt::Operation::new("echo", 1),
                    |w| rt::Encode::encode(v, w),
                    |r| rt::Decode::decode(r),
                )
                .rewriting(rt::rewrite::<Inside>)
        }
    }

    impl rt::TypedReference for UsersRef {
        const REPOSITORY_ID: &'static str = "IDL:Unions/Users:1.0";

        fn interface() -> &'static rt::Interface {
            &USERS
        }

        fn from_object(object: rt::ObjectRef) -> Self {
            Self(object)
        }

        fn as_object(&self) -> &rt::ObjectRef {
            &self.0
        }
    }

    impl From<UsersRef> for rt::ObjectRef {
        fn from(reference: UsersRef) -> Self {
            reference.0
        }
    }

    impl rt::Nilable for UsersRef {
        fn encode_nilable(
            value: Option<&Self>,
            w: &mut rt::Writer<'_>,
        ) -> Result<(), rt::EncodeError> {
            rt::encode_reference(value, w)
        }

        fn decode_nilable(
            r: &mut rt::Reader<'_>,
        ) -> Result<Option<Self>, rt::DecodeError> {
            rt::decode_reference(r)
        }
    }
}
