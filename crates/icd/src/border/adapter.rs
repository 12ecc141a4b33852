//! Adapters that make C functions from Rust functions.

use std::{
    mem,
    panic::{AssertUnwindSafe, catch_unwind},
};

use ash::vk;

use super::{Answer, Argument};

/// A C function of any signature, as the Vulkan loader expects it.
pub(crate) type Function = unsafe extern "system" fn();

/// Runs an entry point. A refused argument or a panic becomes a result, so that no panic unwinds into C.
fn guarded<R: Answer>(lost: vk::Result, call: impl FnOnce() -> Option<R>) -> R::Raw {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Some(answer)) => answer.give(),
        Ok(None) => R::failed(vk::Result::ERROR_UNKNOWN),
        Err(_) => R::failed(lost),
    }
}

/// Makes one constructor of C functions for each number of arguments.
///
/// A constructor takes a Rust function and the type of the C function, which `ash` generates from the Vulkan registry. The compiler
/// therefore checks each argument against the C prototype: every pair of types needs an [`Argument`].
macro_rules! arities {
    ($($arity:ident: $First:ident $FirstRaw:ident $first:ident $(, $T:ident $Raw:ident $argument:ident)*;)*) => {$(
        /// Returns the C function of an entry point.
        pub(crate) const fn $arity<F, R, $First, $FirstRaw $(, $T, $Raw)*>(
            _entry: F,
            _like: Option<unsafe extern "system" fn($FirstRaw $(, $Raw)*) -> R::Raw>,
        ) -> Function
        where
            F: Fn($First $(, $T)*) -> R + Copy + 'static,
            R: Answer,
            $First: Argument<$FirstRaw>,
            $($T: Argument<$Raw>,)*
        {
            unsafe extern "system" fn function<F, R, $First, $FirstRaw $(, $T, $Raw)*>(
                $first: $FirstRaw $(, $argument: $Raw)*
            ) -> R::Raw
            where
                F: Fn($First $(, $T)*) -> R + Copy + 'static,
                R: Answer,
                $First: Argument<$FirstRaw>,
                $($T: Argument<$Raw>,)*
            {
                const { assert!(size_of::<F>() == 0, "an entry point is a plain function") };
                // SAFETY: `F` has no bytes, so there is nothing to read; it is `Copy`, and the constructor got a value of
                // it, so values of it exist.
                let entry: F = unsafe { mem::zeroed() };
                guarded::<R>($First::LOST, || {
                    // SAFETY: an argument of a Vulkan command, which is what Vulkan's valid usage says.
                    let $first = unsafe { $First::take($first) }?;
                    $(
                        // SAFETY: an argument of a Vulkan command, which is what Vulkan's valid usage says.
                        let $argument = unsafe { $T::take($argument) }?;
                    )*
                    Some(entry($first $(, $argument)*))
                })
            }
            let function: unsafe extern "system" fn($FirstRaw $(, $Raw)*) -> R::Raw =
                function::<F, R, $First, $FirstRaw $(, $T, $Raw)*>;
            // SAFETY: both are pointers to functions; the loader casts it back by the command's name before it calls it.
            unsafe { mem::transmute::<unsafe extern "system" fn($FirstRaw $(, $Raw)*) -> R::Raw, Function>(function) }
        }
    )*};
}

arities! {
    one: A X a;
    two: A X a, B Y b;
    three: A X a, B Y b, C Z c;
    four: A X a, B Y b, C Z c, D W d;
    five: A X a, B Y b, C Z c, D W d, E V e;
    six: A X a, B Y b, C Z c, D W d, E V e, G U g;
    seven: A X a, B Y b, C Z c, D W d, E V e, G U g, H T h;
    eight: A X a, B Y b, C Z c, D W d, E V e, G U g, H T h, I S i;
    ten: A X a, B Y b, C Z c, D W d, E V e, G U g, H T h, I S i, J Q j, K P k;
    eleven: A X a, B Y b, C Z c, D W d, E V e, G U g, H T h, I S i, J Q j, K P k, L O l;
}
