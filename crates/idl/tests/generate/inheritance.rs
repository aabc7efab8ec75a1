// Generated from inheritance.idl by Throughline's IDL compiler. Changes here will be lost.

/// `module Zoo`
#[allow(dead_code, clippy::module_inception)]
pub mod zoo {
    use ::throughline::rt;

    /// `module Zoo::Base`
    pub mod base {
        use ::throughline::rt;

        /// `IDL:example.org/Zoo/Base/Gone:1.0`
        #[derive(Clone, Debug, PartialEq)]
        pub struct Gone {
            /// `string why`
            pub why: String,
        }

        impl rt::Encode for Gone {
            fn encode(&self, w: &mut rt::Writer<'_>) -> Result<(), rt::EncodeError> {
                rt::Encode::encode(&self.why, w)
            }
        }

        impl<'a> rt::Decode<'a> for Gone {
            const MIN_SIZE: usize = 4;

            fn decode(r: &mut rt::Reader<'a>) -> Result<Self, rt::DecodeError> {
                Ok(Self { why: rt::Decode::decode(r)? })
            }
        }

        impl rt::UserException for Gone {
            const REPOSITORY_ID: &'static str = "IDL:example.org/Zoo/Base/Gone:1.0";
        }

        impl ::std::fmt::Display for Gone {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.debug_struct("Zoo::Base::Gone").field("why", &self.why).finish()
            }
        }

        impl ::std::error::Error for Gone {}

        /// The servant's side of `IDL:example.org/Zoo/Base/Named:1.0`.
        pub trait Named: Send + Sync + 'static {
            /// `IDL:example.org/Zoo/Base/Named/name:1.0`
            fn name(&self) -> Result<String, rt::SystemException>;
        }

        impl<S: Named + ?Sized> Named for ::std::sync::Arc<S> {
            fn name(&self) -> Result<String, rt::SystemException> {
                (**self).name()
            }
        }

        /// Lets an adapter serve an implementation of [`Named`].
        #[derive(Clone, Debug)]
        pub struct NamedSkeleton<S>(pub S);

        impl<S: Named> rt::Skeleton for NamedSkeleton<S> {
            fn interface(&self) -> &'static rt::Interface {
                &NAMED
            }

            fn invoke(&self, operation: u32, call: &mut rt::ServerCall<'_>) -> rt::Dispatched {
                match operation {
                    0 => named_skeleton::name(&self.0, call),
                    _ => call.implicit(&NAMED, operation),
                }
            }
        }

        impl<S: Named> rt::TypedSkeleton for NamedSkeleton<S> {
            type Reference = NamedRef;
        }

        /// Skeletons of the operations of `Zoo::Base::Named`.
        pub mod named_skeleton {
            use ::throughline::rt;

            /// Serves `_get_name`.
            pub fn name<S: super::Named + ?Sized>(
                servant: &S,
                call: &mut rt::ServerCall<'_>,
            ) -> rt::Dispatched {
                match servant.name() {
                    Ok(result) => call.reply(|w| rt::Encode::encode(&result, w)),
                    Err(error) => Err(error),
                }
            }
        }

        /// What the runtime knows of `IDL:example.org/Zoo/Base/Named:1.0`.
        pub static NAMED: rt::Interface = rt::Interface {
            repository_id: "IDL:example.org/Zoo/Base/Named:1.0",
            ancestors: &["IDL:example.org/Zoo/Base/Named:1.0"],
            operations: rt::OperationTable::new(rt::NameTable::new(
                &[
                    "_get_name",
                    "_is_a",
                    "_non_existent",
                    "_interface",
                    "_component",
                    "_repository_id",
                    "_not_existent",
                ],
                16294208416658607535,
                &[113532185, 3313767227],
                &[4, 3, 1, 2, 6, 5, 0, 0],
            )),
        };

        /// A reference to an object of `IDL:example.org/Zoo/Base/Named:1.0`.
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        pub struct NamedRef(rt::ObjectRef);

        #[allow(clippy::redundant_closure)]
        impl NamedRef {
            /// The object as one of this interface, or `None` if it is of another. Asks the object itself unless the
            /// reference tells.
            pub fn narrow(object: &rt::ObjectRef) -> Result<Option<Self>, rt::SystemException> {
                object.narrow()
            }

            /// `IDL:example.org/Zoo/Base/Named/name:1.0`
            pub fn name(&self) -> Result<String, rt::SystemException> {
                self.0.call(rt::Operation::new("_get_name", 0), |_| Ok(()), |r| rt::Decode::decode(r))
            }

            /// [`name`](Self::name), as a future.
            pub fn name_async(
                &self,
            ) -> impl ::std::future::Future<Output = Result<String, rt::SystemException>> + Send + use<>
            {
                self.0.call_async(rt::Operation::new("_get_name", 0), |_| Ok(()), |r| rt::Decode::decode(r))
            }
        }

        impl rt::TypedReference for NamedRef {
            const REPOSITORY_ID: &'static str = "IDL:example.org/Zoo/Base/Named:1.0";

            fn interface() -> &'static rt::Interface {
                &NAMED
            }

            fn from_object(object: rt::ObjectRef) -> Self {
                Self(object)
            }

            fn as_object(&self) -> &rt::ObjectRef {
                &self.0
            }
        }

        impl From<NamedRef> for rt::ObjectRef {
            fn from(reference: NamedRef) -> Self {
                reference.0
            }
        }

        impl rt::Nilable for NamedRef {
            fn encode_nilable(value: Option<&Self>, w: &mut rt::Writer<'_>) -> Result<(), rt::EncodeError> {
                rt::encode_reference(value, w)
            }

            fn decode_nilable(r: &mut rt::Reader<'_>) -> Result<Option<Self>, rt::DecodeError> {
                rt::decode_reference(r)
            }
        }
    }

    /// `typedef sequence<Zoo::Later> Laters`
    pub type Laters = Vec<Option<LaterRef>>;

    /// What `Zoo::Walker::walk` can fail with.
    #[derive(Clone, Debug, PartialEq)]
    pub enum WalkerWalkError {
        /// `IDL:example.org/Zoo/Base/Gone:1.0`
        Gone(base::Gone),
        /// The call did not reach the object, or came to no regular end.
        System(rt::SystemException),
    }

    impl From<base::Gone> for WalkerWalkError {
        fn from(exception: base::Gone) -> Self {
            Self::Gone(exception)
        }
    }

    impl From<rt::SystemException> for WalkerWalkError {
        fn from(exception: rt::SystemException) -> Self {
            Self::System(exception)
        }
    }

    impl ::std::fmt::Display for WalkerWalkError {
        fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
            match self {
                Self::Gone(exception) => ::std::fmt::Display::fmt(exception, f),
                Self::System(exception) => ::std::fmt::Display::fmt(exception, f),
            }
        }
    }

    impl ::std::error::Error for WalkerWalkError {}

    impl rt::OperationError for WalkerWalkError {
        fn decode_user(id: &str, r: &mut rt::Reader<'_>) -> Option<Result<Self, rt::DecodeError>> {
            match id {
                "IDL:example.org/Zoo/Base/Gone:1.0" => Some(rt::Decode::decode(r).map(Self::Gone)),
                _ => None,
            }
        }

        fn raise(self, call: &mut rt::ServerCall<'_>) -> rt::Dispatched {
            match self {
                Self::Gone(exception) => call.raise(&exception),
                Self::System(exception) => Err(exception),
            }
        }
    }

    /// The servant's side of `IDL:example.org/Zoo/Walker:1.0`.
    pub trait Walker: base::Named {
        /// `IDL:example.org/Zoo/Walker/pace:1.0`
        fn pace(&self) -> Result<i32, rt::SystemException>;

        /// `IDL:example.org/Zoo/Walker/pace:1.0`
        fn set_pace(&self, value: i32) -> Result<(), rt::SystemException>;

        /// `IDL:example.org/Zoo/Walker/walk:1.0`
        fn walk(&self, steps: i32) -> Result<i32, WalkerWalkError>;
    }

    impl<S: Walker + ?Sized> Walker for ::std::sync::Arc<S> {
        fn pace(&self) -> Result<i32, rt::SystemException> {
            (**self).pace()
        }

        fn set_pace(&self, value: i32) -> Result<(), rt::SystemException> {
            (**self).set_pace(value)
        }

        fn walk(&self, steps: i32) -> Result<i32, WalkerWalkError> {
            (**self).walk(steps)
        }
    }

    /// Lets an adapter serve an implementation of [`Walker`].
    #[derive(Clone, Debug)]
    pub struct WalkerSkeleton<S>(pub S);

    impl<S: Walker> rt::Skeleton for WalkerSkeleton<S> {
        fn interface(&self) -> &'static rt::Interface {
            &WALKER
        }

        fn invoke(&self, operation: u32, call: &mut rt::ServerCall<'_>) -> rt::Dispatched {
            match operation {
                0 => walker_skeleton::pace(&self.0, call),
                1 => walker_skeleton::set_pace(&self.0, call),
                2 => walker_skeleton::walk(&self.0, call),
                3 => base::named_skeleton::name(&self.0, call),
                _ => call.implicit(&WALKER, operation),
            }
        }
    }

    impl<S: Walker> rt::TypedSkeleton for WalkerSkeleton<S> {
        type Reference = WalkerRef;
    }

    /// Skeletons of the operations of `Zoo::Walker`.
    pub mod walker_skeleton {
        use ::throughline::rt;

        /// Serves `_get_pace`.
        pub fn pace<S: super::Walker + ?Sized>(servant: &S, call: &mut rt::ServerCall<'_>) -> rt::Dispatched {
            match servant.pace() {
                Ok(result) => call.reply(|w| rt::Encode::encode(&result, w)),
                Err(error) => Err(error),
            }
        }

        /// Serves `_set_pace`.
        pub fn set_pace<S: super::Walker + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            let r = call.arguments();
            let value: i32 = rt::Decode::decode(r)?;
            match servant.set_pace(value) {
                Ok(()) => call.reply(|_| Ok(())),
                Err(error) => Err(error),
            }
        }

        /// Serves `walk`.
        pub fn walk<S: super::Walker + ?Sized>(servant: &S, call: &mut rt::ServerCall<'_>) -> rt::Dispatched {
            let r = call.arguments();
            let steps: i32 = rt::Decode::decode(r)?;
            match servant.walk(steps) {
                Ok(result) => call.reply(|w| rt::Encode::encode(&result, w)),
                Err(error) => rt::OperationError::raise(error, call),
            }
        }
    }

    /// What the runtime knows of `IDL:example.org/Zoo/Walker:1.0`.
    pub static WALKER: rt::Interface = rt::Interface {
        repository_id: "IDL:example.org/Zoo/Walker:1.0",
        ancestors: &["IDL:example.org/Zoo/Walker:1.0", "IDL:example.org/Zoo/Base/Named:1.0"],
        operations: rt::OperationTable::new(rt::NameTable::new(
            &[
                "_get_pace",
                "_set_pace",
                "walk",
                "_get_name",
                "_is_a",
                "_non_existent",
                "_interface",
                "_component",
                "_repository_id",
                "_not_existent",
            ],
            16294208416658607535,
            &[1853398635, 1405853453, 1, 3793791033],
            &[0, 6, 0, 8, 1, 0, 5, 3, 0, 0, 0, 9, 4, 2, 7, 0],
        )),
    };

    /// A reference to an object of `IDL:example.org/Zoo/Walker:1.0`.
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    pub struct WalkerRef(rt::ObjectRef);

    #[allow(clippy::redundant_closure)]
    impl WalkerRef {
        /// The object as one of this interface, or `None` if it is of another. Asks the object itself unless the
        /// reference tells.
        pub fn narrow(object: &rt::ObjectRef) -> Result<Option<Self>, rt::SystemException> {
            object.narrow()
        }

        /// `IDL:example.org/Zoo/Walker/pace:1.0`
        pub fn pace(&self) -> Result<i32, rt::SystemException> {
            self.0.call(rt::Operation::new("_get_pace", 0), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// [`pace`](Self::pace), as a future.
        pub fn pace_async(
            &self,
        ) -> impl ::std::future::Future<Output = Result<i32, rt::SystemException>> + Send + use<> {
            self.0.call_async(rt::Operation::new("_get_pace", 0), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// `IDL:example.org/Zoo/Walker/pace:1.0`
        pub fn set_pace(&self, value: i32) -> Result<(), rt::SystemException> {
            self.0.call(rt::Operation::new("_set_pace", 1), |w| rt::Encode::encode(&value, w), |_| Ok(()))
        }

        /// [`set_pace`](Self::set_pace), as a future.
        pub fn set_pace_async(
            &self,
            value: i32,
        ) -> impl ::std::future::Future<Output = Result<(), rt::SystemException>> + Send + use<> {
            self.0
                .call_async(rt::Operation::new("_set_pace", 1), |w| rt::Encode::encode(&value, w), |_| Ok(()))
                .rewriting(rt::rewrite::<i32>)
        }

        /// `IDL:example.org/Zoo/Walker/walk:1.0`
        pub fn walk(&self, steps: i32) -> Result<i32, WalkerWalkError> {
            self.0.call(
                rt::Operation::new("walk", 2),
                |w| rt::Encode::encode(&steps, w),
                |r| rt::Decode::decode(r),
            )
        }

        /// [`walk`](Self::walk), as a future.
        pub fn walk_async(
            &self,
            steps: i32,
        ) -> impl ::std::future::Future<Output = Result<i32, WalkerWalkError>> + Send + use<> {
            self.0
                .call_async(
                    rt::Operation::new("walk", 2),
                    |w| rt::Encode::encode(&steps, w),
                    |r| rt::Decode::decode(r),
                )
                .rewriting(rt::rewrite::<i32>)
        }

        /// `IDL:example.org/Zoo/Base/Named/name:1.0`
        pub fn name(&self) -> Result<String, rt::SystemException> {
            self.0.call(rt::Operation::new("_get_name", 3), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// [`name`](Self::name), as a future.
        pub fn name_async(
            &self,
        ) -> impl ::std::future::Future<Output = Result<String, rt::SystemException>> + Send + use<> {
            self.0.call_async(rt::Operation::new("_get_name", 3), |_| Ok(()), |r| rt::Decode::decode(r))
        }
    }

    impl rt::TypedReference for WalkerRef {
        const REPOSITORY_ID: &'static str = "IDL:example.org/Zoo/Walker:1.0";

        fn interface() -> &'static rt::Interface {
            &WALKER
        }

        fn from_object(object: rt::ObjectRef) -> Self {
            Self(object)
        }

        fn as_object(&self) -> &rt::ObjectRef {
            &self.0
        }
    }

    impl From<WalkerRef> for base::NamedRef {
        fn from(reference: WalkerRef) -> Self {
            rt::TypedReference::from_object(reference.0)
        }
    }

    impl From<WalkerRef> for rt::ObjectRef {
        fn from(reference: WalkerRef) -> Self {
            reference.0
        }
    }

    impl rt::Nilable for WalkerRef {
        fn encode_nilable(value: Option<&Self>, w: &mut rt::Writer<'_>) -> Result<(), rt::EncodeError> {
            rt::encode_reference(value, w)
        }

        fn decode_nilable(r: &mut rt::Reader<'_>) -> Result<Option<Self>, rt::DecodeError> {
            rt::decode_reference(r)
        }
    }

    /// The servant's side of `IDL:example.org/Zoo/Swimmer:1.0`.
    pub trait Swimmer: base::Named {
        /// `IDL:example.org/Zoo/Swimmer/dive:1.0`
        fn dive(&self);

        /// `IDL:example.org/Zoo/Swimmer/swim:1.0`
        ///
        /// Yields `(result, first)`.
        fn swim(
            &self,
            others: &[Option<LaterRef>],
        ) -> Result<(Option<LaterRef>, Option<LaterRef>), rt::SystemException>;
    }

    impl<S: Swimmer + ?Sized> Swimmer for ::std::sync::Arc<S> {
        fn dive(&self) {
            (**self).dive()
        }

        fn swim(
            &self,
            others: &[Option<LaterRef>],
        ) -> Result<(Option<LaterRef>, Option<LaterRef>), rt::SystemException> {
            (**self).swim(others)
        }
    }

    /// Lets an adapter serve an implementation of [`Swimmer`].
    #[derive(Clone, Debug)]
    pub struct SwimmerSkeleton<S>(pub S);

    impl<S: Swimmer> rt::Skeleton for SwimmerSkeleton<S> {
        fn interface(&self) -> &'static rt::Interface {
            &SWIMMER
        }

        fn invoke(&self, operation: u32, call: &mut rt::ServerCall<'_>) -> rt::Dispatched {
            match operation {
                0 => swimmer_skeleton::dive(&self.0, call),
                1 => swimmer_skeleton::swim(&self.0, call),
                2 => base::named_skeleton::name(&self.0, call),
                _ => call.implicit(&SWIMMER, operation),
            }
        }
    }

    impl<S: Swimmer> rt::TypedSkeleton for SwimmerSkeleton<S> {
        type Reference = SwimmerRef;
    }

    /// Skeletons of the operations of `Zoo::Swimmer`.
    pub mod swimmer_skeleton {
        use ::throughline::rt;

        /// Serves `dive`.
        pub fn dive<S: super::Swimmer + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            servant.dive();
            call.reply(|_| Ok(()))
        }

        /// Serves `swim`.
        pub fn swim<S: super::Swimmer + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            let r = call.arguments();
            let others: super::Laters = rt::Decode::decode(r)?;
            match servant.swim(&others) {
                Ok((result, first)) => call.reply(|w| {
                    rt::Encode::encode(&result, w)?;
                    rt::Encode::encode(&first, w)
                }),
                Err(error) => Err(error),
            }
        }
    }

    /// What the runtime knows of `IDL:example.org/Zoo/Swimmer:1.0`.
    pub static SWIMMER: rt::Interface = rt::Interface {
        repository_id: "IDL:example.org/Zoo/Swimmer:1.0",
        ancestors: &["IDL:example.org/Zoo/Swimmer:1.0", "IDL:example.org/Zoo/Base/Named:1.0"],
        operations: rt::OperationTable::new(rt::NameTable::new(
            &[
                "dive",
                "swim",
                "_get_name",
                "_is_a",
                "_non_existent",
                "_interface",
                "_component",
                "_repository_id",
                "_not_existent",
            ],
            16294208416658607535,
            &[1853398635, 3793791033, 3793791033, 3793791033],
            &[7, 5, 0, 0, 1, 0, 4, 2, 0, 0, 0, 8, 3, 0, 6, 0],
        )),
    };

    /// A reference to an object of `IDL:example.org/Zoo/Swimmer:1.0`.
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    pub struct SwimmerRef(rt::ObjectRef);

    #[allow(clippy::redundant_closure)]
    impl SwimmerRef {
        /// The object as one of this interface, or `None` if it is of another. Asks the object itself unless the
        /// reference tells.
        pub fn narrow(object: &rt::ObjectRef) -> Result<Option<Self>, rt::SystemException> {
            object.narrow()
        }

        /// `IDL:example.org/Zoo/Swimmer/dive:1.0`
        pub fn dive(&self) -> Result<(), rt::SystemException> {
            self.0.send_oneway(rt::Operation::new("dive", 0), |_| Ok(()))
        }

        /// `IDL:example.org/Zoo/Swimmer/swim:1.0`
        ///
        /// Yields `(result, first)`.
        pub fn swim(
            &self,
            others: &[Option<LaterRef>],
        ) -> Result<(Option<LaterRef>, Option<LaterRef>), rt::SystemException> {
            self.0.call(
                rt::Operation::new("swim", 1),
                |w| rt::Encode::encode(others, w),
                |r| Ok((rt::Decode::decode(r)?, rt::Decode::decode(r)?)),
            )
        }

        /// [`swim`](Self::swim), as a future.
        ///
        /// Yields `(result, first)`.
        pub fn swim_async(
            &self,
            others: &[Option<LaterRef>],
        ) -> impl ::std::future::Future<
            Output = Result<(Option<LaterRef>, Option<LaterRef>), rt::SystemException>,
        > + Send
        + use<> {
            self.0
                .call_async(
                    rt::Operation::new("swim", 1),
                    |w| rt::Encode::encode(others, w),
                    |r| Ok((rt::Decode::decode(r)?, rt::Decode::decode(r)?)),
                )
                .rewriting(rt::rewrite::<Laters>)
        }

        /// `IDL:example.org/Zoo/Base/Named/name:1.0`
        pub fn name(&self) -> Result<String, rt::SystemException> {
            self.0.call(rt::Operation::new("_get_name", 2), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// [`name`](Self::name), as a future.
        pub fn name_async(
            &self,
        ) -> impl ::std::future::Future<Output = Result<String, rt::SystemException>> + Send + use<> {
            self.0.call_async(rt::Operation::new("_get_name", 2), |_| Ok(()), |r| rt::Decode::decode(r))
        }
    }

    impl rt::TypedReference for SwimmerRef {
        const REPOSITORY_ID: &'static str = "IDL:example.org/Zoo/Swimmer:1.0";

        fn interface() -> &'static rt::Interface {
            &SWIMMER
        }

        fn from_object(object: rt::ObjectRef) -> Self {
            Self(object)
        }

        fn as_object(&self) -> &rt::ObjectRef {
            &self.0
        }
    }

    impl From<SwimmerRef> for base::NamedRef {
        fn from(reference: SwimmerRef) -> Self {
            rt::TypedReference::from_object(reference.0)
        }
    }

    impl From<SwimmerRef> for rt::ObjectRef {
        fn from(reference: SwimmerRef) -> Self {
            reference.0
        }
    }

    impl rt::Nilable for SwimmerRef {
        fn encode_nilable(value: Option<&Self>, w: &mut rt::Writer<'_>) -> Result<(), rt::EncodeError> {
            rt::encode_reference(value, w)
        }

        fn decode_nilable(r: &mut rt::Reader<'_>) -> Result<Option<Self>, rt::DecodeError> {
            rt::decode_reference(r)
        }
    }

    /// What `Zoo::Duck::quack` can fail with.
    #[derive(Clone, Debug, PartialEq)]
    pub enum DuckQuackError {
        /// `IDL:example.org/Zoo/Duck/Upset:1.0`
        Upset(duck::Upset),
        /// `IDL:example.org/Zoo/Base/Gone:1.0`
        Gone(base::Gone),
        /// The call did not reach the object, or came to no regular end.
        System(rt::SystemException),
    }

    impl From<duck::Upset> for DuckQuackError {
        fn from(exception: duck::Upset) -> Self {
            Self::Upset(exception)
        }
    }

    impl From<base::Gone> for DuckQuackError {
        fn from(exception: base::Gone) -> Self {
            Self::Gone(exception)
        }
    }

    impl From<rt::SystemException> for DuckQuackError {
        fn from(exception: rt::SystemException) -> Self {
            Self::System(exception)
        }
    }

    impl ::std::fmt::Display for DuckQuackError {
        fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
            match self {
                Self::Upset(exception) => ::std::fmt::Display::fmt(exception, f),
                Self::Gone(exception) => ::std::fmt::Display::fmt(exception, f),
                Self::System(exception) => ::std::fmt::Display::fmt(exception, f),
            }
        }
    }

    impl ::std::error::Error for DuckQuackError {}

    impl rt::OperationError for DuckQuackError {
        fn decode_user(id: &str, r: &mut rt::Reader<'_>) -> Option<Result<Self, rt::DecodeError>> {
            match id {
                "IDL:example.org/Zoo/Duck/Upset:1.0" => Some(rt::Decode::decode(r).map(Self::Upset)),
                "IDL:example.org/Zoo/Base/Gone:1.0" => Some(rt::Decode::decode(r).map(Self::Gone)),
                _ => None,
            }
        }

        fn raise(self, call: &mut rt::ServerCall<'_>) -> rt::Dispatched {
            match self {
                Self::Upset(exception) => call.raise(&exception),
                Self::Gone(exception) => call.raise(&exception),
                Self::System(exception) => Err(exception),
            }
        }
    }

    /// The servant's side of `IDL:example.org/Zoo/Duck:1.0`.
    pub trait Duck: Walker + Swimmer {
        /// `IDL:example.org/Zoo/Duck/quack:1.0`
        fn quack(&self, how: duck::Mood) -> Result<duck::Moods, DuckQuackError>;

        /// `IDL:example.org/Zoo/Duck/temper:1.0`
        fn temper(&self) -> Result<duck::Mood, rt::SystemException>;

        /// `IDL:example.org/Zoo/Duck/temper:1.0`
        fn set_temper(&self, value: duck::Mood) -> Result<(), rt::SystemException>;
    }

    impl<S: Duck + ?Sized> Duck for ::std::sync::Arc<S> {
        fn quack(&self, how: duck::Mood) -> Result<duck::Moods, DuckQuackError> {
            (**self).quack(how)
        }

        fn temper(&self) -> Result<duck::Mood, rt::SystemException> {
            (**self).temper()
        }

        fn set_temper(&self, value: duck::Mood) -> Result<(), rt::SystemException> {
            (**self).set_temper(value)
        }
    }

    /// Lets an adapter serve an implementation of [`Duck`].
    #[derive(Clone, Debug)]
    pub struct DuckSkeleton<S>(pub S);

    impl<S: Duck> rt::Skeleton for DuckSkeleton<S> {
        fn interface(&self) -> &'static rt::Interface {
            &DUCK
        }

        fn invoke(&self, operation: u32, call: &mut rt::ServerCall<'_>) -> rt::Dispatched {
            match operation {
                0 => duck_skeleton::quack(&self.0, call),
                1 => duck_skeleton::temper(&self.0, call),
                2 => duck_skeleton::set_temper(&self.0, call),
                3 => walker_skeleton::pace(&self.0, call),
                4 => walker_skeleton::set_pace(&self.0, call),
                5 => walker_skeleton::walk(&self.0, call),
                6 => base::named_skeleton::name(&self.0, call),
                7 => swimmer_skeleton::dive(&self.0, call),
                8 => swimmer_skeleton::swim(&self.0, call),
                _ => call.implicit(&DUCK, operation),
            }
        }
    }

    impl<S: Duck> rt::TypedSkeleton for DuckSkeleton<S> {
        type Reference = DuckRef;
    }

    /// Skeletons of the operations of `Zoo::Duck`.
    pub mod duck_skeleton {
        use ::throughline::rt;

        /// Serves `quack`.
        pub fn quack<S: super::Duck + ?Sized>(servant: &S, call: &mut rt::ServerCall<'_>) -> rt::Dispatched {
            let r = call.arguments();
            let how: super::duck::Mood = rt::Decode::decode(r)?;
            match servant.quack(how) {
                Ok(result) => call.reply(|w| rt::Encode::encode(&result, w)),
                Err(error) => rt::OperationError::raise(error, call),
            }
        }

        /// Serves `_get_temper`.
        pub fn temper<S: super::Duck + ?Sized>(servant: &S, call: &mut rt::ServerCall<'_>) -> rt::Dispatched {
            match servant.temper() {
                Ok(result) => call.reply(|w| rt::Encode::encode(&result, w)),
                Err(error) => Err(error),
            }
        }

        /// Serves `_set_temper`.
        pub fn set_temper<S: super::Duck + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            let r = call.arguments();
            let value: super::duck::Mood = rt::Decode::decode(r)?;
            match servant.set_temper(value) {
                Ok(()) => call.reply(|_| Ok(())),
                Err(error) => Err(error),
            }
        }
    }

    /// What the runtime knows of `IDL:example.org/Zoo/Duck:1.0`.
    pub static DUCK: rt::Interface = rt::Interface {
        repository_id: "IDL:example.org/Zoo/Duck:1.0",
        ancestors: &[
            "IDL:example.org/Zoo/Duck:1.0",
            "IDL:example.org/Zoo/Walker:1.0",
            "IDL:example.org/Zoo/Base/Named:1.0",
            "IDL:example.org/Zoo/Swimmer:1.0",
        ],
        operations: rt::OperationTable::new(rt::NameTable::new(
            &[
                "quack",
                "_get_temper",
                "_set_temper",
                "_get_pace",
                "_set_pace",
                "walk",
                "_get_name",
                "dive",
                "swim",
                "_is_a",
                "_non_existent",
                "_interface",
                "_component",
                "_repository_id",
                "_not_existent",
            ],
            16294208416658607535,
            &[3041791767, 4169906345, 1853398635, 1185545645],
            &[6, 14, 8, 10, 4, 11, 3, 1, 12, 0, 0, 9, 5, 13, 2, 7],
        )),
    };

    /// A reference to an object of `IDL:example.org/Zoo/Duck:1.0`.
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    pub struct DuckRef(rt::ObjectRef);

    #[allow(clippy::redundant_closure)]
    impl DuckRef {
        /// The object as one of this interface, or `None` if it is of another. Asks the object itself unless the
        /// reference tells.
        pub fn narrow(object: &rt::ObjectRef) -> Result<Option<Self>, rt::SystemException> {
            object.narrow()
        }

        /// `IDL:example.org/Zoo/Duck/quack:1.0`
        pub fn quack(&self, how: duck::Mood) -> Result<duck::Moods, DuckQuackError> {
            self.0.call(
                rt::Operation::new("quack", 0),
                |w| rt::Encode::encode(&how, w),
                |r| rt::Decode::decode(r),
            )
        }

        /// [`quack`](Self::quack), as a future.
        pub fn quack_async(
            &self,
            how: duck::Mood,
        ) -> impl ::std::future::Future<Output = Result<duck::Moods, DuckQuackError>> + Send + use<> {
            self.0
                .call_async(
                    rt::Operation::new("quack", 0),
                    |w| rt::Encode::encode(&how, w),
                    |r| rt::Decode::decode(r),
                )
                .rewriting(rt::rewrite::<duck::Mood>)
        }

        /// `IDL:example.org/Zoo/Duck/temper:1.0`
        pub fn temper(&self) -> Result<duck::Mood, rt::SystemException> {
            self.0.call(rt::Operation::new("_get_temper", 1), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// [`temper`](Self::temper), as a future.
        pub fn temper_async(
            &self,
        ) -> impl ::std::future::Future<Output = Result<duck::Mood, rt::SystemException>> + Send + use<>
        {
            self.0.call_async(rt::Operation::new("_get_temper", 1), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// `IDL:example.org/Zoo/Duck/temper:1.0`
        pub fn set_temper(&self, value: duck::Mood) -> Result<(), rt::SystemException> {
            self.0.call(rt::Operation::new("_set_temper", 2), |w| rt::Encode::encode(&value, w), |_| Ok(()))
        }

        /// [`set_temper`](Self::set_temper), as a future.
        pub fn set_temper_async(
            &self,
            value: duck::Mood,
        ) -> impl ::std::future::Future<Output = Result<(), rt::SystemException>> + Send + use<> {
            self.0
                .call_async(
                    rt::Operation::new("_set_temper", 2),
                    |w| rt::Encode::encode(&value, w),
                    |_| Ok(()),
                )
                .rewriting(rt::rewrite::<duck::Mood>)
        }

        /// `IDL:example.org/Zoo/Walker/pace:1.0`
        pub fn pace(&self) -> Result<i32, rt::SystemException> {
            self.0.call(rt::Operation::new("_get_pace", 3), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// [`pace`](Self::pace), as a future.
        pub fn pace_async(
            &self,
        ) -> impl ::std::future::Future<Output = Result<i32, rt::SystemException>> + Send + use<> {
            self.0.call_async(rt::Operation::new("_get_pace", 3), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// `IDL:example.org/Zoo/Walker/pace:1.0`
        pub fn set_pace(&self, value: i32) -> Result<(), rt::SystemException> {
            self.0.call(rt::Operation::new("_set_pace", 4), |w| rt::Encode::encode(&value, w), |_| Ok(()))
        }

        /// [`set_pace`](Self::set_pace), as a future.
        pub fn set_pace_async(
            &self,
            value: i32,
        ) -> impl ::std::future::Future<Output = Result<(), rt::SystemException>> + Send + use<> {
            self.0
                .call_async(rt::Operation::new("_set_pace", 4), |w| rt::Encode::encode(&value, w), |_| Ok(()))
                .rewriting(rt::rewrite::<i32>)
        }

        /// `IDL:example.org/Zoo/Walker/walk:1.0`
        pub fn walk(&self, steps: i32) -> Result<i32, WalkerWalkError> {
            self.0.call(
                rt::Operation::new("walk", 5),
                |w| rt::Encode::encode(&steps, w),
                |r| rt::Decode::decode(r),
            )
        }

        /// [`walk`](Self::walk), as a future.
        pub fn walk_async(
            &self,
            steps: i32,
        ) -> impl ::std::future::Future<Output = Result<i32, WalkerWalkError>> + Send + use<> {
            self.0
                .call_async(
                    rt::Operation::new("walk", 5),
                    |w| rt::Encode::encode(&steps, w),
                    |r| rt::Decode::decode(r),
                )
                .rewriting(rt::rewrite::<i32>)
        }

        /// `IDL:example.org/Zoo/Base/Named/name:1.0`
        pub fn name(&self) -> Result<String, rt::SystemException> {
            self.0.call(rt::Operation::new("_get_name", 6), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// [`name`](Self::name), as a future.
        pub fn name_async(
            &self,
        ) -> impl ::std::future::Future<Output = Result<String, rt::SystemException>> + Send + use<> {
            self.0.call_async(rt::Operation::new("_get_name", 6), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// `IDL:example.org/Zoo/Swimmer/dive:1.0`
        pub fn dive(&self) -> Result<(), rt::SystemException> {
            self.0.send_oneway(rt::Operation::new("dive", 7), |_| Ok(()))
        }

        /// `IDL:example.org/Zoo/Swimmer/swim:1.0`
        ///
        /// Yields `(result, first)`.
        pub fn swim(
            &self,
            others: &[Option<LaterRef>],
        ) -> Result<(Option<LaterRef>, Option<LaterRef>), rt::SystemException> {
            self.0.call(
                rt::Operation::new("swim", 8),
                |w| rt::Encode::encode(others, w),
                |r| Ok((rt::Decode::decode(r)?, rt::Decode::decode(r)?)),
            )
        }

        /// [`swim`](Self::swim), as a future.
        ///
        /// Yields `(result, first)`.
        pub fn swim_async(
            &self,
            others: &[Option<LaterRef>],
        ) -> impl ::std::future::Future<
            Output = Result<(Option<LaterRef>, Option<LaterRef>), rt::SystemException>,
        > + Send
        + use<> {
            self.0
                .call_async(
                    rt::Operation::new("swim", 8),
                    |w| rt::Encode::encode(others, w),
                    |r| Ok((rt::Decode::decode(r)?, rt::Decode::decode(r)?)),
                )
                .rewriting(rt::rewrite::<Laters>)
        }
    }

    impl rt::TypedReference for DuckRef {
        const REPOSITORY_ID: &'static str = "IDL:example.org/Zoo/Duck:1.0";

        fn interface() -> &'static rt::Interface {
            &DUCK
        }

        fn from_object(object: rt::ObjectRef) -> Self {
            Self(object)
        }

        fn as_object(&self) -> &rt::ObjectRef {
            &self.0
        }
    }

    impl From<DuckRef> for WalkerRef {
        fn from(reference: DuckRef) -> Self {
            rt::TypedReference::from_object(reference.0)
        }
    }

    impl From<DuckRef> for base::NamedRef {
        fn from(reference: DuckRef) -> Self {
            rt::TypedReference::from_object(reference.0)
        }
    }

    impl From<DuckRef> for SwimmerRef {
        fn from(reference: DuckRef) -> Self {
            rt::TypedReference::from_object(reference.0)
        }
    }

    impl From<DuckRef> for rt::ObjectRef {
        fn from(reference: DuckRef) -> Self {
            reference.0
        }
    }

    impl rt::Nilable for DuckRef {
        fn encode_nilable(value: Option<&Self>, w: &mut rt::Writer<'_>) -> Result<(), rt::EncodeError> {
            rt::encode_reference(value, w)
        }

        fn decode_nilable(r: &mut rt::Reader<'_>) -> Result<Option<Self>, rt::DecodeError> {
            rt::decode_reference(r)
        }
    }

    /// What is defined inside `Zoo::Duck`.
    pub mod duck {
        use ::throughline::rt;

        /// `IDL:example.org/Zoo/Duck/Mood:1.0`
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Mood {
            /// `calm`
            Calm,
            /// `cross`
            Cross,
        }

        impl rt::Encode for Mood {
            fn encode(&self, w: &mut rt::Writer<'_>) -> Result<(), rt::EncodeError> {
                w.write_u32(*self as u32);
                Ok(())
            }
        }

        impl<'a> rt::Decode<'a> for Mood {
            const MIN_SIZE: usize = 4;

            fn decode(r: &mut rt::Reader<'a>) -> Result<Self, rt::DecodeError> {
                match r.read_u32()? {
                    0 => Ok(Self::Calm),
                    1 => Ok(Self::Cross),
                    value => Err(rt::DecodeError::InvalidEnum { value }),
                }
            }
        }

        /// `IDL:example.org/Zoo/Duck/Upset:1.0`
        #[derive(Clone, Debug, PartialEq)]
        pub struct Upset {
            /// `Zoo::Duck::Mood why`
            pub why: Mood,
        }

        impl rt::Encode for Upset {
            fn encode(&self, w: &mut rt::Writer<'_>) -> Result<(), rt::EncodeError> {
                rt::Encode::encode(&self.why, w)
            }
        }

        impl<'a> rt::Decode<'a> for Upset {
            const MIN_SIZE: usize = 4;

            fn decode(r: &mut rt::Reader<'a>) -> Result<Self, rt::DecodeError> {
                Ok(Self { why: rt::Decode::decode(r)? })
            }
        }

        impl rt::UserException for Upset {
            const REPOSITORY_ID: &'static str = "IDL:example.org/Zoo/Duck/Upset:1.0";
        }

        impl ::std::fmt::Display for Upset {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.debug_struct("Zoo::Duck::Upset").field("why", &self.why).finish()
            }
        }

        impl ::std::error::Error for Upset {}

        /// `typedef sequence<Zoo::Duck::Mood> Moods`
        pub type Moods = Vec<Mood>;

        /// `const long FEET`
        pub const FEET: i32 = 2;
    }

    /// What `Zoo::Later::finally` can fail with.
    #[derive(Clone, Debug, PartialEq)]
    pub enum LaterFinallyError {
        /// `IDL:example.org/Zoo/Duck/Upset:1.0`
        Upset(duck::Upset),
        /// The call did not reach the object, or came to no regular end.
        System(rt::SystemException),
    }

    impl From<duck::Upset> for LaterFinallyError {
        fn from(exception: duck::Upset) -> Self {
            Self::Upset(exception)
        }
    }

    impl From<rt::SystemException> for LaterFinallyError {
        fn from(exception: rt::SystemException) -> Self {
            Self::System(exception)
        }
    }

    impl ::std::fmt::Display for LaterFinallyError {
        fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
            match self {
                Self::Upset(exception) => ::std::fmt::Display::fmt(exception, f),
                Self::System(exception) => ::std::fmt::Display::fmt(exception, f),
            }
        }
    }

    impl ::std::error::Error for LaterFinallyError {}

    impl rt::OperationError for LaterFinallyError {
        fn decode_user(id: &str, r: &mut rt::Reader<'_>) -> Option<Result<Self, rt::DecodeError>> {
            match id {
                "IDL:example.org/Zoo/Duck/Upset:1.0" => Some(rt::Decode::decode(r).map(Self::Upset)),
                _ => None,
            }
        }

        fn raise(self, call: &mut rt::ServerCall<'_>) -> rt::Dispatched {
            match self {
                Self::Upset(exception) => call.raise(&exception),
                Self::System(exception) => Err(exception),
            }
        }
    }

    /// The servant's side of `IDL:example.org/Zoo/Later:1.0`.
    pub trait Later: Duck {
        /// `IDL:example.org/Zoo/Later/finally:1.0`
        fn finally(&self, how: duck::Mood) -> Result<(), LaterFinallyError>;
    }

    impl<S: Later + ?Sized> Later for ::std::sync::Arc<S> {
        fn finally(&self, how: duck::Mood) -> Result<(), LaterFinallyError> {
            (**self).finally(how)
        }
    }

    /// Lets an adapter serve an implementation of [`Later`].
    #[derive(Clone, Debug)]
    pub struct LaterSkeleton<S>(pub S);

    impl<S: Later> rt::Skeleton for LaterSkeleton<S> {
        fn interface(&self) -> &'static rt::Interface {
            &LATER
        }

        fn invoke(&self, operation: u32, call: &mut rt::ServerCall<'_>) -> rt::Dispatched {
            match operation {
                0 => later_skeleton::finally(&self.0, call),
                1 => duck_skeleton::quack(&self.0, call),
                2 => duck_skeleton::temper(&self.0, call),
                3 => duck_skeleton::set_temper(&self.0, call),
                4 => walker_skeleton::pace(&self.0, call),
                5 => walker_skeleton::set_pace(&self.0, call),
                6 => walker_skeleton::walk(&self.0, call),
                7 => base::named_skeleton::name(&self.0, call),
                8 => swimmer_skeleton::dive(&self.0, call),
                9 => swimmer_skeleton::swim(&self.0, call),
                _ => call.implicit(&LATER, operation),
            }
        }
    }

    impl<S: Later> rt::TypedSkeleton for LaterSkeleton<S> {
        type Reference = LaterRef;
    }

    /// Skeletons of the operations of `Zoo::Later`.
    pub mod later_skeleton {
        use ::throughline::rt;

        /// Serves `finally`.
        pub fn finally<S: super::Later + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            let r = call.arguments();
            let how: super::duck::Mood = rt::Decode::decode(r)?;
            match servant.finally(how) {
                Ok(()) => call.reply(|_| Ok(())),
                Err(error) => rt::OperationError::raise(error, call),
            }
        }
    }

    /// What the runtime knows of `IDL:example.org/Zoo/Later:1.0`.
    pub static LATER: rt::Interface = rt::Interface {
        repository_id: "IDL:example.org/Zoo/Later:1.0",
        ancestors: &[
            "IDL:example.org/Zoo/Later:1.0",
            "IDL:example.org/Zoo/Duck:1.0",
            "IDL:example.org/Zoo/Walker:1.0",
            "IDL:example.org/Zoo/Base/Named:1.0",
            "IDL:example.org/Zoo/Swimmer:1.0",
        ],
        operations: rt::OperationTable::new(rt::NameTable::new(
            &[
                "finally",
                "quack",
                "_get_temper",
                "_set_temper",
                "_get_pace",
                "_set_pace",
                "walk",
                "_get_name",
                "dive",
                "swim",
                "_is_a",
                "_non_existent",
                "_interface",
                "_component",
                "_repository_id",
                "_not_existent",
            ],
            16294208416658607535,
            &[4169906345, 113532185, 1, 3793791033, 1, 1853398635, 2250350655, 443934455],
            &[3, 14, 5, 8, 6, 2, 11, 9, 1, 7, 13, 15, 10, 12, 4, 0],
        )),
    };

    /// A reference to an object of `IDL:example.org/Zoo/Later:1.0`.
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    pub struct LaterRef(rt::ObjectRef);

    #[allow(clippy::redundant_closure)]
    impl LaterRef {
        /// The object as one of this interface, or `None` if it is of another. Asks the object itself unless the
        /// reference tells.
        pub fn narrow(object: &rt::ObjectRef) -> Result<Option<Self>, rt::SystemException> {
            object.narrow()
        }

        /// `IDL:example.org/Zoo/Later/finally:1.0`
        pub fn finally(&self, how: duck::Mood) -> Result<(), LaterFinallyError> {
            self.0.call(rt::Operation::new("finally", 0), |w| rt::Encode::encode(&how, w), |_| Ok(()))
        }

        /// [`finally`](Self::finally), as a future.
        pub fn finally_async(
            &self,
            how: duck::Mood,
        ) -> impl ::std::future::Future<Output = Result<(), LaterFinallyError>> + Send + use<> {
            self.0
                .call_async(rt::Operation::new("finally", 0), |w| rt::Encode::encode(&how, w), |_| Ok(()))
                .rewriting(rt::rewrite::<duck::Mood>)
        }

        /// `IDL:example.org/Zoo/Duck/quack:1.0`
        pub fn quack(&self, how: duck::Mood) -> Result<duck::Moods, DuckQuackError> {
            self.0.call(
                rt::Operation::new("quack", 1),
                |w| rt::Encode::encode(&how, w),
                |r| rt::Decode::decode(r),
            )
        }

        /// [`quack`](Self::quack), as a future.
        pub fn quack_async(
            &self,
            how: duck::Mood,
        ) -> impl ::std::future::Future<Output = Result<duck::Moods, DuckQuackError>> + Send + use<> {
            self.0
                .call_async(
                    rt::Operation::new("quack", 1),
                    |w| rt::Encode::encode(&how, w),
                    |r| rt::Decode::decode(r),
                )
                .rewriting(rt::rewrite::<duck::Mood>)
        }

        /// `IDL:example.org/Zoo/Duck/temper:1.0`
        pub fn temper(&self) -> Result<duck::Mood, rt::SystemException> {
            self.0.call(rt::Operation::new("_get_temper", 2), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// [`temper`](Self::temper), as a future.
        pub fn temper_async(
            &self,
        ) -> impl ::std::future::Future<Output = Result<duck::Mood, rt::SystemException>> + Send + use<>
        {
            self.0.call_async(rt::Operation::new("_get_temper", 2), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// `IDL:example.org/Zoo/Duck/temper:1.0`
        pub fn set_temper(&self, value: duck::Mood) -> Result<(), rt::SystemException> {
            self.0.call(rt::Operation::new("_set_temper", 3), |w| rt::Encode::encode(&value, w), |_| Ok(()))
        }

        /// [`set_temper`](Self::set_temper), as a future.
        pub fn set_temper_async(
            &self,
            value: duck::Mood,
        ) -> impl ::std::future::Future<Output = Result<(), rt::SystemException>> + Send + use<> {
            self.0
                .call_async(
                    rt::Operation::new("_set_temper", 3),
                    |w| rt::Encode::encode(&value, w),
                    |_| Ok(()),
                )
                .rewriting(rt::rewrite::<duck::Mood>)
        }

        /// `IDL:example.org/Zoo/Walker/pace:1.0`
        pub fn pace(&self) -> Result<i32, rt::SystemException> {
            self.0.call(rt::Operation::new("_get_pace", 4), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// [`pace`](Self::pace), as a future.
        pub fn pace_async(
            &self,
        ) -> impl ::std::future::Future<Output = Result<i32, rt::SystemException>> + Send + use<> {
            self.0.call_async(rt::Operation::new("_get_pace", 4), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// `IDL:example.org/Zoo/Walker/pace:1.0`
        pub fn set_pace(&self, value: i32) -> Result<(), rt::SystemException> {
            self.0.call(rt::Operation::new("_set_pace", 5), |w| rt::Encode::encode(&value, w), |_| Ok(()))
        }

        /// [`set_pace`](Self::set_pace), as a future.
        pub fn set_pace_async(
            &self,
            value: i32,
        ) -> impl ::std::future::Future<Output = Result<(), rt::SystemException>> + Send + use<> {
            self.0
                .call_async(rt::Operation::new("_set_pace", 5), |w| rt::Encode::encode(&value, w), |_| Ok(()))
                .rewriting(rt::rewrite::<i32>)
        }

        /// `IDL:example.org/Zoo/Walker/walk:1.0`
        pub fn walk(&self, steps: i32) -> Result<i32, WalkerWalkError> {
            self.0.call(
                rt::Operation::new("walk", 6),
                |w| rt::Encode::encode(&steps, w),
                |r| rt::Decode::decode(r),
            )
        }

        /// [`walk`](Self::walk), as a future.
        pub fn walk_async(
            &self,
            steps: i32,
        ) -> impl ::std::future::Future<Output = Result<i32, WalkerWalkError>> + Send + use<> {
            self.0
                .call_async(
                    rt::Operation::new("walk", 6),
                    |w| rt::Encode::encode(&steps, w),
                    |r| rt::Decode::decode(r),
                )
                .rewriting(rt::rewrite::<i32>)
        }

        /// `IDL:example.org/Zoo/Base/Named/name:1.0`
        pub fn name(&self) -> Result<String, rt::SystemException> {
            self.0.call(rt::Operation::new("_get_name", 7), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// [`name`](Self::name), as a future.
        pub fn name_async(
            &self,
        ) -> impl ::std::future::Future<Output = Result<String, rt::SystemException>> + Send + use<> {
            self.0.call_async(rt::Operation::new("_get_name", 7), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// `IDL:example.org/Zoo/Swimmer/dive:1.0`
        pub fn dive(&self) -> Result<(), rt::SystemException> {
            self.0.send_oneway(rt::Operation::new("dive", 8), |_| Ok(()))
        }

        /// `IDL:example.org/Zoo/Swimmer/swim:1.0`
        ///
        /// Yields `(result, first)`.
        pub fn swim(
            &self,
            others: &[Option<LaterRef>],
        ) -> Result<(Option<LaterRef>, Option<LaterRef>), rt::SystemException> {
            self.0.call(
                rt::Operation::new("swim", 9),
                |w| rt::Encode::encode(others, w),
                |r| Ok((rt::Decode::decode(r)?, rt::Decode::decode(r)?)),
            )
        }

        /// [`swim`](Self::swim), as a future.
        ///
        /// Yields `(result, first)`.
        pub fn swim_async(
            &self,
            others: &[Option<LaterRef>],
        ) -> impl ::std::future::Future<
            Output = Result<(Option<LaterRef>, Option<LaterRef>), rt::SystemException>,
        > + Send
        + use<> {
            self.0
                .call_async(
                    rt::Operation::new("swim", 9),
                    |w| rt::Encode::encode(others, w),
                    |r| Ok((rt::Decode::decode(r)?, rt::Decode::decode(r)?)),
                )
                .rewriting(rt::rewrite::<Laters>)
        }
    }

    impl rt::TypedReference for LaterRef {
        const REPOSITORY_ID: &'static str = "IDL:example.org/Zoo/Later:1.0";

        fn interface() -> &'static rt::Interface {
            &LATER
        }

        fn from_object(object: rt::ObjectRef) -> Self {
            Self(object)
        }

        fn as_object(&self) -> &rt::ObjectRef {
            &self.0
        }
    }

    impl From<LaterRef> for DuckRef {
        fn from(reference: LaterRef) -> Self {
            rt::TypedReference::from_object(reference.0)
        }
    }

    impl From<LaterRef> for WalkerRef {
        fn from(reference: LaterRef) -> Self {
            rt::TypedReference::from_object(reference.0)
        }
    }

    impl From<LaterRef> for base::NamedRef {
        fn from(reference: LaterRef) -> Self {
            rt::TypedReference::from_object(reference.0)
        }
    }

    impl From<LaterRef> for SwimmerRef {
        fn from(reference: LaterRef) -> Self {
            rt::TypedReference::from_object(reference.0)
        }
    }

    impl From<LaterRef> for rt::ObjectRef {
        fn from(reference: LaterRef) -> Self {
            reference.0
        }
    }

    impl rt::Nilable for LaterRef {
        fn encode_nilable(value: Option<&Self>, w: &mut rt::Writer<'_>) -> Result<(), rt::EncodeError> {
            rt::encode_reference(value, w)
        }

        fn decode_nilable(r: &mut rt::Reader<'_>) -> Result<Option<Self>, rt::DecodeError> {
            rt::decode_reference(r)
        }
    }

    /// The servant's side of `IDL:example.org/Zoo/Gander:1.0`.
    pub trait Gander: super::farm::Goose {
        /// `IDL:example.org/Zoo/Gander/hiss:1.0`
        fn hiss(&self) -> Result<(), rt::SystemException>;
    }

    impl<S: Gander + ?Sized> Gander for ::std::sync::Arc<S> {
        fn hiss(&self) -> Result<(), rt::SystemException> {
            (**self).hiss()
        }
    }

    /// Lets an adapter serve an implementation of [`Gander`].
    #[derive(Clone, Debug)]
    pub struct GanderSkeleton<S>(pub S);

    impl<S: Gander> rt::Skeleton for GanderSkeleton<S> {
        fn interface(&self) -> &'static rt::Interface {
            &GANDER
        }

        fn invoke(&self, operation: u32, call: &mut rt::ServerCall<'_>) -> rt::Dispatched {
            match operation {
                0 => gander_skeleton::hiss(&self.0, call),
                1 => super::farm::goose_skeleton::honk(&self.0, call),
                2 => duck_skeleton::quack(&self.0, call),
                3 => duck_skeleton::temper(&self.0, call),
                4 => duck_skeleton::set_temper(&self.0, call),
                5 => walker_skeleton::pace(&self.0, call),
                6 => walker_skeleton::set_pace(&self.0, call),
                7 => walker_skeleton::walk(&self.0, call),
                8 => base::named_skeleton::name(&self.0, call),
                9 => swimmer_skeleton::dive(&self.0, call),
                10 => swimmer_skeleton::swim(&self.0, call),
                _ => call.implicit(&GANDER, operation),
            }
        }
    }

    impl<S: Gander> rt::TypedSkeleton for GanderSkeleton<S> {
        type Reference = GanderRef;
    }

    /// Skeletons of the operations of `Zoo::Gander`.
    pub mod gander_skeleton {
        use ::throughline::rt;

        /// Serves `hiss`.
        pub fn hiss<S: super::Gander + ?Sized>(servant: &S, call: &mut rt::ServerCall<'_>) -> rt::Dispatched {
            match servant.hiss() {
                Ok(()) => call.reply(|_| Ok(())),
                Err(error) => Err(error),
            }
        }
    }

    /// What the runtime knows of `IDL:example.org/Zoo/Gander:1.0`.
    pub static GANDER: rt::Interface = rt::Interface {
        repository_id: "IDL:example.org/Zoo/Gander:1.0",
        ancestors: &[
            "IDL:example.org/Zoo/Gander:1.0",
            "IDL:example.org/Farm/Goose:1.0",
            "IDL:example.org/Zoo/Duck:1.0",
            "IDL:example.org/Zoo/Walker:1.0",
            "IDL:example.org/Zoo/Base/Named:1.0",
            "IDL:example.org/Zoo/Swimmer:1.0",
        ],
        operations: rt::OperationTable::new(rt::NameTable::new(
            &[
                "hiss",
                "honk",
                "quack",
                "_get_temper",
                "_set_temper",
                "_get_pace",
                "_set_pace",
                "walk",
                "_get_name",
                "dive",
                "swim",
                "_is_a",
                "_non_existent",
                "_interface",
                "_component",
                "_repository_id",
                "_not_existent",
            ],
            16294208416658607535,
            &[456755563, 4169906345, 1853398635, 3793791033, 1, 3793791033, 113532185, 4088940685],
            &[
                15, 0, 0, 0, 0, 0, 13, 6, 10, 5, 9, 0, 0, 12, 3, 0, 7, 0, 0, 1, 8, 2, 0, 16, 0, 11, 0, 0, 4,
                0, 14, 0,
            ],
        )),
    };

    /// A reference to an object of `IDL:example.org/Zoo/Gander:1.0`.
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    pub struct GanderRef(rt::ObjectRef);

    #[allow(clippy::redundant_closure)]
    impl GanderRef {
        /// The object as one of this interface, or `None` if it is of another. Asks the object itself unless the
        /// reference tells.
        pub fn narrow(object: &rt::ObjectRef) -> Result<Option<Self>, rt::SystemException> {
            object.narrow()
        }

        /// `IDL:example.org/Zoo/Gander/hiss:1.0`
        pub fn hiss(&self) -> Result<(), rt::SystemException> {
            self.0.call(rt::Operation::new("hiss", 0), |_| Ok(()), |_| Ok(()))
        }

        /// [`hiss`](Self::hiss), as a future.
        pub fn hiss_async(
            &self,
        ) -> impl ::std::future::Future<Output = Result<(), rt::SystemException>> + Send + use<> {
            self.0.call_async(rt::Operation::new("hiss", 0), |_| Ok(()), |_| Ok(()))
        }

        /// `IDL:example.org/Farm/Goose/honk:1.0`
        pub fn honk(&self) -> Result<(), rt::SystemException> {
            self.0.call(rt::Operation::new("honk", 1), |_| Ok(()), |_| Ok(()))
        }

        /// [`honk`](Self::honk), as a future.
        pub fn honk_async(
            &self,
        ) -> impl ::std::future::Future<Output = Result<(), rt::SystemException>> + Send + use<> {
            self.0.call_async(rt::Operation::new("honk", 1), |_| Ok(()), |_| Ok(()))
        }

        /// `IDL:example.org/Zoo/Duck/quack:1.0`
        pub fn quack(&self, how: duck::Mood) -> Result<duck::Moods, DuckQuackError> {
            self.0.call(
                rt::Operation::new("quack", 2),
                |w| rt::Encode::encode(&how, w),
                |r| rt::Decode::decode(r),
            )
        }

        /// [`quack`](Self::quack), as a future.
        pub fn quack_async(
            &self,
            how: duck::Mood,
        ) -> impl ::std::future::Future<Output = Result<duck::Moods, DuckQuackError>> + Send + use<> {
            self.0
                .call_async(
                    rt::Operation::new("quack", 2),
                    |w| rt::Encode::encode(&how, w),
                    |r| rt::Decode::decode(r),
                )
                .rewriting(rt::rewrite::<duck::Mood>)
        }

        /// `IDL:example.org/Zoo/Duck/temper:1.0`
        pub fn temper(&self) -> Result<duck::Mood, rt::SystemException> {
            self.0.call(rt::Operation::new("_get_temper", 3), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// [`temper`](Self::temper), as a future.
        pub fn temper_async(
            &self,
        ) -> impl ::std::future::Future<Output = Result<duck::Mood, rt::SystemException>> + Send + use<>
        {
            self.0.call_async(rt::Operation::new("_get_temper", 3), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// `IDL:example.org/Zoo/Duck/temper:1.0`
        pub fn set_temper(&self, value: duck::Mood) -> Result<(), rt::SystemException> {
            self.0.call(rt::Operation::new("_set_temper", 4), |w| rt::Encode::encode(&value, w), |_| Ok(()))
        }

        /// [`set_temper`](Self::set_temper), as a future.
        pub fn set_temper_async(
            &self,
            value: duck::Mood,
        ) -> impl ::std::future::Future<Output = Result<(), rt::SystemException>> + Send + use<> {
            self.0
                .call_async(
                    rt::Operation::new("_set_temper", 4),
                    |w| rt::Encode::encode(&value, w),
                    |_| Ok(()),
                )
                .rewriting(rt::rewrite::<duck::Mood>)
        }

        /// `IDL:example.org/Zoo/Walker/pace:1.0`
        pub fn pace(&self) -> Result<i32, rt::SystemException> {
            self.0.call(rt::Operation::new("_get_pace", 5), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// [`pace`](Self::pace), as a future.
        pub fn pace_async(
            &self,
        ) -> impl ::std::future::Future<Output = Result<i32, rt::SystemException>> + Send + use<> {
            self.0.call_async(rt::Operation::new("_get_pace", 5), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// `IDL:example.org/Zoo/Walker/pace:1.0`
        pub fn set_pace(&self, value: i32) -> Result<(), rt::SystemException> {
            self.0.call(rt::Operation::new("_set_pace", 6), |w| rt::Encode::encode(&value, w), |_| Ok(()))
        }

        /// [`set_pace`](Self::set_pace), as a future.
        pub fn set_pace_async(
            &self,
            value: i32,
        ) -> impl ::std::future::Future<Output = Result<(), rt::SystemException>> + Send + use<> {
            self.0
                .call_async(rt::Operation::new("_set_pace", 6), |w| rt::Encode::encode(&value, w), |_| Ok(()))
                .rewriting(rt::rewrite::<i32>)
        }

        /// `IDL:example.org/Zoo/Walker/walk:1.0`
        pub fn walk(&self, steps: i32) -> Result<i32, WalkerWalkError> {
            self.0.call(
                rt::Operation::new("walk", 7),
                |w| rt::Encode::encode(&steps, w),
                |r| rt::Decode::decode(r),
            )
        }

        /// [`walk`](Self::walk), as a future.
        pub fn walk_async(
            &self,
            steps: i32,
        ) -> impl ::std::future::Future<Output = Result<i32, WalkerWalkError>> + Send + use<> {
            self.0
                .call_async(
                    rt::Operation::new("walk", 7),
                    |w| rt::Encode::encode(&steps, w),
                    |r| rt::Decode::decode(r),
                )
                .rewriting(rt::rewrite::<i32>)
        }

        /// `IDL:example.org/Zoo/Base/Named/name:1.0`
        pub fn name(&self) -> Result<String, rt::SystemException> {
            self.0.call(rt::Operation::new("_get_name", 8), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// [`name`](Self::name), as a future.
        pub fn name_async(
            &self,
        ) -> impl ::std::future::Future<Output = Result<String, rt::SystemException>> + Send + use<> {
            self.0.call_async(rt::Operation::new("_get_name", 8), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// `IDL:example.org/Zoo/Swimmer/dive:1.0`
        pub fn dive(&self) -> Result<(), rt::SystemException> {
            self.0.send_oneway(rt::Operation::new("dive", 9), |_| Ok(()))
        }

        /// `IDL:example.org/Zoo/Swimmer/swim:1.0`
        ///
        /// Yields `(result, first)`.
        pub fn swim(
            &self,
            others: &[Option<LaterRef>],
        ) -> Result<(Option<LaterRef>, Option<LaterRef>), rt::SystemException> {
            self.0.call(
                rt::Operation::new("swim", 10),
                |w| rt::Encode::encode(others, w),
                |r| Ok((rt::Decode::decode(r)?, rt::Decode::decode(r)?)),
            )
        }

        /// [`swim`](Self::swim), as a future.
        ///
        /// Yields `(result, first)`.
        pub fn swim_async(
            &self,
            others: &[Option<LaterRef>],
        ) -> impl ::std::future::Future<
            Output = Result<(Option<LaterRef>, Option<LaterRef>), rt::SystemException>,
        > + Send
        + use<> {
            self.0
                .call_async(
                    rt::Operation::new("swim", 10),
                    |w| rt::Encode::encode(others, w),
                    |r| Ok((rt::Decode::decode(r)?, rt::Decode::decode(r)?)),
                )
                .rewriting(rt::rewrite::<Laters>)
        }
    }

    impl rt::TypedReference for GanderRef {
        const REPOSITORY_ID: &'static str = "IDL:example.org/Zoo/Gander:1.0";

        fn interface() -> &'static rt::Interface {
            &GANDER
        }

        fn from_object(object: rt::ObjectRef) -> Self {
            Self(object)
        }

        fn as_object(&self) -> &rt::ObjectRef {
            &self.0
        }
    }

    impl From<GanderRef> for super::farm::GooseRef {
        fn from(reference: GanderRef) -> Self {
            rt::TypedReference::from_object(reference.0)
        }
    }

    impl From<GanderRef> for DuckRef {
        fn from(reference: GanderRef) -> Self {
            rt::TypedReference::from_object(reference.0)
        }
    }

    impl From<GanderRef> for WalkerRef {
        fn from(reference: GanderRef) -> Self {
            rt::TypedReference::from_object(reference.0)
        }
    }

    impl From<GanderRef> for base::NamedRef {
        fn from(reference: GanderRef) -> Self {
            rt::TypedReference::from_object(reference.0)
        }
    }

    impl From<GanderRef> for SwimmerRef {
        fn from(reference: GanderRef) -> Self {
            rt::TypedReference::from_object(reference.0)
        }
    }

    impl From<GanderRef> for rt::ObjectRef {
        fn from(reference: GanderRef) -> Self {
            reference.0
        }
    }

    impl rt::Nilable for GanderRef {
        fn encode_nilable(value: Option<&Self>, w: &mut rt::Writer<'_>) -> Result<(), rt::EncodeError> {
            rt::encode_reference(value, w)
        }

        fn decode_nilable(r: &mut rt::Reader<'_>) -> Result<Option<Self>, rt::DecodeError> {
            rt::decode_reference(r)
        }
    }

    /// Neither of its own kind alone.
    pub trait Describable: Send + Sync + 'static {
        /// `IDL:example.org/Zoo/Describable/describe:1.0`
        fn describe(&self) -> Result<String, rt::SystemException>;
    }

    impl<S: Describable + ?Sized> Describable for ::std::sync::Arc<S> {
        fn describe(&self) -> Result<String, rt::SystemException> {
            (**self).describe()
        }
    }

    /// Skeletons of the operations of `Zoo::Describable`.
    pub mod describable_skeleton {
        use ::throughline::rt;

        /// Serves `describe`.
        pub fn describe<S: super::Describable + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            match servant.describe() {
                Ok(result) => call.reply(|w| rt::Encode::encode(&result, w)),
                Err(error) => Err(error),
            }
        }
    }

    /// What the runtime knows of `IDL:example.org/Zoo/Describable:1.0`.
    pub static DESCRIBABLE: rt::Interface = rt::Interface {
        repository_id: "IDL:example.org/Zoo/Describable:1.0",
        ancestors: &["IDL:example.org/Zoo/Describable:1.0"],
        operations: rt::OperationTable::new(rt::NameTable::new(
            &[
                "describe",
                "_is_a",
                "_non_existent",
                "_interface",
                "_component",
                "_repository_id",
                "_not_existent",
            ],
            16294208416658607535,
            &[1853398635, 4088940685],
            &[0, 3, 0, 1, 2, 6, 5, 4],
        )),
    };

    /// A reference to an object of `IDL:example.org/Zoo/Describable:1.0`.
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    pub struct DescribableRef(rt::ObjectRef);

    #[allow(clippy::redundant_closure)]
    impl DescribableRef {
        /// The object as one of this interface, or `None` if it is of another. Asks the object itself unless the
        /// reference tells.
        pub fn narrow(object: &rt::ObjectRef) -> Result<Option<Self>, rt::SystemException> {
            object.narrow()
        }

        /// `IDL:example.org/Zoo/Describable/describe:1.0`
        pub fn describe(&self) -> Result<String, rt::SystemException> {
            self.0.call(rt::Operation::new("describe", 0), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// [`describe`](Self::describe), as a future.
        pub fn describe_async(
            &self,
        ) -> impl ::std::future::Future<Output = Result<String, rt::SystemException>> + Send + use<> {
            self.0.call_async(rt::Operation::new("describe", 0), |_| Ok(()), |r| rt::Decode::decode(r))
        }
    }

    impl rt::TypedReference for DescribableRef {
        const REPOSITORY_ID: &'static str = "IDL:example.org/Zoo/Describable:1.0";

        fn interface() -> &'static rt::Interface {
            &DESCRIBABLE
        }

        fn from_object(object: rt::ObjectRef) -> Self {
            Self(object)
        }

        fn as_object(&self) -> &rt::ObjectRef {
            &self.0
        }
    }

    impl From<DescribableRef> for rt::ObjectRef {
        fn from(reference: DescribableRef) -> Self {
            reference.0
        }
    }

    impl rt::Nilable for DescribableRef {
        fn encode_nilable(value: Option<&Self>, w: &mut rt::Writer<'_>) -> Result<(), rt::EncodeError> {
            w.write_bool(value.is_some());
            match value {
                Some(_) => rt::encode_reference(value, w),
                None => {
                    w.write_u32(0);
                    Ok(())
                }
            }
        }

        fn decode_nilable(r: &mut rt::Reader<'_>) -> Result<Option<Self>, rt::DecodeError> {
            if r.read_bool()? {
                return rt::decode_reference(r);
            }
            match r.read_u32()? {
                0 => Ok(None),
                _ => Err(rt::DecodeError::Invalid { what: "a value where an object is supported only" }),
            }
        }
    }

    /// The servant's side of `IDL:example.org/Zoo/Statue:1.0`.
    pub trait Statue: Describable {
        /// `IDL:example.org/Zoo/Statue/height:1.0`
        fn height(&self) -> Result<i32, rt::SystemException>;
    }

    impl<S: Statue + ?Sized> Statue for ::std::sync::Arc<S> {
        fn height(&self) -> Result<i32, rt::SystemException> {
            (**self).height()
        }
    }

    /// Lets an adapter serve an implementation of [`Statue`].
    #[derive(Clone, Debug)]
    pub struct StatueSkeleton<S>(pub S);

    impl<S: Statue> rt::Skeleton for StatueSkeleton<S> {
        fn interface(&self) -> &'static rt::Interface {
            &STATUE
        }

        fn invoke(&self, operation: u32, call: &mut rt::ServerCall<'_>) -> rt::Dispatched {
            match operation {
                0 => statue_skeleton::height(&self.0, call),
                1 => describable_skeleton::describe(&self.0, call),
                _ => call.implicit(&STATUE, operation),
            }
        }
    }

    impl<S: Statue> rt::TypedSkeleton for StatueSkeleton<S> {
        type Reference = StatueRef;
    }

    /// Skeletons of the operations of `Zoo::Statue`.
    pub mod statue_skeleton {
        use ::throughline::rt;

        /// Serves `_get_height`.
        pub fn height<S: super::Statue + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            match servant.height() {
                Ok(result) => call.reply(|w| rt::Encode::encode(&result, w)),
                Err(error) => Err(error),
            }
        }
    }

    /// What the runtime knows of `IDL:example.org/Zoo/Statue:1.0`.
    pub static STATUE: rt::Interface = rt::Interface {
        repository_id: "IDL:example.org/Zoo/Statue:1.0",
        ancestors: &["IDL:example.org/Zoo/Statue:1.0", "IDL:example.org/Zoo/Describable:1.0"],
        operations: rt::OperationTable::new(rt::NameTable::new(
            &[
                "_get_height",
                "describe",
                "_is_a",
                "_non_existent",
                "_interface",
                "_component",
                "_repository_id",
                "_not_existent",
            ],
            16294208416658607535,
            &[1853398635, 113532185, 879159713, 3793791033],
            &[4, 1, 0, 3, 6, 7, 2, 5],
        )),
    };

    /// A reference to an object of `IDL:example.org/Zoo/Statue:1.0`.
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    pub struct StatueRef(rt::ObjectRef);

    #[allow(clippy::redundant_closure)]
    impl StatueRef {
        /// The object as one of this interface, or `None` if it is of another. Asks the object itself unless the
        /// reference tells.
        pub fn narrow(object: &rt::ObjectRef) -> Result<Option<Self>, rt::SystemException> {
            object.narrow()
        }

        /// `IDL:example.org/Zoo/Statue/height:1.0`
        pub fn height(&self) -> Result<i32, rt::SystemException> {
            self.0.call(rt::Operation::new("_get_height", 0), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// [`height`](Self::height), as a future.
        pub fn height_async(
            &self,
        ) -> impl ::std::future::Future<Output = Result<i32, rt::SystemException>> + Send + use<> {
            self.0.call_async(rt::Operation::new("_get_height", 0), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// `IDL:example.org/Zoo/Describable/describe:1.0`
        pub fn describe(&self) -> Result<String, rt::SystemException> {
            self.0.call(rt::Operation::new("describe", 1), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// [`describe`](Self::describe), as a future.
        pub fn describe_async(
            &self,
        ) -> impl ::std::future::Future<Output = Result<String, rt::SystemException>> + Send + use<> {
            self.0.call_async(rt::Operation::new("describe", 1), |_| Ok(()), |r| rt::Decode::decode(r))
        }
    }

    impl rt::TypedReference for StatueRef {
        const REPOSITORY_ID: &'static str = "IDL:example.org/Zoo/Statue:1.0";

        fn interface() -> &'static rt::Interface {
            &STATUE
        }

        fn from_object(object: rt::ObjectRef) -> Self {
            Self(object)
        }

        fn as_object(&self) -> &rt::ObjectRef {
            &self.0
        }
    }

    impl From<StatueRef> for DescribableRef {
        fn from(reference: StatueRef) -> Self {
            rt::TypedReference::from_object(reference.0)
        }
    }

    impl From<StatueRef> for rt::ObjectRef {
        fn from(reference: StatueRef) -> Self {
            reference.0
        }
    }

    impl rt::Nilable for StatueRef {
        fn encode_nilable(value: Option<&Self>, w: &mut rt::Writer<'_>) -> Result<(), rt::EncodeError> {
            rt::encode_reference(value, w)
        }

        fn decode_nilable(r: &mut rt::Reader<'_>) -> Result<Option<Self>, rt::DecodeError> {
            rt::decode_reference(r)
        }
    }

    /// `IDL:example.org/Zoo/Exhibit:1.0`
    #[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
    pub struct Exhibit {
        /// `Zoo::Describable what`
        pub what: Option<DescribableRef>,
    }

    impl rt::Encode for Exhibit {
        fn encode(&self, w: &mut rt::Writer<'_>) -> Result<(), rt::EncodeError> {
            rt::Encode::encode(&self.what, w)
        }
    }

    impl<'a> rt::Decode<'a> for Exhibit {
        const MIN_SIZE: usize = 1;

        fn decode(r: &mut rt::Reader<'a>) -> Result<Self, rt::DecodeError> {
            Ok(Self { what: rt::Decode::decode(r)? })
        }
    }

    /// The servant's side of `IDL:example.org/Zoo/Museum:1.0`.
    pub trait Museum: Send + Sync + 'static {
        /// `IDL:example.org/Zoo/Museum/show:1.0`
        fn show(
            &self,
            what: Option<&DescribableRef>,
            beside: &mut Exhibit,
        ) -> Result<Option<DescribableRef>, rt::SystemException>;
    }

    impl<S: Museum + ?Sized> Museum for ::std::sync::Arc<S> {
        fn show(
            &self,
            what: Option<&DescribableRef>,
            beside: &mut Exhibit,
        ) -> Result<Option<DescribableRef>, rt::SystemException> {
            (**self).show(what, beside)
        }
    }

    /// Lets an adapter serve an implementation of [`Museum`].
    #[derive(Clone, Debug)]
    pub struct MuseumSkeleton<S>(pub S);

    impl<S: Museum> rt::Skeleton for MuseumSkeleton<S> {
        fn interface(&self) -> &'static rt::Interface {
            &MUSEUM
        }

        fn invoke(&self, operation: u32, call: &mut rt::ServerCall<'_>) -> rt::Dispatched {
            match operation {
                0 => museum_skeleton::show(&self.0, call),
                _ => call.implicit(&MUSEUM, operation),
            }
        }
    }

    impl<S: Museum> rt::TypedSkeleton for MuseumSkeleton<S> {
        type Reference = MuseumRef;
    }

    /// Skeletons of the operations of `Zoo::Museum`.
    pub mod museum_skeleton {
        use ::throughline::rt;

        /// Serves `show`.
        pub fn show<S: super::Museum + ?Sized>(servant: &S, call: &mut rt::ServerCall<'_>) -> rt::Dispatched {
            let r = call.arguments();
            let what: Option<super::DescribableRef> = rt::Decode::decode(r)?;
            let mut beside: super::Exhibit = rt::Decode::decode(r)?;
            match servant.show(what.as_ref(), &mut beside) {
                Ok(result) => call.reply(|w| {
                    rt::Encode::encode(&result, w)?;
                    rt::Encode::encode(&beside, w)
                }),
                Err(error) => Err(error),
            }
        }
    }

    /// What the runtime knows of `IDL:example.org/Zoo/Museum:1.0`.
    pub static MUSEUM: rt::Interface = rt::Interface {
        repository_id: "IDL:example.org/Zoo/Museum:1.0",
        ancestors: &["IDL:example.org/Zoo/Museum:1.0"],
        operations: rt::OperationTable::new(rt::NameTable::new(
            &[
                "show",
                "_is_a",
                "_non_existent",
                "_interface",
                "_component",
                "_repository_id",
                "_not_existent",
            ],
            16294208416658607535,
            &[3793791033, 4088940685],
            &[4, 3, 0, 1, 2, 6, 5, 0],
        )),
    };

    /// A reference to an object of `IDL:example.org/Zoo/Museum:1.0`.
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    pub struct MuseumRef(rt::ObjectRef);

    impl MuseumRef {
        /// The object as one of this interface, or `None` if it is of another. Asks the object itself unless the
        /// reference tells.
        pub fn narrow(object: &rt::ObjectRef) -> Result<Option<Self>, rt::SystemException> {
            object.narrow()
        }

        /// `IDL:example.org/Zoo/Museum/show:1.0`
        pub fn show(
            &self,
            what: Option<&DescribableRef>,
            beside: &mut Exhibit,
        ) -> Result<Option<DescribableRef>, rt::SystemException> {
            self.0.call_inout(
                rt::Operation::new("show", 0),
                beside,
                |beside, w| {
                    rt::Nilable::encode_nilable(what, w)?;
                    rt::Encode::encode(beside, w)
                },
                |beside, r| {
                    let result = rt::Decode::decode(r)?;
                    rt::Decode::decode_into(beside, r)?;
                    Ok(result)
                },
            )
        }

        /// [`show`](Self::show), as a future.
        ///
        /// Yields `(result, beside)`.
        pub fn show_async(
            &self,
            what: Option<&DescribableRef>,
            beside: Exhibit,
        ) -> impl ::std::future::Future<
            Output = Result<(Option<DescribableRef>, Exhibit), rt::SystemException>,
        > + Send
        + use<> {
            self.0
                .call_async(
                    rt::Operation::new("show", 0),
                    |w| {
                        rt::Nilable::encode_nilable(what, w)?;
                        rt::Encode::encode(&beside, w)
                    },
                    |r| Ok((rt::Decode::decode(r)?, rt::Decode::decode(r)?)),
                )
                .rewriting(|r, w| {
                    rt::rewrite::<Option<DescribableRef>>(r, w)?;
                    rt::rewrite::<Exhibit>(r, w)
                })
        }
    }

    impl rt::TypedReference for MuseumRef {
        const REPOSITORY_ID: &'static str = "IDL:example.org/Zoo/Museum:1.0";

        fn interface() -> &'static rt::Interface {
            &MUSEUM
        }

        fn from_object(object: rt::ObjectRef) -> Self {
            Self(object)
        }

        fn as_object(&self) -> &rt::ObjectRef {
            &self.0
        }
    }

    impl From<MuseumRef> for rt::ObjectRef {
        fn from(reference: MuseumRef) -> Self {
            reference.0
        }
    }

    impl rt::Nilable for MuseumRef {
        fn encode_nilable(value: Option<&Self>, w: &mut rt::Writer<'_>) -> Result<(), rt::EncodeError> {
            rt::encode_reference(value, w)
        }

        fn decode_nilable(r: &mut rt::Reader<'_>) -> Result<Option<Self>, rt::DecodeError> {
            rt::decode_reference(r)
        }
    }

    /// `typedef sequence<Zoo::Duck> Ducks`
    pub type Ducks = Vec<Option<DuckRef>>;

    /// What `Zoo::Keeper::deputy` can fail with.
    #[derive(Clone, Debug, PartialEq)]
    pub enum KeeperDeputyError {
        /// `IDL:example.org/Zoo/Base/Gone:1.0`
        Gone(base::Gone),
        /// The call did not reach the object, or came to no regular end.
        System(rt::SystemException),
    }

    impl From<base::Gone> for KeeperDeputyError {
        fn from(exception: base::Gone) -> Self {
            Self::Gone(exception)
        }
    }

    impl From<rt::SystemException> for KeeperDeputyError {
        fn from(exception: rt::SystemException) -> Self {
            Self::System(exception)
        }
    }

    impl ::std::fmt::Display for KeeperDeputyError {
        fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
            match self {
                Self::Gone(exception) => ::std::fmt::Display::fmt(exception, f),
                Self::System(exception) => ::std::fmt::Display::fmt(exception, f),
            }
        }
    }

    impl ::std::error::Error for KeeperDeputyError {}

    impl rt::OperationError for KeeperDeputyError {
        fn decode_user(id: &str, r: &mut rt::Reader<'_>) -> Option<Result<Self, rt::DecodeError>> {
            match id {
                "IDL:example.org/Zoo/Base/Gone:1.0" => Some(rt::Decode::decode(r).map(Self::Gone)),
                _ => None,
            }
        }

        fn raise(self, call: &mut rt::ServerCall<'_>) -> rt::Dispatched {
            match self {
                Self::Gone(exception) => call.raise(&exception),
                Self::System(exception) => Err(exception),
            }
        }
    }

    /// Never leaves its process.
    pub trait Keeper: Send + Sync + 'static {
        /// `IDL:example.org/Zoo/Keeper/favourite:1.0`
        fn favourite(&self) -> Result<Option<DuckRef>, rt::SystemException>;

        /// `IDL:example.org/Zoo/Keeper/favourite:1.0`
        fn set_favourite(&self, value: Option<&DuckRef>) -> Result<(), rt::SystemException>;

        /// `IDL:example.org/Zoo/Keeper/deputy:1.0`
        fn deputy(
            &self,
            other: Option<::std::sync::Arc<dyn Keeper>>,
            name: &str,
        ) -> Result<Option<::std::sync::Arc<dyn Keeper>>, KeeperDeputyError>;

        /// `IDL:example.org/Zoo/Keeper/feed:1.0`
        fn feed(&self, all: &[Option<DuckRef>], fish: &mut i32) -> Result<(), rt::SystemException>;
    }

    impl<S: Keeper + ?Sized> Keeper for ::std::sync::Arc<S> {
        fn favourite(&self) -> Result<Option<DuckRef>, rt::SystemException> {
            (**self).favourite()
        }

        fn set_favourite(&self, value: Option<&DuckRef>) -> Result<(), rt::SystemException> {
            (**self).set_favourite(value)
        }

        fn deputy(
            &self,
            other: Option<::std::sync::Arc<dyn Keeper>>,
            name: &str,
        ) -> Result<Option<::std::sync::Arc<dyn Keeper>>, KeeperDeputyError> {
            (**self).deputy(other, name)
        }

        fn feed(&self, all: &[Option<DuckRef>], fish: &mut i32) -> Result<(), rt::SystemException> {
            (**self).feed(all, fish)
        }
    }
}

/// Opened again, with a base that was defined in between.
#[allow(dead_code, clippy::module_inception)]
pub mod farm {
    use ::throughline::rt;

    /// The servant's side of `IDL:example.org/Farm/Goose:1.0`.
    pub trait Goose: super::zoo::Duck {
        /// `IDL:example.org/Farm/Goose/honk:1.0`
        fn honk(&self) -> Result<(), rt::SystemException>;
    }

    impl<S: Goose + ?Sized> Goose for ::std::sync::Arc<S> {
        fn honk(&self) -> Result<(), rt::SystemException> {
            (**self).honk()
        }
    }

    /// Lets an adapter serve an implementation of [`Goose`].
    #[derive(Clone, Debug)]
    pub struct GooseSkeleton<S>(pub S);

    impl<S: Goose> rt::Skeleton for GooseSkeleton<S> {
        fn interface(&self) -> &'static rt::Interface {
            &GOOSE
        }

        fn invoke(&self, operation: u32, call: &mut rt::ServerCall<'_>) -> rt::Dispatched {
            match operation {
                0 => goose_skeleton::honk(&self.0, call),
                1 => super::zoo::duck_skeleton::quack(&self.0, call),
                2 => super::zoo::duck_skeleton::temper(&self.0, call),
                3 => super::zoo::duck_skeleton::set_temper(&self.0, call),
                4 => super::zoo::walker_skeleton::pace(&self.0, call),
                5 => super::zoo::walker_skeleton::set_pace(&self.0, call),
                6 => super::zoo::walker_skeleton::walk(&self.0, call),
                7 => super::zoo::base::named_skeleton::name(&self.0, call),
                8 => super::zoo::swimmer_skeleton::dive(&self.0, call),
                9 => super::zoo::swimmer_skeleton::swim(&self.0, call),
                _ => call.implicit(&GOOSE, operation),
            }
        }
    }

    impl<S: Goose> rt::TypedSkeleton for GooseSkeleton<S> {
        type Reference = GooseRef;
    }

    /// Skeletons of the operations of `Farm::Goose`.
    pub mod goose_skeleton {
        use ::throughline::rt;

        /// Serves `honk`.
        pub fn honk<S: super::Goose + ?Sized>(servant: &S, call: &mut rt::ServerCall<'_>) -> rt::Dispatched {
            match servant.honk() {
                Ok(()) => call.reply(|_| Ok(())),
                Err(error) => Err(error),
            }
        }
    }

    /// What the runtime knows of `IDL:example.org/Farm/Goose:1.0`.
    pub static GOOSE: rt::Interface = rt::Interface {
        repository_id: "IDL:example.org/Farm/Goose:1.0",
        ancestors: &[
            "IDL:example.org/Farm/Goose:1.0",
            "IDL:example.org/Zoo/Duck:1.0",
            "IDL:example.org/Zoo/Walker:1.0",
            "IDL:example.org/Zoo/Base/Named:1.0",
            "IDL:example.org/Zoo/Swimmer:1.0",
        ],
        operations: rt::OperationTable::new(rt::NameTable::new(
            &[
                "honk",
                "quack",
                "_get_temper",
                "_set_temper",
                "_get_pace",
                "_set_pace",
                "walk",
                "_get_name",
                "dive",
                "swim",
                "_is_a",
                "_non_existent",
                "_interface",
                "_component",
                "_repository_id",
                "_not_existent",
            ],
            16294208416658607535,
            &[4169906345, 113532185, 4169906345, 3793791033, 1, 1853398635, 2250350655, 2733677995],
            &[3, 14, 5, 8, 6, 2, 11, 9, 1, 7, 13, 15, 10, 0, 4, 12],
        )),
    };

    /// A reference to an object of `IDL:example.org/Farm/Goose:1.0`.
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    pub struct GooseRef(rt::ObjectRef);

    #[allow(clippy::redundant_closure)]
    impl GooseRef {
        /// The object as one of this interface, or `None` if it is of another. Asks the object itself unless the
        /// reference tells.
        pub fn narrow(object: &rt::ObjectRef) -> Result<Option<Self>, rt::SystemException> {
            object.narrow()
        }

        /// `IDL:example.org/Farm/Goose/honk:1.0`
        pub fn honk(&self) -> Result<(), rt::SystemException> {
            self.0.call(rt::Operation::new("honk", 0), |_| Ok(()), |_| Ok(()))
        }

        /// [`honk`](Self::honk), as a future.
        pub fn honk_async(
            &self,
        ) -> impl ::std::future::Future<Output = Result<(), rt::SystemException>> + Send + use<> {
            self.0.call_async(rt::Operation::new("honk", 0), |_| Ok(()), |_| Ok(()))
        }

        /// `IDL:example.org/Zoo/Duck/quack:1.0`
        pub fn quack(
            &self,
            how: super::zoo::duck::Mood,
        ) -> Result<super::zoo::duck::Moods, super::zoo::DuckQuackError> {
            self.0.call(
                rt::Operation::new("quack", 1),
                |w| rt::Encode::encode(&how, w),
                |r| rt::Decode::decode(r),
            )
        }

        /// [`quack`](Self::quack), as a future.
        pub fn quack_async(
            &self,
            how: super::zoo::duck::Mood,
        ) -> impl ::std::future::Future<
            Output = Result<super::zoo::duck::Moods, super::zoo::DuckQuackError>,
        > + Send
        + use<> {
            self.0
                .call_async(
                    rt::Operation::new("quack", 1),
                    |w| rt::Encode::encode(&how, w),
                    |r| rt::Decode::decode(r),
                )
                .rewriting(rt::rewrite::<super::zoo::duck::Mood>)
        }

        /// `IDL:example.org/Zoo/Duck/temper:1.0`
        pub fn temper(&self) -> Result<super::zoo::duck::Mood, rt::SystemException> {
            self.0.call(rt::Operation::new("_get_temper", 2), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// [`temper`](Self::temper), as a future.
        pub fn temper_async(
            &self,
        ) -> impl ::std::future::Future<Output = Result<super::zoo::duck::Mood, rt::SystemException>> + Send + use<>
        {
            self.0.call_async(rt::Operation::new("_get_temper", 2), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// `IDL:example.org/Zoo/Duck/temper:1.0`
        pub fn set_temper(&self, value: super::zoo::duck::Mood) -> Result<(), rt::SystemException> {
            self.0.call(rt::Operation::new("_set_temper", 3), |w| rt::Encode::encode(&value, w), |_| Ok(()))
        }

        /// [`set_temper`](Self::set_temper), as a future.
        pub fn set_temper_async(
            &self,
            value: super::zoo::duck::Mood,
        ) -> impl ::std::future::Future<Output = Result<(), rt::SystemException>> + Send + use<> {
            self.0
                .call_async(
                    rt::Operation::new("_set_temper", 3),
                    |w| rt::Encode::encode(&value, w),
                    |_| Ok(()),
                )
                .rewriting(rt::rewrite::<super::zoo::duck::Mood>)
        }

        /// `IDL:example.org/Zoo/Walker/pace:1.0`
        pub fn pace(&self) -> Result<i32, rt::SystemException> {
            self.0.call(rt::Operation::new("_get_pace", 4), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// [`pace`](Self::pace), as a future.
        pub fn pace_async(
            &self,
        ) -> impl ::std::future::Future<Output = Result<i32, rt::SystemException>> + Send + use<> {
            self.0.call_async(rt::Operation::new("_get_pace", 4), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// `IDL:example.org/Zoo/Walker/pace:1.0`
        pub fn set_pace(&self, value: i32) -> Result<(), rt::SystemException> {
            self.0.call(rt::Operation::new("_set_pace", 5), |w| rt::Encode::encode(&value, w), |_| Ok(()))
        }

        /// [`set_pace`](Self::set_pace), as a future.
        pub fn set_pace_async(
            &self,
            value: i32,
        ) -> impl ::std::future::Future<Output = Result<(), rt::SystemException>> + Send + use<> {
            self.0
                .call_async(rt::Operation::new("_set_pace", 5), |w| rt::Encode::encode(&value, w), |_| Ok(()))
                .rewriting(rt::rewrite::<i32>)
        }

        /// `IDL:example.org/Zoo/Walker/walk:1.0`
        pub fn walk(&self, steps: i32) -> Result<i32, super::zoo::WalkerWalkError> {
            self.0.call(
                rt::Operation::new("walk", 6),
                |w| rt::Encode::encode(&steps, w),
                |r| rt::Decode::decode(r),
            )
        }

        /// [`walk`](Self::walk), as a future.
        pub fn walk_async(
            &self,
            steps: i32,
        ) -> impl ::std::future::Future<Output = Result<i32, super::zoo::WalkerWalkError>> + Send + use<>
        {
            self.0
                .call_async(
                    rt::Operation::new("walk", 6),
                    |w| rt::Encode::encode(&steps, w),
                    |r| rt::Decode::decode(r),
                )
                .rewriting(rt::rewrite::<i32>)
        }

        /// `IDL:example.org/Zoo/Base/Named/name:1.0`
        pub fn name(&self) -> Result<String, rt::SystemException> {
            self.0.call(rt::Operation::new("_get_name", 7), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// [`name`](Self::name), as a future.
        pub fn name_async(
            &self,
        ) -> impl ::std::future::Future<Output = Result<String, rt::SystemException>> + Send + use<> {
            self.0.call_async(rt::Operation::new("_get_name", 7), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// `IDL:example.org/Zoo/Swimmer/dive:1.0`
        pub fn dive(&self) -> Result<(), rt::SystemException> {
            self.0.send_oneway(rt::Operation::new("dive", 8), |_| Ok(()))
        }

        /// `IDL:example.org/Zoo/Swimmer/swim:1.0`
        ///
        /// Yields `(result, first)`.
        pub fn swim(
            &self,
            others: &[Option<super::zoo::LaterRef>],
        ) -> Result<(Option<super::zoo::LaterRef>, Option<super::zoo::LaterRef>), rt::SystemException>
        {
            self.0.call(
                rt::Operation::new("swim", 9),
                |w| rt::Encode::encode(others, w),
                |r| Ok((rt::Decode::decode(r)?, rt::Decode::decode(r)?)),
            )
        }

        /// [`swim`](Self::swim), as a future.
        ///
        /// Yields `(result, first)`.
        pub fn swim_async(
            &self,
            others: &[Option<super::zoo::LaterRef>],
        ) -> impl ::std::future::Future<
            Output = Result<
                (Option<super::zoo::LaterRef>, Option<super::zoo::LaterRef>),
                rt::SystemException,
            >,
        > + Send
        + use<> {
            self.0
                .call_async(
                    rt::Operation::new("swim", 9),
                    |w| rt::Encode::encode(others, w),
                    |r| Ok((rt::Decode::decode(r)?, rt::Decode::decode(r)?)),
                )
                .rewriting(rt::rewrite::<super::zoo::Laters>)
        }
    }

    impl rt::TypedReference for GooseRef {
        const REPOSITORY_ID: &'static str = "IDL:example.org/Farm/Goose:1.0";

        fn interface() -> &'static rt::Interface {
            &GOOSE
        }

        fn from_object(object: rt::ObjectRef) -> Self {
            Self(object)
        }

        fn as_object(&self) -> &rt::ObjectRef {
            &self.0
        }
    }

    impl From<GooseRef> for super::zoo::DuckRef {
        fn from(reference: GooseRef) -> Self {
            rt::TypedReference::from_object(reference.0)
        }
    }

    impl From<GooseRef> for super::zoo::WalkerRef {
        fn from(reference: GooseRef) -> Self {
            rt::TypedReference::from_object(reference.0)
        }
    }

    impl From<GooseRef> for super::zoo::base::NamedRef {
        fn from(reference: GooseRef) -> Self {
            rt::TypedReference::from_object(reference.0)
        }
    }

    impl From<GooseRef> for super::zoo::SwimmerRef {
        fn from(reference: GooseRef) -> Self {
            rt::TypedReference::from_object(reference.0)
        }
    }

    impl From<GooseRef> for rt::ObjectRef {
        fn from(reference: GooseRef) -> Self {
            reference.0
        }
    }

    impl rt::Nilable for GooseRef {
        fn encode_nilable(value: Option<&Self>, w: &mut rt::Writer<'_>) -> Result<(), rt::EncodeError> {
            rt::encode_reference(value, w)
        }

        fn decode_nilable(r: &mut rt::Reader<'_>) -> Result<Option<Self>, rt::DecodeError> {
            rt::decode_reference(r)
        }
    }
}
