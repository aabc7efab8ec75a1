// Generated from root.idl by Throughline's IDL compiler. Changes here will be lost.

/// Definitions outside of modules: they land wherever the output is included.
#[allow(dead_code)]
pub const ANSWER: i32 = 42;

/// `IDL:Level:1.0`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(dead_code)]
pub enum Level {
    /// `low`
    Low,
    /// `high`
    High,
}

impl ::throughline::rt::Encode for Level {
    fn encode(
        &self,
        w: &mut ::throughline::rt::Writer<'_>,
    ) -> ::std::result::Result<(), ::throughline::rt::EncodeError> {
        w.write_u32(*self as u32);
        Ok(())
    }
}

impl<'a> ::throughline::rt::Decode<'a> for Level {
    const MIN_SIZE: usize = 4;

    fn decode(
        r: &mut ::throughline::rt::Reader<'a>,
    ) -> ::std::result::Result<Self, ::throughline::rt::DecodeError> {
        match r.read_u32()? {
            0 => Ok(Self::Low),
            1 => Ok(Self::High),
            value => {
                Err(::throughline::rt::DecodeError::InvalidEnum {
                    value,
                })
            }
        }
    }
}

/// `IDL:Point:1.0`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[allow(dead_code)]
pub struct Point {
    /// `short x`
    pub x: i16,
    /// `short y`
    pub y: i16,
}

impl ::throughline::rt::Encode for Point {
    fn encode(
        &self,
        w: &mut ::throughline::rt::Writer<'_>,
    ) -> ::std::result::Result<(), ::throughline::rt::EncodeError> {
        ::throughline::rt::Encode::encode(&self.x, w)?;
        ::throughline::rt::Encode::encode(&self.y, w)
    }
}

impl<'a> ::throughline::rt::Decode<'a> for Point {
    const MIN_SIZE: usize = 4;

    fn decode(
        r: &mut ::throughline::rt::Reader<'a>,
    ) -> ::std::result::Result<Self, ::throughline::rt::DecodeError> {
        Ok(Self {
            x: ::throughline::rt::Decode::decode(r)?,
            y: ::throughline::rt::Decode::decode(r)?,
        })
    }
}

/// `typedef sequence<Point> Points`
#[allow(dead_code)]
pub type Points = Vec<Point>;

/// `IDL:Choice:1.0`
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[allow(dead_code)]
pub enum Choice {
    /// `Point place`
    Place(Point),
    /// `string name`
    Name {
        /// Any that selects no other member.
        discriminator: Level,
        /// The member's value.
        value: String,
    },
}

#[allow(dead_code)]
impl Choice {
    /// What selects the member: a `Level`.
    pub fn discriminator(&self) -> Level {
        match self {
            Self::Place(_) => Level::Low,
            Self::Name { discriminator, .. } => *discriminator,
        }
    }
}

impl ::throughline::rt::Encode for Choice {
    fn encode(
        &self,
        w: &mut ::throughline::rt::Writer<'_>,
    ) -> ::std::result::Result<(), ::throughline::rt::EncodeError> {
        ::throughline::rt::Encode::encode(&self.discriminator(), w)?;
        match self {
            Self::Place(value) => ::throughline::rt::Encode::encode(value, w),
            Self::Name { discriminator, value } => {
                match discriminator {
                    Level::Low => {
                        Err(
                            ::throughline::rt::EncodeError::Invalid(
                                "the discriminator of `Choice` selects another member",
                            ),
                        )
                    }
                    _ => ::throughline::rt::Encode::encode(value, w),
                }
            }
        }
    }
}

impl<'a> ::throughline::rt::Decode<'a> for Choice {
    const MIN_SIZE: usize = 4;

    fn decode(
        r: &mut ::throughline::rt::Reader<'a>,
    ) -> ::std::result::Result<Self, ::throughline::rt::DecodeError> {
        let discriminator: Level = ::throughline::rt::Decode::decode(r)?;
        Ok(
            match discriminator {
                Level::Low => Self::Place(::throughline::rt::Decode::decode(r)?),
                _ => {
                    Self::Name {
                        discriminator,
                        value: ::throughline::rt::Decode::decode(r)?,
                    }
                }
            },
        )
    }
}

/// `IDL:Refused:1.0`
#[derive(Clone, Debug, PartialEq)]
#[allow(dead_code)]
pub struct Refused {
    /// `Level reached`
    pub reached: Level,
}

impl ::throughline::rt::Encode for Refused {
    fn encode(
        &self,
        w: &mut ::throughline::rt::Writer<'_>,
    ) -> ::std::result::Result<(), ::throughline::rt::EncodeError> {
        ::throughline::rt::Encode::encode(&self.reached, w)
    }
}

impl<'a> ::throughline::rt::Decode<'a> for Refused {
    const MIN_SIZE: usize = 4;

    fn decode(
        r: &mut ::throughline::rt::Reader<'a>,
    ) -> ::std::result::Result<Self, ::throughline::rt::DecodeError> {
        Ok(Self {
            reached: ::throughline::rt::Decode::decode(r)?,
        })
    }
}

impl ::throughline::rt::UserException for Refused {
    const REPOSITORY_ID: &'static str = "IDL:Refused:1.0";
}

impl ::std::fmt::Display for Refused {
    fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
        f.debug_struct("Refused").field("reached", &self.reached).finish()
    }
}

impl ::std::error::Error for Refused {}

/// `IDL:Result:1.0`
#[derive(Clone, Debug, PartialEq)]
#[allow(dead_code)]
pub struct Result;

impl ::throughline::rt::Encode for Result {
    fn encode(
        &self,
        _: &mut ::throughline::rt::Writer<'_>,
    ) -> ::std::result::Result<(), ::throughline::rt::EncodeError> {
        Ok(())
    }
}

impl<'a> ::throughline::rt::Decode<'a> for Result {
    const MIN_SIZE: usize = 0;

    fn decode(
        _: &mut ::throughline::rt::Reader<'a>,
    ) -> ::std::result::Result<Self, ::throughline::rt::DecodeError> {
        Ok(Self)
    }
}

impl ::throughline::rt::UserException for Result {
    const REPOSITORY_ID: &'static str = "IDL:Result:1.0";
}

impl ::std::fmt::Display for Result {
    fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
        f.write_str("Result")
    }
}

impl ::std::error::Error for Result {}

/// What `Plotter::plot` can fail with.
#[derive(Clone, Debug, PartialEq)]
#[allow(dead_code)]
pub enum PlotterPlotError {
    /// `IDL:Refused:1.0`
    Refused(Refused),
    /// `IDL:Result:1.0`
    Result(Result),
    /// The call did not reach the object, or came to no regular end.
    System(::throughline::rt::SystemException),
}

impl From<Refused> for PlotterPlotError {
    fn from(exception: Refused) -> Self {
        Self::Refused(exception)
    }
}

impl From<Result> for PlotterPlotError {
    fn from(exception: Result) -> Self {
        Self::Result(exception)
    }
}

impl From<::throughline::rt::SystemException> for PlotterPlotError {
    fn from(exception: ::throughline::rt::SystemException) -> Self {
        Self::System(exception)
    }
}

impl ::std::fmt::Display for PlotterPlotError {
    fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
        match self {
            Self::Refused(exception) => ::std::fmt::Display::fmt(exception, f),
            Self::Result(exception) => ::std::fmt::Display::fmt(exception, f),
            Self::System(exception) => ::std::fmt::Display::fmt(exception, f),
        }
    }
}

impl ::std::error::Error for PlotterPlotError {}

impl ::throughline::rt::OperationError for PlotterPlotError {
    fn decode_user(
        id: &str,
        r: &mut ::throughline::rt::Reader<'_>,
    ) -> Option<::std::result::Result<Self, ::throughline::rt::DecodeError>> {
        match id {
            "IDL:Refused:1.0" => {
                Some(::throughline::rt::Decode::decode(r).map(Self::Refused))
            }
            "IDL:Result:1.0" => {
                Some(::throughline::rt::Decode::decode(r).map(Self::Result))
            }
            _ => None,
        }
    }

    fn raise(
        self,
        call: &mut ::throughline::rt::ServerCall<'_>,
    ) -> ::throughline::rt::Dispatched {
        match self {
            Self::Refused(exception) => call.raise(&exception),
            Self::Result(exception) => call.raise(&exception),
            Self::System(exception) => Err(exception),
        }
    }
}

/// The servant's side of `IDL:Plotter:1.0`.
#[allow(dead_code)]
pub trait Plotter: Send + Sync + 'static {
    /// `IDL:Plotter/current:1.0`
    fn current(
        &self,
    ) -> ::std::result::Result<Level, ::throughline::rt::SystemException>;

    /// `IDL:Plotter/plot:1.0`
    fn plot(
        &self,
        all: &[Point],
        with: &plotter::Style,
    ) -> ::std::result::Result<i32, PlotterPlotError>;

    /// `IDL:Plotter/choose:1.0`
    fn choose(
        &self,
        which: &mut Choice,
        next: Option<&PlotterRef>,
    ) -> ::std::result::Result<Choice, ::throughline::rt::SystemException>;
}

impl<S: Plotter + ?Sized> Plotter for ::std::sync::Arc<S> {
    fn current(
        &self,
    ) -> ::std::result::Result<Level, ::throughline::rt::SystemException> {
        (**self).current()
    }

    fn plot(
        &self,
        all: &[Point],
        with: &plotter::Style,
    ) -> ::std::result::Result<i32, PlotterPlotError> {
        (**self).plot(all, with)
    }

    fn choose(
        &self,
        which: &mut Choice,
        next: Option<&PlotterRef>,
    ) -> ::std::result::Result<Choice, ::throughline::rt::SystemException> {
        (**self).choose(which, next)
    }
}

/// Lets an adapter serve an implementation of [`Plotter`].
#[derive(Clone, Debug)]
#[allow(dead_code)]
pub struct PlotterSkeleton<S>(pub S);

impl<S: Plotter> ::throughline::rt::Skeleton for PlotterSkeleton<S> {
    fn interface(&self) -> &'static ::throughline::rt::Interface {
        &PLOTTER
    }

    fn invoke(
        &self,
        operation: u32,
        call: &mut ::throughline::rt::ServerCall<'_>,
    ) -> ::throughline::rt::Dispatched {
        match operation {
            0 => plotter_skeleton::current(&self.0, call),
            1 => plotter_skeleton::plot(&self.0, call),
            2 => plotter_skeleton::choose(&self.0, call),
            _ => call.implicit(&PLOTTER, operation),
        }
    }
}

impl<S: Plotter> ::throughline::rt::TypedSkeleton for PlotterSkeleton<S> {
    type Reference = PlotterRef;
}

/// Skeletons of the operations of `Plotter`.
#[allow(dead_code, clippy::module_inception)]
pub mod plotter_skeleton {
    use ::throughline::rt;

    /// Serves `_get_current`.
    pub fn current<S: super::Plotter + ?Sized>(
        servant: &S,
        call: &mut rt::ServerCall<'_>,
    ) -> rt::Dispatched {
        match servant.current() {
            Ok(result) => call.reply(|w| rt::Encode::encode(&result, w)),
            Err(error) => Err(error),
        }
    }

    /// Serves `plot`.
    pub fn plot<S: super::Plotter + ?Sized>(
        servant: &S,
        call: &mut rt::ServerCall<'_>,
    ) -> rt::Dispatched {
        let r = call.arguments();
        let all: super::Points = rt::Decode::decode(r)?;
        let with: super::plotter::Style = rt::Decode::decode(r)?;
        match servant.plot(&all, &with) {
            Ok(result) => call.reply(|w| rt::Encode::encode(&result, w)),
            Err(error) => rt::OperationError::raise(error, call),
        }
    }

    /// Serves `choose`.
    pub fn choose<S: super::Plotter + ?Sized>(
        servant: &S,
        call: &mut rt::ServerCall<'_>,
    ) -> rt::Dispatched {
        let r = call.arguments();
        let mut which: super::Choice = rt::Decode::decode(r)?;
        let next: Option<super::PlotterRef> = rt::Decode::decode(r)?;
        match servant.choose(&mut which, next.as_ref()) {
            Ok(result) => {
                call.reply(|w| {
                    rt::Encode::encode(&result, w)?;
                    rt::Encode::encode(&which, w)
                })
            }
            Err(error) => Err(error),
        }
    }
}

/// What the runtime knows of `IDL:Plotter:1.0`.
#[allow(dead_code)]
pub static PLOTTER: ::throughline::rt::Interface = ::throughline::rt::Interface {
    repository_id: "IDL:Plotter:1.0",
    ancestors: &["IDL:Plotter:1.0"],
    operations: ::throughline::rt::OperationTable::new(
        ::throughline::rt::NameTable::new(
            &[
                "_get_current",
                "plot",
                "choose",
                "_is_a",
                "_non_existent",
                "_interface",
                "_component",
                "_repository_id",
                "_not_existent",
            ],
            16294208416658607535,
            &[4169906345, 3793791033, 1853398635, 3793791033],
            &[7, 5, 0, 0, 0, 0, 4, 0, 2, 0, 6, 8, 3, 0, 1, 0],
        ),
    ),
};

/// A reference to an object of `IDL:Plotter:1.0`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[allow(dead_code)]
pub struct PlotterRef(::throughline::rt::ObjectRef);

#[allow(clippy::redundant_closure)]
#[allow(dead_code)]
impl PlotterRef {
    /// The object as one of this interface, or `None` if it is of another. Asks the object itself unless the
    /// reference tells.
    pub fn narrow(
        object: &::throughline::rt::ObjectRef,
    ) -> ::std::result::Result<Option<Self>, ::throughline::rt::SystemException> {
        object.narrow()
    }

    /// `IDL:Plotter/current:1.0`
    #[inline]
    pub fn current(
        &self,
    ) -> ::std::result::Result<Level, ::throughline::rt::SystemException> {
        self.0
            .call(
                const { ::throughline::rt::Operation::new("_get_current", 0) },
                |_| Ok(()),
                |r| ::throughline::rt::Decode::decode(r),
            )
    }

    /// [`current`](Self::current), as a future.
    #[inline]
    pub fn current_async(
        &self,
    ) -> impl ::throughline::rt::AsyncCall<
        Output = ::std::result::Result<Level, ::throughline::rt::SystemException>,
    > + Send + use<> {
        self.0
            .call_async(
                const { ::throughline::rt::Operation::new("_get_current", 0) },
                |_| Ok(()),
                |r| ::throughline::rt::Decode::decode(r),
            )
    }

    /// [`current`](Self::current), begun now and to be waited for by the same thread.
    #[inline]
    pub fn current_begin(
        &self,
    ) -> ::throughline::rt::Begun<'_, Level, ::throughline::rt::SystemException> {
        self.0
            .begin(
                const { ::throughline::rt::Operation::new("_get_current", 0) },
                |_| Ok(()),
                |r| ::throughline::rt::Decode::decode(r),
                None,
            )
    }

    /// `IDL:Plotter/plot:1.0`
    #[inline]
    pub fn plot(
        &self,
        all: &[Point],
        with: &plotter::Style,
    ) -> ::std::result::Result<i32, PlotterPlotError> {
        self.0
            .call(
                const { ::throughline::rt::Operation::new("plot", 1) },
                |w| {
                    ::throughline::rt::Encode::encode(all, w)?;
                    ::throughline::rt::Encode::encode(with, w)
                },
                |r| ::throughline::rt::Decode::decode(r),
            )
    }

    /// [`plot`](Self::plot), as a future.
    #[inline]
    pub fn plot_async(
        &self,
        all: &[Point],
        with: &plotter::Style,
    ) -> impl ::throughline::rt::AsyncCall<
        Output = ::std::result::Result<i32, PlotterPlotError>,
    > + Send + use<> {
        self.0
            .call_async(
                const { ::throughline::rt::Operation::new("plot", 1) },
                |w| {
                    ::throughline::rt::Encode::encode(all, w)?;
                    ::throughline::rt::Encode::encode(with, w)
                },
                |r| ::throughline::rt::Decode::decode(r),
            )
            .rewriting(|r, w| {
                ::throughline::rt::rewrite::<Points>(r, w)?;
                ::throughline::rt::rewrite::<plotter::Style>(r, w)
            })
    }

    /// [`plot`](Self::plot), begun now and to be waited for by the same thread.
    #[inline]
    pub fn plot_begin(
        &self,
        all: &[Point],
        with: &plotter::Style,
    ) -> ::throughline::rt::Begun<'_, i32, PlotterPlotError> {
        self.0
            .begin(
                const { ::throughline::rt::Operation::new("plot", 1) },
                |w| {
                    ::throughline::rt::Encode::encode(all, w)?;
                    ::throughline::rt::Encode::encode(with, w)
                },
                |r| ::throughline::rt::Decode::decode(r),
                Some(|r, w| {
                    ::throughline::rt::rewrite::<Points>(r, w)?;
                    ::throughline::rt::rewrite::<plotter::Style>(r, w)
                }),
            )
    }

    /// `IDL:Plotter/choose:1.0`
    #[inline]
    pub fn choose(
        &self,
        which: &mut Choice,
        next: Option<&PlotterRef>,
    ) -> ::std::result::Result<Choice, ::throughline::rt::SystemException> {
        self.0
            .call_inout(
                const { ::throughline::rt::Operation::new("choose", 2) },
                which,
                |which, w| {
                    ::throughline::rt::Encode::encode(which, w)?;
                    ::throughline::rt::Nilable::encode_nilable(next, w)
                },
                |which, r| {
                    let result = ::throughline::rt::Decode::decode(r)?;
                    ::throughline::rt::Decode::decode_into(which, r)?;
                    Ok(result)
                },
            )
    }

    /// [`choose`](Self::choose), as a future.
    ///
    /// Yields `(result, which)`.
    #[inline]
    pub fn choose_async(
        &self,
        which: Choice,
        next: Option<&PlotterRef>,
    ) -> impl ::throughline::rt::AsyncCall<
        Output = ::std::result::Result<
            (Choice, Choice),
            ::throughline::rt::SystemException,
        >,
    > + Send + use<> {
        self.0
            .call_async(
                const { ::throughline::rt::Operation::new("choose", 2) },
                |w| {
                    ::throughline::rt::Encode::encode(&which, w)?;
                    ::throughline::rt::Nilable::encode_nilable(next, w)
                },
                |r| Ok((
                    ::throughline::rt::Decode::decode(r)?,
                    ::throughline::rt::Decode::decode(r)?,
                )),
            )
            .rewriting(|r, w| {
                ::throughline::rt::rewrite::<Choice>(r, w)?;
                ::throughline::rt::rewrite::<Option<PlotterRef>>(r, w)
            })
    }

    /// [`choose`](Self::choose), begun now and to be waited for by the same thread.
    ///
    /// Yields `(result, which)`.
    #[inline]
    pub fn choose_begin(
        &self,
        which: Choice,
        next: Option<&PlotterRef>,
    ) -> ::throughline::rt::Begun<
        '_,
        (Choice, Choice),
        ::throughline::rt::SystemException,
    > {
        self.0
            .begin(
                const { ::throughline::rt::Operation::new("choose", 2) },
                |w| {
                    ::throughline::rt::Encode::encode(&which, w)?;
                    ::throughline::rt::Nilable::encode_nilable(next, w)
                },
                |r| Ok((
                    ::throughline::rt::Decode::decode(r)?,
                    ::throughline::rt::Decode::decode(r)?,
                )),
                Some(|r, w| {
                    ::throughline::rt::rewrite::<Choice>(r, w)?;
                    ::throughline::rt::rewrite::<Option<PlotterRef>>(r, w)
                }),
            )
    }
}

impl ::throughline::rt::TypedReference for PlotterRef {
    const REPOSITORY_ID: &'static str = "IDL:Plotter:1.0";

    fn interface() -> &'static ::throughline::rt::Interface {
        &PLOTTER
    }

    fn from_object(object: ::throughline::rt::ObjectRef) -> Self {
        Self(object)
    }

    fn as_object(&self) -> &::throughline::rt::ObjectRef {
        &self.0
    }
}

impl From<PlotterRef> for ::throughline::rt::ObjectRef {
    fn from(reference: PlotterRef) -> Self {
        reference.0
    }
}

impl ::throughline::rt::Nilable for PlotterRef {
    fn encode_nilable(
        value: Option<&Self>,
        w: &mut ::throughline::rt::Writer<'_>,
    ) -> ::std::result::Result<(), ::throughline::rt::EncodeError> {
        ::throughline::rt::encode_reference(value, w)
    }

    fn decode_nilable(
        r: &mut ::throughline::rt::Reader<'_>,
    ) -> ::std::result::Result<Option<Self>, ::throughline::rt::DecodeError> {
        ::throughline::rt::decode_reference(r)
    }
}

/// What is defined inside `Plotter`.
#[allow(dead_code, clippy::module_inception)]
pub mod plotter {
    use ::throughline::rt;

    /// `IDL:Plotter/Style:1.0`
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct Style {
        /// `boolean dashed`
        pub dashed: bool,
    }

    impl rt::Encode for Style {
        fn encode(&self, w: &mut rt::Writer<'_>) -> Result<(), rt::EncodeError> {
            rt::Encode::encode(&self.dashed, w)
        }
    }

    impl<'a> rt::Decode<'a> for Style {
        const MIN_SIZE: usize = 1;

        fn decode(r: &mut rt::Reader<'a>) -> Result<Self, rt::DecodeError> {
            Ok(Self {
                dashed: rt::Decode::decode(r)?,
            })
        }
    }
}
