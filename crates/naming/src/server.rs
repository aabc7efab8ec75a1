//! The service: contexts as objects of an ORB.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use throughline::{
    Adapter, AdapterConfig, AdapterError, Address, Ior, ObjectRef, Orb, Strategy, SystemException,
    TypedReference,
};
use throughline_giop::NativeProfile;
use throughline_giop::component::Address as Published;

use crate::abroad::ForeignCalls;
use crate::context::Context;
use crate::cos_naming::{NamingContextExtRef, NamingContextExtSkeleton};
use crate::iterator::{IteratorLimits, Iterators};
use crate::store::{Store, StoreError, key_text, parse_key_text};
use crate::tree::{ContextId, Limits, ROOT, Tree};

/// The object key of the root context: `corbaloc::host/NameService`.
pub const ROOT_KEY: &str = "NameService";

/// How a name service is run.
#[derive(Clone, Debug)]
pub struct NamingConfig {
    /// The file that keeps contexts and bindings; without one they last as long as the process. Where a change cannot be written,
    /// on a full disk perhaps, clients get `PERSIST_STORE`, and so for a second after it; then the file is opened again. If it
    /// was altered by something else while it was in use, the service makes no more changes.
    pub store: Option<PathBuf>,
    /// Contexts at a time.
    pub max_contexts: usize,
    /// Bindings at a time, in all contexts together.
    pub max_bindings: usize,
    /// Bytes that all names and references together may take.
    pub max_bytes: usize,
    /// Binding iterators at a time. A new one ends the one that was unused for longest.
    pub max_iterators: usize,
    /// An iterator that is not used for so long may be ended.
    pub iterator_idle: Duration,
    /// Bindings in one answer to `list` or `next_n`. There are fewer if the names are long: about 1 MiB of them.
    pub max_batch: usize,
    /// How long a context of another server may take for its part of a name.
    pub foreign_timeout: Duration,
    /// Calls to contexts of other servers at a time, half of them to one server. Clients get `CannotProceed` beyond, and may
    /// go on themselves.
    pub max_foreign_calls: usize,
}

impl Default for NamingConfig {
    fn default() -> Self {
        Self {
            store: None,
            max_contexts: 100_000,
            max_bindings: 1_000_000,
            max_bytes: 1024 * 1024 * 1024,
            max_iterators: 1_000,
            iterator_idle: Duration::from_secs(300),
            max_batch: 10_000,
            foreign_timeout: Duration::from_secs(10),
            max_foreign_calls: 32,
        }
    }
}

/// Why a name service cannot be started.
#[derive(Debug, thiserror::Error)]
pub enum NamingError {
    /// The store cannot be opened or read.
    #[error("cannot use the store {}: {error}", path.display())]
    Store {
        /// The file.
        path: PathBuf,
        /// Why.
        error: StoreError,
    },
    /// The ORB's root adapter does not allow it: it needs stable keys.
    #[error("cannot make the contexts: {0}")]
    Adapter(#[from] AdapterError),
}

/// A running name service: its contexts answer as long as the ORB does.
#[derive(Clone, Debug)]
pub struct NameServer {
    root: NamingContextExtRef,
}

/// What all contexts share.
#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) orb: Orb,
    pub(crate) tree: Arc<Tree>,
    pub(crate) iterators: Arc<Iterators>,
    pub(crate) config: NamingConfig,
    contexts: Adapter,
    handles: Mutex<HashMap<Handle, ContextId>>,
    pub(crate) foreign_calls: Arc<ForeignCalls>,
}

/// What the native protocol knows an object by: its slot, and the nonce that no other object has.
type Handle = (u32, u64);

impl NameServer {
    /// Serves contexts from now on: the root under the key [`ROOT_KEY`], the others below it, and the root as this ORB's
    /// initial reference `NameService`.
    ///
    /// # Errors
    /// [`NamingError`].
    pub fn start(orb: &Orb, config: NamingConfig) -> Result<Self, NamingError> {
        let path = config.store.clone().unwrap_or_default();
        let failed = |error| NamingError::Store { path: path.clone(), error };
        let store = Store::open(config.store.as_deref()).map_err(failed)?;
        let limits = Limits {
            contexts: config.max_contexts.max(1),
            bindings: config.max_bindings,
            bytes: config.max_bytes,
        };
        let tree = Tree::load(store, limits).map_err(failed)?;
        let stable =
            AdapterConfig { objects: Strategy::DynamicHash, operations: Strategy::Active, stable_keys: true };
        let contexts = orb.root().create_child(ROOT_KEY, stable)?;
        Self::serve(orb, contexts.clone(), tree, config).inspect_err(|_| contexts.destroy())
    }

    fn serve(orb: &Orb, contexts: Adapter, tree: Tree, config: NamingConfig) -> Result<Self, NamingError> {
        let iterators = contexts.create_child("iterators", AdapterConfig::default())?;
        let limits = IteratorLimits {
            count: config.max_iterators,
            idle: config.iterator_idle,
            batch: config.max_batch.max(1),
        };
        let foreign_calls = ForeignCalls::new(config.max_foreign_calls);
        let inner = Arc::new(Inner {
            orb: orb.clone(),
            tree: Arc::new(tree),
            iterators: Arc::new(Iterators::new(iterators, limits)),
            config,
            contexts,
            handles: Mutex::default(),
            foreign_calls,
        });
        for context in inner.tree.contexts().into_iter().filter(|context| *context != ROOT) {
            inner.activate(context)?;
        }
        // The last step that may fail: it alone leaves something elsewhere.
        let root = inner.activate(ROOT)?;
        orb.register_initial_reference("NameService", root.as_object());
        Ok(Self { root })
    }

    /// The root context.
    pub fn root(&self) -> NamingContextExtRef {
        self.root.clone()
    }
}

impl Inner {
    /// Makes a context of the tree an object.
    pub(crate) fn activate(
        self: &Arc<Self>,
        context: ContextId,
    ) -> Result<NamingContextExtRef, AdapterError> {
        let skeleton = NamingContextExtSkeleton(Context::new(Arc::clone(self), context));
        let made = match context {
            ROOT => self.orb.root().activate_with_id(ROOT_KEY, skeleton),
            _ => self.contexts.activate_with_id(&key_text(context), skeleton),
        }?;
        if let Some(handle) = handle_of(made.as_object()) {
            self.handles().insert(handle, context);
        }
        Ok(made)
    }

    pub(crate) fn deactivate(&self, context: ContextId) -> Result<(), SystemException> {
        let reference = self.reference(context)?;
        if let Some(handle) = handle_of(reference.as_object()) {
            self.handles().remove(&handle);
        }
        Ok(self.contexts.deactivate(&reference)?)
    }

    fn handles(&self) -> MutexGuard<'_, HashMap<Handle, ContextId>> {
        self.handles.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The reference to one of the contexts here.
    pub(crate) fn reference(&self, context: ContextId) -> Result<NamingContextExtRef, AdapterError> {
        match context {
            ROOT => self.orb.root().reference_for_id(ROOT_KEY),
            _ => self.contexts.reference_for_id(&key_text(context)),
        }
    }

    /// Which of the contexts here a reference leads to, if to any.
    pub(crate) fn own_context(&self, reference: &ObjectRef) -> Option<ContextId> {
        let context = self.own_by_key(reference).or_else(|| {
            // Servers without IIOP give no keys, and a handle does not outlive them.
            handle_of(reference).and_then(|handle| self.handles().get(&handle).copied())
        })?;
        self.tree.has(context).then_some(context)
    }

    fn own_by_key(&self, reference: &ObjectRef) -> Option<ContextId> {
        let ours: Vec<_> = self.orb.addresses();
        let profile = reference.ior().iiop_profiles().find_map(Result::ok)?;
        let here = profile.addresses().iter().any(|address| ours.iter().any(|own| same(own, address)));
        here.then(|| context_of_key(&profile.object_key)).flatten()
    }

    /// A reference to whatever a binding holds.
    pub(crate) fn object(&self, ior: &Ior) -> Option<ObjectRef> {
        (!ior.is_nil()).then(|| self.orb.reference(ior.clone()))
    }
}

fn handle_of(reference: &ObjectRef) -> Option<Handle> {
    let native = reference.ior().profiles.iter().find_map(NativeProfile::from_tagged)?.ok()?;
    Some((native.slot, native.nonce))
}

fn same(own: &Address, published: &Published) -> bool {
    match (own, published) {
        (Address::Tcp { host, port }, Published::Tcp { host: other, port: theirs }) => {
            host == other && port == theirs
        }
        (Address::Unix(path), Published::Unix { path: other, .. }) => path.as_os_str() == other.as_str(),
        _ => false,
    }
}

fn context_of_key(key: &[u8]) -> Option<ContextId> {
    match std::str::from_utf8(key).ok()?.strip_prefix(ROOT_KEY)? {
        "" => Some(ROOT),
        rest => parse_key_text(rest.strip_prefix('/')?),
    }
}
