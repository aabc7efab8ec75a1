//! For programs that use a name service, this one or another.

use std::collections::VecDeque;

use throughline::SystemException;
use throughline_giop::corbaloc::ParseLocError;

use crate::cos_naming::{
    Binding, BindingIteratorRef, NameComponent, NamingContextBindNewContextError, NamingContextRef,
    NamingContextResolveError,
};
use crate::label;

/// The components of a name as text: `bank/accounts.kind`, with `\` before a `.`, `/` or `\` that is part of a name.
///
/// # Errors
/// What is wrong with the text.
pub fn parse_name(text: &str) -> Result<Vec<NameComponent>, ParseLocError> {
    label::parse(text)
}

/// The text of a name, which [`parse_name`] reads.
pub fn name_to_string(name: &[NameComponent]) -> String {
    label::to_text(name)
}

/// Makes the contexts of a path that are not there yet, and returns the last.
///
/// # Errors
/// As `bind_new_context`, or as `resolve` for a context that is there.
pub fn make_path(
    context: &NamingContextRef,
    path: &[NameComponent],
) -> Result<NamingContextRef, NamingContextResolveError> {
    let mut context = context.clone();
    for component in path {
        let step = std::slice::from_ref(component);
        let next = match context.bind_new_context(step) {
            Ok(made) => made,
            Err(NamingContextBindNewContextError::AlreadyBound(_)) => match context.resolve(step)? {
                Some(object) => object.narrow()?,
                None => None,
            },
            Err(NamingContextBindNewContextError::NotFound(e)) => return Err(e.into()),
            Err(NamingContextBindNewContextError::CannotProceed(e)) => return Err(e.into()),
            Err(NamingContextBindNewContextError::InvalidName(e)) => return Err(e.into()),
            Err(NamingContextBindNewContextError::System(e)) => return Err(e.into()),
        };
        context = next.ok_or_else(|| {
            let what = format!("`{}` is bound to something that is no context", name_to_string(step));
            SystemException::from(throughline::Kind::BadParam).detail(what)
        })?;
    }
    Ok(context)
}

/// How many bindings are fetched at a time.
const BATCH: u32 = 500;

/// All bindings of a context, fetched as they are asked for. See [`list`].
#[derive(Debug)]
pub struct Listing {
    fetched: VecDeque<Binding>,
    rest: Option<BindingIteratorRef>,
}

/// The bindings of a context.
///
/// # Errors
/// What the call fails with; later calls fail as items.
pub fn list(context: &NamingContextRef) -> Result<Listing, SystemException> {
    let (first, rest) = context.list(BATCH)?;
    Ok(Listing { fetched: first.into(), rest })
}

impl Listing {
    fn fetch(&mut self) -> Result<(), SystemException> {
        let Some(rest) = &self.rest else { return Ok(()) };
        let (more, bindings) = rest.next_n(BATCH)?;
        self.fetched = bindings.into();
        if !more || self.fetched.is_empty() {
            self.finish();
        }
        Ok(())
    }

    /// Tells the server that the iterator is not needed any more. It ends unused ones anyway.
    fn finish(&mut self) {
        if let Some(rest) = self.rest.take() {
            let _ = rest.destroy();
        }
    }
}

impl Iterator for Listing {
    type Item = Result<Binding, SystemException>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.fetched.is_empty()
            && let Err(exception) = self.fetch()
        {
            self.rest = None;
            return Some(Err(exception));
        }
        self.fetched.pop_front().map(Ok)
    }
}

impl Drop for Listing {
    fn drop(&mut self) {
        self.finish();
    }
}
