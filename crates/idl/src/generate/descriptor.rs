//! The static that describes an interface to the runtime, with its perfect hash of operation names.

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::docs::doc;
use super::scope::Scope;
use super::words::ident;
use crate::model::{DefId, Interface};

/// Operations that every object has. The runtime answers them, and finds them at the end of the table in this order.
/// The same as the runtime's `IMPLICIT_OPERATIONS`.
pub(super) const IMPLICIT: [&str; 6] =
    ["_is_a", "_non_existent", "_interface", "_component", "_repository_id", "_not_existent"];

impl Scope<'_> {
    /// `pub static ACCOUNT: rt::Interface = ..;`
    pub(super) fn descriptor(&self, id: DefId, interface: &Interface) -> TokenStream {
        let (rt, model) = (self.rt(), self.g.model);
        let repository_id = &model.get(id).repository_id;
        let ancestors = interface.ancestors.iter().map(|it| &model.get(*it).repository_id);
        let calls = self.g.calls(id);
        let names: Vec<_> = calls.iter().map(|it| it.wire.as_str()).chain(IMPLICIT).collect();
        let table = self.name_table(&names);
        let name = ident(&self.g.naming.interface(id).descriptor);
        let docs = doc(&format!("What the runtime knows of `{repository_id}`."));
        quote! {
            #docs
            pub static #name: #rt::Interface = #rt::Interface {
                repository_id: #repository_id,
                ancestors: &[#repository_id #(, #ancestors)*],
                operations: #rt::OperationTable::new(#table),
            };
        }
    }

    fn name_table(&self, names: &[&str]) -> TokenStream {
        let rt = self.rt();
        let built = throughline_demux::build_names(names).expect("names that differ have a perfect hash");
        let seed = Literal::u64_unsuffixed(built.seed);
        let displacements = built.displacements.iter().copied().map(Literal::u32_unsuffixed);
        let slots = built.slots.iter().copied().map(Literal::u16_unsuffixed);
        quote!(#rt::NameTable::new(&[#(#names),*], #seed, &[#(#displacements),*], &[#(#slots),*]))
    }
}
