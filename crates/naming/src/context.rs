//! The servant of a naming context.

use std::sync::Arc;

use throughline::{Ior, Kind, ObjectRef, SystemException, TypedReference};
use throughline_giop::corbaname::Corbaname;

use crate::cos_naming::naming_context::{InvalidName, NotFoundReason};
use crate::cos_naming::naming_context_ext::InvalidAddress;
use crate::cos_naming::{
    BindingIteratorRef, BindingList, Name, NameComponent, NamingContext, NamingContextBindContextError,
    NamingContextBindError, NamingContextBindNewContextError, NamingContextDestroyError, NamingContextExt,
    NamingContextExtResolveStrError, NamingContextExtToNameError, NamingContextExtToStringError,
    NamingContextExtToUrlError, NamingContextRebindContextError, NamingContextRebindError, NamingContextRef,
    NamingContextResolveError, NamingContextUnbindError,
};
use crate::failure::{Failure, Raised};
use crate::iterator::to_bindings;
use crate::label::{self, Label};
use crate::server::Inner;
use crate::tree::{ContextId, Mode, ROOT, Refused, Target, size_of_reference};

/// The largest reference that is kept, in bytes of its profiles.
const MAX_REFERENCE: usize = 16 * 1024;

/// One context of the tree.
#[derive(Debug)]
pub(crate) struct Context {
    server: Arc<Inner>,
    id: ContextId,
}

/// Where a name leads when all of its components but the last are followed, as far as contexts are here.
enum Place<'n> {
    /// To a context here, where the last component is to be looked up.
    Here { context: ContextId, last: Label, rest: &'n [NameComponent] },
    /// To a context of another server, which has to go on with the rest.
    Abroad { context: NamingContextRef, rest: &'n [NameComponent] },
}

impl Context {
    pub(crate) fn new(server: Arc<Inner>, id: ContextId) -> Self {
        Self { server, id }
    }

    fn walk<'n>(&self, name: &'n [NameComponent]) -> Result<Place<'n>, Failure> {
        if !label::is_valid(name) {
            return Err(Failure::InvalidName);
        }
        let (mut context, mut rest) = (self.id, name);
        while let [first, others @ ..] = rest {
            let label = Label::from(first);
            if others.is_empty() {
                return Ok(Place::Here { context, last: label, rest });
            }
            match self.server.tree.lookup(context, &label) {
                Ok(Target::Own(next)) => context = next,
                Ok(Target::Foreign(ior)) => return self.leave(&ior, others),
                Ok(Target::Object(_)) => {
                    return Err(Failure::not_found(NotFoundReason::NotContext, rest));
                }
                Err(refused) => return Err(self.refused(refused, context, rest, true)),
            }
            rest = others;
        }
        Err(Failure::InvalidName)
    }

    fn leave<'n>(&self, ior: &Ior, rest: &'n [NameComponent]) -> Result<Place<'n>, Failure> {
        let timeout = self.server.config.foreign_timeout;
        let object = self.server.object(ior).ok_or_else(|| nil("a context is bound to nil"))?;
        let context = NamingContextRef::from_object(object.with_timeout(timeout));
        Ok(Place::Abroad { context, rest })
    }

    /// Does one thing here, or has it done by the server that has the context.
    fn at<T, E: Raised>(
        &self,
        name: &[NameComponent],
        here: impl FnOnce(ContextId, &Label) -> Result<T, Refused>,
        abroad: impl FnOnce(&NamingContextRef, &[NameComponent]) -> Result<T, E>,
        wants_context: bool,
    ) -> Result<T, E> {
        match self.walk(name)? {
            Place::Here { context, last, rest } => {
                here(context, &last).map_err(|r| self.refused(r, context, rest, wants_context).into())
            }
            Place::Abroad { context, rest } => {
                let cannot = || E::from(Failure::cannot_proceed(&context, rest));
                let _leave = self.server.foreign_calls.begin(context.as_object().ior()).ok_or_else(cannot)?;
                abroad(&context, rest).map_err(|error| if error.is_system() { cannot() } else { error })
            }
        }
    }

    /// What to tell the client when `context`, which it came to on its way, refused the rest.
    fn refused(&self, refused: Refused, context: ContextId, rest: &[NameComponent], wants: bool) -> Failure {
        match (refused, self.server.reference(context)) {
            // It was destroyed, but is still bound.
            (Refused::NoContext, Ok(gone)) if context != self.id => {
                Failure::cannot_proceed(&gone.into(), rest)
            }
            (refused, _) => Failure::refused(refused, rest, wants),
        }
    }

    /// What to bind for a reference to a context.
    fn context_target(&self, context: Option<&NamingContextRef>) -> Result<Target, Failure> {
        let object = context.ok_or_else(|| nil("a context to be bound is nil"))?.as_object();
        match self.server.own_context(object) {
            Some(own) => Ok(Target::Own(own)),
            None => Ok(Target::Foreign(kept(Some(object))?)),
        }
    }

    fn new_id() -> Result<ContextId, SystemException> {
        let random = getrandom::u64().map_err(|e| {
            SystemException::from(Kind::NoResources).detail(format!("no random numbers: {e}"))
        })?;
        Ok(random.max(ROOT + 1))
    }

    fn take(&self, target: &Target) -> Result<Option<ObjectRef>, SystemException> {
        match target {
            Target::Own(context) => Ok(Some(self.server.reference(*context)?.into())),
            Target::Object(ior) | Target::Foreign(ior) => Ok(self.server.object(ior)),
        }
    }
}

fn nil(what: &str) -> SystemException {
    SystemException::from(Kind::BadParam).detail(what)
}

/// A reference as data, unless it is too large to be kept.
fn kept(object: Option<&ObjectRef>) -> Result<Ior, SystemException> {
    let ior = object.map_or(Ior::NIL, |object| object.ior().clone());
    if size_of_reference(&ior) > MAX_REFERENCE {
        let what = format!("references of more than {MAX_REFERENCE} bytes are not kept");
        return Err(SystemException::from(Kind::ImpLimit).detail(what));
    }
    Ok(ior)
}

impl NamingContext for Context {
    fn bind(&self, n: &[NameComponent], obj: Option<&ObjectRef>) -> Result<(), NamingContextBindError> {
        let target = Target::Object(kept(obj)?);
        let tree = &self.server.tree;
        self.at(n, |c, l| tree.bind(c, l, &target, Mode::New, false), |c, n| c.bind(n, obj), false)
    }

    fn rebind(&self, n: &[NameComponent], obj: Option<&ObjectRef>) -> Result<(), NamingContextRebindError> {
        let target = Target::Object(kept(obj)?);
        let tree = &self.server.tree;
        self.at(n, |c, l| tree.bind(c, l, &target, Mode::Replace, false), |c, n| c.rebind(n, obj), false)
    }

    fn bind_context(
        &self,
        n: &[NameComponent],
        nc: Option<&NamingContextRef>,
    ) -> Result<(), NamingContextBindContextError> {
        let target = self.context_target(nc)?;
        let tree = &self.server.tree;
        self.at(n, |c, l| tree.bind(c, l, &target, Mode::New, false), |c, n| c.bind_context(n, nc), true)
    }

    fn rebind_context(
        &self,
        n: &[NameComponent],
        nc: Option<&NamingContextRef>,
    ) -> Result<(), NamingContextRebindContextError> {
        let target = self.context_target(nc)?;
        let tree = &self.server.tree;
        self.at(
            n,
            |c, l| tree.bind(c, l, &target, Mode::Replace, false),
            |c, n| c.rebind_context(n, nc),
            true,
        )
    }

    fn resolve(&self, n: &[NameComponent]) -> Result<Option<ObjectRef>, NamingContextResolveError> {
        enum Found {
            Here(Target),
            Abroad(Option<ObjectRef>),
        }
        let here = |context, label: &Label| self.server.tree.lookup(context, label).map(Found::Here);
        let abroad = |c: &NamingContextRef, n: &[NameComponent]| c.resolve(n).map(Found::Abroad);
        match self.at(n, here, abroad, false)? {
            Found::Here(target) => Ok(self.take(&target)?),
            Found::Abroad(object) => Ok(object),
        }
    }

    fn unbind(&self, n: &[NameComponent]) -> Result<(), NamingContextUnbindError> {
        self.at(n, |c, l| self.server.tree.unbind(c, l), |c, n| c.unbind(n), false)
    }

    fn new_context(&self) -> Result<Option<NamingContextRef>, SystemException> {
        let id = Self::new_id()?;
        // Before it is kept: there may be no room for it.
        let made = self.server.activate(id)?;
        let Err(refused) = self.server.tree.create(id) else { return Ok(Some(made.into())) };
        self.server.deactivate(id)?;
        match Failure::refused(refused, &[], true) {
            Failure::System(exception) => Err(exception),
            other => Err(SystemException::from(Kind::Internal).detail(format!("{other:?}"))),
        }
    }

    fn bind_new_context(
        &self,
        n: &[NameComponent],
    ) -> Result<Option<NamingContextRef>, NamingContextBindNewContextError> {
        let id = Self::new_id()?;
        let target = Target::Own(id);
        let here = |context, label: &Label| {
            self.server.tree.bind(context, label, &target, Mode::New, true).map(|()| None)
        };
        let abroad = |c: &NamingContextRef, n: &[NameComponent]| c.bind_new_context(n);
        // Before anybody can find it by its name.
        let made = self.server.activate(id).map_err(SystemException::from)?;
        let bound = self.at(n, here, abroad, true);
        if let Ok(None) = bound {
            return Ok(Some(made.into()));
        }
        // It was not needed.
        self.server.deactivate(id)?;
        bound
    }

    fn destroy(&self) -> Result<(), NamingContextDestroyError> {
        if self.id == ROOT {
            let what = "the root context stays";
            return Err(SystemException::from(Kind::NoPermission).detail(what).into());
        }
        self.server.tree.destroy(self.id).map_err(|refused| Failure::refused(refused, &[], true))?;
        Ok(self.server.deactivate(self.id)?)
    }

    fn list(&self, how_many: u32) -> Result<(BindingList, Option<BindingIteratorRef>), SystemException> {
        let server = &self.server;
        let page = server.tree.page(self.id, None, server.iterators.batch(how_many));
        let (page, more) = page.map_err(|_| SystemException::from(Kind::ObjectNotExist))?;
        let rest = match more {
            false => None,
            true => {
                let last = page.last().map(|(label, _)| label.clone());
                Some(server.iterators.start(&server.tree, self.id, last)?)
            }
        };
        Ok((to_bindings(&page), rest))
    }
}

impl NamingContextExt for Context {
    fn to_string(&self, n: &[NameComponent]) -> Result<String, NamingContextExtToStringError> {
        if label::is_valid(n) { Ok(label::to_text(n)) } else { Err(InvalidName.into()) }
    }

    fn to_name(&self, sn: &str) -> Result<Name, NamingContextExtToNameError> {
        label::parse_valid(sn).ok_or_else(|| InvalidName.into())
    }

    fn to_url(&self, addr: &str, sn: &str) -> Result<String, NamingContextExtToUrlError> {
        if addr.is_empty() || addr.contains('#') {
            return Err(InvalidAddress.into());
        }
        let mut url: Corbaname = format!("corbaname:{addr}").parse().map_err(|_| InvalidAddress)?;
        if !sn.is_empty() && label::parse_valid(sn).is_none() {
            return Err(InvalidName.into());
        }
        url.name = sn.to_owned();
        // The address stays as the client wrote it; the name is escaped.
        let text = url.to_string();
        Ok(text.split_once('#').map_or(format!("corbaname:{addr}"), |(_, n)| format!("corbaname:{addr}#{n}")))
    }

    fn resolve_str(&self, sn: &str) -> Result<Option<ObjectRef>, NamingContextExtResolveStrError> {
        let name = label::parse_valid(sn).ok_or(InvalidName)?;
        self.resolve(&name).map_err(|error| match error {
            NamingContextResolveError::NotFound(e) => e.into(),
            NamingContextResolveError::CannotProceed(e) => e.into(),
            NamingContextResolveError::InvalidName(e) => e.into(),
            NamingContextResolveError::System(e) => e.into(),
        })
    }
}
