// Generated from bank.idl by Throughline's IDL compiler. Changes here will be lost.

/// The example of the documentation.
#[allow(dead_code, clippy::module_inception)]
pub mod bank {
    use ::throughline::rt;

    /// `typedef sequence<unsigned long> Numbers`
    pub type Numbers = Vec<u32>;

    /// The account does not hold that much.
    #[derive(Clone, Debug, PartialEq)]
    pub struct InsufficientFunds {
        /// What it does hold.
        pub balance: i64,
    }

    impl rt::Encode for InsufficientFunds {
        fn encode(&self, w: &mut rt::Writer<'_>) -> Result<(), rt::EncodeError> {
            rt::Encode::encode(&self.balance, w)
        }
    }

    impl<'a> rt::Decode<'a> for InsufficientFunds {
        const MIN_SIZE: usize = 8;

        fn decode(r: &mut rt::Reader<'a>) -> Result<Self, rt::DecodeError> {
            Ok(Self {
                balance: rt::Decode::decode(r)?,
            })
        }
    }

    impl rt::UserException for InsufficientFunds {
        const REPOSITORY_ID: &'static str = "IDL:Bank/InsufficientFunds:1.0";
    }

    impl ::std::fmt::Display for InsufficientFunds {
        fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
            f.debug_struct("Bank::InsufficientFunds")
                .field("balance", &self.balance)
                .finish()
        }
    }

    impl ::std::error::Error for InsufficientFunds {}

    /// What `Bank::Account::withdraw` can fail with.
    #[derive(Clone, Debug, PartialEq)]
    pub enum AccountWithdrawError {
        /// `IDL:Bank/InsufficientFunds:1.0`
        InsufficientFunds(InsufficientFunds),
        /// The call did not reach the object, or came to no regular end.
        System(rt::SystemException),
    }

    impl From<InsufficientFunds> for AccountWithdrawError {
        fn from(exception: InsufficientFunds) -> Self {
            Self::InsufficientFunds(exception)
        }
    }

    impl From<rt::SystemException> for AccountWithdrawError {
        fn from(exception: rt::SystemException) -> Self {
            Self::System(exception)
        }
    }

    impl ::std::fmt::Display for AccountWithdrawError {
        fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
            match self {
                Self::InsufficientFunds(exception) => {
                    ::std::fmt::Display::fmt(exception, f)
                }
                Self::System(exception) => ::std::fmt::Display::fmt(exception, f),
            }
        }
    }

    impl ::std::error::Error for AccountWithdrawError {}

    impl rt::OperationError for AccountWithdrawError {
        fn decode_user(
            id: &str,
            r: &mut rt::Reader<'_>,
        ) -> Option<Result<Self, rt::DecodeError>> {
            match id {
                "IDL:Bank/InsufficientFunds:1.0" => {
                    Some(rt::Decode::decode(r).map(Self::InsufficientFunds))
                }
                _ => None,
            }
        }

        fn raise(self, call: &mut rt::ServerCall<'_>) -> rt::Dispatched {
            match self {
                Self::InsufficientFunds(exception) => call.raise(&exception),
                Self::System(exception) => Err(exception),
            }
        }
    }

    /// A place where money is kept.
    pub trait Account: Send + Sync + 'static {
        /// `IDL:Bank/Account/balance:1.0`
        fn balance(&self) -> Result<i64, rt::SystemException>;

        /// Takes money out, and tells what is left.
        fn withdraw(&self, amount: i64) -> Result<i64, AccountWithdrawError>;

        /// `IDL:Bank/Account/rename:1.0`
        fn rename(&self, name: &str) -> Result<(), rt::SystemException>;

        /// `IDL:Bank/Account/touch:1.0`
        fn touch(&self);

        /// `IDL:Bank/Account/move_data:1.0`
        fn move_data(
            &self,
            data: &mut rt::InOut<'_, u32>,
        ) -> Result<i32, rt::SystemException>;
    }

    impl<S: Account + ?Sized> Account for ::std::sync::Arc<S> {
        fn balance(&self) -> Result<i64, rt::SystemException> {
            (**self).balance()
        }

        fn withdraw(&self, amount: i64) -> Result<i64, AccountWithdrawError> {
            (**self).withdraw(amount)
        }

        fn rename(&self, name: &str) -> Result<(), rt::SystemException> {
            (**self).rename(name)
        }

        fn touch(&self) {
            (**self).touch()
        }

        fn move_data(
            &self,
            data: &mut rt::InOut<'_, u32>,
        ) -> Result<i32, rt::SystemException> {
            (**self).move_data(data)
        }
    }

    /// Lets an adapter serve an implementation of [`Account`].
    #[derive(Clone, Debug)]
    pub struct AccountSkeleton<S>(pub S);

    impl<S: Account> rt::Skeleton for AccountSkeleton<S> {
        fn interface(&self) -> &'static rt::Interface {
            &ACCOUNT
        }

        fn invoke(
            &self,
            operation: u32,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            match operation {
                0 => account_skeleton::balance(&self.0, call),
                1 => account_skeleton::withdraw(&self.0, call),
                2 => account_skeleton::rename(&self.0, call),
                3 => account_skeleton::touch(&self.0, call),
                4 => account_skeleton::move_data(&self.0, call),
                _ => call.implicit(&ACCOUNT, operation),
            }
        }
    }

    impl<S: Account> rt::TypedSkeleton for AccountSkeleton<S> {
        type Reference = AccountRef;
    }

    /// Skeletons of the operations of `Bank::Account`.
    pub mod account_skeleton {
        use ::throughline::rt;

        /// Serves `_get_balance`.
        pub fn balance<S: super::Account + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            match servant.balance() {
                Ok(result) => call.reply(|w| rt::Encode::encode(&result, w)),
                Err(error) => Err(error),
            }
        }

        /// Serves `withdraw`.
        pub fn withdraw<S: super::Account + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            let r = call.arguments();
            let amount: i64 = rt::Decode::decode(r)?;
            match servant.withdraw(amount) {
                Ok(result) => call.reply(|w| rt::Encode::encode(&result, w)),
                Err(error) => rt::OperationError::raise(error, call),
            }
        }

        /// Serves `rename`.
        pub fn rename<S: super::Account + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            let r = call.arguments();
            let name = r.read_string()?;
            match servant.rename(&name) {
                Ok(()) => call.reply(|_| Ok(())),
                Err(error) => Err(error),
            }
        }

        /// Serves `touch`.
        pub fn touch<S: super::Account + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            servant.touch();
            call.reply(|_| Ok(()))
        }

        /// Serves `move_data`.
        pub fn move_data<S: super::Account + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            let (r, place) = call.arguments_and_place();
            let mut data = rt::InOut::read(r, Some(place))?;
            match servant.move_data(&mut data) {
                Ok(count) => {
                    let data = data.finish();
                    call.reply(|w| {
                        rt::Encode::encode(&data, w)?;
                        rt::Encode::encode(&count, w)
                    })
                }
                Err(error) => Err(error),
            }
        }
    }

    /// What the runtime knows of `IDL:Bank/Account:1.0`.
    pub static ACCOUNT: rt::Interface = rt::Interface {
        repository_id: "IDL:Bank/Account:1.0",
        ancestors: &["IDL:Bank/Account:1.0"],
        operations: rt::OperationTable::new(
            rt::NameTable::new(
                &[
                    "_get_balance",
                    "withdraw",
                    "rename",
                    "touch",
                    "move_data",
                    "_is_a",
                    "_non_existent",
                    "_interface",
                    "_component",
                    "_repository_id",
                    "_not_existent",
                ],
                16294208416658607535,
                &[113532185, 1405853453, 1702816989, 3793791033],
                &[8, 7, 0, 9, 0, 1, 6, 0, 2, 0, 3, 10, 5, 0, 0, 4],
            ),
        ),
    };

    /// A reference to an object of `IDL:Bank/Account:1.0`.
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    pub struct AccountRef(rt::ObjectRef);

    #[allow(clippy::redundant_closure)]
    impl AccountRef {
        /// The object as one of this interface, or `None` if it is of another. Asks the object itself unless the
        /// reference tells.
        pub fn narrow(
            object: &rt::ObjectRef,
        ) -> Result<Option<Self>, rt::SystemException> {
            object.narrow()
        }

        /// `IDL:Bank/Account/balance:1.0`
        #[inline]
        pub fn balance(&self) -> Result<i64, rt::SystemException> {
            self.0
                .call(
                    const { rt::Operation::new("_get_balance", 0) },
                    |_| Ok(()),
                    |r| rt::Decode::decode(r),
                )
        }

        /// [`balance`](Self::balance), as a future.
        #[inline]
        pub fn balance_async(
            &self,
        ) -> impl rt::AsyncCall<
            Output = Result<i64, rt::SystemException>,
        > + Send + use<> {
            self.0
                .call_async(
                    const { rt::Operation::new("_get_balance", 0) },
                    |_| Ok(()),
                    |r| rt::Decode::decode(r),
                )
        }

        /// [`balance`](Self::balance), begun now and to be waited for by the same thread.
        #[inline]
        pub fn balance_begin(&self) -> rt::Begun<'_, i64, rt::SystemException> {
            self.0
                .begin(
                    const { rt::Operation::new("_get_balance", 0) },
                    |_| Ok(()),
                    |r| rt::Decode::decode(r),
                    None,
                )
        }

        /// Takes money out, and tells what is left.
        #[inline]
        pub fn withdraw(&self, amount: i64) -> Result<i64, AccountWithdrawError> {
            self.0
                .call(
                    const { rt::Operation::new("withdraw", 1) },
                    |w| rt::Encode::encode(&amount, w),
                    |r| rt::Decode::decode(r),
                )
        }

        /// [`withdraw`](Self::withdraw), as a future.
        #[inline]
        pub fn withdraw_async(
            &self,
            amount: i64,
        ) -> impl rt::AsyncCall<
            Output = Result<i64, AccountWithdrawError>,
        > + Send + use<> {
            self.0
                .call_async(
                    const { rt::Operation::new("withdraw", 1) },
                    |w| rt::Encode::encode(&amount, w),
                    |r| rt::Decode::decode(r),
                )
                .rewriting(rt::rewrite::<i64>)
        }

        /// [`withdraw`](Self::withdraw), begun now and to be waited for by the same thread.
        #[inline]
        pub fn withdraw_begin(
            &self,
            amount: i64,
        ) -> rt::Begun<'_, i64, AccountWithdrawError> {
            self.0
                .begin(
                    const { rt::Operation::new("withdraw", 1) },
                    |w| rt::Encode::encode(&amount, w),
                    |r| rt::Decode::decode(r),
                    Some(rt::rewrite::<i64>),
                )
        }

        /// `IDL:Bank/Account/rename:1.0`
        #[inline]
        pub fn rename(&self, name: &str) -> Result<(), rt::SystemException> {
            self.0
                .call(
                    const { rt::Operation::new("rename", 2) },
                    |w| rt::Encode::encode(name, w),
                    |_| Ok(()),
                )
        }

        /// [`rename`](Self::rename), as a future.
        #[inline]
        pub fn rename_async(
            &self,
            name: &str,
        ) -> impl rt::AsyncCall<
            Output = Result<(), rt::SystemException>,
        > + Send + use<> {
            self.0
                .call_async(
                    const { rt::Operation::new("rename", 2) },
                    |w| rt::Encode::encode(name, w),
                    |_| Ok(()),
                )
                .rewriting(rt::rewrite::<String>)
        }

        /// [`rename`](Self::rename), begun now and to be waited for by the same thread.
        #[inline]
        pub fn rename_begin(
            &self,
            name: &str,
        ) -> rt::Begun<'_, (), rt::SystemException> {
            self.0
                .begin(
                    const { rt::Operation::new("rename", 2) },
                    |w| rt::Encode::encode(name, w),
                    |_| Ok(()),
                    Some(rt::rewrite::<String>),
                )
        }

        /// `IDL:Bank/Account/touch:1.0`
        #[inline]
        pub fn touch(&self) -> Result<(), rt::SystemException> {
            self.0.send_oneway(const { rt::Operation::new("touch", 3) }, |_| Ok(()))
        }

        /// `IDL:Bank/Account/move_data:1.0`
        #[inline]
        pub fn move_data(&self, data: &mut Numbers) -> Result<i32, rt::SystemException> {
            self.0
                .call_inout(
                    const { rt::Operation::new("move_data", 4) },
                    data,
                    rt::Encode::encode,
                    |data, r| {
                        rt::Decode::decode_into(data, r)?;
                        let count = rt::Decode::decode(r)?;
                        Ok(count)
                    },
                )
        }

        /// [`move_data`](Self::move_data), as a future.
        ///
        /// Yields `(data, count)`.
        #[inline]
        pub fn move_data_async(
            &self,
            data: Numbers,
        ) -> impl rt::AsyncCall<
            Output = Result<(Numbers, i32), rt::SystemException>,
        > + Send + use<> {
            self.0
                .call_async(
                    const { rt::Operation::new("move_data", 4) },
                    |w| rt::Encode::encode(&data, w),
                    |r| Ok((rt::Decode::decode(r)?, rt::Decode::decode(r)?)),
                )
                .rewriting(rt::rewrite::<Numbers>)
        }

        /// [`move_data`](Self::move_data), begun now and to be waited for by the same thread.
        ///
        /// Yields `(data, count)`.
        #[inline]
        pub fn move_data_begin(
            &self,
            data: Numbers,
        ) -> rt::Begun<'_, (Numbers, i32), rt::SystemException> {
            self.0
                .begin(
                    const { rt::Operation::new("move_data", 4) },
                    |w| rt::Encode::encode(&data, w),
                    |r| Ok((rt::Decode::decode(r)?, rt::Decode::decode(r)?)),
                    Some(rt::rewrite::<Numbers>),
                )
        }
    }

    impl rt::TypedReference for AccountRef {
        const REPOSITORY_ID: &'static str = "IDL:Bank/Account:1.0";

        fn interface() -> &'static rt::Interface {
            &ACCOUNT
        }

        fn from_object(object: rt::ObjectRef) -> Self {
            Self(object)
        }

        fn as_object(&self) -> &rt::ObjectRef {
            &self.0
        }
    }

    impl From<AccountRef> for rt::ObjectRef {
        fn from(reference: AccountRef) -> Self {
            reference.0
        }
    }

    impl rt::Nilable for AccountRef {
        fn encode_nilable(
            value: Option<&Self>,
            w: &mut rt::Writer<'_>,
        ) -> Result<(), rt::EncodeError> {
            rt::encode_reference(value, w)
        }

        fn decode_nilable(
            r: &mut rt::Reader<'_>,
        ) -> Result<Option<Self>, rt::DecodeError> {
            rt::decode_reference(r)
        }
    }

    /// The servant's side of `IDL:Bank/Savings:1.0`.
    pub trait Savings: Account {
        /// `IDL:Bank/Savings/add_interest:1.0`
        fn add_interest(&self, rate: f64) -> Result<(), rt::SystemException>;
    }

    impl<S: Savings + ?Sized> Savings for ::std::sync::Arc<S> {
        fn add_interest(&self, rate: f64) -> Result<(), rt::SystemException> {
            (**self).add_interest(rate)
        }
    }

    /// Lets an adapter serve an implementation of [`Savings`].
    #[derive(Clone, Debug)]
    pub struct SavingsSkeleton<S>(pub S);

    impl<S: Savings> rt::Skeleton for SavingsSkeleton<S> {
        fn interface(&self) -> &'static rt::Interface {
            &SAVINGS
        }

        fn invoke(
            &self,
            operation: u32,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            match operation {
                0 => savings_skeleton::add_interest(&self.0, call),
                1 => account_skeleton::balance(&self.0, call),
                2 => account_skeleton::withdraw(&self.0, call),
                3 => account_skeleton::rename(&self.0, call),
                4 => account_skeleton::touch(&self.0, call),
                5 => account_skeleton::move_data(&self.0, call),
                _ => call.implicit(&SAVINGS, operation),
            }
        }
    }

    impl<S: Savings> rt::TypedSkeleton for SavingsSkeleton<S> {
        type Reference = SavingsRef;
    }

    /// Skeletons of the operations of `Bank::Savings`.
    pub mod savings_skeleton {
        use ::throughline::rt;

        /// Serves `add_interest`.
        pub fn add_interest<S: super::Savings + ?Sized>(
            servant: &S,
            call: &mut rt::ServerCall<'_>,
        ) -> rt::Dispatched {
            let r = call.arguments();
            let rate: f64 = rt::Decode::decode(r)?;
            match servant.add_interest(rate) {
                Ok(()) => call.reply(|_| Ok(())),
                Err(error) => Err(error),
            }
        }
    }

    /// What the runtime knows of `IDL:Bank/Savings:1.0`.
    pub static SAVINGS: rt::Interface = rt::Interface {
        repository_id: "IDL:Bank/Savings:1.0",
        ancestors: &["IDL:Bank/Savings:1.0", "IDL:Bank/Account:1.0"],
        operations: rt::OperationTable::new(
            rt::NameTable::new(
                &[
                    "add_interest",
                    "_get_balance",
                    "withdraw",
                    "rename",
                    "touch",
                    "move_data",
                    "_is_a",
                    "_non_existent",
                    "_interface",
                    "_component",
                    "_repository_id",
                    "_not_existent",
                ],
                16294208416658607535,
                &[113532185, 1405853453, 1702816989, 3793791033],
                &[9, 8, 0, 10, 0, 2, 7, 0, 3, 0, 4, 11, 6, 1, 0, 5],
            ),
        ),
    };

    /// A reference to an object of `IDL:Bank/Savings:1.0`.
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    pub struct SavingsRef(rt::ObjectRef);

    #[allow(clippy::redundant_closure)]
    impl SavingsRef {
        /// The object as one of this interface, or `None` if it is of another. Asks the object itself unless the
        /// reference tells.
        pub fn narrow(
            object: &rt::ObjectRef,
        ) -> Result<Option<Self>, rt::SystemException> {
            object.narrow()
        }

        /// `IDL:Bank/Savings/add_interest:1.0`
        #[inline]
        pub fn add_interest(&self, rate: f64) -> Result<(), rt::SystemException> {
            self.0
                .call(
                    const { rt::Operation::new("add_interest", 0) },
                    |w| rt::Encode::encode(&rate, w),
                    |_| Ok(()),
                )
        }

        /// [`add_interest`](Self::add_interest), as a future.
        #[inline]
        pub fn add_interest_async(
            &self,
            rate: f64,
        ) -> impl rt::AsyncCall<
            Output = Result<(), rt::SystemException>,
        > + Send + use<> {
            self.0
                .call_async(
                    const { rt::Operation::new("add_interest", 0) },
                    |w| rt::Encode::encode(&rate, w),
                    |_| Ok(()),
                )
                .rewriting(rt::rewrite::<f64>)
        }

        /// [`add_interest`](Self::add_interest), begun now and to be waited for by the same thread.
        #[inline]
        pub fn add_interest_begin(
            &self,
            rate: f64,
        ) -> rt::Begun<'_, (), rt::SystemException> {
            self.0
                .begin(
                    const { rt::Operation::new("add_interest", 0) },
                    |w| rt::Encode::encode(&rate, w),
                    |_| Ok(()),
                    Some(rt::rewrite::<f64>),
                )
        }

        /// `IDL:Bank/Account/balance:1.0`
        #[inline]
        pub fn balance(&self) -> Result<i64, rt::SystemException> {
            self.0
                .call(
                    const { rt::Operation::new("_get_balance", 1) },
                    |_| Ok(()),
                    |r| rt::Decode::decode(r),
                )
        }

        /// [`balance`](Self::balance), as a future.
        #[inline]
        pub fn balance_async(
            &self,
        ) -> impl rt::AsyncCall<
            Output = Result<i64, rt::SystemException>,
        > + Send + use<> {
            self.0
                .call_async(
                    const { rt::Operation::new("_get_balance", 1) },
                    |_| Ok(()),
                    |r| rt::Decode::decode(r),
                )
        }

        /// [`balance`](Self::balance), begun now and to be waited for by the same thread.
        #[inline]
        pub fn balance_begin(&self) -> rt::Begun<'_, i64, rt::SystemException> {
            self.0
                .begin(
                    const { rt::Operation::new("_get_balance", 1) },
                    |_| Ok(()),
                    |r| rt::Decode::decode(r),
                    None,
                )
        }

        /// Takes money out, and tells what is left.
        #[inline]
        pub fn withdraw(&self, amount: i64) -> Result<i64, AccountWithdrawError> {
            self.0
                .call(
                    const { rt::Operation::new("withdraw", 2) },
                    |w| rt::Encode::encode(&amount, w),
                    |r| rt::Decode::decode(r),
                )
        }

        /// [`withdraw`](Self::withdraw), as a future.
        #[inline]
        pub fn withdraw_async(
            &self,
            amount: i64,
        ) -> impl rt::AsyncCall<
            Output = Result<i64, AccountWithdrawError>,
        > + Send + use<> {
            self.0
                .call_async(
                    const { rt::Operation::new("withdraw", 2) },
                    |w| rt::Encode::encode(&amount, w),
                    |r| rt::Decode::decode(r),
                )
                .rewriting(rt::rewrite::<i64>)
        }

        /// [`withdraw`](Self::withdraw), begun now and to be waited for by the same thread.
        #[inline]
        pub fn withdraw_begin(
            &self,
            amount: i64,
        ) -> rt::Begun<'_, i64, AccountWithdrawError> {
            self.0
                .begin(
                    const { rt::Operation::new("withdraw", 2) },
                    |w| rt::Encode::encode(&amount, w),
                    |r| rt::Decode::decode(r),
                    Some(rt::rewrite::<i64>),
                )
        }

        /// `IDL:Bank/Account/rename:1.0`
        #[inline]
        pub fn rename(&self, name: &str) -> Result<(), rt::SystemException> {
            self.0
                .call(
                    const { rt::Operation::new("rename", 3) },
                    |w| rt::Encode::encode(name, w),
                    |_| Ok(()),
                )
        }

        /// [`rename`](Self::rename), as a future.
        #[inline]
        pub fn rename_async(
            &self,
            name: &str,
        ) -> impl rt::AsyncCall<
            Output = Result<(), rt::SystemException>,
        > + Send + use<> {
            self.0
                .call_async(
                    const { rt::Operation::new("rename", 3) },
                    |w| rt::Encode::encode(name, w),
                    |_| Ok(()),
                )
                .rewriting(rt::rewrite::<String>)
        }

        /// [`rename`](Self::rename), begun now and to be waited for by the same thread.
        #[inline]
        pub fn rename_begin(
            &self,
            name: &str,
        ) -> rt::Begun<'_, (), rt::SystemException> {
            self.0
                .begin(
                    const { rt::Operation::new("rename", 3) },
                    |w| rt::Encode::encode(name, w),
                    |_| Ok(()),
                    Some(rt::rewrite::<String>),
                )
        }

        /// `IDL:Bank/Account/touch:1.0`
        #[inline]
        pub fn touch(&self) -> Result<(), rt::SystemException> {
            self.0.send_oneway(const { rt::Operation::new("touch", 4) }, |_| Ok(()))
        }

        /// `IDL:Bank/Account/move_data:1.0`
        #[inline]
        pub fn move_data(&self, data: &mut Numbers) -> Result<i32, rt::SystemException> {
            self.0
                .call_inout(
                    const { rt::Operation::new("move_data", 5) },
                    data,
                    rt::Encode::encode,
                    |data, r| {
                        rt::Decode::decode_into(data, r)?;
                        let count = rt::Decode::decode(r)?;
                        Ok(count)
                    },
                )
        }

        /// [`move_data`](Self::move_data), as a future.
        ///
        /// Yields `(data, count)`.
        #[inline]
        pub fn move_data_async(
            &self,
            data: Numbers,
        ) -> impl rt::AsyncCall<
            Output = Result<(Numbers, i32), rt::SystemException>,
        > + Send + use<> {
            self.0
                .call_async(
                    const { rt::Operation::new("move_data", 5) },
                    |w| rt::Encode::encode(&data, w),
                    |r| Ok((rt::Decode::decode(r)?, rt::Decode::decode(r)?)),
                )
                .rewriting(rt::rewrite::<Numbers>)
        }

        /// [`move_data`](Self::move_data), begun now and to be waited for by the same thread.
        ///
        /// Yields `(data, count)`.
        #[inline]
        pub fn move_data_begin(
            &self,
            data: Numbers,
        ) -> rt::Begun<'_, (Numbers, i32), rt::SystemException> {
            self.0
                .begin(
                    const { rt::Operation::new("move_data", 5) },
                    |w| rt::Encode::encode(&data, w),
                    |r| Ok((rt::Decode::decode(r)?, rt::Decode::decode(r)?)),
                    Some(rt::rewrite::<Numbers>),
                )
        }
    }

    impl rt::TypedReference for SavingsRef {
        const REPOSITORY_ID: &'static str = "IDL:Bank/Savings:1.0";

        fn interface() -> &'static rt::Interface {
            &SAVINGS
        }

        fn from_object(object: rt::ObjectRef) -> Self {
            Self(object)
        }

        fn as_object(&self) -> &rt::ObjectRef {
            &self.0
        }
    }

    impl From<SavingsRef> for AccountRef {
        fn from(reference: SavingsRef) -> Self {
            rt::TypedReference::from_object(reference.0)
        }
    }

    impl From<SavingsRef> for rt::ObjectRef {
        fn from(reference: SavingsRef) -> Self {
            reference.0
        }
    }

    impl rt::Nilable for SavingsRef {
        fn encode_nilable(
            value: Option<&Self>,
            w: &mut rt::Writer<'_>,
        ) -> Result<(), rt::EncodeError> {
            rt::encode_reference(value, w)
        }

        fn decode_nilable(
            r: &mut rt::Reader<'_>,
        ) -> Result<Option<Self>, rt::DecodeError> {
            rt::decode_reference(r)
        }
    }
}
