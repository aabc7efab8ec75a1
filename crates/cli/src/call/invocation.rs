//! One call, marshaled by the types of the IDL.

use throughline::rt::{Dispatched, Operation, OperationError, ServerCall};
use throughline::{Kind, ObjectRef, SystemException, Transport};
use throughline_cdr::{ByteOrder, CodeSets, DecodeError, EncodeError, Reader, Writer};
use throughline_idl::model::{DefId, Feature, Signature, Type};

use super::given::Given;
use super::interface::Called;
use crate::dynamic::{Resolve, Types, Value};
use crate::failure::{Failure, Result};

/// A call that can be made any number of times.
pub struct Invocation<'m> {
    pub types: Types<'m>,
    pub signature: Signature<'m>,
    interface: DefId,
    operation: Operation,
    inputs: Vec<Value>,
}

impl<'m> Invocation<'m> {
    /// Checks the arguments.
    pub fn new(types: Types<'m>, called: Called<'m>, given: &Given, resolve: Resolve<'_>) -> Result<Self> {
        supported(types, &called.signature)?;
        let inputs = given.check(types, &called.signature, resolve)?;
        // The one operation of the process: it lives as long.
        let name = called.signature.wire_name.clone().into_owned().leak();
        let operation = Operation::new(name, called.index);
        Ok(Self { types, signature: called.signature, interface: called.interface, operation, inputs })
    }

    /// What is called, in words.
    pub fn about(&self) -> String {
        let interface = self.types.model.scoped_name(self.interface);
        match self.operation.index {
            u32::MAX => format!("{} of every object", self.operation.name),
            index => format!("{} of {interface}, operation {index} of its table", self.operation.name),
        }
    }

    /// The name on the wire.
    pub fn name(&self) -> &'static str {
        self.operation.name
    }

    /// Makes the call: the result first, then inout and out parameters.
    pub fn call(&self, object: &ObjectRef) -> std::result::Result<Vec<Value>, Ended> {
        let encode = |w: &mut Writer<'_>| self.encode(w);
        if self.signature.oneway {
            object.send_oneway(self.operation, encode)?;
            return Ok(Vec::new());
        }
        match object.call(self.operation, encode, |r| self.decode(r)) {
            // What is gone says so by an exception.
            Err(Ended::System(e)) if self.name() == "_non_existent" && e.kind == Kind::ObjectNotExist => {
                Ok(vec![Value::Boolean(true)])
            }
            ended => ended,
        }
    }

    /// Waits until oneways have left, which a process that ends may take with it: what is sent over UDP is sent when there is
    /// room for it. An answer that comes after them tells, whatever it is.
    pub fn settle(&self, object: &ObjectRef) {
        if self.signature.oneway && object.way().is_some_and(|way| way.transport == Transport::Udp) {
            let _ = object.non_existent();
        }
    }

    fn encode(&self, w: &mut Writer<'_>) -> std::result::Result<(), EncodeError> {
        let mut inputs = self.signature.inputs().zip(&self.inputs);
        inputs.try_for_each(|(parameter, value)| self.types.encode(parameter.ty, value, w))
    }

    fn decode(&self, r: &mut Reader<'_>) -> std::result::Result<Vec<Value>, DecodeError> {
        self.outputs().map(|(_, ty)| self.types.decode(ty, r)).collect()
    }

    /// What comes back, in the order in which it travels; the result has no name.
    pub fn outputs(&self) -> impl Iterator<Item = (Option<&'m str>, &'m Type)> {
        let result = self.signature.result.map(|ty| (None, ty));
        let parameters = self.signature.outputs().map(|it| (Some(it.name), it.ty));
        result.into_iter().chain(parameters).collect::<Vec<_>>().into_iter()
    }
}

/// Refuses, before anything is sent, what could not be read or written.
fn supported(types: Types<'_>, signature: &Signature<'_>) -> Result {
    let refused = |what: String| {
        let declaration = types.model.declaration(signature.feature);
        Err(Failure::usage(format!("`{}` cannot be called", signature.wire_name))
            .because(format!("{what} is not supported yet"))
            .next(format!("it is declared as {declaration}")))
    };
    let parameters = signature.parameters.iter().map(|it| it.ty);
    if let Some(ty) = signature.result.into_iter().chain(parameters).find_map(|ty| types.unsupported(ty)) {
        return refused(format!("`{}`", types.model.type_text(ty)));
    }
    match signature.feature {
        Feature::Operation(it) if !it.context.is_empty() => refused("a `context` clause".to_owned()),
        _ => Ok(()),
    }
}

/// How a call ended if not regularly.
pub enum Ended {
    Raised(Raised),
    System(SystemException),
}

/// A user exception whose members are still to be read.
pub struct Raised {
    /// Its repository id.
    pub id: String,
    octets: Vec<u8>,
    start: usize,
    order: ByteOrder,
    codesets: CodeSets,
}

impl Raised {
    /// The members, for a decoder.
    pub fn reader(&self) -> Reader<'_> {
        let mut reader = Reader::starting_at(&self.octets, self.order, self.start);
        reader.set_codesets(self.codesets);
        reader
    }
}

impl From<SystemException> for Ended {
    fn from(exception: SystemException) -> Self {
        Self::System(exception)
    }
}

impl OperationError for Ended {
    fn decode_user(id: &str, r: &mut Reader<'_>) -> Option<std::result::Result<Self, DecodeError>> {
        // Which types the members have is known to whoever called; alignment is by 8 at most.
        let start = r.position() % 8;
        let octets = [&[0; 8][..start], r.rest()].concat();
        let raised = Raised { id: id.to_owned(), octets, start, order: r.order(), codesets: r.codesets() };
        Some(Ok(Self::Raised(raised)))
    }

    fn raise(self, _call: &mut ServerCall<'_>) -> Dispatched {
        match self {
            Self::System(exception) => Err(exception),
            Self::Raised(_) => Err(Kind::Unknown.into()),
        }
    }
}
