//! What somebody may have meant by an undefined name.

use super::Resolver;
use super::draft::Draft;
use super::scope::{Entry, ScopeId, Target};
use crate::diagnostic::Report;
use crate::model::Kind;
use crate::source::Span;

/// Names longer than this are not compared.
const MAX_LENGTH: usize = 64;
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
        let allowed = (name.len() / 3).clamp(1, 3);
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

/// Letters to change, insert, remove or swap with their neighbour, case aside.
fn distance(a: &str, b: &str) -> usize {
    let (a, b) = (a.to_ascii_lowercase().into_bytes(), b.to_ascii_lowercase().into_bytes());
    if a.len() > MAX_LENGTH || b.len() > MAX_LENGTH || a.len().abs_diff(b.len()) > 3 {
        return usize::MAX;
    }
    let mut before_last = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replaced = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replaced.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before_last[j - 2] + 1);
            }
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}
