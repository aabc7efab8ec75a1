//! Keywords.

/// Reserved words of IDL as of CORBA 2.6.
const KEYWORDS: [&str; 48] = [
    "abstract",
    "any",
    "attribute",
    "boolean",
    "case",
    "char",
    "const",
    "context",
    "custom",
    "default",
    "double",
    "enum",
    "exception",
    "factory",
    "FALSE",
    "fixed",
    "float",
    "in",
    "inout",
    "interface",
    "local",
    "long",
    "module",
    "native",
    "Object",
    "octet",
    "oneway",
    "out",
    "private",
    "public",
    "raises",
    "readonly",
    "sequence",
    "short",
    "string",
    "struct",
    "supports",
    "switch",
    "TRUE",
    "truncatable",
    "typedef",
    "union",
    "unsigned",
    "ValueBase",
    "valuetype",
    "void",
    "wchar",
    "wstring",
];

/// Words that CORBA 3 reserves and older IDL uses as names: keywords only where the grammar expects them.
const CORBA_3: [&str; 16] = [
    "component",
    "consumes",
    "emits",
    "eventtype",
    "finder",
    "getraises",
    "home",
    "import",
    "multiple",
    "primarykey",
    "provides",
    "publishes",
    "setraises",
    "typeid",
    "typeprefix",
    "uses",
];

/// The keyword that a word is, or would be if case did not matter.
pub(crate) fn find(word: &str) -> Option<&'static str> {
    KEYWORDS.iter().copied().find(|it| it.eq_ignore_ascii_case(word))
}

/// The CORBA 3 keyword that a name clashes with.
pub(crate) fn find_corba_3(word: &str) -> Option<&'static str> {
    CORBA_3.iter().copied().find(|it| it.eq_ignore_ascii_case(word))
}
