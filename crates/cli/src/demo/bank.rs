//! The bank: its books, and the servants in front of them.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

use throughline::{Adapter, AdapterConfig, AdapterError, SystemException};

use super::idl::bank::{
    Account, AccountRef, AccountSkeleton, Books, Branch, BranchRef, BranchSkeleton, Entry, InsufficientFunds,
    Office, OfficeFindAccountError, OfficeFindBranchError, OfficeFindTellerError, OfficeRef, OfficeSkeleton,
    Teller, TellerRef, TellerSkeleton, TellerTransactError, Unknown,
};

/// As TPC/A has it, ten tellers to a branch; fewer accounts than its 100,000.
const BRANCHES: usize = 10;
const TELLERS: usize = BRANCHES * 10;
const ACCOUNTS: usize = BRANCHES * 1_000;
/// What every account starts with, in cents.
const START: i64 = 100_000;
/// Lines of the history that are kept.
const KEPT: usize = 100_000;

/// The books. Transactions change them together, an audit alone.
struct Ledger {
    accounts: Vec<AtomicI64>,
    tellers: Vec<AtomicI64>,
    branches: Vec<AtomicI64>,
    history: Mutex<History>,
    closed: RwLock<()>,
    references: OnceLock<References>,
}

#[derive(Default)]
struct History {
    entries: VecDeque<Entry>,
    sum: i64,
    count: u64,
}

struct References {
    accounts: Vec<AccountRef>,
    tellers: Vec<TellerRef>,
    branches: Vec<BranchRef>,
}

fn amounts(count: usize, start: i64) -> Vec<AtomicI64> {
    (0..count).map(|_| AtomicI64::new(start)).collect()
}

fn amount(of: &[AtomicI64], number: usize) -> i64 {
    of[number].load(Ordering::Relaxed)
}

fn sum(of: &[AtomicI64]) -> i64 {
    of.iter().map(|a| a.load(Ordering::Relaxed)).sum()
}

impl Ledger {
    fn transact(&self, teller: usize, account: u32, value: i64) -> Result<i64, TellerTransactError> {
        let own = self.accounts.get(account as usize).ok_or(Unknown { number: account })?;
        let _open = self.closed.read().unwrap_or_else(PoisonError::into_inner);
        let enough = |balance: i64| balance.checked_add(value).filter(|left| *left >= 0);
        let before = own.fetch_update(Ordering::Relaxed, Ordering::Relaxed, enough);
        let before = before.map_err(|balance| InsufficientFunds { balance })?;
        let branch = teller * BRANCHES / TELLERS;
        self.tellers[teller].fetch_add(value, Ordering::Relaxed);
        self.branches[branch].fetch_add(value, Ordering::Relaxed);
        let mut history = self.history.lock().unwrap_or_else(PoisonError::into_inner);
        history.append(Entry { account, teller: teller as u32, branch: branch as u32, value });
        Ok(before + value)
    }

    fn audit(&self) -> Books {
        let _closed = self.closed.write().unwrap_or_else(PoisonError::into_inner);
        let history = self.history.lock().unwrap_or_else(PoisonError::into_inner);
        Books {
            accounts: sum(&self.accounts) - ACCOUNTS as i64 * START,
            tellers: sum(&self.tellers),
            branches: sum(&self.branches),
            history: history.sum,
            transactions: history.count,
        }
    }

    fn find<R: Clone, E: From<Unknown>>(
        &self,
        of: impl FnOnce(&References) -> &Vec<R>,
        number: u32,
    ) -> Result<Option<R>, E> {
        let found = self.references.get().and_then(|all| of(all).get(number as usize));
        found.cloned().map(Some).ok_or_else(|| Unknown { number }.into())
    }
}

impl History {
    fn append(&mut self, entry: Entry) {
        self.sum += entry.value;
        self.count += 1;
        if self.entries.len() == KEPT {
            self.entries.pop_back();
        }
        self.entries.push_front(entry);
    }
}

/// An object of the bank, by its number.
struct Of {
    ledger: Arc<Ledger>,
    number: usize,
}

impl Account for Of {
    fn number(&self) -> Result<u32, SystemException> {
        Ok(self.number as u32)
    }

    fn balance(&self) -> Result<i64, SystemException> {
        Ok(amount(&self.ledger.accounts, self.number))
    }
}

impl Teller for Of {
    fn number(&self) -> Result<u32, SystemException> {
        Ok(self.number as u32)
    }

    fn total(&self) -> Result<i64, SystemException> {
        Ok(amount(&self.ledger.tellers, self.number))
    }

    fn transact(&self, account: u32, value: i64) -> Result<i64, TellerTransactError> {
        self.ledger.transact(self.number, account, value)
    }
}

impl Branch for Of {
    fn number(&self) -> Result<u32, SystemException> {
        Ok(self.number as u32)
    }

    fn total(&self) -> Result<i64, SystemException> {
        Ok(amount(&self.ledger.branches, self.number))
    }

    fn staff(&self) -> Result<Vec<Option<TellerRef>>, SystemException> {
        let all = self.ledger.references.get().map_or(&[][..], |r| &r.tellers);
        let each = TELLERS / BRANCHES;
        Ok(all.iter().skip(self.number * each).take(each).cloned().map(Some).collect())
    }
}

struct Head(Arc<Ledger>);

impl Office for Head {
    fn branches(&self) -> Result<u32, SystemException> {
        Ok(BRANCHES as u32)
    }

    fn tellers(&self) -> Result<u32, SystemException> {
        Ok(TELLERS as u32)
    }

    fn accounts(&self) -> Result<u32, SystemException> {
        Ok(ACCOUNTS as u32)
    }

    fn find_branch(&self, number: u32) -> Result<Option<BranchRef>, OfficeFindBranchError> {
        self.0.find(|all| &all.branches, number)
    }

    fn find_teller(&self, number: u32) -> Result<Option<TellerRef>, OfficeFindTellerError> {
        self.0.find(|all| &all.tellers, number)
    }

    fn find_account(&self, number: u32) -> Result<Option<AccountRef>, OfficeFindAccountError> {
        self.0.find(|all| &all.accounts, number)
    }

    fn history(&self, how_many: u32) -> Result<Vec<Entry>, SystemException> {
        let history = self.0.history.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(history.entries.iter().take(how_many.min(1000) as usize).cloned().collect())
    }

    fn audit(&self) -> Result<Books, SystemException> {
        Ok(self.0.audit())
    }
}

/// Opens the bank: the office under the key `office`, everything else under active keys.
pub fn open(root: &Adapter) -> Result<OfficeRef, AdapterError> {
    let ledger = Arc::new(Ledger {
        accounts: amounts(ACCOUNTS, START),
        tellers: amounts(TELLERS, 0),
        branches: amounts(BRANCHES, 0),
        history: Mutex::default(),
        closed: RwLock::default(),
        references: OnceLock::new(),
    });
    let adapter = root.create_child("bank", AdapterConfig::default())?;
    let of = |number| Of { ledger: Arc::clone(&ledger), number };
    let references = References {
        accounts: (0..ACCOUNTS)
            .map(|n| adapter.activate(AccountSkeleton(of(n))))
            .collect::<Result<_, _>>()?,
        tellers: (0..TELLERS).map(|n| adapter.activate(TellerSkeleton(of(n)))).collect::<Result<_, _>>()?,
        branches: (0..BRANCHES).map(|n| adapter.activate(BranchSkeleton(of(n)))).collect::<Result<_, _>>()?,
    };
    let _ = ledger.references.set(references);
    root.activate_with_id("office", OfficeSkeleton(Head(ledger)))
}
