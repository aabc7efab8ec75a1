//! What checks are written with.

/// Lists checks: `"group.name" Need |context| { .. }`.
macro_rules! checks {
    ($($name:literal $need:ident |$c:ident| $body:block)*) => {
        pub(super) const CHECKS: &[$crate::checks::Check] = &[$($crate::checks::Check {
            name: $name,
            need: $crate::checks::Need::$need,
            run: |$c| {
                $body
                Ok(())
            },
        }),*];
    };
}

/// Fails the check unless the condition holds.
macro_rules! expect {
    ($condition:expr) => {
        if !$condition {
            return Err($crate::checks::Failed(format!(
                "{}:{}: {}",
                file!(),
                line!(),
                stringify!($condition)
            )));
        }
    };
}

/// Fails the check unless both are equal to the last bit.
macro_rules! expect_same {
    ($got:expr, $wanted:expr) => {{
        let (got, wanted) = (&$got, &$wanted);
        if !$crate::checks::same(got, wanted) {
            let place = format!("{}:{}", file!(), line!());
            let what = stringify!($got);
            return Err($crate::checks::Failed(format!("{place}: {what} is {got:?}, not {wanted:?}")));
        }
    }};
}

/// A `turn_` operation, called with `x` for the in and `y` for the inout parameter.
macro_rules! expect_turned {
    ($call:expr, $x:expr, $y:expr) => {{
        let (x, y) = ($x, $y);
        let mut b = y.clone();
        let (result, out) = $call(&x, &mut b)?;
        expect_same!(result, y);
        expect_same!(b, x);
        expect_same!(out, x);
    }};
}

/// An `echo_` operation.
macro_rules! expect_echo {
    ($c:ident.$operation:ident, $value:expr) => {{
        let sent = $value;
        expect_same!($c.suite.$operation(&sent)?, sent);
    }};
}

/// The call ends with that system exception.
macro_rules! expect_exception {
    ($call:expr, $kind:ident) => {
        match $call {
            Err(exception) if exception.kind == ::throughline::Kind::$kind => {}
            other => {
                let place = format!("{}:{}", file!(), line!());
                return Err($crate::checks::Failed(format!("{place}: {} is {other:?}", stringify!($call))));
            }
        }
    };
}
