//! A servant of the documentation's example, called in every way.

mod common;

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use common::{served, wait};
use throughline::rt::{ObjectRef, SystemException, TypedReference};
use throughline::{Address, InOut, Kind, Orb, Strategy};
use throughline_idl_tests::bank::bank::{
    ACCOUNT, Account, AccountRef, AccountSkeleton, AccountWithdrawError, InsufficientFunds, SAVINGS, Savings,
    SavingsRef, SavingsSkeleton,
};

#[derive(Default)]
struct Book {
    balance: Mutex<i64>,
    name: Mutex<String>,
    touched: AtomicU32,
}

impl Account for Book {
    fn balance(&self) -> Result<i64, SystemException> {
        Ok(*self.balance.lock().unwrap())
    }

    fn withdraw(&self, amount: i64) -> Result<i64, AccountWithdrawError> {
        if amount < 0 {
            return Err(SystemException::from(Kind::BadParam).into());
        }
        let mut balance = self.balance.lock().unwrap();
        if *balance < amount {
            return Err(InsufficientFunds { balance: *balance }.into());
        }
        *balance -= amount;
        Ok(*balance)
    }

    fn rename(&self, name: &str) -> Result<(), SystemException> {
        name.clone_into(&mut self.name.lock().unwrap());
        Ok(())
    }

    fn touch(&self) {
        self.touched.fetch_add(1, Ordering::Relaxed);
    }

    fn move_data(&self, data: &mut InOut<'_, u32>) -> Result<i32, SystemException> {
        data.reverse();
        match data.first() {
            // What was changed so far is not to be seen.
            Some(0) => return Err(Kind::BadParam.into()),
            Some(1) => data.to_mut().extend([7, 8]),
            Some(2) => *data = vec![].into(),
            _ => {}
        }
        Ok(data.len() as i32)
    }
}

impl Savings for Book {
    fn add_interest(&self, rate: f64) -> Result<(), SystemException> {
        let mut balance = self.balance.lock().unwrap();
        *balance += (*balance as f64 * rate) as i64;
        Ok(())
    }
}

#[test]
fn results_exceptions_and_oneways() {
    let book = Arc::new(Book::default());
    served(AccountSkeleton(Arc::clone(&book)), |_, account| {
        *book.balance.lock().unwrap() = 100;
        assert_eq!(account.withdraw(30).unwrap(), 70);
        assert_eq!(account.balance().unwrap(), 70);
        let refused = account.withdraw(71).unwrap_err();
        assert_eq!(refused, AccountWithdrawError::InsufficientFunds(InsufficientFunds { balance: 70 }));
        assert_eq!(refused.to_string(), "Bank::InsufficientFunds { balance: 70 }");
        let AccountWithdrawError::System(failure) = account.withdraw(-1).unwrap_err() else { panic!() };
        assert_eq!(failure.kind, Kind::BadParam);
        account.rename("Grüße").unwrap();
        assert_eq!(*book.name.lock().unwrap(), "Grüße");
        let before = book.touched.load(Ordering::Relaxed);
        account.touch().unwrap();
        account.balance().unwrap();
        assert_eq!(book.touched.load(Ordering::Relaxed), before + 1);
        let mut data: Vec<u32> = (0..1000).collect();
        assert_eq!(account.move_data(&mut data).unwrap(), 1000);
        assert_eq!((data[0], data[999]), (999, 0));
        let before = data.clone();
        assert_eq!(account.move_data(&mut data).unwrap_err().kind, Kind::BadParam);
        assert!(data == before);
        data[999] = 1;
        assert_eq!(account.move_data(&mut data).unwrap(), 1002);
        assert_eq!((data[0], &data[998..]), (1, &[998, 999, 7, 8][..]));
        let mut data = vec![5, 2];
        assert_eq!(account.move_data(&mut data).unwrap(), 0);
        assert!(data.is_empty());
    });
}

#[test]
fn futures_yield_the_same() {
    served(AccountSkeleton(Book { balance: Mutex::new(100), ..Book::default() }), |_, account| {
        let before = wait(account.balance_async()).unwrap();
        assert_eq!(wait(account.withdraw_async(1)).unwrap(), before - 1);
        let refused = wait(account.withdraw_async(1000)).unwrap_err();
        assert_eq!(refused, InsufficientFunds { balance: before - 1 }.into());
        // The future keeps nothing of its arguments.
        let renamed = account.rename_async(&String::from("new"));
        wait(renamed).unwrap();
        assert_eq!(wait(account.move_data_async(vec![1, 2, 3])).unwrap(), (vec![3, 2, 1], 3));
    });
}

#[test]
fn futures_follow_objects_to_servers_with_other_code_sets() {
    let book = Arc::new(Book { balance: Mutex::new(100), ..Book::default() });
    served(AccountSkeleton(Arc::clone(&book)), |orb, account| {
        let first = Orb::listening_at(&[Address::tcp("127.0.0.1", 0)]).unwrap();
        first.root().forward("moved", account).unwrap();
        let port = first.addresses()[0].to_string().rsplit_once(':').unwrap().1.to_owned();
        // Nothing is known of the first server's code sets; each call begins there.
        let account = || {
            let text = format!("corbaloc::127.0.0.1:{port}/moved");
            AccountRef::from_object(orb.string_to_object(&text).unwrap())
        };
        wait(account().rename_async("Grüße")).unwrap();
        assert_eq!(*book.name.lock().unwrap(), "Grüße");
        let before = wait(account().balance_async()).unwrap();
        assert_eq!(wait(account().withdraw_async(1)).unwrap(), before - 1);
        assert_eq!(wait(account().move_data_async(vec![1, 2, 3])).unwrap(), (vec![3, 2, 1], 3));
        first.shutdown(Duration::ZERO);
    });
}

#[test]
fn derived_interfaces_inherit_and_convert() {
    served(SavingsSkeleton(Book { balance: Mutex::new(100), ..Book::default() }), |_, savings| {
        savings.add_interest(0.5).unwrap();
        let before = savings.balance().unwrap();
        let account = AccountRef::from(savings.clone());
        assert_eq!(account.withdraw(10).unwrap(), before - 10);
        let object = ObjectRef::from(account);
        assert_eq!(SavingsRef::narrow(&object).unwrap().as_ref(), Some(savings));
        assert_eq!(AccountRef::narrow(&object).unwrap().unwrap().balance().unwrap(), before - 10);
        assert!(object.is_a("IDL:Bank/Account:1.0").unwrap());
    });
}

#[test]
fn narrowing_to_another_interface_gives_none() {
    served(AccountSkeleton(Book::default()), |_, account| {
        assert_eq!(SavingsRef::narrow(account.as_object()).unwrap(), None);
    });
}

#[test]
fn servants_behind_trait_objects_and_arcs() {
    let plain: Arc<dyn Account> = Arc::new(Book { balance: Mutex::new(7), ..Book::default() });
    served(AccountSkeleton(plain), |_, account| assert_eq!(account.balance().unwrap(), 7));
}

#[test]
fn operation_tables_find_every_name() {
    for interface in [&ACCOUNT, &SAVINGS] {
        for (index, name) in (0..).zip(interface.operations.names()) {
            for strategy in Strategy::ALL {
                assert_eq!(interface.operations.find(strategy, name.as_bytes(), u32::MAX), Some(index));
            }
        }
        assert_eq!(interface.operations.find(Strategy::PerfectHash, b"deposit", u32::MAX), None);
    }
}
