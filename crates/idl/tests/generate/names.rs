// Generated from names.idl by Throughline's IDL compiler. Changes here will be lost.

/// Names that get in the way: keywords, names of the prelude, names that case conversion makes one.
#[allow(dead_code, clippy::module_inception)]
pub mod names {
    use ::throughline::rt;

    /// `IDL:Names/Option:1.0`
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct Option {
        /// `long some`
        pub some: i32,
    }

    impl rt::Encode for Option {
        fn encode(&self, w: &mut rt::Writer<'_>) -> ::std::result::Result<(), rt::EncodeError> {
            rt::Encode::encode(&self.some, w)
        }
    }

    impl<'a> rt::Decode<'a> for Option {
        const MIN_SIZE: usize = 4;

        fn decode(r: &mut rt::Reader<'a>) -> ::std::result::Result<Self, rt::DecodeError> {
            Ok(Self { some: rt::Decode::decode(r)? })
        }
    }

    /// `IDL:Names/Str:1.0`
    #[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
    pub struct Str {
        /// `string text`
        pub text: String,
    }

    impl rt::Encode for Str {
        fn encode(&self, w: &mut rt::Writer<'_>) -> ::std::result::Result<(), rt::EncodeError> {
            rt::Encode::encode(&self.text, w)
        }
    }

    impl<'a> rt::Decode<'a> for Str {
        const MIN_SIZE: usize = 4;

        fn decode(r: &mut rt::Reader<'a>) -> ::std::result::Result<Self, rt::DecodeError> {
            Ok(Self { text: rt::Decode::decode(r)? })
        }
    }

    /// `typedef sequence<Names::Option> Vec`
    pub type Vec = ::std::vec::Vec<Option>;

    /// `IDL:Names/Result:1.0`
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Result {
        /// `Ok`
        Ok,
        /// `Err`
        Err,
        /// `None`
        None,
    }

    impl rt::Encode for Result {
        fn encode(&self, w: &mut rt::Writer<'_>) -> ::std::result::Result<(), rt::EncodeError> {
            w.write_u32(*self as u32);
            Ok(())
        }
    }

    impl<'a> rt::Decode<'a> for Result {
        const MIN_SIZE: usize = 4;

        fn decode(r: &mut rt::Reader<'a>) -> ::std::result::Result<Self, rt::DecodeError> {
            match r.read_u32()? {
                0 => Ok(Self::Ok),
                1 => Ok(Self::Err),
                2 => Ok(Self::None),
                value => Err(rt::DecodeError::InvalidEnum { value }),
            }
        }
    }

    /// `IDL:Names/Box:1.0`
    #[derive(Clone, Debug, PartialEq)]
    pub struct Box {
        /// `Names::Result why`
        pub why: Result,
    }

    impl rt::Encode for Box {
        fn encode(&self, w: &mut rt::Writer<'_>) -> ::std::result::Result<(), rt::EncodeError> {
            rt::Encode::encode(&self.why, w)
        }
    }

    impl<'a> rt::Decode<'a> for Box {
        const MIN_SIZE: usize = 4;

        fn decode(r: &mut rt::Reader<'a>) -> ::std::result::Result<Self, rt::DecodeError> {
            Ok(Self { why: rt::Decode::decode(r)? })
        }
    }

    impl rt::UserException for Box {
        const REPOSITORY_ID: &'static str = "IDL:Names/Box:1.0";
    }

    impl ::std::fmt::Display for Box {
        fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
            f.debug_struct("Names::Box").field("why", &self.why).finish()
        }
    }

    impl ::std::error::Error for Box {}

    /// `IDL:Names/Some:1.0`
    #[derive(Clone, Debug, PartialEq)]
    pub struct Some;

    impl rt::Encode for Some {
        fn encode(&self, _: &mut rt::Writer<'_>) -> ::std::result::Result<(), rt::EncodeError> {
            Ok(())
        }
    }

    impl<'a> rt::Decode<'a> for Some {
        const MIN_SIZE: usize = 0;

        fn decode(_: &mut rt::Reader<'a>) -> ::std::result::Result<Self, rt::DecodeError> {
            Ok(Self)
        }
    }

    impl rt::UserException for Some {
        const REPOSITORY_ID: &'static str = "IDL:Names/Some:1.0";
    }

    impl ::std::fmt::Display for Some {
        fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
            f.write_str("Names::Some")
        }
    }

    impl ::std::error::Error for Some {}

    /// `IDL:Names/System:1.0`
    #[derive(Clone, Debug, PartialEq)]
    pub struct System;

    impl rt::Encode for System {
        fn encode(&self, _: &mut rt::Writer<'_>) -> ::std::result::Result<(), rt::EncodeError> {
            Ok(())
        }
    }

    impl<'a> rt::Decode<'a> for System {
        const MIN_SIZE: usize = 0;

        fn decode(_: &mut rt::Reader<'a>) -> ::std::result::Result<Self, rt::DecodeError> {
            Ok(Self)
        }
    }

    impl rt::UserException for System {
        const REPOSITORY_ID: &'static str = "IDL:Names/System:1.0";
    }

    impl ::std::fmt::Display for System {
        fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
            f.write_str("Names::System")
        }
    }

    impl ::std::error::Error for System {}

    /// What `Names::From::turn` can fail with.
    #[derive(Clone, Debug, PartialEq)]
    pub enum FromTurnError {
        /// `IDL:Names/Some:1.0`
        Some(Some),
        /// `IDL:Names/System:1.0`
        System_(System),
        /// `IDL:Names/Box:1.0`
        Box(Box),
        /// The call did not reach the object, or came to no regular end.
        System(rt::SystemException),
    }

    impl ::std::convert::From<Some> for FromTurnError {
        fn from(exception: Some) -> Self {
            Self::Some(exception)
        }
    }

    impl ::std::convert::From<System> for FromTurnError {
        fn from(exception: System) -> Self {
            Self::System_(exception)
        }
    }

    impl ::std::convert::From<Box> for FromTurnError {
        fn from(exception: Box) -> Self {
            Self::Box(exception)
        }
    }

    impl ::std::convert::From<rt::SystemException> for FromTurnError {
        fn from(exception: rt::SystemException) -> Self {
            Self::System(exception)
        }
    }

    impl ::std::fmt::Display for FromTurnError {
        fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
            match self {
                Self::Some(exception) => ::std::fmt::Display::fmt(exception, f),
                Self::System_(exception) => ::std::fmt::Display::fmt(exception, f),
                Self::Box(exception) => ::std::fmt::Display::fmt(exception, f),
                Self::System(exception) => ::std::fmt::Display::fmt(exception, f),
            }
        }
    }

    impl ::std::error::Error for FromTurnError {}

    impl rt::OperationError for FromTurnError {
        fn decode_user(
            id: &str,
            r: &mut rt::Reader<'_>,
        ) -> ::std::option::Option<::std::result::Result<Self, rt::DecodeError>> {
            match id {
                "IDL:Names/Some:1.0" => ::std::option::Option::Some(rt::Decode::decode(r).map(Self::Some)),
                "IDL:Names/System:1.0" => {
                    ::std::option::Option::Some(rt::Decode::decode(r).map(Self::System_))
                }
                "IDL:Names/Box:1.0" => ::std::option::Option::Some(rt::Decode::decode(r).map(Self::Box)),
                _ => None,
            }
        }

        fn raise(self, call: &mut rt::ServerCall<'_>) -> rt::Dispatched {
            match self {
                Self::Some(exception) => call.raise(&exception),
                Self::System_(exception) => call.raise(&exception),
                Self::Box(exception) => call.raise(&exception),
                Self::System(exception) => Err(exception),
            }
        }
    }

    /// The servant's side of `IDL:Names/From:1.0`.
    pub trait From: ::std::marker::Send + Sync + 'static {
        /// `IDL:Names/From/turn:1.0`
        fn turn(&self, items: &[Option]) -> ::std::result::Result<(), FromTurnError>;
    }

    impl<S_: From + ?Sized> From for ::std::sync::Arc<S_> {
        fn turn(&self, items: &[Option]) -> ::std::result::Result<(), FromTurnError> {
            (**self).turn(items)
        }
    }

    /// Lets an adapter serve an implementation of [`From`].
    #[derive(Clone, Debug)]
    pub struct FromSkeleton<S_>(pub S_);

    impl<S_: From> rt::Skeleton for FromSkeleton<S_> {
        fn interface(&self) -> &'static rt::Interface {
            &FROM
        }

        fn invoke(&self, operation: u32, call: &mut rt::ServerCall<'_>) -> rt::Dispatched {
            match operation {
                0 => from_skeleton::turn(&self.0, call),
                _ => call.implicit(&FROM, operation),
            }
        }
    }

    impl<S_: From> rt::TypedSkeleton for FromSkeleton<S_> {
        type Reference = FromRef;
    }

    /// Skeletons of the operations of `Names::From`.
    pub mod from_skeleton {
        use ::throughline::rt;

        /// Serves `turn`.
        pub fn turn<S: super::From + ?Sized>(servant: &S, call: &mut rt::ServerCall<'_>) -> rt::Dispatched {
            let r = call.arguments();
            let items: super::Vec = rt::Decode::decode(r)?;
            match servant.turn(&items) {
                Ok(()) => call.reply(|_| Ok(())),
                Err(error) => rt::OperationError::raise(error, call),
            }
        }
    }

    /// What the runtime knows of `IDL:Names/From:1.0`.
    pub static FROM: rt::Interface = rt::Interface {
        repository_id: "IDL:Names/From:1.0",
        ancestors: &["IDL:Names/From:1.0"],
        operations: rt::OperationTable::new(rt::NameTable::new(
            &[
                "turn",
                "_is_a",
                "_non_existent",
                "_interface",
                "_component",
                "_repository_id",
                "_not_existent",
            ],
            16294208416658607535,
            &[3793791033, 3313767227],
            &[4, 3, 1, 2, 6, 5, 0, 0],
        )),
    };

    /// A reference to an object of `IDL:Names/From:1.0`.
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    pub struct FromRef(rt::ObjectRef);

    impl FromRef {
        /// The object as one of this interface, or `None` if it is of another. Asks the object itself unless the
        /// reference tells.
        pub fn narrow(
            object: &rt::ObjectRef,
        ) -> ::std::result::Result<::std::option::Option<Self>, rt::SystemException> {
            object.narrow()
        }

        /// `IDL:Names/From/turn:1.0`
        pub fn turn(&self, items: &[Option]) -> ::std::result::Result<(), FromTurnError> {
            self.0.call(rt::Operation::new("turn", 0), |w| rt::Encode::encode(items, w), |_| Ok(()))
        }

        /// [`turn`](Self::turn), as a future.
        pub fn turn_async(
            &self,
            items: &[Option],
        ) -> impl ::std::future::Future<Output = ::std::result::Result<(), FromTurnError>>
        + ::std::marker::Send
        + use<> {
            self.0
                .call_async(rt::Operation::new("turn", 0), |w| rt::Encode::encode(items, w), |_| Ok(()))
                .rewriting(rt::rewrite::<Vec>)
        }
    }

    impl rt::TypedReference for FromRef {
        const REPOSITORY_ID: &'static str = "IDL:Names/From:1.0";

        fn interface() -> &'static rt::Interface {
            &FROM
        }

        fn from_object(object: rt::ObjectRef) -> Self {
            Self(object)
        }

        fn as_object(&self) -> &rt::ObjectRef {
            &self.0
        }
    }

    impl ::std::convert::From<FromRef> for rt::ObjectRef {
        fn from(reference: FromRef) -> Self {
            reference.0
        }
    }

    impl rt::Nilable for FromRef {
        fn encode_nilable(
            value: ::std::option::Option<&Self>,
            w: &mut rt::Writer<'_>,
        ) -> ::std::result::Result<(), rt::EncodeError> {
            rt::encode_reference(value, w)
        }

        fn decode_nilable(
            r: &mut rt::Reader<'_>,
        ) -> ::std::result::Result<::std::option::Option<Self>, rt::DecodeError> {
            rt::decode_reference(r)
        }
    }

    /// The servant's side of `IDL:Names/Send:1.0`.
    pub trait Send: ::std::marker::Send + Sync + 'static {}

    impl<S_: Send + ?Sized> Send for ::std::sync::Arc<S_> {}

    /// Lets an adapter serve an implementation of [`Send`].
    #[derive(Clone, Debug)]
    pub struct SendSkeleton<S_>(pub S_);

    impl<S_: Send> rt::Skeleton for SendSkeleton<S_> {
        fn interface(&self) -> &'static rt::Interface {
            &SEND
        }

        fn invoke(&self, operation: u32, call: &mut rt::ServerCall<'_>) -> rt::Dispatched {
            call.implicit(&SEND, operation)
        }
    }

    impl<S_: Send> rt::TypedSkeleton for SendSkeleton<S_> {
        type Reference = SendRef;
    }

    /// What the runtime knows of `IDL:Names/Send:1.0`.
    pub static SEND: rt::Interface = rt::Interface {
        repository_id: "IDL:Names/Send:1.0",
        ancestors: &["IDL:Names/Send:1.0"],
        operations: rt::OperationTable::new(rt::NameTable::new(
            &["_is_a", "_non_existent", "_interface", "_component", "_repository_id", "_not_existent"],
            16294208416658607535,
            &[3793791033, 3313767227],
            &[3, 2, 0, 1, 5, 4, 0, 0],
        )),
    };

    /// A reference to an object of `IDL:Names/Send:1.0`.
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    pub struct SendRef(rt::ObjectRef);

    impl SendRef {
        /// The object as one of this interface, or `None` if it is of another. Asks the object itself unless the
        /// reference tells.
        pub fn narrow(
            object: &rt::ObjectRef,
        ) -> ::std::result::Result<::std::option::Option<Self>, rt::SystemException> {
            object.narrow()
        }
    }

    impl rt::TypedReference for SendRef {
        const REPOSITORY_ID: &'static str = "IDL:Names/Send:1.0";

        fn interface() -> &'static rt::Interface {
            &SEND
        }

        fn from_object(object: rt::ObjectRef) -> Self {
            Self(object)
        }

        fn as_object(&self) -> &rt::ObjectRef {
            &self.0
        }
    }

    impl ::std::convert::From<SendRef> for rt::ObjectRef {
        fn from(reference: SendRef) -> Self {
            reference.0
        }
    }

    impl rt::Nilable for SendRef {
        fn encode_nilable(
            value: ::std::option::Option<&Self>,
            w: &mut rt::Writer<'_>,
        ) -> ::std::result::Result<(), rt::EncodeError> {
            rt::encode_reference(value, w)
        }

        fn decode_nilable(
            r: &mut rt::Reader<'_>,
        ) -> ::std::result::Result<::std::option::Option<Self>, rt::DecodeError> {
            rt::decode_reference(r)
        }
    }

    /// The servant's side of `IDL:Names/S:1.0`.
    pub trait S: ::std::marker::Send + Sync + 'static {
        /// `IDL:Names/S/turn:1.0`
        fn turn(
            &self,
            t: ::std::option::Option<&SRef>,
        ) -> ::std::result::Result<::std::option::Option<SRef>, rt::SystemException>;
    }

    impl<S_: S + ?Sized> S for ::std::sync::Arc<S_> {
        fn turn(
            &self,
            t: ::std::option::Option<&SRef>,
        ) -> ::std::result::Result<::std::option::Option<SRef>, rt::SystemException> {
            (**self).turn(t)
        }
    }

    /// Lets an adapter serve an implementation of [`S`].
    #[derive(Clone, Debug)]
    pub struct SSkeleton<S_>(pub S_);

    impl<S_: S> rt::Skeleton for SSkeleton<S_> {
        fn interface(&self) -> &'static rt::Interface {
            &S_
        }

        fn invoke(&self, operation: u32, call: &mut rt::ServerCall<'_>) -> rt::Dispatched {
            match operation {
                0 => s_skeleton::turn(&self.0, call),
                _ => call.implicit(&S_, operation),
            }
        }
    }

    impl<S_: S> rt::TypedSkeleton for SSkeleton<S_> {
        type Reference = SRef;
    }

    /// Skeletons of the operations of `Names::S`.
    pub mod s_skeleton {
        use ::throughline::rt;

        /// Serves `turn`.
        pub fn turn<S: super::S + ?Sized>(servant: &S, call: &mut rt::ServerCall<'_>) -> rt::Dispatched {
            let r = call.arguments();
            let t: Option<super::SRef> = rt::Decode::decode(r)?;
            match servant.turn(t.as_ref()) {
                Ok(result) => call.reply(|w| rt::Encode::encode(&result, w)),
                Err(error) => Err(error),
            }
        }
    }

    /// What the runtime knows of `IDL:Names/S:1.0`.
    pub static S_: rt::Interface = rt::Interface {
        repository_id: "IDL:Names/S:1.0",
        ancestors: &["IDL:Names/S:1.0"],
        operations: rt::OperationTable::new(rt::NameTable::new(
            &[
                "turn",
                "_is_a",
                "_non_existent",
                "_interface",
                "_component",
                "_repository_id",
                "_not_existent",
            ],
            16294208416658607535,
            &[3793791033, 3313767227],
            &[4, 3, 1, 2, 6, 5, 0, 0],
        )),
    };

    /// A reference to an object of `IDL:Names/S:1.0`.
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    pub struct SRef(rt::ObjectRef);

    #[allow(clippy::redundant_closure)]
    impl SRef {
        /// The object as one of this interface, or `None` if it is of another. Asks the object itself unless the
        /// reference tells.
        pub fn narrow(
            object: &rt::ObjectRef,
        ) -> ::std::result::Result<::std::option::Option<Self>, rt::SystemException> {
            object.narrow()
        }

        /// `IDL:Names/S/turn:1.0`
        pub fn turn(
            &self,
            t: ::std::option::Option<&SRef>,
        ) -> ::std::result::Result<::std::option::Option<SRef>, rt::SystemException> {
            self.0.call(
                rt::Operation::new("turn", 0),
                |w| rt::Nilable::encode_nilable(t, w),
                |r| rt::Decode::decode(r),
            )
        }

        /// [`turn`](Self::turn), as a future.
        pub fn turn_async(
            &self,
            t: ::std::option::Option<&SRef>,
        ) -> impl ::std::future::Future<
            Output = ::std::result::Result<::std::option::Option<SRef>, rt::SystemException>,
        > + ::std::marker::Send
        + use<> {
            self.0
                .call_async(
                    rt::Operation::new("turn", 0),
                    |w| rt::Nilable::encode_nilable(t, w),
                    |r| rt::Decode::decode(r),
                )
                .rewriting(rt::rewrite::<::std::option::Option<SRef>>)
        }
    }

    impl rt::TypedReference for SRef {
        const REPOSITORY_ID: &'static str = "IDL:Names/S:1.0";

        fn interface() -> &'static rt::Interface {
            &S_
        }

        fn from_object(object: rt::ObjectRef) -> Self {
            Self(object)
        }

        fn as_object(&self) -> &rt::ObjectRef {
            &self.0
        }
    }

    impl ::std::convert::From<SRef> for rt::ObjectRef {
        fn from(reference: SRef) -> Self {
            reference.0
        }
    }

    impl rt::Nilable for SRef {
        fn encode_nilable(
            value: ::std::option::Option<&Self>,
            w: &mut rt::Writer<'_>,
        ) -> ::std::result::Result<(), rt::EncodeError> {
            rt::encode_reference(value, w)
        }

        fn decode_nilable(
            r: &mut rt::Reader<'_>,
        ) -> ::std::result::Result<::std::option::Option<Self>, rt::DecodeError> {
            rt::decode_reference(r)
        }
    }

    /// `IDL:Names/Clone:1.0`
    #[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
    pub struct Clone {
        /// `string<3> text`
        pub text: rt::BoundedString<3>,
    }

    impl rt::Encode for Clone {
        fn encode(&self, w: &mut rt::Writer<'_>) -> ::std::result::Result<(), rt::EncodeError> {
            rt::Encode::encode(&self.text, w)
        }
    }

    impl<'a> rt::Decode<'a> for Clone {
        const MIN_SIZE: usize = 4;

        fn decode(r: &mut rt::Reader<'a>) -> ::std::result::Result<Self, rt::DecodeError> {
            Ok(Self { text: rt::Decode::decode(r)? })
        }
    }

    /// `IDL:Names/W:1.0`
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct W {
        /// `long r`
        pub r: i32,
    }

    impl rt::Encode for W {
        fn encode(&self, w: &mut rt::Writer<'_>) -> ::std::result::Result<(), rt::EncodeError> {
            rt::Encode::encode(&self.r, w)
        }
    }

    impl<'a> rt::Decode<'a> for W {
        const MIN_SIZE: usize = 4;

        fn decode(r: &mut rt::Reader<'a>) -> ::std::result::Result<Self, rt::DecodeError> {
            Ok(Self { r: rt::Decode::decode(r)? })
        }
    }

    /// Modules named like primitive types and the runtime.
    pub mod rt_ {
        use ::throughline::rt;

        /// `IDL:Names/rt/Inner:1.0`
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub struct Inner {
            /// `long i`
            pub i: i32,
        }

        impl rt::Encode for Inner {
            fn encode(&self, w: &mut rt::Writer<'_>) -> Result<(), rt::EncodeError> {
                rt::Encode::encode(&self.i, w)
            }
        }

        impl<'a> rt::Decode<'a> for Inner {
            const MIN_SIZE: usize = 4;

            fn decode(r: &mut rt::Reader<'a>) -> Result<Self, rt::DecodeError> {
                Ok(Self { i: rt::Decode::decode(r)? })
            }
        }
    }

    /// `module Names::u8`
    pub mod u8_ {
        use ::throughline::rt;

        /// `IDL:Names/u8/Inner:1.0`
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub struct Inner {
            /// `octet i`
            pub i: u8,
        }

        impl rt::Encode for Inner {
            fn encode(&self, w: &mut rt::Writer<'_>) -> Result<(), rt::EncodeError> {
                rt::Encode::encode(&self.i, w)
            }
        }

        impl<'a> rt::Decode<'a> for Inner {
            const MIN_SIZE: usize = 1;

            fn decode(r: &mut rt::Reader<'a>) -> Result<Self, rt::DecodeError> {
                Ok(Self { i: rt::Decode::decode(r)? })
            }
        }
    }

    /// `module Names::type`
    pub mod r#type {
        /// `module Names::type::crate`
        pub mod crate_ {
            use ::throughline::rt;

            /// `IDL:Names/type/crate/self:1.0`
            #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
            pub struct Self_ {
                /// `long super`
                pub super_: i32,
            }

            impl rt::Encode for Self_ {
                fn encode(&self, w: &mut rt::Writer<'_>) -> Result<(), rt::EncodeError> {
                    rt::Encode::encode(&self.super_, w)
                }
            }

            impl<'a> rt::Decode<'a> for Self_ {
                const MIN_SIZE: usize = 4;

                fn decode(r: &mut rt::Reader<'a>) -> Result<Self, rt::DecodeError> {
                    Ok(Self { super_: rt::Decode::decode(r)? })
                }
            }
        }
    }

    /// `typedef Names::rt::Inner InnerRt`
    pub type InnerRt = rt_::Inner;

    /// `typedef Names::u8::Inner InnerOctet`
    pub type InnerOctet = u8_::Inner;

    /// `typedef Names::type::crate::self Deep`
    pub type Deep = r#type::crate_::Self_;

    /// One name in Rust.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct FooBar {
        /// `long x`
        pub x: i32,
    }

    impl rt::Encode for FooBar {
        fn encode(&self, w: &mut rt::Writer<'_>) -> ::std::result::Result<(), rt::EncodeError> {
            rt::Encode::encode(&self.x, w)
        }
    }

    impl<'a> rt::Decode<'a> for FooBar {
        const MIN_SIZE: usize = 4;

        fn decode(r: &mut rt::Reader<'a>) -> ::std::result::Result<Self, rt::DecodeError> {
            Ok(Self { x: rt::Decode::decode(r)? })
        }
    }

    /// `IDL:Names/fooBar:1.0`
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct FooBar_ {
        /// `Names::foo_bar x`
        pub x: FooBar,
    }

    impl rt::Encode for FooBar_ {
        fn encode(&self, w: &mut rt::Writer<'_>) -> ::std::result::Result<(), rt::EncodeError> {
            rt::Encode::encode(&self.x, w)
        }
    }

    impl<'a> rt::Decode<'a> for FooBar_ {
        const MIN_SIZE: usize = 4;

        fn decode(r: &mut rt::Reader<'a>) -> ::std::result::Result<Self, rt::DecodeError> {
            Ok(Self { x: rt::Decode::decode(r)? })
        }
    }

    /// `IDL:Names/FOO_BAR_:1.0`
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct FooBar__ {
        /// `Names::fooBar x`
        pub x: FooBar_,
    }

    impl rt::Encode for FooBar__ {
        fn encode(&self, w: &mut rt::Writer<'_>) -> ::std::result::Result<(), rt::EncodeError> {
            rt::Encode::encode(&self.x, w)
        }
    }

    impl<'a> rt::Decode<'a> for FooBar__ {
        const MIN_SIZE: usize = 4;

        fn decode(r: &mut rt::Reader<'a>) -> ::std::result::Result<Self, rt::DecodeError> {
            Ok(Self { x: rt::Decode::decode(r)? })
        }
    }

    /// `IDL:Names/Members:1.0`
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct Members {
        /// `long aB`
        pub a_b: i32,
        /// `long a_b`
        pub a_b_: i32,
        /// `long struct`
        pub r#struct: i32,
        /// `long type`
        pub r#type: i32,
        /// `long self`
        pub self_: i32,
        /// `long crate`
        pub crate_: i32,
    }

    impl rt::Encode for Members {
        fn encode(&self, w: &mut rt::Writer<'_>) -> ::std::result::Result<(), rt::EncodeError> {
            rt::Encode::encode(&self.a_b, w)?;
            rt::Encode::encode(&self.a_b_, w)?;
            rt::Encode::encode(&self.r#struct, w)?;
            rt::Encode::encode(&self.r#type, w)?;
            rt::Encode::encode(&self.self_, w)?;
            rt::Encode::encode(&self.crate_, w)
        }
    }

    impl<'a> rt::Decode<'a> for Members {
        const MIN_SIZE: usize = 24;

        fn decode(r: &mut rt::Reader<'a>) -> ::std::result::Result<Self, rt::DecodeError> {
            Ok(Self {
                a_b: rt::Decode::decode(r)?,
                a_b_: rt::Decode::decode(r)?,
                r#struct: rt::Decode::decode(r)?,
                r#type: rt::Decode::decode(r)?,
                self_: rt::Decode::decode(r)?,
                crate_: rt::Decode::decode(r)?,
            })
        }
    }

    /// `IDL:Names/Prefixed:1.0`
    #[allow(clippy::enum_variant_names)]
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Prefixed {
        /// `PREFIXED_ONE`
        PrefixedOne,
        /// `PREFIXED_TWO`
        PrefixedTwo,
        /// `PREFIXED_THREE`
        PrefixedThree,
    }

    impl rt::Encode for Prefixed {
        fn encode(&self, w: &mut rt::Writer<'_>) -> ::std::result::Result<(), rt::EncodeError> {
            w.write_u32(*self as u32);
            Ok(())
        }
    }

    impl<'a> rt::Decode<'a> for Prefixed {
        const MIN_SIZE: usize = 4;

        fn decode(r: &mut rt::Reader<'a>) -> ::std::result::Result<Self, rt::DecodeError> {
            match r.read_u32()? {
                0 => Ok(Self::PrefixedOne),
                1 => Ok(Self::PrefixedTwo),
                2 => Ok(Self::PrefixedThree),
                value => Err(rt::DecodeError::InvalidEnum { value }),
            }
        }
    }

    /// `IDL:Names/Alike:1.0`
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Alike {
        /// `one_two`
        OneTwo,
        /// `oneTwo`
        OneTwo_,
    }

    impl rt::Encode for Alike {
        fn encode(&self, w: &mut rt::Writer<'_>) -> ::std::result::Result<(), rt::EncodeError> {
            w.write_u32(*self as u32);
            Ok(())
        }
    }

    impl<'a> rt::Decode<'a> for Alike {
        const MIN_SIZE: usize = 4;

        fn decode(r: &mut rt::Reader<'a>) -> ::std::result::Result<Self, rt::DecodeError> {
            match r.read_u32()? {
                0 => Ok(Self::OneTwo),
                1 => Ok(Self::OneTwo_),
                value => Err(rt::DecodeError::InvalidEnum { value }),
            }
        }
    }

    /// `const Names::Alike SECOND`
    pub const SECOND: Alike = Alike::OneTwo_;

    /// Companions of interfaces that are taken.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct AccountRef {
        /// `long x`
        pub x: i32,
    }

    impl rt::Encode for AccountRef {
        fn encode(&self, w: &mut rt::Writer<'_>) -> ::std::result::Result<(), rt::EncodeError> {
            rt::Encode::encode(&self.x, w)
        }
    }

    impl<'a> rt::Decode<'a> for AccountRef {
        const MIN_SIZE: usize = 4;

        fn decode(r: &mut rt::Reader<'a>) -> ::std::result::Result<Self, rt::DecodeError> {
            Ok(Self { x: rt::Decode::decode(r)? })
        }
    }

    /// `IDL:Names/AccountSkeleton:1.0`
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct AccountSkeleton {
        /// `long x`
        pub x: i32,
    }

    impl rt::Encode for AccountSkeleton {
        fn encode(&self, w: &mut rt::Writer<'_>) -> ::std::result::Result<(), rt::EncodeError> {
            rt::Encode::encode(&self.x, w)
        }
    }

    impl<'a> rt::Decode<'a> for AccountSkeleton {
        const MIN_SIZE: usize = 4;

        fn decode(r: &mut rt::Reader<'a>) -> ::std::result::Result<Self, rt::DecodeError> {
            Ok(Self { x: rt::Decode::decode(r)? })
        }
    }

    /// `IDL:Names/AccountFailError:1.0`
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct AccountFailError {
        /// `long x`
        pub x: i32,
    }

    impl rt::Encode for AccountFailError {
        fn encode(&self, w: &mut rt::Writer<'_>) -> ::std::result::Result<(), rt::EncodeError> {
            rt::Encode::encode(&self.x, w)
        }
    }

    impl<'a> rt::Decode<'a> for AccountFailError {
        const MIN_SIZE: usize = 4;

        fn decode(r: &mut rt::Reader<'a>) -> ::std::result::Result<Self, rt::DecodeError> {
            Ok(Self { x: rt::Decode::decode(r)? })
        }
    }

    /// `module Names::accounts_`
    pub mod accounts {
        /// `module Names::accounts_::account_`
        pub mod account {
            use ::throughline::rt;

            /// `IDL:Names/accounts_/account_/Inner:1.0`
            #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
            pub struct Inner {
                /// `long i`
                pub i: i32,
            }

            impl rt::Encode for Inner {
                fn encode(&self, w: &mut rt::Writer<'_>) -> Result<(), rt::EncodeError> {
                    rt::Encode::encode(&self.i, w)
                }
            }

            impl<'a> rt::Decode<'a> for Inner {
                const MIN_SIZE: usize = 4;

                fn decode(r: &mut rt::Reader<'a>) -> Result<Self, rt::DecodeError> {
                    Ok(Self { i: rt::Decode::decode(r)? })
                }
            }
        }
    }

    /// `module Names::account_skeleton`
    pub mod account_skeleton {
        use ::throughline::rt;

        /// `IDL:Names/account_skeleton/Inner:1.0`
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub struct Inner {
            /// `long i`
            pub i: i32,
        }

        impl rt::Encode for Inner {
            fn encode(&self, w: &mut rt::Writer<'_>) -> Result<(), rt::EncodeError> {
                rt::Encode::encode(&self.i, w)
            }
        }

        impl<'a> rt::Decode<'a> for Inner {
            const MIN_SIZE: usize = 4;

            fn decode(r: &mut rt::Reader<'a>) -> Result<Self, rt::DecodeError> {
                Ok(Self { i: rt::Decode::decode(r)? })
            }
        }
    }

    /// `const long ACCOUNT_`
    pub const ACCOUNT: i32 = 1;

    /// What `Names::Account::fail` can fail with.
    #[derive(Clone, Debug, PartialEq)]
    pub enum AccountFailError_ {
        /// `IDL:Names/Account/Failed:1.0`
        Failed(account::Failed),
        /// The call did not reach the object, or came to no regular end.
        System(rt::SystemException),
    }

    impl ::std::convert::From<account::Failed> for AccountFailError_ {
        fn from(exception: account::Failed) -> Self {
            Self::Failed(exception)
        }
    }

    impl ::std::convert::From<rt::SystemException> for AccountFailError_ {
        fn from(exception: rt::SystemException) -> Self {
            Self::System(exception)
        }
    }

    impl ::std::fmt::Display for AccountFailError_ {
        fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
            match self {
                Self::Failed(exception) => ::std::fmt::Display::fmt(exception, f),
                Self::System(exception) => ::std::fmt::Display::fmt(exception, f),
            }
        }
    }

    impl ::std::error::Error for AccountFailError_ {}

    impl rt::OperationError for AccountFailError_ {
        fn decode_user(
            id: &str,
            r: &mut rt::Reader<'_>,
        ) -> ::std::option::Option<::std::result::Result<Self, rt::DecodeError>> {
            match id {
                "IDL:Names/Account/Failed:1.0" => {
                    ::std::option::Option::Some(rt::Decode::decode(r).map(Self::Failed))
                }
                _ => None,
            }
        }

        fn raise(self, call: &mut rt::ServerCall<'_>) -> rt::Dispatched {
            match self {
                Self::Failed(exception) => call.raise(&exception),
                Self::System(exception) => Err(exception),
            }
        }
    }

    /// The servant's side of `IDL:Names/Account:1.0`.
    pub trait Account: ::std::marker::Send + Sync + 'static {
        /// `IDL:Names/Account/fail:1.0`
        fn fail(
            &self,
            r: &AccountRef,
            skeleton: &AccountSkeleton,
        ) -> ::std::result::Result<account::Inside, AccountFailError_>;
    }

    impl<S_: Account + ?Sized> Account for ::std::sync::Arc<S_> {
        fn fail(
            &self,
            r: &AccountRef,
            skeleton: &AccountSkeleton,
        ) -> ::std::result::Result<account::Inside, AccountFailError_> {
            (**self).fail(r, skeleton)
        }
    }

    /// Lets an adapter serve an implementation of [`Account`].
    #[derive(Clone, Debug)]
    pub struct AccountSkeleton_<S_>(pub S_);

    impl<S_: Account> rt::Skeleton for AccountSkeleton_<S_> {
        fn interface(&self) -> &'static rt::Interface {
            &ACCOUNT_
        }

        fn invoke(&self, operation: u32, call: &mut rt::ServerCall<'_>) -> rt::Dispatched {
            match operation {
                0 => account_skeleton_::fail(&self.0, call),
                _ => call.implicit(&ACCOUNT_, operation),
            }
        }
    }

    impl<S_: Account> rt::TypedSkeleton for AccountSkeleton_<S_> {
        type Reference = AccountRef_;
    }

    /// Skeletons of the operations of `Names::Account`.
    pub mod account_skeleton_ {
        use ::throughline::rt;

        /// Serves `fail`.
        pub fn fail<S: super::Account + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            let r_ = call.arguments();
            let r: super::AccountRef = rt::Decode::decode(r_)?;
            let skeleton: super::AccountSkeleton = rt::Decode::decode(r_)?;
            match servant.fail(&r, &skeleton) {
                Ok(result) => call.reply(|w| rt::Encode::encode(&result, w)),
                Err(error) => rt::OperationError::raise(error, call),
            }
        }
    }

    /// What the runtime knows of `IDL:Names/Account:1.0`.
    pub static ACCOUNT_: rt::Interface = rt::Interface {
        repository_id: "IDL:Names/Account:1.0",
        ancestors: &["IDL:Names/Account:1.0"],
        operations: rt::OperationTable::new(rt::NameTable::new(
            &[
                "fail",
                "_is_a",
                "_non_existent",
                "_interface",
                "_component",
                "_repository_id",
                "_not_existent",
            ],
            16294208416658607535,
            &[3793791033, 3313767227],
            &[4, 3, 1, 2, 6, 5, 0, 0],
        )),
    };

    /// A reference to an object of `IDL:Names/Account:1.0`.
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    pub struct AccountRef_(rt::ObjectRef);

    #[allow(clippy::redundant_closure)]
    impl AccountRef_ {
        /// The object as one of this interface, or `None` if it is of another. Asks the object itself unless the
        /// reference tells.
        pub fn narrow(
            object: &rt::ObjectRef,
        ) -> ::std::result::Result<::std::option::Option<Self>, rt::SystemException> {
            object.narrow()
        }

        /// `IDL:Names/Account/fail:1.0`
        pub fn fail(
            &self,
            r: &AccountRef,
            skeleton: &AccountSkeleton,
        ) -> ::std::result::Result<account::Inside, AccountFailError_> {
            self.0.call(
                rt::Operation::new("fail", 0),
                |w| {
                    rt::Encode::encode(r, w)?;
                    rt::Encode::encode(skeleton, w)
                },
                |r| rt::Decode::decode(r),
            )
        }

        /// [`fail`](Self::fail), as a future.
        pub fn fail_async(
            &self,
            r: &AccountRef,
            skeleton: &AccountSkeleton,
        ) -> impl ::std::future::Future<Output = ::std::result::Result<account::Inside, AccountFailError_>>
        + ::std::marker::Send
        + use<> {
            self.0
                .call_async(
                    rt::Operation::new("fail", 0),
                    |w| {
                        rt::Encode::encode(r, w)?;
                        rt::Encode::encode(skeleton, w)
                    },
                    |r| rt::Decode::decode(r),
                )
                .rewriting(|r, w| {
                    rt::rewrite::<AccountRef>(r, w)?;
                    rt::rewrite::<AccountSkeleton>(r, w)
                })
        }
    }

    impl rt::TypedReference for AccountRef_ {
        const REPOSITORY_ID: &'static str = "IDL:Names/Account:1.0";

        fn interface() -> &'static rt::Interface {
            &ACCOUNT_
        }

        fn from_object(object: rt::ObjectRef) -> Self {
            Self(object)
        }

        fn as_object(&self) -> &rt::ObjectRef {
            &self.0
        }
    }

    impl ::std::convert::From<AccountRef_> for rt::ObjectRef {
        fn from(reference: AccountRef_) -> Self {
            reference.0
        }
    }

    impl rt::Nilable for AccountRef_ {
        fn encode_nilable(
            value: ::std::option::Option<&Self>,
            w: &mut rt::Writer<'_>,
        ) -> ::std::result::Result<(), rt::EncodeError> {
            rt::encode_reference(value, w)
        }

        fn decode_nilable(
            r: &mut rt::Reader<'_>,
        ) -> ::std::result::Result<::std::option::Option<Self>, rt::DecodeError> {
            rt::decode_reference(r)
        }
    }

    /// What is defined inside `Names::Account`.
    pub mod account {
        use ::throughline::rt;

        /// `IDL:Names/Account/Inside:1.0`
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub struct Inside {
            /// `Names::AccountRef taken`
            pub taken: super::AccountRef,
        }

        impl rt::Encode for Inside {
            fn encode(&self, w: &mut rt::Writer<'_>) -> Result<(), rt::EncodeError> {
                rt::Encode::encode(&self.taken, w)
            }
        }

        impl<'a> rt::Decode<'a> for Inside {
            const MIN_SIZE: usize = 4;

            fn decode(r: &mut rt::Reader<'a>) -> Result<Self, rt::DecodeError> {
                Ok(Self { taken: rt::Decode::decode(r)? })
            }
        }

        /// `const long LIMIT`
        pub const LIMIT: i32 = 5;

        /// `IDL:Names/Account/Failed:1.0`
        #[derive(Clone, Debug, PartialEq)]
        pub struct Failed {
            /// `Names::Account::Inside what`
            pub what: Inside,
        }

        impl rt::Encode for Failed {
            fn encode(&self, w: &mut rt::Writer<'_>) -> Result<(), rt::EncodeError> {
                rt::Encode::encode(&self.what, w)
            }
        }

        impl<'a> rt::Decode<'a> for Failed {
            const MIN_SIZE: usize = 4;

            fn decode(r: &mut rt::Reader<'a>) -> Result<Self, rt::DecodeError> {
                Ok(Self { what: rt::Decode::decode(r)? })
            }
        }

        impl rt::UserException for Failed {
            const REPOSITORY_ID: &'static str = "IDL:Names/Account/Failed:1.0";
        }

        impl ::std::fmt::Display for Failed {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.debug_struct("Names::Account::Failed").field("what", &self.what).finish()
            }
        }

        impl ::std::error::Error for Failed {}
    }

    /// What `Names::Hygiene::super` can fail with.
    #[derive(Clone, Debug, PartialEq)]
    pub enum HygieneSuperError {
        /// `IDL:Names/Box:1.0`
        Box(Box),
        /// The call did not reach the object, or came to no regular end.
        System(rt::SystemException),
    }

    impl ::std::convert::From<Box> for HygieneSuperError {
        fn from(exception: Box) -> Self {
            Self::Box(exception)
        }
    }

    impl ::std::convert::From<rt::SystemException> for HygieneSuperError {
        fn from(exception: rt::SystemException) -> Self {
            Self::System(exception)
        }
    }

    impl ::std::fmt::Display for HygieneSuperError {
        fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
            match self {
                Self::Box(exception) => ::std::fmt::Display::fmt(exception, f),
                Self::System(exception) => ::std::fmt::Display::fmt(exception, f),
            }
        }
    }

    impl ::std::error::Error for HygieneSuperError {}

    impl rt::OperationError for HygieneSuperError {
        fn decode_user(
            id: &str,
            r: &mut rt::Reader<'_>,
        ) -> ::std::option::Option<::std::result::Result<Self, rt::DecodeError>> {
            match id {
                "IDL:Names/Box:1.0" => ::std::option::Option::Some(rt::Decode::decode(r).map(Self::Box)),
                _ => None,
            }
        }

        fn raise(self, call: &mut rt::ServerCall<'_>) -> rt::Dispatched {
            match self {
                Self::Box(exception) => call.raise(&exception),
                Self::System(exception) => Err(exception),
            }
        }
    }

    /// The servant's side of `IDL:Names/Hygiene:1.0`.
    pub trait Hygiene: ::std::marker::Send + Sync + 'static {
        /// `IDL:Names/Hygiene/servant:1.0`
        fn servant(
            &self,
            servant: i32,
            call: i32,
            r: i32,
            w: i32,
            result: i32,
            error: i32,
        ) -> ::std::result::Result<i32, rt::SystemException>;

        /// `IDL:Names/Hygiene/arguments:1.0`
        ///
        /// Yields `(result, result, r)`.
        fn arguments(
            &self,
            self_: &str,
            operation: &str,
            data: &mut String,
            w: &mut i32,
        ) -> ::std::result::Result<(String, i32, i32), rt::SystemException>;

        /// `IDL:Names/Hygiene/super:1.0`
        fn super_(
            &self,
            crate_: &[Option],
            rt: &mut Vec,
            r: &mut Vec,
        ) -> ::std::result::Result<Vec, HygieneSuperError>;

        /// `IDL:Names/Hygiene/ok:1.0`
        fn ok(&self) -> ::std::result::Result<i32, rt::SystemException>;

        /// `IDL:Names/Hygiene/aB:1.0`
        fn a_b(&self, a_b: i32, a_b_: i32) -> ::std::result::Result<i32, rt::SystemException>;
    }

    impl<S_: Hygiene + ?Sized> Hygiene for ::std::sync::Arc<S_> {
        fn servant(
            &self,
            servant: i32,
            call: i32,
            r: i32,
            w: i32,
            result: i32,
            error: i32,
        ) -> ::std::result::Result<i32, rt::SystemException> {
            (**self).servant(servant, call, r, w, result, error)
        }

        fn arguments(
            &self,
            self_: &str,
            operation: &str,
            data: &mut String,
            w: &mut i32,
        ) -> ::std::result::Result<(String, i32, i32), rt::SystemException> {
            (**self).arguments(self_, operation, data, w)
        }

        fn super_(
            &self,
            crate_: &[Option],
            rt: &mut Vec,
            r: &mut Vec,
        ) -> ::std::result::Result<Vec, HygieneSuperError> {
            (**self).super_(crate_, rt, r)
        }

        fn ok(&self) -> ::std::result::Result<i32, rt::SystemException> {
            (**self).ok()
        }

        fn a_b(&self, a_b: i32, a_b_: i32) -> ::std::result::Result<i32, rt::SystemException> {
            (**self).a_b(a_b, a_b_)
        }
    }

    /// Lets an adapter serve an implementation of [`Hygiene`].
    #[derive(Clone, Debug)]
    pub struct HygieneSkeleton<S_>(pub S_);

    impl<S_: Hygiene> rt::Skeleton for HygieneSkeleton<S_> {
        fn interface(&self) -> &'static rt::Interface {
            &HYGIENE
        }

        fn invoke(&self, operation: u32, call: &mut rt::ServerCall<'_>) -> rt::Dispatched {
            match operation {
                0 => hygiene_skeleton::servant(&self.0, call),
                1 => hygiene_skeleton::arguments(&self.0, call),
                2 => hygiene_skeleton::super_(&self.0, call),
                3 => hygiene_skeleton::ok(&self.0, call),
                4 => hygiene_skeleton::a_b(&self.0, call),
                _ => call.implicit(&HYGIENE, operation),
            }
        }
    }

    impl<S_: Hygiene> rt::TypedSkeleton for HygieneSkeleton<S_> {
        type Reference = HygieneRef;
    }

    /// Skeletons of the operations of `Names::Hygiene`.
    pub mod hygiene_skeleton {
        use ::throughline::rt;

        /// Serves `servant`.
        pub fn servant<S: super::Hygiene + ?Sized>(
            servant_: &S,
            call_: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            let r_ = call_.arguments();
            let servant: i32 = rt::Decode::decode(r_)?;
            let call: i32 = rt::Decode::decode(r_)?;
            let r: i32 = rt::Decode::decode(r_)?;
            let w: i32 = rt::Decode::decode(r_)?;
            let result: i32 = rt::Decode::decode(r_)?;
            let error: i32 = rt::Decode::decode(r_)?;
            match servant_.servant(servant, call, r, w, result, error) {
                Ok(result_) => call_.reply(|w_| rt::Encode::encode(&result_, w_)),
                Err(error_) => Err(error_),
            }
        }

        /// Serves `arguments`.
        pub fn arguments<S: super::Hygiene + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            let r_ = call.arguments();
            let self_ = r_.read_string()?;
            let operation = r_.read_string()?;
            let mut data: String = rt::Decode::decode(r_)?;
            let mut w: i32 = rt::Decode::decode(r_)?;
            match servant.arguments(&self_, &operation, &mut data, &mut w) {
                Ok((result_, result, r)) => call.reply(|w_| {
                    rt::Encode::encode(&result_, w_)?;
                    rt::Encode::encode(&data, w_)?;
                    rt::Encode::encode(&w, w_)?;
                    rt::Encode::encode(&result, w_)?;
                    rt::Encode::encode(&r, w_)
                }),
                Err(error) => Err(error),
            }
        }

        /// Serves `super`.
        pub fn super_<S: super::Hygiene + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            let r_ = call.arguments();
            let crate_: super::Vec = rt::Decode::decode(r_)?;
            let mut rt: super::Vec = rt::Decode::decode(r_)?;
            let mut r: super::Vec = rt::Decode::decode(r_)?;
            match servant.super_(&crate_, &mut rt, &mut r) {
                Ok(result) => call.reply(|w| {
                    rt::Encode::encode(&result, w)?;
                    rt::Encode::encode(&rt, w)?;
                    rt::Encode::encode(&r, w)
                }),
                Err(error) => rt::OperationError::raise(error, call),
            }
        }

        /// Serves `ok`.
        pub fn ok<S: super::Hygiene + ?Sized>(servant: &S, call: &mut rt::ServerCall<'_>) -> rt::Dispatched {
            match servant.ok() {
                Ok(ok) => call.reply(|w| rt::Encode::encode(&ok, w)),
                Err(error) => Err(error),
            }
        }

        /// Serves `aB`.
        pub fn a_b<S: super::Hygiene + ?Sized>(servant: &S, call: &mut rt::ServerCall<'_>) -> rt::Dispatched {
            let r = call.arguments();
            let a_b: i32 = rt::Decode::decode(r)?;
            let a_b_: i32 = rt::Decode::decode(r)?;
            match servant.a_b(a_b, a_b_) {
                Ok(result) => call.reply(|w| rt::Encode::encode(&result, w)),
                Err(error) => Err(error),
            }
        }
    }

    /// What the runtime knows of `IDL:Names/Hygiene:1.0`.
    pub static HYGIENE: rt::Interface = rt::Interface {
        repository_id: "IDL:Names/Hygiene:1.0",
        ancestors: &["IDL:Names/Hygiene:1.0"],
        operations: rt::OperationTable::new(rt::NameTable::new(
            &[
                "servant",
                "arguments",
                "super",
                "ok",
                "aB",
                "_is_a",
                "_non_existent",
                "_interface",
                "_component",
                "_repository_id",
                "_not_existent",
            ],
            16294208416658607535,
            &[746756799, 2250350655, 1, 1405853453],
            &[6, 10, 5, 7, 8, 0, 0, 2, 3, 0, 0, 4, 1, 9, 0, 0],
        )),
    };

    /// A reference to an object of `IDL:Names/Hygiene:1.0`.
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    pub struct HygieneRef(rt::ObjectRef);

    #[allow(clippy::redundant_closure)]
    impl HygieneRef {
        /// The object as one of this interface, or `None` if it is of another. Asks the object itself unless the
        /// reference tells.
        pub fn narrow(
            object: &rt::ObjectRef,
        ) -> ::std::result::Result<::std::option::Option<Self>, rt::SystemException> {
            object.narrow()
        }

        /// `IDL:Names/Hygiene/servant:1.0`
        pub fn servant(
            &self,
            servant: i32,
            call: i32,
            r: i32,
            w: i32,
            result: i32,
            error: i32,
        ) -> ::std::result::Result<i32, rt::SystemException> {
            self.0.call(
                rt::Operation::new("servant", 0),
                |w_| {
                    rt::Encode::encode(&servant, w_)?;
                    rt::Encode::encode(&call, w_)?;
                    rt::Encode::encode(&r, w_)?;
                    rt::Encode::encode(&w, w_)?;
                    rt::Encode::encode(&result, w_)?;
                    rt::Encode::encode(&error, w_)
                },
                |r| rt::Decode::decode(r),
            )
        }

        /// [`servant`](Self::servant), as a future.
        pub fn servant_async(
            &self,
            servant: i32,
            call: i32,
            r: i32,
            w: i32,
            result: i32,
            error: i32,
        ) -> impl ::std::future::Future<Output = ::std::result::Result<i32, rt::SystemException>>
        + ::std::marker::Send
        + use<> {
            self.0
                .call_async(
                    rt::Operation::new("servant", 0),
                    |w_| {
                        rt::Encode::encode(&servant, w_)?;
                        rt::Encode::encode(&call, w_)?;
                        rt::Encode::encode(&r, w_)?;
                        rt::Encode::encode(&w, w_)?;
                        rt::Encode::encode(&result, w_)?;
                        rt::Encode::encode(&error, w_)
                    },
                    |r| rt::Decode::decode(r),
                )
                .rewriting(|r, w| {
                    rt::rewrite::<i32>(r, w)?;
                    rt::rewrite::<i32>(r, w)?;
                    rt::rewrite::<i32>(r, w)?;
                    rt::rewrite::<i32>(r, w)?;
                    rt::rewrite::<i32>(r, w)?;
                    rt::rewrite::<i32>(r, w)
                })
        }

        /// `IDL:Names/Hygiene/arguments:1.0`
        ///
        /// Yields `(result, result, r)`.
        pub fn arguments(
            &self,
            self_: &str,
            operation: &str,
            data: &mut String,
            w: &mut i32,
        ) -> ::std::result::Result<(String, i32, i32), rt::SystemException> {
            self.0.call_inout(
                rt::Operation::new("arguments", 1),
                &mut (data, w),
                |(data, w), w_| {
                    rt::Encode::encode(self_, w_)?;
                    rt::Encode::encode(operation, w_)?;
                    rt::Encode::encode(&**data, w_)?;
                    rt::Encode::encode(&**w, w_)
                },
                |(data, w), r_| {
                    let result_ = rt::Decode::decode(r_)?;
                    rt::Decode::decode_into(*data, r_)?;
                    rt::Decode::decode_into(*w, r_)?;
                    let result = rt::Decode::decode(r_)?;
                    let r = rt::Decode::decode(r_)?;
                    Ok((result_, result, r))
                },
            )
        }

        /// [`arguments`](Self::arguments), as a future.
        ///
        /// Yields `(result, data, w, result, r)`.
        pub fn arguments_async(
            &self,
            self_: &str,
            operation: &str,
            data: String,
            w: i32,
        ) -> impl ::std::future::Future<
            Output = ::std::result::Result<(String, String, i32, i32, i32), rt::SystemException>,
        > + ::std::marker::Send
        + use<> {
            self.0
                .call_async(
                    rt::Operation::new("arguments", 1),
                    |w_| {
                        rt::Encode::encode(self_, w_)?;
                        rt::Encode::encode(operation, w_)?;
                        rt::Encode::encode(&data, w_)?;
                        rt::Encode::encode(&w, w_)
                    },
                    |r| {
                        Ok((
                            rt::Decode::decode(r)?,
                            rt::Decode::decode(r)?,
                            rt::Decode::decode(r)?,
                            rt::Decode::decode(r)?,
                            rt::Decode::decode(r)?,
                        ))
                    },
                )
                .rewriting(|r, w| {
                    rt::rewrite::<String>(r, w)?;
                    rt::rewrite::<String>(r, w)?;
                    rt::rewrite::<String>(r, w)?;
                    rt::rewrite::<i32>(r, w)
                })
        }

        /// `IDL:Names/Hygiene/super:1.0`
        pub fn super_(
            &self,
            crate_: &[Option],
            rt: &mut Vec,
            r: &mut Vec,
        ) -> ::std::result::Result<Vec, HygieneSuperError> {
            self.0.call_inout(
                rt::Operation::new("super", 2),
                &mut (rt, r),
                |(rt, r), w| {
                    rt::Encode::encode(crate_, w)?;
                    rt::Encode::encode(&**rt, w)?;
                    rt::Encode::encode(&**r, w)
                },
                |(rt, r), r_| {
                    let result = rt::Decode::decode(r_)?;
                    rt::Decode::decode_into(*rt, r_)?;
                    rt::Decode::decode_into(*r, r_)?;
                    Ok(result)
                },
            )
        }

        /// [`super_`](Self::super_), as a future.
        ///
        /// Yields `(result, rt, r)`.
        pub fn super_async(
            &self,
            crate_: &[Option],
            rt: Vec,
            r: Vec,
        ) -> impl ::std::future::Future<Output = ::std::result::Result<(Vec, Vec, Vec), HygieneSuperError>>
        + ::std::marker::Send
        + use<> {
            self.0
                .call_async(
                    rt::Operation::new("super", 2),
                    |w| {
                        rt::Encode::encode(crate_, w)?;
                        rt::Encode::encode(&rt, w)?;
                        rt::Encode::encode(&r, w)
                    },
                    |r| Ok((rt::Decode::decode(r)?, rt::Decode::decode(r)?, rt::Decode::decode(r)?)),
                )
                .rewriting(|r, w| {
                    rt::rewrite::<Vec>(r, w)?;
                    rt::rewrite::<Vec>(r, w)?;
                    rt::rewrite::<Vec>(r, w)
                })
        }

        /// `IDL:Names/Hygiene/ok:1.0`
        pub fn ok(&self) -> ::std::result::Result<i32, rt::SystemException> {
            self.0.call(rt::Operation::new("ok", 3), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// [`ok`](Self::ok), as a future.
        pub fn ok_async(
            &self,
        ) -> impl ::std::future::Future<Output = ::std::result::Result<i32, rt::SystemException>>
        + ::std::marker::Send
        + use<> {
            self.0.call_async(rt::Operation::new("ok", 3), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// `IDL:Names/Hygiene/aB:1.0`
        pub fn a_b(&self, a_b: i32, a_b_: i32) -> ::std::result::Result<i32, rt::SystemException> {
            self.0.call(
                rt::Operation::new("aB", 4),
                |w| {
                    rt::Encode::encode(&a_b, w)?;
                    rt::Encode::encode(&a_b_, w)
                },
                |r| rt::Decode::decode(r),
            )
        }

        /// [`a_b`](Self::a_b), as a future.
        pub fn a_b_async(
            &self,
            a_b: i32,
            a_b_: i32,
        ) -> impl ::std::future::Future<Output = ::std::result::Result<i32, rt::SystemException>>
        + ::std::marker::Send
        + use<> {
            self.0
                .call_async(
                    rt::Operation::new("aB", 4),
                    |w| {
                        rt::Encode::encode(&a_b, w)?;
                        rt::Encode::encode(&a_b_, w)
                    },
                    |r| rt::Decode::decode(r),
                )
                .rewriting(|r, w| {
                    rt::rewrite::<i32>(r, w)?;
                    rt::rewrite::<i32>(r, w)
                })
        }
    }

    impl rt::TypedReference for HygieneRef {
        const REPOSITORY_ID: &'static str = "IDL:Names/Hygiene:1.0";

        fn interface() -> &'static rt::Interface {
            &HYGIENE
        }

        fn from_object(object: rt::ObjectRef) -> Self {
            Self(object)
        }

        fn as_object(&self) -> &rt::ObjectRef {
            &self.0
        }
    }

    impl ::std::convert::From<HygieneRef> for rt::ObjectRef {
        fn from(reference: HygieneRef) -> Self {
            reference.0
        }
    }

    impl rt::Nilable for HygieneRef {
        fn encode_nilable(
            value: ::std::option::Option<&Self>,
            w: &mut rt::Writer<'_>,
        ) -> ::std::result::Result<(), rt::EncodeError> {
            rt::encode_reference(value, w)
        }

        fn decode_nilable(
            r: &mut rt::Reader<'_>,
        ) -> ::std::result::Result<::std::option::Option<Self>, rt::DecodeError> {
            rt::decode_reference(r)
        }
    }

    /// The servant's side of `IDL:Names/Keywords:1.0`.
    pub trait Keywords: ::std::marker::Send + Sync + 'static {
        /// `IDL:Names/Keywords/type:1.0`
        fn r#type(&self, r#fn: i32) -> ::std::result::Result<i32, rt::SystemException>;

        /// `IDL:Names/Keywords/match:1.0`
        fn r#match(&self, r#ref: i32) -> ::std::result::Result<i32, rt::SystemException>;

        /// `IDL:Names/Keywords/async:1.0`
        fn r#async(&self, r#await: i32) -> ::std::result::Result<i32, rt::SystemException>;

        /// `IDL:Names/Keywords/self:1.0`
        fn self_(&self, self_: i32) -> ::std::result::Result<i32, rt::SystemException>;

        /// `IDL:Names/Keywords/crate:1.0`
        fn crate_(&self, r#use: i32, r#where: i32) -> ::std::result::Result<i32, rt::SystemException>;

        /// `IDL:Names/Keywords/dyn:1.0`
        fn r#dyn(&self, r#box: i32) -> ::std::result::Result<i32, rt::SystemException>;

        /// `IDL:Names/Keywords/loop:1.0`
        fn r#loop(&self) -> ::std::result::Result<i32, rt::SystemException>;

        /// `IDL:Names/Keywords/loop:1.0`
        fn set_loop(&self, value: i32) -> ::std::result::Result<(), rt::SystemException>;

        /// `IDL:Names/Keywords/while:1.0`
        fn r#while(&self) -> ::std::result::Result<i32, rt::SystemException>;

        /// `IDL:Names/Keywords/while:1.0`
        fn set_while(&self, value: i32) -> ::std::result::Result<(), rt::SystemException>;

        /// `IDL:Names/Keywords/impl:1.0`
        fn r#impl(&self) -> ::std::result::Result<i32, rt::SystemException>;

        /// `IDL:Names/Keywords/interface:1.0`
        fn interface(&self, r#in: i32) -> ::std::result::Result<i32, rt::SystemException>;
    }

    impl<S_: Keywords + ?Sized> Keywords for ::std::sync::Arc<S_> {
        fn r#type(&self, r#fn: i32) -> ::std::result::Result<i32, rt::SystemException> {
            (**self).r#type(r#fn)
        }

        fn r#match(&self, r#ref: i32) -> ::std::result::Result<i32, rt::SystemException> {
            (**self).r#match(r#ref)
        }

        fn r#async(&self, r#await: i32) -> ::std::result::Result<i32, rt::SystemException> {
            (**self).r#async(r#await)
        }

        fn self_(&self, self_: i32) -> ::std::result::Result<i32, rt::SystemException> {
            (**self).self_(self_)
        }

        fn crate_(&self, r#use: i32, r#where: i32) -> ::std::result::Result<i32, rt::SystemException> {
            (**self).crate_(r#use, r#where)
        }

        fn r#dyn(&self, r#box: i32) -> ::std::result::Result<i32, rt::SystemException> {
            (**self).r#dyn(r#box)
        }

        fn r#loop(&self) -> ::std::result::Result<i32, rt::SystemException> {
            (**self).r#loop()
        }

        fn set_loop(&self, value: i32) -> ::std::result::Result<(), rt::SystemException> {
            (**self).set_loop(value)
        }

        fn r#while(&self) -> ::std::result::Result<i32, rt::SystemException> {
            (**self).r#while()
        }

        fn set_while(&self, value: i32) -> ::std::result::Result<(), rt::SystemException> {
            (**self).set_while(value)
        }

        fn r#impl(&self) -> ::std::result::Result<i32, rt::SystemException> {
            (**self).r#impl()
        }

        fn interface(&self, r#in: i32) -> ::std::result::Result<i32, rt::SystemException> {
            (**self).interface(r#in)
        }
    }

    /// Lets an adapter serve an implementation of [`Keywords`].
    #[derive(Clone, Debug)]
    pub struct KeywordsSkeleton<S_>(pub S_);

    impl<S_: Keywords> rt::Skeleton for KeywordsSkeleton<S_> {
        fn interface(&self) -> &'static rt::Interface {
            &KEYWORDS
        }

        fn invoke(&self, operation: u32, call: &mut rt::ServerCall<'_>) -> rt::Dispatched {
            match operation {
                0 => keywords_skeleton::r#type(&self.0, call),
                1 => keywords_skeleton::r#match(&self.0, call),
                2 => keywords_skeleton::r#async(&self.0, call),
                3 => keywords_skeleton::self_(&self.0, call),
                4 => keywords_skeleton::crate_(&self.0, call),
                5 => keywords_skeleton::r#dyn(&self.0, call),
                6 => keywords_skeleton::r#loop(&self.0, call),
                7 => keywords_skeleton::set_loop(&self.0, call),
                8 => keywords_skeleton::r#while(&self.0, call),
                9 => keywords_skeleton::set_while(&self.0, call),
                10 => keywords_skeleton::r#impl(&self.0, call),
                11 => keywords_skeleton::interface(&self.0, call),
                _ => call.implicit(&KEYWORDS, operation),
            }
        }
    }

    impl<S_: Keywords> rt::TypedSkeleton for KeywordsSkeleton<S_> {
        type Reference = KeywordsRef;
    }

    /// Skeletons of the operations of `Names::Keywords`.
    pub mod keywords_skeleton {
        use ::throughline::rt;

        /// Serves `type`.
        pub fn r#type<S: super::Keywords + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            let r = call.arguments();
            let r#fn: i32 = rt::Decode::decode(r)?;
            match servant.r#type(r#fn) {
                Ok(result) => call.reply(|w| rt::Encode::encode(&result, w)),
                Err(error) => Err(error),
            }
        }

        /// Serves `match`.
        pub fn r#match<S: super::Keywords + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            let r = call.arguments();
            let r#ref: i32 = rt::Decode::decode(r)?;
            match servant.r#match(r#ref) {
                Ok(result) => call.reply(|w| rt::Encode::encode(&result, w)),
                Err(error) => Err(error),
            }
        }

        /// Serves `async`.
        pub fn r#async<S: super::Keywords + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            let r = call.arguments();
            let r#await: i32 = rt::Decode::decode(r)?;
            match servant.r#async(r#await) {
                Ok(result) => call.reply(|w| rt::Encode::encode(&result, w)),
                Err(error) => Err(error),
            }
        }

        /// Serves `self`.
        pub fn self_<S: super::Keywords + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            let r = call.arguments();
            let self_: i32 = rt::Decode::decode(r)?;
            match servant.self_(self_) {
                Ok(result) => call.reply(|w| rt::Encode::encode(&result, w)),
                Err(error) => Err(error),
            }
        }

        /// Serves `crate`.
        pub fn crate_<S: super::Keywords + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            let r = call.arguments();
            let r#use: i32 = rt::Decode::decode(r)?;
            let r#where: i32 = rt::Decode::decode(r)?;
            match servant.crate_(r#use, r#where) {
                Ok(result) => call.reply(|w| rt::Encode::encode(&result, w)),
                Err(error) => Err(error),
            }
        }

        /// Serves `dyn`.
        pub fn r#dyn<S: super::Keywords + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            let r = call.arguments();
            let r#box: i32 = rt::Decode::decode(r)?;
            match servant.r#dyn(r#box) {
                Ok(result) => call.reply(|w| rt::Encode::encode(&result, w)),
                Err(error) => Err(error),
            }
        }

        /// Serves `_get_loop`.
        pub fn r#loop<S: super::Keywords + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            match servant.r#loop() {
                Ok(result) => call.reply(|w| rt::Encode::encode(&result, w)),
                Err(error) => Err(error),
            }
        }

        /// Serves `_set_loop`.
        pub fn set_loop<S: super::Keywords + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            let r = call.arguments();
            let value: i32 = rt::Decode::decode(r)?;
            match servant.set_loop(value) {
                Ok(()) => call.reply(|_| Ok(())),
                Err(error) => Err(error),
            }
        }

        /// Serves `_get_while`.
        pub fn r#while<S: super::Keywords + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            match servant.r#while() {
                Ok(result) => call.reply(|w| rt::Encode::encode(&result, w)),
                Err(error) => Err(error),
            }
        }

        /// Serves `_set_while`.
        pub fn set_while<S: super::Keywords + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            let r = call.arguments();
            let value: i32 = rt::Decode::decode(r)?;
            match servant.set_while(value) {
                Ok(()) => call.reply(|_| Ok(())),
                Err(error) => Err(error),
            }
        }

        /// Serves `_get_impl`.
        pub fn r#impl<S: super::Keywords + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            match servant.r#impl() {
                Ok(result) => call.reply(|w| rt::Encode::encode(&result, w)),
                Err(error) => Err(error),
            }
        }

        /// Serves `interface`.
        pub fn interface<S: super::Keywords + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            let r = call.arguments();
            let r#in: i32 = rt::Decode::decode(r)?;
            match servant.interface(r#in) {
                Ok(result) => call.reply(|w| rt::Encode::encode(&result, w)),
                Err(error) => Err(error),
            }
        }
    }

    /// What the runtime knows of `IDL:Names/Keywords:1.0`.
    pub static KEYWORDS: rt::Interface = rt::Interface {
        repository_id: "IDL:Names/Keywords:1.0",
        ancestors: &["IDL:Names/Keywords:1.0"],
        operations: rt::OperationTable::new(rt::NameTable::new(
            &[
                "type",
                "match",
                "async",
                "self",
                "crate",
                "dyn",
                "_get_loop",
                "_set_loop",
                "_get_while",
                "_set_while",
                "_get_impl",
                "interface",
                "_is_a",
                "_non_existent",
                "_interface",
                "_component",
                "_repository_id",
                "_not_existent",
            ],
            16294208416658607535,
            &[3793791033, 3793791033, 1, 3793791033, 1853398635, 113532185, 3793791033, 3268617953],
            &[
                0, 2, 8, 15, 0, 0, 0, 0, 0, 6, 0, 0, 0, 13, 0, 3, 16, 1, 4, 14, 0, 5, 11, 17, 0, 12, 0, 0, 9,
                10, 7, 0,
            ],
        )),
    };

    /// A reference to an object of `IDL:Names/Keywords:1.0`.
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    pub struct KeywordsRef(rt::ObjectRef);

    #[allow(clippy::redundant_closure)]
    impl KeywordsRef {
        /// The object as one of this interface, or `None` if it is of another. Asks the object itself unless the
        /// reference tells.
        pub fn narrow(
            object: &rt::ObjectRef,
        ) -> ::std::result::Result<::std::option::Option<Self>, rt::SystemException> {
            object.narrow()
        }

        /// `IDL:Names/Keywords/type:1.0`
        pub fn r#type(&self, r#fn: i32) -> ::std::result::Result<i32, rt::SystemException> {
            self.0.call(
                rt::Operation::new("type", 0),
                |w| rt::Encode::encode(&r#fn, w),
                |r| rt::Decode::decode(r),
            )
        }

        /// `type`, as a future.
        pub fn type_async(
            &self,
            r#fn: i32,
        ) -> impl ::std::future::Future<Output = ::std::result::Result<i32, rt::SystemException>>
        + ::std::marker::Send
        + use<> {
            self.0
                .call_async(
                    rt::Operation::new("type", 0),
                    |w| rt::Encode::encode(&r#fn, w),
                    |r| rt::Decode::decode(r),
                )
                .rewriting(rt::rewrite::<i32>)
        }

        /// `IDL:Names/Keywords/match:1.0`
        pub fn r#match(&self, r#ref: i32) -> ::std::result::Result<i32, rt::SystemException> {
            self.0.call(
                rt::Operation::new("match", 1),
                |w| rt::Encode::encode(&r#ref, w),
                |r| rt::Decode::decode(r),
            )
        }

        /// `match`, as a future.
        pub fn match_async(
            &self,
            r#ref: i32,
        ) -> impl ::std::future::Future<Output = ::std::result::Result<i32, rt::SystemException>>
        + ::std::marker::Send
        + use<> {
            self.0
                .call_async(
                    rt::Operation::new("match", 1),
                    |w| rt::Encode::encode(&r#ref, w),
                    |r| rt::Decode::decode(r),
                )
                .rewriting(rt::rewrite::<i32>)
        }

        /// `IDL:Names/Keywords/async:1.0`
        pub fn r#async(&self, r#await: i32) -> ::std::result::Result<i32, rt::SystemException> {
            self.0.call(
                rt::Operation::new("async", 2),
                |w| rt::Encode::encode(&r#await, w),
                |r| rt::Decode::decode(r),
            )
        }

        /// `async`, as a future.
        pub fn async_async(
            &self,
            r#await: i32,
        ) -> impl ::std::future::Future<Output = ::std::result::Result<i32, rt::SystemException>>
        + ::std::marker::Send
        + use<> {
            self.0
                .call_async(
                    rt::Operation::new("async", 2),
                    |w| rt::Encode::encode(&r#await, w),
                    |r| rt::Decode::decode(r),
                )
                .rewriting(rt::rewrite::<i32>)
        }

        /// `IDL:Names/Keywords/self:1.0`
        pub fn self_(&self, self_: i32) -> ::std::result::Result<i32, rt::SystemException> {
            self.0.call(
                rt::Operation::new("self", 3),
                |w| rt::Encode::encode(&self_, w),
                |r| rt::Decode::decode(r),
            )
        }

        /// [`self_`](Self::self_), as a future.
        pub fn self_async(
            &self,
            self_: i32,
        ) -> impl ::std::future::Future<Output = ::std::result::Result<i32, rt::SystemException>>
        + ::std::marker::Send
        + use<> {
            self.0
                .call_async(
                    rt::Operation::new("self", 3),
                    |w| rt::Encode::encode(&self_, w),
                    |r| rt::Decode::decode(r),
                )
                .rewriting(rt::rewrite::<i32>)
        }

        /// `IDL:Names/Keywords/crate:1.0`
        pub fn crate_(&self, r#use: i32, r#where: i32) -> ::std::result::Result<i32, rt::SystemException> {
            self.0.call(
                rt::Operation::new("crate", 4),
                |w| {
                    rt::Encode::encode(&r#use, w)?;
                    rt::Encode::encode(&r#where, w)
                },
                |r| rt::Decode::decode(r),
            )
        }

        /// [`crate_`](Self::crate_), as a future.
        pub fn crate_async(
            &self,
            r#use: i32,
            r#where: i32,
        ) -> impl ::std::future::Future<Output = ::std::result::Result<i32, rt::SystemException>>
        + ::std::marker::Send
        + use<> {
            self.0
                .call_async(
                    rt::Operation::new("crate", 4),
                    |w| {
                        rt::Encode::encode(&r#use, w)?;
                        rt::Encode::encode(&r#where, w)
                    },
                    |r| rt::Decode::decode(r),
                )
                .rewriting(|r, w| {
                    rt::rewrite::<i32>(r, w)?;
                    rt::rewrite::<i32>(r, w)
                })
        }

        /// `IDL:Names/Keywords/dyn:1.0`
        pub fn r#dyn(&self, r#box: i32) -> ::std::result::Result<i32, rt::SystemException> {
            self.0.call(
                rt::Operation::new("dyn", 5),
                |w| rt::Encode::encode(&r#box, w),
                |r| rt::Decode::decode(r),
            )
        }

        /// `dyn`, as a future.
        pub fn dyn_async(
            &self,
            r#box: i32,
        ) -> impl ::std::future::Future<Output = ::std::result::Result<i32, rt::SystemException>>
        + ::std::marker::Send
        + use<> {
            self.0
                .call_async(
                    rt::Operation::new("dyn", 5),
                    |w| rt::Encode::encode(&r#box, w),
                    |r| rt::Decode::decode(r),
                )
                .rewriting(rt::rewrite::<i32>)
        }

        /// `IDL:Names/Keywords/loop:1.0`
        pub fn r#loop(&self) -> ::std::result::Result<i32, rt::SystemException> {
            self.0.call(rt::Operation::new("_get_loop", 6), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// `loop`, as a future.
        pub fn loop_async(
            &self,
        ) -> impl ::std::future::Future<Output = ::std::result::Result<i32, rt::SystemException>>
        + ::std::marker::Send
        + use<> {
            self.0.call_async(rt::Operation::new("_get_loop", 6), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// `IDL:Names/Keywords/loop:1.0`
        pub fn set_loop(&self, value: i32) -> ::std::result::Result<(), rt::SystemException> {
            self.0.call(rt::Operation::new("_set_loop", 7), |w| rt::Encode::encode(&value, w), |_| Ok(()))
        }

        /// [`set_loop`](Self::set_loop), as a future.
        pub fn set_loop_async(
            &self,
            value: i32,
        ) -> impl ::std::future::Future<Output = ::std::result::Result<(), rt::SystemException>>
        + ::std::marker::Send
        + use<> {
            self.0
                .call_async(rt::Operation::new("_set_loop", 7), |w| rt::Encode::encode(&value, w), |_| Ok(()))
                .rewriting(rt::rewrite::<i32>)
        }

        /// `IDL:Names/Keywords/while:1.0`
        pub fn r#while(&self) -> ::std::result::Result<i32, rt::SystemException> {
            self.0.call(rt::Operation::new("_get_while", 8), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// `while`, as a future.
        pub fn while_async(
            &self,
        ) -> impl ::std::future::Future<Output = ::std::result::Result<i32, rt::SystemException>>
        + ::std::marker::Send
        + use<> {
            self.0.call_async(rt::Operation::new("_get_while", 8), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// `IDL:Names/Keywords/while:1.0`
        pub fn set_while(&self, value: i32) -> ::std::result::Result<(), rt::SystemException> {
            self.0.call(rt::Operation::new("_set_while", 9), |w| rt::Encode::encode(&value, w), |_| Ok(()))
        }

        /// [`set_while`](Self::set_while), as a future.
        pub fn set_while_async(
            &self,
            value: i32,
        ) -> impl ::std::future::Future<Output = ::std::result::Result<(), rt::SystemException>>
        + ::std::marker::Send
        + use<> {
            self.0
                .call_async(
                    rt::Operation::new("_set_while", 9),
                    |w| rt::Encode::encode(&value, w),
                    |_| Ok(()),
                )
                .rewriting(rt::rewrite::<i32>)
        }

        /// `IDL:Names/Keywords/impl:1.0`
        pub fn r#impl(&self) -> ::std::result::Result<i32, rt::SystemException> {
            self.0.call(rt::Operation::new("_get_impl", 10), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// `impl`, as a future.
        pub fn impl_async(
            &self,
        ) -> impl ::std::future::Future<Output = ::std::result::Result<i32, rt::SystemException>>
        + ::std::marker::Send
        + use<> {
            self.0.call_async(rt::Operation::new("_get_impl", 10), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// `IDL:Names/Keywords/interface:1.0`
        pub fn interface(&self, r#in: i32) -> ::std::result::Result<i32, rt::SystemException> {
            self.0.call(
                rt::Operation::new("interface", 11),
                |w| rt::Encode::encode(&r#in, w),
                |r| rt::Decode::decode(r),
            )
        }

        /// [`interface`](Self::interface), as a future.
        pub fn interface_async(
            &self,
            r#in: i32,
        ) -> impl ::std::future::Future<Output = ::std::result::Result<i32, rt::SystemException>>
        + ::std::marker::Send
        + use<> {
            self.0
                .call_async(
                    rt::Operation::new("interface", 11),
                    |w| rt::Encode::encode(&r#in, w),
                    |r| rt::Decode::decode(r),
                )
                .rewriting(rt::rewrite::<i32>)
        }
    }

    impl rt::TypedReference for KeywordsRef {
        const REPOSITORY_ID: &'static str = "IDL:Names/Keywords:1.0";

        fn interface() -> &'static rt::Interface {
            &KEYWORDS
        }

        fn from_object(object: rt::ObjectRef) -> Self {
            Self(object)
        }

        fn as_object(&self) -> &rt::ObjectRef {
            &self.0
        }
    }

    impl ::std::convert::From<KeywordsRef> for rt::ObjectRef {
        fn from(reference: KeywordsRef) -> Self {
            reference.0
        }
    }

    impl rt::Nilable for KeywordsRef {
        fn encode_nilable(
            value: ::std::option::Option<&Self>,
            w: &mut rt::Writer<'_>,
        ) -> ::std::result::Result<(), rt::EncodeError> {
            rt::encode_reference(value, w)
        }

        fn decode_nilable(
            r: &mut rt::Reader<'_>,
        ) -> ::std::result::Result<::std::option::Option<Self>, rt::DecodeError> {
            rt::decode_reference(r)
        }
    }

    /// Methods that references have already, and those that clippy has an opinion on.
    pub trait Methods: ::std::marker::Send + Sync + 'static {
        /// `IDL:Names/Methods/clone:1.0`
        fn clone_(&self) -> ::std::result::Result<i32, rt::SystemException>;

        /// `IDL:Names/Methods/drop:1.0`
        fn drop(&self) -> ::std::result::Result<i32, rt::SystemException>;

        /// `IDL:Names/Methods/from:1.0`
        #[allow(clippy::wrong_self_convention)]
        fn from_(&self, n: i32) -> ::std::result::Result<i32, rt::SystemException>;

        /// `IDL:Names/Methods/into:1.0`
        #[allow(clippy::wrong_self_convention)]
        fn into_(&self) -> ::std::result::Result<i32, rt::SystemException>;

        /// `IDL:Names/Methods/eq:1.0`
        fn eq_(&self, other: i32) -> ::std::result::Result<i32, rt::SystemException>;

        /// `IDL:Names/Methods/fmt:1.0`
        fn fmt_(&self) -> ::std::result::Result<i32, rt::SystemException>;

        /// `IDL:Names/Methods/narrow:1.0`
        fn narrow_(&self, n: i32) -> ::std::result::Result<i32, rt::SystemException>;

        /// `IDL:Names/Methods/as_object:1.0`
        fn as_object_(&self) -> ::std::result::Result<i32, rt::SystemException>;

        /// `IDL:Names/Methods/from_object:1.0`
        #[allow(clippy::wrong_self_convention)]
        fn from_object_(&self, n: i32) -> ::std::result::Result<i32, rt::SystemException>;

        /// `IDL:Names/Methods/new:1.0`
        #[allow(clippy::new_ret_no_self, clippy::wrong_self_convention)]
        fn new(&self) -> ::std::result::Result<i32, rt::SystemException>;

        /// `IDL:Names/Methods/next:1.0`
        fn next(&self) -> ::std::result::Result<i32, rt::SystemException>;

        /// `IDL:Names/Methods/len:1.0`
        #[allow(clippy::len_without_is_empty)]
        fn len(&self) -> ::std::result::Result<i32, rt::SystemException>;

        /// `IDL:Names/Methods/is_empty:1.0`
        fn is_empty(&self) -> ::std::result::Result<bool, rt::SystemException>;

        /// `IDL:Names/Methods/index:1.0`
        #[allow(clippy::should_implement_trait)]
        fn index(&self, n: i32) -> ::std::result::Result<i32, rt::SystemException>;

        /// `IDL:Names/Methods/to_string:1.0`
        fn to_string(&self) -> ::std::result::Result<i32, rt::SystemException>;

        /// `IDL:Names/Methods/from_text:1.0`
        #[allow(clippy::wrong_self_convention)]
        fn from_text(&self, text: &str) -> ::std::result::Result<i32, rt::SystemException>;

        /// `IDL:Names/Methods/into_text:1.0`
        #[allow(clippy::wrong_self_convention)]
        fn into_text(&self) -> ::std::result::Result<i32, rt::SystemException>;

        /// `IDL:Names/Methods/deref:1.0`
        fn deref(&self) -> ::std::result::Result<i32, rt::SystemException>;

        /// `IDL:Names/Methods/add:1.0`
        fn add(&self, n: i32) -> ::std::result::Result<i32, rt::SystemException>;

        /// `IDL:Names/Methods/neg:1.0`
        fn neg(&self) -> ::std::result::Result<i32, rt::SystemException>;

        /// `IDL:Names/Methods/not:1.0`
        fn not(&self) -> ::std::result::Result<i32, rt::SystemException>;

        /// `IDL:Names/Methods/default:1.0`
        fn default(&self) -> ::std::result::Result<i32, rt::SystemException>;

        /// `IDL:Names/Methods/call:1.0`
        fn call(&self, n: i32) -> ::std::result::Result<i32, rt::SystemException>;

        /// `IDL:Names/Methods/invoke:1.0`
        fn invoke(&self, n: i32) -> ::std::result::Result<i32, rt::SystemException>;

        /// `IDL:Names/Methods/call_async:1.0`
        fn call_async(&self, n: i32) -> ::std::result::Result<i32, rt::SystemException>;

        /// `IDL:Names/Methods/is_a:1.0`
        fn is_a(&self, id: &str) -> ::std::result::Result<i32, rt::SystemException>;

        /// Taken by setters and asynchronous forms.
        fn foo_bar(&self) -> ::std::result::Result<i32, rt::SystemException>;

        /// `IDL:Names/Methods/foo_bar:1.0`
        fn foo_bar_(&self) -> ::std::result::Result<i32, rt::SystemException>;

        /// `IDL:Names/Methods/value:1.0`
        fn value(&self) -> ::std::result::Result<i32, rt::SystemException>;

        /// `IDL:Names/Methods/value:1.0`
        fn set_value_(&self, value: i32) -> ::std::result::Result<(), rt::SystemException>;

        /// `IDL:Names/Methods/set_value:1.0`
        fn set_value(&self, n: i32) -> ::std::result::Result<i32, rt::SystemException>;

        /// `IDL:Names/Methods/fetch:1.0`
        fn fetch(&self) -> ::std::result::Result<i32, rt::SystemException>;

        /// `IDL:Names/Methods/fetch_async:1.0`
        fn fetch_async(&self) -> ::std::result::Result<i32, rt::SystemException>;
    }

    impl<S_: Methods + ?Sized> Methods for ::std::sync::Arc<S_> {
        fn clone_(&self) -> ::std::result::Result<i32, rt::SystemException> {
            (**self).clone_()
        }

        fn drop(&self) -> ::std::result::Result<i32, rt::SystemException> {
            (**self).drop()
        }

        #[allow(clippy::wrong_self_convention)]
        fn from_(&self, n: i32) -> ::std::result::Result<i32, rt::SystemException> {
            (**self).from_(n)
        }

        #[allow(clippy::wrong_self_convention)]
        fn into_(&self) -> ::std::result::Result<i32, rt::SystemException> {
            (**self).into_()
        }

        fn eq_(&self, other: i32) -> ::std::result::Result<i32, rt::SystemException> {
            (**self).eq_(other)
        }

        fn fmt_(&self) -> ::std::result::Result<i32, rt::SystemException> {
            (**self).fmt_()
        }

        fn narrow_(&self, n: i32) -> ::std::result::Result<i32, rt::SystemException> {
            (**self).narrow_(n)
        }

        fn as_object_(&self) -> ::std::result::Result<i32, rt::SystemException> {
            (**self).as_object_()
        }

        #[allow(clippy::wrong_self_convention)]
        fn from_object_(&self, n: i32) -> ::std::result::Result<i32, rt::SystemException> {
            (**self).from_object_(n)
        }

        #[allow(clippy::new_ret_no_self, clippy::wrong_self_convention)]
        fn new(&self) -> ::std::result::Result<i32, rt::SystemException> {
            (**self).new()
        }

        fn next(&self) -> ::std::result::Result<i32, rt::SystemException> {
            (**self).next()
        }

        #[allow(clippy::len_without_is_empty)]
        fn len(&self) -> ::std::result::Result<i32, rt::SystemException> {
            (**self).len()
        }

        fn is_empty(&self) -> ::std::result::Result<bool, rt::SystemException> {
            (**self).is_empty()
        }

        #[allow(clippy::should_implement_trait)]
        fn index(&self, n: i32) -> ::std::result::Result<i32, rt::SystemException> {
            (**self).index(n)
        }

        fn to_string(&self) -> ::std::result::Result<i32, rt::SystemException> {
            (**self).to_string()
        }

        #[allow(clippy::wrong_self_convention)]
        fn from_text(&self, text: &str) -> ::std::result::Result<i32, rt::SystemException> {
            (**self).from_text(text)
        }

        #[allow(clippy::wrong_self_convention)]
        fn into_text(&self) -> ::std::result::Result<i32, rt::SystemException> {
            (**self).into_text()
        }

        fn deref(&self) -> ::std::result::Result<i32, rt::SystemException> {
            (**self).deref()
        }

        fn add(&self, n: i32) -> ::std::result::Result<i32, rt::SystemException> {
            (**self).add(n)
        }

        fn neg(&self) -> ::std::result::Result<i32, rt::SystemException> {
            (**self).neg()
        }

        fn not(&self) -> ::std::result::Result<i32, rt::SystemException> {
            (**self).not()
        }

        fn default(&self) -> ::std::result::Result<i32, rt::SystemException> {
            (**self).default()
        }

        fn call(&self, n: i32) -> ::std::result::Result<i32, rt::SystemException> {
            (**self).call(n)
        }

        fn invoke(&self, n: i32) -> ::std::result::Result<i32, rt::SystemException> {
            (**self).invoke(n)
        }

        fn call_async(&self, n: i32) -> ::std::result::Result<i32, rt::SystemException> {
            (**self).call_async(n)
        }

        fn is_a(&self, id: &str) -> ::std::result::Result<i32, rt::SystemException> {
            (**self).is_a(id)
        }

        fn foo_bar(&self) -> ::std::result::Result<i32, rt::SystemException> {
            (**self).foo_bar()
        }

        fn foo_bar_(&self) -> ::std::result::Result<i32, rt::SystemException> {
            (**self).foo_bar_()
        }

        fn value(&self) -> ::std::result::Result<i32, rt::SystemException> {
            (**self).value()
        }

        fn set_value_(&self, value: i32) -> ::std::result::Result<(), rt::SystemException> {
            (**self).set_value_(value)
        }

        fn set_value(&self, n: i32) -> ::std::result::Result<i32, rt::SystemException> {
            (**self).set_value(n)
        }

        fn fetch(&self) -> ::std::result::Result<i32, rt::SystemException> {
            (**self).fetch()
        }

        fn fetch_async(&self) -> ::std::result::Result<i32, rt::SystemException> {
            (**self).fetch_async()
        }
    }

    /// Lets an adapter serve an implementation of [`Methods`].
    #[derive(Clone, Debug)]
    pub struct MethodsSkeleton<S_>(pub S_);

    impl<S_: Methods> rt::Skeleton for MethodsSkeleton<S_> {
        fn interface(&self) -> &'static rt::Interface {
            &METHODS
        }

        fn invoke(&self, operation: u32, call: &mut rt::ServerCall<'_>) -> rt::Dispatched {
            match operation {
                0 => methods_skeleton::clone_(&self.0, call),
                1 => methods_skeleton::drop(&self.0, call),
                2 => methods_skeleton::from_(&self.0, call),
                3 => methods_skeleton::into_(&self.0, call),
                4 => methods_skeleton::eq_(&self.0, call),
                5 => methods_skeleton::fmt_(&self.0, call),
                6 => methods_skeleton::narrow_(&self.0, call),
                7 => methods_skeleton::as_object_(&self.0, call),
                8 => methods_skeleton::from_object_(&self.0, call),
                9 => methods_skeleton::new(&self.0, call),
                10 => methods_skeleton::next(&self.0, call),
                11 => methods_skeleton::len(&self.0, call),
                12 => methods_skeleton::is_empty(&self.0, call),
                13 => methods_skeleton::index(&self.0, call),
                14 => methods_skeleton::to_string(&self.0, call),
                15 => methods_skeleton::from_text(&self.0, call),
                16 => methods_skeleton::into_text(&self.0, call),
                17 => methods_skeleton::deref(&self.0, call),
                18 => methods_skeleton::add(&self.0, call),
                19 => methods_skeleton::neg(&self.0, call),
                20 => methods_skeleton::not(&self.0, call),
                21 => methods_skeleton::default(&self.0, call),
                22 => methods_skeleton::call(&self.0, call),
                23 => methods_skeleton::invoke(&self.0, call),
                24 => methods_skeleton::call_async(&self.0, call),
                25 => methods_skeleton::is_a(&self.0, call),
                26 => methods_skeleton::foo_bar(&self.0, call),
                27 => methods_skeleton::foo_bar_(&self.0, call),
                28 => methods_skeleton::value(&self.0, call),
                29 => methods_skeleton::set_value_(&self.0, call),
                30 => methods_skeleton::set_value(&self.0, call),
                31 => methods_skeleton::fetch(&self.0, call),
                32 => methods_skeleton::fetch_async(&self.0, call),
                _ => call.implicit(&METHODS, operation),
            }
        }
    }

    impl<S_: Methods> rt::TypedSkeleton for MethodsSkeleton<S_> {
        type Reference = MethodsRef;
    }

    /// Skeletons of the operations of `Names::Methods`.
    pub mod methods_skeleton {
        use ::throughline::rt;

        /// Serves `clone`.
        pub fn clone_<S: super::Methods + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            match servant.clone_() {
                Ok(result) => call.reply(|w| rt::Encode::encode(&result, w)),
                Err(error) => Err(error),
            }
        }

        /// Serves `drop`.
        pub fn drop<S: super::Methods + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            match servant.drop() {
                Ok(result) => call.reply(|w| rt::Encode::encode(&result, w)),
                Err(error) => Err(error),
            }
        }

        /// Serves `from`.
        pub fn from_<S: super::Methods + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            let r = call.arguments();
            let n: i32 = rt::Decode::decode(r)?;
            match servant.from_(n) {
                Ok(result) => call.reply(|w| rt::Encode::encode(&result, w)),
                Err(error) => Err(error),
            }
        }

        /// Serves `into`.
        pub fn into_<S: super::Methods + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            match servant.into_() {
                Ok(result) => call.reply(|w| rt::Encode::encode(&result, w)),
                Err(error) => Err(error),
            }
        }

        /// Serves `eq`.
        pub fn eq_<S: super::Methods + ?Sized>(servant: &S, call: &mut rt::ServerCall<'_>) -> rt::Dispatched {
            let r = call.arguments();
            let other: i32 = rt::Decode::decode(r)?;
            match servant.eq_(other) {
                Ok(result) => call.reply(|w| rt::Encode::encode(&result, w)),
                Err(error) => Err(error),
            }
        }

        /// Serves `fmt`.
        pub fn fmt_<S: super::Methods + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            match servant.fmt_() {
                Ok(result) => call.reply(|w| rt::Encode::encode(&result, w)),
                Err(error) => Err(error),
            }
        }

        /// Serves `narrow`.
        pub fn narrow_<S: super::Methods + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            let r = call.arguments();
            let n: i32 = rt::Decode::decode(r)?;
            match servant.narrow_(n) {
                Ok(result) => call.reply(|w| rt::Encode::encode(&result, w)),
                Err(error) => Err(error),
            }
        }

        /// Serves `as_object`.
        pub fn as_object_<S: super::Methods + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            match servant.as_object_() {
                Ok(result) => call.reply(|w| rt::Encode::encode(&result, w)),
                Err(error) => Err(error),
            }
        }

        /// Serves `from_object`.
        pub fn from_object_<S: super::Methods + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            let r = call.arguments();
            let n: i32 = rt::Decode::decode(r)?;
            match servant.from_object_(n) {
                Ok(result) => call.reply(|w| rt::Encode::encode(&result, w)),
                Err(error) => Err(error),
            }
        }

        /// Serves `new`.
        pub fn new<S: super::Methods + ?Sized>(servant: &S, call: &mut rt::ServerCall<'_>) -> rt::Dispatched {
            match servant.new() {
                Ok(result) => call.reply(|w| rt::Encode::encode(&result, w)),
                Err(error) => Err(error),
            }
        }

        /// Serves `next`.
        pub fn next<S: super::Methods + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            match servant.next() {
                Ok(result) => call.reply(|w| rt::Encode::encode(&result, w)),
                Err(error) => Err(error),
            }
        }

        /// Serves `len`.
        pub fn len<S: super::Methods + ?Sized>(servant: &S, call: &mut rt::ServerCall<'_>) -> rt::Dispatched {
            match servant.len() {
                Ok(result) => call.reply(|w| rt::Encode::encode(&result, w)),
                Err(error) => Err(error),
            }
        }

        /// Serves `is_empty`.
        pub fn is_empty<S: super::Methods + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            match servant.is_empty() {
                Ok(result) => call.reply(|w| rt::Encode::encode(&result, w)),
                Err(error) => Err(error),
            }
        }

        /// Serves `index`.
        pub fn index<S: super::Methods + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            let r = call.arguments();
            let n: i32 = rt::Decode::decode(r)?;
            match servant.index(n) {
                Ok(result) => call.reply(|w| rt::Encode::encode(&result, w)),
                Err(error) => Err(error),
            }
        }

        /// Serves `to_string`.
        pub fn to_string<S: super::Methods + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            match servant.to_string() {
                Ok(result) => call.reply(|w| rt::Encode::encode(&result, w)),
                Err(error) => Err(error),
            }
        }

        /// Serves `from_text`.
        pub fn from_text<S: super::Methods + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            let r = call.arguments();
            let text = r.read_string()?;
            match servant.from_text(&text) {
                Ok(result) => call.reply(|w| rt::Encode::encode(&result, w)),
                Err(error) => Err(error),
            }
        }

        /// Serves `into_text`.
        pub fn into_text<S: super::Methods + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            match servant.into_text() {
                Ok(result) => call.reply(|w| rt::Encode::encode(&result, w)),
                Err(error) => Err(error),
            }
        }

        /// Serves `deref`.
        pub fn deref<S: super::Methods + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            match servant.deref() {
                Ok(result) => call.reply(|w| rt::Encode::encode(&result, w)),
                Err(error) => Err(error),
            }
        }

        /// Serves `add`.
        pub fn add<S: super::Methods + ?Sized>(servant: &S, call: &mut rt::ServerCall<'_>) -> rt::Dispatched {
            let r = call.arguments();
            let n: i32 = rt::Decode::decode(r)?;
            match servant.add(n) {
                Ok(result) => call.reply(|w| rt::Encode::encode(&result, w)),
                Err(error) => Err(error),
            }
        }

        /// Serves `neg`.
        pub fn neg<S: super::Methods + ?Sized>(servant: &S, call: &mut rt::ServerCall<'_>) -> rt::Dispatched {
            match servant.neg() {
                Ok(result) => call.reply(|w| rt::Encode::encode(&result, w)),
                Err(error) => Err(error),
            }
        }

        /// Serves `not`.
        pub fn not<S: super::Methods + ?Sized>(servant: &S, call: &mut rt::ServerCall<'_>) -> rt::Dispatched {
            match servant.not() {
                Ok(result) => call.reply(|w| rt::Encode::encode(&result, w)),
                Err(error) => Err(error),
            }
        }

        /// Serves `default`.
        pub fn default<S: super::Methods + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            match servant.default() {
                Ok(result) => call.reply(|w| rt::Encode::encode(&result, w)),
                Err(error) => Err(error),
            }
        }

        /// Serves `call`.
        pub fn call<S: super::Methods + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            let r = call.arguments();
            let n: i32 = rt::Decode::decode(r)?;
            match servant.call(n) {
                Ok(result) => call.reply(|w| rt::Encode::encode(&result, w)),
                Err(error) => Err(error),
            }
        }

        /// Serves `invoke`.
        pub fn invoke<S: super::Methods + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            let r = call.arguments();
            let n: i32 = rt::Decode::decode(r)?;
            match servant.invoke(n) {
                Ok(result) => call.reply(|w| rt::Encode::encode(&result, w)),
                Err(error) => Err(error),
            }
        }

        /// Serves `call_async`.
        pub fn call_async<S: super::Methods + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            let r = call.arguments();
            let n: i32 = rt::Decode::decode(r)?;
            match servant.call_async(n) {
                Ok(result) => call.reply(|w| rt::Encode::encode(&result, w)),
                Err(error) => Err(error),
            }
        }

        /// Serves `is_a`.
        pub fn is_a<S: super::Methods + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            let r = call.arguments();
            let id = r.read_string()?;
            match servant.is_a(&id) {
                Ok(result) => call.reply(|w| rt::Encode::encode(&result, w)),
                Err(error) => Err(error),
            }
        }

        /// Serves `fooBar`.
        pub fn foo_bar<S: super::Methods + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            match servant.foo_bar() {
                Ok(result) => call.reply(|w| rt::Encode::encode(&result, w)),
                Err(error) => Err(error),
            }
        }

        /// Serves `foo_bar`.
        pub fn foo_bar_<S: super::Methods + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            match servant.foo_bar_() {
                Ok(result) => call.reply(|w| rt::Encode::encode(&result, w)),
                Err(error) => Err(error),
            }
        }

        /// Serves `_get_value`.
        pub fn value<S: super::Methods + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            match servant.value() {
                Ok(result) => call.reply(|w| rt::Encode::encode(&result, w)),
                Err(error) => Err(error),
            }
        }

        /// Serves `_set_value`.
        pub fn set_value_<S: super::Methods + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            let r = call.arguments();
            let value: i32 = rt::Decode::decode(r)?;
            match servant.set_value_(value) {
                Ok(()) => call.reply(|_| Ok(())),
                Err(error) => Err(error),
            }
        }

        /// Serves `set_value`.
        pub fn set_value<S: super::Methods + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            let r = call.arguments();
            let n: i32 = rt::Decode::decode(r)?;
            match servant.set_value(n) {
                Ok(result) => call.reply(|w| rt::Encode::encode(&result, w)),
                Err(error) => Err(error),
            }
        }

        /// Serves `fetch`.
        pub fn fetch<S: super::Methods + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            match servant.fetch() {
                Ok(result) => call.reply(|w| rt::Encode::encode(&result, w)),
                Err(error) => Err(error),
            }
        }

        /// Serves `fetch_async`.
        pub fn fetch_async<S: super::Methods + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            match servant.fetch_async() {
                Ok(result) => call.reply(|w| rt::Encode::encode(&result, w)),
                Err(error) => Err(error),
            }
        }
    }

    /// What the runtime knows of `IDL:Names/Methods:1.0`.
    pub static METHODS: rt::Interface = rt::Interface {
        repository_id: "IDL:Names/Methods:1.0",
        ancestors: &["IDL:Names/Methods:1.0"],
        operations: rt::OperationTable::new(rt::NameTable::new(
            &[
                "clone",
                "drop",
                "from",
                "into",
                "eq",
                "fmt",
                "narrow",
                "as_object",
                "from_object",
                "new",
                "next",
                "len",
                "is_empty",
                "index",
                "to_string",
                "from_text",
                "into_text",
                "deref",
                "add",
                "neg",
                "not",
                "default",
                "call",
                "invoke",
                "call_async",
                "is_a",
                "fooBar",
                "foo_bar",
                "_get_value",
                "_set_value",
                "set_value",
                "fetch",
                "fetch_async",
                "_is_a",
                "_non_existent",
                "_interface",
                "_component",
                "_repository_id",
                "_not_existent",
            ],
            16294208416658607535,
            &[
                3793791033, 113532185, 3793791033, 456755563, 3793791033, 3313767227, 1, 113532185,
                1853398635, 1853398635, 4088940685, 3793791033, 113532185, 1853398635, 4169906345,
                1853398635,
            ],
            &[
                17, 0, 0, 0, 15, 10, 21, 18, 0, 1, 0, 8, 25, 24, 0, 20, 7, 0, 28, 13, 0, 0, 4, 9, 0, 0, 34,
                35, 0, 14, 30, 0, 0, 26, 29, 0, 0, 2, 32, 0, 16, 0, 0, 12, 37, 0, 38, 0, 0, 22, 33, 31, 5, 0,
                0, 3, 36, 0, 0, 11, 23, 19, 6, 27,
            ],
        )),
    };

    /// A reference to an object of `IDL:Names/Methods:1.0`.
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    pub struct MethodsRef(rt::ObjectRef);

    #[allow(clippy::redundant_closure)]
    impl MethodsRef {
        /// The object as one of this interface, or `None` if it is of another. Asks the object itself unless the
        /// reference tells.
        pub fn narrow(
            object: &rt::ObjectRef,
        ) -> ::std::result::Result<::std::option::Option<Self>, rt::SystemException> {
            object.narrow()
        }

        /// `IDL:Names/Methods/clone:1.0`
        pub fn clone_(&self) -> ::std::result::Result<i32, rt::SystemException> {
            self.0.call(rt::Operation::new("clone", 0), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// [`clone_`](Self::clone_), as a future.
        pub fn clone_async(
            &self,
        ) -> impl ::std::future::Future<Output = ::std::result::Result<i32, rt::SystemException>>
        + ::std::marker::Send
        + use<> {
            self.0.call_async(rt::Operation::new("clone", 0), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// `IDL:Names/Methods/drop:1.0`
        pub fn drop(&self) -> ::std::result::Result<i32, rt::SystemException> {
            self.0.call(rt::Operation::new("drop", 1), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// [`drop`](Self::drop), as a future.
        pub fn drop_async(
            &self,
        ) -> impl ::std::future::Future<Output = ::std::result::Result<i32, rt::SystemException>>
        + ::std::marker::Send
        + use<> {
            self.0.call_async(rt::Operation::new("drop", 1), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// `IDL:Names/Methods/from:1.0`
        #[allow(clippy::wrong_self_convention)]
        pub fn from_(&self, n: i32) -> ::std::result::Result<i32, rt::SystemException> {
            self.0.call(
                rt::Operation::new("from", 2),
                |w| rt::Encode::encode(&n, w),
                |r| rt::Decode::decode(r),
            )
        }

        /// [`from_`](Self::from_), as a future.
        #[allow(clippy::wrong_self_convention)]
        pub fn from_async(
            &self,
            n: i32,
        ) -> impl ::std::future::Future<Output = ::std::result::Result<i32, rt::SystemException>>
        + ::std::marker::Send
        + use<> {
            self.0
                .call_async(
                    rt::Operation::new("from", 2),
                    |w| rt::Encode::encode(&n, w),
                    |r| rt::Decode::decode(r),
                )
                .rewriting(rt::rewrite::<i32>)
        }

        /// `IDL:Names/Methods/into:1.0`
        #[allow(clippy::wrong_self_convention)]
        pub fn into_(&self) -> ::std::result::Result<i32, rt::SystemException> {
            self.0.call(rt::Operation::new("into", 3), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// [`into_`](Self::into_), as a future.
        #[allow(clippy::wrong_self_convention)]
        pub fn into_async(
            &self,
        ) -> impl ::std::future::Future<Output = ::std::result::Result<i32, rt::SystemException>>
        + ::std::marker::Send
        + use<> {
            self.0.call_async(rt::Operation::new("into", 3), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// `IDL:Names/Methods/eq:1.0`
        pub fn eq_(&self, other: i32) -> ::std::result::Result<i32, rt::SystemException> {
            self.0.call(
                rt::Operation::new("eq", 4),
                |w| rt::Encode::encode(&other, w),
                |r| rt::Decode::decode(r),
            )
        }

        /// [`eq_`](Self::eq_), as a future.
        pub fn eq_async(
            &self,
            other: i32,
        ) -> impl ::std::future::Future<Output = ::std::result::Result<i32, rt::SystemException>>
        + ::std::marker::Send
        + use<> {
            self.0
                .call_async(
                    rt::Operation::new("eq", 4),
                    |w| rt::Encode::encode(&other, w),
                    |r| rt::Decode::decode(r),
                )
                .rewriting(rt::rewrite::<i32>)
        }

        /// `IDL:Names/Methods/fmt:1.0`
        pub fn fmt_(&self) -> ::std::result::Result<i32, rt::SystemException> {
            self.0.call(rt::Operation::new("fmt", 5), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// [`fmt_`](Self::fmt_), as a future.
        pub fn fmt_async(
            &self,
        ) -> impl ::std::future::Future<Output = ::std::result::Result<i32, rt::SystemException>>
        + ::std::marker::Send
        + use<> {
            self.0.call_async(rt::Operation::new("fmt", 5), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// `IDL:Names/Methods/narrow:1.0`
        pub fn narrow_(&self, n: i32) -> ::std::result::Result<i32, rt::SystemException> {
            self.0.call(
                rt::Operation::new("narrow", 6),
                |w| rt::Encode::encode(&n, w),
                |r| rt::Decode::decode(r),
            )
        }

        /// [`narrow_`](Self::narrow_), as a future.
        pub fn narrow_async(
            &self,
            n: i32,
        ) -> impl ::std::future::Future<Output = ::std::result::Result<i32, rt::SystemException>>
        + ::std::marker::Send
        + use<> {
            self.0
                .call_async(
                    rt::Operation::new("narrow", 6),
                    |w| rt::Encode::encode(&n, w),
                    |r| rt::Decode::decode(r),
                )
                .rewriting(rt::rewrite::<i32>)
        }

        /// `IDL:Names/Methods/as_object:1.0`
        pub fn as_object_(&self) -> ::std::result::Result<i32, rt::SystemException> {
            self.0.call(rt::Operation::new("as_object", 7), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// [`as_object_`](Self::as_object_), as a future.
        pub fn as_object_async(
            &self,
        ) -> impl ::std::future::Future<Output = ::std::result::Result<i32, rt::SystemException>>
        + ::std::marker::Send
        + use<> {
            self.0.call_async(rt::Operation::new("as_object", 7), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// `IDL:Names/Methods/from_object:1.0`
        #[allow(clippy::wrong_self_convention)]
        pub fn from_object_(&self, n: i32) -> ::std::result::Result<i32, rt::SystemException> {
            self.0.call(
                rt::Operation::new("from_object", 8),
                |w| rt::Encode::encode(&n, w),
                |r| rt::Decode::decode(r),
            )
        }

        /// [`from_object_`](Self::from_object_), as a future.
        #[allow(clippy::wrong_self_convention)]
        pub fn from_object_async(
            &self,
            n: i32,
        ) -> impl ::std::future::Future<Output = ::std::result::Result<i32, rt::SystemException>>
        + ::std::marker::Send
        + use<> {
            self.0
                .call_async(
                    rt::Operation::new("from_object", 8),
                    |w| rt::Encode::encode(&n, w),
                    |r| rt::Decode::decode(r),
                )
                .rewriting(rt::rewrite::<i32>)
        }

        /// `IDL:Names/Methods/new:1.0`
        #[allow(clippy::new_ret_no_self, clippy::wrong_self_convention)]
        pub fn new(&self) -> ::std::result::Result<i32, rt::SystemException> {
            self.0.call(rt::Operation::new("new", 9), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// [`new`](Self::new), as a future.
        pub fn new_async(
            &self,
        ) -> impl ::std::future::Future<Output = ::std::result::Result<i32, rt::SystemException>>
        + ::std::marker::Send
        + use<> {
            self.0.call_async(rt::Operation::new("new", 9), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// `IDL:Names/Methods/next:1.0`
        pub fn next(&self) -> ::std::result::Result<i32, rt::SystemException> {
            self.0.call(rt::Operation::new("next", 10), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// [`next`](Self::next), as a future.
        pub fn next_async(
            &self,
        ) -> impl ::std::future::Future<Output = ::std::result::Result<i32, rt::SystemException>>
        + ::std::marker::Send
        + use<> {
            self.0.call_async(rt::Operation::new("next", 10), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// `IDL:Names/Methods/len:1.0`
        #[allow(clippy::len_without_is_empty)]
        pub fn len(&self) -> ::std::result::Result<i32, rt::SystemException> {
            self.0.call(rt::Operation::new("len", 11), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// [`len`](Self::len), as a future.
        pub fn len_async(
            &self,
        ) -> impl ::std::future::Future<Output = ::std::result::Result<i32, rt::SystemException>>
        + ::std::marker::Send
        + use<> {
            self.0.call_async(rt::Operation::new("len", 11), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// `IDL:Names/Methods/is_empty:1.0`
        pub fn is_empty(&self) -> ::std::result::Result<bool, rt::SystemException> {
            self.0.call(rt::Operation::new("is_empty", 12), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// [`is_empty`](Self::is_empty), as a future.
        pub fn is_empty_async(
            &self,
        ) -> impl ::std::future::Future<Output = ::std::result::Result<bool, rt::SystemException>>
        + ::std::marker::Send
        + use<> {
            self.0.call_async(rt::Operation::new("is_empty", 12), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// `IDL:Names/Methods/index:1.0`
        #[allow(clippy::should_implement_trait)]
        pub fn index(&self, n: i32) -> ::std::result::Result<i32, rt::SystemException> {
            self.0.call(
                rt::Operation::new("index", 13),
                |w| rt::Encode::encode(&n, w),
                |r| rt::Decode::decode(r),
            )
        }

        /// [`index`](Self::index), as a future.
        pub fn index_async(
            &self,
            n: i32,
        ) -> impl ::std::future::Future<Output = ::std::result::Result<i32, rt::SystemException>>
        + ::std::marker::Send
        + use<> {
            self.0
                .call_async(
                    rt::Operation::new("index", 13),
                    |w| rt::Encode::encode(&n, w),
                    |r| rt::Decode::decode(r),
                )
                .rewriting(rt::rewrite::<i32>)
        }

        /// `IDL:Names/Methods/to_string:1.0`
        pub fn to_string(&self) -> ::std::result::Result<i32, rt::SystemException> {
            self.0.call(rt::Operation::new("to_string", 14), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// [`to_string`](Self::to_string), as a future.
        pub fn to_string_async(
            &self,
        ) -> impl ::std::future::Future<Output = ::std::result::Result<i32, rt::SystemException>>
        + ::std::marker::Send
        + use<> {
            self.0.call_async(rt::Operation::new("to_string", 14), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// `IDL:Names/Methods/from_text:1.0`
        #[allow(clippy::wrong_self_convention)]
        pub fn from_text(&self, text: &str) -> ::std::result::Result<i32, rt::SystemException> {
            self.0.call(
                rt::Operation::new("from_text", 15),
                |w| rt::Encode::encode(text, w),
                |r| rt::Decode::decode(r),
            )
        }

        /// [`from_text`](Self::from_text), as a future.
        #[allow(clippy::wrong_self_convention)]
        pub fn from_text_async(
            &self,
            text: &str,
        ) -> impl ::std::future::Future<Output = ::std::result::Result<i32, rt::SystemException>>
        + ::std::marker::Send
        + use<> {
            self.0
                .call_async(
                    rt::Operation::new("from_text", 15),
                    |w| rt::Encode::encode(text, w),
                    |r| rt::Decode::decode(r),
                )
                .rewriting(rt::rewrite::<String>)
        }

        /// `IDL:Names/Methods/into_text:1.0`
        #[allow(clippy::wrong_self_convention)]
        pub fn into_text(&self) -> ::std::result::Result<i32, rt::SystemException> {
            self.0.call(rt::Operation::new("into_text", 16), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// [`into_text`](Self::into_text), as a future.
        #[allow(clippy::wrong_self_convention)]
        pub fn into_text_async(
            &self,
        ) -> impl ::std::future::Future<Output = ::std::result::Result<i32, rt::SystemException>>
        + ::std::marker::Send
        + use<> {
            self.0.call_async(rt::Operation::new("into_text", 16), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// `IDL:Names/Methods/deref:1.0`
        pub fn deref(&self) -> ::std::result::Result<i32, rt::SystemException> {
            self.0.call(rt::Operation::new("deref", 17), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// [`deref`](Self::deref), as a future.
        pub fn deref_async(
            &self,
        ) -> impl ::std::future::Future<Output = ::std::result::Result<i32, rt::SystemException>>
        + ::std::marker::Send
        + use<> {
            self.0.call_async(rt::Operation::new("deref", 17), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// `IDL:Names/Methods/add:1.0`
        pub fn add(&self, n: i32) -> ::std::result::Result<i32, rt::SystemException> {
            self.0.call(
                rt::Operation::new("add", 18),
                |w| rt::Encode::encode(&n, w),
                |r| rt::Decode::decode(r),
            )
        }

        /// [`add`](Self::add), as a future.
        pub fn add_async(
            &self,
            n: i32,
        ) -> impl ::std::future::Future<Output = ::std::result::Result<i32, rt::SystemException>>
        + ::std::marker::Send
        + use<> {
            self.0
                .call_async(
                    rt::Operation::new("add", 18),
                    |w| rt::Encode::encode(&n, w),
                    |r| rt::Decode::decode(r),
                )
                .rewriting(rt::rewrite::<i32>)
        }

        /// `IDL:Names/Methods/neg:1.0`
        pub fn neg(&self) -> ::std::result::Result<i32, rt::SystemException> {
            self.0.call(rt::Operation::new("neg", 19), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// [`neg`](Self::neg), as a future.
        pub fn neg_async(
            &self,
        ) -> impl ::std::future::Future<Output = ::std::result::Result<i32, rt::SystemException>>
        + ::std::marker::Send
        + use<> {
            self.0.call_async(rt::Operation::new("neg", 19), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// `IDL:Names/Methods/not:1.0`
        pub fn not(&self) -> ::std::result::Result<i32, rt::SystemException> {
            self.0.call(rt::Operation::new("not", 20), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// [`not`](Self::not), as a future.
        pub fn not_async(
            &self,
        ) -> impl ::std::future::Future<Output = ::std::result::Result<i32, rt::SystemException>>
        + ::std::marker::Send
        + use<> {
            self.0.call_async(rt::Operation::new("not", 20), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// `IDL:Names/Methods/default:1.0`
        pub fn default(&self) -> ::std::result::Result<i32, rt::SystemException> {
            self.0.call(rt::Operation::new("default", 21), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// [`default`](Self::default), as a future.
        pub fn default_async(
            &self,
        ) -> impl ::std::future::Future<Output = ::std::result::Result<i32, rt::SystemException>>
        + ::std::marker::Send
        + use<> {
            self.0.call_async(rt::Operation::new("default", 21), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// `IDL:Names/Methods/call:1.0`
        pub fn call(&self, n: i32) -> ::std::result::Result<i32, rt::SystemException> {
            self.0.call(
                rt::Operation::new("call", 22),
                |w| rt::Encode::encode(&n, w),
                |r| rt::Decode::decode(r),
            )
        }

        /// [`call`](Self::call), as a future.
        pub fn call_async_(
            &self,
            n: i32,
        ) -> impl ::std::future::Future<Output = ::std::result::Result<i32, rt::SystemException>>
        + ::std::marker::Send
        + use<> {
            self.0
                .call_async(
                    rt::Operation::new("call", 22),
                    |w| rt::Encode::encode(&n, w),
                    |r| rt::Decode::decode(r),
                )
                .rewriting(rt::rewrite::<i32>)
        }

        /// `IDL:Names/Methods/invoke:1.0`
        pub fn invoke(&self, n: i32) -> ::std::result::Result<i32, rt::SystemException> {
            self.0.call(
                rt::Operation::new("invoke", 23),
                |w| rt::Encode::encode(&n, w),
                |r| rt::Decode::decode(r),
            )
        }

        /// [`invoke`](Self::invoke), as a future.
        pub fn invoke_async(
            &self,
            n: i32,
        ) -> impl ::std::future::Future<Output = ::std::result::Result<i32, rt::SystemException>>
        + ::std::marker::Send
        + use<> {
            self.0
                .call_async(
                    rt::Operation::new("invoke", 23),
                    |w| rt::Encode::encode(&n, w),
                    |r| rt::Decode::decode(r),
                )
                .rewriting(rt::rewrite::<i32>)
        }

        /// `IDL:Names/Methods/call_async:1.0`
        pub fn call_async(&self, n: i32) -> ::std::result::Result<i32, rt::SystemException> {
            self.0.call(
                rt::Operation::new("call_async", 24),
                |w| rt::Encode::encode(&n, w),
                |r| rt::Decode::decode(r),
            )
        }

        /// [`call_async`](Self::call_async), as a future.
        pub fn call_async_async(
            &self,
            n: i32,
        ) -> impl ::std::future::Future<Output = ::std::result::Result<i32, rt::SystemException>>
        + ::std::marker::Send
        + use<> {
            self.0
                .call_async(
                    rt::Operation::new("call_async", 24),
                    |w| rt::Encode::encode(&n, w),
                    |r| rt::Decode::decode(r),
                )
                .rewriting(rt::rewrite::<i32>)
        }

        /// `IDL:Names/Methods/is_a:1.0`
        pub fn is_a(&self, id: &str) -> ::std::result::Result<i32, rt::SystemException> {
            self.0.call(
                rt::Operation::new("is_a", 25),
                |w| rt::Encode::encode(id, w),
                |r| rt::Decode::decode(r),
            )
        }

        /// [`is_a`](Self::is_a), as a future.
        pub fn is_a_async(
            &self,
            id: &str,
        ) -> impl ::std::future::Future<Output = ::std::result::Result<i32, rt::SystemException>>
        + ::std::marker::Send
        + use<> {
            self.0
                .call_async(
                    rt::Operation::new("is_a", 25),
                    |w| rt::Encode::encode(id, w),
                    |r| rt::Decode::decode(r),
                )
                .rewriting(rt::rewrite::<String>)
        }

        /// Taken by setters and asynchronous forms.
        pub fn foo_bar(&self) -> ::std::result::Result<i32, rt::SystemException> {
            self.0.call(rt::Operation::new("fooBar", 26), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// [`foo_bar`](Self::foo_bar), as a future.
        pub fn foo_bar_async(
            &self,
        ) -> impl ::std::future::Future<Output = ::std::result::Result<i32, rt::SystemException>>
        + ::std::marker::Send
        + use<> {
            self.0.call_async(rt::Operation::new("fooBar", 26), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// `IDL:Names/Methods/foo_bar:1.0`
        pub fn foo_bar_(&self) -> ::std::result::Result<i32, rt::SystemException> {
            self.0.call(rt::Operation::new("foo_bar", 27), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// [`foo_bar_`](Self::foo_bar_), as a future.
        pub fn foo_bar_async_(
            &self,
        ) -> impl ::std::future::Future<Output = ::std::result::Result<i32, rt::SystemException>>
        + ::std::marker::Send
        + use<> {
            self.0.call_async(rt::Operation::new("foo_bar", 27), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// `IDL:Names/Methods/value:1.0`
        pub fn value(&self) -> ::std::result::Result<i32, rt::SystemException> {
            self.0.call(rt::Operation::new("_get_value", 28), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// [`value`](Self::value), as a future.
        pub fn value_async(
            &self,
        ) -> impl ::std::future::Future<Output = ::std::result::Result<i32, rt::SystemException>>
        + ::std::marker::Send
        + use<> {
            self.0.call_async(rt::Operation::new("_get_value", 28), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// `IDL:Names/Methods/value:1.0`
        pub fn set_value_(&self, value: i32) -> ::std::result::Result<(), rt::SystemException> {
            self.0.call(rt::Operation::new("_set_value", 29), |w| rt::Encode::encode(&value, w), |_| Ok(()))
        }

        /// [`set_value_`](Self::set_value_), as a future.
        pub fn set_value_async(
            &self,
            value: i32,
        ) -> impl ::std::future::Future<Output = ::std::result::Result<(), rt::SystemException>>
        + ::std::marker::Send
        + use<> {
            self.0
                .call_async(
                    rt::Operation::new("_set_value", 29),
                    |w| rt::Encode::encode(&value, w),
                    |_| Ok(()),
                )
                .rewriting(rt::rewrite::<i32>)
        }

        /// `IDL:Names/Methods/set_value:1.0`
        pub fn set_value(&self, n: i32) -> ::std::result::Result<i32, rt::SystemException> {
            self.0.call(
                rt::Operation::new("set_value", 30),
                |w| rt::Encode::encode(&n, w),
                |r| rt::Decode::decode(r),
            )
        }

        /// [`set_value`](Self::set_value), as a future.
        pub fn set_value_async_(
            &self,
            n: i32,
        ) -> impl ::std::future::Future<Output = ::std::result::Result<i32, rt::SystemException>>
        + ::std::marker::Send
        + use<> {
            self.0
                .call_async(
                    rt::Operation::new("set_value", 30),
                    |w| rt::Encode::encode(&n, w),
                    |r| rt::Decode::decode(r),
                )
                .rewriting(rt::rewrite::<i32>)
        }

        /// `IDL:Names/Methods/fetch:1.0`
        pub fn fetch(&self) -> ::std::result::Result<i32, rt::SystemException> {
            self.0.call(rt::Operation::new("fetch", 31), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// [`fetch`](Self::fetch), as a future.
        pub fn fetch_async_(
            &self,
        ) -> impl ::std::future::Future<Output = ::std::result::Result<i32, rt::SystemException>>
        + ::std::marker::Send
        + use<> {
            self.0.call_async(rt::Operation::new("fetch", 31), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// `IDL:Names/Methods/fetch_async:1.0`
        pub fn fetch_async(&self) -> ::std::result::Result<i32, rt::SystemException> {
            self.0.call(rt::Operation::new("fetch_async", 32), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// [`fetch_async`](Self::fetch_async), as a future.
        pub fn fetch_async_async(
            &self,
        ) -> impl ::std::future::Future<Output = ::std::result::Result<i32, rt::SystemException>>
        + ::std::marker::Send
        + use<> {
            self.0.call_async(rt::Operation::new("fetch_async", 32), |_| Ok(()), |r| rt::Decode::decode(r))
        }
    }

    impl rt::TypedReference for MethodsRef {
        const REPOSITORY_ID: &'static str = "IDL:Names/Methods:1.0";

        fn interface() -> &'static rt::Interface {
            &METHODS
        }

        fn from_object(object: rt::ObjectRef) -> Self {
            Self(object)
        }

        fn as_object(&self) -> &rt::ObjectRef {
            &self.0
        }
    }

    impl ::std::convert::From<MethodsRef> for rt::ObjectRef {
        fn from(reference: MethodsRef) -> Self {
            reference.0
        }
    }

    impl rt::Nilable for MethodsRef {
        fn encode_nilable(
            value: ::std::option::Option<&Self>,
            w: &mut rt::Writer<'_>,
        ) -> ::std::result::Result<(), rt::EncodeError> {
            rt::encode_reference(value, w)
        }

        fn decode_nilable(
            r: &mut rt::Reader<'_>,
        ) -> ::std::result::Result<::std::option::Option<Self>, rt::DecodeError> {
            rt::decode_reference(r)
        }
    }

    /// Bases whose methods only Rust takes for the same.
    pub trait Left: ::std::marker::Send + Sync + 'static {
        /// `IDL:Names/Left/fooBar:1.0`
        fn foo_bar(&self) -> ::std::result::Result<i32, rt::SystemException>;
    }

    impl<S_: Left + ?Sized> Left for ::std::sync::Arc<S_> {
        fn foo_bar(&self) -> ::std::result::Result<i32, rt::SystemException> {
            (**self).foo_bar()
        }
    }

    /// Lets an adapter serve an implementation of [`Left`].
    #[derive(Clone, Debug)]
    pub struct LeftSkeleton<S_>(pub S_);

    impl<S_: Left> rt::Skeleton for LeftSkeleton<S_> {
        fn interface(&self) -> &'static rt::Interface {
            &LEFT
        }

        fn invoke(&self, operation: u32, call: &mut rt::ServerCall<'_>) -> rt::Dispatched {
            match operation {
                0 => left_skeleton::foo_bar(&self.0, call),
                _ => call.implicit(&LEFT, operation),
            }
        }
    }

    impl<S_: Left> rt::TypedSkeleton for LeftSkeleton<S_> {
        type Reference = LeftRef;
    }

    /// Skeletons of the operations of `Names::Left`.
    pub mod left_skeleton {
        use ::throughline::rt;

        /// Serves `fooBar`.
        pub fn foo_bar<S: super::Left + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            match servant.foo_bar() {
                Ok(result) => call.reply(|w| rt::Encode::encode(&result, w)),
                Err(error) => Err(error),
            }
        }
    }

    /// What the runtime knows of `IDL:Names/Left:1.0`.
    pub static LEFT: rt::Interface = rt::Interface {
        repository_id: "IDL:Names/Left:1.0",
        ancestors: &["IDL:Names/Left:1.0"],
        operations: rt::OperationTable::new(rt::NameTable::new(
            &[
                "fooBar",
                "_is_a",
                "_non_existent",
                "_interface",
                "_component",
                "_repository_id",
                "_not_existent",
            ],
            16294208416658607535,
            &[3793791033, 3313767227],
            &[4, 3, 1, 2, 6, 5, 0, 0],
        )),
    };

    /// A reference to an object of `IDL:Names/Left:1.0`.
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    pub struct LeftRef(rt::ObjectRef);

    #[allow(clippy::redundant_closure)]
    impl LeftRef {
        /// The object as one of this interface, or `None` if it is of another. Asks the object itself unless the
        /// reference tells.
        pub fn narrow(
            object: &rt::ObjectRef,
        ) -> ::std::result::Result<::std::option::Option<Self>, rt::SystemException> {
            object.narrow()
        }

        /// `IDL:Names/Left/fooBar:1.0`
        pub fn foo_bar(&self) -> ::std::result::Result<i32, rt::SystemException> {
            self.0.call(rt::Operation::new("fooBar", 0), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// [`foo_bar`](Self::foo_bar), as a future.
        pub fn foo_bar_async(
            &self,
        ) -> impl ::std::future::Future<Output = ::std::result::Result<i32, rt::SystemException>>
        + ::std::marker::Send
        + use<> {
            self.0.call_async(rt::Operation::new("fooBar", 0), |_| Ok(()), |r| rt::Decode::decode(r))
        }
    }

    impl rt::TypedReference for LeftRef {
        const REPOSITORY_ID: &'static str = "IDL:Names/Left:1.0";

        fn interface() -> &'static rt::Interface {
            &LEFT
        }

        fn from_object(object: rt::ObjectRef) -> Self {
            Self(object)
        }

        fn as_object(&self) -> &rt::ObjectRef {
            &self.0
        }
    }

    impl ::std::convert::From<LeftRef> for rt::ObjectRef {
        fn from(reference: LeftRef) -> Self {
            reference.0
        }
    }

    impl rt::Nilable for LeftRef {
        fn encode_nilable(
            value: ::std::option::Option<&Self>,
            w: &mut rt::Writer<'_>,
        ) -> ::std::result::Result<(), rt::EncodeError> {
            rt::encode_reference(value, w)
        }

        fn decode_nilable(
            r: &mut rt::Reader<'_>,
        ) -> ::std::result::Result<::std::option::Option<Self>, rt::DecodeError> {
            rt::decode_reference(r)
        }
    }

    /// The servant's side of `IDL:Names/Right:1.0`.
    pub trait Right: ::std::marker::Send + Sync + 'static {
        /// `IDL:Names/Right/foo_bar:1.0`
        fn foo_bar(&self) -> ::std::result::Result<i32, rt::SystemException>;
    }

    impl<S_: Right + ?Sized> Right for ::std::sync::Arc<S_> {
        fn foo_bar(&self) -> ::std::result::Result<i32, rt::SystemException> {
            (**self).foo_bar()
        }
    }

    /// Lets an adapter serve an implementation of [`Right`].
    #[derive(Clone, Debug)]
    pub struct RightSkeleton<S_>(pub S_);

    impl<S_: Right> rt::Skeleton for RightSkeleton<S_> {
        fn interface(&self) -> &'static rt::Interface {
            &RIGHT
        }

        fn invoke(&self, operation: u32, call: &mut rt::ServerCall<'_>) -> rt::Dispatched {
            match operation {
                0 => right_skeleton::foo_bar(&self.0, call),
                _ => call.implicit(&RIGHT, operation),
            }
        }
    }

    impl<S_: Right> rt::TypedSkeleton for RightSkeleton<S_> {
        type Reference = RightRef;
    }

    /// Skeletons of the operations of `Names::Right`.
    pub mod right_skeleton {
        use ::throughline::rt;

        /// Serves `foo_bar`.
        pub fn foo_bar<S: super::Right + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            match servant.foo_bar() {
                Ok(result) => call.reply(|w| rt::Encode::encode(&result, w)),
                Err(error) => Err(error),
            }
        }
    }

    /// What the runtime knows of `IDL:Names/Right:1.0`.
    pub static RIGHT: rt::Interface = rt::Interface {
        repository_id: "IDL:Names/Right:1.0",
        ancestors: &["IDL:Names/Right:1.0"],
        operations: rt::OperationTable::new(rt::NameTable::new(
            &[
                "foo_bar",
                "_is_a",
                "_non_existent",
                "_interface",
                "_component",
                "_repository_id",
                "_not_existent",
            ],
            16294208416658607535,
            &[3793791033, 3313767227],
            &[4, 3, 1, 2, 6, 5, 0, 0],
        )),
    };

    /// A reference to an object of `IDL:Names/Right:1.0`.
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    pub struct RightRef(rt::ObjectRef);

    #[allow(clippy::redundant_closure)]
    impl RightRef {
        /// The object as one of this interface, or `None` if it is of another. Asks the object itself unless the
        /// reference tells.
        pub fn narrow(
            object: &rt::ObjectRef,
        ) -> ::std::result::Result<::std::option::Option<Self>, rt::SystemException> {
            object.narrow()
        }

        /// `IDL:Names/Right/foo_bar:1.0`
        pub fn foo_bar(&self) -> ::std::result::Result<i32, rt::SystemException> {
            self.0.call(rt::Operation::new("foo_bar", 0), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// [`foo_bar`](Self::foo_bar), as a future.
        pub fn foo_bar_async(
            &self,
        ) -> impl ::std::future::Future<Output = ::std::result::Result<i32, rt::SystemException>>
        + ::std::marker::Send
        + use<> {
            self.0.call_async(rt::Operation::new("foo_bar", 0), |_| Ok(()), |r| rt::Decode::decode(r))
        }
    }

    impl rt::TypedReference for RightRef {
        const REPOSITORY_ID: &'static str = "IDL:Names/Right:1.0";

        fn interface() -> &'static rt::Interface {
            &RIGHT
        }

        fn from_object(object: rt::ObjectRef) -> Self {
            Self(object)
        }

        fn as_object(&self) -> &rt::ObjectRef {
            &self.0
        }
    }

    impl ::std::convert::From<RightRef> for rt::ObjectRef {
        fn from(reference: RightRef) -> Self {
            reference.0
        }
    }

    impl rt::Nilable for RightRef {
        fn encode_nilable(
            value: ::std::option::Option<&Self>,
            w: &mut rt::Writer<'_>,
        ) -> ::std::result::Result<(), rt::EncodeError> {
            rt::encode_reference(value, w)
        }

        fn decode_nilable(
            r: &mut rt::Reader<'_>,
        ) -> ::std::result::Result<::std::option::Option<Self>, rt::DecodeError> {
            rt::decode_reference(r)
        }
    }

    /// The servant's side of `IDL:Names/Both:1.0`.
    pub trait Both: Left + Right {
        /// `IDL:Names/Both/fooBAR_:1.0`
        fn foo_bar_(&self) -> ::std::result::Result<i32, rt::SystemException>;
    }

    impl<S_: Both + ?Sized> Both for ::std::sync::Arc<S_> {
        fn foo_bar_(&self) -> ::std::result::Result<i32, rt::SystemException> {
            (**self).foo_bar_()
        }
    }

    /// Lets an adapter serve an implementation of [`Both`].
    #[derive(Clone, Debug)]
    pub struct BothSkeleton<S_>(pub S_);

    impl<S_: Both> rt::Skeleton for BothSkeleton<S_> {
        fn interface(&self) -> &'static rt::Interface {
            &BOTH
        }

        fn invoke(&self, operation: u32, call: &mut rt::ServerCall<'_>) -> rt::Dispatched {
            match operation {
                0 => both_skeleton::foo_bar_(&self.0, call),
                1 => left_skeleton::foo_bar(&self.0, call),
                2 => right_skeleton::foo_bar(&self.0, call),
                _ => call.implicit(&BOTH, operation),
            }
        }
    }

    impl<S_: Both> rt::TypedSkeleton for BothSkeleton<S_> {
        type Reference = BothRef;
    }

    /// Skeletons of the operations of `Names::Both`.
    pub mod both_skeleton {
        use ::throughline::rt;

        /// Serves `fooBAR_`.
        pub fn foo_bar_<S: super::Both + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            match servant.foo_bar_() {
                Ok(result) => call.reply(|w| rt::Encode::encode(&result, w)),
                Err(error) => Err(error),
            }
        }
    }

    /// What the runtime knows of `IDL:Names/Both:1.0`.
    pub static BOTH: rt::Interface = rt::Interface {
        repository_id: "IDL:Names/Both:1.0",
        ancestors: &["IDL:Names/Both:1.0", "IDL:Names/Left:1.0", "IDL:Names/Right:1.0"],
        operations: rt::OperationTable::new(rt::NameTable::new(
            &[
                "fooBAR_",
                "fooBar",
                "foo_bar",
                "_is_a",
                "_non_existent",
                "_interface",
                "_component",
                "_repository_id",
                "_not_existent",
            ],
            16294208416658607535,
            &[113532185, 113532185, 3793791033, 3793791033],
            &[6, 5, 0, 0, 0, 0, 4, 0, 7, 0, 0, 8, 3, 1, 0, 2],
        )),
    };

    /// A reference to an object of `IDL:Names/Both:1.0`.
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    pub struct BothRef(rt::ObjectRef);

    #[allow(clippy::redundant_closure)]
    impl BothRef {
        /// The object as one of this interface, or `None` if it is of another. Asks the object itself unless the
        /// reference tells.
        pub fn narrow(
            object: &rt::ObjectRef,
        ) -> ::std::result::Result<::std::option::Option<Self>, rt::SystemException> {
            object.narrow()
        }

        /// `IDL:Names/Both/fooBAR_:1.0`
        pub fn foo_bar_(&self) -> ::std::result::Result<i32, rt::SystemException> {
            self.0.call(rt::Operation::new("fooBAR_", 0), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// [`foo_bar_`](Self::foo_bar_), as a future.
        pub fn foo_bar_async_(
            &self,
        ) -> impl ::std::future::Future<Output = ::std::result::Result<i32, rt::SystemException>>
        + ::std::marker::Send
        + use<> {
            self.0.call_async(rt::Operation::new("fooBAR_", 0), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// `IDL:Names/Left/fooBar:1.0`
        pub fn foo_bar(&self) -> ::std::result::Result<i32, rt::SystemException> {
            self.0.call(rt::Operation::new("fooBar", 1), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// [`foo_bar`](Self::foo_bar), as a future.
        pub fn foo_bar_async(
            &self,
        ) -> impl ::std::future::Future<Output = ::std::result::Result<i32, rt::SystemException>>
        + ::std::marker::Send
        + use<> {
            self.0.call_async(rt::Operation::new("fooBar", 1), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// `IDL:Names/Right/foo_bar:1.0`
        pub fn foo_bar__(&self) -> ::std::result::Result<i32, rt::SystemException> {
            self.0.call(rt::Operation::new("foo_bar", 2), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// [`foo_bar__`](Self::foo_bar__), as a future.
        pub fn foo_bar_async__(
            &self,
        ) -> impl ::std::future::Future<Output = ::std::result::Result<i32, rt::SystemException>>
        + ::std::marker::Send
        + use<> {
            self.0.call_async(rt::Operation::new("foo_bar", 2), |_| Ok(()), |r| rt::Decode::decode(r))
        }
    }

    impl rt::TypedReference for BothRef {
        const REPOSITORY_ID: &'static str = "IDL:Names/Both:1.0";

        fn interface() -> &'static rt::Interface {
            &BOTH
        }

        fn from_object(object: rt::ObjectRef) -> Self {
            Self(object)
        }

        fn as_object(&self) -> &rt::ObjectRef {
            &self.0
        }
    }

    impl ::std::convert::From<BothRef> for LeftRef {
        fn from(reference: BothRef) -> Self {
            rt::TypedReference::from_object(reference.0)
        }
    }

    impl ::std::convert::From<BothRef> for RightRef {
        fn from(reference: BothRef) -> Self {
            rt::TypedReference::from_object(reference.0)
        }
    }

    impl ::std::convert::From<BothRef> for rt::ObjectRef {
        fn from(reference: BothRef) -> Self {
            reference.0
        }
    }

    impl rt::Nilable for BothRef {
        fn encode_nilable(
            value: ::std::option::Option<&Self>,
            w: &mut rt::Writer<'_>,
        ) -> ::std::result::Result<(), rt::EncodeError> {
            rt::encode_reference(value, w)
        }

        fn decode_nilable(
            r: &mut rt::Reader<'_>,
        ) -> ::std::result::Result<::std::option::Option<Self>, rt::DecodeError> {
            rt::decode_reference(r)
        }
    }
}
