//! What somebody may have meant by an undefined name.

use super::Resolver;
use super::draft::Draft;
use super::scope::{Entry, ScopeId, Target};
use crate::diagnostic::Report;
use crate::model::Kind;
use crate::nearest::{allowed, distance};
use crate::source::Span;

/// Scopes with more names than this are not searched.
const MAX_ENTRIES: usize = 5000;

impl Resolver<'_> {
    /// Adds a hint: the same name elsewhere, or a similar one in sight.
    pub(super) fn with_suggestion(&self, report: Report, name: &str) -> Report {
        if let Some((path, span)) = self.elsewhere(name) {
            return report
                .help(format!("it is defined in another scope: write `{path}`{}", self.place(span)));
        }
        if let Some(span) = self.defined.get(name) {
            let (file, line) = self.sources.presumed(*span);
            let help = format!("it is defined further down, at {file}:{line}; move its definition up");
            return report.help(help);
        }
        let mut best: Option<(usize, &Entry)> = None;
        let mut at = Some(self.scope);
        while let Some(scope) = at {
            best = self.closest(scope, name, best);
            at = self.scopes[scope.index()].parent;
        }
        match best {
            Some((_, entry)) => report.help(self.did_you_mean(entry)),
            None => report,
        }
    }

    /// The same for a name that was looked for in one scope only.
    pub(super) fn with_suggestion_in(&self, report: Report, scope: ScopeId, name: &str) -> Report {
        match self.closest(scope, name, None) {
            Some((_, entry)) => report.help(self.did_you_mean(entry)),
            None => report,
        }
    }

    fn did_you_mean(&self, entry: &Entry) -> String {
        let place = entry.span.map(|span| self.place(span)).unwrap_or_default();
        format!("did you mean `{}`?{place}", entry.name)
    }

    fn place(&self, span: Span) -> String {
        let (file, line) = self.sources.presumed(span);
        format!(" (defined at {file}:{line})")
    }

    /// A definition of exactly this name that is not in sight.
    fn elsewhere(&self, name: &str) -> Option<(String, Span)> {
        let is_it = |draft: &&Draft| &*draft.name == name || enumerator(draft, name);
        let draft = self.drafts.iter().find(is_it)?;
        let mut path = name.to_owned();
        let mut parent = draft.parent;
        while let Some(id) = parent {
            path = format!("{}::{path}", self.drafts[id.index()].name);
            parent = self.drafts[id.index()].parent;
        }
        (path != name).then_some((path, draft.span))
    }

    fn closest<'r>(
        &'r self,
        scope: ScopeId,
        name: &str,
        mut best: Option<(usize, &'r Entry)>,
    ) -> Option<(usize, &'r Entry)> {
        let allowed = allowed(name);
        for entry in self.scopes[scope.index()].entries().take(MAX_ENTRIES) {
            if matches!(entry.target, Target::Other) {
                continue;
            }
            let distance = distance(name, &entry.name);
            let better = best.is_none_or(|(least, other)| (distance, &entry.name) < (least, &other.name));
            if distance <= allowed && better {
                best = Some((distance, entry));
            }
        }
        best
    }
}

/// Whether a definition is an enum with this enumerator.
fn enumerator(draft: &Draft, name: &str) -> bool {
    matches!(&draft.kind, Kind::Enum(it) if it.enumerators.iter().any(|it| it.name == name))
}
