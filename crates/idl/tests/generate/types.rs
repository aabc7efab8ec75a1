// Generated from types.idl by Throughline's IDL compiler. Changes here will be lost.

/// Every type of the dialect, alone and inside of others.
#[allow(dead_code, clippy::module_inception)]
pub mod types {
    use ::throughline::rt;

    /// `const short A_SHORT`
    pub const A_SHORT: i16 = -32768;

    /// `const long A_LONG`
    pub const A_LONG: i32 = -2147483648;

    /// `const long long A_LONG_LONG`
    pub const A_LONG_LONG: i64 = -9223372036854775808;

    /// `const unsigned short AN_UNSIGNED_SHORT`
    pub const AN_UNSIGNED_SHORT: u16 = 65535;

    /// `const unsigned long AN_UNSIGNED_LONG`
    pub const AN_UNSIGNED_LONG: u32 = 2147483648;

    /// `const unsigned long long AN_UNSIGNED_LONG_LONG`
    pub const AN_UNSIGNED_LONG_LONG: u64 = 18446744073709551615;

    /// `const octet AN_OCTET`
    pub const AN_OCTET: u8 = 255;

    /// `const boolean A_BOOLEAN`
    pub const A_BOOLEAN: bool = true;

    /// `const char A_CHAR`
    pub const A_CHAR: char = '\'';

    /// `const char A_LATIN_CHAR`
    pub const A_LATIN_CHAR: char = 'é';

    /// `const wchar A_WCHAR`
    pub const A_WCHAR: rt::WChar = rt::WChar('€');

    /// `const string A_STRING`
    pub const A_STRING: &str = "say \"hi\"\n";

    /// `const wstring A_WSTRING`
    pub const A_WSTRING: &str = "€ 5";

    /// `const float A_FLOAT`
    pub const A_FLOAT: f32 = 0.1;

    /// `const double A_DOUBLE`
    pub const A_DOUBLE: f64 = 2.5e-300;

    /// `const double ABOUT_PI`
    #[allow(clippy::approx_constant)]
    pub const ABOUT_PI: f64 = 3.14159;

    /// `const double NEGATIVE`
    pub const NEGATIVE: f64 = -1.5;

    /// `const long double A_LONG_DOUBLE`
    pub const A_LONG_DOUBLE: rt::LongDouble =
        rt::LongDouble([63, 255, 128, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);

    /// `IDL:Types/Colour:1.0`
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
                value => Err(rt::DecodeError::InvalidEnum { value }),
            }
        }
    }

    /// `const Types::Colour FAVOURITE`
    pub const FAVOURITE: Colour = Colour::Green;

    /// `typedef sequence<octet> Octets`
    pub type Octets = Vec<u8>;

    /// `typedef sequence<string> Strings`
    pub type Strings = Vec<String>;

    /// `typedef sequence<Types::Strings, 2> Tables`
    pub type Tables = rt::BoundedVec<Strings, 2>;

    /// `typedef string<4> Tag`
    pub type Tag = rt::BoundedString<4>;

    /// `typedef wstring<4> WideTag`
    pub type WideTag = rt::BoundedWString<4>;

    /// `typedef long Matrix[2][3]`
    pub type Matrix = [[i32; 3]; 2];

    /// `typedef Types::Matrix Cube[4]`
    pub type Cube = [Matrix; 4];

    /// `typedef sequence<Types::Matrix> Matrices`
    pub type Matrices = Vec<Matrix>;

    /// `typedef Types::Octets Data`
    pub type Data = Octets;

    /// `typedef Types::Colour Palette[2]`
    pub type Palette = [Colour; 2];

    /// The servant's side of `IDL:Types/Thing:1.0`.
    pub trait Thing: Send + Sync + 'static {}

    impl<S: Thing + ?Sized> Thing for ::std::sync::Arc<S> {}

    /// Lets an adapter serve an implementation of [`Thing`].
    #[derive(Clone, Debug)]
    pub struct ThingSkeleton<S>(pub S);

    impl<S: Thing> rt::Skeleton for ThingSkeleton<S> {
        fn interface(&self) -> &'static rt::Interface {
            &THING
        }

        fn invoke(&self, operation: u32, call: &mut rt::ServerCall<'_>) -> rt::Dispatched {
            call.implicit(&THING, operation)
        }
    }

    impl<S: Thing> rt::TypedSkeleton for ThingSkeleton<S> {
        type Reference = ThingRef;
    }

    /// What the runtime knows of `IDL:Types/Thing:1.0`.
    pub static THING: rt::Interface = rt::Interface {
        repository_id: "IDL:Types/Thing:1.0",
        ancestors: &["IDL:Types/Thing:1.0"],
        operations: rt::OperationTable::new(rt::NameTable::new(
            &["_is_a", "_non_existent", "_interface", "_component", "_repository_id", "_not_existent"],
            16294208416658607535,
            &[3793791033, 3313767227],
            &[3, 2, 0, 1, 5, 4, 0, 0],
        )),
    };

    /// A reference to an object of `IDL:Types/Thing:1.0`.
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    pub struct ThingRef(rt::ObjectRef);

    impl ThingRef {
        /// The object as one of this interface, or `None` if it is of another. Asks the object itself unless the
        /// reference tells.
        pub fn narrow(object: &rt::ObjectRef) -> Result<Option<Self>, rt::SystemException> {
            object.narrow()
        }
    }

    impl rt::TypedReference for ThingRef {
        const REPOSITORY_ID: &'static str = "IDL:Types/Thing:1.0";

        fn interface() -> &'static rt::Interface {
            &THING
        }

        fn from_object(object: rt::ObjectRef) -> Self {
            Self(object)
        }

        fn as_object(&self) -> &rt::ObjectRef {
            &self.0
        }
    }

    impl From<ThingRef> for rt::ObjectRef {
        fn from(reference: ThingRef) -> Self {
            reference.0
        }
    }

    impl rt::Nilable for ThingRef {
        fn encode_nilable(value: Option<&Self>, w: &mut rt::Writer<'_>) -> Result<(), rt::EncodeError> {
            rt::encode_reference(value, w)
        }

        fn decode_nilable(r: &mut rt::Reader<'_>) -> Result<Option<Self>, rt::DecodeError> {
            rt::decode_reference(r)
        }
    }

    /// `typedef sequence<Types::Thing> Things`
    pub type Things = Vec<Option<ThingRef>>;

    /// `IDL:Types/Numbers:1.0`
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct Numbers {
        /// `boolean a_boolean`
        pub a_boolean: bool,
        /// `octet an_octet`
        pub an_octet: u8,
        /// `char a_char`
        pub a_char: char,
        /// `wchar a_wchar`
        pub a_wchar: rt::WChar,
        /// `short a_short`
        pub a_short: i16,
        /// `unsigned short an_unsigned_short`
        pub an_unsigned_short: u16,
        /// `long a_long`
        pub a_long: i32,
        /// `unsigned long an_unsigned_long`
        pub an_unsigned_long: u32,
        /// `long long a_long_long`
        pub a_long_long: i64,
        /// `unsigned long long an_unsigned_long_long`
        pub an_unsigned_long_long: u64,
        /// `float a_float`
        pub a_float: f32,
        /// `double a_double`
        pub a_double: f64,
        /// `long double a_long_double`
        pub a_long_double: rt::LongDouble,
    }

    impl rt::Encode for Numbers {
        fn encode(&self, w: &mut rt::Writer<'_>) -> Result<(), rt::EncodeError> {
            rt::Encode::encode(&self.a_boolean, w)?;
            rt::Encode::encode(&self.an_octet, w)?;
            rt::Encode::encode(&self.a_char, w)?;
            rt::Encode::encode(&self.a_wchar, w)?;
            rt::Encode::encode(&self.a_short, w)?;
            rt::Encode::encode(&self.an_unsigned_short, w)?;
            rt::Encode::encode(&self.a_long, w)?;
            rt::Encode::encode(&self.an_unsigned_long, w)?;
            rt::Encode::encode(&self.a_long_long, w)?;
            rt::Encode::encode(&self.an_unsigned_long_long, w)?;
            rt::Encode::encode(&self.a_float, w)?;
            rt::Encode::encode(&self.a_double, w)?;
            rt::Encode::encode(&self.a_long_double, w)
        }
    }

    impl<'a> rt::Decode<'a> for Numbers {
        const MIN_SIZE: usize = 60;

        fn decode(r: &mut rt::Reader<'a>) -> Result<Self, rt::DecodeError> {
            Ok(Self {
                a_boolean: rt::Decode::decode(r)?,
                an_octet: rt::Decode::decode(r)?,
                a_char: rt::Decode::decode(r)?,
                a_wchar: rt::Decode::decode(r)?,
                a_short: rt::Decode::decode(r)?,
                an_unsigned_short: rt::Decode::decode(r)?,
                a_long: rt::Decode::decode(r)?,
                an_unsigned_long: rt::Decode::decode(r)?,
                a_long_long: rt::Decode::decode(r)?,
                an_unsigned_long_long: rt::Decode::decode(r)?,
                a_float: rt::Decode::decode(r)?,
                a_double: rt::Decode::decode(r)?,
                a_long_double: rt::Decode::decode(r)?,
            })
        }
    }

    /// `IDL:Types/Exact:1.0`
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct Exact {
        /// `long x`
        pub x: i32,
        /// `long y`
        pub y: i32,
        /// `Types::Colour paint`
        pub paint: Colour,
    }

    impl rt::Encode for Exact {
        fn encode(&self, w: &mut rt::Writer<'_>) -> Result<(), rt::EncodeError> {
            rt::Encode::encode(&self.x, w)?;
            rt::Encode::encode(&self.y, w)?;
            rt::Encode::encode(&self.paint, w)
        }
    }

    impl<'a> rt::Decode<'a> for Exact {
        const MIN_SIZE: usize = 12;

        fn decode(r: &mut rt::Reader<'a>) -> Result<Self, rt::DecodeError> {
            Ok(Self { x: rt::Decode::decode(r)?, y: rt::Decode::decode(r)?, paint: rt::Decode::decode(r)? })
        }
    }

    /// `IDL:Types/Composite:1.0`
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    pub struct Composite {
        /// `string text`
        pub text: String,
        /// `wstring wide_text`
        pub wide_text: rt::WString,
        /// `Types::Tag short_tag`
        pub short_tag: Tag,
        /// `Types::WideTag wide_one`
        pub wide_one: WideTag,
        /// `Types::Strings names`
        pub names: Strings,
        /// `Types::Tables some_tables`
        pub some_tables: Tables,
        /// `Types::Matrix cells`
        pub cells: Matrix,
        /// `Types::Cube more_cells`
        pub more_cells: Cube,
        /// `Types::Matrices all_cells`
        pub all_cells: Matrices,
        /// `Types::Data raw`
        pub raw: Data,
        /// `Types::Palette paints`
        pub paints: Palette,
        /// `sequence<long, 8> few`
        pub few: rt::BoundedVec<i32, 8>,
        /// `string lines[2]`
        pub lines: [String; 2],
        /// `octet digest[40]`
        pub digest: [u8; 40],
        /// `Types::Exact place`
        pub place: Exact,
        /// `Types::Composite::Style look`
        pub look: composite::Style,
    }

    impl rt::Encode for Composite {
        fn encode(&self, w: &mut rt::Writer<'_>) -> Result<(), rt::EncodeError> {
            rt::Encode::encode(&self.text, w)?;
            rt::Encode::encode(&self.wide_text, w)?;
            rt::Encode::encode(&self.short_tag, w)?;
            rt::Encode::encode(&self.wide_one, w)?;
            rt::Encode::encode(&self.names, w)?;
            rt::Encode::encode(&self.some_tables, w)?;
            rt::Encode::encode(&self.cells, w)?;
            rt::Encode::encode(&self.more_cells, w)?;
            rt::Encode::encode(&self.all_cells, w)?;
            rt::Encode::encode(&self.raw, w)?;
            rt::Encode::encode(&self.paints, w)?;
            rt::Encode::encode(&self.few, w)?;
            rt::Encode::encode(&self.lines, w)?;
            rt::Encode::encode(&self.digest, w)?;
            rt::Encode::encode(&self.place, w)?;
            rt::Encode::encode(&self.look, w)
        }
    }

    impl<'a> rt::Decode<'a> for Composite {
        const MIN_SIZE: usize = 228;

        fn decode(r: &mut rt::Reader<'a>) -> Result<Self, rt::DecodeError> {
            Ok(Self {
                text: rt::Decode::decode(r)?,
                wide_text: rt::Decode::decode(r)?,
                short_tag: rt::Decode::decode(r)?,
                wide_one: rt::Decode::decode(r)?,
                names: rt::Decode::decode(r)?,
                some_tables: rt::Decode::decode(r)?,
                cells: rt::Decode::decode(r)?,
                more_cells: rt::Decode::decode(r)?,
                all_cells: rt::Decode::decode(r)?,
                raw: rt::Decode::decode(r)?,
                paints: rt::Decode::decode(r)?,
                few: rt::Decode::decode(r)?,
                lines: rt::Decode::decode(r)?,
                digest: rt::Decode::decode(r)?,
                place: rt::Decode::decode(r)?,
                look: rt::Decode::decode(r)?,
            })
        }
    }

    /// What is defined inside `Types::Composite`.
    pub mod composite {
        use ::throughline::rt;

        /// `IDL:Types/Composite/Style:1.0`
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Style {
            /// `plain`
            Plain,
            /// `fancy`
            Fancy,
        }

        impl rt::Encode for Style {
            fn encode(&self, w: &mut rt::Writer<'_>) -> Result<(), rt::EncodeError> {
                w.write_u32(*self as u32);
                Ok(())
            }
        }

        impl<'a> rt::Decode<'a> for Style {
            const MIN_SIZE: usize = 4;

            fn decode(r: &mut rt::Reader<'a>) -> Result<Self, rt::DecodeError> {
                match r.read_u32()? {
                    0 => Ok(Self::Plain),
                    1 => Ok(Self::Fancy),
                    value => Err(rt::DecodeError::InvalidEnum { value }),
                }
            }
        }
    }

    /// `IDL:Types/References:1.0`
    #[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
    pub struct References {
        /// `Object anything`
        pub anything: Option<rt::ObjectRef>,
        /// `Types::Thing one`
        pub one: Option<ThingRef>,
        /// `Types::Things many`
        pub many: Things,
        /// `Types::Thing pair[2]`
        pub pair: [Option<ThingRef>; 2],
        /// `sequence<Object, 2> few`
        pub few: rt::BoundedVec<Option<rt::ObjectRef>, 2>,
    }

    impl rt::Encode for References {
        fn encode(&self, w: &mut rt::Writer<'_>) -> Result<(), rt::EncodeError> {
            rt::Encode::encode(&self.anything, w)?;
            rt::Encode::encode(&self.one, w)?;
            rt::Encode::encode(&self.many, w)?;
            rt::Encode::encode(&self.pair, w)?;
            rt::Encode::encode(&self.few, w)
        }
    }

    impl<'a> rt::Decode<'a> for References {
        const MIN_SIZE: usize = 15;

        fn decode(r: &mut rt::Reader<'a>) -> Result<Self, rt::DecodeError> {
            Ok(Self {
                anything: rt::Decode::decode(r)?,
                one: rt::Decode::decode(r)?,
                many: rt::Decode::decode(r)?,
                pair: rt::Decode::decode(r)?,
                few: rt::Decode::decode(r)?,
            })
        }
    }

    /// `IDL:Types/Tree:1.0`
    #[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
    pub struct Tree {
        /// `long value`
        pub value: i32,
        /// `sequence<Types::Tree> children`
        pub children: Vec<Tree>,
    }

    impl rt::Encode for Tree {
        fn encode(&self, w: &mut rt::Writer<'_>) -> Result<(), rt::EncodeError> {
            rt::Encode::encode(&self.value, w)?;
            rt::Encode::encode(&self.children, w)
        }
    }

    impl<'a> rt::Decode<'a> for Tree {
        const MIN_SIZE: usize = 8;

        fn decode(r: &mut rt::Reader<'a>) -> Result<Self, rt::DecodeError> {
            Ok(Self { value: rt::Decode::decode(r)?, children: rt::Decode::decode(r)? })
        }
    }

    /// `typedef sequence<Types::Forest> Forests`
    pub type Forests = Vec<Forest>;

    /// `IDL:Types/Forest:1.0`
    #[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
    pub struct Forest {
        /// `string name`
        pub name: String,
        /// `Types::Forests smaller`
        pub smaller: Forests,
        /// `Types::Tree oldest`
        pub oldest: Tree,
    }

    impl rt::Encode for Forest {
        fn encode(&self, w: &mut rt::Writer<'_>) -> Result<(), rt::EncodeError> {
            rt::Encode::encode(&self.name, w)?;
            rt::Encode::encode(&self.smaller, w)?;
            rt::Encode::encode(&self.oldest, w)
        }
    }

    impl<'a> rt::Decode<'a> for Forest {
        const MIN_SIZE: usize = 16;

        fn decode(r: &mut rt::Reader<'a>) -> Result<Self, rt::DecodeError> {
            Ok(Self {
                name: rt::Decode::decode(r)?,
                smaller: rt::Decode::decode(r)?,
                oldest: rt::Decode::decode(r)?,
            })
        }
    }

    /// The servant's side of `IDL:Types/Everything:1.0`.
    pub trait Everything: Send + Sync + 'static {
        /// `IDL:Types/Everything/all_numbers:1.0`
        ///
        /// Yields `(result, c)`.
        fn all_numbers(
            &self,
            a: &Numbers,
            b: &mut Numbers,
        ) -> Result<(Numbers, Numbers), rt::SystemException>;

        /// `IDL:Types/Everything/composites:1.0`
        ///
        /// Yields `(result, c)`.
        fn composites(
            &self,
            a: &Composite,
            b: &mut Composite,
        ) -> Result<(Composite, Composite), rt::SystemException>;

        /// `IDL:Types/Everything/all_references:1.0`
        ///
        /// Yields `(result, c)`.
        fn all_references(
            &self,
            a: &References,
            b: &mut References,
        ) -> Result<(References, References), rt::SystemException>;

        /// `IDL:Types/Everything/trees:1.0`
        ///
        /// Yields `(result, c)`.
        fn trees(&self, a: &Tree, b: &mut Tree) -> Result<(Tree, Tree), rt::SystemException>;

        /// `IDL:Types/Everything/woods:1.0`
        ///
        /// Yields `(result, c)`.
        fn woods(&self, a: &[Forest], b: &mut Forests) -> Result<(Forests, Forests), rt::SystemException>;

        /// `IDL:Types/Everything/colours:1.0`
        ///
        /// Yields `(result, c)`.
        fn colours(&self, a: Colour, b: &mut Colour) -> Result<(Colour, Colour), rt::SystemException>;

        /// `IDL:Types/Everything/turn_string:1.0`
        ///
        /// Yields `(result, c)`.
        fn turn_string(&self, a: &str, b: &mut String) -> Result<(String, String), rt::SystemException>;

        /// `IDL:Types/Everything/turn_wide_string:1.0`
        ///
        /// Yields `(result, c)`.
        fn turn_wide_string(
            &self,
            a: &rt::WString,
            b: &mut rt::WString,
        ) -> Result<(rt::WString, rt::WString), rt::SystemException>;

        /// `IDL:Types/Everything/turn_tag:1.0`
        ///
        /// Yields `(result, c)`.
        fn turn_tag(&self, a: &Tag, b: &mut Tag) -> Result<(Tag, Tag), rt::SystemException>;

        /// `IDL:Types/Everything/turn_octets:1.0`
        ///
        /// Yields `(result, c)`.
        fn turn_octets(&self, a: &[u8], b: &mut Octets) -> Result<(Octets, Octets), rt::SystemException>;

        /// `IDL:Types/Everything/turn_list:1.0`
        ///
        /// Yields `(result, c)`.
        fn turn_list(&self, a: &[String], b: &mut Strings)
        -> Result<(Strings, Strings), rt::SystemException>;

        /// `IDL:Types/Everything/turn_matrix:1.0`
        ///
        /// Yields `(result, c)`.
        fn turn_matrix(&self, a: &Matrix, b: &mut Matrix) -> Result<(Matrix, Matrix), rt::SystemException>;

        /// `IDL:Types/Everything/turn_thing:1.0`
        ///
        /// Yields `(result, c)`.
        #[allow(clippy::type_complexity)]
        fn turn_thing(
            &self,
            a: Option<&ThingRef>,
            b: &mut Option<ThingRef>,
        ) -> Result<(Option<ThingRef>, Option<ThingRef>), rt::SystemException>;

        /// `IDL:Types/Everything/turn_object:1.0`
        ///
        /// Yields `(result, c)`.
        #[allow(clippy::type_complexity)]
        fn turn_object(
            &self,
            a: Option<&rt::ObjectRef>,
            b: &mut Option<rt::ObjectRef>,
        ) -> Result<(Option<rt::ObjectRef>, Option<rt::ObjectRef>), rt::SystemException>;

        /// `IDL:Types/Everything/turn_things:1.0`
        ///
        /// Yields `(result, c)`.
        fn turn_things(
            &self,
            a: &[Option<ThingRef>],
            b: &mut Things,
        ) -> Result<(Things, Things), rt::SystemException>;

        /// `IDL:Types/Everything/long_doubles:1.0`
        ///
        /// Yields `(result, c)`.
        fn long_doubles(
            &self,
            a: rt::LongDouble,
            b: &mut rt::LongDouble,
        ) -> Result<(rt::LongDouble, rt::LongDouble), rt::SystemException>;

        /// `IDL:Types/Everything/wide_chars:1.0`
        ///
        /// Yields `(result, c)`.
        fn wide_chars(
            &self,
            a: rt::WChar,
            b: &mut rt::WChar,
        ) -> Result<(rt::WChar, rt::WChar), rt::SystemException>;

        /// `IDL:Types/Everything/eight:1.0`
        #[allow(clippy::too_many_arguments)]
        fn eight(
            &self,
            a: f64,
            b: f64,
            c: f64,
            d: f64,
            e: f64,
            f: f64,
            g: f64,
            h: f64,
        ) -> Result<f64, rt::SystemException>;
    }

    impl<S: Everything + ?Sized> Everything for ::std::sync::Arc<S> {
        fn all_numbers(
            &self,
            a: &Numbers,
            b: &mut Numbers,
        ) -> Result<(Numbers, Numbers), rt::SystemException> {
            (**self).all_numbers(a, b)
        }

        fn composites(
            &self,
            a: &Composite,
            b: &mut Composite,
        ) -> Result<(Composite, Composite), rt::SystemException> {
            (**self).composites(a, b)
        }

        fn all_references(
            &self,
            a: &References,
            b: &mut References,
        ) -> Result<(References, References), rt::SystemException> {
            (**self).all_references(a, b)
        }

        fn trees(&self, a: &Tree, b: &mut Tree) -> Result<(Tree, Tree), rt::SystemException> {
            (**self).trees(a, b)
        }

        fn woods(&self, a: &[Forest], b: &mut Forests) -> Result<(Forests, Forests), rt::SystemException> {
            (**self).woods(a, b)
        }

        fn colours(&self, a: Colour, b: &mut Colour) -> Result<(Colour, Colour), rt::SystemException> {
            (**self).colours(a, b)
        }

        fn turn_string(&self, a: &str, b: &mut String) -> Result<(String, String), rt::SystemException> {
            (**self).turn_string(a, b)
        }

        fn turn_wide_string(
            &self,
            a: &rt::WString,
            b: &mut rt::WString,
        ) -> Result<(rt::WString, rt::WString), rt::SystemException> {
            (**self).turn_wide_string(a, b)
        }

        fn turn_tag(&self, a: &Tag, b: &mut Tag) -> Result<(Tag, Tag), rt::SystemException> {
            (**self).turn_tag(a, b)
        }

        fn turn_octets(&self, a: &[u8], b: &mut Octets) -> Result<(Octets, Octets), rt::SystemException> {
            (**self).turn_octets(a, b)
        }

        fn turn_list(
            &self,
            a: &[String],
            b: &mut Strings,
        ) -> Result<(Strings, Strings), rt::SystemException> {
            (**self).turn_list(a, b)
        }

        fn turn_matrix(&self, a: &Matrix, b: &mut Matrix) -> Result<(Matrix, Matrix), rt::SystemException> {
            (**self).turn_matrix(a, b)
        }

        #[allow(clippy::type_complexity)]
        fn turn_thing(
            &self,
            a: Option<&ThingRef>,
            b: &mut Option<ThingRef>,
        ) -> Result<(Option<ThingRef>, Option<ThingRef>), rt::SystemException> {
            (**self).turn_thing(a, b)
        }

        #[allow(clippy::type_complexity)]
        fn turn_object(
            &self,
            a: Option<&rt::ObjectRef>,
            b: &mut Option<rt::ObjectRef>,
        ) -> Result<(Option<rt::ObjectRef>, Option<rt::ObjectRef>), rt::SystemException> {
            (**self).turn_object(a, b)
        }

        fn turn_things(
            &self,
            a: &[Option<ThingRef>],
            b: &mut Things,
        ) -> Result<(Things, Things), rt::SystemException> {
            (**self).turn_things(a, b)
        }

        fn long_doubles(
            &self,
            a: rt::LongDouble,
            b: &mut rt::LongDouble,
        ) -> Result<(rt::LongDouble, rt::LongDouble), rt::SystemException> {
            (**self).long_doubles(a, b)
        }

        fn wide_chars(
            &self,
            a: rt::WChar,
            b: &mut rt::WChar,
        ) -> Result<(rt::WChar, rt::WChar), rt::SystemException> {
            (**self).wide_chars(a, b)
        }

        #[allow(clippy::too_many_arguments)]
        fn eight(
            &self,
            a: f64,
            b: f64,
            c: f64,
            d: f64,
            e: f64,
            f: f64,
            g: f64,
            h: f64,
        ) -> Result<f64, rt::SystemException> {
            (**self).eight(a, b, c, d, e, f, g, h)
        }
    }

    /// Lets an adapter serve an implementation of [`Everything`].
    #[derive(Clone, Debug)]
    pub struct EverythingSkeleton<S>(pub S);

    impl<S: Everything> rt::Skeleton for EverythingSkeleton<S> {
        fn interface(&self) -> &'static rt::Interface {
            &EVERYTHING
        }

        fn invoke(&self, operation: u32, call: &mut rt::ServerCall<'_>) -> rt::Dispatched {
            match operation {
                0 => everything_skeleton::all_numbers(&self.0, call),
                1 => everything_skeleton::composites(&self.0, call),
                2 => everything_skeleton::all_references(&self.0, call),
                3 => everything_skeleton::trees(&self.0, call),
                4 => everything_skeleton::woods(&self.0, call),
                5 => everything_skeleton::colours(&self.0, call),
                6 => everything_skeleton::turn_string(&self.0, call),
                7 => everything_skeleton::turn_wide_string(&self.0, call),
                8 => everything_skeleton::turn_tag(&self.0, call),
                9 => everything_skeleton::turn_octets(&self.0, call),
                10 => everything_skeleton::turn_list(&self.0, call),
                11 => everything_skeleton::turn_matrix(&self.0, call),
                12 => everything_skeleton::turn_thing(&self.0, call),
                13 => everything_skeleton::turn_object(&self.0, call),
                14 => everything_skeleton::turn_things(&self.0, call),
                15 => everything_skeleton::long_doubles(&self.0, call),
                16 => everything_skeleton::wide_chars(&self.0, call),
                17 => everything_skeleton::eight(&self.0, call),
                _ => call.implicit(&EVERYTHING, operation),
            }
        }
    }

    impl<S: Everything> rt::TypedSkeleton for EverythingSkeleton<S> {
        type Reference = EverythingRef;
    }

    /// Skeletons of the operations of `Types::Everything`.
    pub mod everything_skeleton {
        use ::throughline::rt;

        /// Serves `all_numbers`.
        pub fn all_numbers<S: super::Everything + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            let r = call.arguments();
            let a: super::Numbers = rt::Decode::decode(r)?;
            let mut b: super::Numbers = rt::Decode::decode(r)?;
            match servant.all_numbers(&a, &mut b) {
                Ok((result, c)) => call.reply(|w| {
                    rt::Encode::encode(&result, w)?;
                    rt::Encode::encode(&b, w)?;
                    rt::Encode::encode(&c, w)
                }),
                Err(error) => Err(error),
            }
        }

        /// Serves `composites`.
        pub fn composites<S: super::Everything + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            let r = call.arguments();
            let a: super::Composite = rt::Decode::decode(r)?;
            let mut b: super::Composite = rt::Decode::decode(r)?;
            match servant.composites(&a, &mut b) {
                Ok((result, c)) => call.reply(|w| {
                    rt::Encode::encode(&result, w)?;
                    rt::Encode::encode(&b, w)?;
                    rt::Encode::encode(&c, w)
                }),
                Err(error) => Err(error),
            }
        }

        /// Serves `all_references`.
        pub fn all_references<S: super::Everything + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            let r = call.arguments();
            let a: super::References = rt::Decode::decode(r)?;
            let mut b: super::References = rt::Decode::decode(r)?;
            match servant.all_references(&a, &mut b) {
                Ok((result, c)) => call.reply(|w| {
                    rt::Encode::encode(&result, w)?;
                    rt::Encode::encode(&b, w)?;
                    rt::Encode::encode(&c, w)
                }),
                Err(error) => Err(error),
            }
        }

        /// Serves `trees`.
        pub fn trees<S: super::Everything + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            let r = call.arguments();
            let a: super::Tree = rt::Decode::decode(r)?;
            let mut b: super::Tree = rt::Decode::decode(r)?;
            match servant.trees(&a, &mut b) {
                Ok((result, c)) => call.reply(|w| {
                    rt::Encode::encode(&result, w)?;
                    rt::Encode::encode(&b, w)?;
                    rt::Encode::encode(&c, w)
                }),
                Err(error) => Err(error),
            }
        }

        /// Serves `woods`.
        pub fn woods<S: super::Everything + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            let r = call.arguments();
            let a: super::Forests = rt::Decode::decode(r)?;
            let mut b: super::Forests = rt::Decode::decode(r)?;
            match servant.woods(&a, &mut b) {
                Ok((result, c)) => call.reply(|w| {
                    rt::Encode::encode(&result, w)?;
                    rt::Encode::encode(&b, w)?;
                    rt::Encode::encode(&c, w)
                }),
                Err(error) => Err(error),
            }
        }

        /// Serves `colours`.
        pub fn colours<S: super::Everything + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            let r = call.arguments();
            let a: super::Colour = rt::Decode::decode(r)?;
            let mut b: super::Colour = rt::Decode::decode(r)?;
            match servant.colours(a, &mut b) {
                Ok((result, c)) => call.reply(|w| {
                    rt::Encode::encode(&result, w)?;
                    rt::Encode::encode(&b, w)?;
                    rt::Encode::encode(&c, w)
                }),
                Err(error) => Err(error),
            }
        }

        /// Serves `turn_string`.
        pub fn turn_string<S: super::Everything + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            let r = call.arguments();
            let a = r.read_string()?;
            let mut b: String = rt::Decode::decode(r)?;
            match servant.turn_string(&a, &mut b) {
                Ok((result, c)) => call.reply(|w| {
                    rt::Encode::encode(&result, w)?;
                    rt::Encode::encode(&b, w)?;
                    rt::Encode::encode(&c, w)
                }),
                Err(error) => Err(error),
            }
        }

        /// Serves `turn_wide_string`.
        pub fn turn_wide_string<S: super::Everything + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            let r = call.arguments();
            let a: rt::WString = rt::Decode::decode(r)?;
            let mut b: rt::WString = rt::Decode::decode(r)?;
            match servant.turn_wide_string(&a, &mut b) {
                Ok((result, c)) => call.reply(|w| {
                    rt::Encode::encode(&result, w)?;
                    rt::Encode::encode(&b, w)?;
                    rt::Encode::encode(&c, w)
                }),
                Err(error) => Err(error),
            }
        }

        /// Serves `turn_tag`.
        pub fn turn_tag<S: super::Everything + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            let r = call.arguments();
            let a: super::Tag = rt::Decode::decode(r)?;
            let mut b: super::Tag = rt::Decode::decode(r)?;
            match servant.turn_tag(&a, &mut b) {
                Ok((result, c)) => call.reply(|w| {
                    rt::Encode::encode(&result, w)?;
                    rt::Encode::encode(&b, w)?;
                    rt::Encode::encode(&c, w)
                }),
                Err(error) => Err(error),
            }
        }

        /// Serves `turn_octets`.
        pub fn turn_octets<S: super::Everything + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            let r = call.arguments();
            let a = r.read_slice::<u8>()?;
            let mut b: super::Octets = rt::Decode::decode(r)?;
            match servant.turn_octets(&a, &mut b) {
                Ok((result, c)) => call.reply(|w| {
                    rt::Encode::encode(&result, w)?;
                    rt::Encode::encode(&b, w)?;
                    rt::Encode::encode(&c, w)
                }),
                Err(error) => Err(error),
            }
        }

        /// Serves `turn_list`.
        pub fn turn_list<S: super::Everything + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            let r = call.arguments();
            let a: super::Strings = rt::Decode::decode(r)?;
            let mut b: super::Strings = rt::Decode::decode(r)?;
            match servant.turn_list(&a, &mut b) {
                Ok((result, c)) => call.reply(|w| {
                    rt::Encode::encode(&result, w)?;
                    rt::Encode::encode(&b, w)?;
                    rt::Encode::encode(&c, w)
                }),
                Err(error) => Err(error),
            }
        }

        /// Serves `turn_matrix`.
        pub fn turn_matrix<S: super::Everything + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            let r = call.arguments();
            let a: super::Matrix = rt::Decode::decode(r)?;
            let mut b: super::Matrix = rt::Decode::decode(r)?;
            match servant.turn_matrix(&a, &mut b) {
                Ok((result, c)) => call.reply(|w| {
                    rt::Encode::encode(&result, w)?;
                    rt::Encode::encode(&b, w)?;
                    rt::Encode::encode(&c, w)
                }),
                Err(error) => Err(error),
            }
        }

        /// Serves `turn_thing`.
        pub fn turn_thing<S: super::Everything + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            let r = call.arguments();
            let a: Option<super::ThingRef> = rt::Decode::decode(r)?;
            let mut b: Option<super::ThingRef> = rt::Decode::decode(r)?;
            match servant.turn_thing(a.as_ref(), &mut b) {
                Ok((result, c)) => call.reply(|w| {
                    rt::Encode::encode(&result, w)?;
                    rt::Encode::encode(&b, w)?;
                    rt::Encode::encode(&c, w)
                }),
                Err(error) => Err(error),
            }
        }

        /// Serves `turn_object`.
        pub fn turn_object<S: super::Everything + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            let r = call.arguments();
            let a: Option<rt::ObjectRef> = rt::Decode::decode(r)?;
            let mut b: Option<rt::ObjectRef> = rt::Decode::decode(r)?;
            match servant.turn_object(a.as_ref(), &mut b) {
                Ok((result, c)) => call.reply(|w| {
                    rt::Encode::encode(&result, w)?;
                    rt::Encode::encode(&b, w)?;
                    rt::Encode::encode(&c, w)
                }),
                Err(error) => Err(error),
            }
        }

        /// Serves `turn_things`.
        pub fn turn_things<S: super::Everything + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            let r = call.arguments();
            let a: super::Things = rt::Decode::decode(r)?;
            let mut b: super::Things = rt::Decode::decode(r)?;
            match servant.turn_things(&a, &mut b) {
                Ok((result, c)) => call.reply(|w| {
                    rt::Encode::encode(&result, w)?;
                    rt::Encode::encode(&b, w)?;
                    rt::Encode::encode(&c, w)
                }),
                Err(error) => Err(error),
            }
        }

        /// Serves `long_doubles`.
        pub fn long_doubles<S: super::Everything + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            let r = call.arguments();
            let a: rt::LongDouble = rt::Decode::decode(r)?;
            let mut b: rt::LongDouble = rt::Decode::decode(r)?;
            match servant.long_doubles(a, &mut b) {
                Ok((result, c)) => call.reply(|w| {
                    rt::Encode::encode(&result, w)?;
                    rt::Encode::encode(&b, w)?;
                    rt::Encode::encode(&c, w)
                }),
                Err(error) => Err(error),
            }
        }

        /// Serves `wide_chars`.
        pub fn wide_chars<S: super::Everything + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            let r = call.arguments();
            let a: rt::WChar = rt::Decode::decode(r)?;
            let mut b: rt::WChar = rt::Decode::decode(r)?;
            match servant.wide_chars(a, &mut b) {
                Ok((result, c)) => call.reply(|w| {
                    rt::Encode::encode(&result, w)?;
                    rt::Encode::encode(&b, w)?;
                    rt::Encode::encode(&c, w)
                }),
                Err(error) => Err(error),
            }
        }

        /// Serves `eight`.
        pub fn eight<S: super::Everything + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            let r = call.arguments();
            let a: f64 = rt::Decode::decode(r)?;
            let b: f64 = rt::Decode::decode(r)?;
            let c: f64 = rt::Decode::decode(r)?;
            let d: f64 = rt::Decode::decode(r)?;
            let e: f64 = rt::Decode::decode(r)?;
            let f: f64 = rt::Decode::decode(r)?;
            let g: f64 = rt::Decode::decode(r)?;
            let h: f64 = rt::Decode::decode(r)?;
            match servant.eight(a, b, c, d, e, f, g, h) {
                Ok(result) => call.reply(|w| rt::Encode::encode(&result, w)),
                Err(error) => Err(error),
            }
        }
    }

    /// What the runtime knows of `IDL:Types/Everything:1.0`.
    pub static EVERYTHING: rt::Interface = rt::Interface {
        repository_id: "IDL:Types/Everything:1.0",
        ancestors: &["IDL:Types/Everything:1.0"],
        operations: rt::OperationTable::new(rt::NameTable::new(
            &[
                "all_numbers",
                "composites",
                "all_references",
                "trees",
                "woods",
                "colours",
                "turn_string",
                "turn_wide_string",
                "turn_tag",
                "turn_octets",
                "turn_list",
                "turn_matrix",
                "turn_thing",
                "turn_object",
                "turn_things",
                "long_doubles",
                "wide_chars",
                "eight",
                "_is_a",
                "_non_existent",
                "_interface",
                "_component",
                "_repository_id",
                "_not_existent",
            ],
            16294208416658607535,
            &[1853398635, 4169906345, 1, 3793791033, 1853398635, 746756799, 456755563, 879159713],
            &[
                20, 8, 11, 4, 13, 1, 6, 7, 0, 15, 2, 0, 0, 19, 0, 16, 0, 10, 3, 17, 5, 9, 0, 23, 22, 18, 12,
                0, 21, 0, 0, 14,
            ],
        )),
    };

    /// A reference to an object of `IDL:Types/Everything:1.0`.
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    pub struct EverythingRef(rt::ObjectRef);

    #[allow(clippy::redundant_closure)]
    impl EverythingRef {
        /// The object as one of this interface, or `None` if it is of another. Asks the object itself unless the
        /// reference tells.
        pub fn narrow(object: &rt::ObjectRef) -> Result<Option<Self>, rt::SystemException> {
            object.narrow()
        }

        /// `IDL:Types/Everything/all_numbers:1.0`
        ///
        /// Yields `(result, c)`.
        pub fn all_numbers(
            &self,
            a: &Numbers,
            b: &mut Numbers,
        ) -> Result<(Numbers, Numbers), rt::SystemException> {
            self.0.call_inout(
                rt::Operation::new("all_numbers", 0),
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

        /// [`all_numbers`](Self::all_numbers), as a future.
        ///
        /// Yields `(result, b, c)`.
        pub fn all_numbers_async(
            &self,
            a: &Numbers,
            b: Numbers,
        ) -> impl ::std::future::Future<Output = Result<(Numbers, Numbers, Numbers), rt::SystemException>>
        + Send
        + use<> {
            self.0
                .call_async(
                    rt::Operation::new("all_numbers", 0),
                    |w| {
                        rt::Encode::encode(a, w)?;
                        rt::Encode::encode(&b, w)
                    },
                    |r| Ok((rt::Decode::decode(r)?, rt::Decode::decode(r)?, rt::Decode::decode(r)?)),
                )
                .rewriting(|r, w| {
                    rt::rewrite::<Numbers>(r, w)?;
                    rt::rewrite::<Numbers>(r, w)
                })
        }

        /// `IDL:Types/Everything/composites:1.0`
        ///
        /// Yields `(result, c)`.
        pub fn composites(
            &self,
            a: &Composite,
            b: &mut Composite,
        ) -> Result<(Composite, Composite), rt::SystemException> {
            self.0.call_inout(
                rt::Operation::new("composites", 1),
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

        /// [`composites`](Self::composites), as a future.
        ///
        /// Yields `(result, b, c)`.
        pub fn composites_async(
            &self,
            a: &Composite,
            b: Composite,
        ) -> impl ::std::future::Future<
            Output = Result<(Composite, Composite, Composite), rt::SystemException>,
        > + Send
        + use<> {
            self.0
                .call_async(
                    rt::Operation::new("composites", 1),
                    |w| {
                        rt::Encode::encode(a, w)?;
                        rt::Encode::encode(&b, w)
                    },
                    |r| Ok((rt::Decode::decode(r)?, rt::Decode::decode(r)?, rt::Decode::decode(r)?)),
                )
                .rewriting(|r, w| {
                    rt::rewrite::<Composite>(r, w)?;
                    rt::rewrite::<Composite>(r, w)
                })
        }

        /// `IDL:Types/Everything/all_references:1.0`
        ///
        /// Yields `(result, c)`.
        pub fn all_references(
            &self,
            a: &References,
            b: &mut References,
        ) -> Result<(References, References), rt::SystemException> {
            self.0.call_inout(
                rt::Operation::new("all_references", 2),
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

        /// [`all_references`](Self::all_references), as a future.
        ///
        /// Yields `(result, b, c)`.
        pub fn all_references_async(
            &self,
            a: &References,
            b: References,
        ) -> impl ::std::future::Future<
            Output = Result<(References, References, References), rt::SystemException>,
        > + Send
        + use<> {
            self.0
                .call_async(
                    rt::Operation::new("all_references", 2),
                    |w| {
                        rt::Encode::encode(a, w)?;
                        rt::Encode::encode(&b, w)
                    },
                    |r| Ok((rt::Decode::decode(r)?, rt::Decode::decode(r)?, rt::Decode::decode(r)?)),
                )
                .rewriting(|r, w| {
                    rt::rewrite::<References>(r, w)?;
                    rt::rewrite::<References>(r, w)
                })
        }

        /// `IDL:Types/Everything/trees:1.0`
        ///
        /// Yields `(result, c)`.
        pub fn trees(&self, a: &Tree, b: &mut Tree) -> Result<(Tree, Tree), rt::SystemException> {
            self.0.call_inout(
                rt::Operation::new("trees", 3),
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

        /// [`trees`](Self::trees), as a future.
        ///
        /// Yields `(result, b, c)`.
        pub fn trees_async(
            &self,
            a: &Tree,
            b: Tree,
        ) -> impl ::std::future::Future<Output = Result<(Tree, Tree, Tree), rt::SystemException>> + Send + use<>
        {
            self.0
                .call_async(
                    rt::Operation::new("trees", 3),
                    |w| {
                        rt::Encode::encode(a, w)?;
                        rt::Encode::encode(&b, w)
                    },
                    |r| Ok((rt::Decode::decode(r)?, rt::Decode::decode(r)?, rt::Decode::decode(r)?)),
                )
                .rewriting(|r, w| {
                    rt::rewrite::<Tree>(r, w)?;
                    rt::rewrite::<Tree>(r, w)
                })
        }

        /// `IDL:Types/Everything/woods:1.0`
        ///
        /// Yields `(result, c)`.
        pub fn woods(
            &self,
            a: &[Forest],
            b: &mut Forests,
        ) -> Result<(Forests, Forests), rt::SystemException> {
            self.0.call_inout(
                rt::Operation::new("woods", 4),
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

        /// [`woods`](Self::woods), as a future.
        ///
        /// Yields `(result, b, c)`.
        pub fn woods_async(
            &self,
            a: &[Forest],
            b: Forests,
        ) -> impl ::std::future::Future<Output = Result<(Forests, Forests, Forests), rt::SystemException>>
        + Send
        + use<> {
            self.0
                .call_async(
                    rt::Operation::new("woods", 4),
                    |w| {
                        rt::Encode::encode(a, w)?;
                        rt::Encode::encode(&b, w)
                    },
                    |r| Ok((rt::Decode::decode(r)?, rt::Decode::decode(r)?, rt::Decode::decode(r)?)),
                )
                .rewriting(|r, w| {
                    rt::rewrite::<Forests>(r, w)?;
                    rt::rewrite::<Forests>(r, w)
                })
        }

        /// `IDL:Types/Everything/colours:1.0`
        ///
        /// Yields `(result, c)`.
        pub fn colours(&self, a: Colour, b: &mut Colour) -> Result<(Colour, Colour), rt::SystemException> {
            self.0.call_inout(
                rt::Operation::new("colours", 5),
                b,
                |b, w| {
                    rt::Encode::encode(&a, w)?;
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

        /// [`colours`](Self::colours), as a future.
        ///
        /// Yields `(result, b, c)`.
        pub fn colours_async(
            &self,
            a: Colour,
            b: Colour,
        ) -> impl ::std::future::Future<Output = Result<(Colour, Colour, Colour), rt::SystemException>>
        + Send
        + use<> {
            self.0
                .call_async(
                    rt::Operation::new("colours", 5),
                    |w| {
                        rt::Encode::encode(&a, w)?;
                        rt::Encode::encode(&b, w)
                    },
                    |r| Ok((rt::Decode::decode(r)?, rt::Decode::decode(r)?, rt::Decode::decode(r)?)),
                )
                .rewriting(|r, w| {
                    rt::rewrite::<Colour>(r, w)?;
                    rt::rewrite::<Colour>(r, w)
                })
        }

        /// `IDL:Types/Everything/turn_string:1.0`
        ///
        /// Yields `(result, c)`.
        pub fn turn_string(&self, a: &str, b: &mut String) -> Result<(String, String), rt::SystemException> {
            self.0.call_inout(
                rt::Operation::new("turn_string", 6),
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

        /// [`turn_string`](Self::turn_string), as a future.
        ///
        /// Yields `(result, b, c)`.
        pub fn turn_string_async(
            &self,
            a: &str,
            b: String,
        ) -> impl ::std::future::Future<Output = Result<(String, String, String), rt::SystemException>>
        + Send
        + use<> {
            self.0
                .call_async(
                    rt::Operation::new("turn_string", 6),
                    |w| {
                        rt::Encode::encode(a, w)?;
                        rt::Encode::encode(&b, w)
                    },
                    |r| Ok((rt::Decode::decode(r)?, rt::Decode::decode(r)?, rt::Decode::decode(r)?)),
                )
                .rewriting(|r, w| {
                    rt::rewrite::<String>(r, w)?;
                    rt::rewrite::<String>(r, w)
                })
        }

        /// `IDL:Types/Everything/turn_wide_string:1.0`
        ///
        /// Yields `(result, c)`.
        pub fn turn_wide_string(
            &self,
            a: &rt::WString,
            b: &mut rt::WString,
        ) -> Result<(rt::WString, rt::WString), rt::SystemException> {
            self.0.call_inout(
                rt::Operation::new("turn_wide_string", 7),
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

        /// [`turn_wide_string`](Self::turn_wide_string), as a future.
        ///
        /// Yields `(result, b, c)`.
        pub fn turn_wide_string_async(
            &self,
            a: &rt::WString,
            b: rt::WString,
        ) -> impl ::std::future::Future<
            Output = Result<(rt::WString, rt::WString, rt::WString), rt::SystemException>,
        > + Send
        + use<> {
            self.0
                .call_async(
                    rt::Operation::new("turn_wide_string", 7),
                    |w| {
                        rt::Encode::encode(a, w)?;
                        rt::Encode::encode(&b, w)
                    },
                    |r| Ok((rt::Decode::decode(r)?, rt::Decode::decode(r)?, rt::Decode::decode(r)?)),
                )
                .rewriting(|r, w| {
                    rt::rewrite::<rt::WString>(r, w)?;
                    rt::rewrite::<rt::WString>(r, w)
                })
        }

        /// `IDL:Types/Everything/turn_tag:1.0`
        ///
        /// Yields `(result, c)`.
        pub fn turn_tag(&self, a: &Tag, b: &mut Tag) -> Result<(Tag, Tag), rt::SystemException> {
            self.0.call_inout(
                rt::Operation::new("turn_tag", 8),
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

        /// [`turn_tag`](Self::turn_tag), as a future.
        ///
        /// Yields `(result, b, c)`.
        pub fn turn_tag_async(
            &self,
            a: &Tag,
            b: Tag,
        ) -> impl ::std::future::Future<Output = Result<(Tag, Tag, Tag), rt::SystemException>> + Send + use<>
        {
            self.0
                .call_async(
                    rt::Operation::new("turn_tag", 8),
                    |w| {
                        rt::Encode::encode(a, w)?;
                        rt::Encode::encode(&b, w)
                    },
                    |r| Ok((rt::Decode::decode(r)?, rt::Decode::decode(r)?, rt::Decode::decode(r)?)),
                )
                .rewriting(|r, w| {
                    rt::rewrite::<Tag>(r, w)?;
                    rt::rewrite::<Tag>(r, w)
                })
        }

        /// `IDL:Types/Everything/turn_octets:1.0`
        ///
        /// Yields `(result, c)`.
        pub fn turn_octets(&self, a: &[u8], b: &mut Octets) -> Result<(Octets, Octets), rt::SystemException> {
            self.0.call_inout(
                rt::Operation::new("turn_octets", 9),
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

        /// [`turn_octets`](Self::turn_octets), as a future.
        ///
        /// Yields `(result, b, c)`.
        pub fn turn_octets_async(
            &self,
            a: &[u8],
            b: Octets,
        ) -> impl ::std::future::Future<Output = Result<(Octets, Octets, Octets), rt::SystemException>>
        + Send
        + use<> {
            self.0
                .call_async(
                    rt::Operation::new("turn_octets", 9),
                    |w| {
                        rt::Encode::encode(a, w)?;
                        rt::Encode::encode(&b, w)
                    },
                    |r| Ok((rt::Decode::decode(r)?, rt::Decode::decode(r)?, rt::Decode::decode(r)?)),
                )
                .rewriting(|r, w| {
                    rt::rewrite::<Octets>(r, w)?;
                    rt::rewrite::<Octets>(r, w)
                })
        }

        /// `IDL:Types/Everything/turn_list:1.0`
        ///
        /// Yields `(result, c)`.
        pub fn turn_list(
            &self,
            a: &[String],
            b: &mut Strings,
        ) -> Result<(Strings, Strings), rt::SystemException> {
            self.0.call_inout(
                rt::Operation::new("turn_list", 10),
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

        /// [`turn_list`](Self::turn_list), as a future.
        ///
        /// Yields `(result, b, c)`.
        pub fn turn_list_async(
            &self,
            a: &[String],
            b: Strings,
        ) -> impl ::std::future::Future<Output = Result<(Strings, Strings, Strings), rt::SystemException>>
        + Send
        + use<> {
            self.0
                .call_async(
                    rt::Operation::new("turn_list", 10),
                    |w| {
                        rt::Encode::encode(a, w)?;
                        rt::Encode::encode(&b, w)
                    },
                    |r| Ok((rt::Decode::decode(r)?, rt::Decode::decode(r)?, rt::Decode::decode(r)?)),
                )
                .rewriting(|r, w| {
                    rt::rewrite::<Strings>(r, w)?;
                    rt::rewrite::<Strings>(r, w)
                })
        }

        /// `IDL:Types/Everything/turn_matrix:1.0`
        ///
        /// Yields `(result, c)`.
        pub fn turn_matrix(
            &self,
            a: &Matrix,
            b: &mut Matrix,
        ) -> Result<(Matrix, Matrix), rt::SystemException> {
            self.0.call_inout(
                rt::Operation::new("turn_matrix", 11),
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

        /// [`turn_matrix`](Self::turn_matrix), as a future.
        ///
        /// Yields `(result, b, c)`.
        pub fn turn_matrix_async(
            &self,
            a: &Matrix,
            b: Matrix,
        ) -> impl ::std::future::Future<Output = Result<(Matrix, Matrix, Matrix), rt::SystemException>>
        + Send
        + use<> {
            self.0
                .call_async(
                    rt::Operation::new("turn_matrix", 11),
                    |w| {
                        rt::Encode::encode(a, w)?;
                        rt::Encode::encode(&b, w)
                    },
                    |r| Ok((rt::Decode::decode(r)?, rt::Decode::decode(r)?, rt::Decode::decode(r)?)),
                )
                .rewriting(|r, w| {
                    rt::rewrite::<Matrix>(r, w)?;
                    rt::rewrite::<Matrix>(r, w)
                })
        }

        /// `IDL:Types/Everything/turn_thing:1.0`
        ///
        /// Yields `(result, c)`.
        #[allow(clippy::type_complexity)]
        pub fn turn_thing(
            &self,
            a: Option<&ThingRef>,
            b: &mut Option<ThingRef>,
        ) -> Result<(Option<ThingRef>, Option<ThingRef>), rt::SystemException> {
            self.0.call_inout(
                rt::Operation::new("turn_thing", 12),
                b,
                |b, w| {
                    rt::Nilable::encode_nilable(a, w)?;
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

        /// [`turn_thing`](Self::turn_thing), as a future.
        ///
        /// Yields `(result, b, c)`.
        #[allow(clippy::type_complexity)]
        pub fn turn_thing_async(
            &self,
            a: Option<&ThingRef>,
            b: Option<ThingRef>,
        ) -> impl ::std::future::Future<
            Output = Result<(Option<ThingRef>, Option<ThingRef>, Option<ThingRef>), rt::SystemException>,
        > + Send
        + use<> {
            self.0
                .call_async(
                    rt::Operation::new("turn_thing", 12),
                    |w| {
                        rt::Nilable::encode_nilable(a, w)?;
                        rt::Encode::encode(&b, w)
                    },
                    |r| Ok((rt::Decode::decode(r)?, rt::Decode::decode(r)?, rt::Decode::decode(r)?)),
                )
                .rewriting(|r, w| {
                    rt::rewrite::<Option<ThingRef>>(r, w)?;
                    rt::rewrite::<Option<ThingRef>>(r, w)
                })
        }

        /// `IDL:Types/Everything/turn_object:1.0`
        ///
        /// Yields `(result, c)`.
        #[allow(clippy::type_complexity)]
        pub fn turn_object(
            &self,
            a: Option<&rt::ObjectRef>,
            b: &mut Option<rt::ObjectRef>,
        ) -> Result<(Option<rt::ObjectRef>, Option<rt::ObjectRef>), rt::SystemException> {
            self.0.call_inout(
                rt::Operation::new("turn_object", 13),
                b,
                |b, w| {
                    rt::Nilable::encode_nilable(a, w)?;
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

        /// [`turn_object`](Self::turn_object), as a future.
        ///
        /// Yields `(result, b, c)`.
        #[allow(clippy::type_complexity)]
        pub fn turn_object_async(
            &self,
            a: Option<&rt::ObjectRef>,
            b: Option<rt::ObjectRef>,
        ) -> impl ::std::future::Future<
            Output = Result<
                (Option<rt::ObjectRef>, Option<rt::ObjectRef>, Option<rt::ObjectRef>),
                rt::SystemException,
            >,
        > + Send
        + use<> {
            self.0
                .call_async(
                    rt::Operation::new("turn_object", 13),
                    |w| {
                        rt::Nilable::encode_nilable(a, w)?;
                        rt::Encode::encode(&b, w)
                    },
                    |r| Ok((rt::Decode::decode(r)?, rt::Decode::decode(r)?, rt::Decode::decode(r)?)),
                )
                .rewriting(|r, w| {
                    rt::rewrite::<Option<rt::ObjectRef>>(r, w)?;
                    rt::rewrite::<Option<rt::ObjectRef>>(r, w)
                })
        }

        /// `IDL:Types/Everything/turn_things:1.0`
        ///
        /// Yields `(result, c)`.
        pub fn turn_things(
            &self,
            a: &[Option<ThingRef>],
            b: &mut Things,
        ) -> Result<(Things, Things), rt::SystemException> {
            self.0.call_inout(
                rt::Operation::new("turn_things", 14),
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

        /// [`turn_things`](Self::turn_things), as a future.
        ///
        /// Yields `(result, b, c)`.
        pub fn turn_things_async(
            &self,
            a: &[Option<ThingRef>],
            b: Things,
        ) -> impl ::std::future::Future<Output = Result<(Things, Things, Things), rt::SystemException>>
        + Send
        + use<> {
            self.0
                .call_async(
                    rt::Operation::new("turn_things", 14),
                    |w| {
                        rt::Encode::encode(a, w)?;
                        rt::Encode::encode(&b, w)
                    },
                    |r| Ok((rt::Decode::decode(r)?, rt::Decode::decode(r)?, rt::Decode::decode(r)?)),
                )
                .rewriting(|r, w| {
                    rt::rewrite::<Things>(r, w)?;
                    rt::rewrite::<Things>(r, w)
                })
        }

        /// `IDL:Types/Everything/long_doubles:1.0`
        ///
        /// Yields `(result, c)`.
        pub fn long_doubles(
            &self,
            a: rt::LongDouble,
            b: &mut rt::LongDouble,
        ) -> Result<(rt::LongDouble, rt::LongDouble), rt::SystemException> {
            self.0.call_inout(
                rt::Operation::new("long_doubles", 15),
                b,
                |b, w| {
                    rt::Encode::encode(&a, w)?;
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

        /// [`long_doubles`](Self::long_doubles), as a future.
        ///
        /// Yields `(result, b, c)`.
        pub fn long_doubles_async(
            &self,
            a: rt::LongDouble,
            b: rt::LongDouble,
        ) -> impl ::std::future::Future<
            Output = Result<(rt::LongDouble, rt::LongDouble, rt::LongDouble), rt::SystemException>,
        > + Send
        + use<> {
            self.0
                .call_async(
                    rt::Operation::new("long_doubles", 15),
                    |w| {
                        rt::Encode::encode(&a, w)?;
                        rt::Encode::encode(&b, w)
                    },
                    |r| Ok((rt::Decode::decode(r)?, rt::Decode::decode(r)?, rt::Decode::decode(r)?)),
                )
                .rewriting(|r, w| {
                    rt::rewrite::<rt::LongDouble>(r, w)?;
                    rt::rewrite::<rt::LongDouble>(r, w)
                })
        }

        /// `IDL:Types/Everything/wide_chars:1.0`
        ///
        /// Yields `(result, c)`.
        pub fn wide_chars(
            &self,
            a: rt::WChar,
            b: &mut rt::WChar,
        ) -> Result<(rt::WChar, rt::WChar), rt::SystemException> {
            self.0.call_inout(
                rt::Operation::new("wide_chars", 16),
                b,
                |b, w| {
                    rt::Encode::encode(&a, w)?;
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

        /// [`wide_chars`](Self::wide_chars), as a future.
        ///
        /// Yields `(result, b, c)`.
        pub fn wide_chars_async(
            &self,
            a: rt::WChar,
            b: rt::WChar,
        ) -> impl ::std::future::Future<
            Output = Result<(rt::WChar, rt::WChar, rt::WChar), rt::SystemException>,
        > + Send
        + use<> {
            self.0
                .call_async(
                    rt::Operation::new("wide_chars", 16),
                    |w| {
                        rt::Encode::encode(&a, w)?;
                        rt::Encode::encode(&b, w)
                    },
                    |r| Ok((rt::Decode::decode(r)?, rt::Decode::decode(r)?, rt::Decode::decode(r)?)),
                )
                .rewriting(|r, w| {
                    rt::rewrite::<rt::WChar>(r, w)?;
                    rt::rewrite::<rt::WChar>(r, w)
                })
        }

        /// `IDL:Types/Everything/eight:1.0`
        #[allow(clippy::too_many_arguments)]
        pub fn eight(
            &self,
            a: f64,
            b: f64,
            c: f64,
            d: f64,
            e: f64,
            f: f64,
            g: f64,
            h: f64,
        ) -> Result<f64, rt::SystemException> {
            self.0.call(
                rt::Operation::new("eight", 17),
                |w| {
                    rt::Encode::encode(&a, w)?;
                    rt::Encode::encode(&b, w)?;
                    rt::Encode::encode(&c, w)?;
                    rt::Encode::encode(&d, w)?;
                    rt::Encode::encode(&e, w)?;
                    rt::Encode::encode(&f, w)?;
                    rt::Encode::encode(&g, w)?;
                    rt::Encode::encode(&h, w)
                },
                |r| rt::Decode::decode(r),
            )
        }

        /// [`eight`](Self::eight), as a future.
        #[allow(clippy::too_many_arguments)]
        pub fn eight_async(
            &self,
            a: f64,
            b: f64,
            c: f64,
            d: f64,
            e: f64,
            f: f64,
            g: f64,
            h: f64,
        ) -> impl ::std::future::Future<Output = Result<f64, rt::SystemException>> + Send + use<> {
            self.0
                .call_async(
                    rt::Operation::new("eight", 17),
                    |w| {
                        rt::Encode::encode(&a, w)?;
                        rt::Encode::encode(&b, w)?;
                        rt::Encode::encode(&c, w)?;
                        rt::Encode::encode(&d, w)?;
                        rt::Encode::encode(&e, w)?;
                        rt::Encode::encode(&f, w)?;
                        rt::Encode::encode(&g, w)?;
                        rt::Encode::encode(&h, w)
                    },
                    |r| rt::Decode::decode(r),
                )
                .rewriting(|r, w| {
                    rt::rewrite::<f64>(r, w)?;
                    rt::rewrite::<f64>(r, w)?;
                    rt::rewrite::<f64>(r, w)?;
                    rt::rewrite::<f64>(r, w)?;
                    rt::rewrite::<f64>(r, w)?;
                    rt::rewrite::<f64>(r, w)?;
                    rt::rewrite::<f64>(r, w)?;
                    rt::rewrite::<f64>(r, w)
                })
        }
    }

    impl rt::TypedReference for EverythingRef {
        const REPOSITORY_ID: &'static str = "IDL:Types/Everything:1.0";

        fn interface() -> &'static rt::Interface {
            &EVERYTHING
        }

        fn from_object(object: rt::ObjectRef) -> Self {
            Self(object)
        }

        fn as_object(&self) -> &rt::ObjectRef {
            &self.0
        }
    }

    impl From<EverythingRef> for rt::ObjectRef {
        fn from(reference: EverythingRef) -> Self {
            reference.0
        }
    }

    impl rt::Nilable for EverythingRef {
        fn encode_nilable(value: Option<&Self>, w: &mut rt::Writer<'_>) -> Result<(), rt::EncodeError> {
            rt::encode_reference(value, w)
        }

        fn decode_nilable(r: &mut rt::Reader<'_>) -> Result<Option<Self>, rt::DecodeError> {
            rt::decode_reference(r)
        }
    }
}
