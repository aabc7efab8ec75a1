//! What a name means where it is used.

use std::collections::HashSet;

use super::Resolver;
use super::scope::{Entry, ScopeId, Target, a};
use crate::diagnostic::Report;
use crate::lex::{keyword, miscased};
use crate::model::{DefId, Kind};
use crate::syntax::{Ident, ScopedName};

/// The result of looking for one name in one scope and its bases.
enum Found {
    Nothing,
    One(Entry, ScopeId),
    Several(Vec<(Entry, ScopeId)>),
}

impl Resolver<'_> {
    /// The meaning of a name. `None` if it has none or several, which is reported.
    pub(super) fn lookup(&mut self, name: &ScopedName) -> Option<Entry> {
        let (entry, found_in) = self.lookup_only(name)?;
        if !name.absolute {
            self.note_use(&name.parts[0], found_in);
        }
        Some(entry)
    }

    /// The same for a `raises` clause, which leaves the name free for other uses in the interface. Also the scope that
    /// defines the first part.
    pub(super) fn lookup_only(&mut self, name: &ScopedName) -> Option<(Entry, ScopeId)> {
        let (mut entry, found_in) = self.first_part(name)?;
        for (index, part) in name.parts.iter().enumerate().skip(1) {
            let scope = self.scope_behind(&entry, &name.parts[index - 1], part)?;
            let found = self.find_in(scope, &part.name);
            let Some((found, _)) = self.only(found, part)? else {
                self.report_missing_member(scope, part);
                return None;
            };
            self.check_case(part, &found);
            entry = found;
        }
        Some((entry, found_in))
    }

    fn first_part(&mut self, name: &ScopedName) -> Option<(Entry, ScopeId)> {
        let part = &name.parts[0];
        let mut at = if name.absolute { Some(ScopeId::FILE) } else { Some(self.scope) };
        while let Some(scope) = at {
            let found = self.find_in(scope, &part.name);
            if let Some((entry, found_in)) = self.only(found, part)? {
                self.check_case(part, &entry);
                return Some((entry, found_in));
            }
            at = self.scopes[scope.index()].parent;
        }
        if !self.is_forgiven(&part.name) {
            let report = match keyword::find(&part.name) {
                Some(keyword) if keyword != &*part.name => miscased(part.span, &part.name, keyword),
                _ => {
                    let report = Report::error(part.span, format!("`{}` is not defined", part.name));
                    self.with_suggestion(report, &part.name)
                }
            };
            self.sink.push(report);
        }
        None
    }

    /// One entry or none; several are reported.
    fn only(&mut self, found: Found, part: &Ident) -> Option<Option<(Entry, ScopeId)>> {
        match found {
            Found::Nothing => Some(None),
            Found::One(entry, scope) => Some(Some((entry, scope))),
            Found::Several(all) => {
                let message = format!("`{}` is inherited with several meanings", part.name);
                let mut report = Report::error(part.span, message);
                for (entry, scope) in &all {
                    if let Some(span) = entry.span {
                        let owner = &self.scopes[scope.index()].name;
                        report = report.note(span, format!("{} in `{owner}`", a(entry.noun)));
                    }
                }
                if let Some((entry, scope)) = all.first() {
                    let owner = &self.scopes[scope.index()].name;
                    report = report.help(format!("say which one, as in `{owner}::{}`", entry.name));
                }
                self.sink.push(report);
                None
            }
        }
    }

    /// A name in a scope or, if it is not defined there, in the scope's bases.
    fn find_in(&self, scope: ScopeId, name: &str) -> Found {
        if let Some(entry) = self.scopes[scope.index()].get(name) {
            return Found::One(entry.clone(), scope);
        }
        if !self.is_inheritable(name) {
            return Found::Nothing;
        }
        let mut all: Vec<(Entry, ScopeId)> = Vec::new();
        let mut rest: Vec<_> = self.scopes[scope.index()].bases.iter().rev().copied().collect();
        let mut seen = HashSet::new();
        while let Some(base) = rest.pop() {
            if !seen.insert(base) {
                continue;
            }
            match self.scopes[base.index()].get(name) {
                Some(entry) => all.push((entry.clone(), base)),
                None => rest.extend(self.scopes[base.index()].bases.iter().rev()),
            }
        }
        match all.len() {
            0 => Found::Nothing,
            1 => all.pop().map_or(Found::Nothing, |(entry, scope)| Found::One(entry, scope)),
            _ => Found::Several(all),
        }
    }

    /// The scope that `entry::` leads into.
    fn scope_behind(&mut self, entry: &Entry, name: &Ident, part: &Ident) -> Option<ScopeId> {
        match &entry.target {
            Target::CorbaModule(scope) => return Some(*scope),
            Target::Definition(id) => {
                let draft = &self.drafts[id.index()];
                if let Some(scope) = draft.scope {
                    return Some(scope);
                }
                if draft.is_forward() && !self.is_forgiven(&part.name) {
                    let message =
                        format!("`{}` is only declared so far, and nothing is known in it", name.name);
                    let report = Report::error(name.span, message).note(draft.span, "declared here");
                    self.sink.push(report);
                    return None;
                }
            }
            _ => {}
        }
        if !self.is_forgiven(&part.name) {
            let message = format!("`{}` is {}, and no names are defined in it", name.name, a(entry.noun));
            let mut report = Report::error(name.span, message);
            if let Some(span) = entry.span {
                report = report.note(span, format!("`{}` is defined here", entry.name));
            }
            if matches!(&entry.target, Target::Definition(id) if self.is_enum(*id)) {
                report = report
                    .help(format!("enumerators belong to the scope around the enum: write `{}`", part.name));
            }
            self.sink.push(report);
        }
        None
    }

    fn is_enum(&self, id: DefId) -> bool {
        matches!(self.drafts[id.index()].kind, Kind::Enum(_))
    }

    fn report_missing_member(&mut self, scope: ScopeId, part: &Ident) {
        if self.is_forgiven(&part.name) {
            return;
        }
        let owner = self.scopes[scope.index()].name.clone();
        let report = Report::error(part.span, format!("`{}` is not defined in `{owner}`", part.name));
        let report = self.with_suggestion_in(report, scope, &part.name);
        self.sink.push(report);
    }

    fn check_case(&mut self, part: &Ident, entry: &Entry) {
        if entry.name == part.name {
            return;
        }
        let message = format!("`{}` is spelled `{}` where it is defined", part.name, entry.name);
        let mut report = Report::error(part.span, message);
        if let Some(span) = entry.span {
            report = report.note(span, format!("`{}` is defined here", entry.name));
        }
        let help = format!("write `{}`: names that differ only in case count as the same name", entry.name);
        self.sink.push(report.help(help));
    }

    /// Whether a name may be undefined because of an error reported already.
    pub(super) fn is_forgiven(&self, name: &str) -> bool {
        self.incomplete || self.lost.contains(&*name.to_ascii_lowercase())
    }
}
