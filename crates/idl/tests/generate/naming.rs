// Generated from naming.idl by Throughline's IDL compiler. Changes here will be lost.

/// `module CosNaming`
#[allow(dead_code, clippy::module_inception)]
pub mod cos_naming {
    use ::throughline::rt;

    /// `typedef string Istring`
    pub type Istring = String;

    /// `IDL:omg.org/CosNaming/NameComponent:1.0`
    #[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
    pub struct NameComponent {
        /// `CosNaming::Istring id`
        pub id: Istring,
        /// `CosNaming::Istring kind`
        pub kind: Istring,
    }

    impl rt::Encode for NameComponent {
        fn encode(&self, w: &mut rt::Writer<'_>) -> Result<(), rt::EncodeError> {
            rt::Encode::encode(&self.id, w)?;
            rt::Encode::encode(&self.kind, w)
        }
    }

    impl<'a> rt::Decode<'a> for NameComponent {
        const MIN_SIZE: usize = 8;

        fn decode(r: &mut rt::Reader<'a>) -> Result<Self, rt::DecodeError> {
            Ok(Self { id: rt::Decode::decode(r)?, kind: rt::Decode::decode(r)? })
        }
    }

    /// `typedef sequence<CosNaming::NameComponent> Name`
    pub type Name = Vec<NameComponent>;

    /// `IDL:omg.org/CosNaming/BindingType:1.0`
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum BindingType {
        /// `nobject`
        Nobject,
        /// `ncontext`
        Ncontext,
    }

    impl rt::Encode for BindingType {
        fn encode(&self, w: &mut rt::Writer<'_>) -> Result<(), rt::EncodeError> {
            w.write_u32(*self as u32);
            Ok(())
        }
    }

    impl<'a> rt::Decode<'a> for BindingType {
        const MIN_SIZE: usize = 4;

        fn decode(r: &mut rt::Reader<'a>) -> Result<Self, rt::DecodeError> {
            match r.read_u32()? {
                0 => Ok(Self::Nobject),
                1 => Ok(Self::Ncontext),
                value => Err(rt::DecodeError::InvalidEnum { value }),
            }
        }
    }

    /// `IDL:omg.org/CosNaming/Binding:1.0`
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    pub struct Binding {
        /// `CosNaming::Name binding_name`
        pub binding_name: Name,
        /// `CosNaming::BindingType binding_type`
        pub binding_type: BindingType,
    }

    impl rt::Encode for Binding {
        fn encode(&self, w: &mut rt::Writer<'_>) -> Result<(), rt::EncodeError> {
            rt::Encode::encode(&self.binding_name, w)?;
            rt::Encode::encode(&self.binding_type, w)
        }
    }

    impl<'a> rt::Decode<'a> for Binding {
        const MIN_SIZE: usize = 8;

        fn decode(r: &mut rt::Reader<'a>) -> Result<Self, rt::DecodeError> {
            Ok(Self { binding_name: rt::Decode::decode(r)?, binding_type: rt::Decode::decode(r)? })
        }
    }

    /// `typedef sequence<CosNaming::Binding> BindingList`
    pub type BindingList = Vec<Binding>;

    /// What `CosNaming::NamingContext::bind` can fail with.
    #[derive(Clone, Debug, PartialEq)]
    pub enum NamingContextBindError {
        /// `IDL:omg.org/CosNaming/NamingContext/NotFound:1.0`
        NotFound(naming_context::NotFound),
        /// `IDL:omg.org/CosNaming/NamingContext/CannotProceed:1.0`
        CannotProceed(naming_context::CannotProceed),
        /// `IDL:omg.org/CosNaming/NamingContext/InvalidName:1.0`
        InvalidName(naming_context::InvalidName),
        /// `IDL:omg.org/CosNaming/NamingContext/AlreadyBound:1.0`
        AlreadyBound(naming_context::AlreadyBound),
        /// The call did not reach the object, or came to no regular end.
        System(rt::SystemException),
    }

    impl From<naming_context::NotFound> for NamingContextBindError {
        fn from(exception: naming_context::NotFound) -> Self {
            Self::NotFound(exception)
        }
    }

    impl From<naming_context::CannotProceed> for NamingContextBindError {
        fn from(exception: naming_context::CannotProceed) -> Self {
            Self::CannotProceed(exception)
        }
    }

    impl From<naming_context::InvalidName> for NamingContextBindError {
        fn from(exception: naming_context::InvalidName) -> Self {
            Self::InvalidName(exception)
        }
    }

    impl From<naming_context::AlreadyBound> for NamingContextBindError {
        fn from(exception: naming_context::AlreadyBound) -> Self {
            Self::AlreadyBound(exception)
        }
    }

    impl From<rt::SystemException> for NamingContextBindError {
        fn from(exception: rt::SystemException) -> Self {
            Self::System(exception)
        }
    }

    impl ::std::fmt::Display for NamingContextBindError {
        fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
            match self {
                Self::NotFound(exception) => ::std::fmt::Display::fmt(exception, f),
                Self::CannotProceed(exception) => ::std::fmt::Display::fmt(exception, f),
                Self::InvalidName(exception) => ::std::fmt::Display::fmt(exception, f),
                Self::AlreadyBound(exception) => ::std::fmt::Display::fmt(exception, f),
                Self::System(exception) => ::std::fmt::Display::fmt(exception, f),
            }
        }
    }

    impl ::std::error::Error for NamingContextBindError {}

    impl rt::OperationError for NamingContextBindError {
        fn decode_user(id: &str, r: &mut rt::Reader<'_>) -> Option<Result<Self, rt::DecodeError>> {
            match id {
                "IDL:omg.org/CosNaming/NamingContext/NotFound:1.0" => {
                    Some(rt::Decode::decode(r).map(Self::NotFound))
                }
                "IDL:omg.org/CosNaming/NamingContext/CannotProceed:1.0" => {
                    Some(rt::Decode::decode(r).map(Self::CannotProceed))
                }
                "IDL:omg.org/CosNaming/NamingContext/InvalidName:1.0" => {
                    Some(rt::Decode::decode(r).map(Self::InvalidName))
                }
                "IDL:omg.org/CosNaming/NamingContext/AlreadyBound:1.0" => {
                    Some(rt::Decode::decode(r).map(Self::AlreadyBound))
                }
                _ => None,
            }
        }

        fn raise(self, call: &mut rt::ServerCall<'_>) -> rt::Dispatched {
            match self {
                Self::NotFound(exception) => call.raise(&exception),
                Self::CannotProceed(exception) => call.raise(&exception),
                Self::InvalidName(exception) => call.raise(&exception),
                Self::AlreadyBound(exception) => call.raise(&exception),
                Self::System(exception) => Err(exception),
            }
        }
    }

    /// What `CosNaming::NamingContext::rebind` can fail with.
    #[derive(Clone, Debug, PartialEq)]
    pub enum NamingContextRebindError {
        /// `IDL:omg.org/CosNaming/NamingContext/NotFound:1.0`
        NotFound(naming_context::NotFound),
        /// `IDL:omg.org/CosNaming/NamingContext/CannotProceed:1.0`
        CannotProceed(naming_context::CannotProceed),
        /// `IDL:omg.org/CosNaming/NamingContext/InvalidName:1.0`
        InvalidName(naming_context::InvalidName),
        /// The call did not reach the object, or came to no regular end.
        System(rt::SystemException),
    }

    impl From<naming_context::NotFound> for NamingContextRebindError {
        fn from(exception: naming_context::NotFound) -> Self {
            Self::NotFound(exception)
        }
    }

    impl From<naming_context::CannotProceed> for NamingContextRebindError {
        fn from(exception: naming_context::CannotProceed) -> Self {
            Self::CannotProceed(exception)
        }
    }

    impl From<naming_context::InvalidName> for NamingContextRebindError {
        fn from(exception: naming_context::InvalidName) -> Self {
            Self::InvalidName(exception)
        }
    }

    impl From<rt::SystemException> for NamingContextRebindError {
        fn from(exception: rt::SystemException) -> Self {
            Self::System(exception)
        }
    }

    impl ::std::fmt::Display for NamingContextRebindError {
        fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
            match self {
                Self::NotFound(exception) => ::std::fmt::Display::fmt(exception, f),
                Self::CannotProceed(exception) => ::std::fmt::Display::fmt(exception, f),
                Self::InvalidName(exception) => ::std::fmt::Display::fmt(exception, f),
                Self::System(exception) => ::std::fmt::Display::fmt(exception, f),
            }
        }
    }

    impl ::std::error::Error for NamingContextRebindError {}

    impl rt::OperationError for NamingContextRebindError {
        fn decode_user(id: &str, r: &mut rt::Reader<'_>) -> Option<Result<Self, rt::DecodeError>> {
            match id {
                "IDL:omg.org/CosNaming/NamingContext/NotFound:1.0" => {
                    Some(rt::Decode::decode(r).map(Self::NotFound))
                }
                "IDL:omg.org/CosNaming/NamingContext/CannotProceed:1.0" => {
                    Some(rt::Decode::decode(r).map(Self::CannotProceed))
                }
                "IDL:omg.org/CosNaming/NamingContext/InvalidName:1.0" => {
                    Some(rt::Decode::decode(r).map(Self::InvalidName))
                }
                _ => None,
            }
        }

        fn raise(self, call: &mut rt::ServerCall<'_>) -> rt::Dispatched {
            match self {
                Self::NotFound(exception) => call.raise(&exception),
                Self::CannotProceed(exception) => call.raise(&exception),
                Self::InvalidName(exception) => call.raise(&exception),
                Self::System(exception) => Err(exception),
            }
        }
    }

    /// What `CosNaming::NamingContext::bind_context` can fail with.
    #[derive(Clone, Debug, PartialEq)]
    pub enum NamingContextBindContextError {
        /// `IDL:omg.org/CosNaming/NamingContext/NotFound:1.0`
        NotFound(naming_context::NotFound),
        /// `IDL:omg.org/CosNaming/NamingContext/CannotProceed:1.0`
        CannotProceed(naming_context::CannotProceed),
        /// `IDL:omg.org/CosNaming/NamingContext/InvalidName:1.0`
        InvalidName(naming_context::InvalidName),
        /// `IDL:omg.org/CosNaming/NamingContext/AlreadyBound:1.0`
        AlreadyBound(naming_context::AlreadyBound),
        /// The call did not reach the object, or came to no regular end.
        System(rt::SystemException),
    }

    impl From<naming_context::NotFound> for NamingContextBindContextError {
        fn from(exception: naming_context::NotFound) -> Self {
            Self::NotFound(exception)
        }
    }

    impl From<naming_context::CannotProceed> for NamingContextBindContextError {
        fn from(exception: naming_context::CannotProceed) -> Self {
            Self::CannotProceed(exception)
        }
    }

    impl From<naming_context::InvalidName> for NamingContextBindContextError {
        fn from(exception: naming_context::InvalidName) -> Self {
            Self::InvalidName(exception)
        }
    }

    impl From<naming_context::AlreadyBound> for NamingContextBindContextError {
        fn from(exception: naming_context::AlreadyBound) -> Self {
            Self::AlreadyBound(exception)
        }
    }

    impl From<rt::SystemException> for NamingContextBindContextError {
        fn from(exception: rt::SystemException) -> Self {
            Self::System(exception)
        }
    }

    impl ::std::fmt::Display for NamingContextBindContextError {
        fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
            match self {
                Self::NotFound(exception) => ::std::fmt::Display::fmt(exception, f),
                Self::CannotProceed(exception) => ::std::fmt::Display::fmt(exception, f),
                Self::InvalidName(exception) => ::std::fmt::Display::fmt(exception, f),
                Self::AlreadyBound(exception) => ::std::fmt::Display::fmt(exception, f),
                Self::System(exception) => ::std::fmt::Display::fmt(exception, f),
            }
        }
    }

    impl ::std::error::Error for NamingContextBindContextError {}

    impl rt::OperationError for NamingContextBindContextError {
        fn decode_user(id: &str, r: &mut rt::Reader<'_>) -> Option<Result<Self, rt::DecodeError>> {
            match id {
                "IDL:omg.org/CosNaming/NamingContext/NotFound:1.0" => {
                    Some(rt::Decode::decode(r).map(Self::NotFound))
                }
                "IDL:omg.org/CosNaming/NamingContext/CannotProceed:1.0" => {
                    Some(rt::Decode::decode(r).map(Self::CannotProceed))
                }
                "IDL:omg.org/CosNaming/NamingContext/InvalidName:1.0" => {
                    Some(rt::Decode::decode(r).map(Self::InvalidName))
                }
                "IDL:omg.org/CosNaming/NamingContext/AlreadyBound:1.0" => {
                    Some(rt::Decode::decode(r).map(Self::AlreadyBound))
                }
                _ => None,
            }
        }

        fn raise(self, call: &mut rt::ServerCall<'_>) -> rt::Dispatched {
            match self {
                Self::NotFound(exception) => call.raise(&exception),
                Self::CannotProceed(exception) => call.raise(&exception),
                Self::InvalidName(exception) => call.raise(&exception),
                Self::AlreadyBound(exception) => call.raise(&exception),
                Self::System(exception) => Err(exception),
            }
        }
    }

    /// What `CosNaming::NamingContext::rebind_context` can fail with.
    #[derive(Clone, Debug, PartialEq)]
    pub enum NamingContextRebindContextError {
        /// `IDL:omg.org/CosNaming/NamingContext/NotFound:1.0`
        NotFound(naming_context::NotFound),
        /// `IDL:omg.org/CosNaming/NamingContext/CannotProceed:1.0`
        CannotProceed(naming_context::CannotProceed),
        /// `IDL:omg.org/CosNaming/NamingContext/InvalidName:1.0`
        InvalidName(naming_context::InvalidName),
        /// The call did not reach the object, or came to no regular end.
        System(rt::SystemException),
    }

    impl From<naming_context::NotFound> for NamingContextRebindContextError {
        fn from(exception: naming_context::NotFound) -> Self {
            Self::NotFound(exception)
        }
    }

    impl From<naming_context::CannotProceed> for NamingContextRebindContextError {
        fn from(exception: naming_context::CannotProceed) -> Self {
            Self::CannotProceed(exception)
        }
    }

    impl From<naming_context::InvalidName> for NamingContextRebindContextError {
        fn from(exception: naming_context::InvalidName) -> Self {
            Self::InvalidName(exception)
        }
    }

    impl From<rt::SystemException> for NamingContextRebindContextError {
        fn from(exception: rt::SystemException) -> Self {
            Self::System(exception)
        }
    }

    impl ::std::fmt::Display for NamingContextRebindContextError {
        fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
            match self {
                Self::NotFound(exception) => ::std::fmt::Display::fmt(exception, f),
                Self::CannotProceed(exception) => ::std::fmt::Display::fmt(exception, f),
                Self::InvalidName(exception) => ::std::fmt::Display::fmt(exception, f),
                Self::System(exception) => ::std::fmt::Display::fmt(exception, f),
            }
        }
    }

    impl ::std::error::Error for NamingContextRebindContextError {}

    impl rt::OperationError for NamingContextRebindContextError {
        fn decode_user(id: &str, r: &mut rt::Reader<'_>) -> Option<Result<Self, rt::DecodeError>> {
            match id {
                "IDL:omg.org/CosNaming/NamingContext/NotFound:1.0" => {
                    Some(rt::Decode::decode(r).map(Self::NotFound))
                }
                "IDL:omg.org/CosNaming/NamingContext/CannotProceed:1.0" => {
                    Some(rt::Decode::decode(r).map(Self::CannotProceed))
                }
                "IDL:omg.org/CosNaming/NamingContext/InvalidName:1.0" => {
                    Some(rt::Decode::decode(r).map(Self::InvalidName))
                }
                _ => None,
            }
        }

        fn raise(self, call: &mut rt::ServerCall<'_>) -> rt::Dispatched {
            match self {
                Self::NotFound(exception) => call.raise(&exception),
                Self::CannotProceed(exception) => call.raise(&exception),
                Self::InvalidName(exception) => call.raise(&exception),
                Self::System(exception) => Err(exception),
            }
        }
    }

    /// What `CosNaming::NamingContext::resolve` can fail with.
    #[derive(Clone, Debug, PartialEq)]
    pub enum NamingContextResolveError {
        /// `IDL:omg.org/CosNaming/NamingContext/NotFound:1.0`
        NotFound(naming_context::NotFound),
        /// `IDL:omg.org/CosNaming/NamingContext/CannotProceed:1.0`
        CannotProceed(naming_context::CannotProceed),
        /// `IDL:omg.org/CosNaming/NamingContext/InvalidName:1.0`
        InvalidName(naming_context::InvalidName),
        /// The call did not reach the object, or came to no regular end.
        System(rt::SystemException),
    }

    impl From<naming_context::NotFound> for NamingContextResolveError {
        fn from(exception: naming_context::NotFound) -> Self {
            Self::NotFound(exception)
        }
    }

    impl From<naming_context::CannotProceed> for NamingContextResolveError {
        fn from(exception: naming_context::CannotProceed) -> Self {
            Self::CannotProceed(exception)
        }
    }

    impl From<naming_context::InvalidName> for NamingContextResolveError {
        fn from(exception: naming_context::InvalidName) -> Self {
            Self::InvalidName(exception)
        }
    }

    impl From<rt::SystemException> for NamingContextResolveError {
        fn from(exception: rt::SystemException) -> Self {
            Self::System(exception)
        }
    }

    impl ::std::fmt::Display for NamingContextResolveError {
        fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
            match self {
                Self::NotFound(exception) => ::std::fmt::Display::fmt(exception, f),
                Self::CannotProceed(exception) => ::std::fmt::Display::fmt(exception, f),
                Self::InvalidName(exception) => ::std::fmt::Display::fmt(exception, f),
                Self::System(exception) => ::std::fmt::Display::fmt(exception, f),
            }
        }
    }

    impl ::std::error::Error for NamingContextResolveError {}

    impl rt::OperationError for NamingContextResolveError {
        fn decode_user(id: &str, r: &mut rt::Reader<'_>) -> Option<Result<Self, rt::DecodeError>> {
            match id {
                "IDL:omg.org/CosNaming/NamingContext/NotFound:1.0" => {
                    Some(rt::Decode::decode(r).map(Self::NotFound))
                }
                "IDL:omg.org/CosNaming/NamingContext/CannotProceed:1.0" => {
                    Some(rt::Decode::decode(r).map(Self::CannotProceed))
                }
                "IDL:omg.org/CosNaming/NamingContext/InvalidName:1.0" => {
                    Some(rt::Decode::decode(r).map(Self::InvalidName))
                }
                _ => None,
            }
        }

        fn raise(self, call: &mut rt::ServerCall<'_>) -> rt::Dispatched {
            match self {
                Self::NotFound(exception) => call.raise(&exception),
                Self::CannotProceed(exception) => call.raise(&exception),
                Self::InvalidName(exception) => call.raise(&exception),
                Self::System(exception) => Err(exception),
            }
        }
    }

    /// What `CosNaming::NamingContext::unbind` can fail with.
    #[derive(Clone, Debug, PartialEq)]
    pub enum NamingContextUnbindError {
        /// `IDL:omg.org/CosNaming/NamingContext/NotFound:1.0`
        NotFound(naming_context::NotFound),
        /// `IDL:omg.org/CosNaming/NamingContext/CannotProceed:1.0`
        CannotProceed(naming_context::CannotProceed),
        /// `IDL:omg.org/CosNaming/NamingContext/InvalidName:1.0`
        InvalidName(naming_context::InvalidName),
        /// The call did not reach the object, or came to no regular end.
        System(rt::SystemException),
    }

    impl From<naming_context::NotFound> for NamingContextUnbindError {
        fn from(exception: naming_context::NotFound) -> Self {
            Self::NotFound(exception)
        }
    }

    impl From<naming_context::CannotProceed> for NamingContextUnbindError {
        fn from(exception: naming_context::CannotProceed) -> Self {
            Self::CannotProceed(exception)
        }
    }

    impl From<naming_context::InvalidName> for NamingContextUnbindError {
        fn from(exception: naming_context::InvalidName) -> Self {
            Self::InvalidName(exception)
        }
    }

    impl From<rt::SystemException> for NamingContextUnbindError {
        fn from(exception: rt::SystemException) -> Self {
            Self::System(exception)
        }
    }

    impl ::std::fmt::Display for NamingContextUnbindError {
        fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
            match self {
                Self::NotFound(exception) => ::std::fmt::Display::fmt(exception, f),
                Self::CannotProceed(exception) => ::std::fmt::Display::fmt(exception, f),
                Self::InvalidName(exception) => ::std::fmt::Display::fmt(exception, f),
                Self::System(exception) => ::std::fmt::Display::fmt(exception, f),
            }
        }
    }

    impl ::std::error::Error for NamingContextUnbindError {}

    impl rt::OperationError for NamingContextUnbindError {
        fn decode_user(id: &str, r: &mut rt::Reader<'_>) -> Option<Result<Self, rt::DecodeError>> {
            match id {
                "IDL:omg.org/CosNaming/NamingContext/NotFound:1.0" => {
                    Some(rt::Decode::decode(r).map(Self::NotFound))
                }
                "IDL:omg.org/CosNaming/NamingContext/CannotProceed:1.0" => {
                    Some(rt::Decode::decode(r).map(Self::CannotProceed))
                }
                "IDL:omg.org/CosNaming/NamingContext/InvalidName:1.0" => {
                    Some(rt::Decode::decode(r).map(Self::InvalidName))
                }
                _ => None,
            }
        }

        fn raise(self, call: &mut rt::ServerCall<'_>) -> rt::Dispatched {
            match self {
                Self::NotFound(exception) => call.raise(&exception),
                Self::CannotProceed(exception) => call.raise(&exception),
                Self::InvalidName(exception) => call.raise(&exception),
                Self::System(exception) => Err(exception),
            }
        }
    }

    /// What `CosNaming::NamingContext::bind_new_context` can fail with.
    #[derive(Clone, Debug, PartialEq)]
    pub enum NamingContextBindNewContextError {
        /// `IDL:omg.org/CosNaming/NamingContext/NotFound:1.0`
        NotFound(naming_context::NotFound),
        /// `IDL:omg.org/CosNaming/NamingContext/AlreadyBound:1.0`
        AlreadyBound(naming_context::AlreadyBound),
        /// `IDL:omg.org/CosNaming/NamingContext/CannotProceed:1.0`
        CannotProceed(naming_context::CannotProceed),
        /// `IDL:omg.org/CosNaming/NamingContext/InvalidName:1.0`
        InvalidName(naming_context::InvalidName),
        /// The call did not reach the object, or came to no regular end.
        System(rt::SystemException),
    }

    impl From<naming_context::NotFound> for NamingContextBindNewContextError {
        fn from(exception: naming_context::NotFound) -> Self {
            Self::NotFound(exception)
        }
    }

    impl From<naming_context::AlreadyBound> for NamingContextBindNewContextError {
        fn from(exception: naming_context::AlreadyBound) -> Self {
            Self::AlreadyBound(exception)
        }
    }

    impl From<naming_context::CannotProceed> for NamingContextBindNewContextError {
        fn from(exception: naming_context::CannotProceed) -> Self {
            Self::CannotProceed(exception)
        }
    }

    impl From<naming_context::InvalidName> for NamingContextBindNewContextError {
        fn from(exception: naming_context::InvalidName) -> Self {
            Self::InvalidName(exception)
        }
    }

    impl From<rt::SystemException> for NamingContextBindNewContextError {
        fn from(exception: rt::SystemException) -> Self {
            Self::System(exception)
        }
    }

    impl ::std::fmt::Display for NamingContextBindNewContextError {
        fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
            match self {
                Self::NotFound(exception) => ::std::fmt::Display::fmt(exception, f),
                Self::AlreadyBound(exception) => ::std::fmt::Display::fmt(exception, f),
                Self::CannotProceed(exception) => ::std::fmt::Display::fmt(exception, f),
                Self::InvalidName(exception) => ::std::fmt::Display::fmt(exception, f),
                Self::System(exception) => ::std::fmt::Display::fmt(exception, f),
            }
        }
    }

    impl ::std::error::Error for NamingContextBindNewContextError {}

    impl rt::OperationError for NamingContextBindNewContextError {
        fn decode_user(id: &str, r: &mut rt::Reader<'_>) -> Option<Result<Self, rt::DecodeError>> {
            match id {
                "IDL:omg.org/CosNaming/NamingContext/NotFound:1.0" => {
                    Some(rt::Decode::decode(r).map(Self::NotFound))
                }
                "IDL:omg.org/CosNaming/NamingContext/AlreadyBound:1.0" => {
                    Some(rt::Decode::decode(r).map(Self::AlreadyBound))
                }
                "IDL:omg.org/CosNaming/NamingContext/CannotProceed:1.0" => {
                    Some(rt::Decode::decode(r).map(Self::CannotProceed))
                }
                "IDL:omg.org/CosNaming/NamingContext/InvalidName:1.0" => {
                    Some(rt::Decode::decode(r).map(Self::InvalidName))
                }
                _ => None,
            }
        }

        fn raise(self, call: &mut rt::ServerCall<'_>) -> rt::Dispatched {
            match self {
                Self::NotFound(exception) => call.raise(&exception),
                Self::AlreadyBound(exception) => call.raise(&exception),
                Self::CannotProceed(exception) => call.raise(&exception),
                Self::InvalidName(exception) => call.raise(&exception),
                Self::System(exception) => Err(exception),
            }
        }
    }

    /// What `CosNaming::NamingContext::destroy` can fail with.
    #[derive(Clone, Debug, PartialEq)]
    pub enum NamingContextDestroyError {
        /// `IDL:omg.org/CosNaming/NamingContext/NotEmpty:1.0`
        NotEmpty(naming_context::NotEmpty),
        /// The call did not reach the object, or came to no regular end.
        System(rt::SystemException),
    }

    impl From<naming_context::NotEmpty> for NamingContextDestroyError {
        fn from(exception: naming_context::NotEmpty) -> Self {
            Self::NotEmpty(exception)
        }
    }

    impl From<rt::SystemException> for NamingContextDestroyError {
        fn from(exception: rt::SystemException) -> Self {
            Self::System(exception)
        }
    }

    impl ::std::fmt::Display for NamingContextDestroyError {
        fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
            match self {
                Self::NotEmpty(exception) => ::std::fmt::Display::fmt(exception, f),
                Self::System(exception) => ::std::fmt::Display::fmt(exception, f),
            }
        }
    }

    impl ::std::error::Error for NamingContextDestroyError {}

    impl rt::OperationError for NamingContextDestroyError {
        fn decode_user(id: &str, r: &mut rt::Reader<'_>) -> Option<Result<Self, rt::DecodeError>> {
            match id {
                "IDL:omg.org/CosNaming/NamingContext/NotEmpty:1.0" => {
                    Some(rt::Decode::decode(r).map(Self::NotEmpty))
                }
                _ => None,
            }
        }

        fn raise(self, call: &mut rt::ServerCall<'_>) -> rt::Dispatched {
            match self {
                Self::NotEmpty(exception) => call.raise(&exception),
                Self::System(exception) => Err(exception),
            }
        }
    }

    /// The servant's side of `IDL:omg.org/CosNaming/NamingContext:1.0`.
    pub trait NamingContext: Send + Sync + 'static {
        /// `IDL:omg.org/CosNaming/NamingContext/bind:1.0`
        fn bind(
            &self,
            n: &[NameComponent],
            obj: Option<&rt::ObjectRef>,
        ) -> Result<(), NamingContextBindError>;

        /// `IDL:omg.org/CosNaming/NamingContext/rebind:1.0`
        fn rebind(
            &self,
            n: &[NameComponent],
            obj: Option<&rt::ObjectRef>,
        ) -> Result<(), NamingContextRebindError>;

        /// `IDL:omg.org/CosNaming/NamingContext/bind_context:1.0`
        fn bind_context(
            &self,
            n: &[NameComponent],
            nc: Option<&NamingContextRef>,
        ) -> Result<(), NamingContextBindContextError>;

        /// `IDL:omg.org/CosNaming/NamingContext/rebind_context:1.0`
        fn rebind_context(
            &self,
            n: &[NameComponent],
            nc: Option<&NamingContextRef>,
        ) -> Result<(), NamingContextRebindContextError>;

        /// `IDL:omg.org/CosNaming/NamingContext/resolve:1.0`
        fn resolve(&self, n: &[NameComponent]) -> Result<Option<rt::ObjectRef>, NamingContextResolveError>;

        /// `IDL:omg.org/CosNaming/NamingContext/unbind:1.0`
        fn unbind(&self, n: &[NameComponent]) -> Result<(), NamingContextUnbindError>;

        /// `IDL:omg.org/CosNaming/NamingContext/new_context:1.0`
        fn new_context(&self) -> Result<Option<NamingContextRef>, rt::SystemException>;

        /// `IDL:omg.org/CosNaming/NamingContext/bind_new_context:1.0`
        fn bind_new_context(
            &self,
            n: &[NameComponent],
        ) -> Result<Option<NamingContextRef>, NamingContextBindNewContextError>;

        /// `IDL:omg.org/CosNaming/NamingContext/destroy:1.0`
        fn destroy(&self) -> Result<(), NamingContextDestroyError>;

        /// `IDL:omg.org/CosNaming/NamingContext/list:1.0`
        ///
        /// Yields `(bl, bi)`.
        fn list(
            &self,
            how_many: u32,
        ) -> Result<(BindingList, Option<BindingIteratorRef>), rt::SystemException>;
    }

    impl<S: NamingContext + ?Sized> NamingContext for ::std::sync::Arc<S> {
        fn bind(
            &self,
            n: &[NameComponent],
            obj: Option<&rt::ObjectRef>,
        ) -> Result<(), NamingContextBindError> {
            (**self).bind(n, obj)
        }

        fn rebind(
            &self,
            n: &[NameComponent],
            obj: Option<&rt::ObjectRef>,
        ) -> Result<(), NamingContextRebindError> {
            (**self).rebind(n, obj)
        }

        fn bind_context(
            &self,
            n: &[NameComponent],
            nc: Option<&NamingContextRef>,
        ) -> Result<(), NamingContextBindContextError> {
            (**self).bind_context(n, nc)
        }

        fn rebind_context(
            &self,
            n: &[NameComponent],
            nc: Option<&NamingContextRef>,
        ) -> Result<(), NamingContextRebindContextError> {
            (**self).rebind_context(n, nc)
        }

        fn resolve(&self, n: &[NameComponent]) -> Result<Option<rt::ObjectRef>, NamingContextResolveError> {
            (**self).resolve(n)
        }

        fn unbind(&self, n: &[NameComponent]) -> Result<(), NamingContextUnbindError> {
            (**self).unbind(n)
        }

        fn new_context(&self) -> Result<Option<NamingContextRef>, rt::SystemException> {
            (**self).new_context()
        }

        fn bind_new_context(
            &self,
            n: &[NameComponent],
        ) -> Result<Option<NamingContextRef>, NamingContextBindNewContextError> {
            (**self).bind_new_context(n)
        }

        fn destroy(&self) -> Result<(), NamingContextDestroyError> {
            (**self).destroy()
        }

        fn list(
            &self,
            how_many: u32,
        ) -> Result<(BindingList, Option<BindingIteratorRef>), rt::SystemException> {
            (**self).list(how_many)
        }
    }

    /// Lets an adapter serve an implementation of [`NamingContext`].
    #[derive(Clone, Debug)]
    pub struct NamingContextSkeleton<S>(pub S);

    impl<S: NamingContext> rt::Skeleton for NamingContextSkeleton<S> {
        fn interface(&self) -> &'static rt::Interface {
            &NAMING_CONTEXT
        }

        fn invoke(&self, operation: u32, call: &mut rt::ServerCall<'_>) -> rt::Dispatched {
            match operation {
                0 => naming_context_skeleton::bind(&self.0, call),
                1 => naming_context_skeleton::rebind(&self.0, call),
                2 => naming_context_skeleton::bind_context(&self.0, call),
                3 => naming_context_skeleton::rebind_context(&self.0, call),
                4 => naming_context_skeleton::resolve(&self.0, call),
                5 => naming_context_skeleton::unbind(&self.0, call),
                6 => naming_context_skeleton::new_context(&self.0, call),
                7 => naming_context_skeleton::bind_new_context(&self.0, call),
                8 => naming_context_skeleton::destroy(&self.0, call),
                9 => naming_context_skeleton::list(&self.0, call),
                _ => call.implicit(&NAMING_CONTEXT, operation),
            }
        }
    }

    impl<S: NamingContext> rt::TypedSkeleton for NamingContextSkeleton<S> {
        type Reference = NamingContextRef;
    }

    /// Skeletons of the operations of `CosNaming::NamingContext`.
    pub mod naming_context_skeleton {
        use ::throughline::rt;

        /// Serves `bind`.
        pub fn bind<S: super::NamingContext + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            let r = call.arguments();
            let n: super::Name = rt::Decode::decode(r)?;
            let obj: Option<rt::ObjectRef> = rt::Decode::decode(r)?;
            match servant.bind(&n, obj.as_ref()) {
                Ok(()) => call.reply(|_| Ok(())),
                Err(error) => rt::OperationError::raise(error, call),
            }
        }

        /// Serves `rebind`.
        pub fn rebind<S: super::NamingContext + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            let r = call.arguments();
            let n: super::Name = rt::Decode::decode(r)?;
            let obj: Option<rt::ObjectRef> = rt::Decode::decode(r)?;
            match servant.rebind(&n, obj.as_ref()) {
                Ok(()) => call.reply(|_| Ok(())),
                Err(error) => rt::OperationError::raise(error, call),
            }
        }

        /// Serves `bind_context`.
        pub fn bind_context<S: super::NamingContext + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            let r = call.arguments();
            let n: super::Name = rt::Decode::decode(r)?;
            let nc: Option<super::NamingContextRef> = rt::Decode::decode(r)?;
            match servant.bind_context(&n, nc.as_ref()) {
                Ok(()) => call.reply(|_| Ok(())),
                Err(error) => rt::OperationError::raise(error, call),
            }
        }

        /// Serves `rebind_context`.
        pub fn rebind_context<S: super::NamingContext + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            let r = call.arguments();
            let n: super::Name = rt::Decode::decode(r)?;
            let nc: Option<super::NamingContextRef> = rt::Decode::decode(r)?;
            match servant.rebind_context(&n, nc.as_ref()) {
                Ok(()) => call.reply(|_| Ok(())),
                Err(error) => rt::OperationError::raise(error, call),
            }
        }

        /// Serves `resolve`.
        pub fn resolve<S: super::NamingContext + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            let r = call.arguments();
            let n: super::Name = rt::Decode::decode(r)?;
            match servant.resolve(&n) {
                Ok(result) => call.reply(|w| rt::Encode::encode(&result, w)),
                Err(error) => rt::OperationError::raise(error, call),
            }
        }

        /// Serves `unbind`.
        pub fn unbind<S: super::NamingContext + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            let r = call.arguments();
            let n: super::Name = rt::Decode::decode(r)?;
            match servant.unbind(&n) {
                Ok(()) => call.reply(|_| Ok(())),
                Err(error) => rt::OperationError::raise(error, call),
            }
        }

        /// Serves `new_context`.
        pub fn new_context<S: super::NamingContext + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            match servant.new_context() {
                Ok(result) => call.reply(|w| rt::Encode::encode(&result, w)),
                Err(error) => Err(error),
            }
        }

        /// Serves `bind_new_context`.
        pub fn bind_new_context<S: super::NamingContext + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            let r = call.arguments();
            let n: super::Name = rt::Decode::decode(r)?;
            match servant.bind_new_context(&n) {
                Ok(result) => call.reply(|w| rt::Encode::encode(&result, w)),
                Err(error) => rt::OperationError::raise(error, call),
            }
        }

        /// Serves `destroy`.
        pub fn destroy<S: super::NamingContext + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            match servant.destroy() {
                Ok(()) => call.reply(|_| Ok(())),
                Err(error) => rt::OperationError::raise(error, call),
            }
        }

        /// Serves `list`.
        pub fn list<S: super::NamingContext + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            let r = call.arguments();
            let how_many: u32 = rt::Decode::decode(r)?;
            match servant.list(how_many) {
                Ok((bl, bi)) => call.reply(|w| {
                    rt::Encode::encode(&bl, w)?;
                    rt::Encode::encode(&bi, w)
                }),
                Err(error) => Err(error),
            }
        }
    }

    /// What the runtime knows of `IDL:omg.org/CosNaming/NamingContext:1.0`.
    pub static NAMING_CONTEXT: rt::Interface = rt::Interface {
        repository_id: "IDL:omg.org/CosNaming/NamingContext:1.0",
        ancestors: &["IDL:omg.org/CosNaming/NamingContext:1.0"],
        operations: rt::OperationTable::new(rt::NameTable::new(
            &[
                "bind",
                "rebind",
                "bind_context",
                "rebind_context",
                "resolve",
                "unbind",
                "new_context",
                "bind_new_context",
                "destroy",
                "list",
                "_is_a",
                "_non_existent",
                "_interface",
                "_component",
                "_repository_id",
                "_not_existent",
            ],
            16294208416658607535,
            &[113532185, 3793791033, 1405853453, 3793791033, 456755563, 1853398635, 2226864023, 2226864023],
            &[13, 14, 0, 9, 12, 3, 11, 5, 6, 4, 8, 15, 10, 7, 2, 1],
        )),
    };

    /// A reference to an object of `IDL:omg.org/CosNaming/NamingContext:1.0`.
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    pub struct NamingContextRef(rt::ObjectRef);

    #[allow(clippy::redundant_closure)]
    impl NamingContextRef {
        /// The object as one of this interface, or `None` if it is of another. Asks the object itself unless the
        /// reference tells.
        pub fn narrow(object: &rt::ObjectRef) -> Result<Option<Self>, rt::SystemException> {
            object.narrow()
        }

        /// `IDL:omg.org/CosNaming/NamingContext/bind:1.0`
        pub fn bind(
            &self,
            n: &[NameComponent],
            obj: Option<&rt::ObjectRef>,
        ) -> Result<(), NamingContextBindError> {
            self.0.call(
                rt::Operation::new("bind", 0),
                |w| {
                    rt::Encode::encode(n, w)?;
                    rt::Nilable::encode_nilable(obj, w)
                },
                |_| Ok(()),
            )
        }

        /// [`bind`](Self::bind), as a future.
        pub fn bind_async(
            &self,
            n: &[NameComponent],
            obj: Option<&rt::ObjectRef>,
        ) -> impl ::std::future::Future<Output = Result<(), NamingContextBindError>> + Send + use<> {
            self.0
                .call_async(
                    rt::Operation::new("bind", 0),
                    |w| {
                        rt::Encode::encode(n, w)?;
                        rt::Nilable::encode_nilable(obj, w)
                    },
                    |_| Ok(()),
                )
                .rewriting(|r, w| {
                    rt::rewrite::<Name>(r, w)?;
                    rt::rewrite::<Option<rt::ObjectRef>>(r, w)
                })
        }

        /// `IDL:omg.org/CosNaming/NamingContext/rebind:1.0`
        pub fn rebind(
            &self,
            n: &[NameComponent],
            obj: Option<&rt::ObjectRef>,
        ) -> Result<(), NamingContextRebindError> {
            self.0.call(
                rt::Operation::new("rebind", 1),
                |w| {
                    rt::Encode::encode(n, w)?;
                    rt::Nilable::encode_nilable(obj, w)
                },
                |_| Ok(()),
            )
        }

        /// [`rebind`](Self::rebind), as a future.
        pub fn rebind_async(
            &self,
            n: &[NameComponent],
            obj: Option<&rt::ObjectRef>,
        ) -> impl ::std::future::Future<Output = Result<(), NamingContextRebindError>> + Send + use<>
        {
            self.0
                .call_async(
                    rt::Operation::new("rebind", 1),
                    |w| {
                        rt::Encode::encode(n, w)?;
                        rt::Nilable::encode_nilable(obj, w)
                    },
                    |_| Ok(()),
                )
                .rewriting(|r, w| {
                    rt::rewrite::<Name>(r, w)?;
                    rt::rewrite::<Option<rt::ObjectRef>>(r, w)
                })
        }

        /// `IDL:omg.org/CosNaming/NamingContext/bind_context:1.0`
        pub fn bind_context(
            &self,
            n: &[NameComponent],
            nc: Option<&NamingContextRef>,
        ) -> Result<(), NamingContextBindContextError> {
            self.0.call(
                rt::Operation::new("bind_context", 2),
                |w| {
                    rt::Encode::encode(n, w)?;
                    rt::Nilable::encode_nilable(nc, w)
                },
                |_| Ok(()),
            )
        }

        /// [`bind_context`](Self::bind_context), as a future.
        pub fn bind_context_async(
            &self,
            n: &[NameComponent],
            nc: Option<&NamingContextRef>,
        ) -> impl ::std::future::Future<Output = Result<(), NamingContextBindContextError>> + Send + use<>
        {
            self.0
                .call_async(
                    rt::Operation::new("bind_context", 2),
                    |w| {
                        rt::Encode::encode(n, w)?;
                        rt::Nilable::encode_nilable(nc, w)
                    },
                    |_| Ok(()),
                )
                .rewriting(|r, w| {
                    rt::rewrite::<Name>(r, w)?;
                    rt::rewrite::<Option<NamingContextRef>>(r, w)
                })
        }

        /// `IDL:omg.org/CosNaming/NamingContext/rebind_context:1.0`
        pub fn rebind_context(
            &self,
            n: &[NameComponent],
            nc: Option<&NamingContextRef>,
        ) -> Result<(), NamingContextRebindContextError> {
            self.0.call(
                rt::Operation::new("rebind_context", 3),
                |w| {
                    rt::Encode::encode(n, w)?;
                    rt::Nilable::encode_nilable(nc, w)
                },
                |_| Ok(()),
            )
        }

        /// [`rebind_context`](Self::rebind_context), as a future.
        pub fn rebind_context_async(
            &self,
            n: &[NameComponent],
            nc: Option<&NamingContextRef>,
        ) -> impl ::std::future::Future<Output = Result<(), NamingContextRebindContextError>> + Send + use<>
        {
            self.0
                .call_async(
                    rt::Operation::new("rebind_context", 3),
                    |w| {
                        rt::Encode::encode(n, w)?;
                        rt::Nilable::encode_nilable(nc, w)
                    },
                    |_| Ok(()),
                )
                .rewriting(|r, w| {
                    rt::rewrite::<Name>(r, w)?;
                    rt::rewrite::<Option<NamingContextRef>>(r, w)
                })
        }

        /// `IDL:omg.org/CosNaming/NamingContext/resolve:1.0`
        pub fn resolve(
            &self,
            n: &[NameComponent],
        ) -> Result<Option<rt::ObjectRef>, NamingContextResolveError> {
            self.0.call(
                rt::Operation::new("resolve", 4),
                |w| rt::Encode::encode(n, w),
                |r| rt::Decode::decode(r),
            )
        }

        /// [`resolve`](Self::resolve), as a future.
        pub fn resolve_async(
            &self,
            n: &[NameComponent],
        ) -> impl ::std::future::Future<Output = Result<Option<rt::ObjectRef>, NamingContextResolveError>>
        + Send
        + use<> {
            self.0
                .call_async(
                    rt::Operation::new("resolve", 4),
                    |w| rt::Encode::encode(n, w),
                    |r| rt::Decode::decode(r),
                )
                .rewriting(rt::rewrite::<Name>)
        }

        /// `IDL:omg.org/CosNaming/NamingContext/unbind:1.0`
        pub fn unbind(&self, n: &[NameComponent]) -> Result<(), NamingContextUnbindError> {
            self.0.call(rt::Operation::new("unbind", 5), |w| rt::Encode::encode(n, w), |_| Ok(()))
        }

        /// [`unbind`](Self::unbind), as a future.
        pub fn unbind_async(
            &self,
            n: &[NameComponent],
        ) -> impl ::std::future::Future<Output = Result<(), NamingContextUnbindError>> + Send + use<>
        {
            self.0
                .call_async(rt::Operation::new("unbind", 5), |w| rt::Encode::encode(n, w), |_| Ok(()))
                .rewriting(rt::rewrite::<Name>)
        }

        /// `IDL:omg.org/CosNaming/NamingContext/new_context:1.0`
        pub fn new_context(&self) -> Result<Option<NamingContextRef>, rt::SystemException> {
            self.0.call(rt::Operation::new("new_context", 6), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// [`new_context`](Self::new_context), as a future.
        pub fn new_context_async(
            &self,
        ) -> impl ::std::future::Future<Output = Result<Option<NamingContextRef>, rt::SystemException>>
        + Send
        + use<> {
            self.0.call_async(rt::Operation::new("new_context", 6), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// `IDL:omg.org/CosNaming/NamingContext/bind_new_context:1.0`
        pub fn bind_new_context(
            &self,
            n: &[NameComponent],
        ) -> Result<Option<NamingContextRef>, NamingContextBindNewContextError> {
            self.0.call(
                rt::Operation::new("bind_new_context", 7),
                |w| rt::Encode::encode(n, w),
                |r| rt::Decode::decode(r),
            )
        }

        /// [`bind_new_context`](Self::bind_new_context), as a future.
        pub fn bind_new_context_async(
            &self,
            n: &[NameComponent],
        ) -> impl ::std::future::Future<
            Output = Result<Option<NamingContextRef>, NamingContextBindNewContextError>,
        > + Send
        + use<> {
            self.0
                .call_async(
                    rt::Operation::new("bind_new_context", 7),
                    |w| rt::Encode::encode(n, w),
                    |r| rt::Decode::decode(r),
                )
                .rewriting(rt::rewrite::<Name>)
        }

        /// `IDL:omg.org/CosNaming/NamingContext/destroy:1.0`
        pub fn destroy(&self) -> Result<(), NamingContextDestroyError> {
            self.0.call(rt::Operation::new("destroy", 8), |_| Ok(()), |_| Ok(()))
        }

        /// [`destroy`](Self::destroy), as a future.
        pub fn destroy_async(
            &self,
        ) -> impl ::std::future::Future<Output = Result<(), NamingContextDestroyError>> + Send + use<>
        {
            self.0.call_async(rt::Operation::new("destroy", 8), |_| Ok(()), |_| Ok(()))
        }

        /// `IDL:omg.org/CosNaming/NamingContext/list:1.0`
        ///
        /// Yields `(bl, bi)`.
        pub fn list(
            &self,
            how_many: u32,
        ) -> Result<(BindingList, Option<BindingIteratorRef>), rt::SystemException> {
            self.0.call(
                rt::Operation::new("list", 9),
                |w| rt::Encode::encode(&how_many, w),
                |r| Ok((rt::Decode::decode(r)?, rt::Decode::decode(r)?)),
            )
        }

        /// [`list`](Self::list), as a future.
        ///
        /// Yields `(bl, bi)`.
        pub fn list_async(
            &self,
            how_many: u32,
        ) -> impl ::std::future::Future<
            Output = Result<(BindingList, Option<BindingIteratorRef>), rt::SystemException>,
        > + Send
        + use<> {
            self.0
                .call_async(
                    rt::Operation::new("list", 9),
                    |w| rt::Encode::encode(&how_many, w),
                    |r| Ok((rt::Decode::decode(r)?, rt::Decode::decode(r)?)),
                )
                .rewriting(rt::rewrite::<u32>)
        }
    }

    impl rt::TypedReference for NamingContextRef {
        const REPOSITORY_ID: &'static str = "IDL:omg.org/CosNaming/NamingContext:1.0";

        fn interface() -> &'static rt::Interface {
            &NAMING_CONTEXT
        }

        fn from_object(object: rt::ObjectRef) -> Self {
            Self(object)
        }

        fn as_object(&self) -> &rt::ObjectRef {
            &self.0
        }
    }

    impl From<NamingContextRef> for rt::ObjectRef {
        fn from(reference: NamingContextRef) -> Self {
            reference.0
        }
    }

    impl rt::Nilable for NamingContextRef {
        fn encode_nilable(value: Option<&Self>, w: &mut rt::Writer<'_>) -> Result<(), rt::EncodeError> {
            rt::encode_reference(value, w)
        }

        fn decode_nilable(r: &mut rt::Reader<'_>) -> Result<Option<Self>, rt::DecodeError> {
            rt::decode_reference(r)
        }
    }

    /// What is defined inside `CosNaming::NamingContext`.
    pub mod naming_context {
        use ::throughline::rt;

        /// `IDL:omg.org/CosNaming/NamingContext/NotFoundReason:1.0`
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum NotFoundReason {
            /// `missing_node`
            MissingNode,
            /// `not_context`
            NotContext,
            /// `not_object`
            NotObject,
        }

        impl rt::Encode for NotFoundReason {
            fn encode(&self, w: &mut rt::Writer<'_>) -> Result<(), rt::EncodeError> {
                w.write_u32(*self as u32);
                Ok(())
            }
        }

        impl<'a> rt::Decode<'a> for NotFoundReason {
            const MIN_SIZE: usize = 4;

            fn decode(r: &mut rt::Reader<'a>) -> Result<Self, rt::DecodeError> {
                match r.read_u32()? {
                    0 => Ok(Self::MissingNode),
                    1 => Ok(Self::NotContext),
                    2 => Ok(Self::NotObject),
                    value => Err(rt::DecodeError::InvalidEnum { value }),
                }
            }
        }

        /// `IDL:omg.org/CosNaming/NamingContext/NotFound:1.0`
        #[derive(Clone, Debug, PartialEq)]
        pub struct NotFound {
            /// `CosNaming::NamingContext::NotFoundReason why`
            pub why: NotFoundReason,
            /// `CosNaming::Name rest_of_name`
            pub rest_of_name: super::Name,
        }

        impl rt::Encode for NotFound {
            fn encode(&self, w: &mut rt::Writer<'_>) -> Result<(), rt::EncodeError> {
                rt::Encode::encode(&self.why, w)?;
                rt::Encode::encode(&self.rest_of_name, w)
            }
        }

        impl<'a> rt::Decode<'a> for NotFound {
            const MIN_SIZE: usize = 8;

            fn decode(r: &mut rt::Reader<'a>) -> Result<Self, rt::DecodeError> {
                Ok(Self { why: rt::Decode::decode(r)?, rest_of_name: rt::Decode::decode(r)? })
            }
        }

        impl rt::UserException for NotFound {
            const REPOSITORY_ID: &'static str = "IDL:omg.org/CosNaming/NamingContext/NotFound:1.0";
        }

        impl ::std::fmt::Display for NotFound {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.debug_struct("CosNaming::NamingContext::NotFound")
                    .field("why", &self.why)
                    .field("rest_of_name", &self.rest_of_name)
                    .finish()
            }
        }

        impl ::std::error::Error for NotFound {}

        /// `IDL:omg.org/CosNaming/NamingContext/CannotProceed:1.0`
        #[derive(Clone, Debug, PartialEq)]
        pub struct CannotProceed {
            /// `CosNaming::NamingContext cxt`
            pub cxt: Option<super::NamingContextRef>,
            /// `CosNaming::Name rest_of_name`
            pub rest_of_name: super::Name,
        }

        impl rt::Encode for CannotProceed {
            fn encode(&self, w: &mut rt::Writer<'_>) -> Result<(), rt::EncodeError> {
                rt::Encode::encode(&self.cxt, w)?;
                rt::Encode::encode(&self.rest_of_name, w)
            }
        }

        impl<'a> rt::Decode<'a> for CannotProceed {
            const MIN_SIZE: usize = 5;

            fn decode(r: &mut rt::Reader<'a>) -> Result<Self, rt::DecodeError> {
                Ok(Self { cxt: rt::Decode::decode(r)?, rest_of_name: rt::Decode::decode(r)? })
            }
        }

        impl rt::UserException for CannotProceed {
            const REPOSITORY_ID: &'static str = "IDL:omg.org/CosNaming/NamingContext/CannotProceed:1.0";
        }

        impl ::std::fmt::Display for CannotProceed {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.debug_struct("CosNaming::NamingContext::CannotProceed")
                    .field("cxt", &self.cxt)
                    .field("rest_of_name", &self.rest_of_name)
                    .finish()
            }
        }

        impl ::std::error::Error for CannotProceed {}

        /// `IDL:omg.org/CosNaming/NamingContext/InvalidName:1.0`
        #[derive(Clone, Debug, PartialEq)]
        pub struct InvalidName;

        impl rt::Encode for InvalidName {
            fn encode(&self, _: &mut rt::Writer<'_>) -> Result<(), rt::EncodeError> {
                Ok(())
            }
        }

        impl<'a> rt::Decode<'a> for InvalidName {
            const MIN_SIZE: usize = 0;

            fn decode(_: &mut rt::Reader<'a>) -> Result<Self, rt::DecodeError> {
                Ok(Self)
            }
        }

        impl rt::UserException for InvalidName {
            const REPOSITORY_ID: &'static str = "IDL:omg.org/CosNaming/NamingContext/InvalidName:1.0";
        }

        impl ::std::fmt::Display for InvalidName {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str("CosNaming::NamingContext::InvalidName")
            }
        }

        impl ::std::error::Error for InvalidName {}

        /// `IDL:omg.org/CosNaming/NamingContext/AlreadyBound:1.0`
        #[derive(Clone, Debug, PartialEq)]
        pub struct AlreadyBound;

        impl rt::Encode for AlreadyBound {
            fn encode(&self, _: &mut rt::Writer<'_>) -> Result<(), rt::EncodeError> {
                Ok(())
            }
        }

        impl<'a> rt::Decode<'a> for AlreadyBound {
            const MIN_SIZE: usize = 0;

            fn decode(_: &mut rt::Reader<'a>) -> Result<Self, rt::DecodeError> {
                Ok(Self)
            }
        }

        impl rt::UserException for AlreadyBound {
            const REPOSITORY_ID: &'static str = "IDL:omg.org/CosNaming/NamingContext/AlreadyBound:1.0";
        }

        impl ::std::fmt::Display for AlreadyBound {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str("CosNaming::NamingContext::AlreadyBound")
            }
        }

        impl ::std::error::Error for AlreadyBound {}

        /// `IDL:omg.org/CosNaming/NamingContext/NotEmpty:1.0`
        #[derive(Clone, Debug, PartialEq)]
        pub struct NotEmpty;

        impl rt::Encode for NotEmpty {
            fn encode(&self, _: &mut rt::Writer<'_>) -> Result<(), rt::EncodeError> {
                Ok(())
            }
        }

        impl<'a> rt::Decode<'a> for NotEmpty {
            const MIN_SIZE: usize = 0;

            fn decode(_: &mut rt::Reader<'a>) -> Result<Self, rt::DecodeError> {
                Ok(Self)
            }
        }

        impl rt::UserException for NotEmpty {
            const REPOSITORY_ID: &'static str = "IDL:omg.org/CosNaming/NamingContext/NotEmpty:1.0";
        }

        impl ::std::fmt::Display for NotEmpty {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str("CosNaming::NamingContext::NotEmpty")
            }
        }

        impl ::std::error::Error for NotEmpty {}
    }

    /// The servant's side of `IDL:omg.org/CosNaming/BindingIterator:1.0`.
    pub trait BindingIterator: Send + Sync + 'static {
        /// `IDL:omg.org/CosNaming/BindingIterator/next_one:1.0`
        ///
        /// Yields `(result, b)`.
        fn next_one(&self) -> Result<(bool, Binding), rt::SystemException>;

        /// `IDL:omg.org/CosNaming/BindingIterator/next_n:1.0`
        ///
        /// Yields `(result, bl)`.
        fn next_n(&self, how_many: u32) -> Result<(bool, BindingList), rt::SystemException>;

        /// `IDL:omg.org/CosNaming/BindingIterator/destroy:1.0`
        fn destroy(&self) -> Result<(), rt::SystemException>;
    }

    impl<S: BindingIterator + ?Sized> BindingIterator for ::std::sync::Arc<S> {
        fn next_one(&self) -> Result<(bool, Binding), rt::SystemException> {
            (**self).next_one()
        }

        fn next_n(&self, how_many: u32) -> Result<(bool, BindingList), rt::SystemException> {
            (**self).next_n(how_many)
        }

        fn destroy(&self) -> Result<(), rt::SystemException> {
            (**self).destroy()
        }
    }

    /// Lets an adapter serve an implementation of [`BindingIterator`].
    #[derive(Clone, Debug)]
    pub struct BindingIteratorSkeleton<S>(pub S);

    impl<S: BindingIterator> rt::Skeleton for BindingIteratorSkeleton<S> {
        fn interface(&self) -> &'static rt::Interface {
            &BINDING_ITERATOR
        }

        fn invoke(&self, operation: u32, call: &mut rt::ServerCall<'_>) -> rt::Dispatched {
            match operation {
                0 => binding_iterator_skeleton::next_one(&self.0, call),
                1 => binding_iterator_skeleton::next_n(&self.0, call),
                2 => binding_iterator_skeleton::destroy(&self.0, call),
                _ => call.implicit(&BINDING_ITERATOR, operation),
            }
        }
    }

    impl<S: BindingIterator> rt::TypedSkeleton for BindingIteratorSkeleton<S> {
        type Reference = BindingIteratorRef;
    }

    /// Skeletons of the operations of `CosNaming::BindingIterator`.
    pub mod binding_iterator_skeleton {
        use ::throughline::rt;

        /// Serves `next_one`.
        pub fn next_one<S: super::BindingIterator + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            match servant.next_one() {
                Ok((result, b)) => call.reply(|w| {
                    rt::Encode::encode(&result, w)?;
                    rt::Encode::encode(&b, w)
                }),
                Err(error) => Err(error),
            }
        }

        /// Serves `next_n`.
        pub fn next_n<S: super::BindingIterator + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            let r = call.arguments();
            let how_many: u32 = rt::Decode::decode(r)?;
            match servant.next_n(how_many) {
                Ok((result, bl)) => call.reply(|w| {
                    rt::Encode::encode(&result, w)?;
                    rt::Encode::encode(&bl, w)
                }),
                Err(error) => Err(error),
            }
        }

        /// Serves `destroy`.
        pub fn destroy<S: super::BindingIterator + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            match servant.destroy() {
                Ok(()) => call.reply(|_| Ok(())),
                Err(error) => Err(error),
            }
        }
    }

    /// What the runtime knows of `IDL:omg.org/CosNaming/BindingIterator:1.0`.
    pub static BINDING_ITERATOR: rt::Interface = rt::Interface {
        repository_id: "IDL:omg.org/CosNaming/BindingIterator:1.0",
        ancestors: &["IDL:omg.org/CosNaming/BindingIterator:1.0"],
        operations: rt::OperationTable::new(rt::NameTable::new(
            &[
                "next_one",
                "next_n",
                "destroy",
                "_is_a",
                "_non_existent",
                "_interface",
                "_component",
                "_repository_id",
                "_not_existent",
            ],
            16294208416658607535,
            &[1853398635, 1405853453, 1, 3793791033],
            &[0, 5, 0, 7, 0, 0, 4, 0, 1, 0, 2, 8, 3, 0, 6, 0],
        )),
    };

    /// A reference to an object of `IDL:omg.org/CosNaming/BindingIterator:1.0`.
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    pub struct BindingIteratorRef(rt::ObjectRef);

    impl BindingIteratorRef {
        /// The object as one of this interface, or `None` if it is of another. Asks the object itself unless the
        /// reference tells.
        pub fn narrow(object: &rt::ObjectRef) -> Result<Option<Self>, rt::SystemException> {
            object.narrow()
        }

        /// `IDL:omg.org/CosNaming/BindingIterator/next_one:1.0`
        ///
        /// Yields `(result, b)`.
        pub fn next_one(&self) -> Result<(bool, Binding), rt::SystemException> {
            self.0.call(
                rt::Operation::new("next_one", 0),
                |_| Ok(()),
                |r| Ok((rt::Decode::decode(r)?, rt::Decode::decode(r)?)),
            )
        }

        /// [`next_one`](Self::next_one), as a future.
        ///
        /// Yields `(result, b)`.
        pub fn next_one_async(
            &self,
        ) -> impl ::std::future::Future<Output = Result<(bool, Binding), rt::SystemException>> + Send + use<>
        {
            self.0.call_async(
                rt::Operation::new("next_one", 0),
                |_| Ok(()),
                |r| Ok((rt::Decode::decode(r)?, rt::Decode::decode(r)?)),
            )
        }

        /// `IDL:omg.org/CosNaming/BindingIterator/next_n:1.0`
        ///
        /// Yields `(result, bl)`.
        pub fn next_n(&self, how_many: u32) -> Result<(bool, BindingList), rt::SystemException> {
            self.0.call(
                rt::Operation::new("next_n", 1),
                |w| rt::Encode::encode(&how_many, w),
                |r| Ok((rt::Decode::decode(r)?, rt::Decode::decode(r)?)),
            )
        }

        /// [`next_n`](Self::next_n), as a future.
        ///
        /// Yields `(result, bl)`.
        pub fn next_n_async(
            &self,
            how_many: u32,
        ) -> impl ::std::future::Future<Output = Result<(bool, BindingList), rt::SystemException>> + Send + use<>
        {
            self.0
                .call_async(
                    rt::Operation::new("next_n", 1),
                    |w| rt::Encode::encode(&how_many, w),
                    |r| Ok((rt::Decode::decode(r)?, rt::Decode::decode(r)?)),
                )
                .rewriting(rt::rewrite::<u32>)
        }

        /// `IDL:omg.org/CosNaming/BindingIterator/destroy:1.0`
        pub fn destroy(&self) -> Result<(), rt::SystemException> {
            self.0.call(rt::Operation::new("destroy", 2), |_| Ok(()), |_| Ok(()))
        }

        /// [`destroy`](Self::destroy), as a future.
        pub fn destroy_async(
            &self,
        ) -> impl ::std::future::Future<Output = Result<(), rt::SystemException>> + Send + use<> {
            self.0.call_async(rt::Operation::new("destroy", 2), |_| Ok(()), |_| Ok(()))
        }
    }

    impl rt::TypedReference for BindingIteratorRef {
        const REPOSITORY_ID: &'static str = "IDL:omg.org/CosNaming/BindingIterator:1.0";

        fn interface() -> &'static rt::Interface {
            &BINDING_ITERATOR
        }

        fn from_object(object: rt::ObjectRef) -> Self {
            Self(object)
        }

        fn as_object(&self) -> &rt::ObjectRef {
            &self.0
        }
    }

    impl From<BindingIteratorRef> for rt::ObjectRef {
        fn from(reference: BindingIteratorRef) -> Self {
            reference.0
        }
    }

    impl rt::Nilable for BindingIteratorRef {
        fn encode_nilable(value: Option<&Self>, w: &mut rt::Writer<'_>) -> Result<(), rt::EncodeError> {
            rt::encode_reference(value, w)
        }

        fn decode_nilable(r: &mut rt::Reader<'_>) -> Result<Option<Self>, rt::DecodeError> {
            rt::decode_reference(r)
        }
    }

    /// What `CosNaming::NamingContextExt::to_string` can fail with.
    #[derive(Clone, Debug, PartialEq)]
    pub enum NamingContextExtToStringError {
        /// `IDL:omg.org/CosNaming/NamingContext/InvalidName:1.0`
        InvalidName(naming_context::InvalidName),
        /// The call did not reach the object, or came to no regular end.
        System(rt::SystemException),
    }

    impl From<naming_context::InvalidName> for NamingContextExtToStringError {
        fn from(exception: naming_context::InvalidName) -> Self {
            Self::InvalidName(exception)
        }
    }

    impl From<rt::SystemException> for NamingContextExtToStringError {
        fn from(exception: rt::SystemException) -> Self {
            Self::System(exception)
        }
    }

    impl ::std::fmt::Display for NamingContextExtToStringError {
        fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
            match self {
                Self::InvalidName(exception) => ::std::fmt::Display::fmt(exception, f),
                Self::System(exception) => ::std::fmt::Display::fmt(exception, f),
            }
        }
    }

    impl ::std::error::Error for NamingContextExtToStringError {}

    impl rt::OperationError for NamingContextExtToStringError {
        fn decode_user(id: &str, r: &mut rt::Reader<'_>) -> Option<Result<Self, rt::DecodeError>> {
            match id {
                "IDL:omg.org/CosNaming/NamingContext/InvalidName:1.0" => {
                    Some(rt::Decode::decode(r).map(Self::InvalidName))
                }
                _ => None,
            }
        }

        fn raise(self, call: &mut rt::ServerCall<'_>) -> rt::Dispatched {
            match self {
                Self::InvalidName(exception) => call.raise(&exception),
                Self::System(exception) => Err(exception),
            }
        }
    }

    /// What `CosNaming::NamingContextExt::to_name` can fail with.
    #[derive(Clone, Debug, PartialEq)]
    pub enum NamingContextExtToNameError {
        /// `IDL:omg.org/CosNaming/NamingContext/InvalidName:1.0`
        InvalidName(naming_context::InvalidName),
        /// The call did not reach the object, or came to no regular end.
        System(rt::SystemException),
    }

    impl From<naming_context::InvalidName> for NamingContextExtToNameError {
        fn from(exception: naming_context::InvalidName) -> Self {
            Self::InvalidName(exception)
        }
    }

    impl From<rt::SystemException> for NamingContextExtToNameError {
        fn from(exception: rt::SystemException) -> Self {
            Self::System(exception)
        }
    }

    impl ::std::fmt::Display for NamingContextExtToNameError {
        fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
            match self {
                Self::InvalidName(exception) => ::std::fmt::Display::fmt(exception, f),
                Self::System(exception) => ::std::fmt::Display::fmt(exception, f),
            }
        }
    }

    impl ::std::error::Error for NamingContextExtToNameError {}

    impl rt::OperationError for NamingContextExtToNameError {
        fn decode_user(id: &str, r: &mut rt::Reader<'_>) -> Option<Result<Self, rt::DecodeError>> {
            match id {
                "IDL:omg.org/CosNaming/NamingContext/InvalidName:1.0" => {
                    Some(rt::Decode::decode(r).map(Self::InvalidName))
                }
                _ => None,
            }
        }

        fn raise(self, call: &mut rt::ServerCall<'_>) -> rt::Dispatched {
            match self {
                Self::InvalidName(exception) => call.raise(&exception),
                Self::System(exception) => Err(exception),
            }
        }
    }

    /// What `CosNaming::NamingContextExt::to_url` can fail with.
    #[derive(Clone, Debug, PartialEq)]
    pub enum NamingContextExtToUrlError {
        /// `IDL:omg.org/CosNaming/NamingContextExt/InvalidAddress:1.0`
        InvalidAddress(naming_context_ext::InvalidAddress),
        /// `IDL:omg.org/CosNaming/NamingContext/InvalidName:1.0`
        InvalidName(naming_context::InvalidName),
        /// The call did not reach the object, or came to no regular end.
        System(rt::SystemException),
    }

    impl From<naming_context_ext::InvalidAddress> for NamingContextExtToUrlError {
        fn from(exception: naming_context_ext::InvalidAddress) -> Self {
            Self::InvalidAddress(exception)
        }
    }

    impl From<naming_context::InvalidName> for NamingContextExtToUrlError {
        fn from(exception: naming_context::InvalidName) -> Self {
            Self::InvalidName(exception)
        }
    }

    impl From<rt::SystemException> for NamingContextExtToUrlError {
        fn from(exception: rt::SystemException) -> Self {
            Self::System(exception)
        }
    }

    impl ::std::fmt::Display for NamingContextExtToUrlError {
        fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
            match self {
                Self::InvalidAddress(exception) => ::std::fmt::Display::fmt(exception, f),
                Self::InvalidName(exception) => ::std::fmt::Display::fmt(exception, f),
                Self::System(exception) => ::std::fmt::Display::fmt(exception, f),
            }
        }
    }

    impl ::std::error::Error for NamingContextExtToUrlError {}

    impl rt::OperationError for NamingContextExtToUrlError {
        fn decode_user(id: &str, r: &mut rt::Reader<'_>) -> Option<Result<Self, rt::DecodeError>> {
            match id {
                "IDL:omg.org/CosNaming/NamingContextExt/InvalidAddress:1.0" => {
                    Some(rt::Decode::decode(r).map(Self::InvalidAddress))
                }
                "IDL:omg.org/CosNaming/NamingContext/InvalidName:1.0" => {
                    Some(rt::Decode::decode(r).map(Self::InvalidName))
                }
                _ => None,
            }
        }

        fn raise(self, call: &mut rt::ServerCall<'_>) -> rt::Dispatched {
            match self {
                Self::InvalidAddress(exception) => call.raise(&exception),
                Self::InvalidName(exception) => call.raise(&exception),
                Self::System(exception) => Err(exception),
            }
        }
    }

    /// What `CosNaming::NamingContextExt::resolve_str` can fail with.
    #[derive(Clone, Debug, PartialEq)]
    pub enum NamingContextExtResolveStrError {
        /// `IDL:omg.org/CosNaming/NamingContext/NotFound:1.0`
        NotFound(naming_context::NotFound),
        /// `IDL:omg.org/CosNaming/NamingContext/CannotProceed:1.0`
        CannotProceed(naming_context::CannotProceed),
        /// `IDL:omg.org/CosNaming/NamingContext/InvalidName:1.0`
        InvalidName(naming_context::InvalidName),
        /// The call did not reach the object, or came to no regular end.
        System(rt::SystemException),
    }

    impl From<naming_context::NotFound> for NamingContextExtResolveStrError {
        fn from(exception: naming_context::NotFound) -> Self {
            Self::NotFound(exception)
        }
    }

    impl From<naming_context::CannotProceed> for NamingContextExtResolveStrError {
        fn from(exception: naming_context::CannotProceed) -> Self {
            Self::CannotProceed(exception)
        }
    }

    impl From<naming_context::InvalidName> for NamingContextExtResolveStrError {
        fn from(exception: naming_context::InvalidName) -> Self {
            Self::InvalidName(exception)
        }
    }

    impl From<rt::SystemException> for NamingContextExtResolveStrError {
        fn from(exception: rt::SystemException) -> Self {
            Self::System(exception)
        }
    }

    impl ::std::fmt::Display for NamingContextExtResolveStrError {
        fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
            match self {
                Self::NotFound(exception) => ::std::fmt::Display::fmt(exception, f),
                Self::CannotProceed(exception) => ::std::fmt::Display::fmt(exception, f),
                Self::InvalidName(exception) => ::std::fmt::Display::fmt(exception, f),
                Self::System(exception) => ::std::fmt::Display::fmt(exception, f),
            }
        }
    }

    impl ::std::error::Error for NamingContextExtResolveStrError {}

    impl rt::OperationError for NamingContextExtResolveStrError {
        fn decode_user(id: &str, r: &mut rt::Reader<'_>) -> Option<Result<Self, rt::DecodeError>> {
            match id {
                "IDL:omg.org/CosNaming/NamingContext/NotFound:1.0" => {
                    Some(rt::Decode::decode(r).map(Self::NotFound))
                }
                "IDL:omg.org/CosNaming/NamingContext/CannotProceed:1.0" => {
                    Some(rt::Decode::decode(r).map(Self::CannotProceed))
                }
                "IDL:omg.org/CosNaming/NamingContext/InvalidName:1.0" => {
                    Some(rt::Decode::decode(r).map(Self::InvalidName))
                }
                _ => None,
            }
        }

        fn raise(self, call: &mut rt::ServerCall<'_>) -> rt::Dispatched {
            match self {
                Self::NotFound(exception) => call.raise(&exception),
                Self::CannotProceed(exception) => call.raise(&exception),
                Self::InvalidName(exception) => call.raise(&exception),
                Self::System(exception) => Err(exception),
            }
        }
    }

    /// The servant's side of `IDL:omg.org/CosNaming/NamingContextExt:1.0`.
    pub trait NamingContextExt: NamingContext {
        /// `IDL:omg.org/CosNaming/NamingContextExt/to_string:1.0`
        fn to_string(
            &self,
            n: &[NameComponent],
        ) -> Result<naming_context_ext::StringName, NamingContextExtToStringError>;

        /// `IDL:omg.org/CosNaming/NamingContextExt/to_name:1.0`
        fn to_name(&self, sn: &str) -> Result<Name, NamingContextExtToNameError>;

        /// `IDL:omg.org/CosNaming/NamingContextExt/to_url:1.0`
        fn to_url(
            &self,
            addr: &str,
            sn: &str,
        ) -> Result<naming_context_ext::UrlString, NamingContextExtToUrlError>;

        /// `IDL:omg.org/CosNaming/NamingContextExt/resolve_str:1.0`
        fn resolve_str(&self, sn: &str) -> Result<Option<rt::ObjectRef>, NamingContextExtResolveStrError>;
    }

    impl<S: NamingContextExt + ?Sized> NamingContextExt for ::std::sync::Arc<S> {
        fn to_string(
            &self,
            n: &[NameComponent],
        ) -> Result<naming_context_ext::StringName, NamingContextExtToStringError> {
            (**self).to_string(n)
        }

        fn to_name(&self, sn: &str) -> Result<Name, NamingContextExtToNameError> {
            (**self).to_name(sn)
        }

        fn to_url(
            &self,
            addr: &str,
            sn: &str,
        ) -> Result<naming_context_ext::UrlString, NamingContextExtToUrlError> {
            (**self).to_url(addr, sn)
        }

        fn resolve_str(&self, sn: &str) -> Result<Option<rt::ObjectRef>, NamingContextExtResolveStrError> {
            (**self).resolve_str(sn)
        }
    }

    /// Lets an adapter serve an implementation of [`NamingContextExt`].
    #[derive(Clone, Debug)]
    pub struct NamingContextExtSkeleton<S>(pub S);

    impl<S: NamingContextExt> rt::Skeleton for NamingContextExtSkeleton<S> {
        fn interface(&self) -> &'static rt::Interface {
            &NAMING_CONTEXT_EXT
        }

        fn invoke(&self, operation: u32, call: &mut rt::ServerCall<'_>) -> rt::Dispatched {
            match operation {
                0 => naming_context_ext_skeleton::to_string(&self.0, call),
                1 => naming_context_ext_skeleton::to_name(&self.0, call),
                2 => naming_context_ext_skeleton::to_url(&self.0, call),
                3 => naming_context_ext_skeleton::resolve_str(&self.0, call),
                4 => naming_context_skeleton::bind(&self.0, call),
                5 => naming_context_skeleton::rebind(&self.0, call),
                6 => naming_context_skeleton::bind_context(&self.0, call),
                7 => naming_context_skeleton::rebind_context(&self.0, call),
                8 => naming_context_skeleton::resolve(&self.0, call),
                9 => naming_context_skeleton::unbind(&self.0, call),
                10 => naming_context_skeleton::new_context(&self.0, call),
                11 => naming_context_skeleton::bind_new_context(&self.0, call),
                12 => naming_context_skeleton::destroy(&self.0, call),
                13 => naming_context_skeleton::list(&self.0, call),
                _ => call.implicit(&NAMING_CONTEXT_EXT, operation),
            }
        }
    }

    impl<S: NamingContextExt> rt::TypedSkeleton for NamingContextExtSkeleton<S> {
        type Reference = NamingContextExtRef;
    }

    /// Skeletons of the operations of `CosNaming::NamingContextExt`.
    pub mod naming_context_ext_skeleton {
        use ::throughline::rt;

        /// Serves `to_string`.
        pub fn to_string<S: super::NamingContextExt + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            let r = call.arguments();
            let n: super::Name = rt::Decode::decode(r)?;
            match servant.to_string(&n) {
                Ok(result) => call.reply(|w| rt::Encode::encode(&result, w)),
                Err(error) => rt::OperationError::raise(error, call),
            }
        }

        /// Serves `to_name`.
        pub fn to_name<S: super::NamingContextExt + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            let r = call.arguments();
            let sn = r.read_string()?;
            match servant.to_name(&sn) {
                Ok(result) => call.reply(|w| rt::Encode::encode(&result, w)),
                Err(error) => rt::OperationError::raise(error, call),
            }
        }

        /// Serves `to_url`.
        pub fn to_url<S: super::NamingContextExt + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            let r = call.arguments();
            let addr = r.read_string()?;
            let sn = r.read_string()?;
            match servant.to_url(&addr, &sn) {
                Ok(result) => call.reply(|w| rt::Encode::encode(&result, w)),
                Err(error) => rt::OperationError::raise(error, call),
            }
        }

        /// Serves `resolve_str`.
        pub fn resolve_str<S: super::NamingContextExt + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            let r = call.arguments();
            let sn = r.read_string()?;
            match servant.resolve_str(&sn) {
                Ok(result) => call.reply(|w| rt::Encode::encode(&result, w)),
                Err(error) => rt::OperationError::raise(error, call),
            }
        }
    }

    /// What the runtime knows of `IDL:omg.org/CosNaming/NamingContextExt:1.0`.
    pub static NAMING_CONTEXT_EXT: rt::Interface = rt::Interface {
        repository_id: "IDL:omg.org/CosNaming/NamingContextExt:1.0",
        ancestors: &["IDL:omg.org/CosNaming/NamingContextExt:1.0", "IDL:omg.org/CosNaming/NamingContext:1.0"],
        operations: rt::OperationTable::new(rt::NameTable::new(
            &[
                "to_string",
                "to_name",
                "to_url",
                "resolve_str",
                "bind",
                "rebind",
                "bind_context",
                "rebind_context",
                "resolve",
                "unbind",
                "new_context",
                "bind_new_context",
                "destroy",
                "list",
                "_is_a",
                "_non_existent",
                "_interface",
                "_component",
                "_repository_id",
                "_not_existent",
            ],
            16294208416658607535,
            &[746756799, 3793791033, 113532185, 3793791033, 456755563, 3793791033, 3793791033, 3793791033],
            &[
                18, 0, 0, 16, 0, 1, 0, 0, 17, 0, 8, 0, 2, 15, 9, 13, 10, 0, 3, 0, 4, 12, 0, 19, 7, 14, 11, 0,
                0, 6, 0, 5,
            ],
        )),
    };

    /// A reference to an object of `IDL:omg.org/CosNaming/NamingContextExt:1.0`.
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    pub struct NamingContextExtRef(rt::ObjectRef);

    #[allow(clippy::redundant_closure)]
    impl NamingContextExtRef {
        /// The object as one of this interface, or `None` if it is of another. Asks the object itself unless the
        /// reference tells.
        pub fn narrow(object: &rt::ObjectRef) -> Result<Option<Self>, rt::SystemException> {
            object.narrow()
        }

        /// `IDL:omg.org/CosNaming/NamingContextExt/to_string:1.0`
        pub fn to_string(
            &self,
            n: &[NameComponent],
        ) -> Result<naming_context_ext::StringName, NamingContextExtToStringError> {
            self.0.call(
                rt::Operation::new("to_string", 0),
                |w| rt::Encode::encode(n, w),
                |r| rt::Decode::decode(r),
            )
        }

        /// [`to_string`](Self::to_string), as a future.
        pub fn to_string_async(
            &self,
            n: &[NameComponent],
        ) -> impl ::std::future::Future<
            Output = Result<naming_context_ext::StringName, NamingContextExtToStringError>,
        > + Send
        + use<> {
            self.0
                .call_async(
                    rt::Operation::new("to_string", 0),
                    |w| rt::Encode::encode(n, w),
                    |r| rt::Decode::decode(r),
                )
                .rewriting(rt::rewrite::<Name>)
        }

        /// `IDL:omg.org/CosNaming/NamingContextExt/to_name:1.0`
        pub fn to_name(&self, sn: &str) -> Result<Name, NamingContextExtToNameError> {
            self.0.call(
                rt::Operation::new("to_name", 1),
                |w| rt::Encode::encode(sn, w),
                |r| rt::Decode::decode(r),
            )
        }

        /// [`to_name`](Self::to_name), as a future.
        pub fn to_name_async(
            &self,
            sn: &str,
        ) -> impl ::std::future::Future<Output = Result<Name, NamingContextExtToNameError>> + Send + use<>
        {
            self.0
                .call_async(
                    rt::Operation::new("to_name", 1),
                    |w| rt::Encode::encode(sn, w),
                    |r| rt::Decode::decode(r),
                )
                .rewriting(rt::rewrite::<naming_context_ext::StringName>)
        }

        /// `IDL:omg.org/CosNaming/NamingContextExt/to_url:1.0`
        pub fn to_url(
            &self,
            addr: &str,
            sn: &str,
        ) -> Result<naming_context_ext::UrlString, NamingContextExtToUrlError> {
            self.0.call(
                rt::Operation::new("to_url", 2),
                |w| {
                    rt::Encode::encode(addr, w)?;
                    rt::Encode::encode(sn, w)
                },
                |r| rt::Decode::decode(r),
            )
        }

        /// [`to_url`](Self::to_url), as a future.
        pub fn to_url_async(
            &self,
            addr: &str,
            sn: &str,
        ) -> impl ::std::future::Future<
            Output = Result<naming_context_ext::UrlString, NamingContextExtToUrlError>,
        > + Send
        + use<> {
            self.0
                .call_async(
                    rt::Operation::new("to_url", 2),
                    |w| {
                        rt::Encode::encode(addr, w)?;
                        rt::Encode::encode(sn, w)
                    },
                    |r| rt::Decode::decode(r),
                )
                .rewriting(|r, w| {
                    rt::rewrite::<naming_context_ext::Address>(r, w)?;
                    rt::rewrite::<naming_context_ext::StringName>(r, w)
                })
        }

        /// `IDL:omg.org/CosNaming/NamingContextExt/resolve_str:1.0`
        pub fn resolve_str(
            &self,
            sn: &str,
        ) -> Result<Option<rt::ObjectRef>, NamingContextExtResolveStrError> {
            self.0.call(
                rt::Operation::new("resolve_str", 3),
                |w| rt::Encode::encode(sn, w),
                |r| rt::Decode::decode(r),
            )
        }

        /// [`resolve_str`](Self::resolve_str), as a future.
        pub fn resolve_str_async(
            &self,
            sn: &str,
        ) -> impl ::std::future::Future<
            Output = Result<Option<rt::ObjectRef>, NamingContextExtResolveStrError>,
        > + Send
        + use<> {
            self.0
                .call_async(
                    rt::Operation::new("resolve_str", 3),
                    |w| rt::Encode::encode(sn, w),
                    |r| rt::Decode::decode(r),
                )
                .rewriting(rt::rewrite::<naming_context_ext::StringName>)
        }

        /// `IDL:omg.org/CosNaming/NamingContext/bind:1.0`
        pub fn bind(
            &self,
            n: &[NameComponent],
            obj: Option<&rt::ObjectRef>,
        ) -> Result<(), NamingContextBindError> {
            self.0.call(
                rt::Operation::new("bind", 4),
                |w| {
                    rt::Encode::encode(n, w)?;
                    rt::Nilable::encode_nilable(obj, w)
                },
                |_| Ok(()),
            )
        }

        /// [`bind`](Self::bind), as a future.
        pub fn bind_async(
            &self,
            n: &[NameComponent],
            obj: Option<&rt::ObjectRef>,
        ) -> impl ::std::future::Future<Output = Result<(), NamingContextBindError>> + Send + use<> {
            self.0
                .call_async(
                    rt::Operation::new("bind", 4),
                    |w| {
                        rt::Encode::encode(n, w)?;
                        rt::Nilable::encode_nilable(obj, w)
                    },
                    |_| Ok(()),
                )
                .rewriting(|r, w| {
                    rt::rewrite::<Name>(r, w)?;
                    rt::rewrite::<Option<rt::ObjectRef>>(r, w)
                })
        }

        /// `IDL:omg.org/CosNaming/NamingContext/rebind:1.0`
        pub fn rebind(
            &self,
            n: &[NameComponent],
            obj: Option<&rt::ObjectRef>,
        ) -> Result<(), NamingContextRebindError> {
            self.0.call(
                rt::Operation::new("rebind", 5),
                |w| {
                    rt::Encode::encode(n, w)?;
                    rt::Nilable::encode_nilable(obj, w)
                },
                |_| Ok(()),
            )
        }

        /// [`rebind`](Self::rebind), as a future.
        pub fn rebind_async(
            &self,
            n: &[NameComponent],
            obj: Option<&rt::ObjectRef>,
        ) -> impl ::std::future::Future<Output = Result<(), NamingContextRebindError>> + Send + use<>
        {
            self.0
                .call_async(
                    rt::Operation::new("rebind", 5),
                    |w| {
                        rt::Encode::encode(n, w)?;
                        rt::Nilable::encode_nilable(obj, w)
                    },
                    |_| Ok(()),
                )
                .rewriting(|r, w| {
                    rt::rewrite::<Name>(r, w)?;
                    rt::rewrite::<Option<rt::ObjectRef>>(r, w)
                })
        }

        /// `IDL:omg.org/CosNaming/NamingContext/bind_context:1.0`
        pub fn bind_context(
            &self,
            n: &[NameComponent],
            nc: Option<&NamingContextRef>,
        ) -> Result<(), NamingContextBindContextError> {
            self.0.call(
                rt::Operation::new("bind_context", 6),
                |w| {
                    rt::Encode::encode(n, w)?;
                    rt::Nilable::encode_nilable(nc, w)
                },
                |_| Ok(()),
            )
        }

        /// [`bind_context`](Self::bind_context), as a future.
        pub fn bind_context_async(
            &self,
            n: &[NameComponent],
            nc: Option<&NamingContextRef>,
        ) -> impl ::std::future::Future<Output = Result<(), NamingContextBindContextError>> + Send + use<>
        {
            self.0
                .call_async(
                    rt::Operation::new("bind_context", 6),
                    |w| {
                        rt::Encode::encode(n, w)?;
                        rt::Nilable::encode_nilable(nc, w)
                    },
                    |_| Ok(()),
                )
                .rewriting(|r, w| {
                    rt::rewrite::<Name>(r, w)?;
                    rt::rewrite::<Option<NamingContextRef>>(r, w)
                })
        }

        /// `IDL:omg.org/CosNaming/NamingContext/rebind_context:1.0`
        pub fn rebind_context(
            &self,
            n: &[NameComponent],
            nc: Option<&NamingContextRef>,
        ) -> Result<(), NamingContextRebindContextError> {
            self.0.call(
                rt::Operation::new("rebind_context", 7),
                |w| {
                    rt::Encode::encode(n, w)?;
                    rt::Nilable::encode_nilable(nc, w)
                },
                |_| Ok(()),
            )
        }

        /// [`rebind_context`](Self::rebind_context), as a future.
        pub fn rebind_context_async(
            &self,
            n: &[NameComponent],
            nc: Option<&NamingContextRef>,
        ) -> impl ::std::future::Future<Output = Result<(), NamingContextRebindContextError>> + Send + use<>
        {
            self.0
                .call_async(
                    rt::Operation::new("rebind_context", 7),
                    |w| {
                        rt::Encode::encode(n, w)?;
                        rt::Nilable::encode_nilable(nc, w)
                    },
                    |_| Ok(()),
                )
                .rewriting(|r, w| {
                    rt::rewrite::<Name>(r, w)?;
                    rt::rewrite::<Option<NamingContextRef>>(r, w)
                })
        }

        /// `IDL:omg.org/CosNaming/NamingContext/resolve:1.0`
        pub fn resolve(
            &self,
            n: &[NameComponent],
        ) -> Result<Option<rt::ObjectRef>, NamingContextResolveError> {
            self.0.call(
                rt::Operation::new("resolve", 8),
                |w| rt::Encode::encode(n, w),
                |r| rt::Decode::decode(r),
            )
        }

        /// [`resolve`](Self::resolve), as a future.
        pub fn resolve_async(
            &self,
            n: &[NameComponent],
        ) -> impl ::std::future::Future<Output = Result<Option<rt::ObjectRef>, NamingContextResolveError>>
        + Send
        + use<> {
            self.0
                .call_async(
                    rt::Operation::new("resolve", 8),
                    |w| rt::Encode::encode(n, w),
                    |r| rt::Decode::decode(r),
                )
                .rewriting(rt::rewrite::<Name>)
        }

        /// `IDL:omg.org/CosNaming/NamingContext/unbind:1.0`
        pub fn unbind(&self, n: &[NameComponent]) -> Result<(), NamingContextUnbindError> {
            self.0.call(rt::Operation::new("unbind", 9), |w| rt::Encode::encode(n, w), |_| Ok(()))
        }

        /// [`unbind`](Self::unbind), as a future.
        pub fn unbind_async(
            &self,
            n: &[NameComponent],
        ) -> impl ::std::future::Future<Output = Result<(), NamingContextUnbindError>> + Send + use<>
        {
            self.0
                .call_async(rt::Operation::new("unbind", 9), |w| rt::Encode::encode(n, w), |_| Ok(()))
                .rewriting(rt::rewrite::<Name>)
        }

        /// `IDL:omg.org/CosNaming/NamingContext/new_context:1.0`
        pub fn new_context(&self) -> Result<Option<NamingContextRef>, rt::SystemException> {
            self.0.call(rt::Operation::new("new_context", 10), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// [`new_context`](Self::new_context), as a future.
        pub fn new_context_async(
            &self,
        ) -> impl ::std::future::Future<Output = Result<Option<NamingContextRef>, rt::SystemException>>
        + Send
        + use<> {
            self.0.call_async(rt::Operation::new("new_context", 10), |_| Ok(()), |r| rt::Decode::decode(r))
        }

        /// `IDL:omg.org/CosNaming/NamingContext/bind_new_context:1.0`
        pub fn bind_new_context(
            &self,
            n: &[NameComponent],
        ) -> Result<Option<NamingContextRef>, NamingContextBindNewContextError> {
            self.0.call(
                rt::Operation::new("bind_new_context", 11),
                |w| rt::Encode::encode(n, w),
                |r| rt::Decode::decode(r),
            )
        }

        /// [`bind_new_context`](Self::bind_new_context), as a future.
        pub fn bind_new_context_async(
            &self,
            n: &[NameComponent],
        ) -> impl ::std::future::Future<
            Output = Result<Option<NamingContextRef>, NamingContextBindNewContextError>,
        > + Send
        + use<> {
            self.0
                .call_async(
                    rt::Operation::new("bind_new_context", 11),
                    |w| rt::Encode::encode(n, w),
                    |r| rt::Decode::decode(r),
                )
                .rewriting(rt::rewrite::<Name>)
        }

        /// `IDL:omg.org/CosNaming/NamingContext/destroy:1.0`
        pub fn destroy(&self) -> Result<(), NamingContextDestroyError> {
            self.0.call(rt::Operation::new("destroy", 12), |_| Ok(()), |_| Ok(()))
        }

        /// [`destroy`](Self::destroy), as a future.
        pub fn destroy_async(
            &self,
        ) -> impl ::std::future::Future<Output = Result<(), NamingContextDestroyError>> + Send + use<>
        {
            self.0.call_async(rt::Operation::new("destroy", 12), |_| Ok(()), |_| Ok(()))
        }

        /// `IDL:omg.org/CosNaming/NamingContext/list:1.0`
        ///
        /// Yields `(bl, bi)`.
        pub fn list(
            &self,
            how_many: u32,
        ) -> Result<(BindingList, Option<BindingIteratorRef>), rt::SystemException> {
            self.0.call(
                rt::Operation::new("list", 13),
                |w| rt::Encode::encode(&how_many, w),
                |r| Ok((rt::Decode::decode(r)?, rt::Decode::decode(r)?)),
            )
        }

        /// [`list`](Self::list), as a future.
        ///
        /// Yields `(bl, bi)`.
        pub fn list_async(
            &self,
            how_many: u32,
        ) -> impl ::std::future::Future<
            Output = Result<(BindingList, Option<BindingIteratorRef>), rt::SystemException>,
        > + Send
        + use<> {
            self.0
                .call_async(
                    rt::Operation::new("list", 13),
                    |w| rt::Encode::encode(&how_many, w),
                    |r| Ok((rt::Decode::decode(r)?, rt::Decode::decode(r)?)),
                )
                .rewriting(rt::rewrite::<u32>)
        }
    }

    impl rt::TypedReference for NamingContextExtRef {
        const REPOSITORY_ID: &'static str = "IDL:omg.org/CosNaming/NamingContextExt:1.0";

        fn interface() -> &'static rt::Interface {
            &NAMING_CONTEXT_EXT
        }

        fn from_object(object: rt::ObjectRef) -> Self {
            Self(object)
        }

        fn as_object(&self) -> &rt::ObjectRef {
            &self.0
        }
    }

    impl From<NamingContextExtRef> for NamingContextRef {
        fn from(reference: NamingContextExtRef) -> Self {
            rt::TypedReference::from_object(reference.0)
        }
    }

    impl From<NamingContextExtRef> for rt::ObjectRef {
        fn from(reference: NamingContextExtRef) -> Self {
            reference.0
        }
    }

    impl rt::Nilable for NamingContextExtRef {
        fn encode_nilable(value: Option<&Self>, w: &mut rt::Writer<'_>) -> Result<(), rt::EncodeError> {
            rt::encode_reference(value, w)
        }

        fn decode_nilable(r: &mut rt::Reader<'_>) -> Result<Option<Self>, rt::DecodeError> {
            rt::decode_reference(r)
        }
    }

    /// What is defined inside `CosNaming::NamingContextExt`.
    pub mod naming_context_ext {
        use ::throughline::rt;

        /// `typedef string StringName`
        pub type StringName = String;

        /// `typedef string Address`
        pub type Address = String;

        /// `typedef string URLString`
        pub type UrlString = String;

        /// `IDL:omg.org/CosNaming/NamingContextExt/InvalidAddress:1.0`
        #[derive(Clone, Debug, PartialEq)]
        pub struct InvalidAddress;

        impl rt::Encode for InvalidAddress {
            fn encode(&self, _: &mut rt::Writer<'_>) -> Result<(), rt::EncodeError> {
                Ok(())
            }
        }

        impl<'a> rt::Decode<'a> for InvalidAddress {
            const MIN_SIZE: usize = 0;

            fn decode(_: &mut rt::Reader<'a>) -> Result<Self, rt::DecodeError> {
                Ok(Self)
            }
        }

        impl rt::UserException for InvalidAddress {
            const REPOSITORY_ID: &'static str = "IDL:omg.org/CosNaming/NamingContextExt/InvalidAddress:1.0";
        }

        impl ::std::fmt::Display for InvalidAddress {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str("CosNaming::NamingContextExt::InvalidAddress")
            }
        }

        impl ::std::error::Error for InvalidAddress {}
    }
}
